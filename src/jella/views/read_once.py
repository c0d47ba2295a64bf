"""Views by name that are read into `Views` only once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jella.views.model import Views
from jella.views.read import Schema, read_views


class ReadOnce(Mapping[str, Any]):
    """A dict of views that remembers the result of `read_views`; its arrays must not be changed.

    It is a container like others: estimators accept it, and return completed or hidden views in the same container.

    Parameters
    ----------
    views : dict of name -> array, DataFrame, ...

    Examples
    --------
    >>> once = ReadOnce({"left": [[1.0, 2.0], [3.0, float("nan")]]})
    >>> read_views(once) is read_views(once)
    True
    """

    def __init__(self, views: Mapping[str, Any]) -> None:
        self._raws = dict(views)
        self._read: dict[Schema | None, Views] = {}

    def __getitem__(self, name: str) -> Any:
        return self._raws[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._raws)

    def __len__(self) -> int:
        return len(self._raws)

    def read(self, schema: Schema | None) -> Views:
        """The result of `read_views` with this schema; it is read once if the schema is that of these views."""
        plain = schema is None or (schema.names == tuple(self) and not schema.categories)
        if None not in self._read and plain:
            views = read_views(self._raws)
            self._read = {None: views, Schema.of(views, self._raws): views}
        if schema not in self._read:
            self._read[schema] = read_views(self._raws, schema=schema)
        return self._read[schema]


@read_views.register
def _(X: ReadOnce, observed: Any = None, schema: Schema | None = None, **how: Any) -> Views:
    return X.read(schema) if observed is None and not how else read_views(dict(X), observed, schema, **how)
