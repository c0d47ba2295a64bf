"""Samples in chunks, on Dask: the same results as in memory, whatever the chunks and the scheduler."""

import gc
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import jella
from jella.metrics import adjusted_rand
from jella.terms import L21, NonNegative, Ridge
from jella.views.scaling import ALL_KINDS

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask arrays are not installed")

METHODS = {
    "MVLIV": jella.MVLIV(3, max_iter=8, random_state=0),
    "MVLIV, random": jella.MVLIV(3, init="random", n_init=2, max_iter=4, random_state=0),
    "MVLIV, over-relaxed": jella.MVLIV(3, solver="sor", max_iter=8, random_state=0),
    "PVC": jella.PVC(3, max_iter=6, random_state=0),
    "DAIMC": jella.DAIMC(3, max_iter=6, random_state=0),
    "IRMKMC": jella.IRMKMC(3, max_iter=8, random_state=0),
    "SparseBDR": jella.SparseBDR(3, n_neighbors=5, max_iter=6, calibrate=False, random_state=0),
    "SparseBDR, random": jella.SparseBDR(3, init="random", n_init=2, n_neighbors=5, max_iter=4, random_state=0),
    "JELLA": jella.JELLA(
        3, n_components=4, basis=[Ridge(0.1)], embedding=[NonNegative(), Ridge(0.2)], max_iter=5, random_state=0
    ),
}


@pytest.fixture(autouse=True)
def _small_chunks_count(monkeypatch):
    """Chunks of a few samples are worked on as they are, not put together."""
    import jella.distributed.read

    monkeypatch.setattr(jella.distributed.read, "WORTH_A_TASK", 1)


