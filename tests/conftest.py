"""Fixtures: folders outside the repository, array libraries, a seeded generator."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

# the same cases in every run; others with `pytest --hypothesis-profile default`
hypothesis.settings.register_profile("same cases", derandomize=True)
hypothesis.settings.load_profile("same cases")


def _folder(variable: str) -> Path:
    if not os.environ.get(variable):
        pytest.skip(f"{variable} is not set")
    return Path(os.environ[variable])


@pytest.fixture(scope="session")
def golden() -> Path:
    """Outputs of the original programs."""
    return _folder("JELLA_GOLDEN")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Real data sets."""
    return _folder("JELLA_DATA")


@pytest.fixture(scope="session", autouse=True)
def _few_trials() -> None:
    """Few trials where a completion is calibrated: more of them test nothing else, and take most of the time."""
    import jella.impute.hidden_values as trials

    trials.MOST_TRIALS = trials.FEWEST_TRIALS


@pytest.fixture(scope="session", autouse=True)
def _little_evidence() -> None:
    """Few refits and clouds where a number of clusters is chosen, for the same reason."""
    import jella.evidence.gather as gather
    import jella.evidence.refits as refits

    refits.FEWEST_REFITS, refits.REFITS, gather.CLOUDS, gather.FEWEST_CLOUDS, gather.PERMUTED = 2, 2, 5, 2, 1


@pytest.fixture(autouse=True)
def _no_figure_stays_open() -> Iterator[None]:
    """Close the figures of matplotlib: it warns of many open ones."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def xp(request: pytest.FixtureRequest) -> Any:
    """Every array library that is installed."""
    if request.param == "numpy":
        return np
    return pytest.importorskip(request.param)


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded generator."""
    return np.random.default_rng(0)
