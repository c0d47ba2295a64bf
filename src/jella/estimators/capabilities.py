"""What a method can do: one record for tags, errors, `jella methods` and the checks for Dask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from jella.problem import Problem
from jella.problem.model import Data
from jella.solve.plan import choose_update
from jella.views import View, Views


@dataclass(frozen=True)
class Capabilities:
    """What a method accepts and keeps in memory.

    Attributes
    ----------
    missing : {'entries', 'views', 'nothing'}
        What may be missing: views and single entries, whole views only, or nothing.
    signed : bool
        Whether it accepts negative values.
    pairs : int
        Number of n × n arrays that it holds in memory.
    not_in_chunks : str or None
        Why it cannot fit samples in chunks (Dask), in words; None if it can.
    chooses_n_clusters : bool
        Whether it finds the number of clusters if none is given.
    memory : str
        What it holds beside the data, of n samples with d features and r components.
    """

    missing: str = "entries"
    signed: bool = True
    pairs: int = 0
    not_in_chunks: str | None = "relates samples to each other"
    chooses_n_clusters: bool = False
    memory: str = "n·r"

    @classmethod
    def of(cls, problem: Problem, chooses_n_clusters: bool = False) -> Capabilities:
        """What a declared problem takes and holds."""
        pairs = sum(term.pairs for term in problem.embedding)
        return cls(
            missing="entries" if problem.loss.allows_entries else "views",
            signed=not problem.needs_nonnegative_data,
            pairs=pairs,
            not_in_chunks=_why_not_in_chunks(problem),
            chooses_n_clusters=chooses_n_clusters,
            memory="n²" if pairs else "n·r" if problem.neighbours is None else "n·(r + neighbours)",
        )


@cache
def probe() -> Data:
    """A few samples of two views, for which a method declares its problem."""
    rng = np.random.default_rng(0)
    complete = np.ones((1, 1), dtype=bool)
    views = Views(tuple(View(name, rng.uniform(0.1, 1.0, (4, 3)), complete) for name in ("a", "b")))
    return Data(views, None, np.arange(4), 4)


def _why_not_in_chunks(problem: Problem) -> str | None:
    """Why a problem cannot be solved in chunks, or None.

    Terms must treat samples one by one, or relate them through few neighbours, which fit into the client's memory.
    """
    for term in problem.embedding:
        if term.pairs:
            return f"has {term.name}, which relates all samples to each other"
    update = choose_update(problem.embedding, "embedding")
    if problem.is_separable and not update.by_row:
        names = " with ".join(term.name for term in problem.embedding)
        return f"has {names}, which {update.name} solves for all samples together"
    return None
