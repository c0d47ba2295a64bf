"""Evidence for clusters: none where there is nothing, the planted number where there is, and honest probabilities."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from common import SETTINGS
from scipy import sparse
from scipy.stats import kurtosis
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

import jella
import jella.evidence.gather as gathering
import jella.evidence.refits as refits
from jella.estimators.certain_labels import NoClearClustersWarning
from jella.evidence.confidence import Confidence
from jella.evidence.permuted import permuted
from jella.evidence.refits import agreement, in_parallel, matched_labels, with_every_view
from jella.graphs.cluster_path import ClusterPath, choose_n_clusters, nested_share, number_ladder, partitions_of
from jella.graphs.gaps import surely_joining
from jella.graphs.surrogates import clouds_like, with_one_mode
from jella.graphs.valleys import _neighbours, dimension_of, valley
from jella.readout.clusters import rank_votes
from jella.views import read_views

PATH_FIGURES = (
    "numbers",
    "modularity",
    "gap",
    "expected",
    "spread",
    "stability",
    "expected_stability",
    "valley",
    "apart",
    "dimension",
    "partitions",
)


def groups(n=90, k=3, seed=0, widths=(20, 15), apart=3.0):
    """Clear groups in two views, and the groups."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return [apart * rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)) for d in widths], y


def holes(views, setting="missing-view"):
    return jella.datasets.make_incomplete(views, 0.3, setting, random_state=0)


@lru_cache
def fitted(k=None, setting="missing-view"):
    """A model of three groups with holes, which no test changes, and its views and groups."""
    views, y = groups()
    holed = holes(views, setting)
    return jella.SparseBDR(k, random_state=0).fit(holed), holed, y


def without_clusters(kind, n=120):
    rng = np.random.default_rng(0)
    if kind == "constant":
        return [np.ones((n, 6)), np.full((n, 4), 2.0)]
    noise = [rng.normal(size=(n, d)) for d in (12, 9)]
    hidden = rng.normal(size=(n, 3))
    return noise if kind == "noise" else [X + 2 * hidden @ rng.normal(size=(3, X.shape[1])) for X in noise]


@pytest.mark.parametrize("kind", ["noise", "blob", "constant"])
def test_nothing_is_found_where_there_is_nothing(kind):
    model = jella.SparseBDR(random_state=0)
    with pytest.warns(NoClearClustersWarning, match="no clear clusters: .* pass n_clusters") as caught:
        model.fit(without_clusters(kind))
    assert caught[0].filename == __file__
    assert model.n_clusters_ == 1
    assert not model.labels_.any()
    path = model.cluster_path_
    assert (path.n_clusters, path.is_known, path.is_clear, path.supported.size) == (1, True, False, 0)
    assert path.hierarchy() == []
    assert ("all samples are equal" in path.words()) == (kind == "constant")
    np.testing.assert_array_equal(model.label_probabilities_, 1.0)
    np.testing.assert_array_equal(model.predict_proba([X[:5] + 0.1 for X in without_clusters(kind)]), 1.0)


@pytest.mark.parametrize(
    ("k", "setting"), [(2, "missing-view"), *((k, setting) for k in (3, 8) for setting in SETTINGS)]
)
def test_planted_groups_are_clear_and_counted(k, setting):
    views, y = groups(120 if k < 8 else 200, k)
    model = jella.SparseBDR(random_state=0).fit(holes(views, setting))
    path = model.cluster_path_
    assert model.n_clusters_ == path.best == k
    assert path.is_clear
    assert k in path.supported
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert f"clear clusters: {k}" in path.words()
    assert path.stability[path.numbers == k] > 0.95
    mine = path.partitions[list(path.supported).index(k)]
    assert adjusted_rand_score(y, mine) > 0.9  # in the order of the samples


