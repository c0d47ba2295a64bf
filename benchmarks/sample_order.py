"""Methods that transform along the sample axis profit from files that are sorted by class: a small example.

Run: python benchmarks/sample_order.py

Some published programs stack the graphs of the views to a tensor of samples × views × samples and shrink its singular
values after a Fourier transform along the last axis, the samples (the t-SVD). A Fourier transform depends on the order:
in a file sorted by class, classes are long waves, which are kept; noise is short waves, which are not. Here the same
made data, with weak classes, are clustered in sorted and in random order, with the shrinkage and without it.
Nothing else differs. All figures are means over ten draws.
"""

from __future__ import annotations

import numpy as np
from sklearn.cluster import SpectralClustering

from jella.metrics import nmi

N_CLASSES, PER_CLASS, N_VIEWS, N_FEATURES, DISTANCE = 5, 30, 3, 20, 0.3
DRAWS = 10


def made_views(rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    """Noise around centres that are close to each other, sorted by class."""
    y = np.repeat(np.arange(N_CLASSES), PER_CLASS)
    centres = DISTANCE * rng.normal(size=(N_VIEWS, N_CLASSES, N_FEATURES))
    return [rng.normal(size=(y.size, N_FEATURES)) + centre[y] for centre in centres], y


def graph(X: np.ndarray) -> np.ndarray:
    """Gaussian similarities, (n, n)."""
    distances = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return np.exp(-distances / np.median(distances))


def shrunk_along_samples(graphs: np.ndarray) -> np.ndarray:
    """Half of the leading singular values become zero, after a Fourier transform along the last axis."""
    waves = np.moveaxis(np.fft.fft(graphs, axis=2), 2, 0)
    left, values, right = np.linalg.svd(waves, full_matrices=False)
    values = np.maximum(values - np.median(values[:, 0]), 0.0)
    return np.fft.ifft(np.moveaxis((left * values[:, None]) @ right, 0, 2), axis=2).real


def clusters(views: list[np.ndarray], shrink: bool) -> np.ndarray:
    graphs = np.stack([graph(X) for X in views], axis=1)  # samples × views × samples
    total = np.abs(shrunk_along_samples(graphs) if shrink else graphs).sum(axis=1)
    model = SpectralClustering(N_CLASSES, affinity="precomputed", random_state=0)
    return model.fit_predict(total + total.T)


def scores() -> dict[tuple[bool, str], float]:
    """Mean NMI by whether the tensor is shrunk and by the order of the samples."""
    found: dict[tuple[bool, str], list[float]] = {}
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        views, y = made_views(rng)
        for order, rows in {"sorted by class": np.arange(y.size), "shuffled": rng.permutation(y.size)}.items():
            for shrink in (True, False):
                labels = clusters([X[rows] for X in views], shrink)
                found.setdefault((shrink, order), []).append(nmi(y[rows], labels))
    return {key: float(np.mean(values)) for key, values in found.items()}


def table() -> list[str]:
    """The scores as a table in Markdown."""
    found = scores()
    lines = ["| NMI, mean of ten draws | sorted by class | shuffled |", "|---|---|---|"]
    for shrink, name in ((True, "shrunk along the samples (t-SVD)"), (False, "the same without that step")):
        values = " | ".join(f"{found[shrink, order]:.2f}" for order in ("sorted by class", "shuffled"))
        lines.append(f"| {name} | {values} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
