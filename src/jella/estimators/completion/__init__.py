"""Completion of the views side by side: robust PCA and robust rank-k completion."""

from jella.estimators.completion.rpca import RPCA
from jella.estimators.completion.rrmc import RRMC

__all__ = ["RPCA", "RRMC"]
