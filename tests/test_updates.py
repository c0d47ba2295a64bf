"""Updates against textbook solvers, and against one proximal step."""

from __future__ import annotations

import itertools
from abc import ABC

import numpy as np
import pytest
from common import all_terms, make_term
from scipy.linalg import solve_sylvester
from scipy.optimize import nnls

from jella.numerics.arrays import like, row_blocks, solve_psd, to_numpy
from jella.problem.terms.base import concrete_subclasses, is_folded, joint_piece, joint_prox, why_not_joint
from jella.solve.plan import choose_update
from jella.solve.quadratic import Quadratic
from jella.solve.updates import (
    Assignment,
    CoordinateDescent,
    LeastSquares,
    Procrustes,
    ProxGradient,
    Sylvester,
    Update,
    coordinate_descent,
)
from jella.solve.updates.free_entries import move_free_entries
from jella.solve.updates.prox_gradient import proximal_step
from jella.terms import (
    L1,
    L21,
    Alignment,
    Box,
    Indicator,
    LearnedGraph,
    Linf1,
    NonNegative,
    Orthonormal,
    Ridge,
    Term,
)

TERMS = [make_term(kind) for kind in all_terms()]
SETS: list[tuple[Term, ...]] = [c for size in (0, 1, 2, 3) for c in itertools.combinations(TERMS, size)]
UPDATES = [kind() for kind in concrete_subclasses(Update)]
ACCEPTED = [(u, s) for u, s in itertools.product(UPDATES, SETS) if u.refuses(s) is None]


def _quadratic(rng, m=7, r=3, per_row=False):
    factor = rng.normal(size=(m, 6, r) if per_row else (6, r))
    gram = np.swapaxes(factor, -1, -2) @ factor
    return Quadratic(gram, rng.normal(size=(m, r)) * 4)


def _value(quadratic, terms, B, states=None):
    states = [None] * len(terms) if states is None else states
    return quadratic.value(B) + sum(term.value(B, state) for term, state in zip(terms, states, strict=True))


def _start(terms, shape, rng):
    B = rng.normal(size=shape)
    for term in terms:
        B = term.project(B)
    return B


class _Folded:
    """Returns the quadratic that an update minimises; no Update, so that no plan finds it."""

    def minimise(self, quadratic, terms, start):
        return quadratic


@pytest.mark.parametrize(("update", "terms"), ACCEPTED, ids=repr)
def test_updates_descend_and_beat_one_proximal_step(update, terms, rng):
    coupled = update.stacked or any(not term.separable for term in terms)
    for per_row in (False,) if coupled else (False, True):
        quadratic = _quadratic(rng, per_row=per_row)
        start = _start(terms, (7, 3), rng)
        states = [term.refresh(start, term.start(start)) for term in terms]
        before = _value(quadratic, terms, start, states)
        after = _value(quadratic, terms, update.apply(quadratic, terms, start, states), states)
        assert after <= before + 1e-9
        folded = Update.apply(_Folded(), quadratic, terms, start, states)
        rest = [term for term in terms if not is_folded(term)]
        if any(why_not_joint([term]) for term in rest):
            continue
        lipschitz = 2 * np.max(np.linalg.eigvalsh(folded.gram))
        if folded.coupling is not None:
            lipschitz += 2 * np.max(np.linalg.eigvalsh(folded.coupling.matmul(np.eye(7))))
        step = proximal_step(folded, joint_prox(rest), start, lipschitz)
        assert after <= _value(quadratic, terms, step, states) + 1e-8


@pytest.mark.parametrize(("update", "terms"), ACCEPTED, ids=repr)
def test_updates_do_not_write_to_their_inputs(update, terms, rng):
    quadratic, start = _quadratic(rng), _start(terms, (7, 3), rng)
    states = [term.start(start) for term in terms]
    kept = quadratic.gram.copy(), quadratic.cross.copy(), start.copy()
    update.apply(quadratic, terms, start, states)
    for now, then in zip((quadratic.gram, quadratic.cross, start), kept, strict=True):
        np.testing.assert_array_equal(now, then)


def test_least_squares_is_lstsq(rng):
    design, target = rng.normal(size=(20, 4)), rng.normal(size=(20, 6))
    B = LeastSquares().apply(Quadratic(design.T @ design, target.T @ design), [], np.zeros((6, 4)))
    np.testing.assert_allclose(B, np.linalg.lstsq(design, target, rcond=None)[0].T, rtol=1e-9)


