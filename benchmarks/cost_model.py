"""What a sweep costs, from a few measured constants: predictions beside what was run, and on to a billion samples.

Run: python benchmarks/cost_model.py [--draw]

Measures the constants on this machine (one thread; the best of several runs), predicts seconds a sweep for each method,
and of the search for neighbours, and compares with what is run here. How many steps conjugate gradients and the
eigensolver take, and how many pairs a graph has, only a run can tell: they are counted in the sweep that is compared.
Figures go to benchmarks/results/cost_model.json; --draw writes the tables of docs/results/how-big.md from it without
measuring. Predictions are per core and add up over chunks; a sweep over several workers takes the sum over them, and
the messages of the slowest link.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import math
import platform
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scale import Clock, make_views
from scipy import sparse

import jella
from jella import eigen
from jella.cells import CELL_SIZE, MAX_CELLS
from jella.neighbours import PROBES, nearest, symmetric_support
from jella.terms.block_diagonal import SelfExpression
from jella.terms.learned_graph import Laplacian
from jella.views.read import read_views

HERE = Path(__file__).parent
FILE, PAGE = HERE / "results" / "cost_model.json", HERE.parent / "docs" / "results" / "how-big.md"
D, R, V, Q, K = 100, 10, 2, 10, 10  # features, components, views, neighbours, clusters
WORD, MASK, INDEX = 8, 1, 4  # bytes
SWEEPS = 6
SIZES = (10**6, 10**8, 10**9)
#: what is run, and at which sizes
RUNS = {
    **dict.fromkeys(("MVLIV", "PVC, DAIMC", "IRMKMC", "SparseBDR"), (20_000, 200_000)),
    **dict.fromkeys(("IMLBDR", "IMG"), (1000, 4000)),
}
SEARCH, SEARCHED = "search for neighbours", (50_000, 200_000)
#: the most steps of the eigensolver that SparseBDR takes in a sweep: what extrapolations count with
MOST_EIGEN_STEPS = 3
#: a node of the extrapolation
CORES, NODE_GIB, NETWORK = 16, 64.0, 1.25e9  # bytes a second: ten gigabits
CHUNK = 500_000
#: arrays up to this size come out of memory that the process had before; larger ones are new from the system
REUSED = 2**25


@dataclass(frozen=True)
class Constants:
    """What was measured: operations and bytes a second of one core, seconds of a task."""

    flops: float  # of the products that a sweep makes of data, bases and embedding, out of memory
    large: float  # of large products
    bytes: float  # read from memory
    fresh: float  # bytes of memory that is new from the system
    gathered: float  # numbers that a sparse product takes out of the rows of near samples
    sorted: float  # numbers of a row that is sorted, times the logarithm (to base 2) of its length
    task: float  # seconds of the scheduler for a task


def best(function: Callable[[], Any], times: int = 7) -> float:
    seconds = []
    for _ in range(times):
        started = time.process_time()
        function()
        seconds.append(time.process_time() - started)
    return min(seconds)


def measure() -> Constants:
    rng = np.random.default_rng(0)
    big, row = np.ones(2**25), rng.standard_normal((500, 4000))
    left, candidates = rng.standard_normal((170, 4 * D)), rng.standard_normal((6000, 4 * D))
    graph, W = _near_graph(rng, 100_000), rng.standard_normal((100_000, R))
    return Constants(
        flops=_rate_of_products(rng),
        large=2 * left.size * len(candidates) / best(lambda: left @ candidates.T),
        bytes=big.nbytes / best(lambda: np.add.reduce(big)),
        fresh=8 * 2**24 / best(lambda: np.ones(2**24)),
        gathered=graph.nnz * R / best(lambda: graph @ W),
        sorted=row.size * math.log2(row.shape[1]) / best(lambda: np.sort(row, axis=1, kind="stable")),
        task=_task_seconds(),
    )


def _rate_of_products(rng: np.random.Generator) -> float:
    """Operations a second of X U, Xᵀ W and W Uᵀ, one of each, with more data than the cache holds."""
    X, U, W = (rng.standard_normal(shape) for shape in ((100_000, D // V), (D // V, R), (100_000, R)))
    room = np.empty_like(X)
    return 3 * 2 * X.size * R / best(lambda: (X @ U, X.T @ W, np.matmul(W, U.T, out=room)))


def _near_graph(rng: np.random.Generator, n: int) -> sparse.csr_array:
    """Neighbours among the nearest two thousand rows, as in sweeps that have near samples next to each other."""
    columns = (np.arange(n)[:, None] + rng.integers(-1000, 1000, size=(n, 17))) % n
    starts = np.arange(0, columns.size + 1, 17, dtype=np.int32)
    return sparse.csr_array((np.ones(columns.size), columns.ravel().astype(np.int32), starts), shape=(n, n))


def _task_seconds() -> float:
    """Seconds a task takes of a local cluster's scheduler, client and worker, without any work in it."""
    import dask
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        step = dask.delayed(abs, pure=False)
        dask.compute(*[step(-1) for _ in range(100)])
        started = time.perf_counter()
        dask.compute(*[step(-1) for _ in range(2000)])
        return (time.perf_counter() - started) / 2000


