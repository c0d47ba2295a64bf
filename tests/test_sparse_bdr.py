"""SparseBDR: the sparse form is the dense one on a full support, stays monotone, and needs no labels."""

from __future__ import annotations

import numpy as np
import pytest
from common import SETTINGS, holed
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from test_block_diagonal import K, grouped

import jella
from jella.graphs.cluster_path import choose_n_clusters
from jella.graphs.compared import compared_rows
from jella.graphs.lending import _in_turn, lent_embedding, lent_residual
from jella.graphs.neighbours import dense_nearest, nearest, neighbour_graph, symmetric_support
from jella.graphs.spectral import leading_eigenvectors, modularity, spectral_labels
from jella.graphs.view_choice import choose_kinds, choose_scaling, clarity_weights
from jella.numerics.kmeans import unit_rows
from jella.numerics.sparse_arrays import neighbours_beside, reordered
from jella.problem.model import Problem
from jella.readout import neighbours
from jella.solve.plan import make_plan
from jella.solve.relaxation import SOR, Basic
from jella.solve.solver import solve
from jella.solve.start import MeanFilled, NeighbourFilled, make_start
from jella.terms import BlockDiagonal, Orthonormal, Ridge, SparseBlockDiagonal, Support
from jella.views import read_views
from jella.views.scaling import Scaling


def solved(term, views, rule, max_iter=12):
    problem = Problem(basis=(Orthonormal(),), embedding=(term, Ridge(1e-3)))
    start = make_start(views, problem, "svd", 2 * K, np.random.default_rng(0))
    return solve(
        problem,
        make_plan(problem, views.is_rowwise, rule),
        views,
        start=start,
        relaxation=rule,
        max_iter=max_iter,
        tol=0.0,
    )


def zeros_everywhere(n):
    full = sparse.csr_array(np.ones((n, n)) - np.eye(n))
    full.data[:] = 0.0  # stored zeros are part of the pattern
    return Support(full)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("rule", [Basic(), SOR()], ids=["basic", "sor"])
@pytest.mark.parametrize("direct", [True, False])
def test_a_full_support_is_the_dense_form(setting, rule, direct, monkeypatch):
    if not direct:
        monkeypatch.setattr("jella.problem.terms.block_diagonal.DIRECT", 0)
    views = read_views([X / 10 for X in jella.datasets.make_incomplete(grouped(120), 0.2, setting, random_state=0)])
    options = {"gamma": 0.1, "eigen_tol": 1e-9, "eigen_steps": 500}
    dense = solved(BlockDiagonal(K, 1.0, 10.0, **options), views, rule)
    ours = solved(SparseBlockDiagonal(zeros_everywhere(120), K, alpha=1.0, beta=10.0, **options), views, rule)
    np.testing.assert_allclose(ours.objective, dense.objective, rtol=1e-6)
    B = ours.blocks.embedding_states[0].affinity.toarray()
    np.testing.assert_allclose(B, dense.blocks.embedding_states[0].affinity, atol=1e-6)
    assert B.max() > 0


def test_a_support_holds_every_pair_once(rng):
    weights = sparse.random_array((30, 30), density=0.1, rng=rng)
    weights = sparse.csr_array(weights + weights.T)
    weights.setdiag(1.0)
    support = Support(weights)
    assert np.all(support.rows < support.columns)
    without = weights.toarray() - np.diag(weights.diagonal())
    np.testing.assert_array_equal(support.matrix(support.start).toarray(), without)
    values = rng.normal(size=support.n_pairs)
    np.testing.assert_array_equal(support.values(support.matrix(values)), values)
    averaging = Support.averaging(symmetric_support(sparse.csr_array(without != 0).astype(float)))
    degree = (without != 0).sum(axis=1)
    i, j = averaging.rows[0], averaging.columns[0]
    assert averaging.start[0] == pytest.approx(0.5 * (1 / degree[i] + 1 / degree[j]))


