"""The part of the page about intervals of completed values: how many true values they hold, and how wide they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from completion_scores import KINDS
from completion_sets import SETTINGS, TABLE_SETS

Result = dict[str, Any]
HOLES = {"view": "whole view", "entry": "single entries"}
THIRDS = ("least", "middle", "most")
#: ties are shown from this share of the values
TIES = 0.001


def intervals(results: list[Result]) -> list[str]:
    """Coverage, ties and mean width by set, kind of hole, and third of the samples; nothing without intervals."""
    having = [result for result in results if _counts_ties(result) and result["set"] in TABLE_SETS]
    if not having:
        return []
    return [
        "",
        "## Intervals",
        "",
        "`jella.complete(views, interval=0.9)`: share of the removed values inside their interval, wanted 90 %, and in",
        "parentheses the mean width in standard deviations of the feature. By kind of hole (the sample lacks the whole",
        "view, or single entries of it) and by how much of the sample was observed (thirds of the samples with holes).",
        "Where values lie exactly at an end of their interval, as zeros of words do at a lower end of 0, the share of",
        "those that lie strictly inside comes second: no interval can choose between the two, so 90 % between them is",
        "as near as such values allow.",
        "",
        "By setting, all sets:",
        "",
        *_table({name: [r for r in having if r["setting"] == name] for name in SETTINGS}, "setting"),
        "",
        "By set, all settings but mnar, in which no method can know how much is lost:",
        "",
        *_table({n: [r for r in having if r["set"] == n and r["setting"] != "mnar"] for n in TABLE_SETS}, "set"),
    ]


def _counts_ties(result: Result) -> bool:
    """Whether there are intervals; older cells do not count values at their ends."""
    return all(len(part) == 4 for parts in result.get("coverage", {"": [()]}).values() for part in parts)


def _table(groups: dict[str, list[Result]], title: str) -> list[str]:
    lines = [f"| {title} | holes | all | " + " | ".join(f"{third} observed" for third in THIRDS) + " |"]
    lines += ["|---" * 6 + "|"]
    for name, results in groups.items():
        for kind in KINDS:
            parts = np.array([result["coverage"][kind] for result in results]).reshape(-1, 3, 4).sum(axis=0)
            if parts[:, 0].any():
                shown = [_shown(*part) for part in (parts.sum(axis=0), *parts)]
                lines.append(f"| {name} | {HOLES[kind]} | " + " | ".join(shown) + " |")
    return lines


def _shown(count: float, inside: float, at_end: float, width: float) -> str:
    if not count:
        return "–"
    strictly = f" / {(inside - at_end) / count:.1%}" if at_end >= TIES * count else ""
    return f"{inside / count:.1%}{strictly} ({width / count:.2f})"
