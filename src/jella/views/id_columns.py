"""Which column of a table names its samples, by the names that such columns usually have."""

from __future__ import annotations

import re

_ID_NAMES = {"id", "ids", "sample", "samples", "sampleid", "samplename", "barcode", "subjectid", "patientid"}


def is_id_name(column: str) -> bool:
    """Whether a column has a usual name of sample ids.

    >>> is_id_name("Sample_ID"), is_id_name("idle")
    (True, False)
    """
    return re.sub(r"[^a-z]", "", column.lower()) in _ID_NAMES
