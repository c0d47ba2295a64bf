"""The options --metadata, --survival and --adjust: what is known about samples, and views adjusted for some of it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from jella.numerics.progress import StatusLine
from jella.numerics.words import listed

if TYPE_CHECKING:
    from jella.io import Dataset
    from jella.oneshot.adjusting import Adjusted


def _names(text: str) -> str:
    """Names with commas between them."""
    if not split_names(text):
        raise argparse.ArgumentTypeError(f"expected names with commas between them, got {text!r}; write one or more")
    return text


def _pair(text: str) -> str:
    """Two names with a comma between them."""
    if len(split_names(text)) != 2:
        raise argparse.ArgumentTypeError(f"expected TIME,EVENT, got {text!r}; write the names of two columns")
    return text


def split_names(text: str | None) -> list[str]:
    """The names in a text with commas between them.

    >>> split_names("batch, age")
    ['batch', 'age']
    """
    return [one.strip() for one in (text or "").split(",") if one.strip()]


def metadata_arguments(parser: argparse.ArgumentParser, *, survival: bool = True, adjust: bool = True) -> None:
    """Add --metadata and what may be done with its columns."""
    group = parser.add_argument_group("metadata")
    group.add_argument(
        "--metadata",
        metavar="FILE",
        help="table with what is known about the samples (.csv, .tsv, .parquet, .feather, .xlsx), matched by their ids",
    )
    if survival:
        group.add_argument(
            "--survival",
            type=_pair,
            metavar="TIME,EVENT",
            help="columns of FILE with a time, and whether the event happened then (1) or not until then (0)",
        )
    if adjust:
        group.add_argument(
            "--adjust",
            type=_names,
            metavar="NAMES",
            help="columns of FILE, such as batch or batch,age, whose effects are removed from the views before the fit "
            "and put back into completed values",
        )
        group.add_argument(
            "--adjust-views", type=_names, metavar="NAMES", help="views to adjust (default: all); no counts"
        )


@dataclass(frozen=True, eq=False)
class Known:
    """What is known about the samples of a data set.

    Attributes
    ----------
    columns : dict of name -> array (n,)
        Of the metadata, in the order of the samples.
    survival : names of the columns of time and event, or None
    adjusted : Adjusted or None
        The views without the effects of some columns.
    """

    columns: dict[str, np.ndarray]
    survival: tuple[str, str] | None
    adjusted: Adjusted | None

    @property
    def notes(self) -> list[str]:
        """Sentences on how the views were changed."""
        return [] if self.adjusted is None else [f"The views were adjusted {self.adjusted.words()}."]


NOTHING = Known({}, None, None)


def known_about(options: argparse.Namespace, dataset: Dataset) -> Known:
    """What the options say about the samples; refused before any work if it does not fit."""
    path = getattr(options, "metadata", None)
    survival, adjust, only = (
        split_names(getattr(options, key, None)) for key in ("survival", "adjust", "adjust_views")
    )
    if path is None:
        for option, given in (("--survival", survival), ("--adjust", adjust)):
            if given:
                raise ValueError(f"expected --metadata FILE with {option}, got none; name the table with its columns")
        return NOTHING
    if only and not adjust:
        raise ValueError("expected --adjust NAMES with --adjust-views, got none; name the columns to adjust for")
    from jella.describe.survival import check_survival
    from jella.io.metadata import read_metadata
    from jella.oneshot.adjusting import Adjusted, chosen_covariates
    from jella.views import read_views
    from jella.views.sample_columns import read_columns

    table = read_metadata(path, id_column=options.id_column, missing=options.missing)
    views = read_views(dataset.views)
    columns = read_columns(table, views.sample_names, views.n_samples, ids=options.ids)
    chosen = check_survival(survival or None, columns)
    if not adjust:
        return Known(columns, chosen, None)
    from jella.cli.completion import given_kinds

    covariates = chosen_covariates(adjust, columns)
    with StatusLine(enabled=not options.quiet):
        adjusted = Adjusted.of(dataset.views, covariates, only=only or None, kinds=given_kinds(options))
    return Known(columns, chosen, adjusted)


def as_fitted(dataset: Dataset, known: Known) -> Dataset:
    """The data set with the views that are fitted: adjusted, if asked for."""
    from jella.views import ReadOnce

    return dataset if known.adjusted is None else replace(dataset, views=ReadOnce(known.adjusted.views))


def for_adjusted(model: Any, known: Known) -> Any:
    """The model, not fitted; one that looks at kinds of values is given those of adjusted views."""
    if known.adjusted is not None and "kinds" in model.get_params():
        model.set_params(kinds=known.adjusted.kinds)
    return model


def covariates_of(model: Any, options: argparse.Namespace, dataset: Dataset) -> dict[str, np.ndarray] | None:
    """The covariates of new samples, in their order, for a model of adjusted views; None for other models."""
    names, path = model.adjusted_for_, options.metadata
    if not names:
        if path is not None:
            raise ValueError(
                "expected no --metadata with a model of views as they are, got a table; leave it out, or fit with "
                "--adjust"
            )
        return None
    if path is None:
        raise ValueError(
            f"expected --metadata FILE with a model of views adjusted for {listed(names)}, got none; name a table that "
            "has these columns for the new samples"
        )
    from jella.io.metadata import read_metadata
    from jella.oneshot.adjusting import chosen_covariates
    from jella.views import read_views
    from jella.views.sample_columns import read_columns

    table = read_metadata(path, id_column=options.id_column, missing=options.missing)
    views = read_views(dataset.views, schema=model.schema_)
    columns = read_columns(table, views.sample_names, views.n_samples, ids=options.ids)
    return dict(chosen_covariates(list(names), columns))