def test_least_squares_takes_the_shortest_solution_where_rank_lacks(rng):
    design = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 4))
    target = rng.normal(size=(20, 6))
    B = LeastSquares().apply(Quadratic(design.T @ design, target.T @ design), [], np.zeros((6, 4)))
    np.testing.assert_allclose(B, np.linalg.lstsq(design, target, rcond=None)[0].T, atol=1e-7)


def test_ridge_is_textbook(rng):
    quadratic = _quadratic(rng)
    B = LeastSquares().apply(quadratic, [Ridge(0.7)], np.zeros((7, 3)))
    np.testing.assert_allclose(B, quadratic.cross @ np.linalg.inv(quadratic.gram + 0.7 * np.eye(3)), rtol=1e-9)


def test_coordinate_descent_is_nnls(rng):
    design, target = rng.normal(size=(20, 5)), rng.normal(size=(20, 8))
    quadratic = Quadratic(design.T @ design, target.T @ design)
    B = CoordinateDescent().apply(quadratic, [NonNegative()], np.zeros((8, 5)))
    np.testing.assert_allclose(B, [nnls(design, column)[0] for column in target.T], atol=1e-6)


def test_coordinate_descent_meets_the_conditions_of_the_nonnegative_lasso(rng):
    quadratic, weight = _quadratic(rng, m=30, r=5), 1.3
    B = CoordinateDescent().apply(quadratic, [NonNegative(), L1(weight)], np.zeros((30, 5)))
    slope = 2 * (quadratic.times(B) - quadratic.cross) + weight
    assert np.abs(np.minimum(B, slope)).max() < 1e-5
    assert 0 < np.mean(B == 0) < 1


def test_rows_with_their_own_gram_are_solved_as_if_alone(rng):
    quadratic = _quadratic(rng, per_row=True)
    for update, terms in [(LeastSquares(), [Ridge(0.2)]), (CoordinateDescent(), [NonNegative(), L1(0.5)])]:
        together = update.apply(quadratic, terms, np.zeros((7, 3)))
        for i in range(7):
            alone = Quadratic(quadratic.gram[i], quadratic.cross[i : i + 1])
            np.testing.assert_allclose(together[i : i + 1], update.apply(alone, terms, np.zeros((1, 3))), atol=1e-6)


@pytest.mark.parametrize("per_row", [False, True])
def test_a_row_solved_loosely_stops_where_it_would_alone(per_row, rng):
    quadratic, update = _quadratic(rng, m=60, r=6, per_row=per_row), CoordinateDescent(progress=0.05, max_sweeps=30)
    together = update.minimise(quadratic, [NonNegative()], np.zeros((60, 6)))
    tight = CoordinateDescent().minimise(quadratic, [NonNegative()], np.zeros((60, 6)))
    assert (np.abs(together - tight).max(axis=1) > 1e-4).mean() > 0.5  # most rows stopped before they were solved
    for i in range(60):
        alone = Quadratic(quadratic.gram[i] if per_row else quadratic.gram, quadratic.cross[i : i + 1])
        np.testing.assert_allclose(together[[i]], update.minimise(alone, [NonNegative()], np.zeros((1, 6))), atol=1e-12)


def _few_values(rng, m=40, r=12, per_row=True):
    """Rows with fewer values than components, and grams over six decades: coordinate descent alone does not settle."""
    U = rng.uniform(size=(9, r)) * np.logspace(0, -3, r)
    seen = rng.random((m, 9)) < (0.6 if per_row else 2.0)
    X = np.where(seen, rng.uniform(size=(m, r)) @ U.T + 0.01 * rng.normal(size=(m, 9)), 0.0)
    gram = np.einsum("ij,ja,jb->iab", seen.astype(float), U, U)
    return Quadratic(gram if per_row else gram[0], X @ U)


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize(
    "terms", [(NonNegative(), L1(1e-3)), (NonNegative(),), (Box(0, 1), L1(1e-3)), (L1(1e-3),)], ids=repr
)
def test_rows_with_fewer_values_than_components_settle(per_row, terms, rng, monkeypatch):
    quadratic, zero = _few_values(rng, per_row=per_row), np.zeros((40, 12))

    def moves(B):
        """The largest move of each row in one more cycle, as a share of its largest entry."""
        again = CoordinateDescent(max_sweeps=1).minimise(quadratic, terms, B)
        return np.abs(again - B).max(axis=1) / np.abs(B).max(axis=1)

    B = CoordinateDescent(max_sweeps=100).minimise(quadratic, terms, zero)
    monkeypatch.setattr(coordinate_descent, "OFTEN", 10**9)
    slow = CoordinateDescent(max_sweeps=100).minimise(quadratic, terms, zero)
    assert moves(B).max() <= 1e-7 < moves(slow).max()
    for i in range(40):
        alone = Quadratic(quadratic.gram[i] if per_row else quadratic.gram, quadratic.cross[[i]])
        assert _value(alone, terms, B[[i]]) <= _value(alone, terms, slow[[i]]) + 1e-12


