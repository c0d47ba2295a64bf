"""The sections on the model: what it predicts and explains, the course of its fit, and how to repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jella.describe.variance import Loading, Variance
from jella.numerics.words import NOTHING, listed, number, percent, signed
from jella.report.data import ReportData
from jella.report.markup import Markup, joined, plot, table, tag
from jella.report.predictions import Prediction, Predictions, is_drawn_as_points


def prediction_section(found: Predictions, data: ReportData) -> Markup:
    """The section on errors on hidden values; what to look at first is said in the summary."""
    shown = found.by_view
    if not shown:
        return tag("p", "No values could be hidden.")
    words = (
        f"{found.measured} The error is the root mean square over the hidden values, in {_units(shown)}; the gain is "
        "the share of the mean's squared error that the model avoids (0%: no better than the mean, 100%: perfect)."
    )
    unsure = [p.view for p in shown if p.is_unsure]
    if unsure:
        words += (
            f" The gain in {listed(unsure)} may be chance: the difference of the errors is below the standard error."
        )
    told = "; ".join(f"{p.view}: {p.error:.2f} against {p.mean_error:.2f}" for p in shown)
    scatters = [
        plot(f"plot-prediction-{v}", f"Plot of predicted and true values of view {p.view}.")
        for v, p in enumerate(shown)
    ]
    errors = tag(
        "div",
        plot("plot-errors", f"Bar chart of errors of the model against the mean. {told}.", _about_errors(shown)),
        class_="narrow" if len(shown) < 3 else None,
    )
    return joined(
        [
            tag("p", words),
            _errors(found),
            errors,
            tag("p", _about_points(found), class_="note"),
            tag("div", *scatters, class_="many"),
        ]
    )


def _about_errors(shown: tuple[Prediction, ...]) -> str:
    lines = " The lines show one standard error." if any(p.standard_error is not None for p in shown) else ""
    return f"Lower is better.{lines}"


def _about_points(found: Predictions) -> str:
    """What the plots of predicted and true values show."""
    words = (
        f"Some of the hidden values, as distances from the mean of their feature in {_units(found.by_view)}; on the "
        "dashed line, predicted and true values are equal."
    )
    by_kind = [is_drawn_as_points(found.kinds.get(p.view, "")) for p in found.by_view]
    if any(by_kind):
        words += " Nine tenths of the true values of each predicted size lie in the outlined band."
    if not all(by_kind):
        words += (
            " Counts, amounts, proportions and categories, which are often equal, are grouped by the size of their "
            "prediction: a point is the mean of the true values of its group, a line holds nine tenths of them."
        )
    return words


def _errors(found: Predictions) -> Markup:
    """The table of errors; a column that no view has is left out."""
    rows = [
        (
            p.view,
            found.kinds.get(p.view, NOTHING),
            f"{p.n_hidden:,}",
            number(p.error),
            number(p.standard_error),
            number(p.mean_error),
            "0%, means" if p.by_mean else number(p.gain, ".1%"),
            number(p.interval, ".2f"),
        )
        for p in found.by_view
    ]
    head = (
        "view", "kind", "hidden values", "error", "standard error", "error of the mean", "gain", "90% intervals",
    )  # fmt: skip
    kept = [j for j in range(len(head)) if any(row[j] != NOTHING for row in rows)]
    chosen = [[row[j] for j in kept] for row in rows]
    shown = table("Errors on hidden values", [head[j] for j in kept], chosen, numbers=sum(j > 1 for j in kept))
    if all(p.interval is None for p in found.by_view):
        return shown
    note = (
        "An interval around a completed value is made to hold the true one in nine of ten cases. Shown is its width, "
        "the median over missing values, in the same unit; intervals that end at a bound of the values do not count."
    )
    return joined([shown, tag("p", note, class_="note")])


def _units(found: tuple[Prediction, ...]) -> str:
    """The units of the errors, by view if they differ."""
    units = dict.fromkeys(p.unit for p in found)
    if len(units) == 1:
        return next(iter(units))
    return ", ".join(f"{unit} ({listed([p.view for p in found if p.unit == unit])})" for unit in units)


def variance_section(found: Variance, data: ReportData) -> Markup:
    """The section on explained shares and the features of the components."""
    shown = (
        f" The {len(found.components)} strongest of {found.n_components}."
        if len(found.components) < found.n_components
        else ""
    )
    centred = [name for name, there in zip(data.view_names, found.centred, strict=True) if not there]
    what = (
        f" Of {listed(centred)} it is the share of the sum of squares, since the scaling does not remove the mean."
        if centred
        else ""
    )
    totals = ", ".join(f"{name} {percent(max(t, 0.0))}" for name, t in zip(data.view_names, found.total, strict=True))
    words = f"All components together explain of the observed, scaled values: {totals}.{what}"
    caption = (
        "Share of a view's variance that each component explains by itself. Components are the columns of the "
        f"embedding, from 0.{shown}"
    )
    rows = [
        (f"{component}", *(_features(loadings) for loadings in by_view))
        for component, by_view in zip(found.components, found.loadings, strict=True)
    ]
    loadings = table("Features with the largest weights", ["component", *data.view_names], rows)
    return joined(
        [
            tag("p", words),
            plot("plot-variance", f"Heat map of explained variance by view and component. In all: {totals}.", caption),
            tag("details", tag("summary", "Features of each component"), loadings, class_="screen"),
        ]
    )


def _features(loadings: tuple[Loading, ...]) -> str:
    return ", ".join(f"{x.feature} ({signed(x.weight, '.2g')})" for x in loadings) or "–"


def convergence_section(data: ReportData) -> Markup:
    """The section on the objective, sweep by sweep."""
    found: Any = data.convergence
    caption = "Objective after each accepted sweep, and its terms; terms that are always zero are left out."
    if not found.terms:
        caption = (
            "Objective after each round."
            if found.objective is not None
            else "The residual that the method measures, per round."
        )
    return joined([tag("p", found.words), plot("plot-convergence", f"Line chart. {found.words}", caption)])


def provenance_section(data: ReportData, absent: Mapping[str, str]) -> Markup:
    """The section on command, versions, seed and parameters, and on what has no section, with the reasons."""
    found = data.provenance
    command = "" if found.command is None else found.command
    facts = [
        ("Command", tag("pre", tag("code", command)) if command else "none given: written from Python"),
        ("Model", tag("pre", tag("code", found.model))),
        ("Seed", f"{found.model_seed} of the model, {found.seed} of random choices in this report"),
        ("Written", f"{found.date}, on {found.machine}"),
        ("Versions", ", ".join(f"{name} {version}" for name, version in found.versions.items())),
    ]
    listing = tag("dl", *(joined([tag("dt", name), tag("dd", value)]) for name, value in facts))
    rows = [(p.name, p.value, "default" if p.is_default else "set") for p in found.parameters]
    parameters = table("Parameters of the model", ["parameter", "value", ""], rows)
    parts = [listing, tag("details", tag("summary", "All parameters"), parameters)]
    if absent:
        reasons = [tag("li", tag("b", name), f": {reason}") for name, reason in absent.items()]
        parts.append(joined([tag("h3", "Not in this report"), tag("ul", *reasons, class_="absent")]))
    return joined(parts)
