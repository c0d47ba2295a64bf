"""How often jella is at or below each other method, where it is not, and its largest errors."""

from __future__ import annotations

import numpy as np
from completion_found import OURS, Found, Key

#: a cell above this is worse than the column means
WORSE = 1.005


def summary(found: Found) -> list[str]:
    """The lines of the page; two methods are compared over the masks that both have, and a failure is a loss."""
    others = [m for m in found.methods() if m != OURS]
    lines = ["", "## Summary", "", "A cell is a set, a setting and a rate.", ""]
    lines += ["| method | cells | mean error | jella in the same cells | jella at or below | largest loss of jella |"]
    lines += ["|---|---|---|---|---|---|"]
    losses: dict[Key, list[tuple[str, float, float]]] = {}
    compared: set[Key] = set()
    for other in others:
        pairs, own = found.pairs(other), [found.mean(key, other) for key in found.cells() if found.masks(key, other)]
        wins = sum(mine <= theirs for mine, theirs in pairs.values())
        compared |= set(pairs)
        for key, (mine, theirs) in pairs.items():
            if not mine <= theirs:
                losses.setdefault(key, []).append((other, mine, theirs))
        ours = "– | – | –"
        if pairs:
            mine, theirs = np.array(list(pairs.values())).T
            ours = f"{np.nanmean(mine):.3f} | {wins} of {len(pairs)} | {np.nanmax([0.0, *(mine - theirs)]):.3f}"
        lines.append(f"| {other} | {len(own)} | {np.mean(own):.3f} | {ours} |")
    own = {key: found.mean(key, OURS) for key in found.cells() if found.masks(key, OURS)}
    if not own:
        return [*lines, "", "jella has not been run yet."]
    largest = max(own, key=lambda key: own[key])
    above = [key for key, value in own.items() if value > WORSE]
    lines += [
        "",
        f"jella: {len(own)} cells, mean error {np.mean(list(own.values())):.3f}; at or below all that ran in "
        f"{len(compared) - len(losses)} of {len(compared)} cells. Its largest error: {own[largest]:.3f} "
        f"({_name(largest)}). Cells above {WORSE}: {len(above)}"
        + (f" ({'; '.join(f'{_name(key)} {own[key]:.3f}' for key in above)})." if above else "."),
    ]
    if losses:
        lines += [
            "",
            "All cells in which another method has a lower error, against that of jella with the same masks:",
            "",
        ]
        for key, rows in losses.items():
            best_first = sorted(rows, key=lambda row: row[2])
            by = ", ".join(f"{other} {theirs:.3f} against {mine:.3f}" for other, mine, theirs in best_first)
            lines.append(f"- {_name(key)}: {by}")
    return lines


def _name(key: Key) -> str:
    return f"{key[0]}, {key[1]} {key[2]:.0%}"
