"""The plan of the house: a room imports only rooms before it, and no module imports itself through others."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import jella

HOUSE = Path(jella.__file__).parent
#: rooms, and files at the top that others may import, in order
ORDER = (
    "_version",
    "numerics",
    "views",
    "problem",
    "terms",
    "solve",
    "graphs",
    "readout",
    "impute",
    "evidence",
    "distributed",
    "saving",
    "estimators",
    "describe",
    "io",
    "metrics",
    "datasets",
    "model_selection",
    "oneshot",
    "report",
    "plot",
    "cli",
)


def module_of(path: Path, root: Path = HOUSE) -> str:
    parts = ("jella", *path.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, modules: set[str]) -> set[str]:
    """Modules of the package that a file imports anywhere, deferred imports and those by name too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in modules else node.module)
        elif isinstance(node, ast.ImportFrom):
            raise AssertionError(f"{path}: a relative import, which this test does not follow")
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            found |= {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
    return {name for name in found if isinstance(name, str) and (name == "jella" or name.startswith("jella."))}


def graph(root: Path = HOUSE) -> dict[str, set[str]]:
    paths = {module_of(path, root): path for path in root.rglob("*.py")}
    paths.pop("jella")  # the face: it names the rooms, and loads them when asked
    paths.pop("jella.__main__")
    return {module: imported(path, set(paths)) - {module} for module, path in paths.items()}


def against_the_order(edges: dict[str, set[str]]) -> list[str]:
    place = {room: number for number, room in enumerate(ORDER)}
    wrong = []
    for module, targets in edges.items():
        for target in targets:
            here, there = module.split(".")[1], target.partition(".")[2].partition(".")[0]
            if there not in place or place[there] > place[here]:
                wrong.append(f"{module} imports {target}")
    return sorted(wrong)


def test_a_room_imports_only_rooms_before_it():
    assert against_the_order(graph()) == []


def test_no_module_imports_itself_through_others():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_every_room_has_a_place_and_the_top_is_tidy():
    rooms = {path.name for path in HOUSE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    files = {path.stem for path in HOUSE.glob("*.py")}
    assert rooms | files - {"__init__", "__main__"} == set(ORDER)
    assert len(files) <= 6


def test_the_check_sees_deferred_imports(tmp_path):
    (tmp_path / "numerics").mkdir()
    (tmp_path / "views").mkdir()
    for name in ("__init__.py", "__main__.py", "views/__init__.py", "numerics/__init__.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "views/model.py").write_text("import jella.numerics\n")
    (tmp_path / "numerics/arrays.py").write_text("def f():\n    from jella.views.model import g\n    return g\n")
    assert against_the_order(graph(tmp_path)) == ["jella.numerics.arrays imports jella.views.model"]