def test_settled_rows_are_nnls(rng):
    U = rng.uniform(size=(9, 12)) * np.logspace(0, -2, 12)
    X = rng.uniform(size=(30, 12)) @ U.T + 0.1 * rng.normal(size=(30, 9))
    B = CoordinateDescent().minimise(Quadratic(U.T @ U, X @ U), [NonNegative()], np.zeros((30, 12)))
    best = [nnls(U, x)[1] for x in X]
    np.testing.assert_allclose(np.linalg.norm(X - B @ U.T, axis=1), best, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize(
    "terms", [(NonNegative(), L1(0.5)), (NonNegative(),), (Box(0, 0.4), L1(0.1)), (L1(0.5),)], ids=repr
)
def test_moving_free_entries_never_raises_a_row_and_keeps_the_others(per_row, terms, rng):
    for _ in range(20):
        quadratic = _quadratic(rng, m=30, r=6, per_row=per_row)
        B = joint_prox(terms)(rng.normal(size=(30, 6)), 0.1)
        new = move_free_entries(quadratic, joint_piece(terms, B), B)
        assert not np.array_equal(new, B)
        held = (B == 0) | (B == 0.4) & isinstance(terms[0], Box)
        np.testing.assert_array_equal(new[held], B[held])
        assert np.all(new * B >= 0)  # no entry has crossed a kink
        for i in range(30):
            alone = Quadratic(quadratic.gram[i] if per_row else quadratic.gram, quadratic.cross[[i]])
            assert _value(alone, terms, new[[i]]) <= _value(alone, terms, B[[i]]) + 1e-12


@pytest.mark.parametrize("per_row", [False, True])
def test_blocks_of_rows_do_not_change_the_result(per_row, rng, monkeypatch):
    quadratic, start = _quadratic(rng, m=50, r=5, per_row=per_row), np.abs(rng.normal(size=(50, 5)))
    whole = CoordinateDescent().minimise(quadratic, [NonNegative(), L1(0.3)], start)
    monkeypatch.setattr(coordinate_descent, "cache_blocks", lambda X: row_blocks(X.shape[0], 1, 7))
    parts = CoordinateDescent().minimise(quadratic, [NonNegative(), L1(0.3)], start)
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-14)
    assert CoordinateDescent().minimise(quadratic, [NonNegative()], start[:0]).shape == (0, 5)


@pytest.mark.parametrize("per_row", [False, True])
def test_a_coordinate_that_nothing_bears_on_stays_where_it_is(per_row, rng):
    whole = _quadratic(rng, per_row=per_row)
    gram, cross, start = whole.gram.copy(), whole.cross.copy(), np.full((7, 3), 0.7)
    mine = slice(2, 5) if per_row else slice(None)  # with a Gram of their own, only some rows lack it
    gram[(mine, 1) if per_row else 1] = gram[..., 1][mine] = cross[mine, 1] = 0.0
    B = CoordinateDescent().apply(Quadratic(gram, cross), [NonNegative()], start)
    kept = (B[:, 1] == 0.7).tolist()
    assert kept == ([2 <= row < 5 for row in range(7)] if per_row else [True] * 7)
    assert (B[:, [0, 2]] != 0.7).all()


def test_prox_gradient_agrees_with_the_exact_updates(rng):
    quadratic = _quadratic(rng)
    for exact, terms in [(LeastSquares(), [Ridge(0.5)]), (CoordinateDescent(), [Box(0, 1), L1(0.5)])]:
        B = ProxGradient().apply(quadratic, terms, np.zeros((7, 3)))
        np.testing.assert_allclose(B, exact.apply(quadratic, terms, np.zeros((7, 3))), atol=1e-4)


def _stretched(m=5, r=6):
    """A quadratic whose curvatures span two decades: momentum overshoots on it."""
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.normal(size=(r, r)))[0]
    return Quadratic((Q * np.logspace(-1, 1, r)) @ Q.T, rng.normal(size=(m, r)))