@dataclass(frozen=True)
class Cost:
    """All a sample: operations, bytes through memory, bytes kept; the rest as in Constants."""

    flops: float = 0.0
    traffic: float = 0.0
    kept: float = 0.0
    gathered: float = 0.0
    fresh: float = 0.0
    sorted: float = 0.0
    large: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def seconds(self, constants: Constants, n: float) -> float:
        """Of one core."""
        rates = {**asdict(constants), "traffic": constants.bytes}
        return n * sum(value / rates[name] for name, value in asdict(self).items() if name != "kept")

    def gib(self, n: float) -> float:
        """What is kept of all samples."""
        return self.kept * n / 2**30


@dataclass(frozen=True)
class Steps:
    """What only a run tells: products with what couples samples, steps of the eigensolver (a sweep); pairs a sample."""

    products: float = 0.0
    eigen: float = 0.0
    pairs: float = 0.0


def costs(n: int, steps: Steps) -> dict[str, Cost]:
    """A sweep in double precision with missing entries (IRMKMC: missing views): see docs/how-big.md."""
    entries = D * (WORD + MASK)
    by_row = Cost(6 * D * R + 4 * R * R, entries + (3 * D + 6 * R) * WORD)
    return {
        "MVLIV": by_row + Cost(kept=entries + (D + 4 * R) * WORD),
        "MVLIV, in chunks": Cost(8 * D * R + 4 * R * R, 2 * entries + 4 * R * WORD, entries + 2 * R * WORD),
        "PVC, DAIMC": by_row + Cost(36 * R * R, 54 * R * WORD, entries + D * WORD),
        "IRMKMC": Cost(8 * D * R, (4 * D + 3 * V * R * R) * WORD, (D + 4 * R) * WORD),
        "SparseBDR": by_row + Cost(kept=2 * entries + 4 * D * WORD) + _sparse_blocks(steps),
        "IMLBDR": by_row + _dense_blocks(n, steps),
        "IMG": by_row + _learned_graph(n, steps),
    }


def _sparse_blocks(steps: Steps) -> Cost:
    """What SparseBDR does beside the products with the data, all of it where the embedding is."""
    c, e, m = astuple(steps)
    return _of_embedding(steps) + Cost(
        traffic=25 * m * WORD,  # the affinity, pair by pair
        kept=Q * (WORD + 3 * INDEX) + m * (12 * WORD + 14 * INDEX),
        gathered=m * (4 * c * R + 4 * e * K + 6 * R + 4 * K),
    )


def _dense_blocks(n: int, steps: Steps) -> Cost:
    c, e, _ = astuple(steps)
    return _of_embedding(steps) + Cost(
        n * (4 * c * R + 4 * e * K + 6 * R + 4 * K), n * (2 * c + e + 40) * WORD, 3 * n * WORD, fresh=_new(n, 1)
    )