@pytest.fixture(autouse=True)
def _stops_early():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def grouped(setting, n=60, seed=0):
    """Three groups in three views of 7, 5 and 6 non-negative features, with holes."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % 3
    full = [np.abs(rng.normal(size=(3, d))[groups] * 3 + rng.normal(size=(n, d)) * 0.3) for d in (7, 5, 6)]
    return jella.datasets.make_incomplete(full, 0.3, setting, random_state=seed)


def lazy(views, chunks=(23, 17, 40)):
    return [da.from_array(view, chunks=(size, 3)) for view, size in zip(views, chunks, strict=True)]


def same(chunked, whole, rtol=1e-8):
    np.testing.assert_allclose(chunked.objective_, whole.objective_, rtol=rtol)
    np.testing.assert_allclose(np.asarray(chunked.embedding_), whole.embedding_, rtol=1e-6, atol=1e-8)
    for ours, theirs in zip(chunked.bases_, whole.bases_, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
    assert adjusted_rand(np.asarray(chunked.labels_), whole.labels_) == 1.0


CASES = [
    (name, setting)
    for name in METHODS
    for setting in ("missing-view", "incomplete-view")
    if (name, setting) != ("IRMKMC", "incomplete-view")
]


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_chunks_give_what_memory_gives(name, setting):
    views = grouped(setting)
    whole, chunked = clone(METHODS[name]).fit(views), clone(METHODS[name]).fit(lazy(views))
    same(chunked, whole)
    assert chunked.embedding_.chunks[0] == chunked.labels_.chunks[0] == (23, 23, 14)


@pytest.mark.parametrize(
    "chunks", [(1, 1, 1), (60, 60, 60), ((7, 40, 13), (50, 10), (20, 20, 20)), ((0, 50, 0, 10), 1, 9)]
)
@pytest.mark.parametrize("name", ["MVLIV", "SparseBDR"])
def test_the_layout_of_chunks_does_not_matter(chunks, name):
    views = grouped("incomplete-view")
    whole, chunked = (clone(METHODS[name]).fit(X) for X in (views, lazy(views, chunks)))
    same(chunked, whole)


def test_small_chunks_are_worked_on_together_and_given_back_as_they_came(monkeypatch):
    import jella.distributed.read

    monkeypatch.setattr(jella.distributed.read, "WORTH_A_TASK", 2**24)
    views = lazy(grouped("missing-view"), (4, 5, 6))
    read = jella.distributed.read.read_chunked(views)
    assert read.lengths == (60,)
    assert jella.MVLIV(3, max_iter=3).fit(views).embedding_.chunks[0] == (4,) * 15


@pytest.mark.parametrize("scale", [*ALL_KINDS])
def test_every_scaling_is_learned_alike(scale):
    views = [view - 1.0 for view in grouped("incomplete-view")] if scale != "root" else grouped("incomplete-view")
    whole, chunked = (jella.MVLIV(3, scale=scale, max_iter=3).fit(X) for X in (views, lazy(views)))
    same(chunked, whole)
    for ours, theirs in zip(chunked.complete(lazy(views)), whole.complete(views), strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-6, atol=1e-9)


def test_single_precision_stays_single():
    views = [view.astype(np.float32) for view in grouped("incomplete-view")]
    whole, chunked = (jella.MVLIV(3, max_iter=4).fit(X) for X in (views, lazy(views)))
    np.testing.assert_allclose(chunked.objective_, whole.objective_, rtol=1e-4)
    assert chunked.embedding_.dtype == np.float32
    assert np.asarray(chunked.embedding_).dtype == np.float32


def test_new_samples_in_chunks_are_embedded_labelled_and_completed_when_asked_for():
    views, model = grouped("incomplete-view"), jella.MVLIV(3, max_iter=4).fit(grouped("incomplete-view", seed=1))
    X = dict(zip(("view0", "view1", "view2"), lazy(views), strict=True))
    np.testing.assert_allclose(np.asarray(model.transform(list(X.values()))), model.transform(views), atol=1e-10)
    np.testing.assert_array_equal(np.asarray(model.predict(list(X.values()))), model.predict(views))
    completed = model.complete(X)
    assert list(completed) == list(X)
    for ours, theirs, raw in zip(completed.values(), model.complete(views), views, strict=True):
        assert ours.chunks[0] == (23, 23, 14)
        ours = np.asarray(ours)
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
        seen = ~np.isnan(raw)
        np.testing.assert_array_equal(ours[seen], raw[seen])


@pytest.mark.parametrize(
    "model", [jella.SparseBDR(3, calibrate=False, random_state=0), jella.RPCA(), jella.MIC(3, random_state=0)]
)
def test_models_that_were_fitted_in_memory_take_chunks_too(model):
    views = grouped("missing-view")
    model = clone(model).fit(grouped("missing-view", seed=1))
    np.testing.assert_allclose(np.asarray(model.transform(lazy(views))), model.transform(views), atol=1e-8)
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(np.asarray(model.predict(lazy(views))), model.predict(views))
    if hasattr(model, "complete"):
        for ours, theirs in zip(model.complete(lazy(views)), model.complete(views), strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-8)


@pytest.mark.parametrize("name", ["MVLIV", "DAIMC", "SparseBDR"])
def test_what_memory_does_not_hold_is_kept_in_files_as_long_as_the_model_is(name, monkeypatch, tmp_path):
    import jella.distributed.scheduler

    monkeypatch.setattr(jella.distributed.scheduler, "SHARE", 0.0)
    views, new = grouped("incomplete-view"), grouped("incomplete-view", 20, seed=1)
    with dask.config.set({"temporary-directory": str(tmp_path)}):
        whole, chunked = clone(METHODS[name]).fit(views), clone(METHODS[name]).fit(lazy(views))
    assert any(tmp_path.rglob("*.npy"))
    same(chunked, whole)
    np.testing.assert_allclose(np.asarray(chunked.transform(lazy(new))), whole.transform(new), atol=1e-7)
    for ours, theirs in zip(chunked.complete(lazy(new)), whole.complete(new), strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-7)
    del chunked
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_some_samples_of_chunks_in_files_are_read_alone(monkeypatch, tmp_path):
    import jella.distributed.scheduler
    from jella.distributed.store import Stored

    monkeypatch.setattr(jella.distributed.scheduler, "SHARE", 0.0)
    views, kept = grouped("incomplete-view"), np.arange(60) % 3 > 0
    with dask.config.set({"temporary-directory": str(tmp_path)}):
        some = jella.distributed.read.read_chunked(lazy(views)).take(kept)
        assert all(isinstance(chunk, Stored) for chunk in some.chunks)
        rows = np.array([0, 3, 17, 39])
        for view, raw in zip(some.take(np.arange(40) > 0).fetch(rows[1:] - 1), views, strict=True):
            wanted = raw[kept][rows[1:]]
            np.testing.assert_array_equal(np.where(view.mask, view.X, np.nan), wanted)


def test_without_room_for_files_chunks_are_computed_in_every_pass(monkeypatch, tmp_path):
    import jella.distributed.scheduler
    import jella.distributed.store

    monkeypatch.setattr(jella.distributed.scheduler, "SHARE", 0.0)
    monkeypatch.setattr(jella.distributed.store, "FREE", 1.0)
    views = grouped("incomplete-view")
    with dask.config.set({"temporary-directory": str(tmp_path)}):
        same(clone(METHODS["SparseBDR"]).fit(lazy(views)), clone(METHODS["SparseBDR"]).fit(views))
    assert not list(tmp_path.rglob("*.npy"))


def test_nothing_is_computed_before_it_is_asked_for():
    views = grouped("missing-view")
    model = jella.MVLIV(3, max_iter=3).fit(views)

    def refuse(block):
        raise AssertionError("computed")

    X = [view.map_blocks(refuse, dtype=float, meta=np.empty((0, 0))) for view in lazy(views)]
    results = [model.transform(X), model.predict(X), *model.complete(X)]
    assert all(hasattr(result, "__dask_graph__") for result in results)
    with pytest.raises(AssertionError, match="computed"):
        results[0].compute()


def test_a_view_may_be_lacking_altogether_in_new_samples():
    views = grouped("missing-view")
    model = jella.MVLIV(3, max_iter=3).fit(dict(zip("abc", views, strict=True)))
    whole = [np.where(np.isnan(view), 1.0, view) for view in views[:2]]
    lacking, chunked = dict(zip("ab", whole, strict=True)), dict(zip("ab", lazy(whole, (20, 30)), strict=True))
    np.testing.assert_allclose(np.asarray(model.transform(chunked)), model.transform(lacking), atol=1e-10)
    np.testing.assert_allclose(np.asarray(model.complete(chunked)["c"]), model.complete(lacking)["c"], atol=1e-10)


def test_a_single_array_is_a_view():
    (X, *_) = grouped("incomplete-view")
    X[np.isnan(X).all(axis=1), 0] = 1.0
    whole, chunked = (
        jella.MVLIV(3, max_iter=3, random_state=0).fit(data) for data in (X, da.from_array(X, chunks=(11, 4)))
    )
    same(chunked, whole)
    np.testing.assert_allclose(np.asarray(chunked.complete(da.from_array(X, chunks=11))), whole.complete(X), atol=1e-9)


def test_what_only_looks_like_a_collection_is_read_as_an_array():
    class Labelled:
        """As xarray: values that may or may not be lazy."""

        shape, ndim = (60, 7), 2

        def __dask_graph__(self):
            return None

        def __array__(self, dtype=None, copy=None):
            return np.asarray(grouped("missing-view")[0], dtype=dtype)

    views = [Labelled(), *grouped("missing-view")[1:]]
    assert isinstance(jella.MVLIV(3, max_iter=2).fit(views).embedding_, np.ndarray)


def test_masks_may_come_in_chunks_too():
    views = grouped("incomplete-view")
    seen = [~np.isnan(view) for view in views]
    whole = jella.MVLIV(3, max_iter=3).fit(views)
    garbage = [np.where(mask, view, 1e9) for view, mask in zip(views, seen, strict=True)]
    for masks in (seen, lazy(seen, (9, 9, 9))):
        same(jella.MVLIV(3, max_iter=3).fit(lazy(garbage), observed=masks), whole)


def test_samples_without_anything_are_refused_or_dropped():
    views = grouped("missing-view")
    for view in views:
        view[[0, 30, 31]] = np.nan
    with pytest.raises(ValueError, match="samples 0, 30 and 31 are missing in every view"):
        jella.MVLIV(3).fit(lazy(views))
    whole, chunked = (jella.MVLIV(3, on_empty="drop", max_iter=3).fit(X) for X in (views, lazy(views, (1, 17, 40))))
    same(chunked, whole)
    assert np.asarray(chunked.labels_)[30] == -1
    assert chunked.dropped_ == [0, 30, 31]


def test_a_fit_goes_on_from_the_last_one():
    views = grouped("incomplete-view")
    model = jella.MVLIV(3, max_iter=3, warm_start=True, tol=0.0)
    first = model.fit(lazy(views)).objective_[-1]
    assert model.fit(lazy(views)).objective_[-1] < first


def test_a_component_that_loses_its_samples_gets_one_back():
    views = grouped("missing-view", n=30)
    start = np.zeros((30, 4))
    start[np.arange(30), np.arange(30) % 3] = 1.0
    start[0] = [0, 0, 0, 1]
    whole, chunked = (
        jella.IRMKMC(4, init=start, max_iter=5, random_state=0).fit(X) for X in (views, lazy(views, (4, 9, 9)))
    )
    np.testing.assert_allclose(chunked.objective_, whole.objective_, rtol=1e-8)
    assert np.asarray(chunked.embedding_).sum(axis=0).min() >= 1


def test_a_saved_model_embeds_the_samples_again(tmp_path):
    views = grouped("incomplete-view")
    model = jella.MVLIV(3, max_iter=3, random_state=0).fit(lazy(views))
    model.save(tmp_path / "model.jella")
    loaded = jella.load(tmp_path / "model.jella")
    np.testing.assert_allclose(loaded.transform(views), np.asarray(model.embedding_), atol=1e-10)
    np.testing.assert_array_equal(np.asarray(loaded.predict(lazy(views))), np.asarray(model.labels_))


# DataFrames


def test_frames_are_aligned_by_their_index():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="dask DataFrames are not installed")
    rng = np.random.default_rng(0)
    frames = {}
    for name, view in zip("abc", grouped("incomplete-view"), strict=True):
        frame = pd.DataFrame(view, index=[f"s{i}" for i in range(60)]).add_prefix(name)
        frames[name] = frame.iloc[np.sort(rng.permutation(60)[:52])]
    frames["b"] = frames["b"].sample(frac=1.0, random_state=0)
    frames = {name: frame[frame.notna().any(axis=1)] for name, frame in frames.items()}
    chunked = {name: dd.from_pandas(frame, npartitions=4, sort=False) for name, frame in frames.items()}
    whole, ours = (jella.MVLIV(3, max_iter=4).fit(X) for X in (frames, chunked))
    np.testing.assert_allclose(ours.objective_, whole.objective_, rtol=1e-8)
    assert list(ours.sample_names_in_) == list(whole.sample_names_in_)
    np.testing.assert_array_equal(ours.feature_names_in_, whole.feature_names_in_)
    np.testing.assert_allclose(np.asarray(ours.embedding_), whole.embedding_, atol=1e-9)
    completed = whole.complete(frames)
    for name, frame in ours.complete(chunked).items():
        got = frame.compute()
        assert list(got.index) == list(whole.sample_names_in_)
        own = got.loc[completed[name].index]
        pd.testing.assert_frame_equal(own, completed[name], rtol=1e-7, check_index_type=False)
        known = frames[name].notna().to_numpy()
        np.testing.assert_array_equal(got.loc[frames[name].index].to_numpy()[known], frames[name].to_numpy()[known])


# what is refused


def test_methods_that_relate_samples_say_what_to_use_instead():
    X = lazy(grouped("missing-view"))
    for method in (jella.IMG, jella.IMLBDR, jella.MIC, jella.RAMC, jella.RPCA, jella.RRMC):
        with pytest.raises(
            ValueError, match=r"got a Dask collection: .* relates .*samples to each other; use SparseBDR"
        ):
            method().fit(X)


def test_known_classes_of_some_samples_work_in_chunks_too():
    views, y = grouped("missing-view"), np.where(np.arange(60) % 4 == 0, np.arange(60) % 3, -1)
    X = [abs(view) for view in views]
    whole, chunked = (jella.IMCL(3, max_iter=10, tol=0.0, random_state=0).fit(data, y) for data in (X, lazy(X)))
    np.testing.assert_allclose(chunked.objective_, whole.objective_, rtol=1e-8)
    np.testing.assert_allclose(np.asarray(chunked.embedding_), whole.embedding_, atol=1e-7)
    # samples that the fit relates to each other are recognised, though they came in chunks
    np.testing.assert_array_equal(np.asarray(chunked.transform(lazy(X))), np.asarray(chunked.embedding_))
    np.testing.assert_array_equal(np.asarray(chunked.predict(lazy(X))), np.asarray(chunked.labels_))


def test_terms_that_are_not_solved_sample_by_sample_are_refused():
    X = lazy(grouped("missing-view"))
    with pytest.raises(ValueError, match="JELLA has L21, which ProxGradient solves for all samples together"):
        jella.JELLA(embedding=[L21(0.1)]).fit(X)
    with pytest.raises(ValueError, match="JELLA has LearnedGraph, which relates all samples to each other"):
        jella.JELLA(embedding=["learned_graph"]).fit(X)


def test_wrong_input_gets_a_sentence():
    views = grouped("missing-view")
    X = lazy(views)
    model = jella.MVLIV(3, max_iter=2)
    with pytest.raises(ValueError, match="expected all views as Dask collections, got ndarray for view 'view1'"):
        model.fit([X[0], views[1], X[2]])
    with pytest.raises(ValueError, match="view 'view2' has 50 samples, 'view0' has 60"):
        model.fit([X[0], X[1], X[2][:50]])
    with pytest.raises(ValueError, match="view 'view1' has chunks of unknown length"):
        model.fit([X[0], X[1][X[1][:, 0] > 0], X[2]])
    with pytest.raises(ValueError, match="the mask of view 'view0' must have 60 rows, got 3"):
        model.fit(X, observed=[np.ones((3, 1), dtype=bool), None, None])
    infinite = views[1].copy()
    infinite[58, 2] = np.inf
    with pytest.raises(ValueError, match="view 'view1' has an infinite value at row 58, column 2"):
        model.fit([X[0], da.from_array(infinite, chunks=(10, 5)), X[2]])
    with pytest.raises(ValueError, match="PVC: it needs non-negative data, but view 'view0' goes down to"):
        jella.PVC(3).fit([X[0] - 100.0, *X[1:]])
    with pytest.raises(ValueError, match="expected 2-D Dask arrays"):
        model.fit([da.ones(5), da.ones(5)])
    with pytest.raises(ValueError, match="expected at least one sample, got views without rows"):
        model.fit([da.ones((0, 3)), da.ones((0, 2))])
    with pytest.raises(ValueError, match="expected samples in memory, got a Dask collection"):
        model.fit(views).score(X)


# schedulers


def test_processes_give_the_same():
    views = grouped("incomplete-view")
    pool = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with pool, dask.config.set(scheduler="processes", pool=pool):
        for name in ("PVC", "SparseBDR"):
            same(clone(METHODS[name]).fit(lazy(views)), clone(METHODS[name]).fit(views))
