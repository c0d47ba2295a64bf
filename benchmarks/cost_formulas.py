"""The cost of a sweep by formula: operations, bytes and memory of each method, from a few constants of a machine."""

from __future__ import annotations

import math
from dataclasses import asdict, astuple, dataclass, replace

from jella.estimators.landmarks import LANDMARKS
from jella.graphs.cells import CELL_SIZE, MAX_CELLS
from jella.graphs.neighbours import EXACT, PROBES
from jella.graphs.panels import PANEL

D, R, V, Q, K = 100, 10, 2, 10, 10  # features, components, views, neighbours, clusters
WORD, MASK, INDEX = 8, 1, 4  # bytes
#: arrays up to this size use memory that the process already has; larger ones are newly allocated by the system
REUSED = 2**25


@dataclass(frozen=True)
class Constants:
    """The measured constants: operations and bytes per second of one core, seconds per task."""

    flops: float  # products of data, bases and embedding in a sweep, from memory
    large: float  # large products
    single: float  # large products in single precision
    bytes: float  # read from memory
    fresh: float  # bytes of newly allocated memory
    gathered: float  # numbers that a sparse product reads from rows of near samples
    sorted: float  # numbers of a row that is sorted, times the logarithm (to base 2) of its length
    task: float  # seconds of the scheduler for a task


@dataclass(frozen=True)
class Cost:
    """All per sample: operations, bytes through memory, bytes kept; the rest as in Constants."""

    flops: float = 0.0
    traffic: float = 0.0
    kept: float = 0.0
    gathered: float = 0.0
    fresh: float = 0.0
    sorted: float = 0.0
    large: float = 0.0
    single: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def seconds(self, constants: Constants, n: float) -> float:
        """Seconds of one core."""
        rates = {**asdict(constants), "traffic": constants.bytes}
        return n * sum(value / rates[name] for name, value in asdict(self).items() if name != "kept")

    def gib(self, n: float) -> float:
        """GiB kept for all samples."""
        return self.kept * n / 2**30


@dataclass(frozen=True)
class Steps:
    """Counts that only a run shows: products with the coupling and eigensolver steps per sweep; pairs per sample."""

    products: float = 0.0
    eigen: float = 0.0
    pairs: float = 0.0


def costs(n: int, steps: Steps) -> dict[str, Cost]:
    """A sweep in double precision with missing entries (IRMKMC: missing views): see docs/how-big.md."""
    entries = D * (WORD + MASK)
    by_row = Cost(6 * D * R + 4 * R * R, entries + (3 * D + 6 * R) * WORD)
    return {
        "MVLIV": by_row + Cost(kept=entries + (D + 4 * R) * WORD),
        "MVLIV, in chunks": Cost(8 * D * R + 4 * R * R, 2 * entries + 4 * R * WORD, entries + 2 * R * WORD),
        "PVC, DAIMC": by_row + Cost(36 * R * R, 54 * R * WORD, entries + D * WORD),
        "IRMKMC": Cost(8 * D * R, (4 * D + 3 * V * R * R) * WORD, (D + 4 * R) * WORD),
        "SparseBDR": by_row + Cost(kept=2 * entries + 4 * D * WORD) + sparse_blocks(steps),
        "IMLBDR": by_row + _dense_blocks(n, steps),
        "IMG": by_row + _learned_graph(n, steps),
    }


def sparse_blocks(steps: Steps) -> Cost:
    """The cost of SparseBDR besides the products with the data."""
    c, e, m = astuple(steps)
    return _of_embedding(steps) + Cost(
        traffic=25 * m * WORD,  # the affinity, pair by pair
        kept=Q * (WORD + 3 * INDEX) + m * (12 * WORD + 14 * INDEX),
        gathered=m * (4 * c * R + 4 * e * K + 6 * R + 4 * K),
    )


def _dense_blocks(n: int, steps: Steps) -> Cost:
    c, e, _ = astuple(steps)
    return _of_embedding(steps) + Cost(
        n * (4 * c * R + 4 * e * K + 6 * R + 4 * K), n * (2 * c + e + 40) * WORD, 3 * n * WORD, fresh=_new(n, 1)
    )


def _learned_graph(n: int, steps: Steps) -> Cost:
    c = steps.products
    return _of_embedding(replace(steps, eigen=0.0)) + Cost(
        n * (4 * c * R + 2 * R), n * (4 * c + 34) * WORD, 8 * n * WORD, fresh=_new(n, 8), sorted=n * math.log2(n)
    )


def _of_embedding(steps: Steps) -> Cost:
    """Arrays of n rows in conjugate gradients (rank r) and in the eigensolver (k columns, then 2k more)."""
    c, e, _ = astuple(steps)
    return Cost(
        (8 * c + 14) * R * R + (80 * e + 12) * K * K, ((30 * c + 20) * R + (70 * e + 27) * K) * WORD, 16 * R * WORD
    )


def _new(n: int, arrays: int) -> float:
    """Bytes of new memory per sample for n x n arrays."""
    return arrays * n * WORD if n * n * WORD > REUSED else 0.0


def search_cost(n: int) -> Cost:
    """Cost of the search for neighbours over shared entries: of all pairs, each once; or of the candidates in cells."""
    if n <= EXACT:
        panels = max(round(n / PANEL), 1)
        pairs = n * (panels + 1) / (2 * panels)
        return Cost(single=2 * pairs * 4 * D, traffic=5 * n * WORD / 2)
    size = max(CELL_SIZE, n / MAX_CELLS)
    while size > 4 * CELL_SIZE:  # such cells are split in halves
        size /= 2
    candidates = PROBES * size
    return Cost(single=2 * candidates * 4 * D, traffic=(8 * candidates + 8 * PROBES * 4 * D) * WORD / 2)


def tying_cost(m: int = LANDMARKS) -> Cost:
    """Cost of a sample that is tied to m landmarks: how well each fits it, and the choice of the best."""
    return Cost(large=2 * m * (R + D), traffic=5 * m * WORD)
