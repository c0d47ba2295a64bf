"""The objective of a fit, sweep by sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.describe.convergence import find_convergence
from jella.plot.given import fit_of, required
from jella.plot.labels import label_ends
from jella.plot.style import INK, axes, look, titled


def objective(of: Any, *, ax: Any = None) -> Any:
    """Draw the objective of a fit and its terms, one line each; for some methods, what they measure instead.

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
    >>> [line.get_label() for line in jella.plot.objective(model).lines]
    ['objective', 'loss']
    """
    course = required(find_convergence(fit_of(of)))
    lines = course.lines
    ax = axes(ax, 6.4, 3.8)
    ends = []
    for k, (name, values) in enumerate(lines.items()):
        own = look(k, len(lines)) | ({"color": INK} if k == 0 else {})
        step = max(values.size // 12, 1)
        ax.plot(
            np.arange(1, values.size + 1),
            values,
            linewidth=2.2 if k == 0 else 1.4,
            linestyle="-" if k == 0 else "--",
            markevery=step,
            markersize=5,
            label=name,
            **own,
        )
        ends.append((name, float(values.size), float(values[-1]), own["color"]))
    if course.is_wide:
        ax.set_yscale("log")
    ax.set(xlabel="sweep", ylabel="value")
    ax.xaxis.get_major_locator().set_params(integer=True)
    label_ends(ax, ends)
    return titled(ax, course.words.partition(". ")[0].rstrip("."))