def _learned_graph(n: int, steps: Steps) -> Cost:
    c = steps.products
    return _of_embedding(replace(steps, eigen=0.0)) + Cost(
        n * (4 * c * R + 2 * R), n * (4 * c + 34) * WORD, 8 * n * WORD, fresh=_new(n, 8), sorted=n * math.log2(n)
    )


def _of_embedding(steps: Steps) -> Cost:
    """Arrays of n rows in conjugate gradients (rank r) and in the eigensolver (k columns, then 2k more)."""
    c, e, _ = astuple(steps)
    return Cost(
        (8 * c + 14) * R * R + (80 * e + 12) * K * K, ((30 * c + 20) * R + (70 * e + 27) * K) * WORD, 16 * R * WORD
    )


def _new(n: int, arrays: int) -> float:
    """Bytes of new memory a sample for n x n arrays."""
    return arrays * n * WORD if n * n * WORD > REUSED else 0.0


def search_cost(n: int) -> Cost:
    """Of the search for neighbours over shared entries: distances in blocks, and factors of a cell's candidates."""
    size = max(CELL_SIZE, n / MAX_CELLS)
    while size > 4 * CELL_SIZE:  # such cells are split in halves
        size /= 2
    candidates = PROBES * size
    return Cost(large=2 * candidates * 4 * D, traffic=(8 * candidates + 8 * PROBES * 4 * D) * WORD)


class Enough(Exception):
    """All sweeps were seen; labels are not of interest."""


def make_model(name: str) -> Any:
    options: dict[str, Any] = {"max_iter": SWEEPS, "tol": 0.0, "random_state": 0}
    if name == "IRMKMC":
        return jella.IRMKMC(R, **options)
    options |= {"n_components": R, "solver": "basic"}
    if name in ("MVLIV", "PVC, DAIMC"):
        return jella.MVLIV(**options) if name == "MVLIV" else jella.DAIMC(**options)
    if name == "SparseBDR":
        return jella.SparseBDR(K, n_neighbors=Q, scale="standardize", view_weights=None, **options)
    return jella.IMG(K, **options) if name == "IMG" else jella.IMLBDR(K, basis="orthonormal", **options)


def run_sweeps(name: str, n: int) -> tuple[float, Steps]:
    """Seconds of the fastest sweep on one core, in memory, and its steps."""
    X = [view.astype(np.float64) for view in make_views(n)[0]]
    if name == "IRMKMC":
        X = [np.where(np.isnan(view).all(axis=1, keepdims=True), np.nan, np.nan_to_num(view)) for view in X]
    if name == "PVC, DAIMC":
        X = [np.abs(view) for view in X]
    model, clock, at = make_model(name), Clock(), []

    def told(progress: Any) -> None:
        at.append((time.process_time(), clock.calls["products"], clock.calls["eigen"]))
        if progress.n_iter == SWEEPS:
            raise Enough

    counted = (SelfExpression, "matmul", "products"), (Laplacian, "matmul", "products"), (eigen, "_complement", "eigen")
    model.set_params(callback=told)
    with warnings.catch_warnings(), clock.watch(*counted), suppress(Enough):
        warnings.simplefilter("ignore")
        model.fit(X)
    seconds, products, steps = min(np.diff(at, axis=0).tolist())
    pairs = symmetric_support(model.graph_).nnz / (2 * n) if name == "SparseBDR" else 0.0
    return seconds, Steps(products, steps, pairs)


def run_search(n: int) -> float:
    views = read_views([view.astype(np.float64) for view in make_views(n)[0]])
    return best(lambda: nearest(views, Q), times=1)


def compare(constants: Constants) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, sizes in RUNS.items():
        for n in sizes:
            ran, steps = run_sweeps(name, n)
            predicted = costs(n, steps)[name].seconds(constants, n)
            rows.append({"method": name, "n": n, "run": ran, "predicted": predicted, "steps": asdict(steps)})
            print(rows[-1], flush=True)
    for n in SEARCHED:
        rows.append({"method": SEARCH, "n": n, "run": run_search(n), "steps": asdict(Steps())})
        rows[-1]["predicted"] = search_cost(n).seconds(constants, n)
        print(rows[-1], flush=True)
    return rows


