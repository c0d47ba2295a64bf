"""Completion of the views side by side: robust PCA and robust rank-k completion."""

from jella.completion.rpca import RPCA
from jella.completion.rrmc import RRMC

__all__ = ["RPCA", "RRMC"]
