"""Methods beside the framework that settle on one consensus of the views: MIC (factors) and RAMC (a graph)."""

from jella.consensus.mic import MIC
from jella.consensus.ramc import RAMC

__all__ = ["MIC", "RAMC"]
