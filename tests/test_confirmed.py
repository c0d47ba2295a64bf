"""The graph that labels come from: which edges the views confirm, and what a diffusion leaves of its eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from jella.graphs.confirmed import UNCONFIRMED, confirmed_graph
from jella.graphs.spectral import diffused_labels
from jella.views import read_views

NEAR = np.array([[1], [2], [3], [2]])


def test_an_edge_weighs_as_the_views_that_have_it():
    pairs, chain = np.array([[0.0], [0.1], [2.0], [2.1]]), np.array([[5.0], [1.0], [1.1], [9.0]])
    views = read_views([pairs, chain])
    bases = [np.ones((1, 1))] * 2
    graph = confirmed_graph(NEAR, views, np.zeros((4, 1)), bases, [2.0, 1.0], 1).toarray()
    np.testing.assert_allclose(graph, graph.T)
    assert graph[1, 2] == pytest.approx(UNCONFIRMED + 2 * 0.2)
    assert graph[2, 3] == pytest.approx(2 * UNCONFIRMED + 2 * (2 * 0.8))
    assert graph[0, 3] == 0.0  # neighbours in the second view, but not in the embedding


def test_who_lacks_a_view_confirms_nothing_in_it():
    views = read_views([np.array([[0.0], [np.nan], [2.0], [2.1]])])
    graph = confirmed_graph(NEAR, views, np.zeros((4, 1)), [np.ones((1, 1))], [1.0], 3).toarray()
    assert graph[0, 1] == graph[1, 2] == pytest.approx(UNCONFIRMED)
    assert graph[2, 3] == pytest.approx(2 * (UNCONFIRMED + 2))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_missing_entries_are_as_the_model_expects(form):
    X = np.array([[0.0, 1.0], [0.0, np.nan], [0.0, 4.0], [0.0, 5.0]])
    W, U = np.array([[1.0], [4.1], [4.0], [5.0]]), np.array([[0.0], [1.0]])
    graph = confirmed_graph(NEAR, read_views([form(X)]), W, [U], [1.0], 1).toarray()
    assert graph[0, 1] == pytest.approx(UNCONFIRMED)  # sample 1 is at 4.1, beside sample 2
    assert graph[1, 2] == pytest.approx(UNCONFIRMED + 2)


def test_a_diffusion_finds_blocks_that_hang_together_by_a_thread():
    y = np.repeat(np.arange(4), 15)
    affinity = (y[:, None] == y).astype(float) + 0.01
    assert adjusted_rand_score(y, diffused_labels(affinity, 4, 5, 0)) == 1.0
    assert adjusted_rand_score(y, diffused_labels(sparse.csr_array(affinity), 4, 5, 0)) == 1.0
    apart = sparse.csr_array((y[:, None] == y).astype(float))
    assert adjusted_rand_score(y, diffused_labels(apart, 4, 5, 0)) == 1.0
    assert set(diffused_labels(apart, 1, 5, 0)) == {0}
