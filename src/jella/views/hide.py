"""Taking values away from the user's own containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jella.views.annotated import is_annotated, with_values
from jella.views.fill import fill, fill_frame
from jella.views.frames import is_frame
from jella.views.model import Views
from jella.views.read import split
from jella.views.write import put_back


def hide_values(X: Any, views: Views, hidden: Sequence[np.ndarray]) -> Any:
    """A copy of X with NaN where hidden, (n, 1) or (n, d) booleans a view, is True."""
    names, raws = split(X)
    out = [_hide_one(raw, where, views.sample_names) for raw, where in zip(raws, hidden, strict=True)]
    return put_back(out, X, names)


def _hide_one(raw: Any, where: np.ndarray, sample_names: Any) -> Any:
    nothing = np.full((1, 1), np.nan)
    if is_annotated(raw):
        raw = raw.copy() if raw.is_view else raw  # a view has values of a type of its own
        return with_values(raw, fill(raw.X, ~where[sample_names.get_indexer(raw.obs_names)], nothing))
    if not is_frame(raw):
        return fill(raw, ~where, nothing)
    keep = ~np.broadcast_to(where[sample_names.get_indexer(raw.index)], raw.shape)
    return fill_frame(raw, raw.index, keep, np.broadcast_to(nothing, raw.shape))
