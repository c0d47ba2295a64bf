"""Time and memory of SparseBDR against the number of samples, step by step, beside the dense form and iMML.

Run: python benchmarks/scale.py [--sizes 10000 100000 1000000] [--dense 1000 2000 4000] [--imml-python PATH] [--draw]

Synthetic data: ten groups, two views of 50 features, single precision, 30 % missing in the incomplete-view setting.
A harder problem stands beside it: 40 groups that overlap, of 0.4 to 12 % of the samples each. Each fit stands beside a
fit to 20 000 of the samples that predicts the labels of the others.
Rank 20 (80 for 40 groups), 20 plain sweeps whatever the tolerance.
Seconds are processor time, with one thread of BLAS, so that other work
on the machine has little influence; on an idle machine they equal the time by the clock. Each size runs in a process of
its own, so that its peak memory is its own; results are appended to benchmarks/results/scale.jsonl, and --draw makes
table and picture from the file.

The bare products of a sweep are timed on the same data: those of data and bases (three per view), those of the affinity
in the conjugate gradients and the eigensolver, of rank-r matrices with each other, and the sampled products on the
support, as often as the sweep computes them. The time of a sweep beyond them is overhead.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from measuring import append, fastest, load, peak_gib

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "scale.jsonl"
K, HARD_K, WIDTHS, RANK, SWEEPS, RATE = 10, 40, (50, 50), 20, 20, 0.3


def make_views(n: int, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Ten groups in two incomplete views, made in single precision without temporaries of double size."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(K, size=n)
    lost = np.where(rng.random(n) < RATE, rng.integers(len(WIDTHS), size=n), -1)
    views = []
    for v, d in enumerate(WIDTHS):
        inner = rng.standard_normal((K, 8), dtype=np.float32) * 2.0
        spread = rng.standard_normal((8, d), dtype=np.float32)
        X = (inner[groups] + rng.standard_normal((n, 8), dtype=np.float32)) @ spread
        X += rng.standard_normal((n, d), dtype=np.float32)
        X[lost == v] = np.nan
        X[rng.random((n, d), dtype=np.float32) < RATE] = np.nan
        views.append(X)
    empty = np.isnan(views[0]).all(axis=1) & np.isnan(views[1]).all(axis=1)
    views[0][empty, 0] = 0.0
    return views, groups


def make_hard(n: int, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Forty groups that overlap, the largest thirty times as large as the smallest, in two incomplete views."""
    rng = np.random.default_rng(seed)
    sizes = np.geomspace(1.0, 30.0, HARD_K)
    groups = rng.choice(HARD_K, size=n, p=sizes / sizes.sum())
    lost = np.where(rng.random(n) < RATE, rng.integers(len(WIDTHS), size=n), -1)
    views = []
    for v, d in enumerate(WIDTHS):
        inner = rng.standard_normal((HARD_K, 12), dtype=np.float32) * 1.5
        spread = rng.standard_normal((12, d), dtype=np.float32)
        X = (inner[groups] + rng.standard_normal((n, 12), dtype=np.float32)) @ spread
        X += 2.0 * rng.standard_normal((n, d), dtype=np.float32)
        X[lost == v] = np.nan
        X[rng.random((n, d), dtype=np.float32) < RATE] = np.nan
        views.append(X)
    empty = np.isnan(views[0]).all(axis=1) & np.isnan(views[1]).all(axis=1)
    views[0][empty, 0] = 0.0
    return views, groups


