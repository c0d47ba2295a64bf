"""Hidden values: which values of views are hidden, and the views without them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jella.numerics.arrays import row_blocks, to_numpy
from jella.views.annotated import with_values
from jella.views.categories import Category, expanded_names, on_features
from jella.views.category_columns import as_levels
from jella.views.containers import collect, is_annotated, is_data_array, is_frame, is_other_frame, is_single
from jella.views.fill import fill
from jella.views.frames import Frame
from jella.views.masks import zero_filled
from jella.views.model import View, Views
from jella.views.named import columns_of, fill_named, names_of
from jella.views.read import split
from jella.views.write import put_back

#: bytes of the blocks in which hidden values are compared, so that a wide sparse view is never dense as a whole
BLOCK_BYTES = 2**26


@dataclass(frozen=True, eq=False)
class Hidden:
    """Values to hide, in the order of the samples and features of `Views`.

    Attributes
    ----------
    masks : tuple of boolean arrays (n, 1) or (n, d), one per view
        True where a value is hidden; (n, 1) where samples lose the whole view.
    """

    masks: tuple[np.ndarray, ...]

    @classmethod
    def nothing(cls, views: Views) -> Hidden:
        """No value of any view."""
        return cls(tuple(np.zeros((views.n_samples, 1), dtype=bool) for _ in views))

    @classmethod
    def missing(cls, views: Views) -> Hidden:
        """The values that the views lack; a container that was read with `observed` may have them."""
        masks = [~to_numpy(view.mask) for view in views]
        return cls(tuple(np.broadcast_to(mask, (views.n_samples, mask.shape[1])) for mask in masks))

    @classmethod
    def read(cls, masks: Any, views: Views) -> Hidden:
        """The masks of a container of the user, as `masks_like` returns them, checked against the views."""
        return cls(tuple(_observed_only(where, view) for where, view in zip(_listed(masks, views), views, strict=True)))

    def masks_like(self, X: Any, views: Views) -> Any:
        """The masks in the container of X: one array if X is one array, else a list, tuple or dict."""
        return self.masks[0] if is_single(X) else collect(self.masks, X, views.names)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.masks)

    def __len__(self) -> int:
        return len(self.masks)

    def __getitem__(self, v: int) -> np.ndarray:
        return self.masks[v]

    def __or__(self, other: Hidden) -> Hidden:
        return Hidden(tuple(mine | theirs for mine, theirs in zip(self, other, strict=True)))

    def counts(self, views: Views) -> tuple[int, ...]:
        """Number of hidden values of each view."""
        gone = [where & to_numpy(view.mask) for where, view in zip(self, views, strict=True)]
        return tuple(int(m.sum()) * (v.n_features // m.shape[1]) for m, v in zip(gone, views, strict=True))

    def left(self, views: Views) -> tuple[np.ndarray, ...]:
        """The values that stay observed, (n, 1) or (n, d) booleans per view; a category is hidden as a whole."""
        left = [to_numpy(view.mask) & ~where for where, view in zip(self, views, strict=True)]
        return tuple(on_features(one, view.n_features, view.categories) for one, view in zip(left, views, strict=True))

    def rows(self, v: int) -> np.ndarray:
        """Positions of the samples that lose values in a view."""
        return np.flatnonzero(self[v].any(axis=1))

    def blocks(self, v: int, bytes_per_row: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The positions of `rows` in blocks, each with its rows of the mask."""
        rows = self.rows(v)
        for block in row_blocks(rows.size, bytes_per_row, BLOCK_BYTES):
            yield rows[block], self[v][rows[block]]

    def apply(self, views: Views) -> Views:
        """The views without the hidden values."""
        items = zip(views, self, self.left(views), strict=True)
        return replace(
            views, items=tuple(_with_mask(view, left) if where.any() else view for view, where, left in items)
        )

    def apply_to(self, X: Any, views: Views) -> Any:
        """A copy of X, from which these views were read, in the same containers, with NaN for the hidden values.

        A column of text becomes one of categories, so that a fit knows also the levels that no sample has any more.
        """
        names, raws = split(X)
        triples = zip(raws, self, views, strict=True)
        out = [_with_nan(raw, where, views.sample_names, view.categories) for raw, where, view in triples]
        return put_back(out, X, names)


def _with_mask(view: View, left: np.ndarray) -> View:
    X, mask = zero_filled(Frame(view.X, observed=left), view.name)
    return replace(view, X=X, mask=mask)


def _with_nan(raw: Any, where: np.ndarray, sample_names: Any, categories: Sequence[Category]) -> Any:
    nothing = np.full((1, 1), np.nan)
    if is_annotated(raw):
        raw = raw.copy() if raw.is_view else raw  # a view of AnnData has values of another type
        return with_values(raw, fill(raw.X, ~where[sample_names.get_indexer(raw.obs_names)], nothing))
    if not (is_frame(raw) or is_data_array(raw) or is_other_frame(raw)):
        return fill(raw, ~where, nothing)
    index, columns = names_of(raw), columns_of(raw)
    where = where if index is None else where[sample_names.get_indexer(index)]
    shape = (raw.shape[0], len(expanded_names(columns, categories)) or raw.shape[1])
    if is_frame(raw) and categories:
        by_column = {category.column: category for category in categories}
        raw = raw.copy()
        for j in [j for j, column in enumerate(columns) if column in by_column]:
            raw.isetitem(j, as_levels(raw.iloc[:, j], by_column[columns[j]]))
    return fill_named(raw, (), ~np.broadcast_to(where, shape), np.broadcast_to(nothing, shape), categories)


def _listed(masks: Any, views: Views) -> list[np.ndarray]:
    """One mask per view, of the right type and shape."""
    if isinstance(masks, Mapping):
        by_name = {str(name): where for name, where in masks.items()}
        found = [by_name.get(name) for name in views.names]
    else:
        found = list(masks) if isinstance(masks, list | tuple) else [masks]
    wheres = [np.asarray(where) for where in found]
    fits = [
        where.dtype == bool and where.shape in ((v.n_samples, 1), (v.n_samples, v.n_features))
        for where, v in zip(wheres, views, strict=False)
    ]
    if len(wheres) != len(views) or not all(fits):
        raise ValueError(
            f"expected hidden to hold booleans (n, 1) or (n, d) for each of the {len(views)} views, got shapes "
            f"{[where.shape for where in wheres]}; pass the masks that split returned"
        )
    return wheres


def _observed_only(where: np.ndarray, view: View) -> np.ndarray:
    """The mask, which must be True only where the view has values; a whole view means its observed values."""
    seen = view.presence()[:, None] if where.shape[1] == 1 else to_numpy(view.mask)
    if (where & ~seen).any():
        raise ValueError(
            f"expected X to have the hidden values of view {view.name!r}, but some of them are NaN; pass X as it was "
            "before it was split"
        )
    where = ~on_features(~where, view.n_features, view.categories)
    return where if view.is_rowwise else where & to_numpy(view.mask)
