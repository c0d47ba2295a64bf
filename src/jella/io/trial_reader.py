"""Read a file with HDF5 or Arrow, and print one line: fine, needs BYTES, outside WHAT, or damaged WHY.

`trial.py` runs this file as a program: a file that crashes the library, or never ends, ends only this process.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import sys
from typing import Any

_OBJECT, _COLUMN, _BLOCK = 100, 2_000, 2**22
_MEMORY = 2**30  # of the process, besides what the file may need
_SAFE_FILTERS = {1, 2, 3}  # deflate, shuffle, fletcher32: zlib checks what it unpacks


class _TooMuch(Exception):
    """The content needs more memory than it may."""


class _Outside(Exception):
    """The content is, in part, in another place."""


class _Budget:
    """A count of bytes, refused beyond a number."""

    def __init__(self, most: int) -> None:
        self.most, self.needed = most, 0

    def need(self, n_bytes: int) -> None:
        """Add bytes."""
        self.needed += n_bytes
        if self.most and self.needed > self.most:
            raise _TooMuch(self.needed)


def _read_hdf5(path: str, budget: _Budget) -> None:
    """Walk through an HDF5 file, and read what is not plain numbers."""
    h5py = importlib.import_module("h5py")

    with h5py.File(path, "r") as file:
        seen: set[Any] = set()
        waiting = [("/", file["/"])]
        while waiting:
            name, item = waiting.pop()
            _read_attributes(item, budget)
            if isinstance(item, h5py.Dataset):
                _read_dataset(name, item, budget)
            if not isinstance(item, h5py.Group):
                continue
            place = h5py.h5o.get_info(item.id).addr
            if place in seen:
                raise _Outside(f"the group {name!r} under two names")
            seen.add(place)
            for key in item:
                budget.need(10 * _OBJECT)
                if not isinstance(item.get(key, getlink=True), h5py.HardLink):
                    raise _Outside(f"a link named {key!r} to another place")
                waiting.append((key, item[key]))


def _read_attributes(item: Any, budget: _Budget) -> None:
    for name in item.attrs:
        budget.need(10 * _OBJECT)
        with contextlib.suppress(AttributeError):  # an attribute without a shape
            budget.need(_bytes(item.attrs.get_id(name)))
        item.attrs[name]


def _bytes(item: Any) -> int:
    size = _OBJECT if item.dtype.kind == "O" else max(item.dtype.itemsize, 8)
    return math.prod(item.shape or ()) * size


def _read_dataset(name: str, item: Any, budget: _Budget) -> None:
    if item.external or item.is_virtual:
        raise _Outside(f"{name!r} in other files")
    budget.need(_bytes(item))
    settings = item.id.get_create_plist()
    filters = {settings.get_filter(number)[0] for number in range(settings.get_nfilters())}
    if item.chunks:
        budget.need(math.prod(item.chunks) * item.dtype.itemsize // 8)
        item.id.get_num_chunks()
    if not item.shape or not item.size:
        item[()]
    elif item.dtype.kind in "biuf" and filters <= _SAFE_FILTERS:
        item[(0,) * item.ndim], item[(-1,) * item.ndim]
    else:
        rows = max(1, _BLOCK * item.shape[0] // max(_bytes(item), 1))
        for start in range(0, item.shape[0], rows):
            item[start : start + rows]


def _read_arrow(path: str, budget: _Budget) -> None:
    """Read a Parquet or Feather table in parts, and check each."""
    pa = importlib.import_module("pyarrow")
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    for part in _parquet_parts(path, budget) if path.lower().endswith(".parquet") else _feather_parts(path):
        part.validate(full=True)
        numbers = [pa.types.is_primitive(kind) for kind in part.schema.types]
        texts = sum(column.nbytes for column, plain in zip(part.columns, numbers, strict=True) if not plain)
        budget.need(8 * part.num_rows * sum(numbers) + texts + _OBJECT * part.num_rows * (len(numbers) - sum(numbers)))


def _parquet_parts(path: str, budget: _Budget) -> Any:
    with importlib.import_module("pyarrow.parquet").ParquetFile(path) as file:
        rows, columns = file.metadata.num_rows, file.metadata.num_columns
        budget.need(_COLUMN * columns)
        if rows < 0:
            raise ValueError(f"{rows} rows")
        if budget.most and 8 * rows * max(columns, 1) > budget.most:
            raise _TooMuch(8 * rows * max(columns, 1))
        yield from file.iter_batches(use_threads=False)


def _feather_parts(path: str) -> Any:
    pa, feather = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.feather")
    with pa.OSFile(path) as file:
        if file.read(4) == b"FEA1":  # the first version of the format
            yield from feather.read_table(path, use_threads=False).to_batches()
            return
        file.seek(0)
        reader = pa.ipc.open_file(file)
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))


def _line(path: str, most: int) -> str:
    """The line to print."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if most:
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY + 2 * most,) * 2)
    budget = _Budget(most)
    try:
        (_read_arrow if path.lower().endswith((".parquet", ".feather")) else _read_hdf5)(path, budget)
    except _TooMuch as error:
        return f"needs {error}"
    except _Outside as error:
        return f"outside {error}"
    except MemoryError:
        return "damaged it needs more memory than its size explains"
    except Exception as error:
        return f"damaged {type(error).__name__}: {error}"
    return "fine"


if __name__ == "__main__":
    import os

    print(" ".join(_line(sys.argv[1], int(sys.argv[2])).split()), flush=True)
    os._exit(0)  # a library may crash when it tidies up after damaged data
