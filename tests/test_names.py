"""Each public name of the package means one thing: no two modules define the same class, function or type alias."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import jella

PACKAGE = Path(jella.__file__).parent

#: names that several modules may define, and why
ALLOWED = {
    "arguments": "each command of `jella` declares its arguments under this name",
    "run": "each command of `jella` starts under this name; jella_experiments.run is documented",
    "load": "jella.load and jella.datasets.load are documented, and their folders say of what",
}


def test_each_public_name_is_defined_once():
    several = {name: places for name, places in names(PACKAGE).items() if len(places) > 1 and name not in ALLOWED}
    assert not several


def test_each_exception_is_still_needed():
    found = names(PACKAGE)
    assert [name for name in ALLOWED if len(found[name]) < 2] == []


@pytest.mark.parametrize("text", ["def twice(): ...", "class twice: ...", "twice = dict[str, int]", "twice: int = 3"])
def test_a_second_definition_is_noticed(tmp_path, text):
    (tmp_path / "one.py").write_text("def twice(): ...\ndef _own(): ...\nLIMIT = 1\n")
    (tmp_path / "two.py").write_text(f"{text}\ndef _own(): ...\nLIMIT = 2\n")
    assert {name: len(places) for name, places in names(tmp_path).items()} == {"twice": 2}


def names(folder: Path) -> defaultdict[str, list[str]]:
    """Modules that define each public name; constants in capitals belong to their module and do not count."""
    found = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        for name in _defined(ast.parse(path.read_text(encoding="utf-8"))):
            if not name.startswith("_") and not name.isupper():
                found[name].append(str(path.relative_to(folder)))
    return found


def _defined(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
