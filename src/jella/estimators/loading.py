"""Loading an estimator from a file."""

from __future__ import annotations

import os
from typing import Any

from jella.estimators.catalogue import estimators
from jella.saving.model import load_as


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator in a file that `save` wrote. Nothing in the file is run, so files from strangers can be loaded too.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : estimator
        Of the class that was saved, with its parameters and, if it was fitted, all attributes of the fit. Arrays of
        other libraries (torch, cupy) become NumPy arrays, and a `callback` becomes None.

    Examples
    --------
    >>> import os, tempfile, jella
    >>> path = os.path.join(tempfile.mkdtemp(), "model.jella")
    >>> jella.PVC(n_clusters=3, alpha=0.1).save(path)
    >>> jella.load(path)
    PVC(alpha=0.1, n_clusters=3)
    """
    return load_as(path, estimators())
