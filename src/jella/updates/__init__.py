"""Updates: one exact minimiser of a block per file, and a fallback."""

from jella.updates.assignment import Assignment
from jella.updates.base import Update
from jella.updates.coordinate_descent import CoordinateDescent
from jella.updates.least_squares import LeastSquares
from jella.updates.procrustes import Procrustes
from jella.updates.prox_gradient import ProxGradient
from jella.updates.sylvester import Sylvester

__all__ = ["Assignment", "CoordinateDescent", "LeastSquares", "Procrustes", "ProxGradient", "Sylvester", "Update"]
