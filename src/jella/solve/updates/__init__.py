"""Updates: one exact minimiser of a block per file, and a fallback."""

from jella.solve.updates.assignment import Assignment
from jella.solve.updates.base import Update
from jella.solve.updates.coordinate_descent import CoordinateDescent
from jella.solve.updates.least_squares import LeastSquares
from jella.solve.updates.procrustes import Procrustes
from jella.solve.updates.prox_gradient import ProxGradient
from jella.solve.updates.sylvester import Sylvester

__all__ = ["Assignment", "CoordinateDescent", "LeastSquares", "Procrustes", "ProxGradient", "Sylvester", "Update"]
