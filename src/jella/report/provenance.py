"""The origin of the numbers: command, versions, seed, date, parameters."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from jella._version import __version__
from jella.describe.subject import Subject
from jella.numerics.words import shortened

_PACKAGES = ("numpy", "scipy", "scikit-learn", "array-api-compat", "plotly", "pandas", "torch", "umap-learn")
#: packages whose module has another name
_MODULES = {"scikit-learn": "sklearn", "array-api-compat": "array_api_compat", "umap-learn": "umap"}
_LONG = 120


@dataclass(frozen=True)
class Parameter:
    """A parameter of the model, as text, and whether it has its default value."""

    name: str
    value: str
    is_default: bool


@dataclass(frozen=True)
class Provenance:
    """What is needed to repeat the analysis.

    Attributes
    ----------
    command : str or None
        As given.
    model : str
        The call that makes the model.
    parameters : tuple of Parameter
    model_seed : str
    seed : int
        Seed of the random choices of the report.
    date : str
    versions : dict of name -> version
    machine : str
    """

    command: str | None
    model: str
    parameters: tuple[Parameter, ...]
    model_seed: str
    seed: int
    date: str
    versions: dict[str, str]
    machine: str


def find_provenance(subject: Subject, command: str | None) -> Provenance:
    """Collect it, now and on this machine."""
    model = subject.model
    defaults = type(model)().get_params()
    parameters = tuple(
        Parameter(name, _short(value), repr(value) == repr(defaults.get(name)))
        for name, value in model.get_params(deep=False).items()
    )
    given = ", ".join(f"{p.name}={p.value}" for p in parameters if not p.is_default)
    return Provenance(
        command=command,
        model=f"jella.{subject.method}({given})",
        parameters=parameters,
        model_seed=_short(model.random_state),
        seed=subject.seed,
        date=datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        versions={"Python": platform.python_version(), "jella": __version__, **_versions()},
        machine=f"{platform.system()} {platform.machine()}",
    )


def _versions() -> dict[str, str]:
    """Versions of the packages that this process has loaded, and of the one that draws the plots."""
    found = {}
    for name in _PACKAGES:
        module = _MODULES.get(name, name)
        if module in sys.modules or name == "plotly":
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                continue
    return found


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return shortened(repr(value), _LONG)
