"""Reading a folder of results: its model, and the options of its run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jella.cli.config import checked_option
from jella.cli.place import bring_back


def load_model(where: str | Path) -> Any:
    """The model in a file, or in a folder of results."""
    from jella.estimators.loading import load

    path = Path(where)
    bring_back(path)
    return load(path / "model.jella" if path.is_dir() else path)


def checked_options(run: Mapping[str, Any], parser: argparse.ArgumentParser, where: str) -> argparse.Namespace:
    """The options of an earlier run, as the parser of its command would give them; unknown ones are left out."""
    parser.add_argument("--seed", type=int, default=0)
    options = argparse.Namespace()
    for action in parser._actions:
        if action.dest == "help":
            continue
        value = run["options"].get(action.dest)
        given = action.default if value is None else checked_option(action, value, where)
        setattr(options, action.dest, given)
    options.command_line = run["command"]
    return options
