"""Data files in, result files out: a path becomes a matrix with names, or one clear error line."""

from redac.files.reading import read_table
from redac.files.table import DataFileError, Table
from redac.files.writing import output_folder, refuse_unusable_folder, write_atomically

__all__ = [
    "DataFileError",
    "Table",
    "output_folder",
    "read_table",
    "refuse_unusable_folder",
    "write_atomically",
]
