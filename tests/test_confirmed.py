"""The graph that labels come from: which edges the views confirm, and what a diffusion leaves of its eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from jella.graphs import cluster_path, confirmed, spectral
from jella.graphs.cluster_path import choose_n_clusters
from jella.graphs.confirmed import UNCONFIRMED, confirmed_graph, label_neighbours
from jella.graphs.pieces import graph_labels
from jella.views import read_views

NEAR = np.array([[1], [2], [3], [2]])


def test_an_edge_weighs_as_the_views_that_have_it():
    pairs, chain = np.array([[0.0], [0.1], [2.0], [2.1]]), np.array([[5.0], [1.0], [1.1], [9.0]])
    views = read_views([pairs, chain])
    bases = [np.ones((1, 1))] * 2
    graph = confirmed_graph(NEAR, views, np.zeros((4, 1)), bases, [2.0, 1.0]).toarray()
    np.testing.assert_allclose(graph, graph.T)
    assert graph[1, 2] == pytest.approx(0.5 * (UNCONFIRMED + 2 * 0.2))  # the only neighbour weighs 1 − 1/2
    assert graph[2, 3] == pytest.approx(0.5 * (2 * UNCONFIRMED + 2 * 0.8))
    assert graph[0, 3] == 0.0  # neighbours in the second view, but not in the embedding


def test_who_lacks_a_view_confirms_nothing_in_it():
    views = read_views([np.array([[0.0], [np.nan], [2.0], [2.1]])])
    graph = confirmed_graph(NEAR, views, np.zeros((4, 1)), [np.ones((1, 1))], [1.0]).toarray()
    assert graph[0, 1] == graph[1, 2] == pytest.approx(0.5 * UNCONFIRMED)
    assert graph[2, 3] == pytest.approx(0.5 * (2 * UNCONFIRMED + 2))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_missing_entries_are_as_the_model_expects(form):
    X = np.array([[0.0, 1.0], [0.0, np.nan], [0.0, 4.0], [0.0, 5.0]])
    W, U = np.array([[1.0], [4.1], [4.0], [5.0]]), np.array([[0.0], [1.0]])
    graph = confirmed_graph(NEAR, read_views([form(X)]), W, [U], [1.0]).toarray()
    assert graph[0, 1] == pytest.approx(0.5 * UNCONFIRMED)  # sample 1 is at 4.1, beside sample 2
    assert graph[1, 2] == pytest.approx(0.5 * (UNCONFIRMED + 2))


def test_a_neighbour_weighs_as_its_rank_in_the_embedding_and_in_the_view_allows():
    """Ranks 1 and 2 weigh 1 − 1/3 and 1/2 − 1/3; the lower of the two ranks counts."""
    line = np.array([[0.0], [1.0], [3.0], [7.0]])
    near = np.array(
        [[2, 1], [0, 2], [1, 0], [2, 1]]
    )  # the embedding has the neighbours of sample 0 the other way round
    graph = confirmed_graph(near, read_views([line]), np.zeros((4, 1)), [np.ones((1, 1))], [1.0]).toarray()
    first, second = 2 / 3, 1 / 6
    assert graph[0, 2] == pytest.approx(UNCONFIRMED * (first + second) + second + second)
    assert graph[0, 1] == pytest.approx(UNCONFIRMED * (first + second) + first + first)
    assert graph[1, 3] == pytest.approx(UNCONFIRMED * second + second)  # 3 is not among the two nearest of 1


def test_how_many_neighbours_the_graph_of_labels_has():
    assert label_neighbours(1200, 6, 10) == 100  # a cluster has 200 samples
    assert label_neighbours(400, 100, 10) == 7
    assert label_neighbours(50_000, 10, 10) == 40  # no more edges than the limit
    assert label_neighbours(10**6, 10, 25) == 25  # but the neighbours that were asked for


def _side_of_a_stray(hints):
    """The group of a sample that the embedding alone joins to one, and two confirmed edges to the other: 0 or 1.

    Two groups of ten, in rings. The stray lacks the clear view; the faint one, of a fifth of the votes, has it beside
    two samples of group 1. In the embedding it is also beside some of group 0.
    """
    ring = np.arange(10)
    clear = np.concatenate([0.1 * ring, 100 + 0.1 * ring, [np.nan]])
    faint = np.concatenate([-100 + 0.1 * ring, -0.1 * ring, [3.0]])
    near = np.full((21, 10), -1)
    near[:20, :4] = np.concatenate([group + (ring[:, None] + [-2, -1, 1, 2]) % 10 for group in (0, 10)])
    near[20, : hints + 2] = [ring[0], 10, *ring[1:hints], 11]
    bases = [np.zeros((1, 1))] * 2
    views = read_views([clear[:, None], faint[:, None]])
    labels = graph_labels(confirmed_graph(near, views, np.zeros((21, 1)), bases, [2.0, 1.0]), 2, 5, 0)
    assert len(set(labels[:10])) == len(set(labels[10:20])) == 1
    return int(labels[20] != labels[0])


@pytest.mark.parametrize(
    ("hints", "side", "factor"),
    [(4, 1, 2.0), (6, 0, 0.5)],
    ids=["few hints do not outweigh two edges that a view confirms", "many hints do"],
)
def test_what_an_edge_weighs_that_no_view_confirms(hints, side, factor, monkeypatch):
    assert _side_of_a_stray(hints) == side
    monkeypatch.setattr(confirmed, "UNCONFIRMED", factor * UNCONFIRMED)
    assert _side_of_a_stray(hints) == 1 - side  # the case hangs on the weight


def _blocks(strengths, sizes):
    """A graph of blocks of samples, of strength one inside, and the block of every sample."""
    between = np.array(strengths)
    block = np.repeat(np.arange(len(sizes)), sizes)
    return (between + between.T + np.eye(len(sizes)))[block][:, block], block


def test_how_long_a_diffusion_lasts(monkeypatch):
    """Five blocks in three groups: 1 and 4 hang together, 3 by itself, and 2 most on 1 and 4, though it leans to 0."""
    strengths = [
        [0, 0, 0.2, 0.05, 0],
        [0, 0, 0.2, 0.02, 0.3],
        [0, 0, 0, 0.1, 0.1],
        [0, 0, 0, 0, 0.02],
        [0, 0, 0, 0, 0],
    ]
    graph, block = _blocks(strengths, [4, 8, 4, 6, 8])
    expected = np.array([0, 1, 1, 2, 1])[block]
    for seed in range(3):
        assert adjusted_rand_score(expected, graph_labels(graph, 3, 10, seed)) == 1.0
    lasts = spectral.DIFFUSION
    shorter, longer = np.array([0, 1, 0, 2, 1])[block], np.array([0, 1, 2, 0, 1])[block]
    for factor, other in ((0.5, shorter), (2.0, longer)):  # the case hangs on the time
        monkeypatch.setattr(spectral, "DIFFUSION", factor * lasts)
        assert adjusted_rand_score(other, graph_labels(graph, 3, 10, 0)) == 1.0


def _nested(inner, outer, parts):
    """Two groups of some parts each, of strength one in a part, `inner` in a group and `outer` between groups."""
    part = np.arange(2 * parts)
    same = part[:, None] // parts == part // parts
    return _blocks(np.triu(np.where(same, inner, outer), 1), [12] * (2 * parts))[0]


@pytest.mark.parametrize(
    ("graph", "number", "other", "instead"),
    [(_nested(0.25, 0.05, 3), 6, 0.9, 2), (_nested(0.35, 0.05, 2), 2, 0.99, 4)],
    ids=["groups of 93% of the best modularity are too few", "groups of 98% are enough"],
)
def test_which_numbers_of_groups_are_in_question(graph, number, other, instead, monkeypatch):
    """Two groups have the wider gap after them; parts have the best modularity."""
    path = choose_n_clusters(graph, 8)
    assert path.n_clusters == number
    assert path.gap.argmax() + 2 == 2
    assert path.modularity.argmax() + 2 == max(number, instead)
    monkeypatch.setattr(cluster_path, "NEAR_BEST", other)
    assert choose_n_clusters(graph, 8).n_clusters == instead  # the case hangs on the share


def test_a_diffusion_finds_blocks_that_hang_together_by_a_thread():
    y = np.repeat(np.arange(4), 15)
    affinity = (y[:, None] == y).astype(float) + 0.01
    assert adjusted_rand_score(y, graph_labels(affinity, 4, 5, 0)) == 1.0
    assert adjusted_rand_score(y, graph_labels(sparse.csr_array(affinity), 4, 5, 0)) == 1.0
    apart = sparse.csr_array((y[:, None] == y).astype(float))
    assert adjusted_rand_score(y, graph_labels(apart, 4, 5, 0)) == 1.0
    assert set(graph_labels(apart, 1, 5, 0)) == {0}
