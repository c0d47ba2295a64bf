"""The two real data sets that the benchmarks use, read from the folder named by JELLA_DATA."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy.io import loadmat


def folder() -> Path | None:
    """The folder with the data, or None where JELLA_DATA is not set."""
    where = os.environ.get("JELLA_DATA")
    return Path(where) if where else None


def handwritten(data: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Six feature sets of 2000 handwritten digits, as float64, and the digits."""
    file = loadmat(data / "handwritten" / "UCI_Digits.mat")
    names = ("pix", "fou", "fac", "zer", "kar", "mor")
    views = {name: view.astype(np.float64) for name, view in zip(names, file["fea"].ravel(), strict=True)}
    return views, file["gt"].ravel()


def caltech7(data: Path) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Three feature counts of 441 images, as float64, and the classes."""
    file = np.load(data / "Caltech7" / "caltech7_441_reextracted_sift200_surf200_lbp256.npz")
    return {name: file[name].astype(np.float64) for name in ("sift200", "surf200", "lbp256")}, file["y"]


def unit_samples(views: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Every sample of every view at unit norm, as in the paper's experiments."""
    return {name: X / np.linalg.norm(X, axis=1, keepdims=True) for name, X in views.items()}


SETS = {"Handwritten": handwritten, "Caltech7": caltech7}
