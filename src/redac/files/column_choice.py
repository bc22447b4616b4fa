"""Which columns of a file are features, which one names the rows, and which one their kind."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from redac.disk import DataFileError, decoding
from redac.files.lines import open_bytes
from redac.files.table import Table, counted, is_large, quoted

# So many columns are named where one that was asked for is not there.
_NAMED = 8
# A sparse matrix may claim any width; with more columns a list of them would not fit into memory.
_MOST_COLUMNS = 10_000_000


@dataclass(frozen=True)
class Roles:
    """What the columns of one file are for, by position."""

    index: int | None
    label: int | None
    features: list[int]
    dropped: frozenset[int]


@dataclass(frozen=True)
class ColumnChoice:
    """What was asked for, by name; where columns have no names, by number from 1.

    Attributes
    ----------
    path : str
        The file, for messages.
    drop : what is left out.
    only : None, or all that is used.
    index, label : the column that names the rows, and one that says of what kind they are.
    names : names for the columns of a file that has none.
    """

    path: str
    drop: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    index: str | None = None
    label: str | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        path: str,
        *,
        drop: Sequence[str] | str = (),
        only: Sequence[str] | str | None = None,
        index: str | None = None,
        label: str | None = None,
        names: str | os.PathLike[str] | None = None,
    ) -> ColumnChoice:
        """From what a caller writes; the names are read from their file."""
        if drop and only is not None:
            raise DataFileError("drop and only exclude each other; give one of them")
        listed = _as_tuple(drop) or ()
        given = None if names is None else tuple(read_names(os.fspath(names)))
        return cls(path, listed, _as_tuple(only), index, label, given)

    @property
    def selects(self) -> bool:
        return bool(self.drop) or self.only is not None

    def names_for(self, own: list[str] | None, width: int) -> list[str] | None:
        """The names of so many columns: their own, or those that were given for them."""
        if self.names is None:
            return own
        if own is not None:
            raise DataFileError(f"{self.path}: its columns have names; give no others")
        if len(self.names) != width:
            raise DataFileError(
                f"{self.path}: has {counted(width, 'column')}, but there are "
                f"{counted(len(self.names), 'name')} for them"
            )
        return distinct(self.names)[0]

    def roles(self, names: list[str] | None, width: int) -> Roles:
        """What each column is for; a column that is not there is an error."""
        if width > _MOST_COLUMNS:
            raise DataFileError(f"{self.path}: {width} columns are too many to choose from")
        places = _places(names, width)
        index = None if self.index is None else self._place(self.index, places, "name the rows")
        label = None if self.label is None else self._place(self.label, places, "tell their kind")
        dropped = frozenset(self._all_of(self.drop, places, "leave out"))
        features = [at for at in range(width) if at not in dropped and at not in (index, label)]
        if self.only is not None:
            wanted = set(self._all_of(self.only, places, "use"))
            dropped = frozenset(range(width)) - wanted
            features = [at for at in features if at in wanted]
        if not features:
            raise DataFileError(f"{self.path}: no column is left to be a feature")
        return Roles(index, label, features, dropped)

    def _all_of(self, texts: Sequence[str], places: dict[str, int], purpose: str) -> list[int]:
        """The positions of columns; a text is one name, or several with commas between them."""
        found = []
        for text in texts:
            parts = [text] if text in places else [part.strip() for part in text.split(",")]
            found += [self._place(part, places, purpose) for part in parts]
        return found

    def _place(self, name: str, places: dict[str, int], purpose: str) -> int:
        if name in places:
            return places[name]
        near = difflib.get_close_matches(name, places, n=1)
        known = list(map(quoted, list(places)[:_NAMED]))
        more = ", …" if len(places) > _NAMED else ""
        hint = f"; did you mean {quoted(near[0])}?" if near else f"; there are {', '.join(known)}"
        raise DataFileError(
            f"{self.path}: no column {quoted(name)} to {purpose}{hint}{'' if near else more}"
        )


def _as_tuple(texts: Sequence[str] | str | None) -> tuple[str, ...] | None:
    if texts is None:
        return None
    return (texts,) if isinstance(texts, str) else tuple(map(str, texts))


def _places(names: list[str] | None, width: int) -> dict[str, int]:
    if names is None:
        return {str(at + 1): at for at in range(width)}
    return {name: at for at, name in enumerate(names)}


def distinct(header: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The names with ``.1``, ``.2``, … behind repeated ones, and a note where there are some."""
    names: list[str] = []
    taken = set(header)
    seen: set[str] = set()
    repeats: Counter[str] = Counter()
    renamed = []
    for position, given in enumerate(header, start=1):
        name = base = given or f"column {position}"
        while name in seen or (name != base and name in taken):
            repeats[base] += 1
            name = f"{base}.{repeats[base]}"
        if name != base:
            renamed.append(f"{quoted(base)} in column {position} is now {quoted(name)}")
        seen.add(name)
        names.append(name)
    if not renamed:
        return names, ()
    more = f", and {len(renamed) - _NAMED} more" if len(renamed) > _NAMED else ""
    return names, (f"names that repeat were changed: {', '.join(renamed[:_NAMED])}{more}",)