def fit_some_and_predict(model: Any, views: list[np.ndarray], groups: np.ndarray) -> float:
    """The adjusted Rand index of a fit to at most 20 000 samples that predicts the labels of all."""
    from jella.metrics import adjusted_rand

    some = np.random.default_rng(1).permutation(len(groups))[:20_000]
    model.fit([view[some] for view in views])
    parts = np.array_split(np.arange(len(groups)), max(len(groups) // 50_000, 1))
    return float(adjusted_rand(groups, np.concatenate([model.predict([v[rows] for v in views]) for rows in parts])))


class Clock:
    """Adds up the seconds of named functions."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)

    @contextmanager
    def watch(self, *places: tuple[Any, str, str]) -> Iterator[None]:
        """Time functions while the block runs: (owner, attribute, name)."""
        originals = [(owner, attribute, getattr(owner, attribute)) for owner, attribute, _ in places]
        for owner, attribute, name in places:
            setattr(owner, attribute, self._timed(getattr(owner, attribute), name))
        try:
            yield
        finally:
            for owner, attribute, original in originals:
                setattr(owner, attribute, original)

    def _timed(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            started = time.process_time()
            try:
                return function(*args, **options)
            finally:
                self.seconds[name] += time.process_time() - started
                self.calls[name] += 1

        return timed


def measure(n: int, hard: bool = False) -> dict[str, Any]:
    """One fit with labels, its parts timed."""
    from result_cells import SOURCE
    from sklearn.base import clone

    import jella
    from jella.estimators import framework
    from jella.estimators.methods import sparse_bdr
    from jella.graphs.expected import FitExpected
    from jella.metrics import adjusted_rand
    from jella.problem.terms.block_diagonal import BlockDiagonal, SelfExpression
    from jella.problem.terms.sparse_block_diagonal import SparseBlockDiagonal
    from jella.readout import neighbours as readout
    from jella.solve import samples, solver
    from jella.solve.updates import Procrustes, Sylvester

    views, groups = make_hard(n) if hard else make_views(n)
    settings = {"n_components": 2 * HARD_K} if hard else {"n_components": RANK}
    model = jella.SparseBDR(
        HARD_K if hard else K, scale="standardize", view_weights=None, solver="basic", max_iter=SWEEPS, tol=0.0,
        random_state=0, **settings,
    )  # fmt: skip
    clock = Clock()
    places = (
        (sparse_bdr, "nearest", "neighbour search"),
        (framework, "make_start", "start"),
        (solver, "sweep", "sweeps"),
        (Procrustes, "minimise", "basis step"),
        (samples.RowsAt, "basis_sums", "products for the basis"),
        (samples, "embedding_with_completion", "products for the embedding"),
        (Sylvester, "minimise", "embedding step"),
        (SelfExpression, "matmul", "coupling products"),
        (SparseBlockDiagonal, "_affinity", "affinity step"),
        (BlockDiagonal, "_eigenvectors", "eigenvectors"),
        (solver, "evaluate", "residual and objective"),
        (readout, "dense_nearest", "label graph"),
        (readout, "confirmed_graph", "confirmed edges"),
        (readout, "graph_labels", "spectral labels"),
        (FitExpected, "nearest", "nearest landmarks"),
        (readout.NeighbourReadout, "tie", "samples tied to landmarks"),
    )
    started = time.process_time()
    with clock.watch(*places):
        model.fit(views)
    total = time.process_time() - started
    peak, some = peak_gib(), np.sort(model.readout_.known.places)
    return {
        "n": n,
        "form": "hard" if hard else "sparse",
        "source": SOURCE,
        "seconds": total,
        "parts": dict(clock.seconds),
        "calls": dict(clock.calls),
        "bare": bare_products(model, [view[some] for view in views], clock.calls),
        "pairs": int(model.affinity_.nnz // 2),
        "landmarks": str(model.landmarks_),
        "peak_gib": peak,
        "ari": adjusted_rand(groups, model.labels_),
        "ari_of_part": fit_some_and_predict(clone(model), views, groups),
        "sweeps": len(model.result_.sweeps),
    }


def bare_products(model: Any, views: list[np.ndarray], calls: dict[str, int]) -> float:
    """Seconds of the products that a sweep cannot avoid, each timed alone on arrays of the same sizes."""
    W = model.result_.blocks.embedding
    B, F = model.affinity_, model.result_.blocks.embedding_states[-1].indicator
    per_sweep = 1.0 / calls["sweeps"]
    n_coupling = calls["coupling products"] * per_sweep
    small = np.eye(W.shape[1], dtype=W.dtype)
    total = 0.0
    for X, U in zip(views, model.readout_.bases, strict=True):
        R = np.nan_to_num(X)
        total += _best(lambda R=R, U=U: R @ U) + _best(lambda R=R: R.T @ W) + _best(lambda U=U: W @ U.T)
    total += n_coupling * (2 * _best(lambda: B @ W) + 2 * _best(lambda: W.T @ W) + 2 * _best(lambda: W @ small))
    block = np.hstack([F, F])
    total += 3 * (
        _best(lambda: B @ block)
        + 3 * _best(lambda: block.T @ block)
        + 2 * _best(lambda: block @ block[: block.shape[1]])
    )
    coo = B.tocoo()
    upper = coo.coords[0] < coo.coords[1]
    i, j = coo.coords[0][upper], coo.coords[1][upper]
    total += _best(lambda: _sampled(W, i, j)) * 2 + _best(lambda: _sampled(F, i, j))
    return total


#: processor seconds of the fastest of three runs
_best = partial(fastest, repeats=3, clock=time.process_time)


def _sampled(W: np.ndarray, i: np.ndarray, j: np.ndarray) -> None:
    for start in range(0, i.size, 2**16):
        np.einsum("er,er->e", W[i[start : start + 2**16]], W[j[start : start + 2**16]])


def measure_dense(n: int) -> dict[str, Any]:
    """The dense form with the same settings."""
    import jella

    views, _ = make_views(n)
    model = jella.IMLBDR(
        K, n_components=RANK, basis="orthonormal", alpha=0.1, scale="standardize", solver="basic", max_iter=SWEEPS,
        tol=0.0, random_state=0,
    )  # fmt: skip
    started = time.process_time()
    model.fit(views)
    return {"n": n, "seconds": time.process_time() - started, "peak_gib": peak_gib(), "form": "dense"}


IMML = """
import sys, time, json, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
import numpy as np
from measuring import peak_gib
from scale import make_views, K
name, n = sys.argv[2], int(sys.argv[3])
views, _ = make_views(n)
import pandas as pd
for X in views:  # iMML's methods take whole views only
    X[np.isnan(X).any(axis=1) & (np.isnan(X).mean(axis=1) > 0.9)] = np.nan
    part = ~np.isnan(X).all(axis=1)
    X[part] = np.where(np.isnan(X[part]), np.nanmean(X, axis=0), X[part])
Xs = [pd.DataFrame(X.astype(float)) for X in views]
import imml.cluster
model = getattr(imml.cluster, name)(n_clusters=K, random_state=0)
started = time.process_time()
model.fit(Xs)
print(json.dumps({"n": n, "seconds": time.process_time() - started, "form": "iMML " + name,
                  "peak_gib": peak_gib()}))
"""


def in_process(command: list[str], limit: float = 3000.0) -> dict[str, Any] | None:
    """The JSON that a process prints last; None, with a message, where it failed or took too long."""
    try:
        one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, check=True, env={**os.environ, **one}
        )
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        print(f"{command[1:]}: {error!r}"[:300], (getattr(error, "stderr", "") or "")[-500:], flush=True)
        return None


def exponent(a: dict[str, Any], b: dict[str, Any], value: Callable[[dict[str, Any]], float]) -> float:
    return float(np.log(value(b) / value(a)) / np.log(b["n"] / a["n"]))


def report(results: list[dict[str, Any]]) -> str:
    """Table of the parts, exponents, overhead."""
    latest = {(r.get("form", "sparse"), r["n"]): r for r in results}
    ours = [r for (form, _), r in sorted(latest.items(), key=lambda item: item[0][1]) if form == "sparse"]
    parts = [
        "neighbour search", "start", "basis step", "products for the basis", "products for the embedding",
        "embedding step", "affinity step", "eigenvectors", "residual and objective", "label graph", "confirmed edges",
        "spectral labels", "samples tied to landmarks",
    ]  # fmt: skip
    lines = [f"{'part (s)':30s}" + "".join(f"{r['n']:>12,d}" for r in ours)]
    lines += [f"{part:30s}" + "".join(f"{r['parts'].get(part, 0.0):12.2f}" for r in ours) for part in parts]
    lines += [f"{'all sweeps':30s}" + "".join(f"{r['parts']['sweeps']:12.2f}" for r in ours)]
    lines += [f"{'whole fit with labels':30s}" + "".join(f"{r['seconds']:12.2f}" for r in ours)]
    lines += [f"{'one sweep':30s}" + "".join(f"{r['parts']['sweeps'] / r['calls']['sweeps']:12.3f}" for r in ours)]
    lines += [f"{'its bare products':30s}" + "".join(f"{r['bare']:12.3f}" for r in ours)]
    ratios = [r["parts"]["sweeps"] / r["calls"]["sweeps"] / r["bare"] for r in ours]
    lines += [f"{'ratio':30s}" + "".join(f"{ratio:12.2f}" for ratio in ratios)]
    lines += [f"{'peak memory (GiB)':30s}" + "".join(f"{r['peak_gib']:12.2f}" for r in ours)]
    lines += [f"{'pairs':30s}" + "".join(f"{r['pairs']:12,d}" for r in ours)]
    lines += [f"{'ARI':30s}" + "".join(f"{r['ari']:12.3f}" for r in ours)]
    lines += [f"{'ARI, 20,000 fitted, all predicted':30s}" + "".join(f"{r.get('ari_of_part', 0):12.3f}" for r in ours)]
    for a, b in pairwise(ours):
        of_sweeps = exponent(a, b, lambda r: r["parts"]["sweeps"])
        whole = exponent(a, b, lambda r: r["seconds"])
        lines.append(f"growth from {a['n']:,} to {b['n']:,}: sweeps n^{of_sweeps:.2f}, whole fit n^{whole:.2f}")
    lines += [
        f"40 unequal groups    n {n:9,d}: {r['seconds']:9.1f} s, {r['peak_gib']:.2f} GiB, ARI {r['ari']:.3f}; "
        f"20,000 fitted, all predicted: {r['ari_of_part']:.3f}"
        for (form, n), r in sorted(latest.items())
        if form == "hard"
    ]
    for (form, n), r in sorted(latest.items()):
        if form not in ("sparse", "hard"):
            lines.append(f"{form:20s} n {n:9,d}: {r['seconds']:9.1f} s, {r['peak_gib']:.2f} GiB")
    return "\n".join(lines)


def draw(results: list[dict[str, Any]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    latest = {(r.get("form", "sparse"), r["n"]): r for r in results}
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8))
    names = {"sparse": "SparseBDR", "hard": "SparseBDR, 40 groups", "dense": "dense form (IMLBDR)"}
    for form, marker in zip(sorted({form for form, _ in latest}, reverse=True), "os^vD", strict=False):
        points = sorted((n, r["seconds"], r["peak_gib"]) for (f, n), r in latest.items() if f == form)
        n, seconds, peak = zip(*points, strict=True)
        axes[0].loglog(n, seconds, marker=marker, label=names.get(form, form))
        axes[1].loglog(n, peak, marker=marker)
    axes[0].set(xlabel="samples", ylabel="processor seconds, whole fit with labels")
    axes[1].set(xlabel="samples", ylabel="peak memory (GiB)")
    axes[0].legend()
    for axis in axes:
        axis.grid(alpha=0.3)
    figure.suptitle("Two views of 50 features, 30 % missing, rank 20, 20 sweeps")
    figure.tight_layout()
    figure.savefig(RESULTS / "scale.png", dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--dense", type=int, nargs="*", default=[1000, 2000, 4000, 8000])
    parser.add_argument("--imml-python", default=None)
    parser.add_argument("--imml-sizes", type=int, nargs="*", default=[1000, 2000, 4000, 8000])
    parser.add_argument("--one", type=int, help="measure this size in this process and print JSON")
    parser.add_argument("--one-dense", type=int)
    parser.add_argument("--one-hard", type=int)
    parser.add_argument("--draw", action="store_true")
    chosen = parser.parse_args()
    if chosen.one or chosen.one_hard or chosen.one_dense:
        hard, n = chosen.one_hard is not None, chosen.one or chosen.one_hard
        print(json.dumps(measure(n, hard) if n else measure_dense(chosen.one_dense)))
        return
    if not chosen.draw:
        commands = [[sys.executable, __file__, kind, str(n)] for n in chosen.sizes for kind in ("--one", "--one-hard")]
        commands += [[sys.executable, __file__, "--one-dense", str(n)] for n in chosen.dense]
        if chosen.imml_python:
            here = str(Path(__file__).parent)
            commands += [
                [chosen.imml_python, "-c", IMML, here, name, str(n)]
                for n in chosen.imml_sizes
                for name in ("NEMO", "DAIMC")
            ]
        for command in commands:
            found = in_process(command)
            if found is not None:
                append(FILE, found)
                print(
                    {key: found[key] for key in ("n", "seconds", "peak_gib")}, found.get("form", "sparse"), flush=True
                )
    results = load(FILE)
    text = report(results)
    (RESULTS / "scale.txt").write_text(text + "\n")
    print(text)
    draw(results)


if __name__ == "__main__":
    main()
