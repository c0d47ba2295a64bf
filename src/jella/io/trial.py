"""A first reading of a file in a process of its own, for formats whose libraries can crash or hang on damaged bytes.

The process runs `trial_reader.py`, which imports nothing of jella.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from jella.io.errors import DataError
from jella.io.guard import check_size, damaged, most_bytes
from jella.numerics.limits import get_limits

_SECONDS, _BYTES_PER_SECOND = 20, 2_000_000
_SCRIPT = Path(__file__).with_name("trial_reader.py")


def try_first(path: Path) -> None:
    """Refuse a file that another process could not read: damaged, too large, or with parts in other files.

    Without a limit of what files may unpack to, it may take any time.
    """
    size = path.stat().st_size
    command = [sys.executable, "-P", str(_SCRIPT), str(path), str(most_bytes(path) or 0)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(place for place in sys.path if place),
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "OPENBLAS_NUM_THREADS": "1",
    }
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=None if get_limits().unpacked is None else _SECONDS + size / _BYTES_PER_SECOND,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise damaged(path, "reading it does not end; --max-unpacked none waits for it") from None
    word, _, detail = done.stdout.decode(errors="replace").strip().partition(" ")
    if word == "needs":
        check_size(path, float(detail))
    if word == "outside":
        raise DataError(
            f"expected all data in {path.name} itself, got {detail}, which is not followed; copy the data into the file"
        )
    if word != "fine":
        raise damaged(path, detail or f"its library stopped with code {done.returncode}")
