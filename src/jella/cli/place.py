"""OUT: claimed when a command starts, filled in a folder beside it, and renamed when the results are complete.

Beside OUT, `.OUT.jella-lock` says which process writes, `.OUT.jella-xxxxxxxx.part` is being filled, and
`.OUT.jella-xxxxxxxx.old` is an earlier result while it is replaced. What a killed process left of these is recognised
by the next run with this OUT: an earlier result is put back, the rest is removed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any

from jella.cli.lock import locked
from jella.cli.run_file import PENDING, RUN, files_in, stranger_in, write_run
from jella.cli.signals import held_signals
from jella.cli.words import tell

_MARK = ".jella-part"
#: bytes of the name of OUT: file systems take 255, and results may have to be kept under OUT-xxxxxxxx
MOST_BYTES = 240


@contextmanager
def claimed(given: str, *, overwrite: bool, inputs: Iterable[str]) -> Iterator[Out]:
    """The place of the results, for this process only; what is not published is removed at the end."""
    path = _checked_path(given)
    made = _make_parents(path.parent)
    try:
        with locked(_beside(path, "lock"), str(path)):
            _tidy(path)
            place = Out(path, overwrite)
            place.check()
            if overwrite:
                _refuse_inputs(path, inputs)
            try:
                yield place
            except BaseException as error:
                if place.published is not None:
                    error.add_note(kept(path, place.published))
                raise
            finally:
                place.discard()
    finally:
        with suppress(OSError):
            for folder in made:
                folder.rmdir()


class Out:
    """Where the results of a run go.

    Attributes
    ----------
    path : Path
        OUT.
    published : dict or None
        The content of run.json, when the results are there.
    """

    def __init__(self, path: Path, overwrite: bool) -> None:
        self.path, self._overwrite = path, overwrite
        self._part: Path | None = None
        self.published: dict[str, Any] | None = None

    @property
    def folder(self) -> Path:
        """The folder to write into, before the results are published."""
        if self._part is None:
            self._part = _beside(self.path, f"{token_hex(4)}.part")
            self._part.mkdir()
            (self._part / _MARK).write_text(f"jella is writing {self.path.name}\n", encoding="utf-8", errors="replace")
        return self._part

    def check(self) -> None:
        """Refuse an OUT that must not be replaced."""
        path = self.path
        if not os.path.lexists(path):
            return
        if not self._overwrite:
            raise ValueError(
                f"expected a new folder for the results, got {str(path)!r}, which exists; pass --overwrite"
            )
        if path.is_symlink():
            raise ValueError(
                f"expected a folder to replace, got {str(path)!r}, which is a symbolic link; name its target"
            )
        if not path.is_dir() or (not (is_empty := not any(path.iterdir())) and not (path / RUN).is_file()):
            raise ValueError(
                f"expected a folder of earlier results to replace, got {str(path)!r}, which holds none; name another"
            )
        if os.path.ismount(path) or Path.cwd().resolve().is_relative_to(path.resolve()):
            raise ValueError(
                f"expected a folder that can be renamed, got {str(path)!r}, which is in use as a mount or as the "
                "current folder; name another"
            )
        stranger = None if is_empty else stranger_in(path)
        if stranger is not None:
            raise ValueError(
                f"expected a folder with nothing but results to replace, got {str(path)!r} with {stranger!r}, which "
                "jella did not write; move it, or name another folder"
            )

    def publish(self, run: dict[str, Any], later: Iterable[str] = ()) -> None:
        """Write run.json and rename the folder to OUT; `later` are files that will be added to it."""
        part = self.folder
        run["files"] = sorted({*files_in(part), *later, RUN} - {_MARK})
        write_run(part, run)
        (part / _MARK).unlink()
        _to_disk(part)
        try:
            self.check()
            with held_signals():
                self._rename(part)
                self._part, self.published = None, run
        except (ValueError, OSError) as error:
            kept = self.path.with_name(f"{self.path.name}-{token_hex(4)}")
            os.rename(part, kept)
            self._part = None
            why = str(error) if isinstance(error, ValueError) else f"cannot write {str(self.path)!r}: {error.strerror}"
            raise ValueError(f"{why}; the results of this run are in {str(kept)!r}") from error

    def _rename(self, part: Path) -> None:
        old = _beside(self.path, f"{token_hex(4)}.old")
        there = self.path.exists()
        if there:
            os.rename(self.path, old)
        try:
            os.rename(part, self.path)
        except OSError:
            if there:
                os.rename(old, self.path)
            raise
        _folder_to_disk(self.path.parent)
        if there:
            shutil.rmtree(old, ignore_errors=True)

    def discard(self) -> None:
        """Remove what was not published."""
        if self._part is not None:
            shutil.rmtree(self._part, ignore_errors=True)


def kept(path: Path, run: dict[str, Any]) -> str:
    """What to say of published results when something ends after them."""
    missing = [name for name, state in run["parts"].items() if state == PENDING]
    return f"the results in {path} are complete" + "".join(
        f" without the {name}; `jella report {path}` adds it" for name in missing
    )


@contextmanager
def held(path: Path) -> Iterator[None]:
    """A folder of results that no other process may replace meanwhile."""
    with locked(_beside(path.resolve(), "lock"), str(path)):
        yield


def bring_back(path: Path) -> None:
    """Put back the results that a killed process was about to replace, if OUT is not there."""
    if not os.path.lexists(path) and path.name and any(_left(path, "old")):
        with locked(_beside(path, "lock"), str(path)):
            _tidy(path)


def _checked_path(given: str) -> Path:
    path = Path(given)
    if path.name in ("", "..") or "\0" in given:
        raise ValueError(f"expected a folder with a name of its own, got {given!r}; name one in it")
    length = len(os.fsencode(path.name))
    if length > MOST_BYTES:
        raise ValueError(f"expected a folder with a name of at most {MOST_BYTES} bytes, got {length}; name another")
    return path


def _make_parents(folder: Path) -> list[Path]:
    """Make a folder and those above it; returns the new ones, the innermost first."""
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return new


def _beside(path: Path, end: str) -> Path:
    return path.with_name(f".{_key(path)}.jella-{end}")


def _key(path: Path) -> str:
    """The name of OUT, or a hash of it if the name is long."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= 200 else sha256(name).hexdigest()[:32]


