"""The page of the cost model: constants, runs beside predictions, and extrapolations to more samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from cost_formulas import MASK, WORD, Constants, D, K, Q, R, Steps, V, costs, search_cost, sparse_blocks

SIZES = (10**6, 10**8, 10**9)
SEARCH = "search for neighbours"
#: the most steps of the eigensolver that SparseBDR takes in a sweep: what extrapolations count with
MOST_EIGEN_STEPS = 3
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


def sparse_row(constants: Constants, steps: Steps, n: int, factors: dict[str, float]) -> str:
    """Data on the nodes, graph and embedding on one client; n x r numbers are sent three times per sweep."""
    data, here = D * (WORD + MASK) * n / 2**30, sparse_blocks(steps)
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
    factors = {name: max(row["run"] / row["predicted"] for row in rows if row["method"] == name) for name in steps}
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
        "# How large can the data be: constants, runs, extrapolations",
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
        "| method | n | c | e | pairs per sample | run | predicted | ratio |",
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
        f"between them, chunks of {CHUNK:,} samples, three tasks per chunk and sweep. Predictions are multiplied by",
        "the largest ratio of the table above for the method, in this table and those below.",
        "",
        "| method | samples | data and model | nodes | seconds per sweep | of it scheduling |",
        "|---|---|---|---|---|---|",
    ]
    for name in ("MVLIV, in chunks", "PVC, DAIMC", "IRMKMC"):
        lines += [by_sample_row(constants, name, n, factors[name.split(", in")[0]]) for n in SIZES]
    return lines


def _sparse(constants: Constants, steps: Steps, factors: dict[str, float]) -> list[str]:
    most = int(NODE_GIB / sparse_blocks(steps).gib(10**6))
    return [
        "**Extrapolated**, not run: `SparseBDR` on Dask. The data are on the nodes, which pass over them twice per",
        "sweep; graph, affinity and embedding are on one client, on one core of a node. n × r numbers are sent through",
        "its link twice and received once; four tasks per chunk and sweep. The client has the steps and pairs",
        f"of the largest run and {steps.eigen:.0f} steps of the eigensolver, the most there are; its memory is full",
        f"at {most} million samples. The search is the one over all views, on the nodes, without what travels for it",
        "and without making the cells.",
        "",
        "| samples | data | nodes for them | client | search, once (s) | seconds per sweep | messages | scheduling |",
        "|---|---|---|---|---|---|---|---|",
        *[sparse_row(constants, steps, n, factors) for n in (10**6, 10**7, *SIZES[1:])],
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
