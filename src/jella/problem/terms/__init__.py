"""Terms: losses, regularisers and constraints that methods are declared from."""

from jella.problem.terms.alignment import Alignment
from jella.problem.terms.base import Coupling, Proximable, Term
from jella.problem.terms.block_diagonal import BlockDiagonal
from jella.problem.terms.constraints import Box, NonNegative, Orthonormal
from jella.problem.terms.indicator import Indicator
from jella.problem.terms.l1 import L1
from jella.problem.terms.l21 import L21
from jella.problem.terms.label_graph import LabelGraph
from jella.problem.terms.learned_graph import LearnedGraph
from jella.problem.terms.linf1 import Linf1
from jella.problem.terms.loss import Loss, Squared
from jella.problem.terms.ridge import Ridge
from jella.problem.terms.sample_norm import SampleNorm
from jella.problem.terms.sparse_block_diagonal import SparseBlockDiagonal, Support

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
