"""Nearest neighbours of samples with holes."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import nan_euclidean_distances

from jella.graphs import cells, host_search, neighbours, panels
from jella.graphs.cells import locality_order
from jella.graphs.neighbours import dense_nearest, nearest, neighbour_graph, search_recall, symmetric_support
from jella.views.model import View, Views
from jella.views.read import read_views


def entries(rng, n=60, widths=(7, 5), rate=0.4):
    raw = [rng.normal(size=(n, d)) for d in widths]
    for X in raw:
        X[rng.random(X.shape) < rate] = np.nan
    return raw


def rowwise(rng, n=60, widths=(7, 5), rate=0.3):
    raw = [rng.normal(size=(n, d)) for d in widths]
    absent = rng.random((n, len(widths))) < rate
    for v, X in enumerate(raw):
        X[absent[:, v]] = np.nan
    return raw


def mixed(rng, n=60):
    """Complete, samples missing, entries missing; a sample with nothing but the first view."""
    return [rng.normal(size=(n, 3)), *rowwise(rng, n, (4,)), *entries(rng, n, (6,))]


DATA = {"entries": entries, "rowwise": rowwise, "mixed": mixed}


def brute(raw, asked=None):
    own = asked is None
    asked = raw if own else asked
    D = np.full((len(asked[0]), len(raw[0])), np.inf)
    for i in range(D.shape[0]):
        for j in range(D.shape[1]):
            total = share = 0.0
            for A, B in zip(asked, raw, strict=True):
                difference = A[i] - B[j]
                total += np.nansum(difference**2)
                share += np.mean(~np.isnan(difference))
            if share > 0 and not (own and i == j):
                D[i, j] = total / share
    return D


def check(found, D, q):
    expected = np.argsort(D, axis=1, kind="stable")[:, :q]
    values = np.take_along_axis(D, expected, axis=1)
    np.testing.assert_array_equal(found, np.where(np.isfinite(values), expected, -1))


def clustered(rng, n=4000, widths=(20, 15), groups=80, kind="entries", dtype=np.float64):
    factors = rng.normal(size=(groups, 4))[rng.integers(groups, size=n)] + 0.15 * rng.normal(size=(n, 4))
    raw = [(factors @ rng.normal(size=(4, d)) + 0.02 * rng.normal(size=(n, d))).astype(dtype) for d in widths]
    for v, X in enumerate(raw):
        if kind == "entries":
            X[rng.random(X.shape) < 0.2] = np.nan
        elif kind == "rowwise":
            X[v :: 2 * len(widths)] = np.nan
    return raw


def recall(found, exact):
    hits = [np.isin(a, b).mean() for a, b in zip(exact, found, strict=True)]
    return float(np.mean(hits))


def test_agrees_with_scikit_learn_on_one_view(rng):
    (X,) = entries(rng, widths=(9,))
    D = nan_euclidean_distances(X, squared=True)
    np.fill_diagonal(D, np.inf)
    check(nearest(read_views(X), 8), np.where(np.isnan(D), np.inf, D), 8)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("q", [1, 5, 40, 59])
def test_agrees_with_loops(kind, q, rng):
    raw = DATA[kind](rng)
    check(nearest(read_views(raw), q), brute(raw), q)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("block", [1, 1000, 20_000])
def test_blocks_and_tiles_do_not_matter(kind, block, rng, monkeypatch):
    views = read_views(DATA[kind](rng))
    whole = nearest(views, 6)
    monkeypatch.setattr(neighbours, "BLOCK_BYTES", block)
    monkeypatch.setattr(neighbours, "CELL_BLOCK_BYTES", block)
    monkeypatch.setattr(host_search, "CELL_BLOCK_BYTES", block)
    parts = nearest(views, 6)
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("asked_kind", ["entries", "rowwise", "complete"])
def test_queries(kind, asked_kind, rng):
    raw = DATA[kind](rng)
    widths = tuple(X.shape[1] for X in raw)
    make = {"entries": entries, "rowwise": rowwise, "complete": lambda *args: rowwise(*args, rate=0.0)}[asked_kind]
    asked = make(rng, 9, widths)
    found = nearest(read_views(raw), 4, queries=read_views(asked))
    check(found, brute(raw, asked), 4)


def test_a_query_of_one_empty_sample(rng):
    views = read_views(rng.normal(size=(5, 3)))
    lone = Views((View("view", np.zeros((1, 3)), np.zeros((1, 1), dtype=bool)),))
    assert nearest(views, 9, queries=lone).tolist() == [[-1] * 5]


@pytest.mark.parametrize("exact", [20_000, 50])
def test_nothing_in_common(exact, rng, monkeypatch):
    monkeypatch.setattr(neighbours, "EXACT", exact)
    monkeypatch.setattr(cells, "CELL_SIZE", 5)
    raw = [rng.normal(size=(60, 4)), rng.normal(size=(60, 3))]
    raw[0][:3] = np.nan
    raw[1][3:] = np.nan
    raw[1][2] = np.nan
    indices = nearest(read_views(raw), 4)
    assert indices[0].tolist() == [1, -1, -1, -1]
    assert indices[1].tolist() == [0, -1, -1, -1]
    assert indices[2].tolist() == [-1] * 4
    assert np.all(indices[3:] >= 0)


def sparse_views(rng, n=80, dtype=np.float64):
    dense = [rng.poisson(0.3, size=(n, d)).astype(dtype) * rng.random((n, d)).astype(dtype) for d in (30, 20)]
    present = [None, rng.random(n) < 0.7]
    return dense, present


@pytest.mark.parametrize("exact", [20_000, 50])
def test_sparse_equals_dense(exact, rng, monkeypatch):
    monkeypatch.setattr(neighbours, "EXACT", exact)
    monkeypatch.setattr(cells, "CELL_SIZE", 10)
    dense, present = sparse_views(rng)
    thin = read_views([sparse.csr_array(X) for X in dense], present)
    assert all(view.is_sparse for view in thin)
    found = nearest(thin, 5)
    expected = nearest(read_views(dense, present), 5)
    np.testing.assert_array_equal(found, expected)
    half = Views((thin[0], read_views(dense, present)[1]))
    np.testing.assert_array_equal(nearest(half, 5), expected)
    np.testing.assert_array_equal(nearest(half, 5, queries=thin), nearest(thin, 5, queries=thin))


def test_sparse_with_missing_entries_equals_dense(rng):
    mask = rng.random((40, 12)) < 0.7
    X = rng.poisson(0.5, size=mask.shape) * mask * 1.0
    thin, dense = (Views((View("view", A, mask),)) for A in (sparse.csr_array(X), X))
    np.testing.assert_array_equal(nearest(thin, 6), nearest(dense, 6))


def test_rowwise_equals_entry_masks(rng):
    views = read_views(rowwise(rng))
    full = Views(tuple(View(v.name, v.X, np.broadcast_to(v.mask, v.X.shape).copy()) for v in views))
    assert views.is_rowwise
    assert not full.is_rowwise
    found, expected = nearest(full, 7), nearest(views, 7)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", DATA)
def test_permutation_of_the_samples(kind, rng):
    views = read_views(DATA[kind](rng))
    order = rng.permutation(views.n_samples)
    indices = nearest(views, 6)
    permuted = nearest(views.take(order), 6)
    np.testing.assert_array_equal(np.where(permuted < 0, -1, order[permuted]), indices[order])


@pytest.mark.parametrize("kind", DATA)
def test_single_precision_far_from_the_origin(kind, rng):
    raw = [X.astype(np.float32) + np.float32(1000.0) for X in DATA[kind](rng)]
    found = nearest(read_views(raw), 5)
    check(found, brute([X.astype(np.float64) for X in raw]), 5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_duplicates_come_first_and_in_order(dtype, rng):
    X = np.tile(rng.normal(size=(3, 50)).astype(dtype), (200, 1))
    indices = nearest(read_views(X), 5)
    assert indices[0].tolist() == [3, 6, 9, 12, 15]
    assert indices[7].tolist() == [1, 4, 10, 13, 16]


def test_ties_at_the_last_place_are_in_order():
    X = np.array([[0.0], [1.0], [-1.0], [1.0], [-1.0], [0.5]])
    assert nearest(read_views(X), 3)[0].tolist() == [5, 1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("q", [1, 4, 20])
def test_many_ties_are_in_order(dtype, q, rng):
    X = rng.integers(3, size=(120, 4)).astype(dtype)
    check(nearest(read_views(X), q), brute([X]), q)


def test_what_stands_in_holes_does_not_matter(rng):
    observed = rng.random((50, 6)) < 0.6
    X = rng.normal(size=observed.shape)
    found = nearest(read_views(np.where(observed, X, 1e9), observed), 5)
    expected = nearest(read_views(np.where(observed, X, np.nan)), 5)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["entries", "rowwise", "complete"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_find_most_neighbours(kind, dtype, rng, monkeypatch):
    views = read_views(clustered(rng, kind=kind, dtype=dtype))
    exact = nearest(views, 10)
    asked = views.take(np.arange(0, 4000, 7))
    exact_asked = nearest(views, 10, queries=asked)
    monkeypatch.setattr(neighbours, "EXACT", 1000)
    monkeypatch.setattr(neighbours, "FOUND", 0.95)
    monkeypatch.setattr(cells, "CELL_SIZE", 40)
    found = nearest(views, 10)
    assert recall(found, exact) >= 0.9
    assert recall(nearest(views, 10, queries=asked), exact_asked) >= 0.9
    assert not np.any(found == np.arange(4000)[:, None])
    np.testing.assert_array_equal(nearest(views, 10), found)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.97])
def test_no_more_cells_than_hold_the_share_of_neighbours(share, rng, monkeypatch):
    views = read_views(clustered(rng))
    exact = nearest(views, 10)
    monkeypatch.setattr(neighbours, "EXACT", 1000)
    monkeypatch.setattr(neighbours, "FOUND", share)
    monkeypatch.setattr(neighbours, "QUERIES", 400)
    monkeypatch.setattr(cells, "CELL_SIZE", 40)
    searched = []
    around = cells.Cells.around
    monkeypatch.setattr(cells.Cells, "around", lambda *given: searched.append(given[-1]) or around(*given))
    found = recall(nearest(views, 10), exact)
    (count,) = set(searched)
    assert 1 <= count <= neighbours.PROBES
    held = search_recall(views, 10)
    assert share <= held <= found + 0.03  # a search looks at 41 samples at least
    if count > 1:  # one cell less would hold less than the share
        monkeypatch.setattr(neighbours, "PROBES", count - 1)
        assert search_recall(views, 10) < share


def test_coordinates_complete_what_is_missing(rng):
    """Samples that lack much lie near their own complete values, nearer than by the observed share alone."""
    whole = clustered(rng, n=1500, kind="complete")
    lost = [X.copy() for X in whole]
    lost[0][::3] = np.nan
    lost[1][1::3] = np.nan
    lost[1][rng.random(lost[1].shape) < 0.2] = np.nan
    views, project = read_views(lost), cells.Projection.of(read_views(whole))
    true = project(read_views(whole))
    share = np.mean([np.mean(~np.isnan(X), axis=1) for X in lost], axis=0)
    plain = project.observed(views) / share[:, None]
    assert np.square(project(views) - true).sum() < 0.5 * np.square(plain - true).sum()
    assert true.shape == (1500, 32)


def test_directions_are_the_principal_ones(rng):
    (X,) = clustered(rng, n=3000, widths=(60,), kind="complete")
    project = cells.Projection.of(read_views(X))
    V = project.directions[0]
    np.testing.assert_allclose(V.T @ V, np.eye(32), atol=1e-5)
    kept = np.square(project(read_views(X))).sum()
    values = np.linalg.eigvalsh((X - X.mean(axis=0)).T @ (X - X.mean(axis=0)))[::-1]
    assert kept == pytest.approx(values[:32].sum(), rel=1e-3)
    empty = project(Views((View("view", np.zeros((2, 60)), np.zeros((2, 1), dtype=bool)),)))
    assert not empty.any()


def sums_of_products(monkeypatch):
    """The precisions of the products that searches make, in turn."""
    made = []
    distances = neighbours.Search.distances
    monkeypatch.setattr(
        neighbours.Search, "distances", lambda self, *given: made.append(given[-1].name) or distances(self, *given)
    )
    return made


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-7])
def test_single_precision_names_all_that_may_be_nearest(kind, spread, rng, monkeypatch):
    """The answer is that of products in double precision, bit for bit, also for near duplicates."""
    raw = [100.0 + spread * X for X in DATA[kind](rng, 400)]
    centres = rng.normal(size=(400, 1)).round()
    views = read_views([X + 10 * centres for X in raw])
    made = sums_of_products(monkeypatch)
    found = nearest(views, 6)
    assert made[0] == "float32"
    assert spread == 1.0 or "float64" in made
    monkeypatch.setattr(host_search, "LARGEST", 0.0)
    made.clear()
    expected = nearest(views, 6)
    assert set(made) == {"float64"}
    np.testing.assert_array_equal(found, expected)


def in_groups(rng, n):
    """Samples in the order of their groups, whose distances from one panel say little about those from another."""
    near = np.repeat(rng.normal(size=(n // 50, 8)), 50, axis=0)
    return [near[:n] + 0.1 * rng.normal(size=near[:n].shape)]


def with_ties(rng, n):
    return [rng.integers(3, size=(n, 4)).astype(float), *entries(rng, n, (3,))]


@pytest.mark.parametrize("kind", [*DATA.values(), in_groups, with_ties])
@pytest.mark.parametrize("q", [1, 6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_that_serve_both_samples_change_nothing(kind, q, dtype, rng, monkeypatch):
    views = read_views([X.astype(dtype) for X in kind(rng, 300)])
    whole = nearest(views, q)
    monkeypatch.setattr(panels, "PANEL", 40)
    monkeypatch.setattr(panels, "WIDE", -1000)
    np.testing.assert_array_equal(nearest(views, q), whole)
    monkeypatch.setattr(panels, "TILE_BYTES", 0)
    monkeypatch.setattr(panels, "BLOCK_BYTES", 1000)
    np.testing.assert_array_equal(nearest(views, q), whole)


def test_products_serve_both_samples(rng, monkeypatch):
    counted, distances = [], neighbours.Search.distances
    monkeypatch.setattr(
        neighbours.Search,
        "distances",
        lambda self, left, *given: counted.append(len(left.norms) * given[1]) or distances(self, left, *given),
    )
    monkeypatch.setattr(panels, "PANEL", 100)
    nearest(read_views(rng.normal(size=(1000, 120))), 5)
    assert sum(counted) == 0.55 * 1000**2


@pytest.mark.parametrize("size", [1e-30, 1e20])
def test_values_beyond_single_precision(size, rng):
    raw = entries(rng)
    found = nearest(read_views([size * X for X in raw]), 5)
    np.testing.assert_array_equal(found, nearest(read_views(raw), 5))


def test_given_coordinates(rng, monkeypatch):
    X = clustered(rng, n=2000, widths=(10,), kind="complete")[0]
    exact = dense_nearest(X, 5)
    monkeypatch.setattr(neighbours, "EXACT", 1000)
    monkeypatch.setattr(cells, "CELL_SIZE", 25)
    found = nearest(read_views(X), 5, coordinates=X)
    np.testing.assert_array_equal(found, dense_nearest(X, 5))
    assert recall(found, exact) >= 0.9
    assert dense_nearest(X, 5, queries=X[:9])[:, 0].tolist() == list(range(9))
    assert nearest(read_views(X), 5, queries=read_views(X[:9]))[:, 0].tolist() == list(range(9))
    with pytest.raises(ValueError, match="query_coordinates"):
        nearest(read_views(X), 5, queries=read_views(X[:9]), coordinates=X)


def test_cells_of_duplicates_are_split(monkeypatch):
    monkeypatch.setattr(neighbours, "EXACT", 100)
    monkeypatch.setattr(cells, "CELL_SIZE", 20)
    assert np.all(dense_nearest(np.ones((1000, 3)), 4) >= 0)
    sizes = np.diff(cells.Cells.of(np.ones((1000, 3))).starts)
    assert sizes.max() <= 80


def test_few_samples_and_wrong_arguments(rng):
    views = read_views(rng.normal(size=(4, 2)))
    assert nearest(views, 10).shape == (4, 3)
    assert nearest(views.take(np.arange(1)), 10).shape == (1, 0)
    with pytest.raises(ValueError, match="n_neighbors"):
        nearest(views, 0)
    with pytest.raises(ValueError, match="queries"):
        nearest(views, 1, queries=read_views(rng.normal(size=(4, 3))))


def test_other_array_libraries(xp, rng):
    raw = entries(rng)
    found = nearest(read_views([xp.asarray(X) for X in raw]), 5)
    np.testing.assert_array_equal(found, nearest(read_views(raw), 5))


def test_locality_order(rng, monkeypatch):
    monkeypatch.setattr(cells, "ORDER_SIZE", 50)
    W = rng.normal(size=(10, 5))[rng.integers(10, size=1500)] + 0.1 * rng.normal(size=(1500, 5))
    order = locality_order(W)
    np.testing.assert_array_equal(np.sort(order), np.arange(1500))
    np.testing.assert_array_equal(order, locality_order(W))
    step = np.linalg.norm(np.diff(W[order], axis=0), axis=1).mean()
    assert step < 0.25 * np.linalg.norm(np.diff(W, axis=0), axis=1).mean()
    assert locality_order(W[:0]).size == 0


def test_graphs(rng):
    indices = np.array([[2, 1], [0, -1], [-1, -1]])
    A = neighbour_graph(indices)
    np.testing.assert_array_equal(A.toarray(), [[0, 1, 1], [1, 0, 0], [0, 0, 0]])
    assert A.has_sorted_indices
    S = symmetric_support(A + sparse.eye_array(3, format="csr"))
    np.testing.assert_array_equal(S.toarray(), [[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    assert S.has_sorted_indices
    assert S.indices.dtype == A.indices.dtype == np.int32
    A = neighbour_graph(nearest(read_views(entries(rng)), 5))
    expected = (A.toarray() + A.toarray().T > 0) * 1.0
    np.testing.assert_array_equal(symmetric_support(A).toarray(), expected)
