"""The samples in two dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.describe.colouring import MISSING, Colouring, of_column, one_per_sample, own_colourings
from jella.describe.picture import METHODS, Picture, draw_picture
from jella.describe.subject import Fit, Subject
from jella.evidence.confidence import label_columns
from jella.numerics.optional import need
from jella.numerics.words import counted
from jella.plot.given import fit_of, required, subject_of
from jella.plot.labels import label_groups
from jella.plot.style import NOTHING, axes, look, on_white, scale_bar, short, titled

#: samples drawn; if there are more, a random selection; other maps than PCA take longer
MOST_POINTS, MOST_MAPPED = 20_000, 5000
#: the names of more groups than this are written into the picture instead of a legend
MOST_IN_LEGEND = 12
#: the ends of the scale of probabilities
PROBABILITIES = (0.0, 1.0)
#: groups of given values; rarer ones are drawn as one
MOST_GROUPS = 60


def embedding(
    of: Any,
    X: Any = None,
    *,
    color: Any = "cluster",
    method: str = "pca",
    label: str | None = None,
    observed: Any = None,
    ax: Any = None,
) -> Any:
    """Draw the samples in two dimensions, coloured by cluster or by something else that is known of them.

    Clusters have their numbers at their middles. Groups differ in their markers too.

    Parameters
    ----------
    of : result of `jella.cluster` or `jella.complete`, or fitted model
    X : as in fit, optional
        The views of the fit of a model; needed only for color='availability'.
    color : {'cluster', 'probability', 'availability'} or array-like (n,), default='cluster'
        'probability' is that of the label, 'availability' the views that a sample has. Or values of the samples, such
        as metadata: many numbers make a scale, other values groups. A pandas Series is aligned by its index.
    method : {'pca', 'tsne', 'umap'}, default='pca'
        How the embedding becomes two-dimensional. UMAP needs ``pip install 'jella[umap]'``. Distances between groups
        mean little in the maps of t-SNE and UMAP.
    label : str, optional
        A name for `color`, by default its own.
    observed : as in fit, optional
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> model = jella.MVLIV(10, random_state=0, max_iter=30, tol=0).fit(digits.data)
    >>> ax = jella.plot.embedding(model, color=digits.target, label="digit")
    >>> len(ax.get_legend_handles_labels()[1])
    10
    """
    if method not in METHODS:
        raise ValueError(f"expected a map by one of {list(METHODS)}, got {method!r}; pass for example 'tsne'")
    needs_data = isinstance(color, str) and color == "availability"
    fit = subject_of(of, X, observed) if needs_data else fit_of(of)
    colouring = _colouring(fit, color, label)
    most = MOST_POINTS if method == "pca" else MOST_MAPPED
    picture = required(draw_picture(fit, [] if colouring is None else [colouring], method, most))
    ax = axes(ax, 6.4, 5.0)
    ax.set(xlabel=picture.axis_names[0], ylabel=picture.axis_names[1])
    ax.set_xticks([])
    ax.set_yticks([])
    some = "" if picture.rows.size == picture.n_samples else f" of {picture.n_samples:,}"
    name = "" if colouring is None else f", coloured by {short(colouring.name)}"
    titled(ax, f"{counted(picture.rows.size, 'sample')}{some}, {METHODS[method]} of the embedding{name}")
    if colouring is None:
        ax.scatter(*picture.points.T, s=_size(picture), color=look(0, 1)["color"], linewidths=0)
    elif picture.colourings[0].levels is None:
        _draw_numbers(ax, picture, PROBABILITIES if isinstance(color, str) else (None, None))
    else:
        _draw_groups(ax, picture)
    return ax


def _colouring(fit: Fit, color: Any, label: str | None) -> Colouring | None:
    """The values of the samples; None for clusters of a model without labels."""
    if not isinstance(color, str):
        name = label or str(getattr(color, "name", None) or "given values")
        return of_column(name, one_per_sample(color, name, fit), levels_at_most=MOST_GROUPS)
    if color == "cluster":
        return (
            None
            if fit.labels is None
            else of_column(label or "cluster", fit.labels, levels_at_most=None, few_numbers=np.inf)
        )
    if color == "probability":
        if fit.labels is None or not hasattr(fit.model, "label_probabilities_"):
            raise ValueError(f"expected a model with probabilities of labels, got {fit.method}; use SparseBDR")
        return Colouring(
            label or "probability",
            label_columns(fit.labels, fit.model.label_probabilities_)["probability"],
        )
    if color == "availability":
        assert isinstance(fit, Subject)
        every = {colouring.name: colouring for colouring in own_colourings(fit)}
        return every.get("views present") or of_column("views present", ["all views"] * len(fit.names))
    raise ValueError(
        f"expected color to be 'cluster', 'probability', 'availability' or values of the samples, got {color!r}; pass "
        "for example a column of a table"
    )


def _size(picture: Picture) -> float:
    """Area of a point, smaller for more of them."""
    return float(np.clip(24_000 / len(picture.points), 5, 40))


def _draw_numbers(ax: Any, picture: Picture, ends: tuple[float | None, float | None]) -> None:
    """Draw numbers on a scale with these ends; by default those of the numbers."""
    colouring, points = picture.colourings[0], picture.points
    known = np.isfinite(colouring.values)
    ax.scatter(*points[~known].T, s=_size(picture), color=NOTHING, marker="x", linewidths=0.8, label=MISSING)
    last = np.flatnonzero(known)[np.argsort(-colouring.values[known], kind="stable")]  # the lowest, dark, on top
    drawn = ax.scatter(*points[last].T, s=_size(picture), c=colouring.values[last], cmap=on_white(), linewidths=0)
    drawn.set_clim(*ends)
    scale_bar(ax, drawn, short(colouring.name))
    if not known.all():
        ax.legend(loc="best", fontsize="small")


def _draw_groups(ax: Any, picture: Picture) -> None:
    """Draw the groups in one mixed order, since the last of them would hide the others."""
    colouring, points = picture.colourings[0], picture.points
    assert colouring.levels is not None
    groups = [level for level in colouring.levels if level not in ("-1", MISSING)]
    in_legend = colouring.name != "cluster" and len(groups) <= MOST_IN_LEGEND
    looks = [look(groups.index(level) if level in groups else -1, len(groups)) for level in colouring.levels]
    mixed = np.random.default_rng(0).permutation(len(points))
    codes = colouring.values[mixed].astype(np.intp)
    colours = [looks[code]["color"] for code in codes]
    drawn = ax.scatter(*points[mixed].T, s=_size(picture), c=colours, linewidths=0.3, alpha=0.85)
    paths = [_marker_path(one["marker"]) for one in looks]
    drawn.set_paths([paths[code] for code in codes])
    for code in np.unique(codes):  # lines without points are what a legend lists
        level = colouring.levels[code]
        name = short("no cluster" if level == "-1" else level)
        ax.plot([], [], linestyle="", markersize=6, alpha=0.85, label=name, **looks[code])
    if in_legend:
        ax.legend(title=short(colouring.name), loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        return
    named = [code for code in np.unique(codes) if colouring.levels[code] in groups]
    ax.margins(y=0.08)
    label_groups(
        ax,
        [points[colouring.values == code] for code in named],
        [short(colouring.levels[code]) for code in named],
        [looks[code]["color"] for code in named],
    )


def _marker_path(marker: str) -> Any:
    """The outline of a marker, of unit size."""
    style = need("matplotlib.markers", "plot").MarkerStyle(marker)
    return style.get_path().transformed(style.get_transform())
