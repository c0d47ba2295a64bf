"""`jella.align`: views whose samples are rows with matching ids; and what a fit checks of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jella.views.annotated import renewed_mudata
from jella.views.containers import is_chunked, is_mudata, is_other_frame, is_single
from jella.views.frames import check_unique
from jella.views.ids import IdRule
from jella.views.model import Views
from jella.views.multi_view import MultiView
from jella.views.named import names_of
from jella.views.overlap import Overlap
from jella.views.read import read_views, split
from jella.views.row_changes import blanked, on_all_samples, renamed
from jella.views.write import put_back
from jella.views.zero_rows import constant_rows, warn_of_constant_rows

SAMPLES = ("rows", "columns")
ZERO_ROWS = ("observed", "missing")


def align(views: Any, *, ids: Any = "exact", samples: str = "rows", zero_rows: str = "observed") -> Any:
    """Views that any estimator can fit together: samples as rows, with ids that match.

    Estimators match the samples of DataFrames and AnnData by their ids, and refuse views that share less than a tenth
    of the samples of the smaller one. They do not change ids: this function does.

    Parameters
    ----------
    views : list, tuple or dict of DataFrames, AnnData, arrays or SciPy sparse arrays; or a MuData
        Not modified.
    ids : str or callable, default='exact'
        How ids are made equal. 'exact': as they are. 'union': as they are, and views may share few samples or none;
        each view gets all samples, with rows of NaN for those that it lacks. Or one rule, or several with commas
        between them, applied to each id from left to right:

        - 'text': numbers become text;
        - 'strip', 'casefold': without spaces around it; without the difference of upper and lower case;
        - 'zeros': without zeros in front of numbers; 'digits': only the numbers, without these zeros;
        - 'prefix:12': the first 12 characters;
        - 're:PATTERN': the first group of a regular expression, or its match; an id without a match stays. It must be
          the last rule.

        A callable gets each id as text and returns the new one. 'union' may follow rules.
    samples : {'rows', 'columns'}, default='rows'
        Where the samples are in DataFrames and arrays.
    zero_rows : {'observed', 'missing'}, default='observed'
        Whether rows of zeros are values, or mean that the sample lacks the view. 'missing' is also for rows of another
        value, such as -1, if the view has this value nowhere else.

    Returns
    -------
    views : as given
        The same container and types, samples as rows. A sparse view stores rows of NaN.

    Examples
    --------
    >>> import pandas as pd, jella
    >>> rna = pd.DataFrame({"g": [1.0, 2.0]}, index=["TCGA-A1-01A", "TCGA-B2-01A"])
    >>> protein = pd.DataFrame({"p": [3.0, 4.0]}, index=["TCGA-B2", "TCGA-A1"])
    >>> jella.align([rna, protein], ids="prefix:7")[0]
               g
    TCGA-A1  1.0
    TCGA-B2  2.0
    """
    rule = IdRule.of(ids)
    check_choice("samples", samples, SAMPLES)
    check_choice("zero_rows", zero_rows, ZERO_ROWS)
    if is_chunked(views):
        raise ValueError("expected samples in memory, got a Dask collection; change its ids before you make it")
    if samples == "columns" and isinstance(views, MultiView):
        raise ValueError("expected a MultiView, whose samples are rows, without samples='columns'; leave samples out")
    names, raws = split(views)
    if samples == "columns":
        raws = [turned(raw, name) for raw, name in zip(raws, names, strict=True)]
    raws = match_samples(raws, names, rule, zero_rows)
    check_overlap(names, raws)
    if is_mudata(views) and (rule.steps or rule.union):
        return renewed_mudata(views, dict(zip(names, raws, strict=True)), rule)
    return put_back(raws, views, names)


def match_samples(raws: list[Any], names: Sequence[str], rule: IdRule, zero_rows: str) -> list[Any]:
    """Raw views with matched ids, and rows of zeros as asked for; whether they share samples is not checked."""
    indices = [None if raw is None else names_of(raw) for raw in raws]
    if (rule.steps or rule.union) and any(index is None for index in indices):
        raise ValueError("expected views with sample ids to match, got arrays; leave ids out, or pass DataFrames")
    for index, name in zip(indices, names, strict=True):
        if index is not None:
            check_unique(index, name)
    raws = [renamed(raw, rule, name) for raw, name in zip(raws, names, strict=True)]
    if rule.union:
        raws = on_all_samples(raws)
    return _without_constant_rows(raws, names) if zero_rows == "missing" else raws


def check_fit(X: Any, views: Views) -> None:
    """What a fit checks of samples: refuse ids that do not match, warn of rows that look missing.

    Parameters
    ----------
    X : the data of the user
    views : Views
        Read from X.
    """
    if is_single(X):
        return
    check_overlap(*split(X))
    warn_of_constant_rows(views)


def check_overlap(names: Any, raws: Any) -> None:
    """Refuse raw views with ids if too few samples are in several of them."""
    overlap = Overlap.of(names, raws)
    refusal = None if overlap is None else overlap.refusal()
    if refusal is not None:
        raise ValueError(refusal)


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a setting that is not among its choices."""
    if value not in choices:
        raise ValueError(f"expected {name} to be one of {choices}, got {value!r}; pass one of these")


def turned(raw: Any, name: str) -> Any:
    """A raw view with rows and columns exchanged."""
    if is_mudata(raw):
        raise ValueError(f"expected tables or arrays to turn, got the MuData {name!r}, whose rows are its samples")
    if is_other_frame(raw):
        raise ValueError(
            f"expected view {name!r} as an array or a DataFrame of pandas to turn, got {type(raw).__name__}; turn it"
        )
    if raw is None or hasattr(raw, "T"):
        return None if raw is None else raw.T
    return np.asarray(raw).T


def _without_constant_rows(raws: list[Any], names: Sequence[str]) -> list[Any]:
    """Raw views with rows of NaN in the place of rows of zeros, or of another value that looks like a mark."""
    views = read_views(dict(zip(names, raws, strict=True)))
    out = []
    for raw, view in zip(raws, views, strict=True):
        found = constant_rows(view)
        index = names_of(raw)
        if found is None:
            out.append(raw)
        else:
            out.append(blanked(raw, found.rows if index is None else found.rows[views.sample_names.get_indexer(index)]))
    return out
