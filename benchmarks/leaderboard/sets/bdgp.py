"""BDGP: 2500 embryos of 5 classes, images from three sides; half of the samples lack views, and rows of zeros do too."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import jella
from leaderboard.case import Case, Figure
from leaderboard.published import read_masked


def read(data: Path, repeat: int) -> tuple[list[np.ndarray], np.ndarray]:
    """A row of zeros is an image that does not exist: it becomes missing."""
    views, y = read_masked(data / "published" / "BDGP_fea_Per0.5.mat")
    return list(jella.align(views, zero_rows="missing")), y


CASES = [
    Case(
        name="BDGP, 50% complete, rows of zeros missing",
        read=read,
        missing=(
            "Published mask: half of the 2500 samples lack one or two views. Rows of zeros are images that do not exist; "
            'they are read as missing too (`jella.align(views, zero_rows="missing")`), for all peers.'
        ),
        published=(
            Figure("PMIMC", 50.9, 28.9, None, ""),
            Figure("RISE", 44.9, 19.2, None, ""),
            Figure("UEAF", 44.4, 21.8, None, ""),
        ),
        differs=(
            "Their figures are means over shares of .1 to .9, their weights were chosen with labels, and they take rows "
            "of zeros as values, so that no sample is without data."
        ),
    )
]
