"""Kinds of values, feature by feature: real numbers, amounts, counts, binary values, categories and proportions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jella.numerics.words import closest_name
from jella.views.any_views import AnyView, AnyViews
from jella.views.categories import Category
from jella.views.feature_summary import FeatureSummary

#: names of the kinds; where features of a view disagree evenly, it has the earlier kind
KINDS = ("real", "amount", "count", "proportion", "binary", "categorical")
#: lowest and highest value of each kind
BOUNDS = {
    "real": (-np.inf, np.inf),
    "amount": (0.0, np.inf),
    "count": (0.0, np.inf),
    "proportion": (0.0, 1.0),
    "binary": (0.0, 1.0),
    "categorical": (0.0, 1.0),
}
#: kinds of whole numbers
WHOLE = ("count", "binary", "categorical")
#: what each kind allows, in messages
ALLOWED = {
    "amount": "numbers from 0",
    "count": "whole numbers from 0",
    "proportion": "numbers from 0 to 1",
    "binary": "only 0 and 1",
}
#: with fewer observed values, a feature has the kind of its view, and a view is of real numbers
ENOUGH = 8
#: counts of this mean number above one have none of them in one of twenty features
EXPECTED_ABOVE_ONE = 3.0


@dataclass(frozen=True, eq=False)
class Kinds:
    """The kind of each feature of each view.

    Attributes
    ----------
    by_view : tuple of arrays (d,) of text, one per view
        Names from `KINDS`.
    categories : tuple of tuples of Category, one per view
        The columns whose indicators are categorical.
    """

    by_view: tuple[np.ndarray, ...]
    categories: tuple[tuple[Category, ...], ...]

    @classmethod
    def learn(cls, views: AnyViews, given: Any = None) -> Kinds:
        """The kinds that the observed values show, or that the user gives.

        A feature has the kind that its own values show, if it has at least eight of them and they differ; else it has
        the kind of most features of its view:

        - binary: 0 and 1 only. Among counts, a feature of zeros and few ones is a count;
        - count: whole numbers from 0, some above 1. Not where as many features have whole numbers below 0;
        - proportion: values from 0 to 1, in a view without others;
        - amount: values from 0, in a view without others;
        - real: all others, and views with less than eight values;
        - categorical: the indicators of the columns of categories, and nothing else.

        Parameters
        ----------
        views : views in the units of the user
            Values under the mask have no effect. Sparse views stay sparse.
        given : str or dict, optional
            A kind for all views; a dict of view -> kind; or a dict of view -> dict of feature -> kind, features by
            name or position. What is not given is learned. Indicators of categories stay categorical.

        Examples
        --------
        >>> from jella.views import read_views
        >>> views = read_views({"rna": np.arange(20.0).reshape(10, 2), "z": np.linspace(-1, 1, 10)[:, None]})
        >>> Kinds.learn(views).summary(views.names)
        {'rna': 'count', 'z': 'real'}
        """
        wanted = _by_name(given, views)
        by_view = tuple(_learned(view, wanted.get(view.name)) for view in views)
        return cls(by_view, tuple(view.categories for view in views))

    def bounds(self, v: int) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest possible value of each feature of a view, (d,) each.

        >>> [bound.tolist() for bound in Kinds((np.array(["count", "binary"]),), ((),)).bounds(0)]
        [[0.0, 0.0], [inf, 1.0]]
        """
        low, high = (np.array([BOUNDS[kind][side] for kind in KINDS]) for side in (0, 1))
        which = self.codes(v)
        return low[which], high[which]

    def codes(self, v: int) -> np.ndarray:
        """The position of the kind of each feature of a view in `KINDS`, (d,)."""
        position = {kind: code for code, kind in enumerate(KINDS)}
        return np.array([position[kind] for kind in self.by_view[v].tolist()], dtype=np.intp)

    def groups(self, v: int) -> list[slice]:
        """The positions of the indicators of each category of a view."""
        return [category.features for category in self.categories[v]]

    def summary(self, names: Sequence[str]) -> dict[str, str]:
        """Name of a view -> its kinds in words; a category counts once.

        >>> Kinds((np.array(["real", "binary", "real"]),), ((),)).summary(["clinical"])
        {'clinical': 'real (2), binary (1)'}
        """
        return {name: self._words(v) for v, name in enumerate(names)}

    def _words(self, v: int) -> str:
        kinds, counts = np.unique(self.by_view[v], return_counts=True)
        number = dict(zip(kinds.tolist(), counts.tolist(), strict=True))
        if "categorical" in number:
            number["categorical"] = len(self.categories[v])
        if len(number) == 1:
            return next(iter(number))
        return ", ".join(f"{kind} ({n})" for kind, n in sorted(number.items(), key=lambda item: -item[1]))


