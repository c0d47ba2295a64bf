"""Theorems that every term must obey; new terms are found by walking subclasses."""

from __future__ import annotations

import itertools
import math
from dataclasses import is_dataclass

import numpy as np
import pytest
from common import all_terms, make_term
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from jella.problem.terms.base import joint_prox, why_not_joint
from jella.problem.terms.learned_graph import project_simplex_rows
from jella.problem.terms.linf1 import project_l1_columns
from jella.terms import L1, L21, Box, Coupling, LabelGraph, Linf1, NonNegative, Orthonormal, Proximable, Ridge

TERMS = [make_term(kind) for kind in all_terms()]
PROXIMABLE = [term for term in TERMS if isinstance(term, Proximable)]
# a ridge is folded into the quadratic, and no proximal operator meets it
PAIRS = list(itertools.combinations([term for term in PROXIMABLE if not term.ridge], 2))
BLOCKS = hnp.arrays(np.float64, (5, 3), elements=st.floats(-3, 3, width=32))


def _prox_objective(terms, Y, B, step):
    return 0.5 * np.sum((Y - B) ** 2) + step * sum(term.value(Y) for term in terms)


def _beats_neighbours(terms, prox, B, step):
    best = prox(B, step)
    value = _prox_objective(terms, best, B, step)
    assert math.isfinite(value)
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(40):
            neighbour = best + size * rng.normal(size=B.shape) * (rng.random(B.shape) < 0.5)
            for term in terms:
                neighbour = term.project(neighbour)
            assert value <= _prox_objective(terms, neighbour, B, step) + 1e-9


def test_there_are_terms_to_walk():
    assert {"L1", "L21", "Linf1", "Ridge", "NonNegative", "Box", "Orthonormal"} <= {term.name for term in TERMS}


@pytest.mark.parametrize("term", PROXIMABLE, ids=repr)
@given(B=BLOCKS, step=st.floats(0.05, 2.0))
@settings(max_examples=15, deadline=None)
def test_prox_beats_random_neighbours(term, B, step):
    _beats_neighbours([term], term.prox, B, step)


JOINABLE = [pair for pair in PAIRS if why_not_joint(pair) is None]


def test_some_pairs_join_and_the_others_say_why():
    assert len(JOINABLE) >= 6
    for pair in set(PAIRS) - set(JOINABLE):
        assert any(term.name in why_not_joint(pair) for term in pair)


@pytest.mark.parametrize("pair", JOINABLE, ids=repr)
def test_joint_prox_beats_random_neighbours(pair, rng):
    for _ in range(5):
        _beats_neighbours(list(pair), joint_prox(pair), 2 * rng.normal(size=(5, 3)), rng.uniform(0.05, 1))


def test_three_terms_have_a_joint_prox(rng):
    terms = [L21(0.7), NonNegative(), L1(0.4)]
    assert why_not_joint(terms) is None
    _beats_neighbours(terms, joint_prox(terms), 2 * rng.normal(size=(6, 3)), 0.5)


@pytest.mark.parametrize("pair", [(Box(0, 1), L21()), (Linf1(), L21()), (Orthonormal(), L1())], ids=repr)
def test_pairs_without_a_joint_prox_are_named(pair):
    reason = why_not_joint(pair)
    assert reason is not None
    assert pair[0].name in reason


@pytest.mark.parametrize("term", TERMS, ids=repr)
@given(B=BLOCKS)
@settings(max_examples=15, deadline=None)
def test_projection_is_idempotent_and_feasible(term, B):
    B = B + 1e-3 * np.eye(5, 3)
    once = term.project(B)
    np.testing.assert_allclose(term.project(once), once, atol=1e-9)
    assert math.isfinite(term.value(once))


@pytest.mark.parametrize("term", TERMS, ids=repr)
def test_projection_is_nearest(term, rng):
    B = rng.normal(size=(5, 3))
    nearest = term.project(B)
    for _ in range(50):
        other = term.project(B + rng.normal(size=B.shape))
        assert np.sum((nearest - B) ** 2) <= np.sum((other - B) ** 2) + 1e-12


@pytest.mark.parametrize("term", [t for t in TERMS if t.separable], ids=repr)
def test_separable_terms_are_sums_over_rows(term, rng):
    B = term.project(rng.normal(size=(5, 3)))
    assert term.value(B) == pytest.approx(sum(term.value(B[i : i + 1]) for i in range(5)))


@pytest.mark.parametrize("term", [t for t in TERMS if t.elementwise], ids=repr)
def test_elementwise_terms_are_sums_over_entries(term, rng):
    B = term.project(rng.normal(size=(4, 3)))
    assert term.value(B) == pytest.approx(sum(term.value(b.reshape(1, 1)) for b in B.ravel()))


@pytest.mark.parametrize("term", [t for t in TERMS if t.homogeneous], ids=repr)
def test_homogeneous_terms_scale(term, rng):
    B = term.project(rng.normal(size=(4, 3)))
    assert term.value(2.5 * B) == pytest.approx(2.5 * term.value(B))


WITH_STATE = [*[t for t in TERMS if isinstance(t, Coupling)], LabelGraph([0, 1, -1, 1, 0], 0.7)]