@pytest.mark.parametrize("kind", ["skewed", "curve"])
def test_one_skewed_blob_and_one_curve_are_not_clusters(kind):
    rng = np.random.default_rng(0)
    n, turn = 300, np.linspace(0.0, 3.0, 300)[:, None]
    hidden = (
        np.exp(rng.normal(size=(n, 5))) if kind == "skewed" else 3.0 * np.hstack([np.cos(turn), np.sin(turn), turn])
    )
    mixing = [rng.normal(size=(hidden.shape[1], d)) for d in (40, 25)]
    noise = 1.0 if kind == "skewed" else 0.3
    views = [hidden @ (abs(A) if kind == "skewed" else A) + noise * rng.normal(size=(n, A.shape[1])) for A in mixing]
    with pytest.warns(NoClearClustersWarning, match=r"one cloud of \d dimensions?, \d+ clusters have no gaps"):
        model = jella.SparseBDR(random_state=0).fit(views)
    path = model.cluster_path_
    assert model.n_clusters_ == 1
    assert path.is_one_cloud
    assert path.clarity >= 2  # the modularity alone would take them for clusters
    assert path.supported.size == 0


def test_holes_and_lumps_of_the_model_make_no_clusters_of_a_dense_curve():
    rng = np.random.default_rng(9001)
    turn = 3.0 * rng.permutation(700)[:, None] / 700
    bent = 3.0 * np.hstack([np.cos(turn), np.sin(turn), turn])
    views = [bent @ rng.normal(size=(3, d)) + 0.3 * rng.normal(size=(700, d)) for d in (80, 40)]
    with pytest.warns(NoClearClustersWarning):
        model = jella.SparseBDR(random_state=0).fit(
            jella.datasets.make_incomplete(views, 0.3, "incomplete-view", random_state=1)
        )
    assert model.cluster_path_.own_valley < 1.5
    assert model.cluster_path_.is_one_cloud


def test_more_groups_than_dimensions_are_clear_if_samples_are_rare_between_them():
    rng = np.random.default_rng(0)
    y = np.arange(270) % 9
    hidden = 7.0 * np.array([(a, b) for a in range(3) for b in range(3)])[y] + rng.normal(size=(270, 2))
    model = jella.SparseBDR(random_state=0).fit([hidden @ rng.normal(size=(2, d)) for d in (20, 15)])
    path = model.cluster_path_
    assert path.dimension <= 2
    assert path.is_clear
    assert np.nanmax(path.valley) > 2


def test_valleys_between_groups_and_none_in_one_blob(rng):
    blob = np.array([8.0, 0.0, 0.0]) + rng.normal(size=(400, 3))
    side = (blob[:, 1] > 0).astype(int)
    assert valley(blob, side, rng) < 1.3
    apart = blob + np.where(side == 1, 1.0, -1.0)[:, None] * [0.0, 2.0, 0.0]
    assert valley(apart, side, rng) > 4
    wide = rng.normal(size=(60, 200))  # more features than samples: noise makes no valley
    assert valley(wide, np.arange(60) % 2, rng) < 2
    assert valley(blob, np.zeros(400, dtype=int), rng) == 1.0
    assert valley(np.ones((20, 3)), np.arange(20) % 2, rng) < 1


def test_groups_that_a_third_lies_between_are_no_neighbours():
    assert _neighbours(np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0], [3.0, 0.1]])) == [(0, 1), (1, 2), (2, 3)]
    assert _neighbours(np.eye(3)) == [(0, 1), (0, 2), (1, 2)]


def test_dimensions_hold_nine_tenths_of_the_variance(rng):
    scales = np.array([10.0, 10.0, 10.0, 1.0, 1.0])
    assert dimension_of(scales * rng.normal(size=(2000, 5)) + 50.0) == 3
    assert dimension_of(np.outer(rng.normal(size=30), np.ones(4))) == 1


def test_only_many_clusters_of_few_dimensions_need_valleys():
    numbers, one = np.array([4, 5]), np.ones(2)
    path = ClusterPath(5, 5, numbers, 0.7 * one, one, 0.5 * one, 0.01 * one, one, 0.5 * one, dimension=2)
    for low, dimension, clear in ((1.3, 2, False), (1.3, 3, True), (2.5, 2, True)):
        other = replace(path, valley=np.array([np.nan, low]), dimension=dimension)
        assert (other.is_clear, other.is_one_cloud) == (clear, not clear)
    assert path.is_clear  # nothing is known about valleys


