"""Sphinx: a note at the top of each page of results, with its origin and whether it is older than the code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from provenance import in_words, origin_of


def title_of(name: str) -> str:
    """A title from the name of a file: "results/paper/table-nmi" is "Table: NMI"."""
    kind, _, what = name.rpartition("/")[2].partition("-")
    return f"{kind.capitalize()}: {what.upper() if len(what) < 4 else what}"


def add_note(app: Any, name: str, source: list[str]) -> None:
    """Insert the note below the title of a page of results; tables of the paper's evaluation get a title too."""
    origin = origin_of(f"docs/{name}.md") if name.startswith("results/") else None
    if origin is not None:
        text = source[0] if source[0].startswith("# ") else f"# {title_of(name)}\n\n{source[0]}"
        title, _, rest = text.partition("\n")
        source[0] = f"{title}\n\n:::{{note}}\n{in_words(origin)}\n:::\n{rest}"


def setup(app: Any) -> dict[str, bool]:
    """Connect the note."""
    app.connect("source-read", add_note)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
