"""The update for all other terms: accelerated proximal gradient steps, restarted so that the value never rises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from jella.numerics.arrays import Array, namespace, sqnorm
from jella.problem.terms.base import Coupling, Term, joint_prox, why_not_joint
from jella.solve.quadratic import Quadratic
from jella.solve.updates.base import Update

TOLERANCE = 1e-7
MAX_STEPS = 200
#: between sweeps this many plain steps are enough
FEW_STEPS = 15


@dataclass(eq=False, repr=False)
class ProxGradient(Update):
    """FISTA on the block, with step 1/L for L = 2·λ_max(A); momentum is dropped whenever it would raise the value.

    Parameters
    ----------
    max_steps : int, default=200
        Most steps.
    accelerates : bool, default=True
        Whether steps have momentum.
    """

    max_steps: int = MAX_STEPS
    accelerates: bool = field(default=True, kw_only=True)
    rank = 9
    between_sweeps = MappingProxyType({"max_steps": FEW_STEPS, "accelerates": False})

    def refuses(self, terms: Sequence[Term]) -> str | None:
        """Terms without a joint proximal operator."""
        mixing = [term.name for term in terms if isinstance(term, Coupling)]
        return (
            f"the proximal gradient step cannot take {mixing[0]}, which mixes rows" if mixing else why_not_joint(terms)
        )

    def minimise(self, quadratic: Quadratic, terms: Sequence[Term], start: Array) -> Array:
        """The block after steps that moved it by less than TOLERANCE, or MAX_STEPS of them."""
        lipschitz = 2.0 * _largest_eigenvalue(quadratic.gram)
        if lipschitz <= 0.0:
            return start
        prox = joint_prox(terms)
        current, ahead, momentum = start, start, 1.0
        value = _value(quadratic, terms, start)
        for _ in range(self.max_steps):
            new = proximal_step(quadratic, prox, ahead, lipschitz)
            new_value = _value(quadratic, terms, new)
            if new_value > value:  # the momentum overshot: a plain step from the current block cannot
                new = proximal_step(quadratic, prox, current, lipschitz)
                new_value, momentum = _value(quadratic, terms, new), 1.0
                if new_value > value:  # rounding level
                    break
            moved, size = sqnorm(new - current), sqnorm(new)
            following = 0.5 * (1.0 + (1.0 + 4.0 * momentum**2) ** 0.5) if self.accelerates else 1.0
            ahead = new + ((momentum - 1.0) / following) * (new - current)
            current, value, momentum = new, new_value, following
            if moved <= TOLERANCE**2 * size:
                break
        return current


def proximal_step(quadratic: Quadratic, prox: Callable[[Array, Any], Array], B: Array, lipschitz: float) -> Array:
    """One step: prox at B − (gradient)/L with step 1/L."""
    gradient = 2.0 * (quadratic.times(B) - quadratic.cross)
    return prox(B - gradient * (1.0 / lipschitz), 1.0 / lipschitz)


def _value(quadratic: Quadratic, terms: Sequence[Term], B: Array) -> float:
    return quadratic.value(B) + sum(term.value(B) for term in terms)


def _largest_eigenvalue(gram: Array) -> float:
    xp = namespace(gram)
    return float(xp.max(xp.linalg.eigvalsh(gram)))
