"""Terms: losses, regularisers and constraints that methods are declared from."""

from jella.terms.alignment import Alignment
from jella.terms.base import Coupling, Proximable, Term
from jella.terms.block_diagonal import BlockDiagonal
from jella.terms.constraints import Box, NonNegative, Orthonormal
from jella.terms.indicator import Indicator
from jella.terms.l1 import L1
from jella.terms.l21 import L21
from jella.terms.label_graph import LabelGraph
from jella.terms.learned_graph import LearnedGraph
from jella.terms.linf1 import Linf1
from jella.terms.loss import Loss
from jella.terms.ridge import Ridge
from jella.terms.sample_norm import SampleNorm
from jella.terms.sparse_block_diagonal import SparseBlockDiagonal
from jella.terms.squared import Squared
from jella.terms.support import Support

__all__ = [
    "L1",
    "L21",
    "Alignment",
    "BlockDiagonal",
    "Box",
    "Coupling",
    "Indicator",
    "LabelGraph",
    "LearnedGraph",
    "Linf1",
    "Loss",
    "NonNegative",
    "Orthonormal",
    "Proximable",
    "Ridge",
    "SampleNorm",
    "SparseBlockDiagonal",
    "Squared",
    "Support",
    "Term",
]
