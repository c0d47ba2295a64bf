"""Colours that stay apart: eight for colour-blind readers too, then whatever differs most from all before it."""

from __future__ import annotations

from functools import cache

import numpy as np

#: differ in lightness as well as in hue
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#5B3A8C", "#8F8A1F")
#: colour of what has no cluster or is not known
NOTHING = "#9A9A9A"
#: lightness (of OKLab) on a white page, and on a dark one
ON_WHITE, ON_DARK = (0.4, 0.8), (0.58, 0.84)
#: colours that all differ; then they begin again
MOST = 64


def palette(n: int, *, dark: bool = False) -> list[str]:
    """The first n colours as '#RRGGBB', for a white page or the same hues for a dark one; all differ up to 64.

    >>> palette(2), len(set(palette(64))), len(set(palette(64, dark=True)))
    (['#0072B2', '#E69F00'], 64, 64)
    """
    colours = _colours()
    return [_on_dark(colours[i % MOST]) if dark else colours[i % MOST] for i in range(n)]


@cache
def _colours() -> list[str]:
    """Of a grid of colours, in turn the one that lies farthest from all before it."""
    steps = np.arange(0, 256, 15)
    grid = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    places = _oklab(grid)
    chroma = np.hypot(places[:, 1], places[:, 2])
    usable = (places[:, 0] > ON_WHITE[0]) & (places[:, 0] < ON_WHITE[1]) & (chroma > 0.06) & (chroma < 0.23)
    grid, places = grid[usable], places[usable]
    chosen = [_parts(colour) for colour in COLOURS]
    gap = np.min([np.linalg.norm(places - _oklab(np.array(one)), axis=1) for one in chosen], axis=0)
    while len(chosen) < MOST:
        at = int(gap.argmax())
        chosen.append(tuple(grid[at].tolist()))
        gap = np.minimum(gap, np.linalg.norm(places - places[at], axis=1))
    return ["#" + "".join(f"{part:02X}" for part in one) for one in chosen]


def _on_dark(colour: str) -> str:
    """The same hue, light enough for a dark page: lightness moved from one range to the other."""
    rgb = np.array(_parts(colour), dtype=np.float64)
    (low, high), (least, most) = ON_WHITE, ON_DARK
    wanted = least + (float(_oklab(rgb)[0]) - low) * (most - least) / (high - low)
    shares = np.linspace(0.0, 1.0, 101)[:, None]
    mixed = rgb * (1 - shares) + 255.0 * shares
    at = int(np.abs(_oklab(mixed)[:, 0] - wanted).argmin())
    return "#" + "".join(f"{round(part):02X}" for part in mixed[at])


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def _oklab(rgb: np.ndarray) -> np.ndarray:
    """Colours (..., 3) from 0 to 255 in OKLab, where distances are close to what eyes see."""
    share = np.asarray(rgb, dtype=np.float64) / 255.0
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    cones = linear @ np.array(
        [
            [0.4122214708, 0.2119034982, 0.0883024619],
            [0.5363325363, 0.6806995451, 0.2817188376],
            [0.0514459929, 0.1073969566, 0.6299787005],
        ]
    )
    return np.asarray(
        np.cbrt(cones)
        @ np.array(
            [
                [0.2104542553, 1.9779984951, 0.0259040371],
                [0.7936177850, -2.4285922050, 0.7827717662],
                [-0.0040720468, 0.4505937099, -0.8086757660],
            ]
        )
    )
