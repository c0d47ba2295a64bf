"""What a file of `sets/` declares: cases (data with their missing values) and figures that others have published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from real_sets import Views, read_set
from scipy import sparse

from jella.datasets import make_incomplete

#: number of a mask -> views (samples as rows, NaN where a value is missing) and classes
Read = Callable[[Path, int], tuple[list[np.ndarray], np.ndarray]]


@dataclass(frozen=True)
class Figure:
    """A published result, in percent; `published.PAPERS` has the papers of the methods."""

    method: str
    acc: float | None
    nmi: float | None
    ari: float | None = None


@dataclass(frozen=True)
class Case:
    """A data set with missing values.

    Parameters
    ----------
    name : str
    read : callable
        From the folder with the data and the number of a repeat to views and classes. If there is one mask only, the
        repeats differ in the order of the samples and the seed of the method.
    missing : str
        What is missing, in a sentence for the page.
    entries : bool
        Whether single entries are missing, not only whole views.
    repeats : int
    published : tuple of Figure
    differs : str
        How published runs differ from ours.
    """

    name: str
    read: Read
    missing: str
    entries: bool = False
    repeats: int = 5
    published: tuple[Figure, ...] = ()
    differs: str = ""


def own_protocol(
    name: str, settings: tuple[str, ...] = ("missing-view", "incomplete-view"), repeats: int = 3
) -> list[Case]:
    """Cases of a complete set of `real_sets` with 30 % missing by `jella.datasets.make_incomplete`."""
    words = {
        "missing-view": "30 % of the samples lack one view, drawn at random.",
        "incomplete-view": "30 % of the samples lack one view; then 30 % of the entries left in each view are removed.",
    }
    return [
        Case(
            name=f"{name}, {setting} 30 %",
            read=partial(_removed, name, setting),
            missing=f"`make_incomplete(views, 0.3, {setting!r}, random_state=repeat)`: {words[setting]}",
            entries=setting != "missing-view",
            repeats=repeats,
        )
        for setting in settings
    ]


def _removed(name: str, setting: str, data: Path, repeat: int) -> tuple[list[np.ndarray], np.ndarray]:
    views, y = read_set(name, data)
    return dense(make_incomplete(views, 0.3, setting, random_state=repeat)), y


def dense(views: Views) -> list[np.ndarray]:
    return [X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64) for X in views.values()]
