"""Results that are finite: overflow is not warned of on the way, and refused at the end in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj, is_dask_array
from scipy import sparse

from jella.numerics.arrays import namespace


@contextmanager
def overflow_refused(what: str) -> Iterator[None]:
    """Compute without warnings of NumPy; an equation that cannot be solved any more is refused as an overflow is."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        try:
            yield
        except np.linalg.LinAlgError as error:
            raise too_large(what) from error


def too_large(what: str) -> ValueError:
    """The refusal of a result that is not finite."""
    return ValueError(
        f"expected finite numbers for {what}, got some that are not: the values of the data are too large or too "
        "different in size for their floating type, or a weight is; scale the views (scale='sample' or 'standardize'), "
        "or pass them in double precision"
    )


def is_finite(values: Any, n_empty: int = 0) -> bool:
    """Whether all numbers of an array are finite; only what is an array of floating numbers in memory is looked at.

    Parameters
    ----------
    n_empty : int, default=0
        Number of rows that are NaN on purpose.
    """
    values = values.data if sparse.issparse(values) else values
    if not is_array_api_obj(values) or is_dask_array(values):
        return True
    xp = namespace(values)
    if not xp.isdtype(values.dtype, "real floating"):
        return True
    finite = xp.isfinite(values)
    if not n_empty:
        return bool(xp.all(finite))
    return int(xp.sum(xp.astype(~xp.all(finite, axis=1), xp.int64))) <= n_empty


def refuse_nonfinite(values: Any, what: str) -> None:
    """Refuse an array with a number that is not finite."""
    if not is_finite(values):
        raise too_large(what)
