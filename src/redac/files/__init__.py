"""Data files: ``read_table`` reads one as the command line does.

A path becomes a matrix with names, or one clear error line. ``watching`` tells how far a fit has
come in reading a file that does not fit into memory.
"""

from redac.disk import DataFileError
from redac.files.formats import read_table
from redac.files.passes import watching
from redac.files.table import Table

__all__ = ["DataFileError", "Table", "read_table", "watching"]
