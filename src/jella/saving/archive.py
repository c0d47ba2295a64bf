"""The zip file of a model: description, arrays and digest. It is written completely or not at all, and checked."""

from __future__ import annotations

import errno
import json
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from jella.numerics.limits import check_unpacked
from jella.numerics.words import printable
from jella.saving.digest import UNSEALED, check_seal, seal
from jella.saving.tree import ARRAY_KINDS

DESCRIPTION = "model.json"
#: level of deflate: twice as fast as the default on a fitted model, for files 5 % larger
LEVEL = 1
#: deflate packs at most this many bytes into one; a file that declares more is wrong
MOST_COMPRESSION = 1032
#: a byte of JSON needs up to this many bytes in memory: "[]," is a list of 64 bytes
BYTES_PER_LETTER = 24
#: longest text of an error
LONGEST = 500


def write_archive(path: str | os.PathLike[str], description: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a description and arrays by member name; a file that exists is replaced only when all is written."""
    target = Path(path)
    partial = target.with_name(f".jella-{token_hex(8)}.part")
    text = json.dumps(description, allow_nan=False)
    try:
        with open(partial, "x+b") as file:
            with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as archive:
                archive.comment = UNSEALED
                archive.writestr(ZipInfo(DESCRIPTION), text, ZIP_DEFLATED)
                for member, array in arrays.items():
                    write_member(archive, member, array)
            seal(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


class Archive:
    """A model file, open for reading; members are checked before memory is allocated for them."""

    def __init__(self, archive: ZipFile, size: int) -> None:
        self._archive = archive
        self._read: set[str] = set()
        members = archive.infolist()
        name, times = Counter(info.filename for info in members).most_common(1)[0] if members else ("", 0)
        if times > 1:
            raise ValueError(f"expected each member once, got {name!r} again")
        if sum(info.compress_size for info in members) > size:
            raise ValueError("expected members that fit into the file, got some that overlap")
        needed = sum(info.file_size * (BYTES_PER_LETTER if info.filename == DESCRIPTION else 1) for info in members)
        check_unpacked(needed, size, "the model")

    def description(self) -> Any:
        """The content of model.json."""
        self._read.add(DESCRIPTION)
        content = self._archive.read(self._checked(DESCRIPTION))
        return json.loads(content, object_pairs_hook=_object, parse_float=_number, parse_constant=_number)

    def check_all_read(self) -> None:
        """Refuse members that the description does not mention."""
        left = [name for name in self._archive.namelist() if name not in self._read]
        if left:
            raise ValueError(f"expected only members that the description mentions, got {left[0]!r}")

    def array(self, member: str, dtype: str, shape: list[int]) -> np.ndarray:
        """The array of a member, which must have this type and shape; it is read once, so that memory is bounded."""
        if member in self._read:
            raise ValueError(f"expected each array once, got {member!r} again")
        self._read.add(member)
        info = self._checked(member)
        with self._archive.open(info) as stream:
            _check_header(stream, info, dtype, shape)
        with self._archive.open(info) as stream:
            return npy.read_array(stream, allow_pickle=False)

    def _checked(self, member: str) -> ZipInfo:
        try:
            info = self._archive.getinfo(member)
        except KeyError:
            raise ValueError(f"expected a member {member!r}, got none with that name") from None
        most = {ZIP_STORED: 1, ZIP_DEFLATED: MOST_COMPRESSION}.get(info.compress_type, 0)
        if info.file_size > most * info.compress_size:
            raise ValueError(
                f"expected {member!r} to unpack to at most {most} times its size, got {info.file_size} bytes"
            )
        return info


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"expected each name once in an object, got {sorted(name for name, _ in pairs)[:20]}")
    return found


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"expected finite numbers in the description, got {text[:40]}")
    return value


def _check_header(stream: Any, info: ZipInfo, dtype: str, shape: list[int]) -> None:
    """Refuse an array if its header is not as described, or its data do not have the length that the header states."""
    if npy.read_magic(stream) != (1, 0):
        raise ValueError(f"expected an array of .npy version 1.0 in {info.filename!r}, got another version")
    found_shape, _, found = npy.read_array_header_1_0(stream)
    if found.kind not in ARRAY_KINDS:
        raise ValueError(f"expected numbers, text or dates in {info.filename!r}, got {found}, which would be unpickled")
    if found.str != dtype or list(found_shape) != shape:
        raise ValueError(
            f"expected {info.filename!r} to hold {dtype} of shape {shape}, got {found.str} of shape {list(found_shape)}"
        )
    wanted = math.prod(found_shape) * found.itemsize
    if info.file_size - stream.tell() != wanted:
        raise ValueError(f"expected {wanted} bytes of data in {info.filename!r}, got {info.file_size - stream.tell()}")


def _short(error: Exception) -> str:
    """The text of an error in one line; a file may hold long texts."""
    words = printable(" ".join(str(error).split()))
    return words if len(words) <= LONGEST else words[:LONGEST] + " ..."


@contextmanager
def open_archive(path: str | os.PathLike[str]) -> Iterator[Archive]:
    """Open a model file; an error in it, found inside the block, becomes a ValueError that names the file."""
    with open(path, "rb") as file:
        size, begins_as_zip = os.fstat(file.fileno()).st_size, file.read(2) == b"PK"
        try:
            if not begins_as_zip:
                raise BadZipFile("it does not begin as one")
            check_seal(file)
            with ZipFile(file) as archive:
                contents = Archive(archive, size)
                yield contents
                contents.check_all_read()
        except (MemoryError, ModuleNotFoundError):
            raise  # an error of the machine, not of the file
        except OSError as error:
            if error.errno != errno.EINVAL:  # a place outside the file
                raise
            raise ValueError(
                f"expected a zip archive in {str(path)!r}, got one with wrong places of members"
            ) from error
        except BadZipFile as error:
            got = f"one that is cut short or damaged ({error})" if begins_as_zip else "something else"
            raise ValueError(f"expected a zip archive in {str(path)!r}, got {got}; save the model again") from error
        except ValueError as error:
            raise ValueError(f"cannot load {str(path)!r}: {_short(error)}") from error
        except Exception as error:
            got = f"one that is damaged ({type(error).__name__}: {_short(error)})"
            raise ValueError(f"expected a model file in {str(path)!r}, got {got}; save the model again") from error


def write_member(archive: ZipFile, name: str, array: np.ndarray) -> None:
    """Add an array in NumPy's format, without pickles."""
    with archive.open(name, "w", force_zip64=True) as member:
        npy.write_array(member, array, version=(1, 0), allow_pickle=False)
