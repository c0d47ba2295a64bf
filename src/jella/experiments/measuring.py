"""Time and memory of a computation, and where it ran."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

from jella.estimators.on_device import Device


def forget_peak_memory() -> None:
    """Reset the peak memory, if the system is Linux; on others the peak is that of the process so far."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Peak memory since the last reset, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        import resource  # not on Windows

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if platform.system() == "Darwin" else peak * 1024


def describe_environment(device: Device | None = None) -> dict[str, Any]:
    """Versions and machine, with its device if one is used, and an id by which results refer to them."""
    import scipy
    import sklearn

    from jella._version import __version__

    beside = "" if device is None else f", {device}"
    described = {
        "jella": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{beside}",
        "date": time.strftime("%Y-%m-%d"),
    }
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:8]
    return {"environment": digest, **described}
