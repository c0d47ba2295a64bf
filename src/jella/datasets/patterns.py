"""Patterns of missingness: which of the observed entries to hide.

Everything here works on lists of full boolean and float arrays, one per view; the containers that users hold are dealt
with by the callers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SETTINGS", "draw_hidden"]

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
_Draw = tuple[list[Mask], list[Floats]]

SETTINGS: dict[str, str] = {
    "missing-view": "share of the samples that lose one view",
    "incomplete-view": "share of the samples that lose one view, and share of the entries then left in every view",
    "mcar": "share of the observed entries of every view",
    "mar": "expected share of the observed entries of every view outside its driver features",
    "mnar": "expected share of the observed entries of every view",
}
"""What `rate` means in every setting."""

_SLOPE = 2.0  # log-odds of going missing per standard deviation, of the score ('mar') or of the value ('mnar')
_DRIVER_SHARE = 0.1
_CERTAIN = 1 - 1e-9  # the highest chance of an entry that can stay at all; beyond it, rounding takes over


def draw_hidden(
    observed: Sequence[Mask],
    rate: float,
    setting: str,
    rng: np.random.Generator,
    values: Sequence[Floats] | None = None,
) -> list[Mask]:
    """Draw which of the observed entries to hide.

    No sample that has something observed loses all of it: a sample that would is drawn again, on condition that
    something stays. Where that happens the counts of 'incomplete-view' and 'mcar' fall short of the exact ones.

    Parameters
    ----------
    observed : list of V boolean arrays of shape (n, d_v)
        True where there is a value. For 'missing-view', arrays of shape (n, 1) do as well.
    rate : float
        How much to hide, 0 <= rate < 1; `SETTINGS` says of what it is a share.
    setting : {'missing-view', 'incomplete-view', 'mcar', 'mar', 'mnar'}
        - 'missing-view': round(rate * n) samples each lose one of the views they have, at random. A sample never loses
          its only view.
        - 'incomplete-view': the same, skipped where V = 1; then every view loses round(rate * m) of the m entries left.
        - 'mcar': every view loses round(rate * m) of its m observed entries, each as likely as any other.
        - 'mar': a tenth of the features of every view, at least one, are drivers and stay. The other entries of a
          sample go missing with a probability that grows with its score, a random combination of its drivers.
        - 'mnar': an entry goes missing with a probability that grows with its own value, relative to its feature.
    rng : numpy.random.Generator
        Source of the randomness; generators in the same state give the same result.
    values : list of V float arrays of shape (n, d_v), default None
        Needed for 'mar' and 'mnar'; read where `observed` is True only.

    Returns
    -------
    list of V boolean arrays, shaped like those of `observed`
        True where an observed entry is to be hidden.

    Examples
    --------
    >>> import numpy as np
    >>> from jella.datasets.patterns import draw_hidden
    >>> observed = [np.ones((10, 1), bool), np.ones((10, 1), bool)]
    >>> first, second = draw_hidden(observed, 0.3, "missing-view", np.random.default_rng(0))
    >>> int((first | second).sum()), int((first & second).sum())
    (3, 0)
    """
    if setting not in _DRAWS:
        raise ValueError(f"expected setting to be one of {tuple(_DRAWS)}, got {setting!r}; pass one of these names")
    if not 0 <= rate < 1:
        raise ValueError(f"expected 0 <= rate < 1, got {rate!r}; pass it as a share, not in percent")
    views = [np.asarray(view, dtype=bool) for view in observed]
    shapes = [view.shape for view in views]
    if not views or any(len(shape) != 2 or shape[0] != shapes[0][0] for shape in shapes):
        raise ValueError(f"expected observed arrays of shapes (n, d_v), got {shapes}; pass one per view, of one n")
    floats = _checked_values(values, shapes, setting) if setting in ("mar", "mnar") else []
    hidden, chance = _DRAWS[setting](views, rate, rng, floats)
    return _spare_one(views, hidden, chance, rng)


def _checked_values(values: Sequence[Floats] | None, shapes: list[tuple[int, ...]], setting: str) -> list[Floats]:
    found = None if values is None else [np.asarray(view, dtype=float) for view in values]
    if found is None or [view.shape for view in found] != shapes:
        got = None if found is None else [view.shape for view in found]
        raise ValueError(f"expected values of shapes {shapes} for {setting!r}, got {got}; pass one array per view")
    return found


# Every setting below returns the entries it hides, and each entry's chance of going missing (broadcastable to the
# view), by which samples left with nothing are drawn again. An entry hidden with its view has the chance 1.


def _missing_view(views: list[Mask], rate: float, rng: np.random.Generator, _: list[Floats]) -> _Draw:
    if len(views) < 2:
        raise ValueError("expected at least 2 views for 'missing-view', got 1; add a view or use another setting")
    hidden = _lose_one_view(views, rate, rng)
    return hidden, [mask.astype(float) for mask in hidden]


def _incomplete_view(views: list[Mask], rate: float, rng: np.random.Generator, _: list[Floats]) -> _Draw:
    lost = _lose_one_view(views, rate, rng) if len(views) > 1 else [np.zeros_like(view) for view in views]
    hidden = [mask | _exact_share(view & ~mask, rate, rng) for view, mask in zip(views, lost, strict=True)]
    return hidden, [np.where(mask, 1.0, rate) for mask in lost]


def _mcar(views: list[Mask], rate: float, rng: np.random.Generator, _: list[Floats]) -> _Draw:
    return [_exact_share(view, rate, rng) for view in views], [np.full((1, 1), rate) for _ in views]


def _mar(views: list[Mask], rate: float, rng: np.random.Generator, values: list[Floats]) -> _Draw:
    drivers = [_draw_drivers(view.shape[1], rng) for view in views]
    free = [view & ~driver for view, driver in zip(views, drivers, strict=True)]
    if rate > 0 and not any(view.any() for view in free):
        raise ValueError(
            "expected observed entries beside the driver features (at least one per view) for 'mar', "
            f"got none in views with {[view.shape[1] for view in views]} feature(s); use 'mcar' or 'mnar'"
        )
    score = _driver_score(views, values, drivers, rng)
    chance = [_chance(score, view.sum(axis=1, keepdims=True), rate) * ~d for view, d in zip(free, drivers, strict=True)]
    return [view & (rng.random(view.shape) < p) for view, p in zip(free, chance, strict=True)], chance


def _mnar(views: list[Mask], rate: float, rng: np.random.Generator, values: list[Floats]) -> _Draw:
    chance = [_chance(_standardised(x, view), view, rate) for view, x in zip(views, values, strict=True)]
    return [view & (rng.random(view.shape) < p) for view, p in zip(views, chance, strict=True)], chance


_DRAWS: dict[str, Callable[[list[Mask], float, np.random.Generator, list[Floats]], _Draw]] = {
    "missing-view": _missing_view,
    "incomplete-view": _incomplete_view,
    "mcar": _mcar,
    "mar": _mar,
    "mnar": _mnar,
}


def _lose_one_view(views: list[Mask], rate: float, rng: np.random.Generator) -> list[Mask]:
    """Hide one random view of round(rate * n) random samples that have two or more."""
    has = np.column_stack([view.any(axis=1) for view in views])
    eligible = np.flatnonzero(has.sum(axis=1) >= 2)
    count = round(rate * len(has))
    if count > eligible.size:
        raise ValueError(
            f"expected {count} samples (rate {rate} of {len(has)}) with at least 2 observed views to take one from, "
            f"got {eligible.size}; lower the rate"
        )
    samples = rng.choice(eligible, count, replace=False)
    lost = np.full(len(has), -1)
    lost[samples] = np.where(has[samples], rng.random((count, len(views))), -1.0).argmax(axis=1)
    return [view & (lost == v)[:, None] for v, view in enumerate(views)]


def _exact_share(observed: Mask, rate: float, rng: np.random.Generator) -> Mask:
    entries = np.flatnonzero(observed)
    hidden = np.zeros(observed.size, dtype=bool)
    hidden[rng.choice(entries, round(rate * entries.size), replace=False, shuffle=False)] = True
    return hidden.reshape(observed.shape)


def _draw_drivers(n_features: int, rng: np.random.Generator) -> Mask:
    count = min(n_features, max(1, round(_DRIVER_SHARE * n_features)))
    drivers = np.zeros(n_features, dtype=bool)
    drivers[rng.choice(n_features, count, replace=False)] = True
    return drivers


def _driver_score(views: list[Mask], values: list[Floats], drivers: list[Mask], rng: np.random.Generator) -> Floats:
    """Standardised random combination of the driver values of all views, (n, 1)."""
    parts = [_standardised(x[:, d], view[:, d]) for view, x, d in zip(views, values, drivers, strict=True)]
    columns = np.hstack(parts)
    score = columns @ rng.standard_normal((columns.shape[1], 1))
    return _standardised(score, np.ones(score.shape, dtype=bool))


def _standardised(values: Floats, observed: Mask) -> Floats:
    """Every feature with mean 0 and variance 1 over its observed entries; 0 where missing or constant."""
    known = np.where(observed, values, 0.0)
    count = np.maximum(observed.sum(axis=0), 1)
    mean = known.sum(axis=0) / count
    centred = np.where(observed, known - mean, 0.0)
    scale = np.sqrt(np.einsum("ij,ij->j", centred, centred) / count)
    varies = scale > 1e-12 * np.abs(mean)  # the mean of equal values is off by rounding, which must not be blown up
    return np.where(varies, centred / np.where(varies, scale, 1.0), 0.0)


def _chance(z: Floats, weights: NDArray[Any], rate: float) -> Floats:
    """Logistic in `z`, with the intercept that makes the mean, weighted by `weights`, equal to `rate`."""
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    used = weights > 0
    if rate == 0 or not used.any():
        return np.zeros_like(z)
    rate = min(max(rate, 1 - _CERTAIN), _CERTAIN)
    slopes, shares = _SLOPE * z[used], weights[used] / weights[used].sum()
    # At these two intercepts every chance is below, and above, the rate; 1 more keeps the ends apart for constant z.
    low, high = logit(rate) - slopes.max() - 1, logit(rate) - slopes.min() + 1
    intercept = brentq(lambda b: expit(b + slopes) @ shares - rate, low, high, xtol=1e-9)
    return np.minimum(expit(intercept + _SLOPE * z), _CERTAIN)


def _spare_one(views: list[Mask], hidden: list[Mask], chance: list[Floats], rng: np.random.Generator) -> list[Mask]:
    """Draw anew the samples left with nothing, on condition that something stays.

    The same law as repeating the draw until something stays, but at once, which matters for rates close to 1: the
    position of the first entry that stays is drawn, then the fate of the entries after it.
    """
    had = np.logical_or.reduce([view.any(axis=1) for view in views])
    has = np.logical_or.reduce([(view & ~mask).any(axis=1) for view, mask in zip(views, hidden, strict=True)])
    rows = np.flatnonzero(had & ~has)
    if not rows.size:
        return hidden
    observed = np.hstack([view[rows] for view in views])
    p = np.hstack([np.broadcast_to(c, view.shape)[rows] for view, c in zip(views, chance, strict=True)])
    p = np.where(observed & (p < 1), np.minimum(p, _CERTAIN), 1.0)
    stays_by_now = 1 - np.cumprod(p, axis=1)
    # A draw from (0, 1]: with 0, the first entry would stay even where it is not observed.
    target = (1 - rng.random((rows.size, 1))) * stays_by_now[:, -1:]
    first = (stays_by_now >= target).argmax(axis=1)[:, None]
    position = np.arange(p.shape[1])
    gone = observed & (position != first) & ((position < first) | (rng.random(p.shape) < p))
    parts = np.split(gone, np.cumsum([view.shape[1] for view in views])[:-1], axis=1)
    result = [mask.copy() for mask in hidden]
    for mask, part in zip(result, parts, strict=True):
        mask[rows] = part
    return result
