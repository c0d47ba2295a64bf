"""A check of MATLAB files, versions 4 to 7, before SciPy opens them: it trusts their types, lengths and indices."""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from jella.io.errors import DataError
from jella.io.guard import OBJECT_BYTES, Budget, damaged
from jella.io.sparse_parts import check_indices, sparse_bytes

_MATRIX, _COMPRESSED = 14, 15
#: numbers of the types of elements, as NumPy types; the last three are text
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TYPES |= {16: "u1", 17: "u2", 18: "u4"}
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17
_NUMBERS = range(6, 16)
_DEEPEST, _MOST_SIDES = 50, 32


def check_mat(path: Path) -> None:
    """Refuse a file that SciPy could not read safely, or that needs far more memory than it stores."""
    data = memoryview(path.read_bytes())
    if 0 in bytes(data[:4]):
        _check_version_4(data, path)
    else:
        _Version5(data, path).check()


def _check_version_4(data: memoryview, path: Path) -> None:
    at, budget = 0, Budget(path)
    order = "<" if 0 <= struct.unpack_from("<i", data)[0] <= 5000 else ">"
    while at < len(data):
        kind, rows, columns, is_complex, name = struct.unpack_from(f"{order}5i", data, at)
        size = {0: 8, 1: 4, 2: 4, 3: 2, 4: 2, 5: 1}.get(kind // 10 % 10, 0)
        at += 20 + name + rows * columns * size * (2 if is_complex == 1 else 1)
        if min(rows, columns, name) < 0 or size == 0 or at > len(data):
            raise damaged(path, "a matrix with wrong lengths")
        budget.need(8 * rows * columns)


class _Version5:
    """The elements of a file, one in another."""

    def __init__(self, data: memoryview, path: Path) -> None:
        self.path, self.file = path, data
        self.order = "<" if bytes(data[126:128]) == b"IM" else ">"
        self.budget = Budget(path)

    def check(self) -> None:
        """Walk through all variables."""
        at = 128
        while at < len(self.file):
            kind, length = struct.unpack_from(f"{self.order}2I", self.file, at)
            body = self.file[at + 8 : at + 8 + length]
            if len(body) < length or length == 0 or kind not in (_MATRIX, _COMPRESSED):
                raise damaged(self.path, "a variable with a wrong length")
            if kind == _COMPRESSED:
                body = memoryview(self._unpacked(body))
                kind, start, size, _ = self._element(body, 0)
                body = body[start : start + size]
                if kind != _MATRIX:
                    raise damaged(self.path, "a packed element that is no variable")
            self._matrix(body, 0)
            at += 8 + length

    def _unpacked(self, body: memoryview) -> bytes:
        left = self.budget.left
        out = zlib.decompressobj().decompress(body, 0 if left is None else left + 1)
        if left is not None and len(out) > left:
            self.budget.need(len(out))
        return out

    def _element(self, data: memoryview, at: int) -> tuple[int, int, int, int]:
        """Type, start and length of the element at a position, and the position of the next one."""
        kind, length = struct.unpack_from(f"{self.order}2I", data, at)
        if kind >> 16:  # a short element: type, length and up to four bytes in one
            kind, length, start, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
            if length > 4:
                raise damaged(self.path, "a short element that is long")
        else:
            start, end = at + 8, at + 8 + length + (-length % 8 if kind != _MATRIX else 0)
        if start + length > len(data):
            raise damaged(self.path, "an element that is cut short")
        return kind, start, length, end

    def _values(self, data: memoryview, at: int, kinds: str = "iuf") -> tuple[np.ndarray, int]:
        """The numbers of an element, and the position of the next one."""
        kind, start, length, end = self._element(data, at)
        dtype = np.dtype(self.order + _TYPES[kind]) if kind in _TYPES else None
        if dtype is None or dtype.kind not in kinds or length % dtype.itemsize:
            raise damaged(self.path, f"numbers of the unknown type {kind}")
        return np.frombuffer(data[start : start + length], dtype=dtype), end

    def _matrix(self, data: memoryview, depth: int) -> None:
        """One variable, cell or field."""
        self.budget.need(OBJECT_BYTES)
        if len(data) == 0:
            return
        if depth > _DEEPEST:
            raise DataError(
                f"expected at most {_DEEPEST} cells in one another in {self.path.name}, got more; store one matrix per "
                "view"
            )
        flags, at = self._values(data, 0)
        if flags.dtype.itemsize != 4 or flags.size != 2:
            raise damaged(self.path, "a variable without a class")
        kind, is_complex = int(flags[0]) & 0xFF, bool(int(flags[0]) & 0x800)
        if kind == _OPAQUE:
            self._parts(data, self._skip(data, at, 3), 1, depth)
            return
        dims, at = self._values(data, at, "iu")
        shape = [int(side) for side in dims]
        if not 2 <= len(shape) <= _MOST_SIDES or min(shape) < 0 or dims.dtype.itemsize != 4:
            raise damaged(self.path, f"a variable of the shape {shape[:4]}")
        at = self._skip(data, at, 1)  # the name
        if kind in _NUMBERS or kind == _CHAR:
            self._numbers(data, at, shape, 2 if is_complex else 1)
        elif kind == _SPARSE:
            self._sparse(data, at, shape, is_complex)
        elif kind in (_CELL, _FUNCTION):
            self._parts(data, at, math.prod(shape) if kind == _CELL else 1, depth)
        elif kind in (_STRUCT, _OBJECT):
            fields, at = self._fields(data, self._skip(data, at, 1) if kind == _OBJECT else at)
            self._parts(data, at, math.prod(shape) * fields, depth)
        else:
            raise damaged(self.path, f"a variable of the unknown class {kind}")

    def _skip(self, data: memoryview, at: int, count: int) -> int:
        """The position after some elements of text."""
        for _ in range(count):
            names, at = self._values(data, at)
            if names.dtype.itemsize != 1:
                raise damaged(self.path, "a name that is no text")
        return at

    def _fields(self, data: memoryview, at: int) -> tuple[int, int]:
        """The number of fields of a structure, and the position after their names."""
        widths, at = self._values(data, at, "iu")
        names, at = self._values(data, at)
        if widths.size != 1 or widths.dtype.itemsize != 4 or widths[0] <= 0 or names.dtype.itemsize != 1:
            raise damaged(self.path, "a structure without names of fields")
        return names.size // int(widths[0]), at

    def _parts(self, data: memoryview, at: int, count: int, depth: int) -> None:
        """Variables in a cell array or structure."""
        if count > len(data) // 8:
            raise damaged(self.path, f"{count} cells in {len(data)} bytes")
        for _ in range(count):
            kind, start, length, at = self._element(data, at)
            if kind != _MATRIX:
                raise damaged(self.path, "a cell that is no variable")
            self._matrix(data[start : start + length], depth + 1)

    def _numbers(self, data: memoryview, at: int, shape: list[int], times: int) -> None:
        for _ in range(times):
            values, at = self._values(data, at)
            self.budget.need(8 * max(math.prod(shape), values.size))

    def _sparse(self, data: memoryview, at: int, shape: list[int], is_complex: bool) -> None:
        if len(shape) != 2:
            raise damaged(self.path, "a sparse matrix that has more than two sides")
        indices, at = self._values(data, at, "iu")
        starts, at = self._values(data, at, "iu")
        parts: list[Any] = []
        for _ in range(2 if is_complex else 1):
            values, at = self._values(data, at)
            parts.append(values.size)
        starts = starts[: shape[1] + 1]
        stored = int(starts[-1]) if starts.size else 0
        self.budget.need(sparse_bytes(shape, indices.size))
        check_indices(starts, indices[: max(stored, 0)], min(stored, *parts), (shape[1], shape[0]), self.path)
