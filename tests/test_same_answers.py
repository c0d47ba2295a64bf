"""Laws over all estimators: samples of the fit get the answers of the fit, and their order does not matter."""

from __future__ import annotations

from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pytest
from common import SETTINGS, planted
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import jella
from jella.estimators.catalogue import estimators
from jella.graphs.lending import lent_embedding
from jella.graphs.neighbours import nearest
from jella.readout.neighbours import NeighbourReadout
from jella.views import read_views
from jella.views.fingerprints import find_prints, fingerprints

N = 60


def holed(kind: type, setting: str = "missing-view", n: int = N) -> list[np.ndarray]:
    """Planted views, with as many holes as the method takes."""
    views = planted(n=n, widths=(12, 9, 7))
    missing = kind().capabilities.missing
    if missing == "nothing":
        return views
    return jella.datasets.make_incomplete(
        views, 0.3, setting if missing == "entries" else "missing-view", random_state=1
    )


def fitted(kind: type, views: list) -> object:
    # samples in chunks are completed by the model alone
    options = {"n_clusters": 3, "random_state": 0, "max_iter": 15, "n_components": 4, "calibrate": False}
    known = kind().get_params()
    return kind(**{name: value for name, value in options.items() if name in known}).fit(views)


def lazy(views: list[np.ndarray], chunks: tuple[int, ...] = (13, 30, 17)) -> list[da.Array]:
    return [da.from_array(X, chunks=(chunks, -1)) for X in views]


def assert_same(model: object, views: list, W: np.ndarray, labels: np.ndarray | None, atol: float = 0.0) -> None:
    if hasattr(model, "transform"):
        np.testing.assert_allclose(np.asarray(model.transform(views)), W, rtol=0, atol=atol)
    if labels is not None and hasattr(model, "predict"):
        np.testing.assert_array_equal(np.asarray(model.predict(views)), labels)


by_kind = pytest.mark.parametrize("kind", estimators().values(), ids=lambda kind: kind.__name__)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@by_kind
@pytest.mark.parametrize("setting", SETTINGS)
def test_samples_of_the_fit_get_its_answers(kind, setting, tmp_path):
    views = holed(kind, setting)
    model = fitted(kind, views)
    W, labels = getattr(model, "embedding_", None), getattr(model, "labels_", None)
    model.save(tmp_path / "model.jella")
    order = np.random.default_rng(0).permutation(N)[:25]
    for one in (model, jella.load(tmp_path / "model.jella")):
        assert_same(one, views, W, labels)
        some = None if W is None else W[order], None if labels is None else labels[order]
        assert_same(one, [X[order] for X in views], *some)


@by_kind
def test_samples_of_the_fit_are_recognised_in_any_container(kind):
    import pandas as pd

    views = holed(kind)
    model = fitted(kind, {f"v{v}": X for v, X in enumerate(views)})
    W, labels = getattr(model, "embedding_", None), getattr(model, "labels_", None)
    garbage = {f"v{v}": np.where(np.isnan(X), 7.0, X) for v, X in enumerate(views)}
    observed = {f"v{v}": ~np.isnan(X) for v, X in enumerate(views)}
    frames = {f"v{v}": pd.DataFrame(X) for v, X in enumerate(views)}
    if hasattr(model, "transform"):
        np.testing.assert_array_equal(np.asarray(model.transform(frames)), W)
        np.testing.assert_array_equal(model.transform(garbage, observed=observed), W)
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(model.predict(frames), labels)


@by_kind
def test_samples_of_the_fit_get_its_answers_in_chunks(kind):
    views = holed(kind)
    with dask.config.set(scheduler="synchronous"):
        whole = fitted(kind, views)
        if hasattr(whole, "transform"):  # a model of memory, asked in chunks
            assert_same(whole, lazy(views), whole.embedding_, getattr(whole, "labels_", None))
        if kind().capabilities.not_in_chunks is not None:
            return
        model = fitted(kind, lazy(views))
        W, labels = np.asarray(model.embedding_), np.asarray(model.labels_)
        assert_same(model, lazy(views, (20, 20, 20)), W, labels, atol=1e-6)
        assert adjusted_rand_score(labels, whole.labels_) == 1.0
        for ours, theirs in zip(model.complete(lazy(views)), whole.complete(views), strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-6)


@by_kind
def test_a_sample_that_differs_is_new(kind):
    views = holed(kind)
    model = fitted(kind, views)
    if not hasattr(model, "transform"):
        pytest.skip("it embeds no new samples")
    other = [X * (1.0 + 1e-3) + 0.05 for X in views]
    W = model.transform(other)
    if kind is not jella.IRMKMC:  # whose embedding is the label alone
        assert not np.any(np.all(model.embedding_ == W, axis=1))
    if not isinstance(model.readout_, NeighbourReadout):
        np.testing.assert_allclose(W, model.readout_.without_samples().present(model.read(other)), atol=1e-12)


