"""Values of the features that distinguish the clusters, samples ordered by cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.describe.heat import find_heat
from jella.plot.given import subject_of
from jella.plot.style import SCALE, axes, group_ticks, hatched, scale_bar, short, titled

#: values further from the mean have the same colour
MOST_DEVIATIONS = 2.5
#: feature names are left out beyond this number
MOST_NAMES = 60


def heatmap(of: Any, X: Any = None, *, n_features: int = 10, observed: Any = None, ax: Any = None) -> Any:
    """Draw values of the features that distinguish the clusters most, per view; samples are ordered by cluster.

    Colours show standard deviations from the mean of a feature. Hatched values are missing. Where there are more than
    1200 samples, neighbouring samples of a cluster share a column, which shows the mean.

    Parameters
    ----------
    of : result of `jella.cluster` or `jella.complete`, or fitted model
    X : as in fit, optional
        The views of the fit of a model; a result has them.
    n_features : int, default=10
        Features per view.
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
    >>> ax = jella.plot.heatmap(model, digits.data, n_features=4)
    >>> len(ax.get_yticks())
    12
    """
    table = find_heat(subject_of(of, X, observed), n_features)
    n_rows, width = len(table.features), int(table.sizes.sum())
    ax = axes(ax, 8.0, 1.4 + 0.19 * min(n_rows, MOST_NAMES))
    hatched(ax)
    edges = np.append(0, np.cumsum(table.sizes)) - 0.5
    drawn = ax.pcolormesh(
        edges,
        np.arange(n_rows + 1) - 0.5,
        np.ma.masked_invalid(table.values),
        cmap=SCALE,
        vmin=-MOST_DEVIATIONS,
        vmax=MOST_DEVIATIONS,
        rasterized=True,
    )
    ax.set(xlim=(-0.5, width - 0.5), ylim=(n_rows - 0.5, -0.5), xlabel="cluster")
    clusters = np.unique(table.clusters)
    sizes = np.array([table.sizes[table.clusters == c].sum() for c in clusters])
    group_ticks(ax, clusters, sizes)
    for end in np.cumsum(sizes)[:-1]:
        ax.axvline(end - 0.5, color="white", linewidth=0.8)
    names = [short(name) for name in table.features] if n_rows <= MOST_NAMES else []
    ax.set_yticks(range(len(names)), names, fontsize="x-small")
    _mark_views(ax, table.views)
    scale_bar(ax, drawn, "standard deviations from the mean", beside=0.06, extend="both")
    gaps = "; hatched: missing" if np.isnan(table.values).any() else ""
    titled(ax, f"features that distinguish the clusters{gaps}").spines[:].set_visible(False)
    return ax


def _mark_views(ax: Any, views: tuple[str, ...]) -> None:
    """White lines between the views, and their names at the right."""
    names = np.array(views, dtype=object)
    for name in dict.fromkeys(views):
        rows = np.flatnonzero(names == name)
        ax.axhline(rows[-1] + 0.5, color="white", linewidth=4)
        ax.annotate(
            short(name),
            (1.01, rows.mean()),
            xycoords=("axes fraction", "data"),
            va="center",
            rotation=90,
            fontsize="small",
            fontweight="bold",
        )
