"""The features with the largest weights in a component."""

from __future__ import annotations

from typing import Any

import numpy as np

from jella.describe.subject import Absent
from jella.numerics.arrays import to_numpy
from jella.numerics.words import shortened, signed
from jella.plot.given import fit_of, position, required
from jella.plot.style import HIGH, LOW, SOFT, axes, short, titled


def loadings(of: Any, component: int = 0, *, view: str | None = None, n_features: int = 8, ax: Any = None) -> Any:
    """Draw the features with the largest weights in a component, per view; negative weights are hatched.

    Weights are in the scale that the model works in. `model.loadings()` has all of them.

    Parameters
    ----------
    of : result of `jella.cluster` or `jella.complete`, or fitted model
    component : int, default=0
        The component: a column of the embedding.
    view : str, optional
        By default all views.
    n_features : int, default=8
        Features per view.
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
    >>> ax = jella.plot.loadings(model, 1, view="pixels", n_features=3)
    >>> ax.get_xlabel(), len(ax.patches)
    ('weight in component mvliv1', 3)
    """
    model = fit_of(of).model
    if not hasattr(model, "readout_"):
        required(Absent(f"{type(model).__name__} has no components"))
    schema, columns = model.schema_, model.get_feature_names_out()
    if component not in range(-len(columns), len(columns)):
        got = shortened(str(component), 40)
        raise ValueError(f"expected a component from 0 to {len(columns) - 1}, got {got}; choose one of them")
    names, weights, views = [], [], []
    for v in position(view, schema.names):
        U = to_numpy(model.readout_.bases[v])[:, component].astype(np.float64)
        for j in np.argsort(-np.abs(U), kind="stable")[:n_features]:
            names.append(f"feature {j}" if schema.feature_names[v] is None else schema.feature_names[v][j])
            weights.append(float(U[j]))
            views.append(schema.names[v])
    ax = axes(ax, 6.0, 1.2 + 0.24 * (len(names) + len(set(views))))
    _draw(ax, names, weights, views)
    ax.set_xlabel(f"weight in component {columns[component]}")
    return titled(ax, "features with the largest weights; negative ones are hatched")


def _draw(ax: Any, names: list[str], weights: list[float], views: list[str]) -> None:
    """Bars on a common zero, with room for the name of the view above those of each view."""
    places, y = [], 0.0
    for i, name in enumerate(views):
        if i == 0 or name != views[i - 1]:
            y += 1.0
            ax.annotate(
                short(name),
                (0.0, y - 0.9),
                xycoords=("axes fraction", "data"),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
                fontweight="bold",
            )
        places.append(y)
        y += 1.0
    for place, weight in zip(places, weights, strict=True):
        how = {"color": HIGH} if weight >= 0 else {"facecolor": "white", "edgecolor": LOW, "hatch": "////"}
        ax.barh(place, weight, height=0.75, **how)
        ax.annotate(
            signed(weight, ".2g"),
            (weight, place),
            xytext=(3 if weight >= 0 else -3, 0),
            textcoords="offset points",
            ha="left" if weight >= 0 else "right",
            va="center",
            fontsize="x-small",
        )
    ax.axvline(0, color=SOFT, linewidth=0.8)
    ax.set_yticks(places, [short(name) for name in names], fontsize="small")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(y - 0.4, -0.6)
    ax.margins(x=0.14)