@by_kind
def test_values_are_expected_alike_for_samples_of_the_fit_and_new_ones(kind):
    views = holed(kind)
    model = fitted(kind, views)
    if not hasattr(model, "complete"):
        pytest.skip("it completes nothing")
    readout, read = model.readout_, model.read(views)
    fitted_matrix = kind in (jella.RPCA, jella.RRMC)  # of which samples of the fit have their rows
    W = model.embedding_ if fitted_matrix else readout.solve(readout.scaling.apply(read))
    expected = readout.in_units(read, readout.expect(W))
    for v, (X, completed) in enumerate(zip(views, model.complete(views), strict=True)):
        np.testing.assert_array_equal(completed, np.where(np.isnan(X), expected(v, None), X))


def test_labels_need_a_fit_with_clusters():
    views = holed(jella.MVLIV)
    model = jella.MVLIV(n_components=3, random_state=0).fit(views).set_params(n_clusters=3)
    with pytest.raises(ValueError, match="fitted with a number of clusters, got one without clusters; set n_clusters"):
        model.predict(views)


def test_a_method_of_ones_own_may_declare_neighbours():
    class Near(jella.MVLIV):
        def declare(self, data):
            return replace(super().declare(data), neighbours=nearest(data.views, 5))

    views = holed(jella.MVLIV)
    model = Near(n_clusters=3, n_components=3, random_state=0).fit(views)
    np.testing.assert_array_equal(model.transform(views), model.embedding_)
    np.testing.assert_array_equal(model.predict(views), model.labels_)


# the order of the samples

SETTINGS_OF_ORDER = {
    "k": {"n_clusters": 3},
    "no k": {},
    "random start": {"n_clusters": 3, "init": "random", "n_init": 2},
    "no scaling": {"n_clusters": 3, "scale": "none", "view_weights": None},
}


@pytest.mark.filterwarnings("ignore::jella.estimators.certain_labels.NoClearClustersWarning")
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("options", SETTINGS_OF_ORDER.values(), ids=SETTINGS_OF_ORDER.keys())
def test_the_order_of_the_samples_does_not_matter(setting, options):
    views, rng = holed(jella.SparseBDR, setting, n=150), np.random.default_rng(3)
    model = jella.SparseBDR(**options, random_state=0).fit(views)
    for _ in range(2):
        order = rng.permutation(150)
        other = clone(model).fit([X[order] for X in views])
        assert_permuted(other, model, order)


def assert_permuted(other: jella.SparseBDR, model: jella.SparseBDR, order: np.ndarray) -> None:
    assert other.scaling_.kinds == model.scaling_.kinds
    weights = [[scale.root_weight for scale in one.scaling_.scales] for one in (other, model)]
    assert weights[0] == weights[1]
    assert other.n_clusters_ == model.n_clusters_
    np.testing.assert_array_equal(other.objective_, model.objective_)
    np.testing.assert_array_equal(other.embedding_, model.embedding_[order])
    np.testing.assert_array_equal(other.labels_, model.labels_[order])
    np.testing.assert_array_equal(other.result_.blocks.embedding, model.result_.blocks.embedding[order])
    np.testing.assert_array_equal(other.graph_.toarray(), model.graph_[order][:, order].toarray())
    np.testing.assert_array_equal(other.affinity_.toarray(), model.affinity_[order][:, order].toarray())


def test_the_order_does_not_matter_beyond_the_samples_that_choices_are_made_from(monkeypatch):
    monkeypatch.setattr("jella.graphs.view_choice.SAMPLE", 40)
    monkeypatch.setattr("jella.graphs.neighbours.EXACT", 60)
    monkeypatch.setattr("jella.graphs.neighbours.ORDERED", 60)
    monkeypatch.setattr("jella.graphs.cells.CELL_SIZE", 12)
    monkeypatch.setattr("jella.graphs.cells.SUBSAMPLE", 100)
    views = holed(jella.SparseBDR, n=150)
    model, order = jella.SparseBDR(random_state=0).fit(views), np.random.default_rng(4).permutation(150)
    assert_permuted(clone(model).fit([X[order] for X in views]), model, order)


