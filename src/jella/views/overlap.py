"""Which views share samples, by the ids of the samples; and what to say where they share too few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.numerics.words import listed
from jella.views.containers import is_annotated, is_frame
from jella.views.differences import find_difference
from jella.views.frames import check_levels
from jella.views.named import columns_of, names_of

#: two views overlap if they share this part of the samples of the smaller one
ENOUGH = 0.1
#: ids that a message shows of each view
SHOWN = 3
_MORE_VIEWS = 5


@dataclass(frozen=True)
class Overlap:
    """The samples of views that have ids.

    Attributes
    ----------
    names : tuple of str
    indices, columns : tuple of pandas Index
        Ids of samples, and names of features, by view.
    shared : int array (V, V)
        Samples that two views share.
    n_samples, n_common : int
        Samples of all views together, and samples that are in all of them.
    """

    names: tuple[str, ...]
    indices: tuple[Any, ...]
    columns: tuple[Any, ...]
    shared: np.ndarray
    n_samples: int
    n_common: int

    @classmethod
    def of(cls, names: Sequence[str], raws: Sequence[Any]) -> Overlap | None:
        """The overlap of raw views; None where there is nothing to compare: fewer than two views with ids."""
        named = [(name, raw, index) for name, raw in zip(names, raws, strict=True) if len(index := _index(raw))]
        if len(named) < 2:
            return None
        kept, used, indices = zip(*named, strict=True)
        check_levels(kept, indices)
        columns = tuple(map(_columns, used))
        there = _presence(indices)
        counts = there.astype(np.float64)  # whose products are fast
        shared = (counts.T @ counts).astype(np.int64)
        return cls(kept, indices, columns, shared, len(there), int(there.all(axis=1).sum()))

    @property
    def refused(self) -> tuple[int, int] | None:
        """Two views without a sufficient overlap, if the views cannot be fitted together.

        A chain of views is accepted: the first and the last need not share samples.
        """
        sizes = np.diag(self.shared)
        enough = self.shared >= np.maximum(1, ENOUGH * np.minimum(sizes[:, None], sizes))
        np.fill_diagonal(enough, False)
        lonely = np.flatnonzero(~enough.any(axis=1))
        apart = lonely if lonely.size else np.flatnonzero(~_reached(self.shared > 0))
        if not apart.size:
            return None
        v = int(apart[-1])
        others = [w for w in range(len(self.names)) if w != v and (lonely.size or w not in apart)]
        return max(others, key=lambda w: (self.shared[v, w], -w)), v

    def refusal(self) -> str | None:
        """One sentence that says which ids do not match, how they differ and how to go on; None if enough do."""
        if self.refused is None:
            return None
        a, b = self.refused
        got = f"{self.shared[a, b]:,} of {min(self.shared[a, a], self.shared[b, b]):,}"
        if not self.shared[a, b]:
            got = "none"
        seen = f"expected views {self.names[a]!r} and {self.names[b]!r} to share samples, got {got}"
        if (lying := self._lying(a, b)) is not None:
            return f"{seen}: {lying}"
        own = {v: self.indices[v][~self.indices[v].isin(self.indices[w])] for v, w in ((a, b), (b, a))}
        ids = " and ".join(f"{_examples(own[v])} in {self.names[v]!r}" for v in (a, b))
        found = find_difference(self.indices, (a, b), [_is_numbered(index) for index in self.indices])
        turned, words, advice = self.turned(), f": {found.words}", ["ids='union' to go on without a match"]
        if found.rule is not None and (found.is_plain or not turned):
            advice.insert(0, f"ids={found.rule!r}, which matches {found.matched:,} of {found.total:,} samples")
        if turned:
            both = self.columns[a][self.columns[a].isin(self.columns[b])]
            words = f", while the columns share {_examples(both)}: the samples seem to be the columns"
            advice.insert(0, "samples='columns'")
        numbered = [self.names[v] for v in (a, b) if _is_numbered(self.indices[v])]
        first = f"set the ids of {numbered[0]!r}, or " if len(numbered) == 1 and found.rule is None else ""
        return f"{seen} (ids {ids}{words}); {first}pass {', or '.join(advice)} (to jella.align, or --ids and --samples)"

    def _lying(self, a: int, b: int) -> str | None:
        """What to do with the one of two views that has its samples in columns; None if neither has."""
        for v, w in ((a, b), (b, a)):
            both = self.columns[v][self.columns[v].isin(self.indices[w])]
            if len(both) >= max(1, ENOUGH * len(self.indices[w])) and not _is_numbered(self.columns[v]):
                there, here = self.names[w], self.names[v]
                return f"samples of {there!r} ({_examples(both)}) are columns of {here!r}; transpose {here!r}"
        return None

    def turned(self) -> bool:
        """Whether the columns of the views overlap like samples, so that these seem to be columns."""
        if any(_is_numbered(columns) or not len(columns) for columns in self.columns):
            return False
        counts = _presence(self.columns).astype(np.float64)
        shared = counts.T @ counts
        sizes = np.diag(shared)
        return bool(np.all(shared >= np.maximum(1, ENOUGH * np.minimum(sizes[:, None], sizes))))

    def notes(self) -> list[str]:
        """Sentences on the samples that views share, for people who read data; none if they have the same samples."""
        if self.n_common == self.n_samples:
            return []
        refusal = self.refusal()
        if refusal is not None:
            return [f"A fit would refuse these views: {refusal}."]
        said = [f"Of {self.n_samples:,} samples, {self.n_common:,} are in all {len(self.names)} views."]
        pairs = [(v, w) for w in range(len(self.names)) for v in range(w) if not self.shared[v, w]]
        apart = [f"{self.names[v]!r} and {self.names[w]!r}" for v, w in pairs]
        return said + ([f"No sample is in both {listed(apart, _MORE_VIEWS)}."] if apart else [])


def _index(raw: Any) -> Any:
    index = None if raw is None else names_of(raw)
    return () if index is None else index


def _columns(raw: Any) -> Any:
    if is_frame(raw) or is_annotated(raw):
        return raw.columns if is_frame(raw) else raw.var_names
    import pandas as pd

    return pd.Index(list(columns_of(raw)))


def _presence(indices: Sequence[Any]) -> np.ndarray:
    """Which name is in which index, (n, V) booleans."""
    if all(index.equals(indices[0]) for index in indices[1:]):
        return np.ones((len(indices[0]), len(indices)), dtype=bool)
    union = indices[0]
    for index in indices[1:]:
        union = union.append(index[~index.isin(union)])
    return np.stack([union.isin(index) for index in indices], axis=1)


def _reached(edges: np.ndarray) -> np.ndarray:
    """Which nodes can be reached from the first one, (V,) booleans."""
    seen = np.zeros(len(edges), dtype=bool)
    seen[0] = True
    while (more := edges[seen].any(axis=0) | seen).sum() > seen.sum():
        seen = more
    return seen


def _is_numbered(index: Any) -> bool:
    """Whether an index only counts its entries from 0."""
    return hasattr(index, "start") and index.start == 0 and index.step == 1


def _examples(index: Any) -> str:
    shown = ", ".join(map(repr, index[:SHOWN].tolist()))
    return shown + (", …" if len(index) > SHOWN else "")
