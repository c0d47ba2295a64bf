"""The content of a report on a fitted model: findings, a summary and warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from jella.describe.subject import Subject
from jella.report.findings import Agreement, Findings
from jella.report.summary import Warned, summarise, warn_of

__all__ = ["Agreement", "ReportData"]


@dataclass(frozen=True, eq=False)
class ReportData(Findings):
    """The content of a report on a fitted model.

    Attributes
    ----------
    summary : tuple of str
        Sentences.
    warnings : tuple of Warned

    Examples
    --------
    >>> import jella
    >>> views = [view[:100] for view in jella.datasets.load_digits_views().data.values()]
    >>> data = ReportData.of(jella.MVLIV(3, max_iter=20, tol=0, random_state=0).fit(views), views)
    >>> data.summary[0]
    '100 samples described by 3 views: view0 (61 features), view1 (34 features) and view2 (77 features).'
    >>> int(data.sizes.sum()), data.predictions.by_view[0].gain > 0
    (100, True)
    """

    summary: tuple[str, ...]
    warnings: tuple[Warned, ...]

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        *,
        observed: Any = None,
        seed: int | None = None,
        notes: Sequence[str] = (),
        **options: Any,
    ) -> ReportData:
        """Compute the content; the parameters are those of `write_report`."""
        subject = Subject.of(model, X, observed, seed)
        found = Findings.about(subject, **options)
        parts = {one.name: getattr(found, one.name) for one in fields(found)}
        return cls(**parts, summary=(*summarise(subject, found), *notes), warnings=warn_of(subject, found))