def test_the_order_does_not_matter_with_empty_samples_and_a_given_start():
    views = holed(jella.SparseBDR, n=90)
    for X in views:
        X[[3, 50]] = np.nan
    kept, order = np.delete(np.arange(90), [3, 50]), np.random.default_rng(5).permutation(90)
    W = np.random.default_rng(6).normal(size=(88, 5))
    model = jella.SparseBDR(3, n_components=5, init=W, on_empty="drop", random_state=0).fit(views)
    place = {sample: row for row, sample in enumerate(kept)}
    moved = W[[place[sample] for sample in order if sample in place]]
    other = clone(model).set_params(init=moved.tolist()).fit([X[order] for X in views])
    np.testing.assert_array_equal(other.embedding_, model.embedding_[order])
    np.testing.assert_array_equal(other.labels_, model.labels_[order])


def test_a_warm_start_follows_the_order_of_the_fit():
    views = holed(jella.SparseBDR, n=80)
    model = jella.SparseBDR(3, max_iter=3, warm_start=True, random_state=0).fit(views)
    first = model.objective_[-1]
    assert model.fit(views).objective_[0] <= first * (1 + 1e-9)
    for X in views:
        X[[3, 50]] = np.nan  # positions of samples and of rows of the embedding differ now
    model = jella.SparseBDR(3, max_iter=3, warm_start=True, on_empty="drop", random_state=0).fit(views)
    first = model.objective_[-1]
    assert model.fit(views).objective_[0] <= first * (1 + 1e-9)


def test_clusters_are_numbered_by_size():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], [20, 60, 35])
    views = [8.0 * rng.normal(size=(3, d))[groups] + rng.normal(size=(115, d)) for d in (7, 5)]
    sizes = np.bincount(jella.SparseBDR(3, random_state=0).fit(views).labels_)
    assert sizes.tolist() == [60, 35, 20]


def test_donors_of_the_embedding_that_users_see_give_in_turn():
    views = holed(jella.SparseBDR, n=90)
    readout = jella.SparseBDR(3, random_state=0).fit(views).readout_
    donors = np.concatenate([nearest(readout.samples, 10), readout.near], axis=1)
    given = readout.samples, readout.samples, readout.known.own, donors, readout.bases
    np.testing.assert_array_equal(readout.known.shown, lent_embedding(*given, in_turn=True))
    assert not np.array_equal(readout.known.shown, lent_embedding(*given))


# fingerprints


def test_fingerprints_know_values_and_holes_and_nothing_else(rng):
    X = rng.normal(size=(30, 6)) * (rng.random((30, 6)) < 0.5)
    X[rng.random(X.shape) < 0.2] = np.nan
    plain = fingerprints(read_views([X]))
    assert len(np.unique(plain)) == 30
    np.testing.assert_array_equal(fingerprints(read_views([np.asfortranarray(X)])), plain)
    np.testing.assert_array_equal(fingerprints(read_views([np.where(X == 0, -0.0, X)])), plain)
    order = rng.permutation(30)
    np.testing.assert_array_equal(fingerprints(read_views([X[order]])), plain[order])
    seen, zeros = ~np.isnan(X), np.nan_to_num(X)
    np.testing.assert_array_equal(fingerprints(read_views([zeros + 9.0 * ~seen], [seen])), plain)
    changed = X.copy()
    changed[4, np.flatnonzero(seen[4])[0]] += 1e-12
    assert np.flatnonzero(fingerprints(read_views([changed])) != plain).tolist() == [4]
    zero = fingerprints(read_views([np.where(seen, X, 0.0)]))
    np.testing.assert_array_equal(zero == plain, seen.all(axis=1))  # a hole is not a zero


def test_fingerprints_of_sparse_and_dense_views_are_equal(rng):
    from scipy import sparse

    X = rng.normal(size=(20, 8)) * (rng.random((20, 8)) < 0.3)
    missing = np.arange(20) % 5 == 0
    dense = fingerprints(read_views([np.where(missing[:, None], np.nan, X), X]))
    thin = fingerprints(read_views([sparse.csr_array(X), sparse.csr_array(X)], [~missing, None]))
    np.testing.assert_array_equal(dense, thin)
    single = fingerprints(read_views([X.astype(np.float32)]))
    np.testing.assert_array_equal(single, fingerprints(read_views([X.astype(np.float32).astype(np.float64)])))


def test_equal_samples_are_found_in_turn():
    among = np.array([5, 9, 5, 1, 5], dtype=np.uint64)
    assert find_prints(np.array([5, 5, 5, 5, 1, 7], dtype=np.uint64), among).tolist() == [0, 2, 4, 0, 3, -1]


def test_duplicates_get_their_own_rows_back():
    views = [np.concatenate([X, X[:6]]) for X in holed(jella.SparseBDR)]
    model = fitted(jella.SparseBDR, views)
    np.testing.assert_array_equal(model.transform(views), model.embedding_)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