def nodes_for(gib: float) -> int:
    """Nodes that hold data of this size in half of their memory."""
    return max(1, int(np.ceil(gib / (0.5 * NODE_GIB))))


def by_sample_row(constants: Constants, name: str, n: int, factor: float) -> str:
    """Nodes that hold the data, and seconds a sweep on them, the messages of chunks included."""
    cost = costs(n, Steps())[name]
    workers = nodes_for(cost.gib(n)) * CORES
    scheduling = 3 * n / CHUNK * constants.task
    message = WORD * (2 * D * R + R * R) * workers
    seconds = factor * (cost.seconds(constants, n) / workers + message / NETWORK) + scheduling
    return (
        f"| {name} | {_power(n)} | {cost.gib(n):,.1f} GiB | {nodes_for(cost.gib(n))} | {seconds:,.1f} | "
        f"{scheduling:,.1f} |"
    )


def sparse_row(constants: Constants, steps: Steps, n: int, factors: dict[str, float]) -> str:
    """Data on the nodes, graph and embedding with one client, between them n x r numbers three times a sweep."""
    data, here = D * (WORD + MASK) * n / 2**30, _sparse_blocks(steps)
    workers = nodes_for(data) * CORES
    search = factors[SEARCH] * search_cost(n).seconds(constants, n) / workers
    row = f"| {_power(n)} | {data:,.1f} GiB | {nodes_for(data)} | {here.gib(n):,.1f} GiB | {search:,.0f} | "
    if here.gib(n) > NODE_GIB:
        return row + f"-: the client would need {here.gib(n):,.0f} GiB | - | - |"
    passes = factors["MVLIV"] * costs(n, steps)["MVLIV, in chunks"].seconds(constants, n) / workers
    messages, scheduling = 3 * n * R * WORD / NETWORK, 4 * n / CHUNK * constants.task
    seconds = factors["SparseBDR"] * here.seconds(constants, n) + passes + messages + scheduling
    return row + f"{seconds:,.1f} | {messages:,.1f} | {scheduling:,.2f} |"


def dense_rows(constants: Constants, name: str, steps: Steps, factor: float) -> list[str]:
    """Where a node's memory ends, and how far beyond it the sizes of the other tables are."""
    last = int(np.sqrt(NODE_GIB / costs(10**6, steps)[name].gib(10**6)) * 10**3) * 10**3
    cost = costs(last, steps)[name]
    ends = f"| {name} | {last:,} | {cost.gib(last):,.0f} GiB | {factor * cost.seconds(constants, last):,.0f} |"
    return [ends] + [
        f"| {name} | {_power(n)} | {costs(n, steps)[name].gib(n) / 1024:,.0f} TiB | -: out of reach |" for n in SIZES
    ]


def _power(n: int) -> str:
    return f"10^{round(np.log10(n))}"


def draw(stored: dict[str, Any]) -> str:
    constants, rows = Constants(**stored["constants"]), stored["rows"]
    factors = {
        name: max(row["run"] / row["predicted"] for row in rows if row["method"] == name) for name in (*RUNS, SEARCH)
    }
    steps = {row["method"]: Steps(**row["steps"]) for row in rows}  # the last of a method is the largest
    parts = [
        _measured(stored, constants),
        _compared(rows),
        _by_sample(constants, factors),
        _sparse(constants, replace(steps["SparseBDR"], eigen=MOST_EIGEN_STEPS), factors),
        _dense(constants, steps, factors),
    ]
    return "\n".join("\n".join([*part, ""]) for part in parts).rstrip() + "\n"


