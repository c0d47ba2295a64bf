"""Groups merged from pieces: where a neighbourhood is small beside a group, and only where they are better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from jella.graphs import pieces
from jella.graphs.confirmed import ranked_graph
from jella.graphs.gaps import between, leaving
from jella.graphs.neighbours import dense_nearest
from jella.graphs.pieces import PIECES, graph_labels, grouped_pieces, merged_pieces
from jella.graphs.spectral import diffused_vectors, leading_eigenvectors, modularity
from jella.metrics import adjusted_rand, nmi
from jella.numerics.kmeans import kmeans, unit_rows
from jella.numerics.sparse_arrays import sparse_beside

K = 5


def neighbours_of(X, q=10):
    directed = ranked_graph(dense_nearest(X, q))
    return sparse.csr_array(directed + directed.T)


def with_tails(seed, n=2000):
    """Parallel groups with long tails, whose ends are cut off with few edges."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    X = 0.7 * rng.normal(size=(n, 4))
    X[:, 0] += 4.0 * rng.standard_t(3, size=n)
    X[:, 1] += 3.5 * y
    return neighbours_of(X), y


def by_k_means(graph, k):
    return kmeans(diffused_vectors(graph, k), k, 10, 0).labels_


def never(*_):
    raise AssertionError("pieces were drawn")


@pytest.mark.parametrize("seed", range(3))
def test_groups_with_tails_are_found_better_from_pieces(seed):
    graph, y = with_tails(seed)
    before, labels = by_k_means(graph, K), graph_labels(graph, K, 10, 0)
    assert nmi(y, labels) > nmi(y, before) + 0.05
    assert modularity(graph, labels) > modularity(graph, before)
    assert leaving(graph, labels).mean() <= leaving(graph, before).mean()


@pytest.mark.parametrize("better", ["fewer edges leave", "higher modularity"])
def test_pieces_count_only_where_they_are_better_in_both_ways(better, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), [950, 950, 50, 50])  # two large groups that touch, and two small ones far away
    centres = np.array([[0.0, 0.0], [3.5, 0.0], [30.0, 0.0], [60.0, 0.0]])
    graph = neighbours_of(rng.normal(size=(2000, 2)) + centres[y])
    large, small = np.array([0, 1, 2, 2])[y], np.array([0, 0, 1, 2])[y]
    assert modularity(graph, large) > modularity(graph, small)
    assert leaving(graph, large).mean() > leaving(graph, small).mean()
    before, found = (large, small) if better == "fewer edges leave" else (small, large)
    monkeypatch.setattr(pieces, "kmeans_labels", lambda *_: before)
    monkeypatch.setattr(pieces, "grouped_pieces", lambda *_: found)
    np.testing.assert_array_equal(graph_labels(graph, 3, 10, 0), before)


def test_no_pieces_where_they_are_smaller_than_neighbourhoods(monkeypatch):
    graph, _ = with_tails(0)
    monkeypatch.setattr(pieces, "grouped_pieces", never)
    room = graph.shape[0] // (graph.nnz // 2 // graph.shape[0] + 1) // PIECES
    with pytest.raises(AssertionError, match="drawn"):
        graph_labels(graph, room, 1, 0)
    np.testing.assert_array_equal(graph_labels(graph, 2 * room, 10, 0), by_k_means(graph, 2 * room))
    assert set(graph_labels(graph, 1, 10, 0)) == {0}


def test_more_pieces_than_can_be_merged_are_not_drawn(monkeypatch):
    graph, _ = with_tails(0)
    monkeypatch.setattr(pieces, "MOST_PIECES", PIECES * K - 1)
    monkeypatch.setattr(pieces, "grouped_pieces", never)
    np.testing.assert_array_equal(graph_labels(graph, K, 10, 0), by_k_means(graph, K))


def at_half_resolution(graph, labels):
    """Modularity whose expected share counts by half."""
    degree = graph.sum(axis=1) / graph.sum()
    expected = np.sum(np.bincount(labels, degree) ** 2)
    return modularity(graph, labels) + 0.5 * expected


def share_of(graph, labels):
    """Half of the share (k,) of the edges that each group has."""
    return 0.5 * np.bincount(labels, graph.sum(axis=1)) / graph.sum()


def test_merging_keeps_modularity_as_high_as_one_step_can():
    rng = np.random.default_rng(1)
    weights = np.triu(rng.random((6, 6)), 1)
    graph = sparse.csr_array(weights + weights.T)
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    ways = [np.unique(np.where(np.arange(6) == j, i, np.arange(6)), return_inverse=True)[1] for i, j in pairs]
    best = max(at_half_resolution(graph, way) for way in ways)
    assert at_half_resolution(graph, merged_pieces(graph, np.arange(6), 5)) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(2))
def test_samples_join_the_group_with_which_modularity_is_highest(seed, monkeypatch):
    graph, _ = with_tails(seed)
    rows = unit_rows(leading_eigenvectors(graph, K + 10)[1])
    settled = grouped_pieces(graph, rows, K)
    monkeypatch.setattr(pieces, "MOST_SWEEPS", 0)
    drawn = grouped_pieces(graph, rows, K)
    highest = at_half_resolution(graph, settled)
    assert highest > at_half_resolution(graph, drawn)
    edges = (graph @ np.eye(K)[settled] - graph.sum(axis=1)[:, None] * share_of(graph, settled)).argmax(axis=1)
    assert np.mean(edges != settled) < 0.002  # hardly one would join another group


def test_a_large_group_is_not_cut_to_join_small_ones():
    """Of five groups one has nine tenths of the samples; modularity alone would divide it."""
    rng = np.random.default_rng(0)
    y = rng.choice(5, size=4000, p=[0.9, 0.04, 0.03, 0.02, 0.01])
    centres = np.linalg.qr(rng.normal(size=(6, 6)))[0][:5] * 5.0
    graph = neighbours_of(rng.normal(size=(4000, 6)) + centres[y], 40)
    assert PIECES * 5 * (graph.nnz // 2) < 4000**2
    assert adjusted_rand(y, graph_labels(graph, 5, 10, 0)) > 0.95


def test_groups_of_pieces_do_not_hang_on_a_seed():
    graph, _ = with_tails(1)
    first, second = (graph_labels(graph, K, 10, seed) for seed in (0, 1))
    assert nmi(first, second) == pytest.approx(1.0)


def test_groups_of_pieces_are_the_same_on_a_device():
    torch = pytest.importorskip("torch")
    graph, _ = with_tails(2)
    there = sparse_beside(graph, torch.ones(1, dtype=torch.float64))
    here, away = graph_labels(graph, K, 10, 0), graph_labels(there, K, 10, 0)
    assert nmi(here, by_k_means(graph, K)) < 0.95  # pieces count
    assert np.mean(here != away) < 0.001
    np.testing.assert_allclose(between(there, here), between(graph, here))
    np.testing.assert_allclose(leaving(there, here), leaving(graph, here))
    uneven = np.random.default_rng(0).choice(K, here.size, p=[0.8, 0.05, 0.05, 0.05, 0.05])
    total, wanted = pieces._wanted(there, uneven)
    at_home, same = pieces._wanted(graph, uneven)
    assert total == pytest.approx(at_home)
    np.testing.assert_array_equal(wanted, same)
