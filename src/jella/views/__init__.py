"""Views in and out: the only package that knows the containers users have."""

from jella.views.model import View, Views
from jella.views.read import Schema, check_for_fit, is_chunked, is_single, read_views
from jella.views.read_once import ReadOnce
from jella.views.write import collect, fill_in

__all__ = [
    "ReadOnce",
    "Schema",
    "View",
    "Views",
    "check_for_fit",
    "collect",
    "fill_in",
    "is_chunked",
    "is_single",
    "read_views",
]
