"""Colours that stay apart for colour-blind readers: eight of them, then darker and lighter ones."""

from __future__ import annotations

#: differ in lightness as well as in hue
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#5B3A8C", "#8F8A1F")
#: what the next eight are mixed with, and how much of it: black or white
SHADES = ((0, 0.0), (0, 0.4), (255, 0.45), (0, 0.6), (255, 0.65), (0, 0.2), (255, 0.25))
#: colour of what has no cluster or is not known
NOTHING = "#9A9A9A"


def palette(n: int) -> list[str]:
    """The first n colours as '#RRGGBB'; all differ up to 56, then they begin again.

    >>> palette(2), len(set(palette(56)))
    (['#0072B2', '#E69F00'], 56)
    """
    return [_mixed(COLOURS[i % len(COLOURS)], *SHADES[i // len(COLOURS) % len(SHADES)]) for i in range(n)]


def _mixed(colour: str, other: int, share: float) -> str:
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * part + share * other):02X}" for part in parts)
