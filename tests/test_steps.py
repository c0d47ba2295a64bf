"""Values in steps, such as answers from 1 to 5: their lattice makes no clusters, and hides none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import jella
from jella.estimators.certain_labels import NoClearClustersWarning
from jella.graphs.view_choice import choose_scaling
from jella.views import read_views
from jella.views.steps import FEW_FEATURES, spread_over_steps, widths


def in_steps(X, levels):
    return np.digitize(X, np.linspace(X.min(), X.max(), levels + 1)[1:-1]).astype(float)


def one_factor(seed, n=300, d=6, levels=5):
    """Answers to questions about the same thing, without groups, in two views."""
    rng = np.random.default_rng(seed)
    X = in_steps(0.7 * rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, d)), levels)
    return [X[:, : d // 2], X[:, d // 2 :]]


def three_groups(seed, n=300, d=8, levels=5, apart=2.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = in_steps(apart * rng.normal(size=(3, d))[y] + rng.normal(size=(n, d)), levels)
    return [X[:, : d // 2], X[:, d // 2 :]], y


@pytest.mark.parametrize("seed", range(3))
def test_answers_that_go_together_have_no_clear_clusters(seed):
    with pytest.warns(NoClearClustersWarning):
        model = jella.SparseBDR(random_state=0).fit(one_factor(seed))
    assert model.n_clusters_ == 1


@pytest.mark.parametrize("seed", [5, 6])
def test_groups_among_answers_are_found(seed):
    views, y = three_groups(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoClearClustersWarning)
        model = jella.SparseBDR(random_state=0).fit(views)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.85


def test_a_view_in_few_steps_is_not_taken_for_a_clear_one(rng):
    y = rng.integers(0, 2, 300)
    clear = 1.5 * np.eye(2)[y] @ rng.normal(size=(2, 12)) + rng.normal(size=(300, 12))
    views = read_views({"answers": in_steps(rng.normal(size=(300, 3)), 4), "clear": clear})
    answers, other = (scale.root_weight for scale in choose_scaling(views, "auto", "auto", 2).scales)
    assert answers < other


def test_values_move_by_half_a_step_at_most_and_only_where_they_are_observed(rng):
    X = rng.integers(0, 5, size=(200, 4)).astype(float)
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    X[:, 3] = 10.0 * X[:, 3] - 7.0
    before = read_views(X)
    after = spread_over_steps(before, np.random.default_rng(0))
    moved = np.abs(after[0].X - before[0].X)
    assert (moved[:, :3] <= 0.5).all()
    assert (moved[:, 3] <= 5.0).all()
    assert moved[:, 3].max() > 4.0
    assert (moved[np.isnan(X)] == 0.0).all()
    assert (after[0].X[:, :3] >= 0.0).all()  # what is never negative stays so
    assert np.unique(after[0].X[~np.isnan(X[:, 0]), 0]).size == (~np.isnan(X[:, 0])).sum()


def test_a_gap_between_groups_stays_a_gap():
    values = np.array([1.0, 2.0, 3.0, 101.0, 102.0, 103.0])
    assert (widths(values) == 1.0).all()


def test_other_values_stay_as_they_are(rng):
    def spread(*views):
        given = read_views(list(views))
        return spread_over_steps(given, np.random.default_rng(0)) is not given

    steps, smooth = rng.integers(0, 2, size=(60, 8)).astype(float), rng.normal(size=(60, 9))
    assert spread(steps, smooth[:, :8])
    assert not spread(steps, smooth)  # most features are not in steps
    assert not spread(np.tile(steps, 4))  # many features
    assert not spread(np.ones((60, 2)))
    assert FEW_FEATURES < 32


@pytest.mark.parametrize("seed", range(4))
def test_labels_are_those_of_the_groups_also_where_their_number_is_given(seed):
    views, y = three_groups(seed, n=200, apart=2.5)
    found = jella.SparseBDR(3, random_state=0).fit(views)
    assert adjusted_rand_score(y, found.labels_) > 0.85
    np.testing.assert_array_equal(found.predict(views), found.labels_)


def test_evidence_and_labels_are_about_the_same_clusters():
    views, _ = three_groups(5)
    found = jella.SparseBDR(random_state=0).fit(views)
    path = found.cluster_path_
    supported = [set(np.unique(part[part >= 0])) for part in path.partitions]
    own = path.partitions[[len(groups) for groups in supported].index(found.n_clusters_)]
    assert adjusted_rand_score(own, found.labels_) > 0.9


def test_the_order_of_samples_in_steps_does_not_matter(rng):
    views, _ = three_groups(1, n=120)
    order = rng.permutation(120)
    first = jella.SparseBDR(3, random_state=0).fit(views).labels_
    second = jella.SparseBDR(3, random_state=0).fit([view[order] for view in views]).labels_
    assert adjusted_rand_score(first[order], second) == 1.0


def test_equal_samples_nearly_always_share_a_label():
    views, _ = three_groups(0, n=400, d=4, levels=4, apart=1.0)
    labels = jella.SparseBDR(3, random_state=0).fit(views).labels_
    _, group, size = np.unique(np.hstack(views), axis=0, return_inverse=True, return_counts=True)
    group = group.ravel()
    shares = [np.bincount(labels[group == i]).max() / size[i] for i in np.flatnonzero(size > 2)]
    assert np.mean(shares) > 0.94  # 0.89 without the votes of neighbours


def test_zeros_that_were_scaled_and_scaled_back_stay_zeros(rng):
    X = rng.integers(0, 4, size=(100, 3)).astype(float)
    moved = spread_over_steps(read_views(np.where(X == 0, -1e-16, X)), np.random.default_rng(0))[0].X
    assert (moved >= 0).all()
