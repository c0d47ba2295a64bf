"""Options that raise the limits on memory, time and what files may unpack to."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager
from dataclasses import replace

from jella.numerics.limits import as_bytes, as_seconds, get_limits, limits_as


def limit_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("limits")
    group.add_argument(
        "--max-memory",
        metavar="SIZE",
        help="memory that a fit may need, e.g. 16GiB, or none (default: what the machine or its container has left)",
    )
    group.add_argument(
        "--max-time", metavar="TIME", help="time of a core that a fit may need, e.g. 36h, or none (default 24h)"
    )
    group.add_argument(
        "--max-unpacked",
        metavar="SIZE",
        help="memory that a file may need, however small it is, e.g. 2GiB, or none (default 256MiB; 100 times its size "
        "is always allowed)",
    )


def chosen_limits(options: argparse.Namespace) -> AbstractContextManager[None]:
    """A block with the limits that the options give."""
    limits = get_limits()
    if getattr(options, "max_memory", None) is not None:
        limits = replace(limits, memory=as_bytes(options.max_memory))
    if getattr(options, "max_time", None) is not None:
        limits = replace(limits, seconds=as_seconds(options.max_time))
    if getattr(options, "max_unpacked", None) is not None:
        limits = replace(limits, unpacked=as_bytes(options.max_unpacked))
    return limits_as(limits)
