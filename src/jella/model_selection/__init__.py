"""Choosing a rank, a weight or a method without labels: hide observed values, compare how well each predicts them."""

from jella.model_selection.clusters import select_n_clusters
from jella.model_selection.folds import AvailabilityKFold
from jella.model_selection.held_out import HeldOut, held_out_error
from jella.model_selection.rank import RankPath, select_rank
from jella.model_selection.search import Candidate, SearchResult, search

__all__ = [
    "AvailabilityKFold",
    "Candidate",
    "HeldOut",
    "RankPath",
    "SearchResult",
    "held_out_error",
    "search",
    "select_n_clusters",
    "select_rank",
]
