"""SparseBDR on Dask: searches, fills and loans over chunks give what they give in memory, a few samples at a time."""

import numpy as np
import pytest
from sklearn.base import clone
from test_chunked import grouped, lazy, same

import jella
from jella.views import read_views

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask arrays are not installed")

import jella.distributed.fetch as fetch  # noqa: E402
import jella.distributed.neighbours as chunked_neighbours  # noqa: E402
import jella.distributed.read as read  # noqa: E402
import jella.distributed.scheduler as scheduler  # noqa: E402
import jella.graphs.neighbours as neighbours  # noqa: E402

SETTINGS = ("missing-view", "incomplete-view")
MODEL = jella.SparseBDR(3, n_neighbors=4, max_iter=5, calibrate=False, random_state=0)  # as in chunks


@pytest.fixture(autouse=True)
def _small_tasks(monkeypatch):
    """Chunks of a few samples as they are, and tasks that hold about forty samples."""
    monkeypatch.setattr(read, "WORTH_A_TASK", 1)
    monkeypatch.setattr(scheduler, "MOST_OF_TASK", 4 * 40 * 18 * 9)
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture
def _by_cells(monkeypatch):
    """Searches and sweeps as with many samples."""
    for module in (neighbours, chunked_neighbours):
        monkeypatch.setattr(module, "EXACT", 50)
    monkeypatch.setattr(neighbours, "ORDERED", 50)
    monkeypatch.setattr(jella.graphs.cells, "CELL_SIZE", 12)
    monkeypatch.setattr(neighbours, "PROBES", 3)
    monkeypatch.setattr(chunked_neighbours, "PROBES", 3)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", ["samples", "memory", "chunks"])
@pytest.mark.parametrize("cells", [False, True])
def test_neighbours_are_those_of_memory(setting, kind, cells, request):
    if cells:
        request.getfixturevalue("_by_cells")
    views, others = grouped(setting, 150), grouped(setting, 40, seed=1)
    base, asked = read_views(views), None if kind == "samples" else read_views(others)
    chunked = read.read_chunked(lazy(views))
    queries = asked if kind != "chunks" else read.read_chunked(lazy(others))
    distances, found = neighbours.nearest(chunked, 4, queries=queries)
    wanted_distances, wanted = neighbours.nearest(base, 4, queries=asked)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_allclose(distances, wanted_distances, rtol=1e-12)


@pytest.mark.usefixtures("_by_cells")
def test_samples_with_little_in_common_are_searched_further():
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(120, 6)), rng.normal(size=(120, 5))]
    lone = rng.permutation(120)[:100]
    views[0][lone] = np.nan
    views[1][np.setdiff1d(np.arange(120), lone[:4])[:100]] = np.nan
    kept = [view[np.isfinite(views[0][:, 0]) | np.isfinite(views[1][:, 0])] for view in views]
    found = neighbours.nearest(read.read_chunked(lazy(kept, (23, 17))), 5)[1]
    np.testing.assert_array_equal(found, neighbours.nearest(read_views(kept), 5)[1])


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("cells", [False, True])
def test_a_fit_in_small_tasks_gives_what_memory_gives(setting, cells, request):
    if cells:
        request.getfixturevalue("_by_cells")
    views, new = grouped(setting, 150), grouped(setting, 40, seed=1)
    whole, chunked = clone(MODEL).fit(views), clone(MODEL).fit(lazy(views))
    same(chunked, whole)
    np.testing.assert_array_equal(chunked.graph_.indices, whole.graph_.indices)
    for X in (new, lazy(new)):
        np.testing.assert_allclose(np.asarray(chunked.transform(X)), whole.transform(new), atol=1e-7)
        np.testing.assert_array_equal(np.asarray(chunked.predict(X)), whole.predict(new))
        for ours, theirs, raw in zip(chunked.complete(X), whole.complete(new), new, strict=True):
            ours, seen = np.asarray(ours), ~np.isnan(raw)
            np.testing.assert_allclose(ours, theirs, atol=1e-7)
            np.testing.assert_array_equal(ours[seen], raw[seen])


def test_the_number_of_clusters_is_chosen_as_in_memory():
    views = grouped("incomplete-view", 90)
    whole, chunked = (clone(MODEL).set_params(n_clusters=None).fit(X) for X in (views, lazy(views)))
    assert chunked.n_clusters_ == whole.n_clusters_
    np.testing.assert_allclose(chunked.cluster_path_.modularity, whole.cluster_path_.modularity, atol=1e-6)
    assert chunked.labels_.chunks[0] == chunked.embedding_.chunks[0] == (23, 23, 23, 21)


def test_single_precision_stays_single():
    views = [view.astype(np.float32) for view in grouped("incomplete-view")]
    whole, chunked = clone(MODEL).fit(views), clone(MODEL).fit(lazy(views))
    np.testing.assert_allclose(chunked.objective_, whole.objective_, rtol=1e-4)
    assert chunked.embedding_.dtype == np.asarray(chunked.embedding_).dtype == np.float32


