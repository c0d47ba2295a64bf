"""Where a result comes from: versions, the state of the source, machine and date."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

PACKAGE = Path(__file__).parents[1]


@cache
def source_digest() -> str:
    """Eight digits that identify the source of the library, as it was at the first call in this process."""
    files = sorted(PACKAGE.rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


def describe_environment(device: object = None) -> dict[str, Any]:
    """Versions and machine, with its device if one is used, and an id by which results refer to them."""
    import scipy
    import sklearn

    from jella._version import __version__

    beside = "" if device is None else f", {device}"
    described = {
        "jella": __version__,
        "source": source_digest(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{beside}",
        "date": time.strftime("%Y-%m-%d"),
    }
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:8]
    return {"environment": digest, **described}
