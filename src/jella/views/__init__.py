"""Views in and out: the only package that knows the containers users have."""

from jella.views.hide import Hidden
from jella.views.model import View, Views
from jella.views.read import Schema, check_for_fit, is_chunked, is_single, read_views
from jella.views.write import collect, write_views

__all__ = [
    "Hidden",
    "Schema",
    "View",
    "Views",
    "check_for_fit",
    "collect",
    "is_chunked",
    "is_single",
    "read_views",
    "write_views",
]
