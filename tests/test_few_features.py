"""Small data with few features: how rows are compared, the rank, the scaling of one view, and clusters with valleys."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_circles
from sklearn.metrics import adjusted_rand_score

import jella
import jella.evidence.gather as gathering
from jella.estimators.certain_labels import NoClearClustersWarning
from jella.evidence.refits import graph_of
from jella.graphs.cluster_path import ClusterPath
from jella.graphs.compared import compared_rows
from jella.graphs.gaps import surely_joining
from jella.graphs.neighbours import dense_nearest
from jella.graphs.spectral import components
from jella.graphs.surrogates import clouds_like
from jella.graphs.valleys import least_valley, valley
from jella.graphs.view_choice import choose_kinds
from jella.views import read_views


def planted(k, d, n, gap=7.0, seed=0):
    """Round groups whose centres lie a gap apart in a row, and the groups."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    line = rng.normal(size=d)
    return gap * y[:, None] * line / np.linalg.norm(line) + rng.normal(size=(n, d)), y


def quietly(views, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoClearClustersWarning)
        return jella.SparseBDR(random_state=0, **given).fit(views)


def same_group(W, y):
    near = dense_nearest(compared_rows(W), 5)
    return float((y[near] == y[:, None]).mean())


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_group_in_the_middle_has_its_own_neighbours(d):
    X, y = planted(3, d, 90)
    assert same_group(X - X.mean(axis=0), y) > 0.95


def test_length_hardly_counts_where_there_are_many_components(rng):
    W = rng.normal(size=(60, 200))
    assert (dense_nearest(compared_rows(np.vstack([W, 0.3 * W])), 1).ravel() == np.roll(np.arange(120), 60)).all()


def test_new_rows_are_compared_with_the_constant_of_the_fit(rng):
    W = rng.normal(size=(30, 3)).astype(np.float32)
    np.testing.assert_array_equal(compared_rows(W[:4], W), compared_rows(W)[:4])
    assert compared_rows(W).dtype == np.float32
    np.testing.assert_array_equal(compared_rows(np.zeros((3, 2))), 0.0)


@pytest.mark.parametrize(("d", "rank"), [(1, 1), (4, 4), (10, 10), (24, 10), (60, 20), (300, 40)])
def test_few_features_are_their_own_embedding(d, rank, rng):
    model = jella.SparseBDR(evidence=False, random_state=0).fit([rng.normal(size=(80, d))])
    assert model.embedding_.shape == (80, rank)


def test_a_single_view_is_scaled_as_halves_of_its_features_agree(rng):
    X, _ = load_wine(return_X_y=True)
    assert choose_kinds(read_views([X])) == ("standardize",)  # one feature is a thousand times as large
    X = np.exp(0.3 * rng.normal(size=(150, 1)) @ np.ones((1, 12)) + 0.05 * rng.normal(size=(150, 12)))
    assert choose_kinds(read_views([X])) == ("root",)
    holed = X.copy()
    holed[:, :3][rng.uniform(size=(150, 3)) < 0.4] = np.nan
    assert choose_kinds(read_views([holed])) == ("root",)
    assert choose_kinds(read_views([X[:, :3]])) == ("root",)  # too few features for halves
    assert choose_kinds(read_views([X[:15]])) == ("root",)  # too few samples


def least(W, y, rng):
    return least_valley(W, y, graph_of(W, surely_joining(len(W))), rng)


def test_the_pair_of_groups_that_is_least_apart_counts(rng):
    X, y = planted(3, 2, 300, gap=4.5)
    X -= X.mean(axis=0)
    assert 2 < least(X, y, rng) < np.inf
    cut = np.where((y == 2) & (rng.uniform(size=300) < 0.5), 3, y)  # one group is divided at random
    assert least(X, cut, rng) == 1.0
    assert least(X[:12], y[:12], rng) == 1.0  # it may be chance
    crumb = y.copy()
    crumb[:2] = 3
    assert least(X, crumb, rng) == 1.0
    assert least(X, np.zeros(300, dtype=int), rng) == 1.0


def test_groups_of_any_shape_are_far_apart_without_an_edge_between_them(rng):
    turn = rng.uniform(0, 2 * np.pi, size=300)
    y = np.arange(300) % 2
    X = np.where(y == 0, 1.0, 3.0)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    assert least(X, y, rng) == np.inf
    assert least(X, (turn > 3).astype(int), rng) < 2  # each half has a part of both rings
    y[:10] = 2  # a crumb far away
    X[:10] = 20.0 + rng.normal(size=(10, 2))
    assert least(X, y, rng) == 1.0


@pytest.mark.parametrize("n", [60, 300])
def test_lines_do_not_fall_apart_by_chance(n, rng):
    for _ in range(20):
        line = rng.uniform(size=(n, 1)) - 0.5
        assert components(graph_of(line, surely_joining(n)))[0] == 1


def test_long_groups_side_by_side_are_apart(rng):
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 3)) * [1.0, 6.0, 6.0] + np.array([1.0, 0.7, 0.0]) * 5.0 * y[:, None]
    assert 2 < least(X, y, rng) < np.inf


def test_a_far_group_does_not_make_parts_of_another_one_clear(monkeypatch):
    for name in ("CLOUDS", "FEWEST_CLOUDS"):  # as outside of the tests: stabilities of fewer clouds vary much
        monkeypatch.setattr(gathering, name, 6)
    rng = np.random.default_rng(2)
    y = (np.arange(120) < 18).astype(int)
    X = rng.normal(size=(120, 6))
    line = rng.normal(size=6)
    model = quietly([X + 7.0 * y[:, None] * line / np.linalg.norm(line)])
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_gaps_between_larger_groups_make_no_valleys_within_them(rng):
    X, y = planted(2, 3, 400, gap=30.0)
    middle = np.array([X[y == c, 2].mean() for c in range(2)])
    halves = 2 * y + (X[:, 2] > middle[y])
    assert valley(X, halves, rng, y) < 1.8
    assert valley(X, y, rng) > 10
    assert valley(X, y, rng, y) == 1.0  # no pair is left
    assert valley(X, np.where(halves > 1, halves + 1, halves), rng, y) < 1.8  # a cut may leave a number without samples


