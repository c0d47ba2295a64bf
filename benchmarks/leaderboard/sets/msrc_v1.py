"""MSRC-v1: 210 images of 7 classes, three views, masks of a published comparison."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from leaderboard.case import Case, Figure
from leaderboard.published import read_masked


def read(share: str, data: Path, repeat: int) -> tuple[list[np.ndarray], np.ndarray]:
    return read_masked(data / "published" / f"MSRCV1_3v_Per{share}.mat")


FIGURES = {
    "0.1": (Figure("HCP-IMSC", 69.9, 62.2), Figure("MKKM-IK-MKC", 73.3, None)),
    "0.5": (Figure("HCP-IMSC", 87.0, 76.4),),
    "0.9": (Figure("HCP-IMSC", 86.8, 75.9),),
}
CASES = [
    Case(
        name=f"MSRC-v1 (3 views), {float(share):.0%} complete",
        read=partial(read, share),
        missing=f"Published mask: {float(share):.0%} of the 210 samples have all views, the others lack one or two.",
        published=FIGURES[share],
        differs=(
            "Their weights were chosen with labels. We do not know in which order they took the samples. EE-R-IMVC is "
            "reported with ACC 92.0 at 70 % complete, a mask that we do not have."
        ),
    )
    for share in FIGURES
]
