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
    known = [result for result in results if result.get("coverage") and result["set"] in TABLE_SETS]
    having = [result for result in known if _counts_ties(result)]
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
        *_left_out(having, len(known)),
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
    """Whether values at the ends of intervals were counted; older results do not say it."""
    return all(len(part) == 4 for parts in result["coverage"].values() for part in parts)


def _left_out(having: list[Result], n_known: int) -> list[str]:
    """Words on results that the tables leave out."""
    if len(having) == n_known:
        return []
    return ["", f"From {len(having)} of {n_known} results: older ones did not count values at the ends."]


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
