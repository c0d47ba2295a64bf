"""Texts that a spreadsheet would run as formulas: marked in the text tables that are new, understood when read.

A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe before it, which
spreadsheets show as text; numbers stay numbers. `read` takes the apostrophe away, so names come back as they were.
Cells of a user's own table are given back as they were stored.
"""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_MARKED = re.compile(r"'+[=+\-@\t\r]")


def guarded(text: str) -> str:
    """The text for a cell of a new table.

    >>> guarded("=HYPERLINK(1)"), guarded("-1.5"), guarded("s1")
    ("'=HYPERLINK(1)", '-1.5', 's1')
    """
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def unguarded(text: str) -> str:
    """The text that a cell stands for.

    >>> unguarded("'=HYPERLINK(1)"), unguarded("'tis")
    ('=HYPERLINK(1)', "'tis")
    """
    return text[1:] if _MARKED.match(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
