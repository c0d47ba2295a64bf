"""Data sets to try the methods on, and functions that remove values from them."""

from jella.datasets.digits import load_digits_views
from jella.datasets.incomplete import make_incomplete
from jella.datasets.load import Availability, available, find, load

__all__ = ["Availability", "available", "find", "load", "load_digits_views", "make_incomplete"]