@pytest.mark.parametrize("term", WITH_STATE, ids=repr)
def test_terms_are_the_quadratic_they_offer(term, rng):
    """With the state fixed, value(Y) − value(B) is that of tr(YᵀKY) − 2 tr(LᵀY); a linear bound lies above it."""
    B, Y = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    state = term.refresh(B, term.start(B))
    linear = term.linear(B, state)

    def quadratic(A):
        mixed = np.sum(A * term.coupling(B, state).matmul(A)) if isinstance(term, Coupling) else 0.0
        return mixed - (0.0 if linear is None else 2 * np.sum(A * linear))

    found = term.value(Y, state) - term.value(B, state)
    if term.linearises:
        assert found <= quadratic(Y) - quadratic(B) + 1e-9
        step = 1e-6 * Y
        slope = (term.value(B + step, state) - term.value(B - step, state)) / 2
        assert slope == pytest.approx(quadratic(step), rel=1e-4)
    else:
        assert found == pytest.approx(quadratic(Y) - quadratic(B), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("term", [t for t in TERMS if isinstance(t, Coupling)], ids=repr)
def test_refreshing_never_raises_the_value(term, rng):
    B = rng.normal(size=(6, 3))
    state = term.refresh(B, term.start(B))
    for _ in range(5):
        B = B + 0.3 * rng.normal(size=B.shape)
        before = term.value(B, state)
        state = term.refresh(B, state)
        assert term.value(B, state) <= before + 1e-9


@pytest.mark.parametrize("term", [*TERMS, LabelGraph(np.arange(9) % 3)], ids=repr)
def test_terms_that_keep_matrices_of_all_pairs_say_so(term, rng):
    B = rng.normal(size=(9, 3))
    state = term.refresh(B, term.start(B))
    kept = vars(state).values() if is_dataclass(state) else [state]
    assert term.pairs == any(isinstance(part, np.ndarray) and part.shape == (9, 9) for part in kept)


def test_the_label_graph_is_the_papers(rng):
    """Against the Laplacians written out: affinity 1/N_c − 1/N_l within classes, penalty 1/N_l between them."""
    labels = np.array([0, 0, 1, -1, 1, 1, -1])
    W = rng.normal(size=(7, 3))
    known = labels >= 0
    same = labels[known][:, None] == labels[known][None, :]
    sizes = np.array([np.sum(labels == c) for c in labels[known]])
    within = np.where(same, 1.0 / sizes[:, None] - 1.0 / 5, 0.0)
    between = np.where(same, 0.0, 1.0 / 5)
    difference = (np.diag(within.sum(axis=1)) - within) - (np.diag(between.sum(axis=1)) - between)
    expected = 0.5 * 0.7 * np.trace(W[known].T @ difference @ W[known])
    assert LabelGraph(labels, 0.7).value(W) == pytest.approx(expected)


def test_graph_rows_are_on_the_simplex_and_nearest(rng):
    B = 3 * rng.normal(size=(8, 6))
    A = project_simplex_rows(B)
    assert A.min() >= 0
    np.testing.assert_allclose(A.sum(axis=1), 1.0)
    for _ in range(200):
        other = rng.dirichlet(np.ones(6), size=8)
        assert np.all(np.sum((A - B) ** 2, axis=1) <= np.sum((other - B) ** 2, axis=1) + 1e-12)


@pytest.mark.parametrize("term", [t for t in TERMS if t.ridge], ids=repr)
def test_ridges_are_what_they_say(term, rng):
    B = rng.normal(size=(4, 3))
    assert term.value(B) == pytest.approx(term.ridge * np.sum(B**2))


def test_values_by_hand():
    B = np.array([[3.0, -4.0], [0.0, 2.0]])
    assert L1(2.0).value(B) == pytest.approx(18.0)
    assert L21(2.0).value(B) == pytest.approx(14.0)
    assert Linf1(2.0).value(B) == pytest.approx(14.0)
    assert Ridge(2.0).value(B) == pytest.approx(58.0)
    assert NonNegative().value(B) == math.inf
    assert Box(-4, 3).value(B) == 0.0


@given(B=BLOCKS, radius=st.floats(0.1, 5))
@settings(max_examples=30, deadline=None)
def test_l1_ball_projection(B, radius):
    projected = project_l1_columns(B, radius)
    sizes = np.abs(projected).sum(axis=0)
    assert np.all(sizes <= radius + 1e-6)
    inside = np.abs(B).sum(axis=0) <= radius
    np.testing.assert_allclose(projected[:, inside], B[:, inside])
    np.testing.assert_allclose(sizes[~inside], radius, rtol=1e-6)


@pytest.mark.parametrize("kind", [L1, L21, Linf1, Ridge])
@pytest.mark.parametrize("weight", [0.0, -1.0, np.inf, np.nan])
def test_weights_must_be_positive(kind, weight):
    with pytest.raises(ValueError, match="must be positive and finite"):
        kind(weight)


def test_box_needs_an_interval():
    with pytest.raises(ValueError, match="low < high"):
        Box(1.0, 1.0)


def test_terms_are_values():
    assert L1(0.5) == L1(0.5)
    assert L1(0.5) != L1(0.6)
    assert len({L1(0.5), L1(0.5), NonNegative()}) == 2
    assert repr(Box(0, 2)) == "Box(high=2.0, low=0.0)"
