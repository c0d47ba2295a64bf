"""Known classes of some samples: they are kept, help the others, and wrong ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_circles
from sklearn.metrics import adjusted_rand_score
from test_evidence import groups, holes

import jella
from jella.graphs.confirmed import label_neighbours, ranked_graph
from jella.graphs.neighbours import dense_nearest
from jella.graphs.pieces import graph_labels
from jella.graphs.seeded import KnownGroups, _with_ties, seeded_labels


def few_known(y, each=3):
    """The classes of the first samples of each class, -1 for the others."""
    known = np.full(y.size, -1)
    for c in np.unique(y):
        known[np.flatnonzero(y == c)[:each]] = c
    return known


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("setting", ["missing-view", "incomplete-view"])
def test_known_samples_keep_their_class_and_give_it_to_others(k, setting):
    views, y = groups()
    y = (y + 1) % 3  # the numbers of the classes are those of the user
    model = jella.SparseBDR(k, random_state=0).fit(holes(views, setting), few_known(y))
    assert model.n_clusters_ == 3
    assert np.mean(model.labels_ == y) > 0.95


def test_a_class_is_kept_even_where_it_is_wrong():
    views, y = groups()
    known = few_known(y)
    known[10] = (y[10] + 1) % 3
    model = jella.SparseBDR(3, random_state=0).fit(views, known)
    assert np.array_equal(model.labels_[known >= 0], known[known >= 0])
    assert np.mean(model.labels_ == y) > 0.95
    assert model.predict([X[10:11] for X in views]).tolist() == [known[10]]


def test_unknown_classes_are_ignored_bit_for_bit():
    views, y = groups(60)
    for k in (None, 3):
        plain = jella.SparseBDR(k, random_state=0).fit(views)
        other = jella.SparseBDR(k, random_state=0).fit(views, np.full(60, -1))
        np.testing.assert_array_equal(plain.labels_, other.labels_)
        np.testing.assert_array_equal(plain.label_probabilities_, other.label_probabilities_)
    with_some = jella.SparseBDR(3, random_state=0).fit(views, few_known(y))
    other = jella.SparseBDR(3, random_state=0).fit(views, few_known(y).astype(float))
    np.testing.assert_array_equal(with_some.labels_, other.labels_)
    np.testing.assert_array_equal(with_some.embedding_, plain.embedding_)  # which does not use classes


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.r_[np.zeros(58, int), -1], r"one whole number for each of the 60 samples.*got shape \(59,\)"),
        (np.full((60, 1), -1.0), "one whole number for each of the 60 samples"),
        (np.r_[np.full(59, 0.5), -1], "one whole number for each of the 60 samples"),
        (np.r_[np.full(59, np.nan), -1], "one whole number for each of the 60 samples"),
        (np.r_[np.full(59, np.inf), -1], "one whole number for each of the 60 samples"),
        (np.r_[np.full(59, 3), -1], "expected known classes from 0 to 2, got class 3; number the classes from 0"),
    ],
)
def test_wrong_classes_are_refused_before_the_fit(y, words):
    views, _ = groups(60)
    model = jella.SparseBDR(3, random_state=0).fit(views)
    before = model.labels_
    with pytest.raises(ValueError, match=words) as caught:
        model.fit(views, y)
    assert "\n" not in str(caught.value)
    np.testing.assert_array_equal(model.labels_, before)  # the last fit is still there
    np.testing.assert_array_equal(model.predict(views), before)


def test_a_class_beyond_the_samples_is_refused():
    views, _ = groups(60)
    with pytest.raises(ValueError, match="from 0 to 59, got class 60"):
        jella.SparseBDR(random_state=0).fit(views, np.where(np.arange(60) == 5, 60, -1))


def test_classes_that_skip_a_number_are_refused_where_they_give_the_number_of_clusters():
    views, y = groups(60)
    tens = np.where(few_known(y) < 0, -1, 10 * (y + 1))
    with pytest.raises(ValueError, match="from 0 to 2, one after the other, got class 30 and none of class 0"):
        jella.SparseBDR(random_state=0).fit(views, tens)
    ones = np.where(few_known(y) < 0, -1, y + 1)
    assert jella.SparseBDR(4, random_state=0).fit(views, ones).n_clusters_ == 4


def test_a_negative_class_is_no_mark_but_minus_one():
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(ValueError, match="from 0 in y, or -1 where unknown, got -2"):
        jella.SparseBDR(2, random_state=0).fit(X, np.r_[np.zeros(10), np.ones(10), np.full(10, -2)])


@pytest.mark.parametrize("mark", [np.nan, None])
def test_an_unknown_class_with_another_mark_is_not_taken_for_a_known_one(mark):
    views, y = groups(60)
    marked = [mark if label < 0 else int(label) for label in few_known(y)]
    with pytest.raises(ValueError, match="-1 where the class is unknown"):
        jella.SparseBDR(3, random_state=0).fit(views, np.array(marked))


def test_classes_with_samples_that_are_dropped():
    views, y = groups(60)
    for X in views:
        X[[0, 30]] = np.nan
    model = jella.SparseBDR(3, on_empty="drop", random_state=0).fit(views, few_known(y))
    assert model.labels_[[0, 30]].tolist() == [-1, -1]
    rest = np.delete(np.arange(60), [0, 30])
    np.testing.assert_array_equal(model.labels_[rest], y[rest])
    chances = model.label_probabilities_
    assert np.isnan(chances[[0, 30]]).all()
    np.testing.assert_array_equal(chances[rest].argmax(axis=1), y[rest])


def test_classes_follow_the_names_of_samples():
    pd = pytest.importorskip("pandas")
    views, y = groups(60)
    names = np.array([f"s{i:02d}" for i in range(60)])
    order = np.random.default_rng(0).permutation(60)
    frames = {"a": pd.DataFrame(views[0], index=names), "b": pd.DataFrame(views[1], index=names).iloc[order]}
    known = few_known(y)
    by_name = pd.Series(known, index=names)
    for classes in (known, known.tolist(), by_name, by_name.iloc[order], pd.Series(known)):
        model = jella.SparseBDR(3, random_state=0).fit(frames, classes)
        np.testing.assert_array_equal(model.labels_, y)


def test_the_order_of_the_samples_changes_no_label():
    views, y = groups(80)
    known, order = few_known(y, 2), np.random.default_rng(0).permutation(80)
    known[known == 2] = -1
    one = jella.SparseBDR(3, random_state=0).fit(views, known)
    two = jella.SparseBDR(3, random_state=0).fit([X[order] for X in views], known[order])
    np.testing.assert_array_equal(one.labels_[order], two.labels_)
    np.testing.assert_array_equal(one.label_probabilities_[order], two.label_probabilities_)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_clusters_without_known_samples_get_the_other_numbers(missing):
    views, y = groups(90)
    known = few_known(y)
    known[known == missing] = -1
    model = jella.SparseBDR(3, random_state=0).fit(views, known)
    np.testing.assert_array_equal(model.labels_, y)


@pytest.mark.parametrize("y", [np.arange(60) % 2, np.array(["a"] * 60), np.linspace(0, 1, 60)])
def test_classes_without_unknown_ones_are_ignored_as_scikit_learn_expects(y):
    views, _ = groups(60)
    plain = jella.SparseBDR(3, random_state=0).fit(views)
    np.testing.assert_array_equal(jella.SparseBDR(3, random_state=0).fit(views, y).labels_, plain.labels_)


def test_one_known_sample_and_all_but_one(tmp_path):
    views, _ = groups(60)
    one = jella.SparseBDR(3, random_state=0).fit(views, np.where(np.arange(60) == 7, 2, -1))
    assert one.labels_[7] == 2
    assert sorted(np.bincount(one.labels_)) == [20, 20, 20]
    wrong = np.random.default_rng(0).integers(0, 3, 60)
    most = jella.SparseBDR(random_state=0).fit(views, np.r_[wrong[:-1], -1])
    np.testing.assert_array_equal(most.labels_[:-1], wrong[:-1])
    most.save(tmp_path / "model.jella")
    np.testing.assert_array_equal(jella.load(tmp_path / "model.jella").predict(views)[:-1], wrong[:-1])


def test_known_classes_say_which_of_two_divisions_is_meant():
    rng = np.random.default_rng(0)
    a, b = np.arange(160) % 2, np.arange(160) // 80
    views = [np.column_stack([6.0 * a, 6.5 * b]) @ rng.normal(size=(2, d)) + rng.normal(size=(160, d)) for d in (12, 9)]
    for y in (a, b):
        known = np.full(160, -1)
        chosen = rng.permutation(160)[:24]
        known[chosen] = y[chosen]
        labels = jella.SparseBDR(2, random_state=0).fit(views, known).labels_
        assert np.mean(labels == y) > 0.9


def test_sparse_views_and_chunks_take_classes():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = sparse.csr_array(rng.poisson(np.where(np.arange(60) % 3 == y[:, None], 2.0, 0.02)).astype(float))
    np.testing.assert_array_equal(jella.SparseBDR(3, random_state=0).fit([X, X], few_known(y)).labels_, y)
    da = pytest.importorskip("dask.array", reason="dask arrays are not installed")
    import dask

    views, y = groups(90)
    with dask.config.set(scheduler="sync"):
        model = jella.SparseBDR(random_state=0).fit([da.from_array(X, chunks=(45, -1)) for X in views], few_known(y))
        np.testing.assert_array_equal(np.asarray(model.labels_), y)


def two_blocks():
    """A ring of two groups of six samples with one edge between them."""
    graph = np.kron(np.eye(2), np.ones((6, 6)) - np.eye(6))
    graph[0, 6] = graph[6, 0] = 0.5
    return sparse.csr_array(graph)


def test_ties_join_a_class_and_part_two():
    classes = np.full(12, -1)
    classes[[0, 3]], classes[6] = 0, 1
    tied = _with_ties(two_blocks(), of_classes(classes)).toarray()
    np.testing.assert_allclose(tied, tied.T)
    assert tied[0, 6] == 0.0
    assert tied[0, 3] > 1.0
    untouched = _with_ties(two_blocks(), of_classes(np.full(12, -1))).toarray()
    np.testing.assert_array_equal(untouched, two_blocks().toarray())


def test_labels_of_a_graph_with_known_classes():
    classes = np.full(12, -1)
    classes[[2, 8]] = 1, 0
    halves = np.repeat([0, 1], 6)
    np.testing.assert_array_equal(seeded_labels(two_blocks(), halves, of_classes(classes), 2), 1 - halves)
    classes[8] = -1
    np.testing.assert_array_equal(seeded_labels(two_blocks(), halves, of_classes(classes), 2), 1 - halves)


def of_classes(classes):
    """What is known where classes of some samples are."""
    found, groups = np.unique(classes, return_inverse=True)
    first = int(found[0] < 0)
    return KnownGroups(groups - first, found[first:], np.empty((0, 2), dtype=int))


def neighbours_of(W, q):
    """The graph of labels of samples in one view."""
    directed = ranked_graph(dense_nearest(W, q))
    return directed + directed.T


def test_known_classes_correct_clusters_that_join_two_of_them(rng):
    y = np.repeat([0, 1, 2], [90, 30, 30])
    long, near = rng.normal(size=(90, 2)) * [9, 1] + [0, 14], np.repeat([[-1.9, 0], [1.9, 0]], 30, axis=0)
    graph = neighbours_of(np.vstack([long, near + rng.normal(size=(60, 2))]), 20)
    plain = graph_labels(graph, 3, random_state=0)
    assert adjusted_rand_score(y, plain) < 0.6  # the long class is cut
    assert adjusted_rand_score(y, seeded_labels(graph, plain, of_classes(few_known(y, 2)), 3)) > 0.9


@pytest.mark.parametrize("seed", range(4))
def test_known_samples_at_the_edge_of_their_classes_do_no_harm(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(150) % 5
    W = 0.95 * np.array([[0, 0], [4, 0], [0, 4], [4, 4], [8, 2]])[y] + rng.normal(size=(150, 2))
    inner, known = np.sum((W - W.mean(axis=0)) ** 2, axis=1), np.full(150, -1)
    for c in range(5):
        known[np.where(y == c, inner, np.inf).argmin()] = c
    graph, free = neighbours_of(W, 30), known < 0
    plain = graph_labels(graph, 5, random_state=0)
    labels = seeded_labels(graph, plain, of_classes(known), 5)
    assert adjusted_rand_score(y[free], labels[free]) > adjusted_rand_score(y[free], plain[free]) - 0.02
    assert np.mean(labels == y) > 0.85


@pytest.mark.parametrize("each", [1, 8])
def test_known_classes_do_not_join_groups_with_a_gap_around_them(each):
    X, y = make_circles(300, noise=0.03, factor=0.4, random_state=0)
    assert adjusted_rand_score(y, jella.SparseBDR(2, random_state=0).fit([X]).labels_) > 0.99
    assert np.mean(jella.SparseBDR(2, random_state=0).fit([X], few_known(y, each)).labels_ == y) > 0.99


def test_as_many_neighbours_as_a_cluster_has_samples():
    assert label_neighbours(210, 7, 10) == 30
    assert label_neighbours(30, 20, 10) == 7
    assert label_neighbours(10**4, 2, 10) == 100
    assert label_neighbours(10**5, 10, 10) == 20
    assert label_neighbours(10**6, 10, 15) == 15


def test_ranks_are_the_sum_of_all_neighbourhoods():
    near = np.array([[1, 2, 3], [0, 2, -1], [3, 1, 0], [2, 0, 1]])
    found = ranked_graph(near).toarray()
    total = np.zeros((4, 4))
    for q in (1, 2, 3):
        for i, row in enumerate(near):
            total[i, row[:q][row[:q] >= 0]] += 1 / (q * (q + 1))
    np.testing.assert_allclose(found, total)
