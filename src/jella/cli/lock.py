"""A file that says which process writes to a place; that of a process that is gone counts for nothing."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

_TRIES = 20  # readings of a file that is being written
_PAUSE = 0.02


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold the file; refused while another process holds it."""
    mine = json.dumps(_this_process()).encode()
    while not _created(path, mine):
        _take_away(path, what)
    try:
        yield
    finally:
        with suppress(OSError):
            if path.read_bytes() == mine:
                path.unlink()


def _this_process() -> dict[str, Any]:
    return {
        "jella": "lock",
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "started": _started(os.getpid()),
        "key": token_hex(8),
    }


def _created(path: Path, content: bytes) -> bool:
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        return False
    try:
        os.write(handle, content)
    except OSError:
        path.unlink()
        raise
    finally:
        os.close(handle)
    return True


def _take_away(path: Path, what: str) -> None:
    """Remove the file of a process that is gone; refuse that of others."""
    content = _content(path)
    if content is None:
        return
    holder = _holder(content)
    if holder is None:
        raise ValueError(f"expected {str(path)!r} to be a lock of jella, got another file; move it away")
    if _lives(holder):
        where = "" if holder["host"] == socket.gethostname() else f" on {holder['host']}"
        raise ValueError(
            f"expected to be the only run that writes to {what!r}, got process {holder['pid']}{where}, which does too; "
            f"wait for it, name another folder, or delete {str(path)!r} if it is gone"
        )
    aside = path.with_name(f"{path.name}.{token_hex(4)}")
    try:
        os.rename(path, aside)
    except FileNotFoundError:
        return  # another process was faster
    if aside.read_bytes() != content and not path.exists():
        os.rename(aside, path)  # it is that of the faster process
        return
    aside.unlink()


def _content(path: Path) -> bytes | None:
    """The content of the file, given a moment to be written; None if it is gone."""
    content = b""
    for _ in range(_TRIES):
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        if _holder(content) is not None:
            break
        time.sleep(_PAUSE)
    return content


def _holder(content: bytes) -> dict[str, Any] | None:
    try:
        holder = json.loads(content)
    except (ValueError, RecursionError):
        return None
    known = isinstance(holder, dict) and holder.get("jella") == "lock" and type(holder.get("pid")) is int
    return holder if known and isinstance(holder.get("host"), str) else None


def _lives(holder: dict[str, Any]) -> bool:
    """Whether the process runs; one on another machine is taken to."""
    if holder["host"] != socket.gethostname() or os.name == "nt":
        return True
    try:
        os.kill(holder["pid"], 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    started = _started(holder["pid"])
    return started is None or holder.get("started") is None or started == holder["started"]


def _started(pid: int) -> str | None:
    """When a process started, in ticks, so that a later one with its number is not mistaken for it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError, ValueError):
        return None
