"""What is computed where the values lie agrees with what is computed on the host."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from test_neighbours import DATA, brute, check, entries

from jella.graphs import confirmed, tiles
from jella.graphs.cluster_path import partitions_of
from jella.graphs.confirmed import confirmed_graph
from jella.graphs.expected import FitExpected
from jella.graphs.gaps import groups_apart, leaving
from jella.graphs.lending import lent_embedding
from jella.graphs.neighbours import dense_nearest, nearest
from jella.graphs.pieces import graph_labels
from jella.graphs.selection import candidates, first_places, nearest_first
from jella.graphs.spectral import components, leading_eigenvectors
from jella.numerics import kmeans
from jella.numerics.arrays import smallest_of_rows, to_numpy
from jella.numerics.kmeans import continued_kmeans, kmeans_labels
from jella.numerics.lanczos import largest_eigenpairs
from jella.numerics.sparse_arrays import joined_neighbours, reordered, symmetric_sum, to_scipy
from jella.readout.clusters import rank_votes
from jella.views.fingerprints import find_prints, fingerprints
from jella.views.read import read_views


def there(xp, raw):
    return read_views([xp.asarray(X) for X in raw])


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("q", [1, 5, 40, 59])
def test_neighbours_agree_with_loops(kind, q, xp, rng):
    raw = DATA[kind](rng)
    check(nearest(there(xp, raw), q), brute(raw), q)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("size", [1, 3000])
def test_the_size_of_a_tile_does_not_matter(kind, size, xp, rng, monkeypatch):
    views = there(xp, DATA[kind](rng))
    whole = nearest(views, 6)
    monkeypatch.setattr(tiles, "TILE_BYTES", size)
    parts = nearest(views, 6)
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("first", [0, 40])
@pytest.mark.parametrize("size", [1, 2000, 2**25])
def test_ties_in_some_tiles_only(first, size, xp, rng, monkeypatch):
    raw = rng.normal(size=(140, 3))
    raw[first : first + 100] = rng.integers(2, size=(100, 3))  # each value about twelve times, each distance more often
    raw[rng.random(raw.shape) < 0.1] = np.nan
    monkeypatch.setattr(tiles, "TILE_BYTES", size)
    check(nearest(there(xp, [raw]), 5), brute([raw]), 5)


@pytest.mark.parametrize("kind", DATA)
def test_queries_of_another_precision(kind, xp, rng):
    raw = DATA[kind](rng)
    asked = [X[:9].astype(np.float32) for X in DATA[kind](rng)]
    found = nearest(there(xp, raw), 4, queries=there(xp, asked))
    check(found, brute(raw, [X.astype(np.float64) for X in asked]), 4)


def test_ties_are_in_the_order_of_the_samples(xp, rng):
    raw = [rng.integers(0, 2, size=(80, 3)).astype(float)]
    np.testing.assert_array_equal(nearest(there(xp, raw), 7), nearest(read_views(raw), 7))


def test_samples_with_nothing_in_common_are_no_neighbours(xp):
    nan = np.nan
    raw = [np.array([[1.0, nan], [nan, 2.0], [3.0, nan], [nan, nan]]), np.array([[nan], [nan], [nan], [5.0]])]
    check(nearest(there(xp, raw), 2), brute(raw), 2)


def test_single_precision_far_from_the_origin(xp, rng):
    X = (rng.normal(size=(60, 5)) + 3000.0).astype(np.float32)
    found = nearest(there(xp, [X]), 3)
    np.testing.assert_array_equal(found, nearest(read_views(X.astype(np.float64)), 3))


def test_rows_of_an_embedding(xp, rng):
    W, asked = rng.normal(size=(50, 3)), rng.normal(size=(7, 3))
    found = dense_nearest(xp.asarray(W), 4, queries=xp.asarray(asked))
    np.testing.assert_array_equal(found, dense_nearest(W, 4, queries=asked))


@pytest.mark.parametrize(("width", "q"), [(30, 5), (701, 10), (701, 11), (640, 10)])
def test_places_of_the_smallest(width, q, xp, rng):
    D = rng.integers(0, 2 * width // 10, size=(20, width)).astype(float)
    D[3], D[4, 2:] = np.inf, np.inf
    expected = np.argsort(D, axis=1, kind="stable")[:, :q]
    found = to_numpy(smallest_of_rows(xp.asarray(D), q))
    assert all(len(set(row)) == q for row in found.tolist())
    np.testing.assert_array_equal(
        np.sort(np.take_along_axis(D, found, axis=1), axis=1), np.take_along_axis(D, expected, axis=1)
    )
    D = np.where(np.isinf(D), 1e6, D)
    A, norms = xp.asarray(D), xp.zeros(20, dtype=xp.float64)
    found = nearest_first(A, candidates(A, q, norms)[0], q)
    np.testing.assert_array_equal(to_numpy(found), np.argsort(D, axis=1, kind="stable")[:, :q])
    found = first_places(D.copy(), q, np.zeros(20))
    np.testing.assert_array_equal(found, np.argsort(D, axis=1, kind="stable")[:, :q])


@pytest.mark.parametrize("kind", DATA)
def test_samples_that_fit_best(kind, xp, rng):
    raw = DATA[kind](rng)
    W, bases = rng.normal(size=(40, 3)), [rng.normal(size=(X.shape[1], 3)) for X in raw]
    model = FitExpected(xp.asarray(W), [xp.asarray(U) for U in bases])
    expected = FitExpected(W, bases).nearest(read_views(raw), 6)
    np.testing.assert_array_equal(model.nearest(there(xp, raw), 6), expected)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("in_turn", [True, False])
def test_loans(kind, in_turn, xp, rng):
    raw = DATA[kind](rng)
    W, bases = rng.normal(size=(60, 3)), [rng.normal(size=(X.shape[1], 3)) for X in raw]
    donors = rng.integers(-1, 60, size=(60, 4))
    here, away = read_views(raw), there(xp, raw)
    expected = lent_embedding(here, here, W, donors, bases, in_turn=in_turn)
    found = lent_embedding(away, away, xp.asarray(W), donors, [xp.asarray(U) for U in bases], in_turn=in_turn)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-12)


def test_the_first_donor_that_has_a_value_lends_it(xp, rng):
    (raw,) = entries(rng, widths=(6,))
    W, U = rng.normal(size=(60, 3)), rng.normal(size=(6, 3))
    donors = rng.integers(-1, 60, size=(60, 4))
    filled = np.where(np.isnan(raw), W @ U.T, raw)
    for i, j in np.argwhere(np.isnan(raw)):
        values = [raw[donor, j] for donor in donors[i] if donor >= 0 and not np.isnan(raw[donor, j])]
        filled[i, j] = values[0] if values else filled[i, j]
    views = there(xp, [raw])
    found = lent_embedding(views, views, xp.asarray(W), donors, [xp.asarray(U)])
    np.testing.assert_allclose(to_numpy(found), filled @ U, atol=1e-12)


@pytest.mark.parametrize("q", [1, 15])
def test_the_graph_of_labels(q, torch, rng, monkeypatch):
    W = rng.normal(size=(300, 4))
    bases = [rng.normal(size=(8, 4)), rng.normal(size=(6, 4))]
    raw = [W @ U.T + rng.normal(size=(300, len(U))) for U in bases]
    raw[0][::3] = np.nan
    raw[1][rng.random(raw[1].shape) < 0.2] = np.nan
    near = dense_nearest(W, q)
    expected = confirmed_graph(near, read_views(raw), W, bases, [0.5, 1.5])
    as_torch = torch.asarray(W), [torch.asarray(U) for U in bases]
    for target in (2**30, 100_000):
        monkeypatch.setattr(confirmed, "target_bytes", lambda place, target=target: target)
        found = to_scipy(confirmed_graph(near, there(torch, raw), *as_torch, [0.5, 1.5]))
        assert found.nnz == expected.nnz
        assert abs(found - expected).max() < 1e-12


def test_entries_at_the_same_place_are_added(xp, rng):
    rows, columns, values = rng.integers(9, size=60), rng.integers(9, size=60), rng.random(60) + 0.1
    A = sparse.coo_array((values, (rows, columns)), shape=(9, 9)).toarray()
    found = to_scipy(symmetric_sum(xp.asarray(rows), xp.asarray(columns), xp.asarray(values), 9))
    np.testing.assert_allclose(found.toarray(), A + A.T, rtol=1e-12)
    assert found.has_canonical_format


def test_a_matrix_in_another_order(torch, rng):
    order, away = rng.permutation(60), joined_neighbours(rng.integers(-1, 60, size=(60, 4)), torch.ones(1))
    np.testing.assert_array_equal(to_scipy(reordered(away, order)).toarray(), to_scipy(away).toarray()[order][:, order])


def test_largest_eigenpairs(xp, rng):
    A = rng.normal(size=(400, 400))
    A = A @ np.diag(np.linspace(0, 1, 400) ** 8) @ A.T
    there = xp.asarray(A)
    values, vectors = largest_eigenpairs(lambda x: there @ x, xp.asarray(rng.normal(size=400)), 7, 1e-8)
    expected = np.linalg.eigvalsh(A)[-7:]
    np.testing.assert_allclose(values, expected, rtol=1e-8)
    vectors = to_numpy(vectors)
    assert np.abs(A @ vectors - vectors * values).max() < 1e-6 * expected[-1]
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(7), atol=1e-8)


def test_the_only_eigenpair_of_one_sample():
    values, vectors = largest_eigenpairs(lambda x: 3.0 * x, np.ones(1), 1, 1e-8)
    assert values.tolist() == [3.0]
    assert vectors.tolist() == [[1.0]]


def test_no_answer_from_a_start_that_the_operator_only_stretches():
    start = np.eye(50)[0]
    assert largest_eigenpairs(lambda x: np.arange(50.0) * x, start, 3, 1e-6) is None


def near_points(rng, shifts, n=400, q=8):
    """Neighbours (n · groups, q) of points in the plane, in groups at these shifts, each by itself."""
    parts = [dense_nearest(rng.normal(size=(n, 2)), q) + n * number for number in range(len(shifts))]
    if len(set(shifts)) == len(shifts):
        return dense_nearest(np.concatenate([rng.normal(size=(n, 2)) + shift for shift in shifts]), q)
    return np.concatenate(parts)


GRAPHS = {
    "connected": lambda rng: near_points(rng, (0.0, 2.0, 4.0)),
    "large components": lambda rng: near_points(rng, (0.0, 0.0, 0.0), 900),
    "a small component": lambda rng: np.concatenate([near_points(rng, (0.0, 3.0), 700), [[1401] * 8, [1400] * 8]]),
    "nobody near": lambda rng: np.concatenate([near_points(rng, (0.0, 3.0), 700), [[-1] * 8] * 3]),
}


@pytest.mark.parametrize("kind", GRAPHS)
def test_eigenvectors_of_a_graph(kind, torch, rng):
    near = GRAPHS[kind](rng)
    here, away = joined_neighbours(near, np.ones(1)), joined_neighbours(near, torch.ones(1))
    assert abs(to_scipy(away) - here).max() == 0
    assert components(away)[0] == components(here)[0]
    values, vectors = leading_eigenvectors(here, 6)
    found, others = leading_eigenvectors(away, 6)
    assert isinstance(others, torch.Tensor)
    np.testing.assert_allclose(found, values, atol=1e-6)
    assert np.abs(np.linalg.svd(vectors.T @ others.numpy())[1] - 1).max() < 1e-3


@pytest.mark.parametrize("apart", [1.5, 6.0])
def test_groups_of_a_graph(apart, torch, rng):
    near = near_points(rng, (0.0, apart, 2 * apart))
    here, away = joined_neighbours(near, np.ones(1)), joined_neighbours(near, torch.ones(1))
    labels = partitions_of(here, [3]).labels[3]
    np.testing.assert_array_equal(partitions_of(away, [3]).labels[3], labels)
    np.testing.assert_allclose(leaving(away, labels), leaving(here, labels), atol=1e-12)
    assert (groups_apart(away, 3) is None) == (groups_apart(here, 3) is None) == (apart < 2)
    np.testing.assert_array_equal(graph_labels(away, 3, 2, 0), graph_labels(here, 3, 2, 0))


@pytest.mark.parametrize("start", ["rows", "far"])
def test_k_means_goes_on_as_in_scikit_learn(start, xp, rng):
    rows = np.concatenate([rng.normal(size=(300, 4)) + shift for shift in (0.0, 4.0, 8.0)])
    centres = rows[[0, 1, 700]] if start == "rows" else np.stack([rows[0], rows[500], np.full(4, 1e3)])
    labels = KMeans(3, init=centres, n_init=1).fit(rows).labels_
    np.testing.assert_array_equal(continued_kmeans(xp.asarray(rows), centres, 300), labels)


def test_k_means_of_many_rows_brings_few_to_the_host(xp, rng, monkeypatch):
    rows = np.concatenate([rng.normal(size=(300, 4)) + shift for shift in (0.0, 4.0, 8.0)])
    monkeypatch.setattr(kmeans, "COMPARED", 400)
    monkeypatch.setattr(kmeans, "PER_CLUSTER", 10)
    labels = kmeans_labels(xp.asarray(rows), 3, 5, 0)
    np.testing.assert_array_equal(labels, kmeans_labels(rows, 3, 5, 0))


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fingerprints(kind, dtype, xp, rng):
    raw = [X.astype(dtype) for X in DATA[kind](rng)]
    raw[0][3, 0] = 0.0
    np.testing.assert_array_equal(fingerprints(there(xp, raw)), fingerprints(read_views(raw)))


def test_fingerprints_are_those_of_saved_models():
    raw = [[1.0, 2.0, np.nan], [0.0, -3.5, 1e300]]
    assert fingerprints(read_views(raw)).tolist() == [12406152172374186046, 16931232026605198398]


def test_prints_among_others(rng):
    among, prints = rng.integers(12, size=30).astype(np.uint64), rng.integers(20, size=50).astype(np.uint64)
    places = {value: np.flatnonzero(among == value).tolist() for value in set(among.tolist())}
    turn: Counter[int] = Counter()
    for value, found in zip(prints.tolist(), find_prints(prints, among).tolist(), strict=True):
        expected = places[value][turn[value] % len(places[value])] if value in places else -1
        turn[value] += 1
        assert found == expected
    assert find_prints(prints, among[:0]).tolist() == [-1] * 50


@pytest.mark.parametrize("different", [7, 100, 10**6])
@pytest.mark.parametrize("count", [5, 40, None])
def test_the_lowest_numbers(different, count, rng):
    numbers = rng.integers(different, size=1000).astype(np.uint64)
    views = read_views(np.zeros((1000, 1)))
    found, rows = views.lowest(lambda _: numbers, count)
    expected, first = np.unique(numbers, return_index=True)
    np.testing.assert_array_equal(found, expected[:count])
    np.testing.assert_array_equal(rows, first[:count])


def test_votes_in_blocks(rng):
    near, labels = rng.integers(-1, 30, size=(70_000, 3)), rng.integers(4, size=30)
    votes = rank_votes(near, labels, 4)
    for row in (0, 1, 43_000, 69_999):
        expected = np.zeros(4)
        for rank, place in enumerate(near[row]):
            if place >= 0:
                expected[labels[place]] += 1 / (rank + 1)
        np.testing.assert_allclose(votes[row], expected)


def test_garbage_under_the_mask_changes_nothing(xp, rng):
    raw = entries(rng)
    other = [np.where(np.isnan(X), np.nan, X) for X in raw]
    masks = [~np.isnan(X) for X in raw]
    filled = [np.where(mask, X, 1e6) for X, mask in zip(other, masks, strict=True)]
    views = read_views([xp.asarray(X) for X in filled], [xp.asarray(mask) for mask in masks])
    np.testing.assert_array_equal(nearest(views, 5), nearest(read_views(raw), 5))
