"""BBCSport: 116 articles of 5 sports in four parts, half of the samples of each view missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from real_sets import loadmat

from leaderboard.case import Case, Figure


def read(data: Path, repeat: int) -> tuple[list[np.ndarray], np.ndarray]:
    file = loadmat(data / "BBCSport" / "bbcsport4vbigRnSp.mat")
    folds = loadmat(data / "published" / "bbcsport4vbigRnSp_percentDel_0.5.mat")["folds"].ravel()
    present = folds[repeat].astype(bool)
    views = [X.T.astype(np.float64) for X in file["X"].ravel()]
    for v, X in enumerate(views):
        X[~present[:, v]] = np.nan
    return views, file["truth"].ravel()


CASES = [
    Case(
        name="BBCSport (4 views), half missing",
        read=read,
        missing="Ten published masks: each view lacks 58 of the 116 samples; every sample keeps one view at least.",
        repeats=10,
        published=(Figure("PIC", 69.5, 53.9), Figure("IMSC_AGL", 69.3, 54.6)),
        differs="Their weights were chosen with labels, and their masks may be others of the same kind.",
    )
]