def test_samples_that_are_rare_between_clusters_count_unless_they_are_so_in_permuted_data():
    one = np.ones(1)
    path = ClusterPath(2, 2, np.array([2]), 0.52 * one, one, 0.5 * one, 0.01 * one, one, 0.96 * one, dimension=9)
    assert path.clarity == pytest.approx(2.2)
    for own, dealt, clarity in ((0.6, 0.5, 2.2), (2.0, 0.8, 3.7), (2.0, 1.6, 2.8), (2.0, 2.5, 2.2)):
        other = replace(path, valley=own * one, dealt_valley=dealt)
        assert other.clarity == pytest.approx(clarity)
        assert other.is_clear == (clarity > 3)
    assert path.rarity == 0  # nothing is known about valleys


@pytest.mark.parametrize("same", ["clouds", "dealt"])
def test_groups_that_data_without_groups_have_too_are_not_clear(same, monkeypatch):
    if same == "dealt":
        monkeypatch.setattr(gathering, "permuted", lambda views, rng: views)
    else:
        monkeypatch.setattr(gathering, "clouds_like", lambda W, count, *given: [W] * count)
    monkeypatch.setattr(gathering, "least_valley", lambda *given: 1.0)  # nothing but the comparison decides
    with pytest.warns(NoClearClustersWarning):
        assert jella.SparseBDR(random_state=0).fit(groups()[0]).n_clusters_ == 1


def test_without_evidence_nothing_is_computed(monkeypatch):
    monkeypatch.setattr(gathering, "refit_on_parts", None)
    monkeypatch.setattr(gathering, "clouds_like", None)
    views, _ = groups()
    model = jella.SparseBDR(evidence=False, random_state=0).fit(views)
    assert model.n_clusters_ == 3
    assert model.gather_evidence() is None
    assert not model.cluster_path_.is_known
    assert model.cluster_path_.is_clear
    assert model.cluster_path_.supported.tolist() == [3]
    assert "by the graph alone" in repr(model.cluster_path_)
    chances = model.label_probabilities_
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.array_equal(chances.argmax(axis=1), model.labels_)


def test_a_fit_with_a_number_computes_evidence_only_when_asked():
    views, _ = groups(60)
    model = jella.SparseBDR(3, random_state=0).fit(views)
    model._repr_html_()  # looks at all attributes
    assert "evidence_" not in vars(model)
    evidence = model.gather_evidence()
    assert evidence.path.numbers.tolist() == [3]
    assert evidence.path.is_clear
    assert evidence.confidence.n_refits == refits.REFITS
    assert evidence is model.gather_evidence() is model.evidence_
    assert "label_probabilities_" in dir(model)
    model.fit(views)
    assert "evidence_" not in vars(model)


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_order_of_the_samples_changes_nothing(k, setting):
    model, views, _ = fitted(k, setting)
    order = np.random.default_rng(1).permutation(len(views[0]))
    other = jella.SparseBDR(k, random_state=0).fit([X[order] for X in views])
    np.testing.assert_array_equal(other.labels_, model.labels_[order])
    np.testing.assert_array_equal(other.label_probabilities_, model.label_probabilities_[order])
    one, two = model.gather_evidence().path, other.gather_evidence().path
    for name in PATH_FIGURES[:-1]:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.partitions[:, order], two.partitions)


def test_what_the_mask_hides_changes_nothing():
    model, views, _ = fitted()
    masks = [~np.isnan(X) for X in views]
    garbage = [np.where(mask, X, 1e6) for X, mask in zip(views, masks, strict=True)]
    other = jella.SparseBDR(random_state=0).fit(garbage, observed=masks)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_array_equal(other.label_probabilities_, model.label_probabilities_)
    for name in PATH_FIGURES:
        np.testing.assert_array_equal(getattr(other.cluster_path_, name), getattr(model.cluster_path_, name))


@pytest.mark.parametrize("k", [None, 3])
def test_samples_of_the_fit_get_their_probabilities(k, tmp_path):
    model, views, _ = fitted(k)
    order = np.random.default_rng(2).permutation(len(views[0]))
    shuffled = [X[order] for X in views]
    model.save(tmp_path / "before.jella")  # with a number, before there is evidence
    chances = model.label_probabilities_
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict_proba(views), chances)
    np.testing.assert_array_equal(model.predict_proba(shuffled), chances[order])
    model.save(tmp_path / "after.jella")
    for name in ("before", "after"):
        loaded = jella.load(tmp_path / f"{name}.jella")
        np.testing.assert_array_equal(loaded.label_probabilities_, chances)
        np.testing.assert_array_equal(loaded.predict_proba(shuffled), chances[order])
        table = loaded.evidence_.confidence.table
        np.testing.assert_array_equal(table, model.evidence_.confidence.table)
    assert repr(loaded.evidence_.path) == repr(model.evidence_.path)


