"""BDGP: images of 2500 embryos of 5 classes from three sides; rows of zeros are missing images."""

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
            "Published mask: half of the 2500 samples lack one or two views. A row of zeros is an image that does not "
            'exist; for all peers it is read as missing too (`jella.align(views, zero_rows="missing")`).'
        ),
        published=(
            Figure("PMIMC", 50.9, 28.9),
            Figure("RISE", 44.9, 19.2),
            Figure("UEAF", 44.4, 21.8),
        ),
        differs=(
            "Their figures are means over rates of .1 to .9, and their weights were chosen with labels. We do not know "
            "how they read rows of zeros; as values, they leave no sample without data."
        ),
    )
]
