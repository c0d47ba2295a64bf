"""What is remembered of the landmarks of a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Which samples a fit has related to each other.

    Attributes
    ----------
    n_samples, n_landmarks : int
        Samples with something observed, and how many of them are landmarks.
    reason : str
        Why these.
    recall : float or None
        The share of the nearest neighbours that the search finds, measured on a few samples; 1 where it compares all
        pairs, None if all samples were not considered.
    near : int array (n, q + 1) or None
        The nearest landmarks of each sample, itself first if it is one; -1 means none. None if all samples are
        landmarks, and for Dask collections.
    """

    n_samples: int
    n_landmarks: int
    reason: str
    recall: float | None = None
    near: np.ndarray | None = None

    @property
    def is_worth_a_word(self) -> bool:
        """Whether a user should read about the choice: some samples are no landmarks, or a search missed neighbours."""
        return self.n_landmarks < self.n_samples or self.recall != 1.0

    def __str__(self) -> str:
        if self.n_landmarks == self.n_samples:
            return f"all {self.n_samples:,} samples are related to each other: {self.reason}"
        return f"{self.n_landmarks:,} landmarks of {self.n_samples:,} samples: {self.reason}"