def test_unclear_samples_of_the_fit_get_their_probabilities_too():
    views, _ = groups(apart=0.3)
    model = jella.SparseBDR(3, random_state=0).fit(views)
    chances = model.label_probabilities_
    assert len(np.unique(chances)) > 90  # of other sizes than nearly zero and one
    np.testing.assert_array_equal(model.predict_proba([X[::-1] for X in views]), chances[::-1])
    readout = model.readout_
    votes, labels = readout.votes(readout.known.labels, 3), readout.known.labels
    assert (votes[np.arange(90), labels] >= 1.0).all()  # their own
    np.testing.assert_allclose(votes.sum(axis=1), np.sum(1.0 / np.arange(1, 12)))


def test_new_samples_get_the_most_probable_label():
    model, _, _ = fitted()
    rng = np.random.default_rng(3)
    views, _ = groups()
    new = [X[:40] + 12 * rng.normal(size=X[:40].shape) for X in views]
    chances = model.predict_proba(new)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(new), chances.argmax(axis=1))
    assert len(np.unique(chances)) > 6  # not only zeros and ones
    alone = model.predict_proba([new[0], None])
    assert np.isfinite(alone).all()


@pytest.mark.parametrize("k", [None, 3])
def test_only_samples_without_values_have_no_probabilities(k):
    views, _ = groups(60)
    for X in views:
        X[[4, 50]] = np.nan
    model = jella.SparseBDR(k, on_empty="drop", random_state=0).fit(views)
    assert np.flatnonzero(model.labels_ < 0).tolist() == [4, 50]
    for chances in (
        model.label_probabilities_,
        model.predict_proba(views),
        model.predict_proba([X[:9] for X in views]),
    ):
        assert chances.shape[1] == 3
        empty = np.isnan(chances).any(axis=1)
        assert np.flatnonzero(empty).tolist() == ([4, 50] if len(chances) == 60 else [4])
        assert np.isnan(chances[empty]).all()
        np.testing.assert_allclose(chances[~empty].sum(axis=1), 1.0)
    partitions = model.gather_evidence().path.partitions
    assert partitions.shape[1] == 60
    assert np.flatnonzero((partitions < 0).any(axis=0)).tolist() == [4, 50]
    with pytest.raises(ValueError, match="samples 4 and 50 are missing in every view; remove them"):
        model.set_params(on_empty="raise").predict_proba(views)


@pytest.mark.parametrize("n", [3, 8, 19, 20, 21, 22, 23, 24, 25, 26])
def test_a_few_samples(n):
    views, _ = groups(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoClearClustersWarning)
        model = jella.SparseBDR(random_state=0).fit(views)
    assert (model.gather_evidence() is None) == (n < 20)
    np.testing.assert_allclose(model.label_probabilities_.sum(axis=1), 1.0)


@pytest.mark.parametrize("k", [1, 17, 19, 23, 24])
def test_almost_as_many_clusters_as_samples(k):
    views, _ = groups(24)
    model = jella.SparseBDR(k, random_state=0).fit(views)
    assert model.label_probabilities_.shape == (24, k)
    np.testing.assert_allclose(model.label_probabilities_.sum(axis=1), 1.0)
    assert (model.gather_evidence() is None) == (k == 1)


def test_more_components_than_a_part_has_samples():
    views, y = groups(40)
    model = jella.SparseBDR(n_components=33, random_state=0).fit(views)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_a_view_that_hardly_any_sample_has():
    views, y = groups(60)
    views[1][1:] = np.nan
    model = jella.SparseBDR(random_state=0).fit(views)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    samples = read_views(views)
    assert with_every_view(samples, np.array([7, 5])).tolist() == [0, 5, 7]
    assert with_every_view(samples, np.array([7, 0])).tolist() == [0, 7]


