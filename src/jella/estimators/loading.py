"""Loading an estimator from a file."""

from __future__ import annotations

import os
from typing import Any

from jella.estimators.catalogue import estimators
from jella.saving.model import load_as


def load(path: str | os.PathLike[str]) -> Any:
    """Load an estimator that `save` wrote. Nothing in the file is run, so files of strangers can be opened too.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : estimator
        Of the class that was saved, with its parameters and, where it was fitted, all that the fit gave it. Arrays of
        other libraries (torch, cupy) come back as NumPy arrays, and a `callback` as None.

    Examples
    --------
    >>> import os, tempfile, jella
    >>> path = os.path.join(tempfile.mkdtemp(), "model.jella")
    >>> jella.PVC(n_clusters=3, alpha=0.1).save(path)
    >>> jella.load(path)
    PVC(alpha=0.1, n_clusters=3)
    """
    return load_as(path, estimators())