def read_names(path: str) -> list[str]:
    """The names in a file: one in each line, or the first of several with tabs between them."""
    with decoding(path, "a list of names"), open_bytes(path) as stream:
        text = stream.read().decode("utf-8-sig")
    names = [line.split("\t")[0].strip().strip('"') for line in text.splitlines() if line.strip()]
    if not names:
        raise DataFileError(f"{path}: has no names")
    return names


def selected(table: Table, columns: ColumnChoice) -> Table:
    """A table of numbers without the columns that are no features."""
    names = columns.names_for(table.feature_names, table.values.shape[1])
    if not columns.selects and columns.index is None and columns.label is None:
        return replace(table, feature_names=names)  # a sparse matrix can have any width
    roles = columns.roles(names, table.values.shape[1])
    cell = table.cell
    kept = roles.features
    if roles.index is not None:
        table = replace(table, sample_names=_texts(table.values, roles.index))
    if roles.label is not None and columns.label is not None:
        texts = _texts(table.values, roles.label)
        table = replace(table, labels=texts, label_name=columns.label)
    return replace(
        table,
        values=taken(table.values, kept),
        feature_names=None if names is None else [names[at] for at in kept],
        cell=None if cell is None else lambda row, column: cell(row, kept[column]),
    )


def without_empty(table: Table) -> Table:
    """The table without columns that hold no value at all: like text, they are no features."""
    values, names, cell = table.values, table.feature_names, table.cell
    if names is None or not isinstance(values, np.ndarray) or is_large(values.nbytes):
        return table
    # In what has one row only, a gap is rather a sign that its rows are missing.
    if len(values) < 2 or values.dtype.kind != "f":
        return table
    gaps = np.flatnonzero(np.isnan(values[0])).tolist()
    empty = {j for j in gaps if np.isnan(values[:, j]).all()}
    kept = [j for j in range(values.shape[1]) if j not in empty]
    if not empty or not kept:
        return table
    return replace(
        table,
        values=values[:, kept],
        feature_names=[names[j] for j in kept],
        ignored=table.ignored | {names[j]: "no value at all" for j in sorted(empty)},
        cell=None if cell is None else lambda row, column: cell(row, kept[column]),
    )


def transposed(table: Table, columns: ColumnChoice) -> Table:
    """The table whose features are the rows of the file, as genes often are."""
    if table.labels is not None:
        raise DataFileError(f"{columns.path}: a label is of samples, and these are its columns")
    if not isinstance(table.values, np.ndarray) and not hasattr(table.values, "tocsr"):
        raise DataFileError(f"{columns.path}: is too large to be transposed")
    cell = table.cell
    names = columns.names_for(table.sample_names, table.values.shape[0])
    unique, notes = (None, ()) if names is None else distinct(names)
    return replace(
        table,
        values=table.values.T,
        feature_names=unique,
        sample_names=table.feature_names,
        cell=None if cell is None else lambda row, column: cell(column, row),
        notes=(*table.notes, *notes),
    )


def square_selection(table: Table, columns: ColumnChoice, path: str) -> Table:
    """The rows and columns of a covariance matrix that are to be used."""
    if columns.index is not None or columns.label is not None:
        raise DataFileError(f"{path}: the rows of a covariance matrix are its columns")
    width = table.values.shape[1]
    names = table.feature_names
    if not columns.selects:
        return table
    kept = columns.roles(names, width).features
    values = table.values[kept][:, kept]
    own = None if names is None else [names[at] for at in kept]
    return replace(table, values=values, feature_names=own, sample_names=own)


def _texts(values: Any, position: int) -> list[str]:
    """A column of numbers as names."""
    column = taken(values, [position])
    dense = column.toarray() if hasattr(column, "toarray") else np.asarray(column)
    return [f"{value:.17g}" for value in dense[:, 0].tolist()]


def taken(values: Any, positions: list[int]) -> Any:
    """These columns; of a large file they are not read here."""
    if positions == list(range(values.shape[1])):
        return values
    if hasattr(values, "with_columns"):
        return values.with_columns(positions)
    on_disk = not hasattr(values, "tocsr") and is_large(values.nbytes)
    return SomeColumns(values, positions) if on_disk else values[:, positions]


class SomeColumns:
    """Some columns of rows that are read when they are needed."""

    def __init__(self, rows: Any, positions: list[int]) -> None:
        self._rows = rows
        self._positions = positions
        self.shape = (int(rows.shape[0]), len(positions))
        self.dtype = rows.dtype
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize

    def __getitem__(self, rows: Any) -> Any:
        return np.asarray(self._rows[rows])[:, self._positions]
