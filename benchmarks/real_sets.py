"""Real data sets for the benchmarks, read from the folder named by JELLA_DATA."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat

Views = dict[str, Any]


def folder() -> Path | None:
    """The folder with the data, or None where JELLA_DATA is not set."""
    where = os.environ.get("JELLA_DATA")
    return Path(where) if where else None


def handwritten(data: Path) -> tuple[Views, np.ndarray]:
    """Six feature sets of 2000 handwritten digits, and the digits."""
    file = loadmat(data / "handwritten" / "UCI_Digits.mat")
    names = ("pix", "fou", "fac", "zer", "kar", "mor")
    return _floats(zip(names, file["fea"].ravel(), strict=True)), file["gt"].ravel()


def caltech7(data: Path) -> tuple[Views, np.ndarray]:
    """Three feature counts of 441 images, and the classes."""
    file = np.load(data / "Caltech7" / "caltech7_441_reextracted_sift200_surf200_lbp256.npz")
    return _floats((name, file[name]) for name in ("sift200", "surf200", "lbp256")), file["y"]


def msrc_v1(data: Path) -> tuple[Views, np.ndarray]:
    """SIFT and LBP counts of 210 images, the two views of the paper, and the classes."""
    file = loadmat(data / "MSRC-v1" / "MSRC-v1_6view_SIFT200_LBP256.mat")
    cells = file["X"].ravel()
    return _floats([("sift200", cells[5]), ("lbp256", cells[4])]), file["Y"].ravel()


def yale(data: Path) -> tuple[Views, np.ndarray]:
    """Three feature sets of 165 face images, and the persons."""
    file = np.load(data / "Yale" / "yale_165_yaleA_sift50_gist512_plus_lbp256.npz")
    return _floats((name, file[name]) for name in ("sift50", "gist512", "lbp256")), file["y"]


def three_sources(data: Path) -> tuple[Views, np.ndarray]:
    """Words of 169 stories in three newspapers (sparse counts), and the topics."""
    file = loadmat(data / "3sources" / "3sources_169.mat")
    return _floats((name, file[name]) for name in ("bbc", "guardian", "reuters")), file["truth"].ravel()


def unit_samples(views: Views) -> Views:
    """Every sample of every view at unit norm, as in the paper's experiments; empty samples stay zero."""
    out = {}
    for name, X in views.items():
        squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.sum(X**2, axis=1)
        norms = np.sqrt(np.asarray(squares).ravel())
        scale = 1.0 / np.where(norms > 0, norms, 1.0)
        out[name] = sparse.csr_array(sparse.diags_array(scale) @ X) if sparse.issparse(X) else X * scale[:, None]
    return out


def _floats(pairs: Any) -> Views:
    """Small integers become floats: their squares would overflow."""
    return {
        name: sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else X.astype(np.float64) for name, X in pairs
    }


SETS: dict[str, Callable[[Path], tuple[Views, np.ndarray]]] = {
    "MSRC-v1": msrc_v1,
    "Yale": yale,
    "Caltech7": caltech7,
    "3Sources": three_sources,
    "Handwritten": handwritten,
}
