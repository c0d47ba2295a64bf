"""3Sources: 416 stories of 6 topics in three newspapers, naturally missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from leaderboard.case import Case, Figure
from leaderboard.published import read_masked


def read(data: Path, repeat: int) -> tuple[list[np.ndarray], np.ndarray]:
    return read_masked(data / "published" / "3sourceIncomplete.mat")


CASES = [
    Case(
        name="3Sources (416), naturally missing",
        read=read,
        missing="Stories that a newspaper did not print: 53, 194 and 169 of the 416 are in one, two and three of them.",
        published=(
            Figure("HCP-IMSC", 91.3, 79.3, 80.5),
            Figure("FLSD", 88.7, 74.3, 75.5),
            Figure("PIC", 87.5, 72.6, 72.6),
        ),
        differs="Their weights were chosen with labels. We do not know in which order they took the samples.",
    )
]
