"""Sphinx: files of the repository's top folder as pages of the site, with their links adapted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
#: page of the site -> file of the repository
PAGES = {
    "contributing": "CONTRIBUTING.md",
    "changelog": "CHANGELOG.md",
    "design": "DESIGN.md",
    "code-of-conduct": "CODE_OF_CONDUCT.md",
    "security": "SECURITY.md",
}


def adapted(text: str) -> str:
    """The text with links as seen from the folder of the site."""
    text = re.sub(r"\]\(docs/", "](", text)
    for page, file in PAGES.items():
        text = text.replace(f"]({file}", f"]({page}.md")
    return text


def show_file(app: Any, name: str, source: list[str]) -> None:
    """Replace the placeholder by the file."""
    if name in PAGES:
        source[0] = adapted((ROOT / PAGES[name]).read_text())
        app.env.note_dependency(str(ROOT / PAGES[name]))


def setup(app: Any) -> dict[str, bool]:
    """Connect the pages."""
    app.connect("source-read", show_file)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
