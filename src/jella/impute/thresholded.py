"""Models of the path with all components: completed data whose singular values are lowered by the weight.

Completed data Z hold what was observed and, elsewhere, what the last model expects. Z with singular values lowered by
the weight, to zero at least, minimises ½‖Z − Y‖² + weight·‖Y‖_*: one step for bases and embedding together. Singular
vectors of the smaller side come from a Gram matrix, so a step costs less than two products of Z with a matrix of that
side. Between steps, missing values go on in the direction of the last step (over-relaxation).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from jella.numerics.arrays import cache_blocks, sqnorm
from jella.solve.start import MeanFilled
from jella.views import Views

#: with more samples and more features than this, eigenvectors of the smaller side take longer than products
MOST_SIDE = 1000
#: more values, as of sparse views of very many features, are not held dense
MOST_VALUES = 50_000_000
#: steps per weight, and the share of the objective that one must gain
MOST_STEPS, TOLERANCE = 20, 1e-4


def is_affordable(n_samples: int, n_features: int) -> bool:
    """Whether models of data of this size can have all components."""
    return min(n_samples, n_features) <= MOST_SIDE and n_samples * n_features <= MOST_VALUES


class Thresholded:
    """Dense views side by side, in single precision, completed by the last model; missing values start from means.

    Parameters
    ----------
    views : Views
        In the scale of the path.
    """

    def __init__(self, views: Views) -> None:
        self.Z = np.concatenate([MeanFilled.of(view).dense() for view in views], axis=1)
        widths = [(view.n_samples, view.n_features) for view in views]
        masks = [np.broadcast_to(view.mask, shape) for view, shape in zip(views, widths, strict=True)]
        self.missing = ~np.concatenate(masks, axis=1)
        self.last = np.empty_like(self.Z)
        self.is_tall = self.Z.shape[0] >= self.Z.shape[1]

    def solve(self, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """The embedding (n, r) and the stack of bases (d, r) of a weight; starts from the data completed last."""
        before = np.inf
        for number in range(MOST_STEPS):
            value = self._step(weight)
            if value > (1.0 - TOLERANCE) * before:
                break
            if number:
                self._go_on(number / (number + 3.0))
            before = value
        return self._blocks(weight)

    def _step(self, weight: float) -> float:
        """Complete the data by the model of the present ones; the objective at that model."""
        Z, Y = self.Z, self.last
        gram = Z.T @ Z if self.is_tall else Z @ Z.T
        # in double precision: small singular values are roots
        squares, vectors = eigh(gram.astype(np.float64), overwrite_a=True, check_finite=False, driver="evd")
        kept = squares > weight**2
        self.vectors, self.s = vectors[:, kept], np.sqrt(squares[kept])
        root = (self.vectors * np.sqrt(1.0 - weight / self.s)).astype(Z.dtype)
        if self.is_tall:
            np.matmul(Z, root @ root.T, out=Y)
        else:
            np.matmul(root @ root.T, Z, out=Y)
        total = 0.0
        for rows in cache_blocks(Z):
            residual = Z[rows] - Y[rows]
            residual[self.missing[rows]] = 0.0
            total += sqnorm(residual)
            Y[rows] += residual
        self.Z, self.last = Y, Z
        return total + 2.0 * weight * float(np.sum(self.s - weight))

    def _go_on(self, share: float) -> None:
        """Move missing values on by a share of the last step; observed ones do not differ."""
        for rows in cache_blocks(self.Z):
            self.Z[rows] += share * (self.Z[rows] - self.last[rows])

    def _blocks(self, weight: float) -> tuple[np.ndarray, np.ndarray]:
        """The factors of the last model; each has the root of the singular values."""
        root = np.sqrt(self.s - weight)
        near = (self.vectors * root).astype(self.Z.dtype)
        inverse = (self.vectors * (root / self.s)).astype(self.Z.dtype)
        far = (self.last if self.is_tall else self.last.T) @ inverse
        return (far, near) if self.is_tall else (near, far)