def test_many_duplicates():
    views, _ = groups(60, 6)
    model = jella.SparseBDR(random_state=0).fit([np.repeat(X[:6], 12, axis=0) for X in views])
    assert model.n_clusters_ == 6
    assert adjusted_rand_score(np.repeat(np.arange(6), 12), model.labels_) == 1.0
    few = jella.SparseBDR(5, random_state=0).fit([np.repeat(X[:2], 15, axis=0) for X in views])
    assert few.label_probabilities_.shape == (30, 5)
    np.testing.assert_allclose(few.label_probabilities_.sum(axis=1), 1.0)


def test_other_containers_have_the_same_evidence():
    pd = pytest.importorskip("pandas")
    model, views, _ = fitted()
    names = [f"s{i}" for i in range(len(views[0]))]
    frames = {f"v{v}": pd.DataFrame(X, index=names).add_prefix("f") for v, X in enumerate(views)}
    other = jella.SparseBDR(random_state=0).fit(frames)
    np.testing.assert_array_equal(other.label_probabilities_, model.label_probabilities_)
    np.testing.assert_array_equal(other.predict_proba(frames), model.label_probabilities_)


@pytest.mark.parametrize("setting", SETTINGS)
def test_arrays_of_other_libraries_have_the_same_evidence(xp, setting):
    model, views, _ = fitted(None, setting)
    given = [xp.asarray(X) for X in views]
    other = jella.SparseBDR(random_state=0).fit(given)
    assert other.n_clusters_ == 3
    np.testing.assert_allclose(other.label_probabilities_, model.label_probabilities_, atol=1e-6)
    np.testing.assert_array_equal(other.predict_proba(given), other.label_probabilities_)


def test_single_precision_and_a_single_view():
    views, y = groups()
    single = jella.SparseBDR(random_state=0).fit([X.astype(np.float32) for X in views])
    assert single.n_clusters_ == 3
    assert np.isfinite(single.label_probabilities_).all()
    alone = jella.SparseBDR(random_state=0).fit(views[0])
    assert alone.n_clusters_ == 3
    np.testing.assert_array_equal(alone.predict_proba(views[0]), alone.label_probabilities_)
    assert adjusted_rand_score(y, alone.labels_) == 1.0


def test_sparse_views():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    views = [
        sparse.csr_array(rng.poisson(np.where(np.arange(d) % 3 == y[:, None], 2.0, 0.02)).astype(float))
        for d in (60, 45)
    ]
    holed = holes(views)
    model = jella.SparseBDR(random_state=0).fit(holed)
    assert model.n_clusters_ == 3
    np.testing.assert_array_equal(model.predict_proba(holed), model.label_probabilities_)


def test_threads_change_nothing():
    model, views, _ = fitted()
    other = jella.SparseBDR(n_jobs=2, random_state=0).fit(views)
    np.testing.assert_array_equal(other.label_probabilities_, model.label_probabilities_)
    for name in PATH_FIGURES:
        np.testing.assert_array_equal(getattr(other.cluster_path_, name), getattr(model.cluster_path_, name))
    assert in_parallel(np.sqrt, [4.0, 9.0], 2) == in_parallel(np.sqrt, [4.0, 9.0], None) == [2.0, 3.0]


def test_an_interrupted_fit_has_no_evidence():
    def stop(progress):
        raise KeyboardInterrupt

    views, _ = groups(60)
    with pytest.warns(UserWarning, match="the fit was interrupted"):
        model = jella.SparseBDR(callback=stop, random_state=0).fit(views)
    assert model.gather_evidence() is None
    assert not model.cluster_path_.is_known
    np.testing.assert_allclose(model.label_probabilities_.sum(axis=1), 1.0)


def test_an_unfitted_model_says_so():
    for ask in (lambda model: model.label_probabilities_, lambda model: model.gather_evidence()):
        with pytest.raises(NotFittedError):
            ask(jella.SparseBDR(3))


def test_many_samples_are_represented_by_some(monkeypatch):
    monkeypatch.setattr(gathering, "MOST_SAMPLES", 60)
    views, y = groups()
    model = jella.SparseBDR(random_state=0).fit(views)
    path = model.cluster_path_
    assert model.evidence_.n_samples == 60
    assert model.n_clusters_ == 3
    assert (path.partitions >= 0).sum(axis=1).tolist() == [60] * len(path.partitions)
    mine = path.partitions[list(path.supported).index(3)]
    assert adjusted_rand_score(y[mine >= 0], mine[mine >= 0]) == 1.0
    assert all(0 < share <= 1 for _, _, share in path.hierarchy())


