"""Methods outside the framework that find one consensus of the views: MIC (an embedding) and RAMC (a graph)."""

from jella.estimators.consensus.mic import MIC
from jella.estimators.consensus.ramc import RAMC

__all__ = ["MIC", "RAMC"]