def _fista(quadratic, weight, steps, restarts):
    """Textbook FISTA for the non-negative lasso from zero, with function restart (O'Donoghue and Candès) if asked."""
    slope = 2 * np.linalg.eigvalsh(quadratic.gram)[-1]

    def value(B):
        return np.sum(B * (B @ quadratic.gram)) - 2 * np.sum(B * quadratic.cross) + weight * np.sum(B)

    def step(B):
        return np.maximum(B - 2 * (B @ quadratic.gram - quadratic.cross) / slope - weight / slope, 0)

    current = ahead = np.zeros_like(quadratic.cross)
    t, values, restarted = 1.0, [value(current)], 0
    for _ in range(steps):
        new = step(ahead)
        if restarts and value(new) > values[-1]:
            new, t, restarted = step(current), 1.0, restarted + 1
        following = (1 + np.sqrt(1 + 4 * t**2)) / 2
        ahead, current, t = new + (t - 1) / following * (new - current), new, following
        values.append(value(current))
    return current, np.array(values), restarted


def test_momentum_that_would_raise_the_value_is_dropped():
    """Where plain FISTA rises, the update follows FISTA with restarts, step by step, and never rises."""
    quadratic, terms, zero = _stretched(), [NonNegative(), L1(0.02)], np.zeros((5, 6))
    assert np.diff(_fista(quadratic, 0.02, 60, restarts=False)[1]).max() > 1e-3
    assert _fista(quadratic, 0.02, 60, restarts=True)[2] >= 2
    values = []
    for steps in range(1, 61):
        B = ProxGradient(steps).apply(quadratic, terms, zero)
        np.testing.assert_allclose(B, _fista(quadratic, 0.02, steps, restarts=True)[0], atol=1e-9)
        values.append(_value(quadratic, terms, B))
    assert np.all(np.diff(values) <= 0)


def test_steps_between_sweeps_have_no_momentum():
    quadratic, B = _stretched(), np.zeros((5, 6))
    update = ProxGradient(**ProxGradient.between_sweeps)
    slope = 2 * np.linalg.eigvalsh(quadratic.gram)[-1]
    for _ in range(update.max_steps):
        B = np.maximum(B - 2 * (B @ quadratic.gram - quadratic.cross) / slope, 0)
    np.testing.assert_allclose(update.apply(quadratic, [NonNegative()], np.zeros((5, 6))), B, atol=1e-12)


def test_a_minimum_is_left_where_it_is_but_for_rounding():
    """At the minimum a step can only round upwards; the value must not follow it."""
    for seed in range(20):
        quadratic, terms = _quadratic(np.random.default_rng(seed)), [L21(0.3)]
        B = ProxGradient(5000).apply(quadratic, terms, np.zeros((7, 3)))
        for _ in range(5):
            before, B = _value(quadratic, terms, B), ProxGradient().apply(quadratic, terms, B)
            assert _value(quadratic, terms, B) <= before


def test_procrustes_beats_random_orthonormal_bases(rng):
    quadratic = _quadratic(rng)
    U = Procrustes().apply(quadratic, [Orthonormal()], np.eye(7, 3))
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-12)
    for _ in range(100):
        other = np.linalg.qr(rng.normal(size=(7, 3)))[0]
        assert quadratic.value(U) <= quadratic.value(other) + 1e-9


@pytest.mark.parametrize(
    ("terms", "kind"),
    [
        ((), LeastSquares),
        ((Ridge(),), LeastSquares),
        ((NonNegative(), L1()), CoordinateDescent),
        ((Box(), Ridge()), CoordinateDescent),
        ((L21(),), ProxGradient),
        ((NonNegative(), Linf1()), ProxGradient),
        ((Orthonormal(),), Procrustes),
        ((Indicator(),), Assignment),
        ((LearnedGraph(), Ridge()), Sylvester),
        ((Alignment(),), Sylvester),
    ],
    ids=repr,
)
def test_the_exact_update_is_chosen_where_there_is_one(terms, kind):
    assert type(choose_update(terms, "basis")) is kind


@pytest.mark.parametrize("term", [LearnedGraph(2.0, 1.5), Alignment(0.7, 1.3)], ids=repr)
def test_the_sylvester_step_is_textbook(term, rng):
    quadratic, start = _quadratic(rng), rng.normal(size=(7, 3))
    state = term.start(start)
    K = term.coupling(start, state).matmul(np.eye(7))
    linear = term.linear(start, state)
    right = quadratic.cross if linear is None else quadratic.cross + linear
    dense = solve_sylvester(K, quadratic.gram + 0.2 * np.eye(3), right)
    found = Sylvester().apply(quadratic, [term, Ridge(0.2)], start, [state, None])
    np.testing.assert_allclose(found, dense, atol=1e-8)


