"""Updates: exact minimisers of a block, and a fallback."""

from jella.solve.updates.base import Update
from jella.solve.updates.closed_form import Assignment, LeastSquares, Procrustes
from jella.solve.updates.coordinate_descent import CoordinateDescent
from jella.solve.updates.prox_gradient import ProxGradient
from jella.solve.updates.sylvester import Sylvester

__all__ = ["Assignment", "CoordinateDescent", "LeastSquares", "Procrustes", "ProxGradient", "Sylvester", "Update"]
