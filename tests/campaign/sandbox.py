"""Run one attack in a child process, and measure it: exit code, output, time, memory, files that changed.

Needs Linux. A fork of a process that has imported everything costs some milliseconds; `spawn` starts a new interpreter.
"""

from __future__ import annotations

import hashlib
import os
import resource
import select
import shutil
import signal
import stat
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from campaign.attack import Finding

#: seconds after which a child is killed, and seconds of the processor that are too many, also on a busy machine
KILLED_AFTER, TOO_SLOW = 60.0, 30.0
#: bytes after which a child is killed, and bytes that are too many
KILLED_OVER, TOO_LARGE = 3 * 2**30, 2 * 2**30
#: the folder in which a child works, two floors below the folder whose content is compared
WORK = Path("home/work")
_TICK = 0.05
_KEPT_OUTPUT = 2**20
#: lines that standard error may have besides one sentence
_PROGRESS = ("jella: note: ", "preparing: ", "finishing: ", "sweep ")
_STARTS = tuple(f"{n}" for n in range(10))  # "3 of 12 methods, 2 s"


@dataclass(frozen=True)
class Run:
    """How a child process ended.

    Attributes
    ----------
    code : int
        Exit code, or minus the signal.
    seconds, cpu : float
        Time on the clock, and of the processor.
    peak : int
        Peak memory in bytes.
    out, err : bytes
    stopped : str
        'time' or 'memory' if it was killed for that.
    """

    code: int
    seconds: float
    cpu: float
    peak: int
    out: bytes
    err: bytes
    stopped: str = ""

    def finding(self, verdict: str, state: str = "") -> Finding:
        """The record of this run."""
        said = "" if verdict == "ok" else self.err[-600:].decode(errors="replace")
        return Finding(verdict, self.code, round(self.seconds, 2), round(self.peak / 2**20), state, said)


def make_place(root: Path) -> Path:
    """The folders of an attack, empty; returns the one in which the child works."""
    shutil.rmtree(root, ignore_errors=True)
    (root / "tmp").mkdir(parents=True)
    (root / WORK).mkdir(parents=True)
    return root / WORK


def fork(
    call: Callable[[], int],
    root: Path,
    *,
    limit: float = KILLED_AFTER,
    memory: int = KILLED_OVER,
    file_size: int | None = None,
) -> Run:
    """Run a function in a fork of this process; it returns the exit code."""
    ends = os.pipe(), os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            _become_child(root, ends, file_size)
            code = call()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
            code = 1
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):
                    stream.flush()
            os._exit(code)
    for _, write in ends:
        os.close(write)
    return _watched(pid, started, (ends[0][0], ends[1][0]), limit, memory, ())


#: exit code of a child that a signal reached before it became the program
NOT_STARTED = 71


def spawn(
    words: Sequence[str],
    root: Path,
    *,
    limit: float = KILLED_AFTER,
    signals: Sequence[tuple[float, int]] = (),
    stdout: str | None = None,
    file_size: int | None = None,
) -> Run:
    """Run `python WORDS` and send it signals, each after some seconds; `stdout` names a file, or '-' for none."""
    ends = os.pipe(), os.pipe()
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        try:
            _become_child(root, ends, file_size)
            if stdout == "-":
                os.close(1)
            elif stdout is not None:
                os.dup2(os.open(stdout, os.O_WRONLY), 1)
            os.execve(sys.executable, [sys.executable, *words], child_environment(root))
        finally:
            os._exit(NOT_STARTED)
    for _, write in ends:
        os.close(write)
    return _watched(pid, started, (ends[0][0], ends[1][0]), limit, KILLED_OVER, signals)


def child_environment(root: Path) -> dict[str, str]:
    """The variables of a child: nothing of the user's, and a folder of its own for temporary files."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
    places = {"HOME": str(root / "home"), "TMPDIR": str(root / "tmp"), "MPLCONFIGDIR": str(root.parent / "matplotlib")}
    return kept | threads | places | {"LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}


def _become_child(root: Path, ends: Sequence[tuple[int, int]], file_size: int | None) -> None:
    """A new session in the folder of the attack, default signals, and pipes as standard output and error."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python does
    os.chdir(root / WORK)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(ends[0][1], 1)
    os.dup2(ends[1][1], 2)
    os.closerange(3, 256)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, errors="backslashreplace", buffering=1)  # noqa: SIM115
    environment = child_environment(root)
    os.environ.clear()
    os.environ.update(environment)
    import tempfile

    tempfile.tempdir = None
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if file_size is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))


