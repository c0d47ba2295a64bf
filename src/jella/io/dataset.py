"""The result of reading: views, labels, and notes on what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from jella.io.errors import DataError, some
from jella.numerics.words import counted, printable
from jella.views.containers import is_frame
from jella.views.frames import is_sparse_frame, read_frame
from jella.views.overlap import Overlap


@dataclass(frozen=True)
class Options:
    """The options for reading; `jella.io.read` documents them."""

    labels: str | None = None
    samples: str = "auto"
    id_column: str | None = None
    missing: tuple[str, ...] = ()
    non_numeric: str = "categories"
    ids: Any = "exact"
    zero_rows: str = "observed"


@dataclass(frozen=True)
class Origin:
    """The files of a data set, and how they were read.

    Attributes
    ----------
    path : Path or tuple of Path
    options : Options
    stored_ids : dict of str to (dict of id to id)
        By view, the stored id of each sample whose id a rule has changed.
    """

    path: Path | tuple[Path, ...]
    options: Options
    stored_ids: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)  # == on arrays gives arrays
class Dataset:
    """Views of the same samples, as stored, and notes on what was decided while reading them.

    Attributes
    ----------
    name : str
    views : dict of str to array, CSR array or DataFrame
        Samples are rows. Views with sample names are DataFrames: they need not have the same samples, and the
        estimators align them by name.
    labels : 1-D array, Series indexed by sample name, or None
    notes : tuple of str
        One sentence per decision.
    source : Origin or None
        What `write_views` needs to know about the files.

    Examples
    --------
    >>> import numpy as np
    >>> from jella.io import Dataset
    >>> Dataset("two", {"left": np.eye(3), "right": np.ones((3, 1))}, np.array([0, 0, 1]))
    Dataset 'two': 3 samples, 2 views
      left   (3, 3)  array
      right  (3, 1)  array
      labels  2 classes
    """

    name: str
    views: Mapping[str, Any]
    labels: Any = None
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    source: Origin | None = field(default=None, kw_only=True)

    @property
    def sample_names(self) -> Any:
        """The names of all samples, an Index; without names, the range of positions.

        In the order of the labels if these have names, then in the order of the views.
        """
        frames = [view for view in self.views.values() if is_frame(view)]
        if not frames:
            return range(max((view.shape[0] for view in self.views.values()), default=0))
        known = frames[0].index
        for frame in frames[1:]:
            known = known.append(frame.index[~frame.index.isin(known)])
        if not hasattr(self.labels, "index"):
            return known
        first = self.labels.index[self.labels.index.isin(known)]
        return first.append(known[~known.isin(first)])

    @property
    def n_classes(self) -> int:
        """Number of different labels; missing ones do not count."""
        labels = [] if self.labels is None else np.asarray(self.labels).tolist()
        return len({label for label in labels if label is not None and label == label})

    def as_arrays(self) -> Dataset:
        """The same data as plain arrays: each view on all samples, with NaN rows for samples that it lacks.

        Sparse views stay sparse. Categories become one column per level. Samples are in the order of `sample_names`.
        Labels become an array.
        """
        if not any(is_frame(view) for view in self.views.values()):
            return self
        index = self.sample_names
        views = {name: _on(view, index, str(name)) for name, view in self.views.items()}
        labels = self.labels.reindex(index).to_numpy() if hasattr(self.labels, "reindex") else self.labels
        if labels is not None and labels.dtype == object and all(isinstance(label, str) for label in labels):
            labels = labels.astype(str)
        return replace(self, views=views, labels=labels)

    def __repr__(self) -> str:
        n = len(self.sample_names)
        names = {name: printable(str(name)) for name in self.views}
        width = max(map(len, names.values()), default=0)
        shapes = {name: str(tuple(int(s) for s in view.shape)) for name, view in self.views.items()}
        shape_width = max(map(len, shapes.values()), default=0)
        lines = [f"Dataset {self.name!r}: {n} samples, {len(self.views)} view{'s' * (len(self.views) != 1)}"]
        for name, view in self.views.items():
            line = f"  {names[name]:<{width}}  {shapes[name]:<{shape_width}}  {_kind(view)}{_missing(view, n)}"
            lines.append(line)
        if self.labels is not None:
            lines.append(f"  labels  {self.n_classes} classes")
        lines += [f"  - {printable(note)}" for note in self.notes]
        return "\n".join(lines)


def checked(dataset: Dataset) -> Dataset:
    """The data set; refused if a view has fewer than two samples, no features, or features without any value."""
    for name, view in dataset.views.items():
        n, d = view.shape
        if n < 2 or d == 0:
            raise DataError(
                f"expected at least two samples and one feature, got the shape {(n, d)} for view {name!r} of "
                f"{dataset.name!r}; leave this view out"
            )
        empty = _never_observed(view)
        if empty:
            overlap = Overlap.of(list(dataset.views), list(dataset.views.values()))
            apart = overlap.refusal() if overlap is not None else None  # these columns may be samples
            columns, these = counted(len(empty), "column"), "this column" if len(empty) == 1 else "these columns"
            raise DataError(
                apart
                or f"expected a value in each column, got {columns} without any in view {name!r} of {dataset.name!r} "
                f"({some(empty)}); remove {these}"
            )
    return dataset


def _never_observed(view: Any) -> list[str]:
    if sparse.issparse(view):
        return []
    if is_frame(view):
        return [str(column) for column in view.columns[view.isna().all(axis=0).to_numpy()]]
    return [str(j) for j in np.flatnonzero(np.isnan(view).all(axis=0))]


def _on(view: Any, index: Any, name: str) -> Any:
    """A view on the samples of an index, NaN for samples that it lacks; categories are indicators."""
    if not is_frame(view):
        return view
    positions = view.index.get_indexer(index)
    if is_sparse_frame(view):
        values = sparse.csr_array(view.sparse.to_coo())
        lacking = sparse.csr_array(np.full((1, view.shape[1]), np.nan, dtype=values.dtype))
        return sparse.csr_array(sparse.vstack([values, lacking], format="csr")[positions])
    out = read_frame(view, name).values[positions]
    out[positions < 0] = np.nan
    return out


def _kind(view: Any) -> str:
    if is_frame(view):
        return "sparse table" if is_sparse_frame(view) else "table"
    return "sparse" if sparse.issparse(view) else "array"


def _missing(view: Any, n: int) -> str:
    """Text with the share of missing entries, over all n samples."""
    entries = n * view.shape[1]
    absent = (n - view.shape[0]) * view.shape[1]
    if sparse.issparse(view):
        absent += int(np.isnan(view.data).sum())
    elif is_frame(view):
        absent += 0 if is_sparse_frame(view) else int(view.isna().to_numpy().sum())
    else:
        absent += int(np.isnan(view).sum())
    return f"  {absent / entries:.1%} missing" if absent else ""
