"""Does a likelihood complete binary values and counts better than the calibrated squared loss of `jella.complete`?

Run: JELLA_DATA=<folder> python benchmarks/likelihoods.py      writes docs/results/likelihoods.md

Data: three binary sets and three of counts, at most 200 samples and 400 columns; columns with fewer than 5 non-zeros
are left out. One binary set and one of counts are drawn from the very model that is fitted. Holes: 10 % and 30 % of the
entries at random, and one view of 30 % of the samples; two masks each. Methods: `jella.complete` at its defaults,
against low-rank models with an intercept per column, one factor matrix for all views and ridge on both factors,
- with a likelihood: Bernoulli with logit link (steps on the quadratic bound with curvature 1/4), or Poisson with log
  link (Newton steps with halving);
- with squared loss on standardised columns, and nothing else changed: this separates the loss from the model.
Rank and ridge are chosen on a tenth that is hidden in the same way inside the observed values, by the loss of the
model; then the model is fitted to all observed values. Ridge weights are shares of the weight at which no factor is
left. Scores are over the holes, as multiples of the score of the column means (below 1 is better than the means): RMSE
in standard deviations of a column; Brier score for binary values; log-loss for binary values, or Poisson deviance for
counts, with values clipped at 1e-6 (and 1 - 1e-6). Values are scored as they come, means over masks.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from completion_scores import scores
from real_sets import needed_folder, read_set
from result_cells import RESULTS, SOURCE
from scipy import sparse
from scipy.special import expit, logit, xlogy
from sklearn.datasets import load_digits

import jella

HOLES, MASKS = (("mcar", 0.1), ("mcar", 0.3), ("missing-view", 0.3)), (0, 1)
RANKS, SHARES = (4, 16), (0.003, 0.01, 0.03, 0.1, 0.2, 0.4)
SWEEPS, CLIP = 30, 1e-6
Views = dict[str, np.ndarray]
PAGE = """# Likelihoods against squared loss

Binary values and counts, completed by `jella.complete`, by a low-rank model with their likelihood (Bernoulli, Poisson),
and by the same low-rank model with squared loss. Scores over the holes, as multiples of those of the column means;
below 1 is better. Means over two masks; `benchmarks/likelihoods.py` says how it was done.
State of the source: {source}.

