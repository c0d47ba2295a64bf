"""Seeded damage to the bytes of a file, also inside what is packed."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
from collections.abc import Callable

import numpy as np

Generator = np.random.Generator
HEADS = (
    b"PK\x03\x04",
    b"\x89HDF\r\n\x1a\n",
    b"PAR1",
    b"ARROW1\x00\x00",
    b"MATLAB 5.0 MAT-file",
    b"\x1f\x8b\x08",
    b"\x00" * 8,
)
NUMBERS = (
    "1e999", "-inf", "nan", "1e308", "9" * 30, "9" * 400, "0x10", "1_000", "1,5", "é", "\x1b[31mred", "=1+1",
    "TRUE", "-0.0", "5e-324", "", " ", '"', "''", "18446744073709551616", "-9223372036854775809", "\x00", "２",
)  # fmt: skip


def flip_bits(content: bytearray, rng: Generator) -> bytes:
    for _ in range(int(rng.integers(1, 20))):
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    return bytes(content)


def overwrite_run(content: bytearray, rng: Generator) -> bytes:
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 65))
    fill = [b"\x00" * length, b"\xff" * length, rng.bytes(length)][int(rng.integers(3))]
    content[start : start + length] = fill
    return bytes(content)


def cut(content: bytearray, rng: Generator) -> bytes:
    return bytes(content[: int(rng.integers(1, max(len(content), 2)))])


def cut_inside(content: bytearray, rng: Generator) -> bytes:
    a, b = sorted(int(x) for x in rng.integers(len(content), size=2))
    return bytes(content[:a] + content[b:]) or b"\n"


def repeat_run(content: bytearray, rng: Generator) -> bytes:
    start, length = int(rng.integers(len(content))), int(rng.integers(1, 200))
    run = bytes(content[start : start + length])
    return bytes(content[:start]) + run * int(rng.integers(2, 50)) + bytes(content[start:])


def wrong_head(content: bytearray, rng: Generator) -> bytes:
    head = HEADS[int(rng.integers(len(HEADS)))]
    return head + bytes(content[len(head) :])


def large_integer(content: bytearray, rng: Generator) -> bytes:
    """Write a large or negative integer at a place of 4 or 8 bytes, where a length may be."""
    size = 4 if rng.random() < 0.5 else 8
    value = [2**31 - 1, -1, 2**31, 2**24, 2**40, -(2**31)][int(rng.integers(6))] % 2 ** (8 * size)
    start = int(rng.integers(max(len(content) - size, 1)))
    content[start : start + size] = value.to_bytes(size, "little" if rng.random() < 0.7 else "big")
    return bytes(content)


def other_numbers(content: bytearray, rng: Generator) -> bytes:
    """Replace numbers in a text."""
    found = list(re.finditer(rb"\d+(\.\d+)?", bytes(content)))
    if not found:
        return flip_bits(content, rng)
    for _ in range(int(rng.integers(1, 4))):
        place = found[int(rng.integers(len(found)))]
        content[place.start() : place.end()] = NUMBERS[int(rng.integers(len(NUMBERS)))].encode()
    return bytes(content)


BYTES: tuple[Callable[[bytearray, Generator], bytes], ...] = (
    flip_bits, overwrite_run, cut, cut_inside, repeat_run, wrong_head, large_integer,
)  # fmt: skip


def splice(content: bytes, other: bytes, rng: Generator) -> bytes:
    """The beginning of one file and the end of another."""
    return content[: int(rng.integers(1, len(content)))] + other[int(rng.integers(len(other))) :]


def damage(content: bytes, others: list[bytes], rng: Generator) -> tuple[str, bytes]:
    """The name of a drawn kind of damage, and the damaged content."""
    packed = content[:2] == b"PK" or content[:2] == b"\x1f\x8b"
    if packed and rng.random() < 0.6:
        kind, made = _inside_zip(content, rng) if content[:2] == b"PK" else _inside_gzip(content, rng)
        return f"packed {kind}", made
    if rng.random() < 0.1:
        return "splice", splice(content, others[int(rng.integers(len(others)))], rng)
    is_text = all(32 <= c < 127 or c in b"\r\n\t" for c in content[:200])
    if is_text and rng.random() < 0.6:
        return "other_numbers", other_numbers(bytearray(content), rng)
    act = BYTES[int(rng.integers(len(BYTES)))]
    return act.__name__, act(bytearray(content), rng)


def _inside_gzip(content: bytes, rng: Generator) -> tuple[str, bytes]:
    act = BYTES[int(rng.integers(len(BYTES)))]
    return act.__name__, gzip.compress(act(bytearray(gzip.decompress(content)), rng), mtime=0)


def _inside_zip(content: bytes, rng: Generator) -> tuple[str, bytes]:
    """Change, leave out, double, rename or swap members; checksums are right again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    at = int(rng.integers(len(members)))
    name, data = members[at]
    kind = ["member", "member", "member", "left out", "doubled", "renamed", "swapped"][int(rng.integers(7))]
    if kind == "left out":
        del members[at]
    elif kind == "doubled":
        members.append((name, data[::-1]))
    elif kind == "renamed":
        members[at] = (
            ["../" + name, "/" + name, name + "\x1b[2J", "a" * 300, name.upper()][int(rng.integers(5))],
            data,
        )
    elif kind == "swapped":
        members[at] = (name, members[at - 1][1])
    elif data:
        is_text = data[:1] == b"<" or rng.random() < 0.3
        act = other_numbers if is_text else BYTES[int(rng.integers(len(BYTES)))]
        members[at] = (name, act(bytearray(data), rng))
    return kind, zipped(members)


def zipped(members: list[tuple[str, bytes]]) -> bytes:
    """An archive of members, which may have the same name."""
    import warnings

    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # about equal names
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()
