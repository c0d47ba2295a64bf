"""How the files with published masks are read, and where published figures come from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from real_sets import loadmat

#: the comparison that the figures of MSRC-v1 and 3Sources are from
HCP = "HCP-IMSC"


def read_masked(path: Path) -> tuple[list[np.ndarray], np.ndarray]:
    """Views and classes of a file: `data` has features as rows, and columns of NaN for samples that a view lacks."""
    file = loadmat(path)
    return [np.asarray(X.T, dtype=np.float64) for X in file["data"].ravel()], file["truelabel"].ravel()[0].ravel()
