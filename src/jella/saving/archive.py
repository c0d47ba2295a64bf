"""The zip file of a model: a description in JSON, arrays beside it. Written whole or not at all, read with checks."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from jella.saving.tree import ARRAY_KINDS

DESCRIPTION = "model.json"
#: of deflate: twice as quick as the default on a fitted model, for files 5 % larger
LEVEL = 1
#: deflate packs no more bytes than this into one; who declares more is lying
MOST_COMPRESSION = 1032


def write_archive(path: str | os.PathLike[str], description: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a description and arrays by member name; until all is written the file is not there, or the old one is."""
    target = Path(path)
    partial = target.with_name(f".jella-{token_hex(8)}.part")
    text = json.dumps(description, allow_nan=False)
    try:
        with open(partial, "xb") as file:
            with ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as archive:
                archive.writestr(ZipInfo(DESCRIPTION), text, ZIP_DEFLATED)
                for member, array in arrays.items():
                    write_member(archive, member, array)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


class Archive:
    """A model file, open for reading; members are checked before room is made for them."""

    def __init__(self, archive: ZipFile, size: int) -> None:
        self._archive = archive
        self._read: set[str] = set()
        if sum(info.compress_size for info in archive.infolist()) > size:
            raise ValueError("expected members that fit into the file, got some that overlap")

    def description(self) -> Any:
        """What model.json holds."""
        return json.loads(self._archive.read(self._checked(DESCRIPTION)))

    def array(self, member: str, dtype: str, shape: list[int]) -> np.ndarray:
        """The array of a member, of the given type and shape and no other; once, or memory would know no bound."""
        if member in self._read:
            raise ValueError(f"expected every array once, got {member!r} again")
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
            raise ValueError(f"expected a member {member!r}, got none of that name") from None
        most = {ZIP_STORED: 1, ZIP_DEFLATED: MOST_COMPRESSION}.get(info.compress_type, 0)
        if info.file_size > most * info.compress_size:
            raise ValueError(
                f"expected {member!r} to unpack to at most {most} times its size, got {info.file_size} bytes"
            )
        return info


def _check_header(stream: Any, info: ZipInfo, dtype: str, shape: list[int]) -> None:
    """Refuse an array whose header is not as described, or whose data are not as long as its header says."""
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


@contextmanager
def open_archive(path: str | os.PathLike[str]) -> Iterator[Archive]:
    """Open a model file; whatever is found wrong with it inside the block is a ValueError that names the file."""
    with open(path, "rb") as file:
        size, begins_as_zip = os.fstat(file.fileno()).st_size, file.read(2) == b"PK"
        try:
            with ZipFile(file) as archive:
                yield Archive(archive, size)
        except (OSError, MemoryError, ModuleNotFoundError):
            raise  # of the machine, not of the file
        except BadZipFile as error:
            got = f"one that is cut short or damaged ({error})" if begins_as_zip else "something else"
            raise ValueError(f"expected a zip archive in {str(path)!r}, got {got}; save the model again") from error
        except ValueError as error:
            raise ValueError(f"cannot load {str(path)!r}: {error}") from error
        except Exception as error:
            got = f"one that is damaged ({type(error).__name__}: {error})"
            raise ValueError(f"expected a model file in {str(path)!r}, got {got}; save the model again") from error


def write_member(archive: ZipFile, name: str, array: np.ndarray) -> None:
    """Add an array in NumPy's format, never as a pickle."""
    with archive.open(name, "w", force_zip64=True) as member:
        npy.write_array(member, array, version=(1, 0), allow_pickle=False)
