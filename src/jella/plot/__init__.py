"""Plots of fitted models and results with matplotlib; every function takes `ax` and returns the Axes."""

from jella.plot.affinity_plot import affinity
from jella.plot.completed_plot import completed
from jella.plot.embedding_plot import embedding
from jella.plot.evidence_plot import evidence
from jella.plot.heatmap_plot import heatmap
from jella.plot.loadings_plot import loadings
from jella.plot.missingness_plot import missingness
from jella.plot.objective_plot import objective
from jella.plot.variance_plot import variance_explained

__all__ = [
    "affinity",
    "completed",
    "embedding",
    "evidence",
    "heatmap",
    "loadings",
    "missingness",
    "objective",
    "variance_explained",
]
