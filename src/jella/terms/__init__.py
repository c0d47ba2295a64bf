"""Terms: losses, regularisers and constraints that methods are declared from."""

from jella.terms.base import Proximable, Term
from jella.terms.constraints import Box, NonNegative, Orthonormal
from jella.terms.l1 import L1
from jella.terms.l21 import L21
from jella.terms.linf1 import Linf1
from jella.terms.loss import Loss
from jella.terms.ridge import Ridge
from jella.terms.squared import Squared

__all__ = ["L1", "L21", "Box", "Linf1", "Loss", "NonNegative", "Orthonormal", "Proximable", "Ridge", "Squared", "Term"]
