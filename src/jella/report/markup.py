"""HTML that is safe by construction: all text that is not markup is escaped."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

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
    return Markup(f"<{name}{words}>{joined(children)}</{name}>")


def joined(children: Iterable[str]) -> Markup:
    """Children one after the other; plain text is escaped."""
    return Markup("".join(child if isinstance(child, Markup) else escape(child) for child in children))


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> Markup:
    """A table that can scroll if it is too wide; its last `numbers` columns are aligned to the right.

    With such columns, cells have no line breaks.
    """
    first = len(head) - numbers

    def cell(name: str, j: int, text: str, **attributes: str) -> Markup:
        return tag(name, text, class_="number" if j >= first else None, **attributes)

    top = tag("tr", *(cell("th", j, text, scope="col") for j, text in enumerate(head)))
    body = [
        tag("tr", tag("th", row[0], scope="row"), *(cell("td", j, text) for j, text in enumerate(row[1:], 1)))
        for row in rows
    ]
    inner = tag(
        "table", tag("caption", caption), tag("thead", top), tag("tbody", *body), class_="tight" if numbers else None
    )
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def plot(identity: str, description: str, caption: str = "") -> Markup:
    """A place for a plot, with a description in words for readers who cannot see it."""
    place = tag("div", id=identity, class_="plot", role="img", aria_label=description)
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
