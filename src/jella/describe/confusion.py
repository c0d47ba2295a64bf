"""How known classes are spread over clusters: a confusion table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from jella.numerics.optional import need
from jella.numerics.words import aligned
from jella.views.sample_columns import SampleColumn


@dataclass(frozen=True, eq=False)
class Confusion:
    """Counts of samples by cluster and known class.

    Attributes
    ----------
    clusters : tuple of int
    classes : tuple of str
        In the order of the clusters that they belong to; the classes that belong to none are last.
    counts : int array (k, c)
    own : tuple of int
        The cluster of each of the first classes, as a row; with more classes than clusters, the last have none.

    Examples
    --------
    >>> Confusion.of([1, 1, 0, 0, 0], ["a", "a", "b", "b", None])
    cluster  b  a
          0  2  0
          1  0  2
    """

    clusters: tuple[int, ...]
    classes: tuple[str, ...]
    counts: np.ndarray
    own: tuple[int, ...]

    @property
    def agreement(self) -> float:
        """Share of the samples that are in the cluster of their class."""
        return float(self.counts[list(self.own), range(len(self.own))].sum() / self.counts.sum())

    @classmethod
    def of(cls, labels: Any, known: Any) -> Confusion:
        """The table of clusters and known classes, one each per sample; samples without one of them are left out.

        Classes belong to clusters one to one, so that as many samples as possible are in the cluster of their class.
        """
        labels, column = np.asarray(labels), SampleColumn.of("class", known, few_numbers=np.inf)
        if column.values.shape != labels.shape:
            raise ValueError(
                f"expected one class for each of the {labels.size} samples, got {column.values.size}; leave unknown "
                "ones as NaN or None"
            )
        rows = (labels >= 0) & column.known
        clusters, places = np.unique(labels[rows], return_inverse=True)
        levels = column.levels or ()
        table = np.zeros((clusters.size, len(levels)), dtype=np.int64)
        np.add.at(table, (places, column.values[rows]), 1)
        rows_of, own = linear_sum_assignment(-table)
        order = [*own, *np.setdiff1d(np.arange(len(levels)), own)]
        return cls(
            tuple(map(int, clusters)), tuple(levels[j] for j in order), table[:, order], tuple(map(int, rows_of))
        )

    def as_frame(self) -> Any:
        """A pandas DataFrame with a row per cluster and a column per class."""
        pd = need("pandas", "pandas")
        return pd.DataFrame(self.counts, index=pd.Index(self.clusters, name="cluster"), columns=list(self.classes))

    def columns(self) -> dict[str, list[Any]]:
        """The table by column, with the clusters first."""
        by_class = {name: self.counts[:, j].tolist() for j, name in enumerate(self.classes)}
        return {"cluster": list(self.clusters)} | by_class

    def __repr__(self) -> str:
        rows = [[str(c), *map(str, row)] for c, row in zip(self.clusters, self.counts.tolist(), strict=True)]
        return "\n".join(aligned([["cluster", *self.classes], *rows], ">" * (1 + len(self.classes))))