def _left(path: Path, kind: str) -> list[Path]:
    """Folders beside OUT that runs with this OUT left, the latest last."""
    pattern = re.compile(re.escape(f".{_key(path)}.jella-") + rf"[0-9a-f]{{8}}\.{kind}")
    if not path.parent.is_dir():
        return []
    found = [one for one in path.parent.iterdir() if pattern.fullmatch(one.name) and one.is_dir()]
    return sorted((one for one in found if not one.is_symlink()), key=lambda one: one.stat().st_mtime)


def _tidy(path: Path) -> None:
    """Put back an earlier result, and remove what a killed process left; other files are not touched."""
    for old in reversed(_left(path, "old")):
        if not os.path.lexists(path):
            os.rename(old, path)
            tell(f"note: a run was killed while it replaced {path}; the earlier results are back")
        elif _is_ours(old):
            shutil.rmtree(old, ignore_errors=True)
    for part in _left(path, "part"):
        if (part / _MARK).is_file() or _is_ours(part):
            shutil.rmtree(part, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    try:
        return not any(folder.iterdir()) or stranger_in(folder) is None
    except ValueError:
        return False


def files_read(given: str) -> list[Path]:
    """A file or folder that a command reads, and what is in the folder, where links lead."""
    path = Path(given)
    inside = list(path.iterdir()) if path.is_dir() else []
    return [one.resolve() for one in (path, *inside)]


def _refuse_inputs(path: Path, inputs: Iterable[str]) -> None:
    """Refuse to replace a folder that holds what the run reads."""
    if not path.exists():
        return
    for given in inputs:
        if any(one.is_relative_to(path.resolve()) for one in files_read(given)):
            raise ValueError(
                f"expected to replace a folder without the input, got {str(path)!r}, which holds {given!r}; name "
                "another folder"
            )


def _to_disk(folder: Path) -> None:
    """Make sure that all files of a folder are on the disk."""
    for where, _, files in os.walk(folder):
        for name in files:
            handle = os.open(os.path.join(where, name), os.O_RDWR)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        _folder_to_disk(Path(where))


def _folder_to_disk(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(handle)
    finally:
        os.close(handle)
