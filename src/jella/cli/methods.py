"""List all methods, and what each can handle."""

from __future__ import annotations

import argparse
from typing import Any

from jella.numerics.words import aligned

HELP = "list all methods, and what each can handle"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """The table with one line per method."""
    from jella.estimators.catalogue import methods

    def mark(yes: bool) -> str:
        return "yes" if yes else "-"

    rows: list[tuple[str, ...]] = [
        ("method", "may miss", "negative values", "clusters", "completes", "new samples", "Dask", "memory")
    ]
    records = []
    for method in methods().values():
        may = {"entries": "views and entries", "views": "whole views", "nothing": "nothing"}[method.can.missing]
        abilities = (
            method.can.signed,
            method.clusters,
            method.completes,
            method.embeds_new,
            method.can.not_in_chunks is None,
        )
        rows.append((method.command_name, may, *map(mark, abilities), method.can.memory))
        records.append(
            {
                "name": method.command_name,
                "class": method.name,
                "summary": method.summary,
                "may_miss": method.can.missing,
                "negative_values": method.can.signed,
                "clusters": method.clusters,
                "completes": method.completes,
                "new_samples": method.embeds_new,
                "dask": method.can.not_in_chunks is None,
                "holds_pairs": method.can.pairs > 0,
            }
        )
    lines = aligned(rows, "<<<<<<<<")
    lines += ["", *(f"{m['name']:12s}{m['summary']}." for m in records)]
    return lines, {"methods": records}
