"""One guard around all readers: a bad file is one sentence, and none may need far more memory than it stores."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jella.io.errors import DataError
from jella.numerics.limits import USUAL_RATIO, check_unpacked, get_limits
from jella.numerics.words import printable

#: what tables need in memory besides their values: bytes of a column, and of a Python object
COLUMN_BYTES, OBJECT_BYTES = 2_000, 100


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what libraries raise for a file into a DataError that names it, and hide what they warn about."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (DataError, ImportError):
        raise
    except MemoryError as error:
        raise DataError(
            f"expected {path.name} to fit into memory, got more than there is; read it on a larger machine"
        ) from error
    except Exception as error:  # a dozen kinds of errors, depending on where the bytes are wrong
        if isinstance(error, OSError) and error.errno and error.filename:
            raise DataError(
                f"expected a file that can be read, got {str(path)!r} ({str(error.strerror).lower()}); check it"
            ) from error
        raise damaged(path, f"{type(error).__name__}: {error}") from error


def damaged(path: Path, why: str) -> DataError:
    """The error for bytes that are not what the suffix of the file says."""
    words = printable(" ".join(why.split()))
    short = words if len(words) <= 160 else f"{words[:160]} ..."
    kind = f"the format {path.suffix.lower()}" if path.suffix and not path.is_dir() else "one of the known formats"
    return DataError(
        f"expected data in {kind}, got bytes in {path.name} that are damaged or cut short ({short}); fetch it again"
    )


def check_is_file(path: Path) -> None:
    """Refuse what is neither a file nor a folder, such as pipes and devices: reading them may never end."""
    if not path.is_file() and not path.is_dir():
        what = "is a pipe, a device or a socket" if path.exists() else "does not exist"
        raise DataError(f"expected a file, got {str(path)!r}, which {what}; check the path")


def check_size(path: Path, needed: float) -> None:
    """Refuse a file that declares far more than it stores, before memory is allocated for it."""
    try:
        check_unpacked(needed, path.stat().st_size, path.name)
    except ValueError as error:
        raise DataError(str(error)) from None


def most_bytes(path: Path) -> int | None:
    """Bytes that the content of a file may need in memory; None for no limit."""
    limit = get_limits().unpacked
    return None if limit is None else max(limit, USUAL_RATIO * path.stat().st_size)


class Budget:
    """A count of the bytes that parts of a file need; refused when they are too many."""

    def __init__(self, path: Path) -> None:
        self.path, self.most, self.needed = path, most_bytes(path), 0

    def need(self, n_bytes: int) -> None:
        """Add bytes."""
        self.needed += n_bytes
        if self.most is not None and self.needed > self.most:
            check_size(self.path, self.needed)

    @property
    def left(self) -> int | None:
        """Bytes that may still be needed; None for no limit."""
        return None if self.most is None else max(self.most - self.needed, 0)
