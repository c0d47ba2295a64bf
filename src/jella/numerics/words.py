"""Numbers, names and columns as text: for reprs, the command line and reports."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

#: text in the place of a missing number
NOTHING = "–"
#: control characters, marks that change the direction of text, and characters that no encoding has
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Text for one line of a terminal: characters that would control it are shown as escapes.

    >>> print(printable("red\x1b[31m\nline"))
    red\x1b[31m\nline
    """
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def counted(count: int, what: str, several: str | None = None) -> str:
    """A number and its noun.

    >>> counted(1, "view"), counted(2000, "entry", "entries")
    ('1 view', '2,000 entries')
    """
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def percent(part: float, whole: float = 1.0) -> str:
    """A share in percent; a small one is not rounded to 0%, and a large one not to 100%.

    >>> percent(0.318), percent(1, 2500), percent(0.9999), percent(0, 7)
    ('31.8%', '<0.1%', '>99.9%', '0%')
    """
    share = part / whole if whole else 0.0
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    if share < 0.001 or share > 0.999:
        return "<0.1%" if share < 0.5 else ">99.9%"
    return f"{share:.1%}"


def number(value: float | None, form: str = ".3f") -> str:
    """A number in the given format, or a dash where there is none.

    >>> number(0.25), number(-0.0001), number(-0.5, ".2f"), number(None), number(float("nan"))
    ('0.250', '0.000', '−0.50', '–', '–')
    """
    return NOTHING if value is None or math.isnan(value) else f"{value:z{form}}".replace("-", "−")


def signed(value: float, form: str = ".2f") -> str:
    """A number with its sign.

    >>> signed(-0.5), signed(0.0123, ".2g")
    ('−0.50', '+0.012')
    """
    return f"{value:+z{form}}".replace("-", "−")


def as_time(seconds: float) -> str:
    """A time in seconds, minutes or hours, depending on its length.

    >>> as_time(59.6), as_time(600), as_time(7200)
    ('60 s', '10 min', '2.0 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def shortened(text: str, most: int) -> str:
    """Text of at most `most` characters; longer text is cut.

    >>> shortened("expression", 10), shortened("expression", 6)
    ('expression', 'expre…')
    """
    text = printable(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names with commas and 'and' between them.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], 2)
    ('a, b and c', 'a, b and 1 more')
    """
    names = [printable(name) for name in names]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([part for part in (", ".join(names[:-1]), names[-1]) if part])


def aligned(rows: Sequence[Sequence[str]], sides: str, indent: str = "") -> list[str]:
    """Lines with aligned columns, one line per row; `sides` has '<' or '>' per column, for left or right.

    >>> aligned([("view", "filled"), ("text", "12")], "<>")
    ['view  filled', 'text      12']
    """
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent + "  ".join(f"{cell:{s}{w}}" for cell, s, w in zip(row, sides, widths, strict=True)).rstrip()
        for row in rows
    ]


def closest_name(name: str, known: Iterable[str]) -> str:
    """The end of a message on an unknown name: the most similar known name, or all of them.

    >>> closest_name("n_neighbours", ["n_neighbors", "n_clusters"]), closest_name("x", ["rank"])
    ("did you mean 'n_neighbors'?", 'pass one of rank')
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"pass one of {', '.join(names)}"
