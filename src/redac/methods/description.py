"""What a method does, in the words of its own documentation."""

from __future__ import annotations

import inspect

from redac.methods.registry import find_method


def describe_method(method: str) -> str:
    """The objective of a method, its paper, when one would choose it, and its own options.

    Parameters
    ----------
    method : str
        One of ``available_methods()``.

    Returns
    -------
    str
        Text to print; the options can be given to ``sparse_pca``, or to ``MethodPCA`` as
        ``options``.
    """
    found = find_method(method)
    text = inspect.getdoc(found.run) or ""
    return f"{method}: {text}\n\nOptions: {found.settings or 'none'}"
