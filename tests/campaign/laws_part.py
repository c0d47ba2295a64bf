"""Laws over drawn problems: `campaign.laws.check(seed)` returns what is broken, or None; many seeds per child."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path

from campaign import sandbox
from campaign.attack import Attack, Finding

PER_CHILD = 25


def attacks(count: int = 10_000) -> list[Attack]:
    """Drawn problems, some per child; none where the laws are not there."""
    if importlib.util.find_spec("campaign.laws") is None:
        return []
    return [
        Attack("laws", "laws", f"seeds {first}-{first + PER_CHILD - 1}", partial(_strike, first), PER_CHILD)
        for first in range(0, count, PER_CHILD)
    ]


def _strike(first: int, root: Path) -> Finding:
    sandbox.make_place(root)
    run = sandbox.fork(partial(_check, first), root)
    found = sandbox.verdict(run)
    broken = run.out.decode(errors="replace")
    if found == "ok" and broken:
        return Finding("law", run.code, round(run.seconds, 2), round(run.peak / 2**20), said=broken[:600])
    return run.finding(found)


def _check(first: int) -> int:
    import warnings

    from campaign.laws import check

    warnings.simplefilter("ignore")
    for seed in range(first, first + PER_CHILD):
        broken = check(seed)
        if broken:
            print(f"seed {seed}: {broken}")
    return 0
