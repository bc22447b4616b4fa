"""The columns of other data, in the order in which a model knows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from redac.disk import DataFileError
from redac.files.column_choice import taken
from redac.files.table import Table, counted, quoted

# So many names stand in a message.
_NAMED = 8


def matched(table: Table, names: Sequence[str] | None, n_features: int, path: str) -> Table:
    """The table with the columns of a model, found by name where both have names.

    Columns that the model does not know are left out, with a note.

    Parameters
    ----------
    table : Table
    names : sequence of str or None
        The names of the features of the model, if it has any.
    n_features : int
        How many they are.
    path : str
        What the user calls the data.
    """
    own = table.feature_names
    if names is None or own is None:
        width = table.values.shape[1]
        if width != n_features:
            raise DataFileError(
                f"{path}: has {counted(width, 'numeric column')}, the model has "
                f"{counted(n_features, 'feature')}; choose columns with --only or --drop"
            )
        if names is own:  # neither has names
            return table
        who = "the model has" if names is None else "its columns have"
        return replace(
            table,
            notes=(*table.notes, f"{who} no names: columns were taken in the order of the model"),
        )
    places = {name: at for at, name in enumerate(own)}
    missing = [name for name in names if name not in places]
    if missing:
        not_numeric = [name for name in missing if name in table.ignored]
        hint = ""
        if not_numeric:
            hint = f"; {quoted(not_numeric[0])} is there, but {table.ignored[not_numeric[0]]}"
        raise DataFileError(
            f"{path}: {counted(len(missing), 'column')} of the model missing: {_listed(missing)}"
            f"{hint}"
        )
    positions = [places[name] for name in names]
    known = set(names)
    further = [name for name in own if name not in known]
    notes = table.notes
    if further:
        verb = "is" if len(further) == 1 else "are"
        notes += (
            f"{counted(len(further), 'column')} {verb} not in the model and left out: "
            f"{_listed(further)}",
        )
    cell = table.cell
    return replace(
        table,
        values=taken(table.values, positions),
        feature_names=list(names),
        cell=None if cell is None else lambda row, column: cell(row, positions[column]),
        notes=notes,
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(map(quoted, names[:_NAMED]))}{more}"
