"""Which samples have which views, and how much of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.describe.missing import MissingMap, map_missing
from jella.estimators.base import BaseMultiView
from jella.numerics.words import counted, percent
from jella.plot.given import subject_of
from jella.plot.style import axes, hatched, scale_bar, short, titled, turned_ticks
from jella.views import read_views

#: patterns of views with a smaller share of the samples have no number
SMALL = 0.035
#: inches of a digit of a number
LETTER = 0.075


def missingness(of: Any, X: Any = None, *, observed: Any = None, ax: Any = None) -> Any:
    """Draw which samples have which views: samples from left to right, sorted by the views that they have.

    Hatched parts are missing. Where single entries are missing, colours show the share of observed ones.

    Parameters
    ----------
    of : result of `jella.cluster` or `jella.complete`, fitted model, or views
    X : as in fit, optional
        The views of the fit of a model; not needed for other input.
    observed : as in fit, optional
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import jella
    >>> views = jella.datasets.make_incomplete(jella.datasets.load_digits_views().data, 0.3, random_state=0)
    >>> ax = jella.plot.missingness(views)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['pixels', 'fourier', 'gradients']
    """
    if hasattr(of, "as_subject") or isinstance(of, BaseMultiView):
        views = subject_of(of, X, observed).views
    else:
        views = read_views(of, observed)
    found = map_missing(views)
    ax = axes(ax, 7.5, 1.5 + 0.42 * len(found.views))
    n, height = found.order.size, len(found.views)
    hatched(ax)
    shares = np.ma.masked_less_equal(found.share, 0.0)
    drawn = ax.imshow(
        shares, cmap="Blues", vmin=0, vmax=1.25, aspect="auto", interpolation="none", extent=(0, n, height - 0.5, -0.5)
    )
    for v in range(1, height):
        ax.axhline(v - 0.5, color="white", linewidth=2)
    _mark_patterns(ax, found, n)
    ax.set_yticks(range(height), [short(view.name) for view in found.views])
    for v, view in enumerate(found.views):
        words = f"{percent(view.n_present, n)} of samples"
        ax.annotate(words, (1.01, v), xycoords=("axes fraction", "data"), va="center", fontsize="small")
    ax.tick_params(length=0)
    ax.set_xlabel("samples, sorted by the views that they have")
    if found.has_entries:
        bar = scale_bar(
            ax, drawn, "share observed", boundaries=np.linspace(0, 1, 101), ticks=[0, 0.5, 1], format="{x:.0%}"
        )
        bar.ax.tick_params(labelsize="small")
    titled(ax, f"{counted(n, 'sample')}, {percent(found.missing)} of the entries are missing").spines[:].set_visible(
        False
    )
    return ax


def _mark_patterns(ax: Any, found: MissingMap, n: int) -> None:
    """Lines between patterns of views, and the number of samples of each large one as ticks."""
    counts = np.array([pattern.count for pattern in found.patterns])
    ends = np.cumsum(counts)
    for end in ends[:-1]:
        ax.axvline(end, color="white", linewidth=1)
    large = counts >= SMALL * n
    words = [f"{count:,}" for count in counts[large]]
    inches = ax.get_position().width * ax.figure.get_figwidth()
    turned_ticks(ax, (ends - counts / 2)[large], words, n * LETTER * max(map(len, words), default=0) / inches)
