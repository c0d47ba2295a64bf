"""Options from a TOML file: those at the top for all commands, those in a table for the command of that name."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jella.numerics.words import closest_name


def apply_config(words: Sequence[str], commands: Mapping[str, argparse.ArgumentParser]) -> None:
    """Use the values of the file that --config names as defaults of the command."""
    path = _path(words)
    command = next((word for word in words if word in commands), None)
    if path is None or command is None:
        return
    values = _read(path)
    tables = {name: values.pop(name) for name in list(values) if name in commands}
    for name, table in tables.items():
        if not isinstance(table, Mapping):
            raise ValueError(f"expected a table [{name}] of options in {path!r}, got {table!r}; write one")
    parser = commands[command]
    known = {action.dest: action for action in parser._actions if action.dest not in ("help", "config")}
    everywhere = {action.dest for other in commands.values() for action in other._actions}
    given = {_dest(name): value for name, value in values.items()}
    unknown = sorted(set(given) - everywhere)
    own = {_dest(name): value for name, value in tables.get(command, {}).items()}
    unknown += sorted(set(own) - set(known))
    if unknown:
        close = closest_name(unknown[0].replace("_", "-"), [name.replace("_", "-") for name in (*known, *commands)])
        raise ValueError(f"expected options of jella {command} in {path!r}, got {unknown}; {close}")
    chosen = {name: value for name, value in given.items() if name in known} | own
    parser.set_defaults(**{name: checked_option(known[name], value, path) for name, value in chosen.items()})


def _path(words: Sequence[str]) -> str | None:
    for number, word in enumerate(words):
        if word == "--config" and number + 1 < len(words):
            return words[number + 1]
        if word.startswith("--config="):
            return word.partition("=")[2]
    return None


def _read(path: str) -> dict[str, Any]:
    import tomllib

    if Path(path).exists() and not Path(path).is_file():
        raise ValueError(f"expected a TOML file, got {path!r}, which is no file; name another")
    with open(path, "rb") as file:
        try:
            return tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError(
                f"expected a TOML file, got {path!r}, which cannot be read ({error}); correct it"
            ) from None


def _dest(name: str) -> str:
    return name.replace("-", "_")


def checked_option(action: argparse.Action, value: Any, path: str) -> Any:
    """The value in the type that it would have from the command line."""
    if isinstance(action.const, bool):
        if not isinstance(value, bool):
            raise ValueError(
                f"expected true or false for {action.dest!r} in {path!r}, got {value!r}; write one of them"
            )
        return value
    many = action.nargs in ("*", "+") or isinstance(action, argparse._AppendAction)
    if isinstance(value, list | Mapping) and not many:
        raise ValueError(f"expected one value of {action.dest!r} in {path!r}, got {value!r}; write one value")
    if isinstance(value, Mapping):
        return [f"{name}={one}" for name, one in value.items()]
    values = value if isinstance(value, list) else [value]
    read = [_of_type(action, one, path) for one in values]
    return read if many else read[0]


def _of_type(action: argparse.Action, value: Any, path: str) -> Any:
    try:
        found = str(value) if action.type is None else action.type(str(value))  # type: ignore[operator]
    except (ValueError, argparse.ArgumentTypeError) as error:
        raise ValueError(
            f"expected a value of {action.dest!r} in {path!r}, got {value!r} ({error}); correct it"
        ) from None
    if action.choices is not None and found not in action.choices:
        raise ValueError(
            f"expected {action.dest!r} among {list(action.choices)} in {path!r}, got {value!r}; correct it"
        )
    return found
