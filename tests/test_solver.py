"""The loop: it descends, restores, stops, records and can be interrupted; Algorithms 1 and 2 agree."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from common import CASES, SETTINGS, holed, make, planted
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import jella
from jella.numerics.arrays import like, to_numpy
from jella.problem.model import Blocks, Problem
from jella.problem.residuals import ViewData
from jella.solve.plan import Plan, make_plan
from jella.solve.relaxation import SOR, Basic, Pace
from jella.solve.samples import InMemory
from jella.solve.solver import balanced_bases, canonical_bases, evaluate, solve, sweep
from jella.solve.start import make_start
from jella.terms import (
    L1,
    L21,
    Alignment,
    BlockDiagonal,
    Box,
    Indicator,
    LabelGraph,
    LearnedGraph,
    Linf1,
    NonNegative,
    Orthonormal,
    Ridge,
    Term,
)
from jella.views import read_views

PROBLEMS = {
    "free": Problem(),
    "ridges": Problem(basis=(Ridge(0.1),), embedding=(Ridge(0.1),)),
    "nonnegative": Problem(basis=(NonNegative(),), embedding=(NonNegative(), L1(0.1))),
    "nonnegative with ridge": Problem(basis=(NonNegative(), Ridge(0.1)), embedding=(NonNegative(), L1(0.1))),
    "semi-nonnegative": Problem(embedding=(NonNegative(),)),
    "groups": Problem(basis=(L21(0.1),), embedding=(NonNegative(), Linf1(0.1))),
    "box": Problem(basis=(NonNegative(), Linf1(0.2)), embedding=(Box(0, 1), L1(0.05))),
    "orthonormal": Problem(basis=(Orthonormal(),), embedding=(Ridge(0.05),)),
    "graph": Problem(basis=(Ridge(0.1),), embedding=(LearnedGraph(0.5, 2.0),)),
    "aligned": Problem(basis=(Alignment(0.3, 0.5),), embedding=(NonNegative(),)),
    "blocks": Problem(embedding=(BlockDiagonal(2, 0.5, 5.0, gamma=0.2),)),
    "orthonormal blocks": Problem(basis=(Orthonormal(),), embedding=(BlockDiagonal(2),)),
    "labels": Problem(basis=(NonNegative(), Linf1(0.1)), embedding=(Box(0, 1), LabelGraph([0, 1, 1, 0], 0.3))),
    "k-means": Problem(embedding=(Indicator(),)),
}


def run(problem, views, rule=None, rank=3, max_iter=30, tol=0.0, init="svd", **options):
    rule = rule or Basic()
    start = make_start(views, problem, init, rank, np.random.default_rng(0))
    plan = make_plan(problem, views.is_rowwise, rule)
    return solve(problem, plan, views, start=start, relaxation=rule, max_iter=max_iter, tol=tol, **options)


def dense_value(problem, views, blocks):
    """The objective written out: no implicit residual, terms one by one at their states."""
    total = 0.0
    for v, (view, U) in enumerate(zip(views, blocks.bases, strict=True)):
        R = np.where(np.broadcast_to(view.mask, view.X.shape), view.X - blocks.embedding @ U.T, 0.0)
        total += problem.loss.weight * np.sum(R**2)
        pairs = zip(problem.basis, (states[v] for states in blocks.basis_states), strict=True)
        total += sum(term.value(U, state) for term, state in pairs if not term.stacked)
    W = blocks.embedding.copy()
    return total + sum(t.value(W, state) for t, state in zip(problem.embedding, blocks.embedding_states, strict=True))


def weighted(problem, strength):
    """The problem with all weights of its terms multiplied."""

    def stronger(term):
        term = copy.copy(term)
        for name in {"weight", "alpha", "beta", "gamma"} & set(vars(term)):
            setattr(term, name, strength * getattr(term, name))
        return term

    return replace(
        problem, basis=tuple(map(stronger, problem.basis)), embedding=tuple(map(stronger, problem.embedding))
    )


@st.composite
def holed_views(draw):
    """Views of drawn shapes with drawn holes; no sample and no feature is empty."""
    n, widths = draw(st.integers(4, 14)), draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    rowwise, rate = draw(st.booleans()), draw(st.floats(0, 0.6))
    views = []
    for v, d in enumerate(widths):
        X = rng.uniform(0, 1, (n, d)) * 10 ** draw(st.integers(-2, 2))
        gone = np.repeat(rng.random((n, 1)) < rate, d, axis=1) if rowwise else rng.random((n, d)) < rate
        gone[v % n] = False  # keeps every feature
        if v == 0:
            gone[:, 0] = False
            gone = gone & ~np.all(gone, axis=1, keepdims=True) if not rowwise else np.zeros_like(gone)
        views.append(np.where(gone, np.nan, X))
    return views, min(draw(st.integers(1, 4)), n, sum(widths))


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("rule", [Basic(), SOR()], ids=repr)
@given(drawn=holed_views(), strength=st.sampled_from([0.01, 0.3, 1.0, 10.0]))
@settings(max_examples=15, deadline=None)
def test_the_objective_never_rises_and_is_what_it_says(name, rule, drawn, strength):
    arrays, rank = drawn
    views, problem = read_views(arrays), weighted(PROBLEMS[name], strength)
    result = run(problem, views, rule, rank=rank, max_iter=15)
    scale = views.sqnorm()
    assert np.all(np.diff(result.objective) <= 1e-12 * scale)
    assert result.value == pytest.approx(dense_value(problem, views, result.blocks), rel=1e-9, abs=1e-11 * scale)
    for key in result.history:
        assert len(result.history[key]) == len(result.objective)
    np.testing.assert_allclose(sum(result.history.values()), result.objective, rtol=1e-12)


@pytest.mark.parametrize(("method", "setting"), CASES, ids=lambda part: getattr(part, "__name__", part))
@pytest.mark.parametrize("solver", ["basic", "sor"])
@pytest.mark.parametrize("init", ["svd", "random"])
def test_no_method_ever_rises(method, setting, solver, init):
    options = {"n_components": 3, "solver": solver, "init": init, "n_init": 2, "max_iter": 25, "tol": 0.0}
    model = make(method, random_state=0, **options)
    model.fit(holed(setting), np.arange(40) % 3)
    assert np.all(np.diff(model.objective_) <= 0)
    assert len(model.objective_) >= 2


@pytest.mark.parametrize("name", ["free", "ridges", "nonnegative with ridge", "semi-nonnegative"])
def test_algorithms_1_and_2_have_equal_objectives_and_fixed_points(name):
    problem, views = PROBLEMS[name], read_views(holed("missing-view", n=18))
    samples = InMemory.of(views)
    two = run(problem, views, max_iter=1500, tol=1e-14, close=False)
    plan = make_plan(problem, True, Basic())
    assert not plan.completes
    at = evaluate(problem, samples, two.blocks)
    completed = sweep(problem, Plan(plan.basis, plan.embedding, True), samples, at, 1.0)
    # a fixed point of one is one of the other: a sweep of Algorithm 1 neither moves it nor lowers it
    assert completed.value == pytest.approx(two.value, rel=1e-8)
    before, after = (b.embedding @ b.stacked().T for b in (at.blocks, completed.blocks))
    np.testing.assert_allclose(after, before, atol=2e-4)
    # and at any blocks the objective of the completed data is that of the observed data
    Z = [np.where(view.mask, view.X, at.blocks.embedding @ U.T) for view, U in zip(views, at.blocks.bases, strict=True)]
    full = evaluate(problem, InMemory.of(read_views(Z)), at.blocks)
    assert full.value == pytest.approx(at.value, rel=1e-9)


def test_without_holes_both_are_the_classic_truncated_svd():
    arrays = planted(noise=0.3)
    X = np.concatenate(arrays, axis=1)
    left, s, right = np.linalg.svd(X, full_matrices=False)
    for rule in (Basic(), SOR()):
        result = run(Problem(), read_views(arrays), rule, init="random", max_iter=3000, tol=1e-14)
        product = result.blocks.embedding @ result.blocks.stacked().T
        np.testing.assert_allclose(product, (left[:, :3] * s[:3]) @ right[:3], atol=1e-4)
        assert result.value == pytest.approx(np.sum(s[3:] ** 2), rel=1e-9)


def test_implicit_and_formed_residuals_agree(rng):
    arrays = holed("missing-view")
    views = read_views(arrays)
    U, W = rng.normal(size=(6, 3)), rng.normal(size=(40, 3))
    view = views[1]
    assert view.mask.shape == (40, 1)
    residual = ViewData(view).residual(U, W)
    R = np.where(view.mask, view.X - W @ U.T, 0.0)
    other = rng.normal(size=(6, 3))
    np.testing.assert_allclose(residual.matmul(other), R @ other, atol=1e-10)
    np.testing.assert_allclose(residual.rmatmul(W), R.T @ W, atol=1e-10)
    assert residual.sqnorm() == pytest.approx(np.sum(R**2))


def test_sor_needs_fewer_sweeps_on_missing_entries():
    views = read_views(holed("incomplete-view", rate=0.5))
    plain, quick = (run(Problem(), views, rule, max_iter=5000, tol=1e-9) for rule in (Basic(), SOR()))
    assert quick.converged
    assert quick.value <= plain.value * (1 + 1e-6)
    assert quick.n_iter < plain.n_iter


def _views_of_unlike_units():
    """Low noise, and a third view in a hundredth of the unit of the first, the second in a hundredfold."""
    views = holed("missing-view", n=60, noise=0.002)
    return read_views([X * unit for X, unit in zip(views, (1.0, 100.0, 0.01), strict=True)])


def test_sor_reaches_the_optimum_whatever_the_units_of_views():
    """Completed values of a view with large units would outweigh the views that a sample has."""
    views = _views_of_unlike_units()
    best = run(Problem(), views, max_iter=500, tol=1e-12).value
    assert run(Problem(), views, SOR(), max_iter=500, tol=1e-4).value <= best * (1 + 1e-4)
    assert run(Problem(), views, SOR(completes=True), max_iter=500, tol=1e-4).value > 1.1 * best


def test_a_relaxed_sweep_without_completion_is_textbook(rng):
    views, factor = read_views(holed("missing-view", n=30)), 1.7
    W, bases = rng.normal(size=(30, 3)), tuple(rng.normal(size=(view.n_features, 3)) for view in views)
    problem, rule = Problem(basis=(Ridge(0.3),)), SOR()
    plan, samples = make_plan(problem, views.is_rowwise, rule), InMemory.of(views)
    assert not plan.completes
    at = evaluate(problem, samples, problem.start_states(Blocks(bases, W)))
    found = sweep(problem, plan, samples, at, factor).blocks
    present = [np.broadcast_to(view.mask, (30, 1))[:, 0] for view in views]
    relaxed = [W @ U.T + factor * (view.X - W @ U.T) for view, U in zip(views, bases, strict=True)]
    for Z, here, U in zip(relaxed, present, found.bases, strict=True):
        gram = W[here].T @ W[here] + 0.3 * np.eye(3)
        np.testing.assert_allclose(U, Z[here].T @ W[here] @ np.linalg.inv(gram), atol=1e-9)
    for i, w in enumerate(found.embedding):
        own = [v for v in range(len(views)) if present[v][i]]
        A, z = np.concatenate([found.bases[v] for v in own]), np.concatenate([relaxed[v][i] for v in own])
        np.testing.assert_allclose(w, np.linalg.solve(A.T @ A, A.T @ z), atol=1e-8)


@pytest.mark.parametrize("terms", [(), (Ridge(0.3),), (L1(0.1),)], ids=["free", "ridge", "sparse"])
def test_bases_of_all_views_in_one_step_are_those_of_each(terms, monkeypatch):
    views = read_views(holed("incomplete-view"))
    problem = Problem(basis=terms, embedding=(Ridge(0.1),))
    together = run(problem, views, SOR(), max_iter=4).blocks
    monkeypatch.setattr("jella.solve.solver._may_be_stacked", lambda *_: False)
    alone = run(problem, views, SOR(), max_iter=4).blocks
    for one, other in zip(together.bases, alone.bases, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9 * np.abs(other).max())


def test_a_rejected_sweep_restores_the_last_accepted_blocks():
    views = read_views(holed("incomplete-view", rate=0.5))
    result = run(Problem(), views, SOR(step=3.0, largest=50.0), max_iter=200, tol=1e-12)
    rejected = [i for i, s in enumerate(result.sweeps) if not s.accepted]
    assert rejected
    for i in rejected:
        assert result.sweeps[i].ratio >= 1
        if i + 1 < len(result.sweeps):
            assert result.sweeps[i + 1].relaxation == 1.0
            assert result.sweeps[i + 1].ratio < 1  # a plain sweep from the restored blocks descends
    assert len(result.objective) == result.n_iter - len(rejected)
    assert np.all(np.diff(result.objective) <= 0)


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(0.5, (True, 2.0)), (0.7, (True, 2.2)), (0.9, (True, 2.2)), (1.0, (False, 1.0)), (1.5, (False, 1.0))],
)
def test_the_sor_rule(ratio, expected):
    accepted, pace = SOR().judge(Pace(2.0), ratio)
    assert (accepted, pace.factor) == pytest.approx(expected)
    assert SOR().judge(Pace(4.9), 0.9)[1].factor == 5.0


def test_it_stops_where_a_plain_sweep_no_longer_helps():
    W = np.outer(np.arange(1.0, 7.0), [1.0, 2.0, 3.0])
    result = run(Problem(), read_views(W), rank=1, max_iter=50)
    assert result.converged
    assert result.value < 1e-12 * np.sum(W**2)


def test_callbacks_are_told_every_accepted_sweep_and_can_stop():
    told = []

    def watch(progress):
        told.append(progress)
        return progress.n_iter == 5

    model = jella.MVLIV(n_components=3, tol=0.0, callback=[watch, lambda p: None]).fit(holed("incomplete-view"))
    assert model.n_iter_ == 5
    assert model.result_.stop_reason == "callback"
    assert [p.n_iter for p in told] == [1, 2, 3, 4, 5]
    np.testing.assert_allclose([p.objective for p in told][:-1], model.objective_[:-1])
    assert told[-1].terms["loss"] == told[-1].objective


def test_an_interrupt_keeps_the_last_accepted_blocks():
    def interrupt(progress):
        if progress.n_iter == 4:
            raise KeyboardInterrupt

    views = holed("incomplete-view")
    model = jella.MVLIV(n_components=3, n_clusters=3, callback=interrupt, tol=0.0, random_state=0)
    with pytest.warns(UserWarning, match="interrupted after 4 sweeps"):
        model.fit(views)
    assert model.result_.stop_reason == "interrupted"
    assert not model.converged_
    assert len(model.objective_) == 4
    scaled, blocks = model.scaling_.apply(read_views(views)), model.result_.blocks
    assert dense_value(Problem(), scaled, blocks) == pytest.approx(model.objective_[-1], rel=1e-9)
    np.testing.assert_array_equal(model.transform(views), model.embedding_)
    # new samples get the best embedding with the bases that were kept
    best = replace(blocks, embedding=model.readout_.without_samples().present(model.read(views)))
    other = replace(blocks, embedding=best.embedding + 1e-3)
    assert dense_value(Problem(), scaled, best) < min(dense_value(Problem(), scaled, b) for b in (blocks, other))


def test_no_convergence_is_said_with_the_last_decrease():
    with pytest.warns(ConvergenceWarning, match=r"did not converge in 2 sweeps: the last lowered .* increase max_iter"):
        jella.MVLIV(n_components=3, max_iter=2, tol=1e-12).fit(holed("incomplete-view"))


def test_warm_start_goes_on():
    views = holed("incomplete-view")
    model = jella.MVLIV(n_components=3, max_iter=5, tol=0.0, warm_start=True, solver="basic").fit(views)
    first = model.objective_
    model.fit(views)
    assert model.objective_[0] <= first[-1]
    with pytest.raises(ValueError, match="warm_start=True continues from blocks of shapes"):
        model.fit([X[:30] for X in views])


def test_given_starts_are_used(rng):
    views = planted()
    W, bases = rng.normal(size=(40, 3)), [rng.normal(size=(d, 3)) for d in (9, 6, 4)]
    for init in (W, {"embedding": W}, {"embedding": W, "bases": bases}):
        model = jella.MVLIV(n_components=3, init=init, solver="basic", max_iter=1, tol=0.0, scale="none").fit(views)
        U = [X.T @ W @ np.linalg.inv(W.T @ W) for X in views]  # the first sweep of complete data needs W alone
        A = np.concatenate(U)
        product = np.concatenate(views, axis=1) @ A @ np.linalg.inv(A.T @ A) @ A.T
        np.testing.assert_allclose(model.embedding_ @ np.concatenate(model.bases_).T, product, atol=1e-8)


def test_random_starts_keep_the_best():
    views = holed("incomplete-view", rate=0.5)
    options = {"n_components": 4, "init": "random", "max_iter": 30, "tol": 0.0}
    values = [jella.MVLIV(n_init=1, random_state=s, **options).fit(views).objective_[-1] for s in range(4)]
    assert len(set(values)) > 1
    best = jella.MVLIV(n_init=6, random_state=0, **options).fit(views)
    assert best.objective_[-1] <= values[0]


def test_canonical_bases_keep_the_product_and_order_the_components(rng):
    blocks = Blocks(tuple(rng.normal(size=(d, 3)) for d in (5, 4)), rng.normal(size=(20, 3)))
    stack = np.concatenate(canonical_bases(blocks.bases, blocks.embedding.T @ blocks.embedding))
    np.testing.assert_allclose(stack.T @ stack, np.eye(3), atol=1e-12)
    product = blocks.embedding @ blocks.stacked().T
    np.testing.assert_allclose(product @ stack @ stack.T, product, atol=1e-10)
    strength = np.sum((product @ stack) ** 2, axis=0)
    assert np.all(np.diff(strength) <= 0)
    assert np.all(stack[np.abs(stack).argmax(axis=0), np.arange(3)] > 0)


def test_balanced_bases_share_the_strength_of_every_component():
    views = holed("incomplete-view")
    model = jella.MVLIV(n_components=3, scale="sample").fit(views)
    U = np.concatenate(model.bases_)
    gram = U.T @ U
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-9)
    assert np.all(np.diff(np.diag(gram)) < 0)
    again = balanced_bases(model.bases_, model.embedding_.T @ model.embedding_)
    W = model.embedding_ @ np.concatenate(model.bases_).T @ np.concatenate(again) / np.diag(gram)
    np.testing.assert_allclose(np.sum(W**2, axis=0), np.sum(np.concatenate(again) ** 2, axis=0), rtol=0.05)


class _Reweighted(Term):
    """A term with a variable of its own: Σ ‖w_i‖² / s_i + s_i, whose best s_i is ‖w_i‖."""

    def value(self, B, state=None):
        return float(np.sum(np.sum(B**2, axis=1) / state + state))

    def start(self, B):
        return np.ones(B.shape[0])

    def refresh(self, B, state):
        return np.maximum(np.linalg.norm(B, axis=1), 1e-3)


def test_terms_with_their_own_variables_are_refreshed_and_counted():
    problem = Problem(embedding=(_Reweighted(),))
    views = read_views(planted())
    start = make_start(views, Problem(), "svd", 3, np.random.default_rng(0))
    plan = Plan(make_plan(Problem(), True, Basic()).basis, make_plan(Problem(), True, Basic()).embedding, True)
    result = solve(problem, plan, views, start=start, relaxation=Basic(), max_iter=1, tol=0.0, close=False)
    norms = np.linalg.norm(result.blocks.embedding, axis=1)
    np.testing.assert_allclose(result.blocks.embedding_states[0], norms)
    assert result.history["embedding._Reweighted"][-1] == pytest.approx(2 * norms.sum())


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", ["free", "nonnegative", "orthonormal"])
def test_the_same_answer_on_every_array_library(xp, setting, name):
    arrays = holed(setting)
    here = run(PROBLEMS[name], read_views(arrays), SOR(), max_iter=10)
    reference = xp.asarray(np.zeros(1))
    there = run(PROBLEMS[name], read_views([like(X, reference) for X in arrays]), SOR(), max_iter=10)
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-8)
    assert type(there.blocks.embedding) is type(reference)
    np.testing.assert_allclose(
        to_numpy(there.blocks.embedding) @ to_numpy(there.blocks.bases[0]).T,
        here.blocks.embedding @ here.blocks.bases[0].T,
        atol=1e-6,
    )


@pytest.mark.parametrize("setting", SETTINGS)
def test_single_precision_agrees_and_stays_single(setting):
    arrays = holed(setting)
    double = run(Problem(), read_views(arrays), SOR(), max_iter=10)
    single = run(Problem(), read_views([X.astype(np.float32) for X in arrays]), SOR(), max_iter=10)
    assert single.blocks.embedding.dtype == np.float32
    np.testing.assert_allclose(single.objective[:5], double.objective[:5], rtol=1e-4)


def test_a_negative_objective_goes_on_falling():
    """A strong label term is concave and takes the objective below zero; that is no reason to stop."""
    model = jella.IMCL(n_components=3, beta=30.0, tol=0.0, max_iter=40).fit(planted(), np.arange(40) % 3)
    assert model.objective_[0] < 0
    assert len(model.objective_) > 3
    assert np.all(np.diff(model.objective_) <= 0)
