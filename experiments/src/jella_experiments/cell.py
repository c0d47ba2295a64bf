"""One cell of an experiment: a method with its settings, on one data set with one draw of missing values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any
from zlib import crc32

import numpy as np

TASKS = ("cluster", "hold-out", "converge")


@dataclass(frozen=True, order=True)
class Cell:
    """One computation.

    Parameters
    ----------
    dataset : str
        As `jella.datasets.load` knows it.
    setting : {'missing-view', 'incomplete-view', 'complete'}
    rate : float
        Rate of missing values; 0 in the setting 'complete'.
    repetition : int
    method : str
        The name of a contender.
    parameters : tuple of (name, value)
        Parameters of the contender other than its defaults; sorted by name.
    views : tuple of str
        Names of the views used; all if empty.
    task : {'cluster', 'hold-out', 'converge'}
        Cluster and complete, and score both with the truth; or the label-free error on held-out values; or the
        objective by sweep.
    """

    dataset: str
    setting: str
    rate: float
    repetition: int
    method: str
    parameters: tuple[tuple[str, Any], ...] = ()
    views: tuple[str, ...] = ()
    task: str = "cluster"

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"expected a task among {TASKS}, got {self.task!r}; pass one of these names")

    @property
    def seed(self) -> int:
        """Seed of the missing values, from data set, setting, rate and repetition: the same for all methods."""
        words = (crc32(self.dataset.encode()), crc32(self.setting.encode()), round(self.rate * 1e6), self.repetition)
        return int(np.random.SeedSequence(words).generate_state(1)[0])

    def as_dict(self) -> dict[str, Any]:
        """The cell as it is written in a results file."""
        return {**asdict(self), "parameters": dict(self.parameters), "views": list(self.views)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Cell:
        """The cell of a line of a results file."""
        values = {field.name: record[field.name] for field in fields(cls)}
        values["parameters"] = tuple(sorted(values["parameters"].items()))
        values["views"] = tuple(values["views"])
        return cls(**values)

    @property
    def key(self) -> str:
        """A text that is equal for equal cells."""
        return json.dumps(self.as_dict(), sort_keys=True)
