"""Random choice of observed values to hide.

Four rules: a setting of missingness (`make_incomplete`), values held out in the way the data lack them (`HeldOut`), the
same by the shares of the views (calibration of a completion), and the rule of `score`, which also leaves whole samples
out. All consist of the steps in `draw_steps`. A sample never loses its last observed value. What is drawn are cells: a
category is hidden with all its indicators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from jella.numerics.arrays import dense_rows, to_numpy
from jella.views.categories import cell_places, on_features
from jella.views.draw_steps import and_entries, by_chance, one_view_each, random_view, spare_features, without_views
from jella.views.hide import Hidden
from jella.views.missingness import Floats, Mask, mar_chances, mnar_chances
from jella.views.model import View, Views

#: share of the entries of a sample with one view that `score` hides
SCORE_SHARE = 0.1
#: share of the samples of a fit that `score` leaves out of another fit
LEFT_OUT = 0.2


# the rules


def draw_setting(views: Views, rate: float, setting: str, rng: np.random.Generator) -> Hidden:
    """The values that a setting of missingness hides.

    A sample that would lose everything is drawn again, under the condition that something stays. The counts of
    'incomplete-view' and 'mcar' are then smaller than requested.

    Parameters
    ----------
    views : Views
    rate : float in [0, 1)
    setting : {'missing-view', 'incomplete-view', 'mcar', 'mar', 'mnar'}
        - 'missing-view': round(rate * n) samples each lose one of the views they have, at random. A sample never loses
          its only view.
        - 'incomplete-view': the same, skipped for one view; then each view loses round(rate * m) of the m entries that
          are left.
        - 'mcar': each view loses round(rate * m) of its m observed entries, all with the same probability.
        - 'mar', 'mnar': entries go missing with the probabilities of `mar_chances`, `mnar_chances`.
    rng : numpy.random.Generator
        Generators in the same state give the same result.

    Examples
    --------
    >>> import numpy as np
    >>> from jella.views import read_views
    >>> views = read_views([np.ones((10, 2)), np.ones((10, 3))])
    >>> first, second = draw_setting(views, 0.3, "missing-view", np.random.default_rng(0))
    >>> int((first | second).sum()), int((first & second).sum())
    (3, 0)
    """
    if setting not in SETTINGS:
        raise ValueError(f"expected setting to be one of {tuple(SETTINGS)}, got {setting!r}; pass one of these names")
    if not 0 <= rate < 1:
        raise ValueError(f"expected 0 <= rate < 1, got {rate!r}; pass it as a share, not in percent")
    return _hidden(SETTINGS[setting](_cells(views), rate, rng), views)


def draw_as_missing(views: Views, share: float, what: str, rng: np.random.Generator) -> Hidden:
    """Whole views, entries or both, in the way the data lack values; no feature loses its last observed value.

    Parameters
    ----------
    views : Views
    share : float in (0, 1)
        Of the samples with two views or more, of the observed entries of each view, or of both.
    what : {'auto', 'views', 'entries'}
        As in `HeldOut`.
    rng : numpy.random.Generator
    """
    return _hidden(_drawn_as_missing(_cells(views), share, what, rng), views)


def _drawn_as_missing(views: Views, share: float, what: str, rng: np.random.Generator) -> Hidden:
    several = np.flatnonzero(_has_several(views))
    takes_views, takes_entries = _kinds(views, what, several.size > 0)
    hidden = Hidden.nothing(views)
    if takes_views:
        rows = rng.choice(several, max(1, round(share * several.size)), replace=False)
        hidden = one_view_each(views, rows, rng)
    if takes_entries:
        stays_sparse = [what == "auto" and takes_views and view.is_sparse and view.is_rowwise for view in views]
        hidden = and_entries(views, hidden, share, rng, [v for v, stays in enumerate(stays_sparse) if not stays])
    hidden = Hidden(tuple(spare_features(view, where, rng) for view, where in zip(views, hidden, strict=True)))
    if not any(hidden.counts(views)):
        raise ValueError(
            f"expected observed values that can be hidden, got none with share={share}: samples and features "
            "keep their last one; increase the share or pass more data"
        )
    return hidden


def _kinds(views: Views, what: str, has_several: bool) -> tuple[bool, bool]:
    """Whether to hide whole views, and entries."""
    if what == "views" and not has_several:
        raise ValueError("expected samples with two or more views for what='views', got none; use what='entries'")
    if what != "auto":
        return what == "views", what == "entries"
    return has_several, not (has_several and views.is_rowwise)


def draw_for_calibration(
    views: Views,
    share: float,
    rng: np.random.Generator,
    leanings: Sequence[Floats | None] | None = None,
    most_samples: int | None = None,
) -> Hidden:
    """Whole views as often as samples lack each view, and entries of the views that lack entries.

    Where nothing is missing, each view is as likely as any other, and dense views lose entries too. No sample and no
    feature loses its last observed value.

    Parameters
    ----------
    views : Views
    share : float in (0, 1)
        Of the samples with two views or more, and of the observed entries of each view that loses entries.
    rng : numpy.random.Generator
    leanings : sequence of arrays (n, d) or None, one per view, optional
        Log-odds of each entry to be hidden, up to a constant; by default all are equal.
    most_samples : int, optional
        With more samples, this many of them, drawn at random, can lose something.

    Examples
    --------
    >>> import numpy as np
    >>> from jella.views import read_views
    >>> first, second = np.ones((10, 2)), np.ones((10, 3))
    >>> second[:2] = np.nan
    >>> hidden = draw_for_calibration(read_views([first, second]), 0.25, np.random.default_rng(0))
    >>> [int(where.sum()) for where in hidden]
    [0, 2]
    """
    leanings = [None] * len(views) if leanings is None else leanings
    by_cell = [_first_of_cells(view, one) for view, one in zip(views, leanings, strict=True)]
    some = np.ones(views.n_samples, dtype=bool)
    if most_samples is not None and views.n_samples > most_samples:
        some = np.isin(np.arange(views.n_samples), rng.choice(views.n_samples, most_samples, replace=False))
    return _hidden(_drawn_for_calibration(_cells(views), share, rng, by_cell, some), views)


def _drawn_for_calibration(
    views: Views, share: float, rng: np.random.Generator, leanings: Sequence[Floats | None], some: np.ndarray
) -> Hidden:
    lacking = np.array([views.n_samples - int(view.presence().sum()) for view in views], dtype=np.float64)
    complete = not lacking.any() and views.is_rowwise
    chances = np.ones(len(views)) if complete else lacking
    able = views.presence() & (chances > 0) & some[:, None]
    rows = np.flatnonzero(_has_several(views) & able.any(axis=1))
    hidden = Hidden.nothing(views)
    if chances.any() and rows.size:
        rows = rng.choice(rows, max(1, round(share * rows.size)), replace=False)
        lost = np.full(views.n_samples, -1)
        # the smallest of exponential waiting times: a view wins with its share of the chances
        waiting = rng.exponential(size=(rows.size, len(views))) / np.where(chances > 0, chances, 1.0)
        lost[rows] = np.where(able[rows], waiting, np.inf).argmin(axis=1)
        hidden = without_views(views, lost)
    chosen = [v for v, view in enumerate(views) if (not view.is_sparse if complete else not view.is_rowwise)]
    if chosen:
        hidden = and_entries(views, hidden, share, rng, chosen, leanings, some)
    return Hidden(tuple(spare_features(view, where, rng) for view, where in zip(views, hidden, strict=True)))


def draw_for_score(views: Views, rng: np.random.Generator) -> Hidden:
    """One view of each sample with two or more; a tenth of the entries of the others, at least one, never the last."""
    presence, several, cells = views.presence(), _has_several(views), _cells(views)
    hidden = without_views(cells, np.where(several, random_view(presence, rng), -1))
    alone = [np.flatnonzero(~several & presence[:, v]) for v in range(len(views))]
    drawn = Hidden(tuple(_tenth(view, rows, rng) for view, rows in zip(cells, alone, strict=True)))
    return _hidden(hidden | drawn, views)


def _tenth(view: View, rows: np.ndarray, rng: np.random.Generator) -> Mask:
    """A tenth of the entries of some samples, at least one and never the last, (n, d); (n, 1) for no samples."""
    if not rows.size:
        return np.zeros((view.n_samples, 1), dtype=bool)
    chosen = np.zeros((view.n_samples, view.n_features), dtype=bool)
    observed = np.broadcast_to(to_numpy(view.mask), chosen.shape)[rows]
    count = observed.sum(axis=1, keepdims=True)
    wanted = np.where(count > 1, np.maximum(1, np.round(SCORE_SHARE * count)), 0)
    order = np.where(observed, rng.random(observed.shape), 2.0).argsort(axis=1).argsort(axis=1)
    chosen[rows] = order < wanted
    return chosen


def draw_left_out(views: Views, rng: np.random.Generator) -> np.ndarray:
    """A fifth of the samples with two values or more, (n,) booleans; each feature keeps an observed value in others.

    >>> from jella.views import read_views
    >>> int(draw_left_out(read_views(np.ones((20, 3))), np.random.default_rng(0)).sum())
    4
    """
    counts = np.sum([to_numpy(view.count_by_sample()) for view in views], axis=0)
    several, out = np.flatnonzero(counts >= 2), np.zeros(views.n_samples, dtype=bool)
    if several.size:
        out[rng.choice(several, max(1, round(LEFT_OUT * several.size)), replace=False)] = True
    for view in views:
        mask = np.broadcast_to(to_numpy(view.mask), (views.n_samples, view.mask.shape[1]))
        for j in np.flatnonzero(~(mask & ~out[:, None]).any(axis=0)):
            if (mask[:, j] & out).any() and not (mask[:, j] & ~out).any():
                out[rng.choice(np.flatnonzero(mask[:, j] & out))] = False
    return out


# cells of the user's tables


def _cells(views: Views) -> Views:
    """The views with one feature per cell: the first indicator of each category."""
    if not any(view.categories for view in views):
        return views
    return replace(views, items=tuple(_first_features(view) if view.categories else view for view in views))


def _first_features(view: View) -> View:
    starts, _ = cell_places(view.n_features, view.categories)
    X, mask = dense_rows(view.X, slice(None))[:, starts], to_numpy(view.mask)
    return View(view.name, X, mask if view.is_rowwise else mask[:, starts])


def _first_of_cells(view: View, values: Floats | None) -> Floats | None:
    """Values (n, d) of features, of one feature per cell."""
    if values is None or not view.categories:
        return values
    return values[:, cell_places(view.n_features, view.categories)[0]]


def _hidden(cells: Hidden, views: Views) -> Hidden:
    """Hidden cells as hidden values."""
    pairs = zip(cells, views, strict=True)
    return Hidden(tuple(on_features(where, view.n_features, view.categories) for where, view in pairs))


def _has_several(views: Views) -> np.ndarray:
    return views.presence().sum(axis=1) >= 2


# settings


def _missing_view(views: Views, rate: float, rng: np.random.Generator) -> Hidden:
    if len(views) < 2:
        raise ValueError("expected at least 2 views for 'missing-view', got 1; add a view or use another setting")
    eligible, count = np.flatnonzero(_has_several(views)), round(rate * views.n_samples)
    if count > eligible.size:
        raise ValueError(
            f"expected {count} samples (rate {rate} of {views.n_samples}) with at least 2 observed views to take one "
            f"from, got {eligible.size}; lower the rate"
        )
    return one_view_each(views, rng.choice(eligible, count, replace=False), rng)


def _incomplete_view(views: Views, rate: float, rng: np.random.Generator) -> Hidden:
    lost = _missing_view(views, rate, rng) if len(views) > 1 else Hidden.nothing(views)
    return and_entries(views, lost, rate, rng)


def _mcar(views: Views, rate: float, rng: np.random.Generator) -> Hidden:
    return and_entries(views, Hidden.nothing(views), rate, rng)


def _mar(views: Views, rate: float, rng: np.random.Generator) -> Hidden:
    observed = _observed(views)
    return by_chance(observed, mar_chances(observed, _values(views), rate, rng), rng)


def _mnar(views: Views, rate: float, rng: np.random.Generator) -> Hidden:
    observed = _observed(views)
    return by_chance(observed, mnar_chances(observed, _values(views), rate), rng)


def _observed(views: Views) -> list[Mask]:
    return [np.broadcast_to(to_numpy(view.mask), view.X.shape) for view in views]


def _values(views: Views) -> list[Floats]:
    return [dense_rows(view.X, slice(None)) for view in views]


SETTINGS: dict[str, Callable[[Views, float, np.random.Generator], Hidden]] = {
    "missing-view": _missing_view,
    "incomplete-view": _incomplete_view,
    "mcar": _mcar,
    "mar": _mar,
    "mnar": _mnar,
}
