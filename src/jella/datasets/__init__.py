"""Data to try the methods on, and ways to make holes in it."""

from jella.datasets.digits import load_digits_views
from jella.datasets.incomplete import make_incomplete

__all__ = ["load_digits_views", "make_incomplete"]
