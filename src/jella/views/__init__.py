"""Views in and out: the only room that knows the containers users have."""

from jella.views.hide import Hidden
from jella.views.model import AnyView, AnyViews, View, Views
from jella.views.read import Schema, is_chunked, is_single, read_views
from jella.views.write import collect, write_views

__all__ = [
    "AnyView",
    "AnyViews",
    "Hidden",
    "Schema",
    "View",
    "Views",
    "collect",
    "is_chunked",
    "is_single",
    "read_views",
    "write_views",
]
