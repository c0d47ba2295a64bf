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

from jella.problem.terms.base import joint_piece, joint_prox, why_not_joint
from jella.problem.terms.learned_graph import project_simplex_rows
from jella.problem.terms.linf1 import project_l1_columns
from jella.terms import (
    L1,
    L21,
    Box,
    Coupling,
    Indicator,
    LabelGraph,
    LearnedGraph,
    Linf1,
    NonNegative,
    Orthonormal,
    Proximable,
    Ridge,
)

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


ENTRYWISE = [term for term in PROXIMABLE if term.elementwise and not term.ridge]


@pytest.mark.parametrize("terms", [*((t,) for t in ENTRYWISE), *itertools.combinations(ENTRYWISE, 2)], ids=repr)
def test_around_an_entry_terms_are_linear_in_their_piece(terms, rng):
    """Inside, the value has the slope that the piece says; an entry at a kink is at an end."""
    B = joint_prox(terms)(rng.normal(size=(40, 1)), 0.5)
    piece = joint_piece(terms, B)
    assert np.all((piece.low <= B) & (piece.high >= B))
    free = (piece.low < B) & (piece.high > B)
    assert free.sum() > 0
    assert np.all((piece.low == B) | (piece.high == B) | free)
    for b, slope, low, high in zip(*(X[free] for X in (B, piece.slope, piece.low, piece.high)), strict=True):
        there = rng.uniform(max(low, b - 2), min(high, b + 2))
        values = [sum(term.value(np.array([[x]])) for term in terms) for x in (b, there)]
        assert values[1] - values[0] == pytest.approx(slope * (there - b))


def test_terms_over_groups_have_no_pieces(rng):
    assert joint_piece([NonNegative(), L21(0.3)], rng.normal(size=(4, 2))) is None


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
    assert (term.pairs > 0) == any(isinstance(part, np.ndarray) and part.shape == (9, 9) for part in kept)


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


def test_the_product_with_a_learned_graph_is_that_of_its_symmetric_part(rng):
    """Beta · (Diag(S1) − S) with S = (A + Aᵀ)/2: half the gradient of the term, which A alone does not give."""
    term, B = LearnedGraph(2.0, 1.5), rng.normal(size=(6, 3))
    graph = term.refresh(B, None)
    assert np.abs(graph - graph.T).max() > 0.05
    S = (graph + graph.T) / 2
    np.testing.assert_allclose(term.coupling(B, graph).matmul(B), 2.0 * (np.diag(S.sum(axis=1)) - S) @ B, atol=1e-12)
    pairs = np.sum((B[:, None] - B[None, :]) ** 2, axis=2)
    assert term.value(B, graph) == pytest.approx(2.0 * np.sum(S * pairs) / 2 + 1.5 * np.sum(graph**2))


def test_l21_zeroes_rows_up_to_its_threshold_and_shortens_the_others():
    """The threshold is step · weight; rows of norm 5 against thresholds below, at and above 5."""
    row, weight = np.array([[3.0, -4.0]]), 2.0
    for step in (0.25, 1.0, 2.4):
        np.testing.assert_allclose(L21(weight).prox(row, step), row * (1 - step * weight / 5), rtol=1e-14)
    for step in (2.5, 2.6, 100.0):
        np.testing.assert_array_equal(L21(weight).prox(row, step), [[0.0, 0.0]])
    assert np.linalg.norm(L21(weight).prox(row, 2.5 - 1e-9)) == pytest.approx(2e-9, rel=1e-5)
    # a step per row, and a step of nothing on a row of nothing
    steps = np.array([[1.0], [2.5], [0.0]])
    found = L21(weight).prox(np.array([[3.0, -4.0], [3.0, -4.0], [0.0, 0.0]]), steps)
    np.testing.assert_allclose(found, [[1.8, -2.4], [0.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_orthonormality_is_met_to_rounding_and_no_further(dtype, rng):
    """Columns may be off by a thousand roundings per column of the basis."""
    tall = rng.normal(size=(500, 20)).astype(dtype)
    assert Orthonormal().value(Orthonormal().project(tall)) == 0.0
    assert Orthonormal().value(np.linalg.qr(tall)[0]) == 0.0
    for r in (1, 4):
        allowed = 1e3 * r * np.finfo(dtype).eps
        for share, value in ((0.5, 0.0), (0.9, 0.0), (1.1, math.inf), (2.0, math.inf)):
            longer, turned = np.eye(6, r, dtype=dtype), np.eye(6, r, dtype=dtype)
            longer[0, 0] += share * allowed / 2  # its square is off by the share
            assert Orthonormal().value(longer) == value
            if r > 1:
                turned[0, 1] = share * allowed  # an inner product of two columns
                assert Orthonormal().value(turned) == value


LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


@given(pairs=LABELS)
@settings(max_examples=200, deadline=None)
def test_repair_of_empty_clusters_empties_no_other(pairs):
    before, after = (np.eye(4)[list(labels)] for labels in zip(*pairs, strict=True))
    fixed = Indicator().repair(after, before)
    assert Indicator().value(fixed) == 0.0
    sizes = fixed.sum(axis=0)
    assert np.all(sizes[after.sum(axis=0) > 0] > 0)
    moved = np.any(fixed != after, axis=1)
    np.testing.assert_array_equal(fixed[moved], before[moved])
    for j in np.flatnonzero((sizes == 0) & (before.sum(axis=0) > 0)):  # only where no sample can be spared
        assert np.all(sizes[fixed[before[:, j] == 1].argmax(axis=1)] == 1)


def test_a_cluster_of_one_is_not_robbed_to_fill_another():
    # the first sample of component 0 is all that component 1 has now; its second shares component 2
    before, after = np.eye(3)[[0, 0, 1, 2]], np.eye(3)[[1, 2, 2, 2]]
    np.testing.assert_array_equal(Indicator().repair(after, before), np.eye(3)[[1, 0, 2, 2]])
    # nobody to spare: it stays empty
    before, after = np.eye(3)[[0, 1]], np.eye(3)[[1, 2]]
    np.testing.assert_array_equal(Indicator().repair(after, before), after)


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
