"""What speaks for each number of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.describe.evidence import find_evidence
from jella.graphs.cluster_path import ABOVE, LEAST_SPREAD, ClusterPath
from jella.plot.given import fit_of, required
from jella.plot.labels import label_ends
from jella.plot.style import HIGH, INK, LOW, SOFT, axes, titled


def evidence(of: Any, *, ax: Any = None) -> Any:
    """Draw the evidence for the number of clusters: modularity and stability, beside data without groups.

    Modularity says how clear the clusters are; stability, how far refits on parts of the samples find them again. The
    band is where modularity lies for clouds without groups. Where the number was given, there is one number only.

    Parameters
    ----------
    of : result of `jella.cluster`, or fitted model
        A model without evidence gathers it now.
    ax : matplotlib Axes, optional
        By default of a new figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> found = jella.cluster({name: view[:200] for name, view in digits.data.items()})
    >>> jella.plot.evidence(found).get_xlabel()
    'number of clusters'
    """
    path = required(find_evidence(fit_of(of))).path
    ax = axes(ax, 6.4, 4.0)
    if np.isfinite(path.expected).sum() > 1:
        _draw_curves(ax, path)
    else:
        _draw_one(ax, path)
    return titled(ax, path.words().partition(";")[0])


def _draw_curves(ax: Any, path: ClusterPath) -> None:
    compared, stable = np.isfinite(path.expected), np.isfinite(path.stability)
    shown = path.numbers <= path.numbers[compared].max()  # all lines end there, so that no name lies on a line
    numbers, around = path.numbers[compared], ABOVE * np.maximum(path.spread, LEAST_SPREAD)[compared]
    middle = path.expected[compared]
    ax.fill_between(
        numbers, middle - around, middle + around, color="#DDDDDD", hatch="...", edgecolor="white", linewidth=0
    )
    ax.plot(path.numbers[shown], path.modularity[shown], color=HIGH, linewidth=2)
    ax.plot(
        path.numbers[stable], path.stability[stable], color=LOW, linewidth=2, linestyle="--", marker="s", markersize=4
    )
    lines = [
        ("modularity", path.numbers[shown][-1], path.modularity[shown][-1], HIGH),
        ("modularity\nwithout groups", numbers[-1], middle[-1], INK),
    ]
    if stable.any():
        lines.append(("stability", path.numbers[stable][-1], path.stability[stable][-1], LOW))
    ax.axvline(path.best, color=SOFT, linestyle=":", linewidth=1.5)
    ax.set(xlabel="number of clusters", ylabel="modularity and stability", ylim=(min(0.0, *ax.get_ylim()), 1.02))
    words = f"{path.best} chosen" if path.is_clear else f"{path.best}: best, not clear"
    ax.annotate(words, (path.best, 0.02), xytext=(4, 0), textcoords="offset points", fontsize="small", va="bottom")
    ax.xaxis.get_major_locator().set_params(integer=True)
    label_ends(ax, lines)


def _draw_one(ax: Any, path: ClusterPath) -> None:
    """One number: two pairs of points, of the data and of clouds without groups."""
    rows = [
        ("stability", path.stability[0], path.expected_stability[0]),
        ("modularity", path.modularity[0], path.expected[0]),
    ]
    for y, (_, own, without) in enumerate(rows):
        ax.plot([own, without], [y, y], color=SOFT, linewidth=1)
        is_right = not own < without
        for value, words, fill, beyond in (
            (own, "these data", HIGH, is_right),
            (without, "without groups", "white", not is_right),
        ):
            if np.isfinite(value):
                ax.plot(value, y, marker="o", markersize=9, color=HIGH, markerfacecolor=fill, linestyle="")
                ax.annotate(
                    f"{words}\n{value:.2f}",
                    (value, y),
                    xytext=(-5 if beyond else 5, 9),  # the words of two close points would overlap
                    textcoords="offset points",
                    ha="left" if beyond else "right",
                    fontsize="small",
                )
    ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    ax.set(xlim=(min(0.0, *(v for _, *r in rows for v in r if np.isfinite(v))) - 0.05, 1.05), ylim=(-0.5, 1.7))
    ax.set_xlabel(f"with {path.numbers[0]} clusters")
