"""The section with maps of the samples, and the list of those that a reader selects."""

from __future__ import annotations

from typing import Any

from jella.describe.colouring import MOST_COLUMNS
from jella.numerics.words import listed, percent
from jella.report.data import ReportData
from jella.report.maps import ENOUGH, Maps
from jella.report.markup import Markup, joined, plot, tag

#: labels of more clusters than these may not all fit on a map
MANY_LABELS = 15


def map_section(found: Maps, data: ReportData) -> Markup:
    """Choosers, the map, and the selection."""
    first = found.pictures[0]
    shown = {
        name: f"{name} {len(picture.rows):,}"
        for name, picture in zip(found.names, found.pictures, strict=True)
        if len(picture.rows) < first.n_samples
    }
    cut = f" Of {first.n_samples:,} samples, drawn at random: {listed(list(shown.values()))}." if shown else ""
    more = ""
    if data.n_columns > MOST_COLUMNS:
        more = f" Of {data.n_columns} columns of metadata, the first {MOST_COLUMNS} are offered."
    caption = (
        f"Each point is a sample, from {first.source}. Two principal components (PCA) hold "
        f"{percent(found.explained)} of the variance{_order(found)}. In PCA, samples that are far apart are different; "
        f"close ones may differ in other components.{_neighbours(found)}{cut}{more}{_labels(data)}"
    )
    described = f"Map of {len(found.rows):,} samples in two dimensions. Arrow keys go from sample to sample."
    return joined([_choosers(found), plot("plot-embedding", described, caption), _selection(data)])


def _order(found: Maps) -> str:
    less = found.explained < ENOUGH and len(found.pictures) > 1
    return f", less than half, so {found.names[0]} is shown first" if less else ""


def _labels(data: ReportData) -> str:
    crowded = " Where labels would lie on each other, that of the larger cluster is shown."
    return crowded if data.clusters.size > MANY_LABELS else ""


def _neighbours(found: Maps) -> str:
    others = [name for name in found.names if name != "PCA"]
    if not others:
        return ""
    keep = "keeps" if len(others) == 1 else "keep"
    return f" {listed(others)} {keep} neighbours together; distances between groups mean little."


def _choosers(found: Maps) -> Markup:
    maps = [tag("option", name, value=str(i)) for i, name in enumerate(found.names)]
    colours = [tag("option", c.name, value=str(i)) for i, c in enumerate(found.colourings)]
    parts = []
    if len(maps) > 1:
        parts.append(tag("label", "Map ", tag("select", *maps, id="map")))
    if colours:
        parts.append(tag("label", "Colour by ", tag("select", *colours, id="colour-by")))
    parts.append(tag("button", "Select with a lasso", type="button", id="lasso", aria_pressed="false"))
    return tag("div", *parts, class_="tools screen")


def _selection(data: ReportData) -> Markup:
    """The list of selected samples, by lasso, by group or by name."""
    box = tag("textarea", id="selected", rows="6", readonly="", aria_label="Names of the selected samples")
    return tag(
        "details",
        tag("summary", "Selected samples ", tag("span", "none", id="n-selected", aria_live="polite")),
        tag(
            "div",
            tag("label", "Select a group ", tag("select", id="group")),
            tag("label", "Name contains ", tag("input", id="find", type="search", autocomplete="off")),
            class_="tools",
        ),
        box,
        tag(
            "div",
            tag("button", "Copy names", type="button", id="copy"),
            tag("button", "CSV", type="button", id="save-selected", aria_label="Save the selected samples as CSV"),
            tag("button", "Clear", type="button", id="clear"),
            class_="tools",
        ),
        id="selection",
        class_="screen",
    )


def points_of(found: Maps, names: tuple[str, ...], few_digits: Any) -> dict[str, Any]:
    """The points of all maps with all colourings; the page draws them."""
    place = {int(row): i for i, row in enumerate(found.rows)}
    return {
        "names": [names[row] for row in found.rows],
        "maps": [
            {
                "name": name,
                "axes": list(picture.axis_names),
                "rows": [place[int(row)] for row in picture.rows],
                "x": few_digits(picture.points[:, 0]),
                "y": few_digits(picture.points[:, 1]),
            }
            for name, picture in zip(found.names, found.pictures, strict=True)
        ],
        "colourings": [
            {
                "name": colouring.name,
                "levels": None if colouring.levels is None else list(colouring.levels),
                "values": colouring.values.tolist() if colouring.levels else few_digits(colouring.values),
            }
            for colouring in found.colourings
        ],
    }
