"""How much of each view each component explains."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.describe.variance import find_variance
from jella.numerics.words import percent
from jella.plot.given import required, subject_of
from jella.plot.style import axes, number_columns, scale_bar, short, titled

#: with more components, cells have no numbers
MOST_NUMBERED = 15


def variance_explained(of: Any, X: Any = None, *, observed: Any = None, ax: Any = None) -> Any:
    """Draw the share of each view's variance that each component explains by itself, and that all explain together.

    Shares are of the sum of squares of scaled, observed values. Components overlap, so their shares do not add up to
    that of all; one below zero, which is possible, is drawn as zero. Of more than 30 components, the strongest.

    Parameters
    ----------
    of : result of `jella.cluster` or `jella.complete`, or fitted model
    X : as in fit, optional
        The views of the fit of a model; a result has them.
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
    >>> model = jella.MVLIV(n_components=4, random_state=0, max_iter=30, tol=0).fit(digits.data)
    >>> ax = jella.plot.variance_explained(model, digits.data)
    >>> ax.images[0].get_array().shape
    (3, 4)
    """
    subject = subject_of(of, X, observed)
    shares = required(find_variance(subject))
    values = np.maximum(shares.by_component, 0.0)
    n_views, n_shown = values.shape
    ax = axes(ax, min(2.8 + 0.45 * n_shown, 10.0), 1.5 + 0.42 * n_views)
    top = max(float(values.max()), 1e-6)
    drawn = ax.imshow(values, cmap="Blues", vmin=0, vmax=1.1 * top, aspect="auto", interpolation="none")
    number_columns(ax, [str(component) for component in shares.components])
    ax.set_yticks(range(n_views), [short(name) for name in subject.views.names])
    ax.set_xlabel("component (column of the embedding, from 0)")
    ax.tick_params(length=0)
    for v in range(1, n_views):
        ax.axhline(v - 0.5, color="white", linewidth=2)
    for v in range(n_views):
        words = f"all: {percent(float(shares.total[v]))}" if shares.total[v] > 0 else "all: 0%"
        ax.annotate(words, (1.01, v), xycoords=("axes fraction", "data"), va="center", fontsize="small")
        for j in range(n_shown) if n_shown <= MOST_NUMBERED else ():
            dark = values[v, j] > 0.6 * top
            ax.text(
                j,
                v,
                f"{100 * values[v, j]:.0f}",
                ha="center",
                va="center",
                color="white" if dark else "black",
                fontsize="small",
            )
    if n_shown > MOST_NUMBERED:
        scale_bar(ax, drawn, "share explained", beside=0.2, format="{x:.0%}")
    cut = "" if n_shown == shares.n_components else f" ({n_shown} strongest of {shares.n_components} components)"
    titled(ax, f"% of variance explained{cut}").spines[:].set_visible(False)
    return ax
