"""Run the experiments of the JELLA paper and draw its tables and figures.

Data sets are searched in the folder --data or JELLA_DATA; if none is found, the digits of scikit-learn take their
place. Each finished cell is stored in OUT/results.jsonl: a run that was stopped continues where it stopped, and --draw
writes the outputs again from it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jella.cli.signals import Stopped

HELP = "the tables and figures of the JELLA paper"
NAMES = (
    "table-nmi", "table-adjri", "table-completion", "fig-missing-view", "fig-parameters", "fig-views",
    "fig-convergence", "table-sor", "all",
)  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: what to compute, from which data, where to write."""
    parser.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("-o", "--output", metavar="OUT", default="reproduced", help="folder (default reproduced)")
    parser.add_argument("--data", metavar="FOLDER", help="folder with the data sets (default: JELLA_DATA)")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="only these data sets")
    parser.add_argument("--quick", action="store_true", help="small sets, few repetitions and weights: takes minutes")
    parser.add_argument("--draw", action="store_true", help="draw from the results so far, compute nothing")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of cells at a time (default 1)")
    parser.add_argument(
        "--device",
        metavar="NAME",
        help="fit the methods that can run on a device on this one with PyTorch, e.g. cuda (default: NumPy)",
    )


def run(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Find the data, compute, and draw."""
    from jella.cli.fitting import chosen_device

    reproduce = _experiments()
    device = chosen_device(options)
    _refuse_other_folders(Path(options.output))
    with _kept(options.output):
        made = reproduce(
            options.names,
            options.output,
            data=options.data,
            sets=options.sets,
            quick=options.quick,
            compute=not options.draw,
            n_jobs=options.jobs,
            device=device,
            progress=not options.quiet,
            note=options.command_line,
        )
    lines = [f"data sets: {', '.join(made.plan.datasets)}"]
    lines += [f"not found: {name}: {why}" for name, why in made.missing.items()]
    lines += [f"note: {note}" for note in made.notes]
    lines += [f"wrote {path}" for path in made.written]
    record = {
        "sets": list(made.plan.datasets),
        "missing": made.missing,
        "notes": list(made.notes),
        "written": [str(path) for path in made.written],
    }
    return lines, record


def _experiments() -> Any:
    """The function `reproduce` of the experiments, which are a package of their own beside the library."""
    if find_spec("jella_experiments") is None:
        raise ImportError(
            "expected the package 'jella-experiments' with the paper's evaluation, got no such package; run "
            "pip install ./experiments in a copy of jella's repository"
        )
    from jella_experiments.reproduce import reproduce

    return reproduce


def _refuse_other_folders(folder: Path) -> None:
    """Refuse a folder that holds something else than the outputs of this command."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not (folder / "results.jsonl").is_file():
        raise ValueError(
            f"expected a new folder or one that `jella reproduce` wrote, got {str(folder)!r}, which is neither; name "
            "another"
        )


@contextmanager
def _kept(folder: str) -> Iterator[None]:
    """Say in an interruption that finished cells are kept."""
    try:
        yield
    except (KeyboardInterrupt, Stopped) as error:
        error.add_note(f"finished cells are kept in {Path(folder) / 'results.jsonl'}, and the same command goes on")
        raise
