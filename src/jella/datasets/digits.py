"""Three views of the handwritten digits that come with scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["load_digits_views"]

_SIDE = 8  # images are 8 x 8
_ORIENTATIONS = 8
_CELLS = 2  # per side

_DESCR = """Handwritten digits in three views
=================================

1797 grey images of 8 x 8 pixels, each of one handwritten digit, ten classes of about 180 samples. The images are the
test part of the UCI set "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998), in the copy
that scikit-learn installs; nothing is downloaded. Three views are computed from each image, its values divided by 16
so that they lie between 0 and 1:

pixels ({pixels} features)
    The grey values; 3 of the 64 pixels are blank in all images and left out.
fourier ({fourier} features)
    Magnitudes of the two-dimensional discrete Fourier transform, divided by 8. The transform of a real image is
    symmetric, so one of each pair of equal magnitudes is kept. Circular shifts of the digit do not change them.
gradients ({gradients} features)
    Mean grey value along each row, column and diagonal of both directions, then, for each of the four quarters of
    the image, the summed length of the grey gradients that point in each of eight directions.

All values are non-negative, none is missing, and no feature is constant. The second and third view are functions of the
first, so the views are far from independent: the set is meant for examples and tests.
"""


def load_digits_views(n_samples: int | None = None) -> Bunch:
    """Handwritten digits in three views: pixels, Fourier magnitudes, projections and gradients.

    Nothing is downloaded: the images are those of `sklearn.datasets.load_digits`. All values are non-negative, no
    value is missing and no feature is constant.

    Parameters
    ----------
    n_samples : int, optional
        Take only the first samples, for quick examples; by default all 1797.

    Returns
    -------
    sklearn.utils.Bunch
        data : dict of str to float64 arrays of shapes (1797, 61), (1797, 34) and (1797, 77)
            The views 'pixels', 'fourier' and 'gradients'.
        target : int array of shape (1797,)
            The digit.
        target_names : int array of shape (10,)
            The digits from 0 to 9.
        view_names : list of 3 str
            The keys of data.
        feature_names : dict of str to list of str
            Names of the columns of each view.
        DESCR : str
            Where the images come from and how the views are computed.

    Examples
    --------
    >>> from jella.datasets.digits import load_digits_views
    >>> digits = load_digits_views()
    >>> {name: view.shape for name, view in digits.data.items()}
    {'pixels': (1797, 61), 'fourier': (1797, 34), 'gradients': (1797, 77)}
    >>> load_digits_views(100).data["pixels"].shape
    (100, 61)
    """
    from sklearn.datasets import load_digits
    from sklearn.utils import Bunch

    digits = load_digits()
    if n_samples is not None and not 1 <= n_samples <= len(digits.target):
        raise ValueError(f"expected 1 to {len(digits.target)} as n_samples, got {n_samples}; leave it out for all")
    images = digits.images / 16
    views = {"pixels": _pixels(images), "fourier": _fourier(images), "gradients": _gradients(images)}
    views = {name: _varying(*view) for name, view in views.items()}
    return Bunch(
        data={name: values[:n_samples] for name, (values, _) in views.items()},
        target=digits.target[:n_samples],
        target_names=digits.target_names,
        view_names=list(views),
        feature_names={name: names for name, (_, names) in views.items()},
        DESCR=_DESCR.format(**{name: len(names) for name, (_, names) in views.items()}),
    )


def _varying(values: NDArray[np.float64], names: list[str]) -> tuple[NDArray[np.float64], list[str]]:
    varies = np.ptp(values, axis=0) > 0
    return np.ascontiguousarray(values[:, varies]), [name for name, keep in zip(names, varies, strict=True) if keep]


def _pixels(images: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
    names = [f"pixel_{row}_{column}" for row in range(_SIDE) for column in range(_SIDE)]
    return images.reshape(len(images), -1), names


def _fourier(images: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
    magnitudes = np.abs(np.fft.rfft2(images, norm="ortho"))
    half = _SIDE // 2
    # rfft2 halves the columns only: within its first and last column, rows k and 8 - k still mirror each other.
    kept = [(i, j) for i in range(_SIDE) for j in range(half + 1) if i <= half or 0 < j < half]
    rows, columns = np.transpose(kept)
    return magnitudes[:, rows, columns], [f"frequency_{i}_{j}" for i, j in kept]


def _gradients(images: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
    projections, lines = _projections(images)
    histograms, cells = _orientations(images)
    return np.hstack([projections, histograms]), lines + cells


def _projections(images: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
    """Mean along rows, columns and both kinds of diagonals: one product with the indicators of the lines."""
    row, column = np.divmod(np.arange(_SIDE * _SIDE), _SIDE)
    kinds = {"row": row, "column": column, "diagonal": column - row + _SIDE - 1, "antidiagonal": row + column}
    lines = np.hstack([line[:, None] == np.arange(line.max() + 1) for line in kinds.values()])
    names = [f"{kind}_{position}" for kind, line in kinds.items() for position in range(line.max() + 1)]
    return images.reshape(len(images), -1) @ (lines / lines.sum(axis=0)), names


def _orientations(images: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[str]]:
    """Length of the gradients by direction, summed within each cell."""
    down, right = np.gradient(images, axis=(1, 2))
    # Bins centred on multiples of 45 degrees: their edges have an irrational slope, which differences of integer grey
    # values never take, so that rounding cannot move a gradient to another bin.
    bins = np.rint(np.arctan2(down, right) * _ORIENTATIONS / (2 * np.pi)).astype(int) % _ORIENTATIONS
    lengths = np.hypot(down, right)[..., None] * (bins[..., None] == np.arange(_ORIENTATIONS))
    size = _SIDE // _CELLS
    sums = lengths.reshape(len(images), _CELLS, size, _CELLS, size, _ORIENTATIONS).sum(axis=(2, 4))
    names = [
        f"cell_{i}_{j}_direction_{360 * angle // _ORIENTATIONS}"
        for i in range(_CELLS)
        for j in range(_CELLS)
        for angle in range(_ORIENTATIONS)
    ]
    return sums.reshape(len(images), -1), names