def test_nested_groups_are_a_hierarchy():
    rng = np.random.default_rng(0)
    fine = np.arange(240) % 6
    views = []
    for d in (30, 20):
        coarse, own = 3.0 * rng.normal(size=(2, d)), 0.65 * rng.normal(size=(6, d))
        views.append(coarse[fine % 2] + own[fine] + rng.normal(size=(240, d)))
    model = jella.SparseBDR(random_state=0).fit(views)
    graph = refits.graph_of(model.readout_.known.own, 10)
    found = partitions_of(graph, [2, 6]).labels
    places = model.readout_.known.places
    nan = np.full(2, np.nan)
    path = ClusterPath(6, 6, np.array([2, 6]), nan, nan, nan, nan, nan, nan, np.stack([found[2], found[6]]))
    (nested,) = path.hierarchy()
    assert nested[:2] == (2, 6)
    assert nested[2] > 0.98
    assert adjusted_rand_score(fine[places] % 2, found[2]) == 1.0
    assert adjusted_rand_score(fine[places], found[6]) > 0.8


def test_a_path_says_what_is_supported():
    numbers = np.array([2, 3, 4, 5, 6])
    path = ClusterPath(
        3,
        3,
        numbers,
        modularity=np.array([0.5, 0.6, 0.6, 0.55, 0.6]),
        gap=np.zeros(5),
        expected=np.array([0.47, 0.4, 0.4, np.nan, 0.4]),
        spread=np.array([0.02, 0.001, 0.02, np.nan, 0.02]),
        stability=np.array([0.9, 0.95, 0.86, np.nan, 0.7]),
        expected_stability=np.array([0.2, 0.3, 0.9, np.nan, 0.3]),
    )
    np.testing.assert_allclose(path.excess[:3], [1.5, 20.0, 10.0])  # a spread below 0.01 counts as 0.01
    assert path.supported.tolist() == [3, 4]  # 2 is not clear, 6 less stable than 3
    assert path.is_clear
    assert path.words().endswith("modularity 0.60, 0.40 expected without clusters; stability 0.95, 0.30 expected")
    text = repr(path)
    assert "3  modularity 0.600 (0.400 without groups)  stability 0.95 (0.30 without groups)" in text
    assert "5  modularity" not in text
    assert text.count("<- best") == 1


def test_a_cloud_that_is_as_stable_as_can_be_is_no_reason_against_clear_groups():
    one = np.ones(1)
    path = ClusterPath(2, 2, np.array([2]), 0.5 * one, one, 0.4 * one, 0.01 * one, one, one)
    assert path.is_clear


