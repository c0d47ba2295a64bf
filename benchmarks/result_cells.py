"""Tables of results: the key of a cell, the origin of a result, and the run that fills a table."""

from __future__ import annotations

import argparse
import platform
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from measuring import append, load
from real_sets import folder

import jella
from jella.estimators.on_device import Device
from jella.numerics.environment import source_digest

RESULTS = Path(__file__).parent.parent / "docs" / "results"
SETTINGS, RATES = ("missing-view", "incomplete-view"), (0.1, 0.3, 0.5)
#: digest of the library's source at import, since it may be edited during a run: it identifies results
SOURCE = source_digest()
Cell = dict[str, Any]
Result = dict[str, Any]


def key(cell: Cell) -> tuple[Any, ...]:
    return tuple(cell[part] for part in ("set", "setting", "rate", "repeat", "method"))


def failure(error: Exception) -> Result:
    """The result of a failure: it is shown like others."""
    return {"error": f"{type(error).__name__}: {error}"}


def origin(device: Device | None = None) -> Result:
    """Version and machine of a result."""
    machine = ", ".join([platform.machine(), *([] if device is None else [device.hardware])])
    return {"jella": jella.__version__, "machine": machine}


def arguments(sets: Iterable[str], methods: Iterable[str], repeats: str = "--repeats") -> argparse.ArgumentParser:
    """The options of all tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument(repeats, dest="repeats", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=list(sets))
    parser.add_argument("--methods", nargs="*", default=list(methods))
    parser.add_argument("--draw", action="store_true", help="write the page without computing")
    return parser


def device_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", type=Device.named, help="fit on this device with PyTorch, e.g. cuda")


def fill(
    name: str,
    cells: Callable[[Path], Iterable[Cell]],
    compute: Callable[[Cell, Path], Result],
    shown: Callable[[Result], Any],
    draw: Callable[[list[Result]], str],
    *,
    only_draw: bool,
) -> None:
    """Compute the cells that the file of a table lacks, append each at once, and write the page of the table.

    Parameters
    ----------
    cells, compute : callables
        They get the folder with the data; without one nothing is computed.
    shown : callable
        What to print of a result.
    draw : callable
        From all results to the page.
    """
    warnings.simplefilter("ignore")
    file, page, data = RESULTS / f"{name}.jsonl", RESULTS / f"{name}.md", folder()
    if data is not None and not only_draw:
        done = {key(result) for result in load(file)}
        todo = [cell for cell in cells(data) if key(cell) not in done]
        for number, cell in enumerate(todo, 1):
            result = compute(cell, data)
            append(file, result)
            print(f"{number}/{len(todo)}", *key(cell), shown(result), f"in {result['seconds']:.1f} s", flush=True)
    page.write_text(draw(load(file)))
    print(f"wrote {page}")


def states(results: Iterable[Result], method: str) -> list[str]:
    """A sentence if results of a method come from several states of the source; otherwise nothing."""
    found = sorted({result.get("source", "unknown") for result in results if result["method"] == method})
    if len(found) < 2:
        return []
    return ["", f"{method} ran in {len(found)} states of the source, `source` in the file: {', '.join(found)}."]
