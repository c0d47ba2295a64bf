"""The options --must-link and --cannot-link: pairs of samples that share a cluster, or do not."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jella.io import Dataset

#: the parameters of a fit
PAIRS = ("must_link", "cannot_link")


def pairs_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("pairs of samples (sparse-bdr)")
    for name, words in zip(PAIRS, ("that share a cluster", "that do not share a cluster"), strict=True):
        group.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="FILE",
            help=f"table of two columns with the ids of samples {words} (.csv, .tsv, .parquet, .feather, .xlsx)",
        )


def known_pairs(options: argparse.Namespace, model: Any, dataset: Dataset) -> dict[str, Any]:
    """What the options say about pairs, as parameters of the fit; a first row that names no sample is a header."""
    from jella.estimators.methods.sparse_bdr import SparseBDR
    from jella.io.metadata import read_pairs
    from jella.oneshot.common import pairs_by_rule
    from jella.views import read_views
    from jella.views.ids import as_id

    files = {name: getattr(options, name) for name in PAIRS if getattr(options, name, None) is not None}
    if not files:
        return {}
    if not isinstance(model, SparseBDR):
        raise ValueError(f"expected the method sparse-bdr with pairs of samples, got {options.method}; leave them out")
    views, found = read_views(dataset.views), {}
    names = range(views.n_samples) if views.sample_names is None else views.sample_names
    ids = {as_id(name) for name in names}
    for name, file in files.items():
        rows = pairs_by_rule(read_pairs(file), options.ids)
        found[name] = rows if {as_id(one) for one in rows[0]} & ids else rows[1:]
    return found