def test_a_ladder_of_numbers():
    assert number_ladder(1) == [1]
    assert number_ladder(5) == [2, 3, 4, 5]
    ladder = number_ladder(150)
    assert ladder[:11] == list(range(2, 13))
    assert ladder[-1] == 150
    assert all(0 < b - a <= max(1, a // 8) for a, b in pairwise(ladder))


def test_blocks_are_counted_without_random_numbers():
    blocks = np.kron(np.eye(5), np.ones((8, 8)) - np.eye(8))
    path = choose_n_clusters(blocks + 0.001)
    assert path.n_clusters == path.best == 5
    labels = partitions_of(blocks + 0.001, [5]).labels[5]
    assert adjusted_rand_score(np.repeat(np.arange(5), 8), labels) == 1.0


def test_a_share_nests():
    fine = np.array([0, 0, 1, 1, 2, 2])
    assert nested_share(fine // 2, fine) == 1.0
    assert nested_share(np.array([0, 1, 0, 1, 0, 0]), fine) == pytest.approx(4 / 6)


def test_clouds_keep_mean_and_covariance_but_no_groups(rng):
    W = (rng.normal(size=(300, 6)) + 8.0 * rng.normal(size=(3, 6))[np.arange(300) % 3]) @ rng.normal(size=(6, 6))
    first, second = clouds_like(W, 2, rng)
    assert not np.array_equal(first, second)
    for cloud in (first, second):
        np.testing.assert_allclose(cloud.mean(axis=0), W.mean(axis=0), atol=1e-9)
        scale = np.abs(np.cov(W.T)).max()
        np.testing.assert_allclose(np.cov(cloud.T) / scale, np.cov(W.T) / scale, atol=0.2)
        axes = np.linalg.svd(W - W.mean(axis=0), full_matrices=False)[2]
        own, theirs = ((Z - W.mean(axis=0)) @ axes.T for Z in (W, cloud))
        np.testing.assert_allclose(theirs.var(axis=0), own.var(axis=0), rtol=1e-6)


def test_constant_and_tiny_clouds(rng):
    np.testing.assert_allclose(clouds_like(np.ones((30, 3)), 1, rng)[0], 1.0)
    assert clouds_like(rng.normal(size=(4, 9)), 1, rng)[0].shape == (4, 9)


def test_values_with_one_mode(rng):
    two, normal = np.concatenate([rng.normal(-5, 1, 500), rng.normal(5, 1, 500)]), rng.normal(size=1000)
    found = with_one_mode(two, normal)
    assert found.mean() == pytest.approx(two.mean())
    assert found.std() == pytest.approx(two.std())
    assert (np.abs(found) < 2).mean() > 0.1  # the gap between the modes is filled
    assert (np.abs(two) < 2).mean() < 0.01
    places = [0.1, 0.5, 0.9]
    for skewed in (rng.exponential(size=1000), -rng.exponential(size=1000)):
        drawn = with_one_mode(skewed, normal)
        np.testing.assert_allclose(np.quantile(drawn, places), np.quantile(skewed, places), atol=0.25)
    heavy = rng.standard_t(3, size=1000)
    assert kurtosis(with_one_mode(heavy, normal)) > 2
    np.testing.assert_array_equal(with_one_mode(np.full(9, 2.0), normal[:9]), 2.0)


@pytest.mark.parametrize("form", ["complete", "views", "entries", "sparse"])
def test_permuted_views_keep_holes_and_values(form, rng):
    X = rng.poisson(1.0, size=(40, 6)) + rng.uniform(size=(40, 6)) * (rng.uniform(size=(40, 6)) < 0.5)
    if form in ("views", "sparse"):
        X[[3, 8, 20]] = np.nan
    if form == "sparse":
        X[:, 1:] *= rng.uniform(size=(40, 5)) < 0.5
    if form == "entries":
        X[rng.uniform(size=X.shape) < 0.3] = np.nan
    views = read_views([sparse.csr_array(X) if form == "sparse" else X, rng.normal(size=(40, 2))])
    dealt = permuted(views, rng)
    for before, after in zip(views, dealt, strict=True):
        np.testing.assert_array_equal(before.mask, after.mask)
        mask = np.broadcast_to(before.mask, before.X.shape)
        old, new = (view.X.toarray() if view.is_sparse else view.X for view in (before, after))
        assert after.is_sparse == before.is_sparse
        assert not new[~mask].any()
        for j in range(old.shape[1]):
            rows = mask[:, j]
            np.testing.assert_array_equal(np.sort(old[rows, j]), np.sort(new[rows, j]))
            assert not np.array_equal(old[rows, j], new[rows, j])
            first = np.flatnonzero(rows)[: np.count_nonzero(new[rows, j])]
            assert first.size in (0, rows.sum()) or not new[first, j].all()  # zeros are dealt out too
        both = mask.all(axis=1)  # features are dealt out one by one
        assert not {tuple(row) for row in new[both]} <= {tuple(row) for row in old[both]}


def test_votes_by_rank():
    near = np.array([[0, 1, 2], [2, 1, -1]])
    np.testing.assert_allclose(rank_votes(near, np.array([1, 0, 0]), 3), [[5 / 6, 1, 0], [1.5, 0, 0]])


def test_labels_are_matched_and_partitions_compared():
    labels = np.array([0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(matched_labels((labels + 1) % 3, labels, 3), labels)
    rows = np.arange(6)
    found = [(rows, {3: labels}), (rows[2:], {3: (labels[2:] + 1) % 3}), (rows, {2: labels % 2})]
    assert agreement(found, 3) == 1.0
    assert np.isnan(agreement(found, 2))
    assert np.isnan(agreement(found, 5))


def test_confidence_says_how_often_refits_agree(rng):
    n = 4000
    votes = rng.dirichlet([1.0, 1.0], size=n)
    chance = votes[:, 1] ** 3 / (votes**3).sum(axis=1)
    got = (rng.uniform(size=n) < chance).astype(int)
    ours = votes.argmax(axis=1)
    found = Confidence.learn([votes], [got], [ours])
    assert 2.3 < found.sharpness < 3.7
    assert found.n_refits == 1
    assert found.table[:, 2].sum() == n
    np.testing.assert_allclose(found.table[:, 0], found.table[:, 1], atol=0.06)
    np.testing.assert_allclose(found.by_cluster, [(got == ours)[ours == c].mean() for c in (0, 1)])
    chances = found.probabilities(votes)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(chances.argmax(axis=1), ours)
    np.testing.assert_allclose(found.probabilities(10.0 * votes), chances)
    assert Confidence.learn([np.ones((3, 1))], [np.zeros(3, int)], [np.zeros(3, int)]).n_refits == 0


def test_unsure_samples_have_low_probabilities():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    side = np.where(y == 1, 2.0, -2.0)
    side[:20] = 0.0  # between both groups
    views = [np.outer(side, np.ones(d)) + 0.7 * rng.normal(size=(200, d)) for d in (8, 6)]
    model = jella.SparseBDR(2, random_state=0).fit(views)
    own = model.label_probabilities_[np.arange(200), model.labels_]
    assert own[:20].mean() < own[20:].mean()
    assert own[20:].mean() > 0.9


def test_samples_in_chunks_have_the_evidence_of_memory():
    da = pytest.importorskip("dask.array", reason="dask arrays are not installed")
    import dask

    views, y = groups()
    with dask.config.set(scheduler="sync"):
        lazy = [da.from_array(X, chunks=(45, -1)) for X in views]
        model = jella.SparseBDR(random_state=0).fit(lazy)
        assert model.n_clusters_ == 3
        assert adjusted_rand_score(y, np.asarray(model.labels_)) == 1.0
        whole = jella.SparseBDR(random_state=0).fit(views).cluster_path_
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gathering, "MOST_SAMPLES", 50)  # only a part of the samples is fetched
            part = jella.SparseBDR(random_state=0).fit(lazy)
        assert part.evidence_.n_samples == 50
        np.testing.assert_allclose(model.cluster_path_.stability, whole.stability)
        np.testing.assert_allclose(model.cluster_path_.expected, whole.expected, atol=1e-6)
        found = [np.asarray(model.predict_proba(given)) for given in (lazy, views)]
        np.testing.assert_allclose(*found)
        with pytest.raises(AttributeError, match="got one to a Dask collection"):
            _ = model.label_probabilities_
        model._repr_html_()
        fit = jella.SparseBDR(3, random_state=0).fit(views)
        np.testing.assert_allclose(np.asarray(fit.predict_proba(lazy)), fit.label_probabilities_)


def test_probabilities_follow_how_often_refits_agreed():
    votes = np.array([[9.0, 1.0], [6.0, 4.0]])
    curve = np.array([[0.5, 0.95], [0.5, 0.6]])
    found = Confidence(curve=curve).probabilities(votes)
    plain = Confidence().probabilities(votes)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found[:, 0], np.interp(plain[:, 0], *curve))
    assert (found[:, 0] < plain[:, 0]).all()
    low = Confidence(curve=np.array([[0.5, 0.95], [0.1, 0.1]])).probabilities(votes)
    assert (low[:, 0] >= low[:, 1] - 1e-12).all()  # the first cluster stays the first


def test_few_samples_have_few_neighbours(monkeypatch):
    widths, whole = [], gathering.graph_of

    def watched(W, n_neighbors):
        widths.append(n_neighbors)
        return whole(W, n_neighbors)

    monkeypatch.setattr(gathering, "graph_of", watched)
    jella.SparseBDR(3, random_state=0).fit(groups(40)[0]).gather_evidence()
    assert set(widths) == {5, surely_joining(40)}


@pytest.mark.parametrize("n", [8, 19])
def test_few_samples_are_too_few_to_tell(rng, n):
    views = [rng.normal(size=(n, 6)), rng.normal(size=(n, 5))]
    with pytest.warns(NoClearClustersWarning, match=f"{n} samples are too few to tell"):
        jella.SparseBDR(random_state=0).fit(views)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jella.SparseBDR(2, random_state=0).fit(views)
