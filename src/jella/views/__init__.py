"""Views: reading, masks, scaling, hiding, writing. Only this room knows the containers of users."""

from jella.views.any_views import AnyView, AnyViews
from jella.views.containers import collect, is_chunked, is_single
from jella.views.hide import Hidden
from jella.views.model import View, Views
from jella.views.read import Schema, read_views
from jella.views.read_once import ReadOnce
from jella.views.write import fill_in

__all__ = [
    "AnyView",
    "AnyViews",
    "Hidden",
    "ReadOnce",
    "Schema",
    "View",
    "Views",
    "collect",
    "fill_in",
    "is_chunked",
    "is_single",
    "read_views",
]
