"""Which samples belong together, ordered by cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from jella.describe.affinity import find_affinity
from jella.plot.given import fit_of, required
from jella.plot.style import HIGH, INK, axes, group_ticks, scale_bar, titled


def affinity(of: Any, *, ax: Any = None) -> Any:
    """Draw the affinity of the samples, ordered by cluster: clear clusters are blocks on the diagonal.

    The affinity is what the model has learned; for a model without one, neighbours in the embedding. Where there are
    more than 300 samples, several share a row.

    Parameters
    ----------
    of : result of `jella.cluster` or `jella.complete`, or fitted model
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
    >>> jella.plot.affinity(model).get_xlabel()
    'cluster'
    """
    fit = fit_of(of)
    fit = replace(fit, labels=getattr(fit.model, "labels_", None))  # those without -1 for samples of no cluster
    shown = required(find_affinity(fit))
    ax = axes(ax, 5.6, 5.0)
    m, positive = len(shown.values), shown.values[shown.values > 0]
    top = float(np.quantile(positive, 0.99)) if positive.size else 1.0
    drawn = ax.imshow(shown.values / top, cmap="Greys", vmin=0, vmax=1, interpolation="none")
    if fit.clusters.size:
        sizes = np.diff(shown.ends, prepend=0)
        group_ticks(ax, fit.clusters[sizes > 0], sizes[sizes > 0], sides="xy")
        for end, size in zip(shown.ends, sizes, strict=True):
            ax.plot(*_square(end - size - 0.5, end - 0.5), color=HIGH, linewidth=1)
    name = "cluster" if fit.clusters.size else "samples"
    ax.set(xlabel=name, ylabel=name, xlim=(-0.5, m - 0.5), ylim=(m - 0.5, -0.5))
    scale_bar(ax, drawn, "affinity, relative to its 99 % quantile", extend="max")
    inside = "" if shown.inside is None else f"; {shown.inside:.0%} lies within clusters"
    titled(ax, f"affinity of samples{inside}").spines[:].set(visible=True, color=INK)
    return ax


def _square(start: float, end: float) -> tuple[list[float], list[float]]:
    return [start, end, end, start, start], [start, start, end, end, start]
