"""The number of functions and files that one fit passes through: what a reader has to read.

    python benchmarks/walk.py

Each function of the package that runs is counted once, wherever it is called from; comprehensions, generator
expressions and lambdas belong to the function around them. Dataclass machinery and imports are not counted.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import jella

PACKAGE = str(Path(jella.__file__).parent)
METHODS = ("SparseBDR", "MVLIV")


def walked(work: Callable[[], Any]) -> set[tuple[str, str]]:
    """The functions, as (file, qualified name), that run while something is done."""
    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            seen.add(frame.f_code)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    named = {(Path(code.co_filename).relative_to(PACKAGE).as_posix(), code.co_qualname) for code in seen}
    return {(file, name) for file, name in named if "<" not in name.rpartition(".")[2]}


def fit_of(name: str) -> Callable[[], Any]:
    """A fit with labels on the embedded digits, of which 30 % lack views."""
    views = jella.datasets.load_digits_views().data
    views = jella.datasets.make_incomplete({key: X[:300] for key, X in views.items()}, 0.3, random_state=0)
    model = getattr(jella, name)(n_clusters=10, random_state=0)
    model.fit(views)  # so that nothing is imported while functions are counted
    return lambda: model.fit(views)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="name all functions")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in METHODS:
        functions = walked(fit_of(name))
        print(f"{name}.fit: {len(functions)} functions in {len({file for file, _ in functions})} files")
        if asked.list:
            for file, function in sorted(functions):
                print(f"  {file}: {function}")


if __name__ == "__main__":
    main()
