"""What an attack is, and what is recorded about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

#: the seed of the campaign; an attack draws from (SEED, its number)
SEED = 20240601


@dataclass(frozen=True)
class Finding:
    """The outcome of an attack.

    Attributes
    ----------
    verdict : str
        'ok', or what is wrong.
    code : int
        Exit code, or minus the signal.
    seconds, mib : float
        Time, and peak memory in MiB.
    state : str
        A word on what happened, counted in the table.
    said : str
        What the program printed to standard error, cut short; kept if something is wrong.
    """

    verdict: str
    code: int = 0
    seconds: float = 0.0
    mib: float = 0.0
    state: str = ""
    said: str = ""


@dataclass(frozen=True)
class Attack:
    """An attack: it is given an empty folder, and leaves the folder to the caller.

    Attributes
    ----------
    part, group : str
        The part of the campaign, and the row of its table.
    name : str
        Distinct in the part; it says how to do the attack again.
    strike : callable
    count : int
        How many attacks it stands for.
    """

    part: str
    group: str
    name: str
    strike: Callable[[Path], Finding]
    count: int = 1
