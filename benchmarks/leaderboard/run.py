"""Computes what the file of results lacks: one line of JSON per peer, case and repeat."""

from __future__ import annotations

import hashlib
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import numpy as np
from measuring import append, load, machine
from result_cells import SOURCE

from jella.metrics import accuracy, adjusted_rand, nmi
from leaderboard.case import Case

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
#: seconds that a peer may start, and seconds for one cell
START, LIMIT = 120.0, 600.0
Result = dict[str, Any]


def all_peers() -> dict[str, ModuleType]:
    """The peers by their names."""
    found = [import_module(f"leaderboard.peers.{one.name}") for one in iter_modules([str(HERE / "peers")])]
    return {peer.NAME: peer for peer in found}


def all_cases() -> dict[str, Case]:
    """The cases by their names."""
    found = [import_module(f"leaderboard.sets.{one.name}") for one in iter_modules([str(HERE / "sets")])]
    return {case.name: case for module in found for case in module.CASES}


def key(result: Result) -> tuple[Any, ...]:
    return result["set"], result["peer"], result["repeat"]


def source(peer: ModuleType) -> str:
    """What identifies the state of a peer: the digest of jella's source, or of the file of another peer."""
    if "jella" in peer.PACKAGES:
        return SOURCE
    return hashlib.sha256(Path(str(peer.__file__)).read_bytes()).hexdigest()[:8]


def drop_older(file: Path, peers: Iterable[ModuleType]) -> int:
    """Remove the lines of these peers that come from another state of their source; how many."""
    now = {peer.NAME: source(peer) for peer in peers}
    results = load(file)
    kept = [one for one in results if one["source"] == now.get(one["peer"], one["source"])]
    file.write_text("".join(json.dumps(one) + "\n" for one in kept))
    return len(results) - len(kept)


def fill(file: Path, peers: Iterable[ModuleType], cases: Iterable[Case], data: Path, limit: float = LIMIT) -> None:
    """Compute and append what the file lacks. After a failure, other repeats of the same cell are not tried."""
    cases = list(cases)
    for peer in peers:
        process = None
        for case in cases:
            before = [one for one in load(file) if (one["set"], one["peer"]) == (case.name, peer.NAME)]
            done = {one["repeat"] for one in before}
            failed = any("error" in one for one in before)
            for repeat in range(case.repeats):
                if repeat in done or failed:
                    continue
                if process is None:
                    process = Process(peer)
                result = compute(process, peer, case, repeat, data, limit)
                append(file, result)
                failed = "error" in result
                shown = result.get("error") or f"ACC {result['acc']:.3f}, NMI {result['nmi']:.3f}"
                print(
                    peer.NAME, "|", case.name, "|", repeat, "|", shown, f"in {result.get('seconds', 0)} s", flush=True
                )
        if process is not None:
            process.end()


def compute(process: Process, peer: ModuleType, case: Case, repeat: int, data: Path, limit: float) -> Result:
    """The scores of a peer on shuffled samples, or why there are none."""
    result = {"set": case.name, "peer": peer.NAME, "repeat": repeat, "seed": repeat}
    origin = {"source": source(peer), "revision": REVISION, "machine": machine()}
    if case.entries and not peer.ENTRIES:
        return {**result, "error": "does not apply: single entries are missing", **origin}
    views, y = case.read(data, repeat)
    views, y = shuffled(views, y, repeat)
    known = ~np.all([np.isnan(X).all(axis=1) for X in views], axis=0)
    answer = process.ask([X[known] for X in views], len(np.unique(y)), repeat, limit)
    labels = answer.pop("labels", None)
    if labels is not None:
        answer = scores(y, known, np.array(labels)) | answer
    return {**result, "n": y.size, "empty": int((~known).sum()), **answer, **origin}


def shuffled(views: list[np.ndarray], y: np.ndarray, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The samples in a random order, the same in all views and in the classes."""
    order = np.random.default_rng(seed).permutation(y.size)
    return [X[order] for X in views], y[order]


def scores(y: np.ndarray, known: np.ndarray, labels: np.ndarray) -> Result:
    """Over all samples, and over those with a value if there are others.

    A sample without any value is wrong in ACC, and one of one more cluster in NMI and ARI. In ACC that cluster could be
    matched with a class, if peers left one of theirs unmatched: that would be a gift.
    """
    every = np.full(y.size, -1)
    every[known] = labels
    found = {"acc": accuracy(y[known], labels) * known.mean(), "nmi": nmi(y, every), "ari": adjusted_rand(y, every)}
    if not known.all():
        y = y[known]
        found |= {"acc_known": accuracy(y, labels), "nmi_known": nmi(y, labels), "ari_known": adjusted_rand(y, labels)}
    return {name: round(float(score), 6) for name, score in found.items()} | {"clusters": len(np.unique(labels))}


def revision() -> str:
    """The last commit that changed the library or what computes results, and + if there are changes since."""
    places = ["src", "benchmarks/leaderboard", ":!benchmarks/leaderboard/page.py"]
    commit, changes = (
        subprocess.run(["git", *words, "--", *places], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        for words in (["log", "-1", "--format=%h"], ["status", "--porcelain"])
    )
    return (commit or "unknown") + "+" * bool(changes)


#: at import, since files may be edited during a run
REVISION = revision()


class Process:
    """A peer in a process of its own, with the interpreter of its environment, on one thread."""

    def __init__(self, peer: ModuleType) -> None:
        self.peer = peer
        self.running: subprocess.Popen[str] | None = None

    def ask(self, views: list[np.ndarray], k: int, seed: int, limit: float) -> Result:
        """The answer of `serve`, or an error."""
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "in.npz"
            np.savez(path, k=k, seed=seed, **{f"view_{v}": X for v, X in enumerate(views)})
            starts = self.running is None
            try:
                running = self.running = self.running or self._start()
                print(json.dumps({"source": str(path)}), file=running.stdin, flush=True)
                ready, _, _ = select.select([running.stdout], [], [], limit + START * starts)
                line = running.stdout.readline() if ready else None
            except OSError as error:
                line = ""
                reason = f"{type(error).__name__}: {error}"
            else:
                reason = "the process of the peer ended"
        if line:
            return json.loads(line)
        self.end()
        return {"error": f"no answer in {limit:.0f} s" if line is None else reason}

    def end(self) -> None:
        """End the process; the next question starts another."""
        if self.running is not None:
            self.running.kill()
            self.running.communicate()
            self.running = None

    def _start(self) -> subprocess.Popen[str]:
        environment = self.peer.ENVIRONMENT
        python = sys.executable if environment is None else str(ROOT / environment / "bin" / "python")
        one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        path = os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [python, "-m", "leaderboard.serve", self.peer.__name__.rpartition(".")[2]],
            stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **one_thread, "PYTHONPATH": path},
        )  # fmt: skip