def test_assignment_is_the_nearest_centroid(rng):
    X, centroids = rng.normal(size=(20, 4)), rng.normal(size=(3, 4))
    quadratic = Quadratic(centroids @ centroids.T, X @ centroids.T)
    W = Assignment().apply(quadratic, [Indicator()], np.eye(3)[np.zeros(20, dtype=int)])
    nearest = np.sum((X[:, None] - centroids) ** 2, axis=2).argmin(axis=1)
    np.testing.assert_array_equal(W, np.eye(3)[nearest])


def test_a_cluster_that_loses_everyone_gets_one_back():
    old, new = np.eye(3)[[0, 0, 1, 1, 2]], np.eye(3)[[0, 0, 1, 1, 1]]
    fixed = Indicator().repair(new, old)
    np.testing.assert_array_equal(fixed, old)
    np.testing.assert_array_equal(Indicator().repair(old, new), old)


def test_impossible_combinations_name_both_parts_and_what_is_missing():
    with pytest.raises(ValueError, match=r"Orthonormal with L1: .*Orthonormal alone, not L1.*no proximal operator"):
        choose_update([Orthonormal(), L1()], "basis")
    with pytest.raises(ValueError, match=r"Box with L21.*no joint proximal operator"):
        choose_update([Box(0, 1), L21()], "embedding")
    with pytest.raises(ValueError, match=r"Orthonormal ties the bases .* embedding"):
        choose_update([Orthonormal()], "embedding")


class _Refusing(Update, ABC):
    """A base of updates: it lacks minimise on purpose."""

    def refuses(self, terms):
        return "always"


@pytest.mark.parametrize(
    ("base", "methods", "message"),
    [
        (Update, ("refuses", "apply"), r"Odd overrides apply.*write minimise\(quadratic, terms, start\)"),
        (Update, ("refuses", "minimise", "apply"), "Odd overrides apply"),
        (Update, ("refuses",), "Odd does not define minimise"),
        (Update, ("minimise",), "Odd does not define refuses"),
        (Update, (), "Odd does not define minimise and refuses"),
        (_Refusing, (), "Odd does not define minimise"),
    ],
)
def test_an_update_that_the_plan_would_skip_is_an_error_where_it_is_defined(base, methods, message):
    with pytest.raises(TypeError, match=message) as kept:  # its traceback keeps the class alive
        type("Odd", (base,), dict.fromkeys(methods, lambda *arguments: None))
    assert "Odd" in {kind.__name__ for kind in base.__subclasses__()}
    assert "Odd" not in {kind.__name__ for kind in concrete_subclasses(Update)}
    assert kept.value is not None


def test_an_update_from_a_base_is_found_by_the_plan():
    own = type("Own", (_Refusing,), {"minimise": lambda self, quadratic, terms, start: start})
    assert own in set(concrete_subclasses(Update))
    assert _Refusing not in set(concrete_subclasses(Update))


def test_pseudo_inverse_of_a_zero_gram_is_zero():
    np.testing.assert_array_equal(solve_psd(np.zeros((2, 2)), np.ones((3, 2))), np.zeros((3, 2)))


@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-10), (np.float32, 1e-3)])
def test_one_gram_is_solved_by_factors_or_by_eigenvectors(dtype, close, rng, monkeypatch):
    A, right = rng.normal(size=(30, 6)), rng.normal(size=(4, 6)).astype(dtype)
    A[:, 5] = A[:, 4]  # singular: of minimum norm
    for gram in (A.T @ A, A.T @ A + 0.1 * np.eye(6)):
        found = solve_psd(gram.astype(dtype), right)
        np.testing.assert_allclose(found, right @ np.linalg.pinv(gram, rcond=1e-6), atol=close)
        assert found.dtype == dtype
    single = solve_psd((A.T @ A + np.eye(6)).astype(np.float32), right.astype(np.float64))
    assert single.dtype == np.float64


@pytest.mark.parametrize("terms", [(), (NonNegative(), L1(0.3)), (L21(0.3),), (NonNegative(), Linf1(0.3))], ids=repr)
def test_updates_on_every_array_library(xp, terms, rng):
    for per_row in (False, True):
        if per_row and any(not term.separable for term in terms):
            continue
        plain = _quadratic(rng, per_row=per_row)
        reference = xp.asarray(np.zeros(1))
        there = Quadratic(like(plain.gram, reference), like(plain.cross, reference))
        update = choose_update(terms, "embedding")
        here = update.apply(plain, terms, np.zeros((7, 3)))
        moved = update.apply(there, terms, like(np.zeros((7, 3)), reference))
        np.testing.assert_allclose(to_numpy(moved), here, atol=1e-8)
