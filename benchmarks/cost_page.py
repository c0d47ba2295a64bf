"""The page of the cost model: constants, runs beside predictions, and extrapolations to more samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from cost_formulas import MASK, WORD, Constants, D, K, Q, R, Steps, V, costs, tying_cost

from jella.estimators.landmarks import LANDMARKS

SIZES = (10**6, 10**8, 10**9)
#: what is measured besides sweeps: a search among all, a fit of all landmarks with labels, a sample tied to them
SEARCH, FIT, TYING = "search for neighbours", "fit to the landmarks, with labels", "tying samples to landmarks"
#: bytes of a client besides landmarks and masks, as `dask_landmarks.py` found them
BARE = 0.7 * 2**30
#: a node of the extrapolation
CORES, NODE_GIB, NETWORK = 16, 64.0, 1.25e9  # bytes per second: ten gigabits
CHUNK = 500_000


def nodes_for(gib: float) -> int:
    """Nodes that hold data of this size in half of their memory."""
    return max(1, int(np.ceil(gib / (0.5 * NODE_GIB))))


def by_sample_row(constants: Constants, name: str, n: int, factor: float) -> str:
    """Nodes that hold the data, and seconds per sweep on them, including the messages of chunks."""
    cost = costs(n, Steps())[name]
    workers = nodes_for(cost.gib(n)) * CORES
    scheduling = 3 * n / CHUNK * constants.task
    message = WORD * (2 * D * R + R * R) * workers
    seconds = factor * (cost.seconds(constants, n) / workers + message / NETWORK) + scheduling
    return (
        f"| {name} | {_power(n)} | {cost.gib(n):,.1f} GiB | {nodes_for(cost.gib(n))} | {seconds:,.1f} | "
        f"{scheduling:,.1f} |"
    )


def sparse_row(constants: Constants, n: int, factor: float, fit: float) -> str:
    """Data on the nodes, landmarks and what is known of all samples on the client; two passes, then the labels."""
    data = D * (WORD + MASK) * n / 2**30
    client = (BARE + V * MASK * n + 12 * LANDMARKS * D * WORD) / 2**30
    workers = nodes_for(data) * CORES
    passes = 2 * D * (WORD + MASK) * n / constants.bytes / workers
    labels = factor * tying_cost().seconds(constants, n) / workers
    scheduling = 3 * n / CHUNK * constants.task
    return (
        f"| {_power(n)} | {data:,.1f} GiB | {nodes_for(data)} | {client:,.1f} GiB | {fit + passes + scheduling:,.0f} | "
        f"{labels + scheduling:,.0f} | {scheduling:,.1f} |"
    )


def dense_rows(constants: Constants, name: str, steps: Steps, factor: float) -> list[str]:
    """The largest sizes that fit into a node's memory, and what the sizes of the other tables would need."""
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
    steps = {row["method"]: Steps(**row["steps"]) for row in rows}  # the last of a method is the largest
    factors = {
        name: max(row["run"] / row["predicted"] for row in rows if row["method"] == name and row["predicted"])
        for name in steps
        if name != FIT
    }
    fit = next(row["run"] for row in rows if row["method"] == FIT)
    parts = [
        _measured(stored, constants),
        _compared(rows),
        _by_sample(constants, factors),
        _sparse(constants, factors[TYING], fit),
        _dense(constants, steps, factors),
    ]
    return "\n".join("\n".join([*part, ""]) for part in parts).rstrip() + "\n"


def _measured(stored: dict[str, Any], constants: Constants) -> list[str]:
    return [
        "# How large can the data be: constants, runs, extrapolations",
        "",
        f"Written by `python benchmarks/cost_model.py` ({stored['machine']}, {stored['date']}). {V} views of {D // V}",
        f"features, rank {R}, {K} clusters, {Q} neighbours, double precision, 30 % missing.",
        "",
        "| constant of one core | measured |",
        "|---|---|",
        f"| products of data, bases and embedding, out of memory | {constants.flops / 1e9:.1f} GFLOP/s |",
        f"| large products | {constants.large / 1e9:.1f} GFLOP/s |",
        f"| large products in single precision | {constants.single / 1e9:.1f} GFLOP/s |",
        f"| reading memory | {constants.bytes / 1e9:.1f} GB/s |",
        f"| writing memory that is new from the system | {constants.fresh / 1e9:.1f} GB/s |",
        f"| sparse products: numbers from rows of near samples | {constants.gathered / 1e9:.2f} G/s |",
        f"| sorting: numbers × log₂ of how many together | {constants.sorted / 1e9:.2f} G/s |",
        f"| a task of the scheduler | {constants.task * 1e3:.2f} ms |",
    ]


def _compared(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "Run: one core, in memory, seconds of the fastest of five sweeps; the search for neighbours once. Steps are",
        "those of that sweep: c products with what couples the samples, e steps of the eigensolver. A whole fit to the",
        "landmarks is not predicted.",
        "",
        "| method | n | c | e | pairs per sample | run | predicted | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        steps, coupled = Steps(**row["steps"]), row["method"] in ("SparseBDR", "IMLBDR", "IMG")
        counts = f"{steps.products:.0f} | {steps.eigen:.0f}" if coupled else " | "
        pairs = f"{steps.pairs:.1f}" if steps.pairs else ""
        predicted = f"{row['predicted']:.4f} | {row['run'] / row['predicted']:.2f}" if row["predicted"] else " | "
        lines.append(f"| {row['method']} | {row['n']:,} | {counts} | {pairs} | {row['run']:.4f} | {predicted} |")
    return lines


def _by_sample(constants: Constants, factors: dict[str, float]) -> list[str]:
    lines = [
        f"**Extrapolated**, not run: nodes of {CORES} cores and {NODE_GIB:.0f} GiB, half of it for data, ten gigabits",
        f"between them, chunks of {CHUNK:,} samples, three tasks per chunk and sweep. Predictions are multiplied by",
        "the largest ratio of the table above for the method, in this table and those below.",
        "",
        "| method | samples | data and model | nodes | seconds per sweep | of it scheduling |",
        "|---|---|---|---|---|---|",
    ]
    for name in ("MVLIV, in chunks", "PVC, DAIMC", "IRMKMC"):
        lines += [by_sample_row(constants, name, n, factors[name.split(", in")[0]]) for n in SIZES]
    return lines


def _sparse(constants: Constants, factor: float, fit: float) -> list[str]:
    return [
        f"**Extrapolated**, not run: `SparseBDR` on Dask, with {LANDMARKS:,} landmarks. The data are on the nodes,",
        "which read them twice for the landmarks and once for labels or embedding. The client fits the landmarks on",
        "one core and holds them, and a byte per sample and view. All other work is of the nodes; three tasks per",
        "chunk and pass.",
        "",
        "| samples | data | nodes for them | client | fit (s) | labels of all (s) | scheduling |",
        "|---|---|---|---|---|---|---|",
        *[sparse_row(constants, n, factor, fit) for n in (10**6, 10**7, *SIZES[1:])],
    ]


def _dense(constants: Constants, steps: dict[str, Steps], factors: dict[str, float]) -> list[str]:
    return [
        "**Extrapolated**, not run: methods with an n × n matrix, in memory on one core of one node, up to where the",
        "memory of the node ends, with the steps of the largest run.",
        "",
        "| method | samples | memory | seconds per sweep |",
        "|---|---|---|---|",
        *[row for name in ("IMLBDR", "IMG") for row in dense_rows(constants, name, steps[name], factors[name])],
    ]