| set | holes | RMSE: jella / likelihood / squared | Brier score | log-loss or Poisson deviance |
|---|---|---|---|---|
{table}
"""


class Squared:
    """The loss of a mean `mu` at eta, half a deviance; `curvature` bounds or equals its second derivative."""

    link = mean = staticmethod(lambda x: x)
    curvature = staticmethod(np.ones_like)
    loss = staticmethod(lambda x, mu: (x - mu) ** 2 / 2)


class Bernoulli:
    """Binary values with a logit link."""

    link, mean = staticmethod(logit), staticmethod(expit)
    curvature = staticmethod(lambda mu: np.full_like(mu, 0.25))

    @staticmethod
    def loss(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """Minus the log-likelihood."""
        mu = np.clip(mu, CLIP, 1 - CLIP)
        return -xlogy(x, mu) - xlogy(1 - x, 1 - mu)


class Poisson:
    """Counts with a log link."""

    link, mean = staticmethod(np.log), staticmethod(lambda eta: np.exp(np.clip(eta, -20, 20)))
    curvature = staticmethod(lambda mu: mu)

    @staticmethod
    def loss(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """Half the deviance."""
        mu = np.maximum(mu, CLIP)
        return xlogy(x, x / mu) - x + mu


def step(kind: type, X: np.ndarray, U: np.ndarray, V: np.ndarray, start: np.ndarray, ridge: float) -> np.ndarray:
    """Better rows of U for X (n, d) ~ mean(U @ V.T + start), NaN where missing; a move that does harm is halved."""
    seen, r = ~np.isnan(X), U.shape[1]

    def cost(U: np.ndarray) -> np.ndarray:
        losses = np.where(seen, kind.loss(X, kind.mean(U @ V.T + start)), 0.0)
        return losses.sum(axis=1) + ridge / 2 * (U**2).sum(axis=1)

    mu = kind.mean(U @ V.T + start)
    pairs = (V[:, :, None] * V[:, None, :]).reshape(-1, r * r)
    hessian = ((seen * kind.curvature(mu)) @ pairs).reshape(-1, r, r) + ridge * np.eye(r)
    slope = np.where(seen, X - mu, 0.0) @ V - ridge * U
    move, old = np.linalg.solve(hessian, slope[:, :, None])[:, :, 0], cost(U)
    for _ in range(8):
        worse = ~(cost(U + move) <= old)
        move[worse] /= 2
        if not worse.any():
            break
    return U + np.where(worse[:, None], 0.0, move)


def low_rank(kind: type, X: np.ndarray, rank: int, share: float) -> np.ndarray:
    """Means of all entries of X (n, d); a ridge of share 1 leaves about the column means."""
    seen = ~np.isnan(X)
    start = kind.link((np.nansum(X, axis=0) + np.nanmean(X)) / (seen.sum(axis=0) + 1))
    left, sizes, _ = np.linalg.svd(np.where(seen, X - kind.mean(start), 0.0), full_matrices=False)
    one, ridge = np.ones((len(X), 1)), share * sizes[0]
    U, V = left[:, :rank] * np.sqrt(len(X)), np.zeros((X.shape[1], rank + 1))  # V: a correction of the intercept first
    for _ in range(SWEEPS):
        V = step(kind, X.T, V, np.hstack([one, U]), start[:, None], ridge)
        U = step(kind, X, U, V[:, 1:], start + V[:, 0], ridge)
    return kind.mean(start + np.hstack([one, U]) @ V.T)


def chosen(kind: type, holed: Views, setting: str) -> list[np.ndarray]:
    """The views completed by the model of the rank and ridge that predict a hidden tenth best."""
    X = np.hstack(list(holed.values()))
    inner = np.hstack(list(jella.datasets.make_incomplete(holed, 0.1, setting, random_state=9).values()))
    at, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    if kind is Squared:
        at, scale = np.nanmean(X, axis=0), np.maximum(np.nanstd(X, axis=0), 1e-3)
    X, inner = (X - at) / scale, (inner - at) / scale
    hidden = np.isnan(inner) & ~np.isnan(X)

    def error(settings: tuple[int, float]) -> float:
        return float(np.mean(kind.loss(X, low_rank(kind, inner, *settings))[hidden]))

    best = min(product(RANKS, SHARES), key=error)
    full = low_rank(kind, X, *best) * scale + at
    return np.split(full, np.cumsum([view.shape[1] for view in holed.values()])[:-1], axis=1)


def trimmed(views: Views, n: int = 200, d: int = 200) -> Views:
    """The first samples, and the first columns per view with 5 non-zeros among them."""
    dense = {name: (X.toarray() if sparse.issparse(X) else np.asarray(X))[:n] for name, X in views.items()}
    return {name: X[:, np.flatnonzero((X != 0).sum(axis=0) >= 5)[:d]] for name, X in dense.items()}


def planted(kind: type) -> Views:
    """Two views of 100 columns, drawn from the model, of rank 3."""
    rng = np.random.default_rng(3)
    eta = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 200)) * 0.6 + rng.normal(-0.5, 0.7, size=200)
    X = (rng.binomial(1, expit(eta)) if kind is Bernoulli else rng.poisson(np.exp(eta))).astype(float)
    return trimmed({"left": X[:, :100], "right": X[:, 100:]})


def sets(data: Path) -> Iterator[tuple[str, type, Views]]:
    digits = (load_digits().data > 7).astype(float)
    yield "Cornell, words", Bernoulli, trimmed({"words": read_set("Cornell", data)[0]["words"]}, d=400)
    yield "digits, thresholded", Bernoulli, trimmed({"top": digits[:, :32], "bottom": digits[:, 32:]})
    yield "planted Bernoulli", Bernoulli, planted(Bernoulli)
    yield "BBCSport (4 views)", Poisson, trimmed(read_set("BBCSport (4 views)", data)[0], d=100)
    yield "MSRC-v1", Poisson, trimmed(read_set("MSRC-v1", data)[0])
    yield "planted Poisson", Poisson, planted(Poisson)


def judged(kind: type, truth: Views, holed: Views, completed: list[np.ndarray]) -> np.ndarray:
    """RMSE, Brier score (NaN for counts) and log score, as multiples of those of the column means."""
    real, with_holes = list(truth.values()), list(holed.values())
    T, H, C = (np.hstack(part) for part in (real, with_holes, completed))
    hidden, means = np.isnan(H), np.broadcast_to(np.nanmean(H, axis=0), H.shape)
    brier = np.mean((C - T)[hidden] ** 2) / np.mean((means - T)[hidden] ** 2) if kind is Bernoulli else np.nan
    log = kind.loss(T, C)[hidden].mean() / kind.loss(T, means)[hidden].mean()
    return np.array([scores(real, with_holes, completed)["rmse"], brier, log])


def run(kind: type, views: Views, setting: str, rate: float, mask: int) -> np.ndarray:
    """Scores (3 scores, 3 methods): jella, the likelihood, the same model with squared loss."""
    holed = jella.datasets.make_incomplete(views, rate, setting, random_state=mask)
    completed = (list(jella.complete(holed).views.values()), *(chosen(k, holed, setting) for k in (kind, Squared)))
    return np.transpose([judged(kind, views, holed, one) for one in completed])


def computed(data: Path) -> Iterator[tuple[str, str, np.ndarray]]:
    """Set, holes, and scores (masks, 3 scores, 3 methods) of each line of the table."""
    for name, kind, views in sets(data):
        for setting, rate in HOLES:
            if setting == "mcar" or len(views) > 1:
                yield name, f"{setting} {rate:.0%}", np.array([run(kind, views, setting, rate, m) for m in MASKS])


def page(found: list[tuple[str, str, np.ndarray]]) -> str:
    lines = []
    for name, holes, score in found:
        cells = ["–" if np.isnan(s).any() else " / ".join(f"{one:.3f}" for one in s) for s in score.mean(axis=0)]
        lines.append(f"| {name} | {holes} | {' | '.join(cells)} |")
    return PAGE.format(table="\n".join(lines), source=SOURCE)


def main() -> None:
    warnings.simplefilter("ignore")
    data = needed_folder()
    (RESULTS / "likelihoods.md").write_text(page(list(computed(data))), encoding="utf-8")


if __name__ == "__main__":
    main()