def test_a_ring_around_a_group_is_not_cut():
    X, y = make_circles(300, noise=0.04, factor=0.3, random_state=3)
    model = quietly([X])
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_clouds_of_groups_keep_the_groups(rng):
    X, y = planted(3, 4, 120, gap=9.0)
    for cloud in clouds_like(X, 2, rng, y):
        for group in range(3):
            np.testing.assert_allclose(cloud[y == group].mean(axis=0), X[y == group].mean(axis=0), atol=1e-9)
            assert cloud[y == group].std() == pytest.approx(X[y == group].std(), rel=1e-6)
        assert not np.allclose(cloud, X)


def test_one_far_group_makes_no_valleys_between_the_others(rng):
    X, y = rng.normal(size=(400, 3)), np.zeros(400, dtype=int)
    pieces = KMeans(5, n_init=1, random_state=0).fit(X).labels_
    y[:60] = 5
    y[60:] = pieces[60:]
    X[:60] += 30.0
    assert valley(X, y, rng) < 2


def test_numbers_far_above_clouds_are_in_question_too():
    numbers, unknown = np.array([2, 3, 4, 5]), np.full(4, np.nan)
    path = ClusterPath(4, 4, numbers, np.array([0.5, 0.6, 0.7, 0.69]), unknown, unknown, unknown, unknown, unknown)
    assert path.in_question.tolist() == [False, False, True, True]
    path = replace(path, expected=np.array([0.4, 0.55, 0.66, np.nan]))
    assert path.in_question.tolist() == [True, False, True, False]
    path = replace(path, expected=np.array([0.6, 0.75, 0.72, 0.7]))  # all below clouds
    assert path.in_question.tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("k", "d", "n", "views"),
    [
        (2, 2, 200, 1),
        (2, 2, 200, 2),
        (2, 10, 160, 1),
        (2, 10, 160, 2),
        (3, 4, 90, 1),
        (3, 4, 90, 2),
        (5, 2, 200, 1),
        (5, 2, 200, 2),
    ],
)
def test_clear_groups_of_few_features_are_counted(k, d, n, views, monkeypatch):
    for name in ("CLOUDS", "FEWEST_CLOUDS"):  # as outside of the tests: valleys of fewer clouds vary much
        monkeypatch.setattr(gathering, name, 6)
    X, y = planted(k, d, n)
    model = quietly(np.array_split(X, views, axis=1))
    assert model.n_clusters_ == k
    assert adjusted_rand_score(y, model.labels_) > 0.8
    assert k in model.cluster_path_.supported


def test_valleys_all_around_make_clusters_clear(monkeypatch, rng):
    X, y = load_iris(return_X_y=True)
    model = quietly([X])
    path = model.cluster_path_
    assert model.n_clusters_ == path.best == 2
    assert path.is_apart
    assert replace(path, valley=np.empty(0)).clarity < 2  # neither modularity nor stability say so
    assert adjusted_rand_score(y > 0, model.labels_) == 1.0
    assert path.apart[path.numbers == 2] == np.inf
    assert "far apart" in path.words()
    path = replace(path, apart=np.where(path.numbers == 2, 3.0, np.nan))
    assert "at least 3.0 times as many samples beside as between them" in path.words()
    assert 2 in path.supported
    for name in ("valley", "least_valley"):
        monkeypatch.setattr(gathering, name, lambda *given: 1.0)
    assert quietly([X]).n_clusters_ == 1


def test_more_clusters_than_dimensions_need_deeper_valleys_than_clouds():
    numbers, one = np.array([2, 6]), np.ones(2)
    path = ClusterPath(6, 6, numbers, 0.7 * one, one, 0.6 * one, 0.01 * one, one, 0.5 * one, dimension=4)
    path = replace(path, valley=np.array([2.5, 2.1]))
    assert path.is_clear  # nothing is known about valleys of clouds
    for of_clouds, dimension, clear in ((1.6, 4, False), (1.3, 4, True), (1.6, 6, True)):
        other = replace(path, cloud_valley=of_clouds, dimension=dimension)
        assert (other.is_clear, other.is_one_cloud) == (clear, not clear)


@pytest.mark.parametrize("kind", ["normal", "uniform", "exponential"])
@pytest.mark.parametrize("d", [2, 4])
def test_few_features_without_groups_have_none(kind, d):
    X = getattr(np.random.default_rng(3), kind)(size=(150, d))
    assert quietly([X]).n_clusters_ == 1


def test_probabilities_rest_on_refits_to_halves_with_their_own_scaling(monkeypatch):
    sizes, original = [], jella.SparseBDR._refit

    def counted(self, views, like=None, n_clusters=None):
        sizes.append((views.n_samples, like is None))
        return original(self, views, like=like, n_clusters=n_clusters)

    monkeypatch.setattr(jella.SparseBDR, "_refit", counted)
    X, _ = planted(3, 20, 90)
    model = jella.SparseBDR(3, random_state=0).fit([X[:, :10], X[:, 10:]])
    confidence = model.gather_evidence().confidence
    assert sizes.count((45, True)) == confidence.n_refits > 1
    assert (67, False) in sizes
