"""From values to a tree that JSON can hold, with arrays stored separately; and back.

A node is null, a boolean, a number, text, a list of nodes, or one of three objects: ``{"kind", "parts"}``, a value of
a known kind; ``{"array", "dtype", "shape"}``, an array in a member of the archive; ``{"shared"}``, the position of a
node in a list of those that several places may hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from array_api_compat import is_array_api_obj

from jella.numerics.arrays import to_numpy
from jella.saving.kinds import SCALAR, TEXTS, Kind, UnsaveableError, kinds_by_type
from jella.saving.pandas_kinds import NAMES, pandas_kinds

Node: TypeAlias = Any
#: name of a member, the type and shape that it must have -> the array
ReadArray: TypeAlias = Callable[[str, str, list[int]], np.ndarray]

#: types of numbers, text and dates that NumPy writes without pickling
ARRAY_KINDS = "biufUMm"


class Encoder:
    """From values to nodes; also collects the arrays and the shared nodes.

    Examples
    --------
    >>> encoder = Encoder()
    >>> encoder.encode({"a": (1, 2.5)})
    {'kind': 'dict', 'parts': {'keys': ['a'], 'values': [{'kind': 'tuple', 'parts': {'items': [1, 2.5]}}]}}
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.shared: list[Node] = []
        # the objects are stored with their positions: a free address may be used again for another object
        self._seen: dict[Any, tuple[Any, int]] = {}

    def encode(self, value: Any) -> Node:
        """The node of a value; a value that cannot be saved raises UnsaveableError."""
        if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
            return value
        if type(value) is list:
            return [self.encode(item) for item in value]
        if is_array_api_obj(value) and not isinstance(value, np.generic | np.ma.MaskedArray):
            return self._encode_array(to_numpy(value))
        kind = _kind_of(value)
        if kind.shared:
            return self._share(id(value), value, lambda: self._take_apart(kind, value))
        return self._take_apart(kind, value)

    def _take_apart(self, kind: Kind, value: Any) -> Node:
        return {"kind": kind.name, "parts": {name: self.encode(part) for name, part in kind.apart(value).items()}}

    def _encode_array(self, array: np.ndarray) -> Node:
        if array.dtype.kind == "O":
            return self._take_apart(TEXTS, array)
        if array.dtype.kind not in ARRAY_KINDS:
            raise UnsaveableError(f"an array of {array.dtype}")
        # views of the same memory are the same array
        where = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        return self._share(where, array, lambda: self._put_beside(array))

    def _put_beside(self, array: np.ndarray) -> Node:
        member = f"arrays/{len(self.arrays)}.npy"
        self.arrays[member] = array
        return {"array": member, "dtype": array.dtype.str, "shape": list(array.shape)}

    def _share(self, key: Any, value: Any, make: Callable[[], Node]) -> Node:
        if key not in self._seen:
            self.shared.append(make())
            self._seen[key] = value, len(self.shared) - 1
        return {"shared": self._seen[key][1]}


#: levels of values in values; those of fitted models have about ten
DEEPEST = 50


class Decoder:
    """From nodes to values.

    Parameters
    ----------
    read_array : callable
        Member, type and shape -> array.
    shared : list of nodes
        What `Encoder` collected; each may refer to earlier ones only.

    Examples
    --------
    >>> Decoder(None, []).decode({"kind": "tuple", "parts": {"items": [1, 2.5]}})
    (1, 2.5)
    """

    def __init__(self, read_array: ReadArray, shared: list[Node]) -> None:
        self._read_array = read_array
        self._kinds = {kind.name: kind for kind in (TEXTS, SCALAR, *kinds_by_type().values())}
        self._shared: list[Any] = []
        self._depth = 0
        for node in shared:
            self._check_may_be_shared(node)
            self._shared.append(self.decode(node))

    def decode(self, node: Node) -> Any:
        """The value of a node; an unknown node is a ValueError, and so is one that is nested too deeply."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError(f"expected values that are nested at most {DEEPEST} deep, got more")
        try:
            return self._value(node)
        finally:
            self._depth -= 1

    def _value(self, node: Node) -> Any:
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        if node.keys() == {"shared"}:
            return self._earlier(node["shared"])
        if node.keys() == {"array", "dtype", "shape"}:
            return self._read_array(node["array"], node["dtype"], node["shape"])
        if node.keys() == {"kind", "parts"}:
            return self._put_together(self._kind_named(node["kind"]), node["parts"])
        raise ValueError(f"expected a value, an array or a reference, got an object with {sorted(node)}")

    def _earlier(self, position: int) -> Any:
        if type(position) is not int or not 0 <= position < len(self._shared):
            raise ValueError(f"expected a reference to one of {len(self._shared)} values before it, got {position!r}")
        return self._shared[position]

    def _check_may_be_shared(self, node: Node) -> None:
        """Refuse to share anything but arrays and indexes: a short file could hold endless tuples of tuples."""
        is_array = isinstance(node, dict) and "array" in node
        if not is_array and not (isinstance(node, dict) and "kind" in node and self._kind_named(node["kind"]).shared):
            raise ValueError("expected arrays and indexes among the shared values, got something else")

    def _kind_named(self, name: str) -> Kind:
        if not isinstance(name, str):
            raise ValueError(f"expected the name of a kind of value, got {type(name).__name__}")
        if name in NAMES:
            return next(kind for kind in pandas_kinds().values() if kind.name == name)
        if name not in self._kinds:
            raise ValueError(f"expected a kind of value that this version knows, got {name!r}; update jella")
        return self._kinds[name]

    def _put_together(self, kind: Kind, parts: dict[str, Node]) -> Any:
        values = {name: self.decode(part) for name, part in parts.items()}
        try:
            return kind.together(**values)
        except ModuleNotFoundError:
            raise
        except Exception as error:
            raise ValueError(f"expected the parts of a {kind.name}, got {sorted(values)} ({error})") from error


def _kind_of(value: Any) -> Kind:
    if isinstance(value, np.generic):
        return SCALAR
    known = kinds_by_type()
    if type(value) not in known and type(value).__module__.partition(".")[0] == "pandas":
        known = pandas_kinds()
    if type(value) not in known:
        raise UnsaveableError(f"an object of type {type(value).__qualname__}")
    return known[type(value)]
