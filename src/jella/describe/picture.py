"""The embedding in two dimensions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from jella.describe.affinity import symmetric_affinity
from jella.describe.colouring import Colouring
from jella.describe.subject import Absent, Fit
from jella.graphs.spectral import leading_eigenvectors
from jella.numerics.arrays import to_numpy
from jella.numerics.kmeans import one_thread, unit_rows
from jella.numerics.optional import need
from jella.numerics.progress import doing
from jella.numerics.words import percent

#: points drawn; if there are more samples, a random selection
MOST_POINTS = 3000
#: maps of the samples, and their names
METHODS = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}


@dataclass(frozen=True, eq=False)
class Picture:
    """Samples as points.

    Attributes
    ----------
    rows : int array (m,)
        The samples shown.
    points : array (m, 2)
    explained : tuple of two floats
        Share of the variance of the coordinates on each axis; NaN for other maps than principal components.
    source : str
        A description of the points.
    n_samples : int
        Number of samples that could be shown.
    colourings : tuple of Colouring, of the samples shown
    method : {'pca', 'tsne', 'umap'}
    """

    rows: np.ndarray
    points: np.ndarray
    explained: tuple[float, float]
    source: str
    n_samples: int
    colourings: tuple[Colouring, ...]
    method: str = "pca"

    @property
    def axis_names(self) -> tuple[str, str]:
        """What the axes show, in words."""
        if self.method == "pca":
            first, second = (f"PC{j + 1} ({percent(share)} of variance)" for j, share in enumerate(self.explained))
            return first, second
        return f"{METHODS[self.method]} 1", f"{METHODS[self.method]} 2"


def draw_picture(
    fit: Fit, colourings: Iterable[Colouring], method: str = "pca", most: int = MOST_POINTS
) -> Picture | Absent:
    """A plane map of the model's coordinates of the samples, or of some of them if there are many."""
    coordinates, source = _coordinates(fit)
    if coordinates is None:
        return Absent(source)
    kept = np.flatnonzero(fit.kept)
    chosen = np.arange(kept.size)
    if kept.size > most:
        chosen = np.sort(np.random.default_rng(fit.seed).choice(kept.size, most, replace=False))
    rows, explained = kept[chosen], (np.nan, np.nan)
    if method == "pca":
        points, explained = principal_plane(coordinates)
        points = points[chosen]
    else:
        points = neighbour_plane(coordinates[chosen], method, fit.seed)
    shown = tuple(colouring.take(rows) for colouring in colourings)
    return Picture(rows, points, explained, source, kept.size, shown, method)


def neighbour_plane(coordinates: np.ndarray, method: str, seed: int) -> np.ndarray:
    """Points (n, 2) whose neighbours are those of coordinates (n, r), by t-SNE or UMAP."""
    if method not in METHODS:
        raise ValueError(f"expected a map by one of {list(METHODS)}, got {method!r}; pass for example 'tsne'")
    n = len(coordinates)
    doing(f"drawing a map by {METHODS[method]}{', whose first use takes some seconds' if method == 'umap' else ''}")
    if method == "umap":
        umap = need("umap", "umap")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a seed means one thread
            found = umap.UMAP(n_neighbors=max(min(15, n - 1), 2), random_state=seed).fit_transform(coordinates)
        return np.asarray(found, dtype=np.float64)
    from sklearn.manifold import TSNE

    settings = {"perplexity": min(30.0, max((n - 1) / 3, 1.0)), "init": "random" if n < 4 else "pca"}
    with one_thread():  # its threads wait for each other in each of a thousand steps
        return np.asarray(TSNE(random_state=seed, **settings).fit_transform(coordinates), dtype=np.float64)


def principal_plane(coordinates: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """The two leading principal components of coordinates (n, r), and their shares of the variance.

    If there is no second component it is zero. Signs are such that the largest weight is positive.

    >>> points, explained = principal_plane(np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]))
    >>> points[:, 0].tolist(), explained
    ([-2.0, 0.0, 2.0], (1.0, 0.0))
    """
    centred = coordinates - coordinates.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :2]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    points = np.zeros((len(centred), 2))
    points[:, : axes.shape[1]] = centred @ axes
    total = max(float(variances.sum()), np.finfo(np.float64).tiny)
    shares = [*(np.maximum(variances[::-1][:2], 0.0) / total), 0.0]
    return points, (float(shares[0]), float(shares[1]))


def _coordinates(fit: Fit) -> tuple[np.ndarray | None, str]:
    """Coordinates of the kept samples and a description; or None and the reason."""
    if fit.embedding is not None:
        W = fit.embedding[fit.kept].astype(np.float64)
        if W.shape[1] == 1:
            return W, "the embedding, which has one component"
        return unit_rows(W), f"the embedding's rows ({W.shape[1]} components), each at unit length"
    affinity = symmetric_affinity(fit)
    if affinity is None:
        return None, f"{fit.method} has neither an embedding nor a graph to draw."
    k = max(fit.clusters.size, 3)
    vectors = leading_eigenvectors(affinity, min(k, affinity.shape[0]))[1]
    return unit_rows(
        to_numpy(vectors)
    ), f"the {vectors.shape[1]} leading eigenvectors of its graph, rows at unit length"
