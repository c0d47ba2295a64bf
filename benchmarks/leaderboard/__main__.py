"""Methods that cluster incomplete views, on published masks and on ours: the leaderboard.

Run: JELLA_DATA=<folder> PYTHONPATH=benchmarks python -m leaderboard [--peers NAME ...] [--sets NAME ...] [--draw]
     [--again NAME ...] [--limit SECONDS]

`make leaderboard` sets up the environments of the peers first. Each finished cell is appended to
docs/results/leaderboard.jsonl; a cell in the file is not computed again. Then the page docs/results/leaderboard.md is
drawn; --draw does only that. --again PEER drops the lines of a peer that come from another state of its source, and
computes them again. A name matches all peers or sets that begin with it. One process at a time, one thread.

A peer is a file in `peers/`, a data set a file in `sets/`; `run` computes, `serve` runs a peer in its own environment,
`page` draws.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import sample_order
from measuring import load
from real_sets import folder
from result_cells import RESULTS

from leaderboard.page import draw
from leaderboard.run import LIMIT, all_cases, all_peers, drop_older, fill


def chosen(all_of_them: dict[str, Any], names: list[str]) -> list[Any]:
    """The ones whose names begin with one of these; all if there are none."""
    unknown = [name for name in names if not any(one.startswith(name) for one in all_of_them)]
    if unknown:
        raise SystemExit(f"expected names of {list(all_of_them)}, got {unknown}")
    return [one for name, one in all_of_them.items() if not names or any(name.startswith(start) for start in names)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="*", default=[])
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--again", nargs="*", default=[], metavar="PEER")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one cell")
    parser.add_argument("--draw", action="store_true", help="write the page without computing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    file, peers, cases, data = RESULTS / "leaderboard.jsonl", all_peers(), all_cases(), folder()
    if options.again:
        print(f"dropped {drop_older(file, chosen(peers, options.again))} lines")
    if data is None and not options.draw:
        print("nothing is computed: JELLA_DATA is not set")
    elif not options.draw:
        wanted = chosen(peers, options.peers or options.again)
        fill(file, wanted, chosen(cases, options.sets), data, options.limit)
    page = RESULTS / "leaderboard.md"
    page.write_text(draw(load(file), peers, cases, sample_order.table()))
    print(f"wrote {page}")


if __name__ == "__main__":
    main()