def _watched(
    pid: int,
    started: float,
    pipes: tuple[int, int],
    limit: float,
    memory: int,
    signals: Sequence[tuple[float, int]],
) -> Run:
    """Wait for a child, read what it prints, send it signals, and kill it when it exceeds a limit."""
    ended = os.pidfd_open(pid)
    poll = select.poll()
    texts = {pipe: bytearray() for pipe in pipes}
    poll.register(ended, select.POLLIN)
    for pipe in pipes:
        os.set_blocking(pipe, False)
        poll.register(pipe, select.POLLIN)
    todo, stopped, ready = sorted(signals), "", set[int]()
    try:
        while ended not in ready:
            now = time.monotonic() - started
            while todo and todo[0][0] <= now:
                os.kill(pid, todo.pop(0)[1])
            stopped = stopped or _exceeded(pid, now, limit, memory)
            if stopped:
                os.killpg(pid, signal.SIGKILL)
            wait = min(_TICK, todo[0][0] - now) if todo else _TICK
            ready = {source for source, _ in poll.poll(max(wait, 0.0) * 1000)}
            for pipe in ready & texts.keys():
                if not _drain(pipe, texts[pipe]):
                    poll.unregister(pipe)
        _, status, usage = os.wait4(pid, 0)
        seconds = time.monotonic() - started
        for pipe in pipes:
            _drain(pipe, texts[pipe])
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # what it left running
    finally:
        for source in (ended, *pipes):
            os.close(source)
    out, err = (bytes(texts[pipe]) for pipe in pipes)
    cpu = usage.ru_utime + usage.ru_stime
    return Run(os.waitstatus_to_exitcode(status), seconds, cpu, usage.ru_maxrss * 1024, out, err, stopped)


def _exceeded(pid: int, seconds: float, limit: float, memory: int) -> str:
    """The limit that a child exceeds."""
    if seconds > limit:
        return "time"
    return "memory" if _memory(pid) > memory else ""


def _drain(pipe: int, text: bytearray) -> bool:
    """Read what a pipe holds; False at its end."""
    with suppress(BlockingIOError):
        while piece := os.read(pipe, 65536):
            if len(text) < _KEPT_OUTPUT:
                text += piece
        return False
    return True


def _memory(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return 0


Snapshot = Mapping[str, tuple[object, ...]]


def snapshot(root: Path) -> Snapshot:
    """What each path below a folder is: content and time of files, target of links; nothing is followed."""
    found: dict[str, tuple[object, ...]] = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            about = os.lstat(path)
            kind = stat.S_IFMT(about.st_mode)
            key = os.path.relpath(path, root)
            if stat.S_ISREG(about.st_mode):
                with open(path, "rb") as file:
                    content = hashlib.file_digest(file, "sha1").hexdigest() if about.st_size < 2**26 else about.st_size
                found[key] = (kind, about.st_mode, about.st_mtime_ns, content)
            elif stat.S_ISLNK(about.st_mode):
                found[key] = (kind, os.readlink(path))
            else:
                found[key] = (kind,)
    return found


def changes(before: Snapshot, after: Snapshot, allowed: Sequence[str] = ()) -> list[str]:
    """Paths that are new, gone or different, except those below the allowed ones."""

    def is_allowed(path: str) -> bool:
        return any(path == one or path.startswith(one + "/") for one in allowed)

    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path) and not is_allowed(path))


def verdict(run: Run, changed: Sequence[str] = (), codes: Sequence[int] = (0, 2)) -> str:
    """What is wrong with a run, the worst first; 'ok' if nothing is."""
    if run.stopped == "memory" or run.peak > TOO_LARGE:
        return "over 2 GiB"
    if run.stopped == "time" or run.cpu > TOO_SLOW:
        return "over 30 s"
    if run.code < 0 and run.code not in codes:
        return "crash"
    if b"Traceback (most recent call last)" in run.out + run.err:
        return "traceback"
    if run.code not in codes:
        return f"exit {run.code}"
    if changed:
        return "wrote outside"
    return "noise" if noise(run) else "ok"


def noise(run: Run) -> str:
    """What should not be printed: control characters, text that is not UTF-8, more than one sentence on stderr."""
    for name, content in (("stdout", run.out), ("stderr", run.err)):
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return f"{name} is not UTF-8"
        if any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in text):
            return f"{name} holds control characters"
    lines = [line for line in run.err.decode().splitlines() if not line.startswith((*_PROGRESS, *_STARTS))]
    if lines and lines[0].startswith("usage: "):
        lines = [line for line in lines if ": error: " in line]  # wrong options: argparse shows the usage first
    if run.code == 2 and not lines:
        return "no sentence on stderr"
    return "more than one sentence on stderr" if len(lines) > 1 else ""
