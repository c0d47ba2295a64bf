"""The framework itself as an estimator: any loss, with any terms on the bases and on the embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jella.estimators.framework import BaseJELLA
from jella.estimators.methods.docs import with_shared_docs
from jella.numerics.registry import concrete_subclasses
from jella.problem.model import Data, Problem
from jella.problem.terms import Loss, Term


@with_shared_docs
class JELLA(BaseJELLA):
    """Joint embedding learning and low-rank approximation, put together by you.

    Minimises loss(X_v, W U_vᵀ) + Σ basis terms(U_v) + Σ embedding terms(W). Which update solves each block is decided
    before the loop starts; a combination that none can solve is refused with the parts that do not fit.

    {parameters}
    loss : str or Loss, default='squared'
        How far the data are from the product of embedding and bases.
    basis, embedding : sequence of str or Term, default=()
        Regularisers and constraints on every basis, and on the embedding: objects of `jella.terms`, such as
        ``L1(0.1)``, or names such as ``'nonnegative'`` for one with its default weight.

    {attributes}

    References
    ----------
    .. [1] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics (2021).

    Examples
    --------
    >>> import jella
    >>> from jella.terms import L1, L21
    >>> model = jella.JELLA(n_components=5, basis=[L21(0.01)], embedding=["nonnegative", L1(0.1)])
    >>> views = jella.datasets.load_digits_views().data
    >>> bool(model.fit(views).embedding_.min() >= 0)
    True
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_components: int | None = None,
        loss: str | Loss = "squared",
        basis: Sequence[str | Term] = (),
        embedding: Sequence[str | Term] = (),
        scale: str = "sample",
        view_weights: Any = None,
        solver: Any = "basic",
        init: Any = "svd",
        n_init: int = 10,
        max_iter: int = 500,
        tol: float = 1e-4,
        warm_start: bool = False,
        on_empty: str = "raise",
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.loss = loss
        self.basis = basis
        self.embedding = embedding
        self.scale = scale
        self.view_weights = view_weights
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.on_empty = on_empty
        self.callback = callback
        self.random_state = random_state

    def declare(self, data: Data) -> Problem:
        """The loss and terms as given."""
        return Problem(
            loss=_resolve(self.loss, Loss, "loss"),
            basis=tuple(_resolve(term, Term, "basis") for term in _sequence(self.basis, "basis")),
            embedding=tuple(_resolve(term, Term, "embedding") for term in _sequence(self.embedding, "embedding")),
        )


def _sequence(terms: Any, what: str) -> Sequence[Any]:
    if isinstance(terms, str | Term):
        return [terms]
    if not isinstance(terms, Sequence):
        raise ValueError(f"{what} must be a list of terms or names, got {type(terms).__name__}")
    return terms


def _resolve(part: Any, kind: type, what: str) -> Any:
    """The part itself, or the one whose class has that name, letters and digits compared alone."""
    if isinstance(part, kind):
        return part
    known = {sub.__name__.lower(): sub for sub in concrete_subclasses(kind)}
    wanted = "".join(c for c in part.lower() if c.isalnum()) if isinstance(part, str) else ""
    if wanted not in known:
        raise ValueError(f"{what} must be one of {sorted(known)} or an object of jella.terms, got {part!r}")
    return known[wanted]()