@pytest.mark.parametrize("steps", [1, 3, 200])
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("weights", [(0.1, 10.0, 0.1), (10.0, 10.0, 0.1), (1.0, 1.0, 5.0)])
def test_the_objective_never_rises_however_early_the_eigensolver_stops(setting, steps, weights, monkeypatch):
    monkeypatch.setattr("jella.problem.terms.block_diagonal.DIRECT", 0)
    alpha, beta, gamma = weights
    views = read_views([X / 10 for X in jella.datasets.make_incomplete(grouped(150), 0.3, setting, random_state=1)])
    support = Support.averaging(symmetric_support(neighbour_graph(nearest(views, 6))))
    term = SparseBlockDiagonal(support, K, alpha=alpha, beta=beta, gamma=gamma, eigen_steps=steps)
    values = solved(term, views, Basic(), max_iter=25).objective
    assert np.all(np.diff(values) <= 1e-12 * values[0])
    assert values[-1] < values[0]


@pytest.mark.parametrize("is_sparse", [True, False])
def test_filling_from_neighbours_is_what_it_says(is_sparse, rng):
    X = np.maximum(rng.normal(size=(12, 5)), 0.0)
    X[[1, 4, 7]] = np.nan
    view = read_views([sparse.csr_array(X) if is_sparse else X])[0]
    graph = sparse.csr_array((np.ones(4), ([1, 1, 4, 2], [0, 2, 7, 3])), shape=(12, 12))
    expected = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    expected[1] = 0.5 * (X[0] + X[2])  # sample 4's only neighbour lacks the view, sample 7 has none
    filled = NeighbourFilled.by(view, graph)
    np.testing.assert_allclose(filled.dense(), expected)
    V, W = rng.normal(size=(5, 2)), rng.normal(size=(12, 2))
    np.testing.assert_allclose(filled.times(V), expected @ V)
    np.testing.assert_allclose(filled.times_transposed(W), expected.T @ W)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("target", [2**30, 2000])
def test_filling_is_the_same_where_the_values_lie(setting, target, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("jella.solve.start.target_bytes", lambda *_: target)
    raw = jella.datasets.make_incomplete(grouped(60), 0.4, setting, random_state=0)
    views, away = read_views(raw), read_views([torch.asarray(X) for X in raw])
    near = np.where(np.random.default_rng(0).random((60, 3)) < 0.3, -1, nearest(views, 3))
    for one, other in zip(views, away, strict=True):
        expected = NeighbourFilled.by(one, neighbour_graph(near))
        found = NeighbourFilled.by(other, neighbours_beside(near, other.X))
        np.testing.assert_allclose(found.dense().numpy(), expected.dense())
        V = np.arange(2.0 * one.n_features).reshape(-1, 2)
        np.testing.assert_allclose(found.times(torch.asarray(V)).numpy(), expected.times(V))


def test_a_support_is_the_same_where_the_values_lie():
    torch = pytest.importorskip("torch")
    near = np.random.default_rng(0).integers(-1, 40, size=(40, 4))
    here = Support.averaging(symmetric_support(neighbour_graph(near)))
    there = Support.averaging(symmetric_support(neighbours_beside(near, torch.ones(1))))
    moved = here.like(torch.ones(1))
    for name in ("rows", "columns", "start", "_indptr", "_indices", "_pair_of_entry", "_entry_of_pair"):
        np.testing.assert_array_equal(np.asarray(getattr(there, name)), np.asarray(getattr(moved, name)))
    assert (there.n_samples, there.n_pairs) == (here.n_samples, here.n_pairs)
    order = np.random.default_rng(1).permutation(40)
    other, same = there.take(order), here.take(order)
    np.testing.assert_array_equal(other.columns.numpy(), same.columns)
    np.testing.assert_allclose(other.start.numpy(), same.start)


def test_an_affinity_in_another_order_keeps_the_pairs_of_its_support(rng):
    support = Support.averaging(symmetric_support(neighbour_graph(rng.integers(0, 40, size=(40, 4)))))
    order, values = rng.permutation(40), rng.random(support.n_pairs)
    moved, there = reordered(support.matrix(values), order), support.take(order)
    np.testing.assert_array_equal(there.matrix(there.values(moved)).toarray(), moved.toarray())


def test_entries_are_filled_from_the_neighbours_that_have_them():
    X = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan], [np.nan, 7.0, 2.0]])
    graph = sparse.csr_array((np.ones(4), ([0, 0, 2, 1], [1, 2, 0, 0])), shape=(3, 3))
    filled = NeighbourFilled.by(read_views([X])[0], graph)
    assert type(filled) is MeanFilled
    np.testing.assert_allclose(filled.dense(), [[1.0, 6.0, 2.0], [3.0, 5.0, 2.0], [1.0, 7.0, 2.0]])


