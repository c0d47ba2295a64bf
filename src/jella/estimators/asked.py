"""The samples that a fitted model is asked about; a model of adjusted views is given values without the effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jella.estimators.left_out import places_in_fit
from jella.numerics.words import counted, listed
from jella.views import AnyViews, Views
from jella.views.adjustment import REMOVED, Adjustment


@dataclass(frozen=True, eq=False)
class Asked:
    """Samples as a model knows them.

    Attributes
    ----------
    X : as given, without the effects of covariates
    views : AnyViews
        Read from X.
    given, observed, covariates : as they were given
    adjustment : Adjustment or None
        What was removed from them; None if nothing was.
    """

    X: Any
    views: AnyViews
    given: Any
    observed: Any
    covariates: Any
    adjustment: Adjustment | None

    @classmethod
    def of(cls, model: Any, X: Any, observed: Any, covariates: Any) -> Asked:
        """Samples for a fitted model; refused if it cannot be known whether its effects were removed from them.

        Parameters
        ----------
        covariates : as in `Adjuster.transform`, 'removed' or None
            'removed' for samples that were adjusted before. With None, only samples of the fit are known to be.
        """
        adjustment = vars(model).get("adjustment_")
        own = covariates is not None and not (isinstance(covariates, str) and covariates == REMOVED)
        if own and adjustment is None:
            raise ValueError(
                f"expected no covariates with a {type(model).__name__} of views as they are, got some; leave them out, "
                "or fit with jella.cluster(..., covariates=...)"
            )
        if own:
            used = adjustment.remove(X, covariates, observed)
            return cls(used, _read(model, used, None), X, observed, covariates, adjustment)
        views = _read(model, X, observed)
        if adjustment is not None and covariates is None:
            _refuse_new(model, views, adjustment.names)
        return cls(X, views, X, observed, covariates, None)

    def restore(self, completed: Any) -> Any:
        """Completed views in the user's units, with the effects."""
        if self.adjustment is None:
            return completed
        return self.adjustment.restore(completed, self.given, self.covariates, self.observed)


def _read(model: Any, X: Any, observed: Any) -> AnyViews:
    """Samples as the model computes: a model of tensors takes arrays of NumPy too, and the other way round."""
    views: AnyViews = model._read(X, observed, reset=False)
    readout = getattr(model, "readout_", None)  # methods that relate samples without bases have none
    return views.beside(readout.bases[0]) if readout is not None and isinstance(views, Views) else views


def _refuse_new(model: Any, views: AnyViews, names: tuple[str, ...]) -> None:
    """Refuse samples that are not those of the fit, since nothing says whether their values were adjusted."""
    known = getattr(getattr(model, "readout_", None), "known", None)
    n_new = int((places_in_fit(views, known) < 0).sum()) if isinstance(views, Views) else views.n_samples
    if n_new:
        columns = ", ".join(f"{name!r}: ..." for name in names)
        raise ValueError(
            f"expected covariates with samples for a model of views adjusted for {listed(names)}, got none for "
            f"{counted(n_new, 'sample')}; pass covariates={{{columns}}}, or covariates='removed' if their values were "
            "adjusted before"
        )
