"""What methods with rounds share: checks of their parameters, the record of a fit, and its warning."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar


class RoundsMixin:
    """Rounds until a residual falls below `tol`, at most `max_iter` of them."""

    #: parameters that are whole numbers of at least one
    _counts: tuple[str, ...] = ("max_iter",)
    #: parameters that are numbers of at least zero
    _amounts: tuple[str, ...] = ("tol",)

    max_iter: int
    tol: float

    residuals_: np.ndarray
    n_iter_: int
    converged_: bool

    def _check_parameters(self) -> None:
        super()._check_parameters()  # type: ignore[misc]
        for name in self._counts:
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        for name in self._amounts:
            check_scalar(getattr(self, name), name, Real, min_val=0)

    def _set_rounds(self, residuals: Sequence[float] | np.ndarray, converged: bool) -> None:
        """Set the attributes that describe the rounds of a fit."""
        self.residuals_ = np.asarray(residuals)
        self.n_iter_ = len(self.residuals_)
        self.converged_ = bool(converged)

    def _warn_unless_converged(self, last: str) -> None:
        """Warn if the fit did not converge; `last` is a sentence about the last round."""
        if not self.converged_ and self.tol > 0:
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.max_iter} rounds: {last} (tol={self.tol:g}); "
                "increase max_iter or tol",
                ConvergenceWarning,
                stacklevel=5,
            )