def clustered(n=150, seed=0, k=3):
    """Groups in two views, one of counts and one signed, and the groups."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    rates = rng.gamma(1.0, 5.0, size=(k, 20))
    centres = rng.normal(size=(k, 15)) * 2
    return [rng.poisson(rates[y]).astype(float), centres[y] + rng.normal(size=(n, 15))], y


@pytest.mark.parametrize("setting", SETTINGS)
def test_it_finds_planted_groups_and_their_number(setting):
    views, y = clustered()
    holes = jella.datasets.make_incomplete(views, 0.3, setting, random_state=0)
    known = jella.SparseBDR(3, random_state=0).fit(holes)
    assert adjusted_rand_score(y, known.labels_) > 0.9
    free = jella.SparseBDR(random_state=0).fit(holes)
    assert free.n_clusters_ == 3
    assert adjusted_rand_score(y, free.labels_) > 0.9
    assert "<- best" in repr(free.cluster_path_)


@pytest.mark.parametrize("setting", SETTINGS)
def test_new_samples_join_the_groups_of_the_fit(setting):
    views, y = clustered(n=240)
    holes = jella.datasets.make_incomplete(views, 0.3, setting, random_state=0)
    old, new = [X[:160] for X in holes], [X[160:] for X in holes]
    model = jella.SparseBDR(3, random_state=0).fit(old)
    assert adjusted_rand_score(y[160:], model.predict(new)) > 0.85
    completed = model.complete(new)
    for X, Z, true in zip(new, completed, (X[160:] for X in views), strict=True):
        missing = np.isnan(X)
        np.testing.assert_array_equal(Z[~missing], X[~missing])
        mean_filled = np.broadcast_to(np.nanmean(X, axis=0), X.shape)
        assert np.mean((Z - true)[missing] ** 2) < np.mean((mean_filled - true)[missing] ** 2)


def test_a_fit_searches_its_embedding_once(monkeypatch):
    searched = []

    def counted(W, q, **options):
        searched.append(q)
        return dense_nearest(W, q, **options)

    monkeypatch.setattr(neighbours, "dense_nearest", counted)
    views = grouped(120)
    model = jella.SparseBDR(K, random_state=0).fit(views)
    readout = model.readout_
    assert len(searched) == 1
    assert readout.found is None  # a model does not keep what only the labels needed
    rows = compared_rows(readout.known.own)
    np.testing.assert_array_equal(readout.near, dense_nearest(rows, readout.n_neighbors))
    np.testing.assert_array_equal(readout.find_labels(K, 10, 0)[np.argsort(readout.known.places)], model.labels_)
    assert len(searched) == 2  # the labels of a model without them are found again, by a search


def test_single_precision_stays_single():
    views, y = clustered()
    model = jella.SparseBDR(3, random_state=0).fit([X.astype(np.float32) for X in views])
    assert model.embedding_.dtype == np.float32
    assert model.affinity_.dtype == np.float32
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_a_sparse_view_stays_sparse(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = sparse.csr_array(rng.poisson(np.where(np.arange(60) % 3 == y[:, None], 0.6, 0.02)).astype(float))
    Y = sparse.csr_array(rng.poisson(np.where(np.arange(45) % 3 == y[:, None], 0.6, 0.02)).astype(float))
    holes = jella.datasets.make_incomplete([X, Y], 0.3, random_state=0)
    shapes = []
    original = sparse.csr_array.toarray
    monkeypatch.setattr(sparse.csr_array, "toarray", lambda self, *a, **k: shapes.append(self.shape) or original(self))
    model = jella.SparseBDR(3, random_state=0).fit(holes)
    model.transform(holes)
    assert adjusted_rand_score(model.predict(holes), model.labels_) > 0.7
    assert (90, 60) not in shapes
    assert (90, 45) not in shapes
    assert adjusted_rand_score(y, model.labels_) > 0.7


def test_a_kind_is_chosen_by_what_the_other_view_says():
    rng = np.random.default_rng(0)
    position = rng.uniform(size=(400, 3))
    loud = np.hstack([position, 1000.0 * rng.uniform(size=(400, 1))])  # one feature drowns the others
    views = read_views([loud, position @ rng.normal(size=(3, 8)) + 5.0])
    assert choose_kinds(views)[0] == "standardize"
    alone = choose_kinds(read_views([loud]))
    assert alone == ("root",)


@pytest.mark.parametrize("kinds", ["auto", "root", "center"])
@pytest.mark.parametrize("weights", [None, [1.0, 3.0], "auto"])
def test_a_chosen_scaling_is_one_learned_with_its_weights(kinds, weights):
    views = read_views([np.abs(X) for X in clustered()[0]])
    found = choose_scaling(views, kinds, weights, 3)
    if weights == "auto":
        weights = clarity_weights(views, Scaling.learn(views, found.kinds), 3)
        assert weights[0] != weights[1]
    expected = Scaling.learn(views, found.kinds, weights)
    assert [one.root_weight for one in found.scales] == [one.root_weight for one in expected.scales]
    for one, other in zip(found.apply(views), expected.apply(views), strict=True):
        np.testing.assert_array_equal(one.X, other.X)


def test_a_clear_view_weighs_more():
    views, _ = clustered()
    noise = np.random.default_rng(1).normal(size=(150, 15))
    both = read_views([views[1], noise])
    weights = clarity_weights(both, Scaling.learn(both, "none"), 3)
    assert weights[0] > 1.5 > weights[1]
    assert weights.mean() == pytest.approx(1.0)


def test_modularity_of_blocks_and_of_nothing():
    blocks = np.kron(np.eye(2), np.ones((5, 5)) - np.eye(5))
    assert modularity(blocks, np.repeat([0, 1], 5)) == pytest.approx(0.5)
    assert modularity(sparse.csr_array(blocks), np.repeat([0, 1], 5)) == pytest.approx(0.5)
    assert modularity(blocks, np.zeros(10, int)) == pytest.approx(0.0)


def test_iterative_eigenvectors_are_the_direct_ones(monkeypatch):
    views, y = clustered()
    directed = neighbour_graph(nearest(read_views(views), 8))
    graph = sparse.csr_array(directed + directed.T)
    values, vectors = leading_eigenvectors(graph, 4)
    monkeypatch.setattr("jella.graphs.spectral.DIRECT", 0)
    few, found = leading_eigenvectors(graph, 4)
    np.testing.assert_allclose(few, values, atol=1e-4)
    same_span = np.linalg.svd(found[:, :3].T @ vectors[:, :3], compute_uv=False)
    np.testing.assert_allclose(same_span, 1.0, atol=1e-3)
    assert adjusted_rand_score(y, spectral_labels(graph, 3, 5, 0)) > 0.9
    assert choose_n_clusters(graph, largest=2).n_clusters == 2


def test_settings_are_checked_in_a_sentence():
    views = holed("missing-view")
    with pytest.raises(ValueError, match="n_neighbors == 0, must be >= 1"):
        jella.SparseBDR(3, n_neighbors=0).fit(views)
    with pytest.raises(ValueError, match="view_weights"):
        jella.SparseBDR(3, view_weights="equal").fit(views)
    with pytest.raises(ValueError, match="support over 4 samples, but the embedding has 5"):
        SparseBlockDiagonal(zeros_everywhere(4)).start(np.ones((5, 2)))


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_order_of_the_sweeps_does_not_show(setting, monkeypatch):
    views, _ = clustered()
    holes = jella.datasets.make_incomplete(views, 0.3, setting, random_state=0)
    plain = jella.SparseBDR(3, random_state=0).fit(holes)
    monkeypatch.setattr("jella.graphs.neighbours.ORDERED", 10)
    ordered = jella.SparseBDR(3, random_state=0).fit(holes)
    np.testing.assert_allclose(ordered.objective_, plain.objective_, rtol=1e-9)
    np.testing.assert_allclose(ordered.embedding_, plain.embedding_, atol=1e-6)
    np.testing.assert_allclose(ordered.affinity_.toarray(), plain.affinity_.toarray(), atol=1e-6)
    np.testing.assert_allclose(ordered.transform(holes), plain.transform(holes), atol=1e-6)


def test_missing_views_are_lent_by_the_first_donor_that_has_them(rng):
    X, Y = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    X[1], Y[[2, 4]] = np.nan, np.nan
    views = read_views([X, Y])
    U, W = np.split(np.linalg.qr(rng.normal(size=(5, 2)))[0], [3]), rng.normal(size=(5, 2))
    donors = np.array([[1, 2], [0, 2], [4, 3], [0, 1], [2, -1]])
    E = lent_embedding(views, views, W, donors, U)
    np.testing.assert_allclose(E[0], X[0] @ U[0] + Y[0] @ U[1])
    np.testing.assert_allclose(E[1], X[0] @ U[0] + Y[1] @ U[1])
    np.testing.assert_allclose(E[2], X[2] @ U[0] + Y[3] @ U[1])  # sample 4 lacks the view itself
    np.testing.assert_allclose(E[4], X[4] @ U[0] + W[4] @ U[1].T @ U[1])  # nobody has it


def test_a_sample_lends_again_only_when_the_others_have_too():
    donors = np.array([[0, 1], [0, 1], [0, 1], [0, 2]])
    able = np.array([[True, True], [True, True], [True, False], [True, True]])
    assert _in_turn(donors, able, 3).tolist() == [0, 1, 0, 1]


def test_missing_entries_are_lent_one_by_one(rng):
    X = rng.normal(size=(4, 3))
    X[0, :2], X[1, 1], X[3] = np.nan, np.nan, np.nan
    views = read_views([X])
    U, W = [np.linalg.qr(rng.normal(size=(3, 2)))[0]], rng.normal(size=(4, 2))
    donors = np.array([[1, 2], [3, -1], [0, 1], [0, 2]])
    E = lent_embedding(views, views, W, donors, U)
    np.testing.assert_allclose(E[0], np.array([X[1, 0], X[2, 1], X[0, 2]]) @ U[0])
    expected = X[1].copy()
    expected[1] = (W[1] @ U[0].T)[1]
    np.testing.assert_allclose(E[1], expected @ U[0])
    np.testing.assert_allclose(E[3], np.array([X[2, 0], X[2, 1], X[0, 2]]) @ U[0])


@pytest.mark.parametrize("form", ["dense", "sparse", "entries"])
def test_residuals_of_neighbours_are_averaged_and_shrunk(form, rng):
    X = np.maximum(rng.normal(size=(6, 4)), 0.0)
    X[2] = np.nan
    if form == "entries":
        X[0, 1] = np.nan
    view = read_views([sparse.csr_array(X) if form == "sparse" else X])[0]
    W, U = rng.normal(size=(6, 2)), rng.normal(size=(4, 2))
    near = sparse.csr_array(np.array([[1.0, 1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]))
    R = np.where(np.isnan(X), 0.0, X - W @ U.T)
    count = near @ (~np.isnan(X)).astype(float)
    np.testing.assert_allclose(lent_residual(view, W, near, U), (near @ R) / (count + 3.0))


def availability_auc(E, present):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_predict(KNeighborsClassifier(10), E, present, cv=folds, method="predict_proba")
    return roc_auc_score(present, scores[:, 1])


def test_the_embedding_does_not_tell_which_views_a_sample_has():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 4
    common = rng.normal(size=(4, 3))[y] * 1.5
    views = [
        (common + rng.normal(size=(600, 3))) @ rng.normal(size=(3, 6)) + rng.normal(size=(600, 6)) for _ in range(2)
    ]
    holes = jella.datasets.make_incomplete(views, 0.5, random_state=0)
    model = jella.SparseBDR(4, random_state=0).fit(holes)
    present = [~np.isnan(X).all(axis=1) for X in holes]
    shown = [availability_auc(unit_rows(model.embedding_), p) for p in present]
    inner = [availability_auc(unit_rows(model.result_.blocks.embedding), p) for p in present]
    assert max(shown) < 0.6
    assert min(inner) > 0.7  # the effect is there to be cured
    again = [availability_auc(unit_rows(model.transform(holes)), p) for p in present]
    assert max(again) < 0.65


def test_a_new_sample_is_pulled_to_its_neighbours():
    views, _ = clustered()
    model = jella.SparseBDR(3, scale="none", view_weights=None, random_state=0).fit(views)
    new = [X[:4] + 0.01 for X in views]
    readout = model.readout_
    W = readout.solve(read_views(new))
    found = nearest(readout.samples, 10, queries=read_views(new))
    anchor = readout.known.own[found].mean(axis=1)
    U, pull = np.concatenate(readout.bases), model.alpha + model.ridge
    expected = np.linalg.solve(U.T @ U + pull * np.eye(U.shape[1]), (np.hstack(new) @ U + pull * anchor).T).T
    np.testing.assert_allclose(W, expected, rtol=1e-8)
