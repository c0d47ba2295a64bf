"""How the files with published masks are read, and the papers of the methods whose figures are quoted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from real_sets import loadmat

#: methods whose published figures stand on the page
PAPERS = {
    "HCP-IMSC": "Li et al., High-order correlation preserved incomplete multi-view subspace clustering, IEEE TIP 2022",
    "MKKM-IK-MKC": "Liu et al., Multiple kernel k-means with incomplete kernels, IEEE TPAMI 2020",
    "FLSD": "Wen et al., Generalized incomplete multiview clustering with flexible locality structure diffusion, "
    "IEEE Trans. Cybernetics 2021",
    "PIC": "Wang et al., Spectral perturbation meets incomplete multi-view data, IJCAI 2019 (arXiv 1906.00098)",
    "IMSC_AGL": "Wen et al., Incomplete multiview spectral clustering with adaptive graph learning, "
    "IEEE Trans. Cybernetics 2020",
    "UEAF": "Wen et al., Unified embedding alignment with missing views inferring for incomplete multi-view "
    "clustering, AAAI 2019",
}


def read_masked(path: Path) -> tuple[list[np.ndarray], np.ndarray]:
    """Views and classes of a file: `data` has features as rows, and columns of NaN for samples that a view lacks."""
    file = loadmat(path)
    return [np.asarray(X.T, dtype=np.float64) for X in file["data"].ravel()], file["truelabel"].ravel()[0].ravel()
