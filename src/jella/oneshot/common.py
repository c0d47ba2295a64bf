"""What the one-call functions share: alignment, settings of the model, and tables of their results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jella.estimators.methods.sparse_bdr import SparseBDR
from jella.numerics.progress import SweepLine, doing, open_line
from jella.numerics.words import aligned, closest_name, counted
from jella.oneshot.adjusting import Adjusted
from jella.views import is_chunked, read_views
from jella.views.align import align, turned
from jella.views.ids import IdRule
from jella.views.read import split
from jella.views.sample_columns import read_columns
from jella.views.table_cells import n_cells, n_missing_cells
from jella.views.write import put_back

#: views that a repr lists
SHOWN_VIEWS = 5
#: longer names of views are shortened in a repr
NAME_WIDTH = 24


def aligned_views(views: Any, observed: Any, ids: Any, samples: str, zero_rows: str) -> Any:
    """The views that `jella.align` makes of these; as given where nothing is asked of it."""
    if (ids, samples, zero_rows) == ("exact", "rows", "observed"):
        return views  # whose fit checks the ids
    if observed is not None:
        raise ValueError(
            "expected NaN as the mark of missing values with ids, samples or zero_rows, got observed; call jella.align "
            "first, and pass observed for its result"
        )
    return align(views, ids=ids, samples=samples, zero_rows=zero_rows)


def metadata_columns(metadata: Any, views: Any, observed: Any, ids: Any) -> dict[str, np.ndarray]:
    """The columns of metadata in the order of the samples; none without metadata."""
    if metadata is None:
        return {}
    if is_chunked(views):
        raise ValueError("expected samples in memory with metadata, got a Dask collection; leave metadata out")
    read = read_views(views, observed)
    return read_columns(metadata, read.sample_names, read.n_samples, ids=ids)


def pairs_by_rule(pairs: Any, ids: Any) -> Any:
    """Pairs of sample ids, changed as the rule `ids` changes those of the views."""
    rule = IdRule.of(ids)
    return pairs if pairs is None or not rule.steps else [rule.match(pair) for pair in np.asarray(pairs, dtype=object)]


def fit_model(
    views: Any,
    observed: Any,
    covariates: Any,
    adjust_views: Sequence[str] | None,
    ids: Any,
    settings: dict[str, Any],
    **told: Any,
) -> tuple[Any, Adjusted | None]:
    """The fitted model, and the views without the effects of covariates that it knows, if there are covariates."""
    if covariates is None:
        return fit_on_line(SparseBDR(**settings), views, observed, **told), None
    adjusted = Adjusted.of(views, covariates, observed, ids=ids, only=adjust_views, kinds=settings.get("kinds"))
    model = fit_on_line(SparseBDR(**{**settings, "kinds": adjusted.kinds}), adjusted.views, None, **told)
    adjusted.mark(model)
    return model, adjusted


def fit_on_line(model: SparseBDR, X: Any, observed: Any, **told: Any) -> Any:
    """The fitted model; the line that is open counts its sweeps."""
    line = open_line()
    if not isinstance(line, SweepLine) or not line.enabled or model.callback is not None:
        return model.fit(X, observed=observed, **told)
    doing("preparing: scaling, neighbours, start values")
    try:
        return model.set_params(callback=line).fit(X, observed=observed, **told)
    finally:
        model.set_params(callback=None)


def as_given(completed: Any, was_turned: bool) -> Any:
    """Completed views with samples as columns again, if they were."""
    if not was_turned:
        return completed
    names, raws = split(completed)
    return put_back([turned(raw, name) for raw, name in zip(raws, names, strict=True)], completed, names)


def check_settings(settings: Iterable[str]) -> None:
    """Refuse names that are not parameters of SparseBDR."""
    known = SparseBDR().get_params()
    for name in settings:
        if name not in known:
            raise TypeError(f"expected parameters of SparseBDR, got {name!r}; {closest_name(name, known)}")


def count_cells(X: Any, observed: Any) -> tuple[dict[str, int], dict[str, int]]:
    """The number of missing cells, and of all cells, of each view by name; a category has one cell per sample."""
    views: Any
    if is_chunked(X):
        from jella.distributed.read import read_chunked

        views = read_chunked(X, observed)
    else:
        views = read_views(X, observed)
    return {view.name: n_missing_cells(view) for view in views}, {view.name: n_cells(view) for view in views}


def view_table(rows: Sequence[Sequence[str]], sides: str, last: Iterable[Sequence[str]] = ()) -> list[str]:
    """Aligned lines: a head, rows of which some may be left out, and last rows that are always shown."""
    lines = aligned([*rows[: SHOWN_VIEWS + 1], *last], sides, indent="  ")
    left_out = len(rows) - 1 - SHOWN_VIEWS
    if left_out > 0:
        lines.insert(SHOWN_VIEWS + 1, f"  … and {counted(left_out, 'more view')}")
    return lines
