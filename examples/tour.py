"""A tour of the command line: incomplete digits as tables on the disk, then jella info, cluster, compare, transform.

Run: python examples/tour.py [FOLDER]   (default: tour). Open FOLDER/found/report.html afterwards.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import jella
from jella.cli.main import main as command

N, NEW = 600, 20


def write_tables(folder: Path, rows: slice) -> None:
    """Write three views of some digits, one table each, with empty cells and with samples that some tables lack."""
    digits = jella.datasets.load_digits_views()
    names = pd.Index([f"digit-{i:04d}" for i in range(rows.start, rows.stop)], name="sample")
    some = {name: X[rows] for name, X in digits.data.items()}
    holed = jella.datasets.make_incomplete(some, 0.3, "incomplete-view", random_state=0)
    folder.mkdir(parents=True, exist_ok=True)
    for name, X in holed.items():
        there = ~np.isnan(X).all(axis=1)
        table = pd.DataFrame(X, index=names, columns=digits.feature_names[name])[there]
        table.round(4).to_csv(folder / f"{name}.csv")
    classes = pd.Series([f"digit {one}" for one in digits.target[rows]], index=names, name="digit")
    classes.to_csv(folder / "digit.csv")


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "tour")
    write_tables(folder / "digits", slice(0, N))
    write_tables(folder / "new", slice(N, N + NEW))
    commands = (
        ["info", folder / "digits"],
        ["cluster", folder / "digits", "-k", "10", "-o", folder / "found", "--overwrite"],
        ["compare", folder / "digits", "--methods", "sparse-bdr", "mvliv", "daimc", "--rate", "0.2"],
        ["transform", folder / "found", folder / "new", "-o", folder / "placed", "--overwrite"],
    )
    for words in commands:
        print("\n$ jella", *words, flush=True)
        if command([str(word) for word in words]):
            raise SystemExit(1)


if __name__ == "__main__":
    main()
