"""A check of R data files before they are parsed: what they unpack to, and how many objects they hold."""

from __future__ import annotations

import bz2
import lzma
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jella.io.errors import DataError
from jella.io.guard import Budget, check_size, damaged

#: how a packed file begins, and what unpacks it
_PACKED: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
}
_MAGIC, _ORDERS = (b"RDX2\n", b"RDX3\n", b"RDB2\n", b"RDB3\n"), {b"X\n": ">", b"B\n": "<"}
_OBJECT, _TEXT_WEIGHT = 300, 40  # bytes in memory for an object, and for each byte of a file that is text
_DEEPEST = 900
_PIECE = 2**24  # bytes that are unpacked at a time
#: numbers of the kinds of objects
_SYMBOL, _ENVIRONMENT, _CHAR, _POINTER, _BYTE_CODE, _ALTREP, _NAMESPACE = 1, 4, 9, 22, 21, 238, 249
_PAIRS, _LISTS, _BUILT_IN, _BARE = {2, 3, 5, 6, 17, 240}, {16, 19, 20}, {7, 8}, {254, 255}
_EMPTY = {0, 25, 241, 242, 251, 253} | _BARE
_WIDTHS = {10: 4, 13: 4, 14: 8, 15: 16, 24: 1}
_REPEATED, _REPEATS, _IN_CODE = 243, 244, {2, 6, 21, 239, 240, 243, 244}


def unpacked(path: Path) -> bytes:
    """The unpacked bytes of an R data file; refused if they, or the objects in them, need far too much memory."""
    data = path.read_bytes()
    for _ in range(3):  # a packed file in a packed file is read too
        start = next((start for start in _PACKED if data.startswith(start)), None)
        data = data if start is None else bytes(_unpacked(data, _PACKED[start], path))
    body = memoryview(data)[5:] if data.startswith(_MAGIC) else memoryview(data)
    order = _ORDERS.get(bytes(body[:2]))
    if order is not None:
        _Walk(body[2:], order, path).check()
    else:
        check_size(path, _TEXT_WEIGHT * len(data))
    return data


def _unpacked(data: bytes, make: Callable[[], Any], path: Path) -> bytearray:
    """Unpack all streams that follow one another, piece by piece, so that too much is noticed before it is there."""
    out, budget = bytearray(), Budget(path)
    while data:
        stream = make()
        while not stream.eof:
            piece = stream.decompress(data, _PIECE)
            data = getattr(stream, "unconsumed_tail", b"")  # zlib returns what it did not take, the others keep it
            if not piece and not data and getattr(stream, "needs_input", True):
                break
            budget.need(len(piece))
            out += piece
        if not stream.eof:
            raise damaged(path, "packed bytes that are cut short")
        data = stream.unused_data.lstrip(b"\0")
    return out


def checked_sequences(constructors: Any, path: Path) -> dict[bytes, Any]:
    """The constructors of sequences such as 1:n, which R stores as three numbers, with a budget for their length."""
    budget = Budget(path)

    def checked(name: bytes, make: Any) -> Any:
        def constructor(state: Any) -> Any:
            if name.startswith(b"compact_"):
                budget.need(16 * abs(int(state.value[0])))
            elif name == b"deferred_string":
                budget.need(_OBJECT * len(state.value[0].value))
            return make(state)

        return constructor

    return {name: checked(name, make) for name, make in constructors.items()}


class _Walk:
    """A walk over the objects of a binary file, which builds none of them."""

    def __init__(self, data: memoryview, order: str, path: Path) -> None:
        self.data, self.path = data, path
        self.at, self.budget = 0, Budget(path)
        self.number = struct.Struct(f"{order}i")

    def check(self) -> None:
        """Walk through the whole file."""
        version = self._int()
        self._skip(8)
        if version == 3:
            self._skip(self._int())
        self._object(0)

    def _int(self) -> int:
        (value,) = self.number.unpack_from(self.data, self.at)
        self.at += 4
        return int(value)

    def _skip(self, count: int) -> None:
        if count < 0 or self.at + count > len(self.data):
            raise damaged(self.path, "a vector that is cut short")
        self.at += count

    def _object(self, depth: int) -> None:
        """One object, with its parts."""
        while True:
            self._enter(depth)
            flags = self._int()
            kind, has_attributes, has_tag = flags & 0xFF, bool(flags & 0x200), bool(flags & 0x400)
            if kind not in _PAIRS:
                break
            for _ in range(1 + has_attributes + has_tag):
                self._object(depth + 1)
            depth += 1  # the rest of the list follows
        self._content(kind, depth)
        if has_attributes and kind != _ALTREP and kind not in _BARE:
            self._object(depth + 1)

    def _enter(self, depth: int) -> None:
        self.budget.need(_OBJECT)
        if depth > _DEEPEST:
            raise DataError(
                f"expected at most {_DEEPEST} lists in one another in {self.path.name}, got more; save a list of "
                "matrices"
            )

    def _content(self, kind: int, depth: int) -> None:
        if kind in _WIDTHS:
            count = self._int()
            self._skip(count * _WIDTHS[kind])
            self.budget.need(8 * count)
        elif kind == _CHAR or kind in _BUILT_IN:
            self._skip(max(self._int(), 0))
        elif kind in _LISTS or kind == _NAMESPACE:
            self._skip(4 if kind == _NAMESPACE else 0)
            for _ in range(self._int()):
                self._object(depth + 1)
        elif kind in (_SYMBOL, _POINTER, _ALTREP, _ENVIRONMENT):
            self._skip(4 if kind == _ENVIRONMENT else 0)
            for _ in range({_SYMBOL: 1, _POINTER: 2, _ALTREP: 3, _ENVIRONMENT: 4}[kind]):
                self._object(depth + 1)
        elif kind == _BYTE_CODE:
            self.budget.need(8 * max(self._int(), 0))
            self._byte_code(depth)
        elif kind not in _EMPTY:
            raise damaged(self.path, f"an object of the unknown kind {kind}")

    def _byte_code(self, depth: int) -> None:
        """The code of a function: instructions, then constants."""
        self._object(depth + 1)
        for _ in range(self._int()):
            self._constant(depth + 1)

    def _constant(self, depth: int) -> None:
        self._enter(depth)
        kind = self._int()
        if kind == _REPEATS:
            self._skip(4)
            kind = self._int()
        if kind not in _IN_CODE:
            self._object(depth)
        elif kind == _BYTE_CODE:
            self._byte_code(depth)
        elif kind == _REPEATED:
            self._skip(4)
        else:
            for _ in range(2 if kind in (239, 240) else 1):  # attributes, tag
                self._object(depth + 1)
            self._constant(depth + 1)
            self._constant(depth + 1)