def _measured(stored: dict[str, Any], constants: Constants) -> list[str]:
    return [
        "# How big: constants, what was run, what follows",
        "",
        f"Written by `python benchmarks/cost_model.py` ({stored['machine']}, {stored['date']}). {V} views of {D // V}",
        f"features, rank {R}, {K} clusters, {Q} neighbours, double precision, 30 % missing.",
        "",
        "| constant of one core | measured |",
        "|---|---|",
        f"| products of data, bases and embedding, out of memory | {constants.flops / 1e9:.1f} GFLOP/s |",
        f"| large products | {constants.large / 1e9:.1f} GFLOP/s |",
        f"| reading memory | {constants.bytes / 1e9:.1f} GB/s |",
        f"| writing memory that is new from the system | {constants.fresh / 1e9:.1f} GB/s |",
        f"| sparse products: numbers from rows of near samples | {constants.gathered / 1e9:.2f} G/s |",
        f"| sorting: numbers × log₂ of how many together | {constants.sorted / 1e9:.2f} G/s |",
        f"| a task of the scheduler | {constants.task * 1e3:.2f} ms |",
    ]


def _compared(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "Run: one core, in memory, seconds of the fastest of five sweeps; the search for neighbours once. Steps are",
        "those of that sweep: c products with what couples the samples, e steps of the eigensolver.",
        "",
        "| method | n | c | e | pairs a sample | run | predicted | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        steps, coupled = Steps(**row["steps"]), row["method"] in ("SparseBDR", "IMLBDR", "IMG")
        counts = f"{steps.products:.0f} | {steps.eigen:.0f}" if coupled else " | "
        pairs = f"{steps.pairs:.1f}" if steps.pairs else ""
        lines.append(
            f"| {row['method']} | {row['n']:,} | {counts} | {pairs} | {row['run']:.4f} | {row['predicted']:.4f} | "
            f"{row['run'] / row['predicted']:.2f} |"
        )
    return lines


def _by_sample(constants: Constants, factors: dict[str, float]) -> list[str]:
    lines = [
        f"**Extrapolated**, not run: nodes of {CORES} cores and {NODE_GIB:.0f} GiB, half of it for data, ten gigabits",
        f"between them, chunks of {CHUNK:,} samples, three tasks a chunk and sweep. Predictions are multiplied by the",
        "largest ratio of the table above for the method, here and below.",
        "",
        "| method | samples | data and model | nodes | seconds a sweep | of it scheduling |",
        "|---|---|---|---|---|---|",
    ]
    for name in ("MVLIV, in chunks", "PVC, DAIMC", "IRMKMC"):
        lines += [by_sample_row(constants, name, n, factors[name.split(", in")[0]]) for n in SIZES]
    return lines


def _sparse(constants: Constants, steps: Steps, factors: dict[str, float]) -> list[str]:
    most = int(NODE_GIB / _sparse_blocks(steps).gib(10**6))
    return [
        "**Extrapolated**, not run: `SparseBDR` on Dask. The data are on the nodes, which pass over them twice a",
        "sweep; graph, affinity and embedding are with one client, on one core of a node. n × r numbers go out through",
        "its link twice and come back once; four tasks a chunk and sweep. The client counts with the steps and pairs",
        f"of the largest run and {steps.eigen:.0f} steps of the eigensolver, the most there are; its memory is full",
        f"at {most} million samples. The search is the one over all views, on the nodes, without what travels for it",
        "and without making the cells.",
        "",
        "| samples | data | nodes for them | client | search, once (s) | seconds a sweep | messages | scheduling |",
        "|---|---|---|---|---|---|---|---|",
        *[sparse_row(constants, steps, n, factors) for n in (10**6, 10**7, *SIZES[1:])],
    ]


def _dense(constants: Constants, steps: dict[str, Steps], factors: dict[str, float]) -> list[str]:
    return [
        "**Extrapolated**, not run: methods with an n × n matrix, in memory on one core of one node, up to where the",
        "memory of the node ends, with the steps of the largest run.",
        "",
        "| method | samples | memory | seconds a sweep |",
        "|---|---|---|---|",
        *[row for name in ("IMLBDR", "IMG") for row in dense_rows(constants, name, steps[name], factors[name])],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    if not options.draw:
        constants = measure()
        print(constants, flush=True)
        stored = {
            "constants": asdict(constants),
            "rows": compare(constants),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            "date": time.strftime("%Y-%m-%d"),
        }
        FILE.write_text(json.dumps(stored, indent=1) + "\n")
    PAGE.write_text(draw(json.loads(FILE.read_text())))
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
