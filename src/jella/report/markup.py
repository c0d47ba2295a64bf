"""HTML that is safe by construction: all text that is not markup is escaped."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from jella.numerics.words import shortened


class Markup(str):
    """Text that is HTML."""


def tag(name: str, *children: str, **attributes: Any) -> Markup:
    """An element; a trailing underscore of an attribute is dropped, other underscores are hyphens.

    >>> tag("p", "a < b", tag("b", "!"), class_="note")
    '<p class="note">a &lt; b<b>!</b></p>'
    """
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{words}>" if name == "input" else f"<{name}{words}>{joined(children)}</{name}>")


def joined(children: Iterable[str]) -> Markup:
    """Children one after the other; plain text is escaped."""
    return Markup("".join(child if isinstance(child, Markup) else escape(child) for child in children))


class ClusterRow(NamedTuple):
    """A row of a table that belongs to a cluster: the page fades it while another cluster is highlighted."""

    cells: Sequence[str]
    cluster: int


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str] | ClusterRow], *, numbers: int = 0) -> Markup:
    """A table that can scroll if it is too wide, and a button to save it; its last `numbers` columns are numbers.

    With such columns, cells have no line breaks.
    """
    first = len(head) - numbers

    def cell(name: str, j: int, text: str, **attributes: str) -> Markup:
        return tag(name, text, class_="number" if j >= first else None, **attributes)

    def line(row: Sequence[str] | ClusterRow) -> Markup:
        cells, cluster = (row.cells, str(row.cluster)) if isinstance(row, ClusterRow) else (row, None)
        parts = [tag("th", cells[0], scope="row"), *(cell("td", j, text) for j, text in enumerate(cells[1:], 1))]
        return tag("tr", *parts, data_cluster=cluster)

    top = tag("thead", tag("tr", *(cell("th", j, text, scope="col") for j, text in enumerate(head))))
    hidden = tag("caption", caption, class_="unseen")
    body = tag("tbody", *(line(row) for row in rows))
    inner = tag("table", hidden, top, body, class_="tight" if numbers else None)
    save = tag("button", "CSV", type="button", class_="csv", aria_label=f"Save as CSV: {caption}")
    above = tag("div", tag("strong", caption, aria_hidden="true"), save, class_="above")
    scroll = tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)
    return tag("div", above, scroll, class_="table")


def swatch(colours: tuple[str, str]) -> Markup:
    """A spot of a colour for light pages, and another for dark ones."""
    return tag("span", class_="swatch", style=f"--light:{colours[0]};--dark:{colours[1]}", aria_hidden="true")


def cluster_name(place: int, cluster: Any) -> Markup:
    """The name of a cluster, which readers can change in the page."""
    return tag("span", f"Cluster {cluster}", data_name_of=str(place))


def plot(identity: str, description: str, caption: str = "", *, wide: bool = False) -> Markup:
    """A place for a plot, with a description in words for readers who cannot see it; a wide one scrolls on phones."""
    place = tag("div", id=identity, class_="plot", role="application", tabindex="0", aria_label=description)
    if wide:
        place = tag("div", tag("div", place, class_="scroll"), class_="table wide-plot")
    return tag("figure", place, tag("figcaption", caption) if caption else Markup())


def embedded(identity: str, value: Any) -> Markup:
    """Data for the script of the page, as JSON; no name in it can end its HTML element.

    >>> "</script>" in embedded("x", ["</script>"])[:-9]
    False
    """
    return Markup(f'<script type="application/json" id="{escape(identity)}">{safe_json(value)}</script>')


def safe_json(value: Any) -> str:
    """JSON without characters that have a meaning in HTML; numbers that are not finite become null."""
    text = json.dumps(_finite(value), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def for_plot(text: str, most: int = 60) -> str:
    """Text for a plot, where a few tags have a meaning: escaped, and shortened if it is long."""
    return escape(shortened(text, most), quote=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
