"""One call from incomplete views to clusters, or to completed views, with figures that help to judge them."""

from jella.oneshot.clustering import Clustering, cluster
from jella.oneshot.completion import Completion, complete

__all__ = ["Clustering", "Completion", "cluster", "complete"]
