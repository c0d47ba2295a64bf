"""Landmarks: a fit relates some samples to each other and ties all others to them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_chunked import grouped

import jella
import jella.estimators.landmarks as landmarks
import jella.graphs.neighbours as neighbours
import jella.readout.neighbours as readout
from jella.describe.convergence import find_convergence
from jella.graphs.expected import FitExpected
from jella.metrics import adjusted_rand
from jella.problem.residuals import ViewData
from jella.problem.terms import Ridge
from jella.solve.samples import embed, embed_pulled
from jella.views import read_views
from jella.views.fingerprints import fingerprints

SETTINGS = ("missing-view", "incomplete-view")
MODEL = {"n_neighbors": 5, "max_iter": 5, "evidence": False, "random_state": 0}


@pytest.fixture(params=["few landmarks", "many landmarks"])
def _places(request, monkeypatch):
    """New samples are placed as among few samples of a fit, or as among many."""
    if request.param == "many landmarks":
        monkeypatch.setattr(readout, "COMPARED", 10)


def fitted(views, **settings):
    return jella.SparseBDR(3, **{**MODEL, "landmarks": 60, **settings}).fit(views)


def truth(n):
    return np.arange(n) % 3


@pytest.mark.usefixtures("_places")
@pytest.mark.parametrize("setting", SETTINGS)
class TestAnswers:
    def test_all_samples_get_the_answers_that_new_ones_get(self, setting):
        views = grouped(setting, 200)
        model = fitted(views)
        assert model.landmarks_.n_landmarks == 60
        assert model.readout_.known.prints.size == model.affinity_.shape[0] == model.graph_.shape[0] == 60
        np.testing.assert_array_equal(model.predict(views), model.labels_)
        np.testing.assert_allclose(model.transform(views), model.embedding_, atol=1e-12)
        some = [view[50:90] for view in views]
        np.testing.assert_array_equal(model.predict(some), model.labels_[50:90])
        np.testing.assert_allclose(model.transform(some), model.embedding_[50:90], atol=1e-12)
        assert np.isfinite(model.embedding_).all()
        assert set(model.labels_) == {0, 1, 2}

    def test_the_groups_are_those_of_a_fit_to_all(self, setting):
        views = grouped(setting, 200)
        assert adjusted_rand(fitted(views).labels_, fitted(views, landmarks=None).labels_) > 0.9

    def test_the_order_of_samples_does_not_matter(self, setting):
        views, order = grouped(setting, 200), np.random.default_rng(1).permutation(200)
        model, other = fitted(views), fitted([view[order] for view in views])
        np.testing.assert_array_equal(other.labels_, model.labels_[order])
        np.testing.assert_allclose(other.embedding_, model.embedding_[order], atol=1e-12)
        np.testing.assert_allclose(other.label_probabilities_, model.label_probabilities_[order], atol=1e-12)

    def test_probabilities_and_files(self, setting, tmp_path):
        views = grouped(setting, 200)
        model = fitted(views)
        sure = model.label_probabilities_
        np.testing.assert_allclose(sure.sum(axis=1), 1.0)
        np.testing.assert_allclose(model.predict_proba(views), sure, atol=1e-12)
        assert np.mean(sure.argmax(axis=1) == model.labels_) > 0.95
        model.save(tmp_path / "model.jella")
        again = jella.load(tmp_path / "model.jella")
        assert str(again.landmarks_) == str(model.landmarks_)
        np.testing.assert_array_equal(again.label_probabilities_, sure)
        np.testing.assert_array_equal(again.predict(views), model.labels_)

    def test_samples_without_any_value_are_left_out(self, setting):
        views = grouped(setting, 200)
        for view in views:
            view[[7, 130]] = np.nan
        model = fitted(views, on_empty="drop")
        assert model.dropped_ == [7, 130]
        assert np.flatnonzero(model.labels_ < 0).tolist() == [7, 130]
        assert np.flatnonzero(np.isnan(model.embedding_).any(axis=1)).tolist() == [7, 130]
        assert model.landmarks_.n_samples == 198


def test_a_copy_of_a_landmark_has_its_answers():
    views = grouped("missing-view", 120)
    views = [np.concatenate([view, view[:40]]) for view in views]
    model = fitted(views, landmarks=80)
    np.testing.assert_array_equal(model.labels_[120:], model.labels_[:40])
    np.testing.assert_allclose(model.embedding_[120:], model.embedding_[:40], atol=1e-12)
    assert np.unique(model.readout_.known.prints).size == 80


def test_known_classes_are_kept_and_are_landmarks_first():
    views, y = grouped("missing-view", 200), np.full(200, -1)
    y[20:50] = truth(200)[20:50]
    model = jella.SparseBDR(3, **MODEL, landmarks=40).fit(views, y)
    np.testing.assert_array_equal(model.labels_[20:50], y[20:50])
    places = model.readout_.known.places
    assert np.isin(places, np.arange(20, 50)).sum() == 20  # half of the landmarks
    assert adjusted_rand(model.labels_, truth(200)) > 0.9


def test_scores_are_of_samples_that_the_fit_has_not_seen():
    views = grouped("missing-view", 200)
    assert np.isfinite(fitted(views).score(views))


class TestChoice:
    views = read_views(grouped("missing-view", 200))
    kept = np.ones(200, dtype=bool)

    def choose(self, wanted, n=200):
        return landmarks.choose_landmarks(self.views.take(np.arange(n)), self.kept[:n], None, wanted, 5)

    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch):
        monkeypatch.setattr(landmarks, "LANDMARKS", 60)
        monkeypatch.setattr(landmarks, "FEWEST_LANDMARKS", 5)

    def test_few_samples_are_all_landmarks(self):
        found = self.choose("auto", 60)
        assert found.landmarks.n_landmarks == 60
        np.testing.assert_array_equal(np.diff(np.argsort(fingerprints(self.views)[found.rows])), 1)

    def test_none_means_all(self):
        found = self.choose(None)
        assert found.landmarks.n_landmarks == 200
        assert "landmarks=None" in str(found.landmarks)

    @pytest.mark.parametrize(("recall", "used"), [(0.9, 200), (0.5, 60)])
    def test_all_are_related_where_a_search_finds_their_neighbours(self, monkeypatch, recall, used):
        monkeypatch.setattr(landmarks, "search_recall", lambda views, q: recall)
        found = self.choose("auto")
        assert (found.landmarks.n_landmarks, found.landmarks.recall) == (used, recall)
        assert f"{recall:.0%} of the nearest neighbours" in str(found.landmarks)

    def test_more_samples_are_not_even_searched(self, monkeypatch):
        monkeypatch.setattr(landmarks, "MOST_RELATED", 100)
        monkeypatch.setattr(landmarks, "search_recall", None)
        found = self.choose("auto")
        assert str(found.landmarks) == "60 landmarks of 200 samples: there are more than 100 samples"

    def test_wide_samples_have_fewer_landmarks(self, monkeypatch):
        monkeypatch.setattr(landmarks, "MOST_NUMBERS", 20 * self.views.n_features)
        assert self.choose("auto").landmarks.n_landmarks == 20

    @pytest.mark.parametrize("wrong", [0, -3, 2.5, True, "many"])
    def test_wrong_numbers_are_refused(self, wrong):
        with pytest.raises(ValueError, match="landmarks must be 'auto', None or a number from 1"):
            fitted(grouped("missing-view", 90), landmarks=wrong)

    def test_the_choice_is_said_everywhere(self):
        words, views = "60 landmarks of 200 samples: landmarks=60", grouped("missing-view", 200)
        found = jella.cluster(views, 3, landmarks=60, evidence=False)
        assert repr(found.model).splitlines()[-1] == f"# {words}"
        assert f"  landmarks   {words}" in repr(found).splitlines()
        assert words in find_convergence(found.as_subject()).words
        assert "#" not in repr(jella.SparseBDR())
        assert "landmarks" not in repr(jella.cluster(views, 3, evidence=False))


def test_recall_is_measured(monkeypatch):
    monkeypatch.setattr(neighbours, "EXACT", 50)
    monkeypatch.setattr(neighbours, "FOUND", 1.0)
    monkeypatch.setattr(jella.graphs.cells, "CELL_SIZE", 20)
    noise = read_views(np.random.default_rng(0).normal(size=(400, 30)))
    found = []
    for probes in (1, 4, 40):
        monkeypatch.setattr(neighbours, "PROBES", probes)
        found.append(neighbours.search_recall(noise, 5))
    assert 0 < found[0] < found[1] < found[2] == 1.0


@pytest.mark.parametrize("setting", SETTINGS)
def test_new_samples_are_nearest_to_what_fits_them_best(setting):
    model = jella.SparseBDR(3, **MODEL).fit(grouped(setting, 90))
    own, bases = model.readout_.known.own, model.readout_.bases
    views = model.readout_.scaling.apply(read_views(grouped(setting, 30, seed=1)))
    found = FitExpected(own, bases).nearest(views, 4)
    loss = sum(
        (np.where(view.mask[:, None, :], view.X[:, None, :] - (own @ U.T)[None], 0.0) ** 2).sum(axis=2)
        for view, U in zip(views, bases, strict=True)
    )
    np.testing.assert_array_equal(found, np.argsort(loss, axis=1, kind="stable")[:, :4])


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_fast_pull_is_the_pull(setting):
    model = jella.SparseBDR(3, **MODEL).fit(grouped(setting, 90))
    r, views = model.readout_, model.readout_.scaling.apply(read_views(grouped(setting, 30, seed=1)))
    data, points = [ViewData(view) for view in views], np.random.default_rng(0).normal(size=(30, r.width))
    slow = embed(data, r.bases, replace(r.problem, embedding=(Ridge(0.3),)), towards=0.3 * points)
    np.testing.assert_allclose(embed_pulled(data, r.bases, r.problem, 0.3, points), slow, atol=1e-10)


class TestInChunks:
    @pytest.fixture(autouse=True)
    def _sync(self, monkeypatch):
        dask = pytest.importorskip("dask", reason="dask is not installed")
        pytest.importorskip("dask.array", reason="dask arrays are not installed")
        import jella.distributed.read as read

        monkeypatch.setattr(read, "WORTH_A_TASK", 1)
        with dask.config.set(scheduler="sync"):
            yield

    @staticmethod
    def lazy(views):
        import dask.array as da

        return [da.from_array(view, chunks=(23, -1)) for view in views]

    @pytest.mark.parametrize("setting", SETTINGS)
    @pytest.mark.parametrize("wanted", [None, 60])
    def test_the_model_is_that_of_memory(self, setting, wanted, tmp_path):
        views = grouped(setting, 150)
        whole, chunked = (fitted(X, landmarks=wanted, calibrate=False) for X in (views, self.lazy(views)))
        np.testing.assert_array_equal(chunked.objective_, whole.objective_)
        np.testing.assert_array_equal(np.asarray(chunked.labels_), whole.labels_)
        np.testing.assert_allclose(np.asarray(chunked.embedding_), whole.embedding_, atol=1e-10)
        assert str(chunked.landmarks_) == str(whole.landmarks_)
        assert chunked.labels_.chunks[0] == chunked.embedding_.chunks[0] == (23,) * 6 + (12,)
        sure = chunked.predict_proba(self.lazy(views))
        np.testing.assert_allclose(np.asarray(sure), whole.label_probabilities_, atol=1e-10)
        for ours, theirs in zip(chunked.complete(self.lazy(views)), whole.complete(views), strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-8)
        chunked.save(tmp_path / "model.jella")
        np.testing.assert_array_equal(jella.load(tmp_path / "model.jella").predict(views), whole.labels_)

    def test_the_number_of_clusters_is_chosen_as_in_memory(self):
        views = grouped("incomplete-view", 90)
        whole, chunked = (jella.SparseBDR(**{**MODEL, "evidence": True}).fit(X) for X in (views, self.lazy(views)))
        assert chunked.n_clusters_ == whole.n_clusters_
        np.testing.assert_array_equal(chunked.cluster_path_.modularity, whole.cluster_path_.modularity)

    def test_samples_without_any_value_are_dropped(self):
        views = grouped("missing-view", 90)
        for view in views:
            view[[3, 40]] = np.nan
        whole, chunked = (fitted(X, landmarks=50, on_empty="drop") for X in (views, self.lazy(views)))
        np.testing.assert_array_equal(np.asarray(chunked.labels_), whole.labels_)
        assert np.flatnonzero(np.asarray(chunked.labels_) == -1).tolist() == chunked.dropped_ == [3, 40]

    def test_frames_keep_their_names(self):
        dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
        names = [f"s{i}" for i in range(60)]
        frames = {
            key: pd.DataFrame(view, index=names).rename(columns=str)
            for key, view in zip("abc", grouped("missing-view"), strict=True)
        }
        chunked = {key: dd.from_pandas(frame, npartitions=4, sort=False) for key, frame in frames.items()}
        whole, ours = (fitted(X, landmarks=None, calibrate=False) for X in (frames, chunked))
        np.testing.assert_array_equal(ours.objective_, whole.objective_)
        for key, frame in ours.complete(chunked).items():
            wanted = whole.complete(frames)[key]
            pd.testing.assert_frame_equal(frame.compute(), wanted, atol=1e-7, check_index_type=False)

    def test_only_landmarks_leave_the_workers(self, monkeypatch):
        import dask

        largest = []

        def watched(collections):
            found = list(dask.compute(*collections))
            largest.append(sum(view.X.nbytes for one in found if isinstance(one, jella.views.Views) for view in one))
            largest.extend(np.asarray(one).nbytes for one in found if isinstance(one, np.ndarray))
            return found

        for module in ("views", "by_chunk", "read"):
            monkeypatch.setattr(f"jella.distributed.{module}.compute", watched)
        views = grouped("missing-view", 200)
        fitted(self.lazy(views), landmarks=20)
        assert 0 < max(largest) <= sum(view.nbytes for view in views) / 10

    def test_single_precision_stays_single(self):
        views = [view.astype(np.float32) for view in grouped("incomplete-view", 90)]
        model = fitted(self.lazy(views), landmarks=40)
        assert model.embedding_.dtype == np.asarray(model.embedding_).dtype == np.float32

    def test_one_call_clusters_and_completes(self):
        views = grouped("missing-view")
        whole, found = jella.cluster(views, 3), jella.cluster(self.lazy(views), 3)
        assert adjusted_rand(np.asarray(found.labels), whole.labels) == 1.0
        assert found.modularity == pytest.approx(whole.modularity)
        for calibrate in (False, True):
            how = {"estimate_error": calibrate, "calibrate": calibrate}
            done, wanted = (jella.complete(X, **how) for X in (self.lazy(views), views))
            assert done.n_filled == wanted.n_filled
            assert (done.error is None) == (not calibrate)
            assert done.error == (pytest.approx(wanted.error, rel=1e-3) if calibrate else None)
            for ours, theirs in zip(done.views, wanted.views, strict=True):  # the path is in single precision
                np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-3 if calibrate else 1e-7)
        with pytest.raises(ValueError, match="got a Dask collection; pass estimate_error=False"):
            jella.complete(self.lazy(views), calibrate=False)
        with pytest.raises(ValueError, match="pass samples in memory"):
            jella.complete(self.lazy(views), interval=0.9)

    def test_chunks_are_completed_by_what_landmarks_teach(self):
        """Also chunks without holes, and samples without any value."""
        views = [np.array(view) for view in grouped("incomplete-view", 120)]
        for view in views:
            view[:30] = np.where(np.isnan(view[:30]), 1.0, view[:30])
            view[70] = np.nan
        whole, ours = (fitted(X, landmarks=50, on_empty="drop") for X in (views, self.lazy(views)))
        for found, wanted, view in zip(ours.complete(self.lazy(views)), whole.complete(views), views, strict=True):
            values, seen = np.asarray(found), ~np.isnan(view)
            np.testing.assert_allclose(values, wanted, atol=1e-3)
            assert (values[seen] == view[seen]).all()
            assert (np.isnan(values).any(axis=1) == (np.arange(120) == 70)).all()
        assert ours.imputer_.overall.error == pytest.approx(whole.imputer_.overall.error, rel=1e-3)


class TestBatches:
    views = grouped("incomplete-view", 300)

    def batches(self, **settings):
        model = jella.SparseBDR(3, **{**MODEL, "landmarks": 80, **settings})
        for start in range(0, 300, 60):
            yield model.partial_fit([view[start : start + 60] for view in self.views])

    def test_landmarks_are_those_of_a_fit_to_all(self):
        *_, model = self.batches()
        whole = fitted(self.views, landmarks=80)
        np.testing.assert_array_equal(np.sort(model.readout_.known.prints), np.sort(whole.readout_.known.prints))
        assert adjusted_rand(model.predict(self.views), whole.labels_) == 1.0
        assert str(model.landmarks_) == "80 landmarks of 300 samples: those of all batches"

    def test_clusters_keep_their_numbers(self):
        labels = [model.labels_.copy() for model in self.batches()]
        *_, model = self.batches()
        assert np.mean(np.concatenate(labels) == model.predict(self.views)) > 0.95
        assert [len(one) for one in labels] == [60] * 5

    def test_answers_are_of_the_last_batch(self, tmp_path):
        *_, model = self.batches()
        last = [view[240:] for view in self.views]
        np.testing.assert_array_equal(model.predict(last), model.labels_)
        np.testing.assert_allclose(model.transform(last), model.embedding_, atol=1e-12)
        np.testing.assert_allclose(model.predict_proba(last), model.label_probabilities_)
        assert model.belongs_nowhere().shape == (60,)
        model.save(tmp_path / "model.jella")
        np.testing.assert_array_equal(jella.load(tmp_path / "model.jella").predict(last), model.labels_)
        assert not np.isnan(model.complete(last)[0]).any()

    def test_a_batch_with_little_news_leads_to_no_new_fit(self):
        *_, model = self.batches()
        before = model.readout_
        model.partial_fit([np.concatenate([view[:10], view[:10]]) for view in self.views])
        assert model.readout_ is before
        assert model.labels_.shape == (20,)

    def test_samples_without_values_are_named_in_each_batch(self):
        frames = [pd.DataFrame(view, index=[f"s{i}" for i in range(300)]) for view in self.views]
        for frame in frames:
            frame.iloc[[7, 130]] = np.nan
        model = jella.SparseBDR(3, **MODEL, landmarks=80, on_empty="drop")
        found = [model.partial_fit([f[start : start + 100] for f in frames]).dropped_ for start in (0, 100, 200)]
        assert found == [["s7"], ["s130"], []]

    def test_what_it_cannot_do_is_a_sentence(self):
        from scipy import sparse

        views = [sparse.csr_array(np.nan_to_num(view, nan=1.0)) for view in grouped("missing-view", 60)]
        model = fitted(views, landmarks=None)
        with pytest.raises(ValueError, match="expected dense views for partial_fit, got view"):
            model.partial_fit(views)


def test_more_clusters_than_landmarks_are_refused():
    views = [np.random.default_rng(0).normal(size=(60, d)) for d in (6, 5)]
    with pytest.raises(ValueError, match="n_clusters=3 is more than the 2 landmarks"):
        jella.SparseBDR(3, landmarks=2).fit(views)
    two = [np.repeat(X[:2], 30, axis=0) for X in views]  # landmarks are different samples
    with pytest.raises(ValueError, match="n_clusters=3 is more than the 2 landmarks"):
        jella.SparseBDR(3, landmarks=10).fit(two)