def test_samples_without_anything_are_dropped_and_completed_by_nothing():
    views = grouped("missing-view")
    for view in views:
        view[[3, 40]] = np.nan
    model = clone(MODEL).set_params(on_empty="drop")
    whole, chunked = clone(model).fit(views), clone(model).fit(lazy(views))
    np.testing.assert_allclose(np.asarray(chunked.embedding_), whole.embedding_, atol=1e-7)
    assert np.flatnonzero(np.asarray(chunked.labels_) == -1).tolist() == chunked.dropped_ == [3, 40]
    nobody = [np.full((1, view.shape[1]), np.nan) for view in views]
    for X in (views, nobody):
        for given in (X, lazy(X)):
            for ours, theirs in zip(chunked.complete(given), whole.complete(X), strict=True):
                np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-7)


def test_frames_keep_their_names():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    names = [f"s{i}" for i in range(60)]
    frames = {
        key: pd.DataFrame(view, index=names).rename(columns=str)
        for key, view in zip("abc", grouped("missing-view"), strict=True)
    }
    chunked = {key: dd.from_pandas(frame, npartitions=4, sort=False) for key, frame in frames.items()}
    whole, ours = clone(MODEL).fit(frames), clone(MODEL).fit(chunked)
    np.testing.assert_allclose(ours.objective_, whole.objective_, rtol=1e-8)
    for key, frame in ours.complete(chunked).items():
        pd.testing.assert_frame_equal(frame.compute(), whole.complete(frames)[key], atol=1e-7, check_index_type=False)


def test_the_data_stay_on_the_workers(monkeypatch):
    """What comes back from Dask is a few numbers a sample, never the samples."""
    monkeypatch.setattr(jella.graphs.view_choice, "SAMPLE", 20)
    monkeypatch.setattr(scheduler, "MOST_OF_TASK", 4 * 100 * 270 * 9)
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(200, 150)), rng.normal(size=(200, 120))]
    views[0][:60] = np.nan
    views[1][150:, ::2] = np.nan
    largest = []

    def watched(collections):
        found = list(dask.compute(*collections))
        largest.append(sum(np.asarray(one).nbytes for one in found if isinstance(one, np.ndarray)))
        largest.extend(sum(view.X.nbytes for view in one) for one in found if isinstance(one, jella.views.Views))
        return found

    for module in ("fetch", "views", "by_chunk", "read"):
        monkeypatch.setattr(f"jella.distributed.{module}.compute", watched)
    model = jella.SparseBDR(3, n_components=5, n_neighbors=4, max_iter=3, random_state=0)
    model.fit([da.from_array(view, chunks=(30, -1)) for view in views])
    data = sum(view.nbytes for view in views)
    gram = 8 * (150 + 120) ** 2  # of all features, where the fit starts
    assert max(largest) <= gram
    assert max(size for size in largest if size != gram) < data / 4


def test_stretches_hold_every_sample_once_and_no_more_than_they_may():
    rng = np.random.default_rng(0)
    needed = rng.integers(-1, 500, size=(500, 6))
    parts = list(fetch.stretches(rng.permutation(500), needed, 90, 3))
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(500))
    assert len(parts) >= 3
    for own in parts:
        assert np.all(np.diff(own) > 0)
        assert own.size == 1 or np.unique(needed[own]).size + own.size <= 90


def test_a_model_that_needs_its_samples_is_not_saved_without_them(tmp_path):
    model = clone(MODEL).fit(lazy(grouped("missing-view")))
    with pytest.raises(ValueError, match=r"got SparseBDR fitted on a Dask collection; keep its embedding_ and labels_"):
        model.save(tmp_path / "model.jella")
    assert not list(tmp_path.iterdir())


def test_one_call_clusters_and_completes():
    views = grouped("missing-view")
    whole, found = jella.cluster(views, 3), jella.cluster(lazy(views), 3)
    assert jella.metrics.adjusted_rand(np.asarray(found.labels), whole.labels) == 1.0
    assert found.modularity == pytest.approx(whole.modularity)
    lines = [line for line in repr(whole).splitlines() if not line.startswith("  uncertain")]
    assert repr(found).splitlines()[:-1] == lines[:-1]  # but for probabilities and seconds
    done, wanted = (jella.complete(X, estimate_error=False, calibrate=False) for X in (lazy(views), views))
    assert done.n_filled == wanted.n_filled
    for ours, theirs in zip(done.views, wanted.views, strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-7)
    with pytest.raises(ValueError, match="got a Dask collection; pass estimate_error=False"):
        jella.complete(lazy(views))


def test_what_needs_samples_in_memory_says_so():
    views = lazy(grouped("missing-view"))
    with pytest.raises(ValueError, match="expected samples in memory, got a Dask collection"):
        jella.model_selection.select_rank(views)
