"""Data sets by name or by path: find the file, take the described views, and note what differs."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jella.datasets.digits import load_digits_views
from jella.datasets.registry import REGISTRY, Description
from jella.io import DataError, Dataset, read
from jella.io.read import FILES, TABLES

_EMBEDDED = ("digits", "embedded")
FolderPath = str | os.PathLike[str] | None


@dataclass(frozen=True)
class Availability:
    """Whether a named data set can be loaded.

    Attributes
    ----------
    name : str
    path : Path or None
        The file or folder that holds it.
    reason : str
        What the file holds, or why there is none.
    """

    name: str
    path: Path | None
    reason: str

    def __repr__(self) -> str:
        return f"{self.name}: {self.reason}"


def load(name_or_path: str | os.PathLike[str], folder: FolderPath = None) -> Dataset:
    """Load a data set: an embedded one, a published one by name from a folder of yours, or any file by its path.

    Parameters
    ----------
    name_or_path : str or path
        'digits' (needs no file), a name that `available` lists, or the path of a file or folder; see `jella.io.read`.
    folder : path, optional
        Where to search for the file of a named set, including sub-folders; by default the folder that the environment
        variable JELLA_DATA names.

    Returns
    -------
    Dataset
        A named set has the views of its description, under these names, as arrays over all samples (NaN rows for
        samples that a view lacks); `notes` say what differs from the description. A path gives the result of
        `jella.io.read`, with names of samples and features if the file has them.

    Examples
    --------
    >>> from jella.datasets import load
    >>> digits = load("digits")
    >>> {name: view.shape for name, view in digits.views.items()}
    {'pixels': (1797, 61), 'fourier': (1797, 34), 'gradients': (1797, 77)}
    """
    name = str(name_or_path)
    if name in _EMBEDDED:
        return _digits()
    entry = _entry(name)
    if entry is None:
        if Path(name).exists() or Path(name).suffix or os.sep in name:
            return read(name_or_path)
        raise DataError(f"expected one of {[_EMBEDDED[0], *REGISTRY]} or a path, got {name!r}; pass one of these names")
    found, reason = _search(entry, _folder(folder))
    if found is None:
        raise DataError(f"expected the files of {entry.name} ({entry.source}), got none: {reason}")
    return found


def find(name: str, folder: FolderPath = None) -> Path | None:
    """The file or folder that holds a named data set; None if there is none.

    Parameters
    ----------
    name : str
        As in `load`; embedded sets have no file.
    folder : path, optional
        As in `load`.

    Examples
    --------
    >>> import tempfile
    >>> from jella.datasets import find
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     print(find("Yale", empty))
    None
    """
    entry = _entry(name)
    where = _folder(folder)
    if entry is None or where is None:
        return None
    found, _ = _search(entry, where)
    return None if found is None else _path(found)


def available(folder: FolderPath = None) -> list[Availability]:
    """The named data sets: which are available, and why the others are not.

    Parameters
    ----------
    folder : path, optional
        As in `load`.

    Returns
    -------
    list of Availability
        The embedded digits first, then the sets of the JELLA paper, then others.

    Examples
    --------
    >>> import tempfile
    >>> from jella.datasets import available
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     [one.name for one in available(empty) if one.path is None][:3]
    ['digits', 'MSRC-v1', 'Yale']
    """
    where = _folder(folder)
    states = [Availability(_EMBEDDED[0], None, "embedded, needs no file")]
    for entry in REGISTRY.values():
        found, reason = _search(entry, where)
        states.append(Availability(entry.name, None if found is None else _path(found), reason))
    return states


def _digits() -> Dataset:
    bunch = load_digits_views()
    return Dataset("digits", dict(bunch.data), bunch.target, notes=("Embedded: images that scikit-learn installs.",))


def _entry(name: str) -> Description | None:
    return next((entry for key, entry in REGISTRY.items() if key.lower() == name.lower()), None)


def _folder(folder: FolderPath) -> Path | None:
    named = os.environ.get("JELLA_DATA") if folder is None else folder
    return Path(named) if named else None


def _path(dataset: Dataset) -> Path:
    assert dataset.source is not None
    assert isinstance(dataset.source.path, Path)
    return dataset.source.path


def _search(entry: Description, folder: Path | None) -> tuple[Dataset | None, str]:
    """The data set of the file that fits the description best, arranged as described, and a text about it."""
    if folder is None:
        return None, "no folder to search; pass folder, or set JELLA_DATA"
    if not folder.is_dir():
        return None, f"{str(folder)!r} is not a folder; pass another"
    fitting, refused = [], []
    for path in _candidates(entry, folder):
        try:
            fitting.append(_described(read(path), entry))
        except (DataError, ImportError) as error:
            refused.append(f"{path.name}: {error}")
    if not fitting:
        return None, "; ".join(refused) or f"no file with this name under {str(folder)!r}"
    best = min(fitting, key=lambda found: abs(_n_samples(found) - entry.n_samples))
    return best, f"{_n_samples(best)} samples, {len(best.views)} views, in {_path(best).name}"


def _candidates(entry: Description, folder: Path) -> list[Path]:
    """Data files, and folders of tables or of Matrix Market files, whose path matches the entry's pattern."""
    single = {ending for ending in FILES if ending != ".mtx"}
    several = {".mtx", *TABLES} - {".txt"}
    paths = []
    for where, _, names in os.walk(folder):
        endings = {name: Path(name).suffix.lower() for name in names}
        paths += [Path(where, name) for name, ending in endings.items() if ending in single]
        if several & set(endings.values()):
            paths.append(Path(where))
    shown = {path: path.relative_to(folder).as_posix().lower() + "/" * path.is_dir() for path in sorted(paths)}
    return [path for path, text in shown.items() if re.search(entry.pattern, text)]


def _described(dataset: Dataset, entry: Description) -> Dataset:
    """The views of the description, found by name or by width, with its names and in its order."""
    views: dict[str, Any] = {}
    renamed, left = [], dict(dataset.views)
    for name, width in entry.views.items():
        fits = [key for key, view in left.items() if view.shape[1] == width]
        if not fits:
            widths = [view.shape[1] for view in dataset.views.values()]
            raise DataError(
                f"expected a view {name!r} of {width} features, got views of {widths}; pass the file itself"
            )
        key = name if name in fits else fits[0]
        views[name] = left.pop(key)
        renamed += [f"{key} is {name}"] if key != name else []
    notes = [f"Names: {', '.join(renamed)}."] if renamed else []
    notes += [f"Not part of this set, left out: {', '.join(left)}."] if left else []
    chosen = replace(dataset, name=entry.name, views=views).as_arrays()
    return replace(chosen, notes=(*dataset.notes, *notes, *_differences(chosen, entry)))


def _differences(dataset: Dataset, entry: Description) -> list[str]:
    whose = "the paper's" if entry.in_paper else "the published set"
    counts = {"samples": (_n_samples(dataset), entry.n_samples)}
    if dataset.labels is not None:
        counts["classes"] = (dataset.n_classes, entry.n_classes)
    differ = [f"{entry.name} has {got} {what}, {whose} {told}." for what, (got, told) in counts.items() if got != told]
    return differ if dataset.labels is not None else [*differ, f"{entry.name} has no labels in this file."]


def _n_samples(dataset: Dataset) -> int:
    return int(next(iter(dataset.views.values())).shape[0])
