"""DAIMC of jella against DAIMC of the package iMML: CPU time, objective and NMI on Handwritten with missing views.

Run: JELLA_DATA=<folder> python benchmarks/daimc_vs_imml.py --imml-python <python of an environment with imml 0.6>

That environment: python -m venv <env>; <env>/bin/pip install "imml==0.6.*". Both fit the same 2000 samples at unit
norm, 30 % of which lack a view, with alpha = beta = 1, k = 10 and their own defaults otherwise, on one thread. Time is
CPU time of the fit alone, labels included. One function computes both objectives, with the columns of W at sum 1. iMML
is also judged at the bases and regressions that are best for its W, which can only lower its objective.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from imml_daimc import timed
from real_sets import Views, folder, handwritten, unit_samples
from sklearn.metrics import normalized_mutual_info_score

import jella
from jella.datasets import make_incomplete

ALPHA = BETA = 1.0
SMOOTHING = 1e-10
ROUNDS = 50
WANTED = 20.0  # times less CPU time


@dataclass(frozen=True)
class Fit:
    """The result of a program: CPU seconds, labels, W, one U and one R per view."""

    seconds: float
    labels: np.ndarray
    W: np.ndarray
    bases: list[np.ndarray]
    regressions: list[np.ndarray]

    def normalised(self) -> Fit:
        """The columns of W scaled to sum 1; U and R compensate."""
        sums = self.W.sum(axis=0)
        sums = np.where(sums > 0, sums, 1.0)
        bases, regressions = [U * sums for U in self.bases], [R / sums for R in self.regressions]
        return Fit(self.seconds, self.labels, self.W / sums, bases, regressions)


def objective(views: Views, fit: Fit) -> tuple[float, float]:
    """The whole objective, and its loss part alone."""
    loss = alignment = 0.0
    for X, U, R in zip(views.values(), fit.bases, fit.regressions, strict=True):
        there = present(X)
        loss += float(np.sum((X[there] - fit.W[there] @ U.T) ** 2))
        norms = np.sqrt(np.sum(R**2, axis=1) + SMOOTHING)
        alignment += float(np.sum((R.T @ U - np.eye(U.shape[1])) ** 2) + BETA * np.sum(norms))
    return loss + ALPHA * alignment, loss


def best_for_embedding(views: Views, fit: Fit) -> Fit:
    """The fit with U and R minimised in turn at its W."""
    bases, regressions = list(fit.bases), list(fit.regressions)
    for v, X in enumerate(views.values()):
        there = present(X)
        W = fit.W[there]
        for _ in range(ROUNDS):
            R = regressions[v]
            U = sylvester(ALPHA * R @ R.T, W.T @ W, X[there].T @ W + ALPHA * R)
            norms = np.sqrt(np.sum(R**2, axis=1, keepdims=True) + SMOOTHING)
            scaled = U * norms * (2.0 / BETA)
            bases[v], regressions[v] = U, scaled @ np.linalg.inv(np.eye(U.shape[1]) + U.T @ scaled)
    return Fit(fit.seconds, fit.labels, fit.W, bases, regressions)


def sylvester(A: np.ndarray, G: np.ndarray, C: np.ndarray) -> np.ndarray:
    """The solution U of AU + UG = C for symmetric A and G."""
    (a, P), (g, Q) = np.linalg.eigh(A), np.linalg.eigh(G)
    return P @ ((P.T @ C @ Q) / (a[:, None] + g)) @ Q.T


def present(X: np.ndarray) -> np.ndarray:
    """Which samples have the view, (n,)."""
    return ~np.isnan(X).any(axis=1)


def fit_jella(views: Views, k: int) -> Fit:
    few = {name: np.nan_to_num(X[: 5 * k]) for name, X in views.items()}
    options = {"n_clusters": k, "alpha": ALPHA, "beta": BETA, "scale": "none", "random_state": 0}
    seconds, model = timed(lambda: jella.DAIMC(**options).fit(few), lambda: jella.DAIMC(**options).fit(views))
    return Fit(seconds, model.labels_, model.embedding_, model.result_.blocks.bases, model.regressors_)


def fit_imml(python: str, views: Views, k: int) -> Fit:
    with tempfile.TemporaryDirectory() as scratch:
        source, target = Path(scratch) / "in.npz", Path(scratch) / "out.npz"
        np.savez(source, n_clusters=k, **{f"view_{v}": X for v, X in enumerate(views.values())})
        subprocess.run([python, str(Path(__file__).with_name("imml_daimc.py")), str(source), str(target)], check=True)
        with np.load(target) as file:
            bases = [file[f"basis_{v}"] for v in range(len(views))]
            regressions = [file[f"regression_{v}"] for v in range(len(views))]
            return Fit(float(file["seconds"]), file["labels"], file["embedding"], bases, regressions)


def report(mask: int, views: Views, y: np.ndarray, ours: Fit, theirs: Fit) -> bool:
    """Print one line; returns whether both claims hold on this mask."""
    ours, theirs = ours.normalised(), theirs.normalised()
    (value, loss), (other, other_loss) = objective(views, ours), objective(views, theirs)
    best = objective(views, best_for_embedding(views, theirs))[0]
    ratio = theirs.seconds / ours.seconds
    nmi, other_nmi = (normalized_mutual_info_score(y, fit.labels) for fit in (ours, theirs))
    print(
        f"{mask:4} {ours.seconds:8.2f} {theirs.seconds:8.2f} {ratio:6.0f} {value:10.2f} {other:10.2f} {best:10.2f} "
        f"{loss:10.2f} {other_loss:10.2f} {nmi:6.3f} {other_nmi:6.3f}",
        flush=True,
    )
    return ratio >= WANTED and value <= min(other, best)


def main(python: str | None, masks: int) -> None:
    data = folder()
    if data is None or python is None:
        print("skipped: JELLA_DATA is not set" if data is None else "skipped: no --imml-python")
        return
    views, y = handwritten(data)
    views, k = unit_samples(views), len(np.unique(y))
    print("     CPU seconds             objective                        loss alone            NMI")
    print("mask    jella     iMML  ratio      jella       iMML  iMML best      jella       iMML  jella   iMML")
    held = 0
    for mask in range(masks):
        holed = make_incomplete(views, 0.3, "missing-view", random_state=mask)
        held += report(mask, holed, y, fit_jella(holed, k), fit_imml(python, holed, k))
    print(f"at least {WANTED:.0f} times less CPU time at equal or lower objective: on {held} of {masks} masks")
    sys.exit(held < masks)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--imml-python", help="python of the environment that has imml")
    parser.add_argument("--masks", type=int, default=3)
    options = parser.parse_args()
    main(options.imml_python, options.masks)
