"""What metadata say about clusters: their association with each column, and survival."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from jella.describe.association import ASSOCIATED, THROUGH_MISSING, ColumnAssociation, associate
from jella.describe.availability import availability_groups
from jella.describe.survival import Survival, find_survival
from jella.numerics.optional import need
from jella.numerics.words import counted, listed
from jella.views import Views
from jella.views.sample_columns import SampleColumn


@dataclass(frozen=True, eq=False)
class MetadataFindings:
    """The association of clusters with columns of metadata.

    Attributes
    ----------
    columns : tuple of ColumnAssociation
        In the order of the metadata; survival is last.
    survival : Survival or None
    """

    columns: tuple[ColumnAssociation, ...]
    survival: Survival | None = None

    @classmethod
    def of(
        cls,
        columns: Mapping[str, np.ndarray],
        labels: np.ndarray,
        views: Views,
        survival: tuple[str, str] | None = None,
        seed: int = 0,
    ) -> MetadataFindings:
        """Compare columns with clusters.

        Parameters
        ----------
        columns : dict of name -> array (n,), in the order of the samples
        labels : int array (n,)
            Clusters; samples with a negative one are left out.
        views : Views
            Of the same samples: what is missing.
        survival : names of the columns of time and event, optional
        seed : int, default=0
            Of the permutation tests.
        """
        lived = None if survival is None else find_survival(columns, survival, labels)
        plain = [SampleColumn.of(name, column) for name, column in columns.items() if name not in (survival or ())]
        more = [] if lived is None else [lived.scored()]
        return cls(associate([*plain, *more], labels, availability_groups(views), seed), lived)

    def table(self) -> dict[str, list[Any]]:
        """The associations by column of a table, one row per column of the metadata; None for what is not known."""
        return {one.name: [row[one.name] for row in self.rows()] for one in fields(ColumnAssociation)}

    def rows(self) -> list[dict[str, Any]]:
        """The associations as records, with None for what is not known."""
        rows = [vars(one) for one in self.columns]
        return [{key: None if value != value else value for key, value in row.items()} for row in rows]

    def as_frame(self) -> Any:
        """The associations as a pandas DataFrame, with the columns of the metadata as index."""
        return need("pandas", "pandas").DataFrame(list(map(vars, self.columns))).set_index("column")

    def words(self) -> str:
        """A sentence on the columns that are associated with the clusters, the strongest first."""
        tested = [one for one in self.columns if not np.isnan(one.p_value)]
        if not tested:
            return "No column of the metadata could be compared with the clusters."
        own = sorted((one for one in tested if one.verdict == ASSOCIATED), key=lambda one: -one.strength)
        named = [f"{one.column} ({one.strength:.2f})" for one in own]
        count = f"{len(own) or 'none'} {'is' if len(own) < 2 else 'are'} associated with the clusters"
        found = f": {listed(named, 5)}; strength from 0 to 1" if named else ""
        through = [one.column for one in tested if one.verdict == THROUGH_MISSING]
        more = f" Explained by what is missing: {listed(through, 5)}." if through else ""
        return f"Of {counted(len(tested), 'tested column')} of metadata, {count}{found}.{more}"
