"""Methods beside the framework that settle on one consensus of the views: MIC (factors) and RAMC (a graph)."""

from jella.estimators.consensus.mic import MIC
from jella.estimators.consensus.ramc import RAMC

__all__ = ["MIC", "RAMC"]
