"""Eigenvectors of graphs by component: those of the whole graph, directly and by iteration."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.neighbors import kneighbors_graph

from jella.graphs import spectral
from jella.graphs.spectral import components, laplacian_eigenvectors, leading_eigenvectors
from jella.numerics.eigen import lowest_of_dense

K = 4
by_size = pytest.mark.parametrize(
    "sizes", [(60,), (40, 25, 3), (300, 250), (40, 30, 25, 20), (30, 20, 10, 5, 40)], ids=str
)
by_way = pytest.mark.parametrize("direct", [600, 0], ids=["direct", "iterative"])


def graph_of(rng, sizes):
    """Directed neighbour graph whose components have these sizes."""
    parts = [kneighbors_graph(rng.normal(size=(size, 2)), min(8, size - 1)) for size in sizes]
    graph = sparse.csr_array(sparse.block_diag(parts))
    assert components(graph)[0] == len(sizes)
    return graph


def halves(S):
    return 0.5 * (S + S.T).toarray()


def assert_same_space(found, vectors):
    np.testing.assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-8)
    np.testing.assert_allclose(found @ found.T, vectors @ vectors.T, atol=1e-6)


@by_way
@by_size
def test_lowest_of_the_laplacian(rng, sizes, direct, monkeypatch):
    monkeypatch.setattr(spectral, "DIRECT", direct)
    S = graph_of(rng, sizes)
    found, F = laplacian_eigenvectors(S, K)
    W = halves(S)
    values, vectors = np.linalg.eigh(np.diag(W.sum(axis=1)) - W)
    np.testing.assert_allclose(found, values[:K], atol=1e-9)
    if len(sizes) <= K:
        assert values[K] - values[K - 1] > 1e-6  # the space is well defined
        assert_same_space(F, vectors[:, :K])


@by_way
@by_size
def test_leading_ones_of_the_normalised_graph(rng, sizes, direct, monkeypatch):
    monkeypatch.setattr(spectral, "DIRECT", direct)
    monkeypatch.setattr(spectral, "EIGEN_TOL", 1e-12)
    W = halves(graph_of(rng, sizes))
    found, F = leading_eigenvectors(sparse.csr_array(W), K)
    root = 1.0 / np.sqrt(W.sum(axis=1))
    values, vectors = (pair[..., ::-1] for pair in np.linalg.eigh(W * root[:, None] * root))
    np.testing.assert_allclose(found, values[:K], atol=1e-9)
    if len(sizes) <= K:
        assert values[K - 1] - values[K] > 1e-6
        assert_same_space(F, vectors[:, :K])


def test_of_many_components_the_largest_count(rng):
    sizes = (5, 30, 6, 20, 40, 7)
    ends = np.cumsum((0, *sizes))
    _, F = laplacian_eigenvectors(graph_of(rng, sizes), 3)
    reached = [bool(F[start:end].any()) for start, end in pairwise(ends)]
    assert reached == [False, True, False, True, True, False]


def test_without_convergence_all_digits_still_come(rng, monkeypatch):
    S = graph_of(rng, (300, 250))
    values, F = laplacian_eigenvectors(S, K)

    def gives_up(*args, **options):
        raise ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))

    monkeypatch.setattr(spectral, "DIRECT", 0)
    monkeypatch.setattr(spectral, "eigsh", gives_up)
    again, G = laplacian_eigenvectors(S, K)
    np.testing.assert_allclose(again, values, atol=1e-12)
    assert_same_space(G, F)


def test_without_convergence_a_second_try_asks_for_less(rng, monkeypatch):
    W = sparse.csr_array(halves(graph_of(rng, (300,))))
    values, _ = leading_eigenvectors(W, K)
    eigsh, asked = spectral.eigsh, []

    def gives_up_once(*args, **options):
        asked.append(options["tol"])
        if len(asked) == 1:
            raise ArpackNoConvergence("no", np.empty(0), np.empty((0, 0)))
        return eigsh(*args, **options)

    monkeypatch.setattr(spectral, "DIRECT", 0)
    monkeypatch.setattr(spectral, "eigsh", gives_up_once)
    again, _ = leading_eigenvectors(W, K)
    np.testing.assert_allclose(again, values, atol=1e-2)
    assert len(asked) == 2
    assert asked[1] > asked[0]


def test_the_lowest_of_a_dense_array_are_those_of_all_libraries(rng):
    strict = pytest.importorskip("array_api_strict")
    root = rng.normal(size=(30, 30))
    A = root @ root.T
    values, vectors = np.linalg.eigh(A)
    for library in (np, strict):
        found, lowest = (np.asarray(one) for one in lowest_of_dense(library.asarray(A.copy()), 4))
        np.testing.assert_allclose(lowest, values[:4], atol=1e-10)
        np.testing.assert_allclose(np.abs(found.T @ vectors[:, :4]), np.eye(4), atol=1e-8)