def _learned(view: AnyView, given: Any) -> np.ndarray:
    """The kinds of the features of one view."""
    features: FeatureSummary = view.reduce(FeatureSummary.of)
    kinds = np.full(view.n_features, "categorical", dtype="<U11")
    plain = np.ones(view.n_features, dtype=bool)
    for category in view.categories:
        plain[category.features] = False
    kinds[plain] = _shown(features.take(plain))
    for j, kind in _by_feature(given, view, plain):
        _check_given(kind, j, view, features, bool(plain[j]))
        kinds[j] = kind
    return kinds


# what values show


def _shown(features: FeatureSummary) -> np.ndarray:
    """The kinds that the values of the features of a view show; none of the features is categorical."""
    everything = features.pooled()
    if everything.count[0] < ENOUGH:
        return np.full(features.count.size, "real", dtype="<U11")
    otherwise = "real" if everything.low[0] < 0 else "proportion" if everything.high[0] <= 1 else "amount"
    own = _own(features, otherwise)
    differ = (features.count >= ENOUGH) & (features.low < features.high)
    # counts (Poisson) with n_1 ones among n values have about n_1²/2n above one; the logarithm is for many features
    needed = EXPECTED_ABOVE_ONE + np.log(own.size)
    rare = (own == "binary") & (features.total**2 < 2 * features.count * needed)
    sure = differ & ~rare
    of_view = _most(own[sure]) if sure.any() else _own(everything, otherwise)[0]
    unsure = ~differ | (rare & (of_view == "count"))
    return np.where(unsure & _allowed(of_view, features), of_view, own)


def _own(features: FeatureSummary, otherwise: str) -> np.ndarray:
    """The kind of each feature by its own values; `otherwise` if they are not counts and not binary."""
    counts = _allowed("count", features)
    binary = counts & (features.high <= 1)
    counts = counts & ~binary
    if (features.whole & (features.low < 0)).sum() >= max(counts.sum(), 1):
        counts = np.zeros_like(counts)  # whole numbers of a view that has them below zero as well
    return np.where(binary, "binary", np.where(counts, "count", otherwise)).astype("<U11")


def _allowed(kind: str, features: FeatureSummary) -> np.ndarray:
    """The features whose values may be of a kind."""
    return features.within(*BOUNDS[kind]) & (features.whole if kind in WHOLE else True)


def _most(kinds: np.ndarray) -> str:
    return max(KINDS, key=lambda kind: int((kinds == kind).sum()))


# what users give


def _by_name(given: Any, views: AnyViews) -> dict[str, Any]:
    """Kind, or dict of feature -> kind, by the name of the view."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(views.names, given)
    wanted = {str(name): kinds for name, kinds in given.items()}
    for name in wanted:
        if name not in views.names:
            raise ValueError(f"expected kinds of the views {list(views.names)}, got the view {name!r}; leave it out")
    return wanted


def _by_feature(given: Any, view: AnyView, plain: np.ndarray) -> list[tuple[int, Any]]:
    """Position and kind of each feature for which a kind is given."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        return [(int(j), given) for j in np.flatnonzero(plain)]
    position = {name: j for j, name in enumerate(view.feature_names or ())}
    found = []
    for feature, kind in given.items():
        j = position.get(str(feature), feature)
        if isinstance(j, bool) or not isinstance(j, int | np.integer) or not 0 <= j < view.n_features:
            raise ValueError(
                f"expected kinds of features of view {view.name!r}, got the feature {feature!r}; pass names of its "
                f"columns, or positions from 0 to {view.n_features - 1}"
            )
        found.append((int(j), kind))
    return found


def _check_given(kind: Any, j: int, view: AnyView, features: FeatureSummary, is_plain: bool) -> None:
    """Refuse an unknown kind, and one that the observed values contradict."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"expected a kind of value, got {kind!r}; {closest_name(str(kind), KINDS)}")
    feature = j if view.feature_names is None else view.feature_names[j]
    where = f"feature {feature!r} of view {view.name!r}"
    if is_plain == (kind == "categorical"):
        says = "numbers" if is_plain else "the levels of a category"
        raise ValueError(
            f"expected a kind that fits {says} for {where}, got {kind!r}; pass categories as columns of text or of the "
            "type category"
        )
    one = features.take(np.array([j]))
    if not _allowed(kind, one)[0]:
        low, high = BOUNDS[kind]
        outside = one.low[0] if one.low[0] < low else one.high[0] if one.high[0] > high else None
        got = "numbers that are not whole" if outside is None else f"{outside:g}"
        raise ValueError(f"expected {ALLOWED[kind]} in {where} of kind {kind!r}, got {got}; choose another kind")
