"""The samples of views that were read: ids made equal, rows of zeros as asked for, and notes on what views share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jella.io.dataset import Dataset, Origin
from jella.io.errors import DataError
from jella.views.align import match_samples
from jella.views.containers import is_frame
from jella.views.ids import IdRule
from jella.views.overlap import Overlap


def matched(dataset: Dataset, source: Origin) -> Dataset:
    """The data set, with its source and with the samples that the options describe."""
    options, names, labels = source.options, tuple(dataset.views), dataset.labels
    rule = IdRule.of(options.ids)
    try:
        raws = match_samples(list(dataset.views.values()), names, rule, options.zero_rows)
        if hasattr(labels, "index"):
            labels = labels.set_axis(rule.index(labels.index, "labels"), axis=0)
    except ValueError as error:
        raise DataError(str(error)) from error
    stored = _stored_ids(dataset.views, rule) if rule.steps else {}
    notes = [f"Ids are matched by {options.ids if isinstance(options.ids, str) else 'a function'}."] * bool(stored)
    notes += ["Rows of zeros are missing."] * (options.zero_rows == "missing")
    overlap = Overlap.of(names, raws)
    notes += [] if overlap is None else overlap.notes()
    return replace(
        dataset,
        views=dict(zip(names, raws, strict=True)),
        labels=labels,
        notes=(*dataset.notes, *notes),
        source=replace(source, stored_ids=stored),
    )


def _stored_ids(views: Mapping[str, Any], rule: IdRule) -> dict[str, dict[Any, Any]]:
    """The stored id of each matched one, by view."""
    named = {name: view.index for name, view in views.items() if is_frame(view)}
    return {name: dict(zip(rule.match(index), index, strict=True)) for name, index in named.items()}
