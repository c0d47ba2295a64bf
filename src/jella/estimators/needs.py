"""Memory and time that a fit needs, estimated before it starts; what the machine cannot give is refused.

The formulas are those of docs/how-big.md, rounded up. `tests/test_needs.py` compares them with what fits allocate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jella.numerics.limits import as_size, available_memory, get_limits
from jella.numerics.words import as_time
from jella.views import Views

#: operations and bytes per second of one usual core: products with the data, large products, reading memory
FLOPS, LARGE, BYTES = 5e9, 2e10, 8e9
#: seconds of a sweep or round of a method on very small data
OVERHEAD = 0.02
#: sweeps that are counted: who allows more wants the fit to end by its tolerance, or by Ctrl-C
MOST_SWEEPS = 1000
#: samples that a search for neighbours compares each sample with, at most
CANDIDATES = 6000
#: bytes of the blocks in which a search for neighbours works
BLOCKS = 2**27


@dataclass(frozen=True)
class Size:
    """What the need of a fit depends on.

    Attributes
    ----------
    samples, features, views, rank : int
    stored : float
        Numbers that the views hold: entries of dense views, one and a half per stored entry of sparse ones.
    width : int
        Bytes of a number.
    entries : bool
        Whether single entries are missing.
    """

    samples: int
    features: int
    views: int
    rank: int
    stored: float
    width: int
    entries: bool

    @classmethod
    def of(cls, views: Views, rank: int) -> Size:
        """The size of views, for a model of this rank."""
        stored = sum(1.5 * view.X.nnz if view.is_sparse else view.n_samples * view.n_features for view in views)
        width = 4 if str(views.dtype).endswith("float32") else 8
        return cls(views.n_samples, views.n_features, len(views), rank, stored, width, not views.is_rowwise)


@dataclass(frozen=True)
class Needs:
    """What a fit needs, by estimate.

    Attributes
    ----------
    memory : float
        Bytes besides the data.
    seconds : float
        Seconds of one usual core, roughly, if the fit takes all the sweeps or rounds that it may take.
    """

    memory: float
    seconds: float

    def __str__(self) -> str:
        return f"about {as_size(self.memory)} of memory, up to about {as_time(self.seconds)}"


def by_sweeps(size: Size, sweeps: int, *, pairs: int, neighbours: int, label_neighbours: int = 0) -> Needs:
    """The needs of a method of the framework.

    Parameters
    ----------
    pairs : int
        Number of n × n arrays.
    neighbours : int
        Neighbours of each sample; 0 for methods that search none.
    label_neighbours : int
        Neighbours of each sample in the graph of labels.
    """
    n, r, w = size.samples, size.rank, size.width
    copies = 6.0 if size.entries else 3.0
    memory = w * (copies * size.stored + 30 * n * r + pairs * n * n)
    sweep = OVERHEAD + (6 * size.stored * r + 100 * n * r * r) / FLOPS + w * 5 * size.stored / BYTES
    sweep += pairs * n * n * (10 * w / BYTES + 10 * r / FLOPS)
    once = 0.0
    if neighbours:
        memory += w * ((7.0 if size.entries else 4.0) * size.stored + 60 * n * neighbours) + min(BLOCKS, 80 * n * n)
        memory += 160 * n * label_neighbours
        sweep += 600 * n * r * r / FLOPS
        once = 40 * n * min(n, CANDIDATES) * size.features / LARGE
    return Needs(memory, once + sweeps * sweep)


def by_dense_rounds(size: Size, rounds: int, rank: int) -> Needs:
    """The needs of a method that makes one dense matrix of double precision of all views, and factors it each round."""
    n, d = size.samples, size.features
    return Needs(8 * (13.5 * n * d + 4 * min(n, d) ** 2), rounds * (8 * n * d * rank / LARGE + 80 * n * d / BYTES))


def by_graphs(size: Size, rounds: int, neighbours: int) -> Needs:
    """The needs of a method that compares all samples in each view and keeps a graph per view."""
    n, edges = size.samples, size.samples * neighbours * size.views
    memory = size.width * 2 * size.stored + 8 * 25 * edges
    return Needs(memory, 8 * n * n * size.features / LARGE + rounds * (OVERHEAD + 240 * edges / FLOPS))


def check_needs(name: str, needs: Needs, views: Views) -> None:
    """Refuse a fit of the method of this name if it needs more than the limits allow."""
    lacking = shortfall(needs, views)
    if lacking is None:
        return
    least = by_sweeps(Size.of(views, 20), 20, pairs=0, neighbours=10)
    other = f"use jella.SparseBDR ({least}), " if least.memory < needs.memory and name != "SparseBDR" else ""
    raise ValueError(
        f"{name} needs {lacking.need} for {views.n_samples:,} samples x {views.n_features:,} features, got "
        f"{lacking.got}; {other}take fewer samples or features, or go on anyway with "
        f"jella.set_limits({lacking.argument}=None), on the command line {lacking.option} none"
    )


@dataclass(frozen=True)
class Shortfall:
    """What a fit needs, what there is, and the limit to raise."""

    need: str
    got: str
    argument: str
    option: str


def shortfall(needs: Needs, views: Views) -> Shortfall | None:
    """What the limits do not allow of these needs; None if they allow all."""
    limits = get_limits()
    room, kind = (_available(views), "available") if isinstance(limits.memory, str) else (limits.memory, "allowed")
    if room is not None and needs.memory > room:
        need = f"about {as_size(needs.memory)} of memory"
        return Shortfall(need, f"{as_size(room)} {kind}", "memory", "--max-memory")
    if limits.seconds is not None and needs.seconds > limits.seconds:
        need = f"up to {as_time(needs.seconds)} of a core, by estimate,"
        return Shortfall(need, f"a limit of {as_time(limits.seconds)}", "seconds", "--max-time")
    return None


def _available(views: Views) -> int | None:
    """Bytes that are left where the views are: in the memory of the machine or of their device."""
    X: Any = next((view.X for view in views if not view.is_sparse), None)
    device: Any = getattr(X, "device", None)
    if getattr(device, "type", None) == "cuda":
        import torch

        return int(torch.cuda.mem_get_info(device)[0])
    if hasattr(device, "mem_info"):  # CuPy
        return int(device.mem_info[0])
    return available_memory()
