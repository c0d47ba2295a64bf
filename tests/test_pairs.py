"""Pairs of samples that share a cluster, or do not: kept exactly, whatever else is known; wrong ones are refused."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from test_evidence import groups, holes, without_clusters
from test_seeds import few_known

import jella
from jella.cli.main import main
from jella.estimators.certain_labels import NoClearClustersWarning
from jella.graphs.seeded import KnownGroups, _with_ties


def drawn(n, count, seed=0):
    """Random pairs of different samples."""
    pairs = np.random.default_rng(seed).integers(n, size=(2 * count, 2))
    return pairs[pairs[:, 0] != pairs[:, 1]][:count]


def by_truth(y, count, seed=0):
    """Random pairs in one class, and in two."""
    pairs = drawn(y.size, count, seed)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return pairs[same], pairs[~same]


def agree(labels, must_link=(), cannot_link=()):
    return all(labels[a] == labels[b] for a, b in must_link) and all(labels[a] != labels[b] for a, b in cannot_link)


def model(k=3, **settings):
    return jella.SparseBDR(k, random_state=0, **settings)


@pytest.mark.parametrize("setting", ["missing-view", "incomplete-view"])
@pytest.mark.parametrize("seed", range(3))
def test_labels_agree_with_all_pairs_also_with_wrong_ones(setting, seed):
    views, y = groups()
    wrong = np.random.default_rng(seed).integers(3, size=y.size)
    must, cannot = by_truth(wrong, 40, seed)
    found = model(evidence=False).fit(holes(views, setting), must_link=must, cannot_link=cannot)
    assert agree(found.labels_, must, cannot)
    assert found.n_clusters_ == 3
    must, cannot = by_truth(y, 40, seed)
    labels = model(evidence=False).fit_predict(holes(views, setting), must_link=must, cannot_link=cannot)
    assert agree(labels, must, cannot)
    assert np.bincount(labels).tolist() == sorted(np.bincount(labels), reverse=True)


def test_pairs_say_which_of_two_divisions_is_meant():
    rng = np.random.default_rng(0)
    a, b = np.arange(160) % 2, np.arange(160) // 80
    views = [np.column_stack([6.0 * a, 6.5 * b]) @ rng.normal(size=(2, d)) + rng.normal(size=(160, d)) for d in (12, 9)]
    for y in (a, b):
        must, cannot = by_truth(y, 60)
        labels = model(2, evidence=False).fit(views, must_link=must, cannot_link=cannot).labels_
        assert max(np.mean(labels == y), np.mean(labels != y)) > 0.9


@pytest.mark.parametrize(("k", "told"), [(None, False), (3, False), (3, True)])
def test_no_pairs_change_nothing_bit_for_bit(k, told):
    views, y = groups(60)
    y = few_known(y) if told else None
    plain = model(k).fit(views, y)
    for nothing in (None, [], np.empty((0, 2))):
        other = model(k).fit(views, y, must_link=nothing, cannot_link=nothing)
        np.testing.assert_array_equal(plain.labels_, other.labels_)
        np.testing.assert_array_equal(plain.label_probabilities_, other.label_probabilities_)


def test_embedding_and_completion_do_not_use_pairs():
    views, y = groups(60)
    views, (must, cannot) = holes(views), by_truth(y, 20)
    plain, other = model(evidence=False).fit(views), model(evidence=False)
    np.testing.assert_array_equal(plain.embedding_, other.fit_transform(views, must_link=must, cannot_link=cannot))
    for one, two in zip(plain.complete(views), other.complete(views), strict=True):
        np.testing.assert_array_equal(one, two)


def test_the_order_of_samples_and_pairs_changes_no_label():
    views, y = groups(80)
    views, order = holes(views, "incomplete-view"), np.random.default_rng(0).permutation(80)
    must, cannot = by_truth(np.random.default_rng(1).integers(3, size=80), 30)
    place = np.argsort(order)
    one = model().fit(views, few_known(y, 1), must_link=must[y[must[:, 0]] == y[must[:, 1]]])
    two = model().fit(
        [X[order] for X in views],
        few_known(y, 1)[order],
        must_link=place[must[y[must[:, 0]] == y[must[:, 1]]]][::-1, ::-1],
    )
    np.testing.assert_array_equal(one.labels_[order], two.labels_)
    one = model().fit(views, must_link=must, cannot_link=cannot)
    two = model().fit([X[order] for X in views], must_link=place[must][::-1], cannot_link=place[cannot][:, ::-1])
    np.testing.assert_array_equal(one.labels_[order], two.labels_)
    np.testing.assert_array_equal(one.label_probabilities_[order], two.label_probabilities_)


def test_a_pair_gives_a_known_class_to_its_other_sample():
    views, y = groups(60)
    known, other = few_known((y + 1) % 3, 2), np.flatnonzero(y == 1)[-1]
    first = np.flatnonzero(y == 0)[0]
    found = model().fit(views, known, must_link=[(first, other)], cannot_link=[(other, 57), (first, 54)])
    assert found.labels_[other] == found.labels_[first] == known[first]
    assert known[first] not in found.labels_[[54, 57]]
    assert np.mean(found.labels_ == (y + 1) % 3) > 0.9
    np.testing.assert_array_equal(found.predict(views), found.labels_)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ({"must_link": [(0, 60)]}, "pairs of samples in must_link, got 60, which is none of the 60 samples"),
        ({"cannot_link": [(-1, 3)]}, "pairs of samples in cannot_link, got -1, which is none of the 60 samples"),
        ({"must_link": [(0, "p1")]}, "got 'p1', which is none of the 60 samples; these are 0 to 59"),
        (
            {"must_link": [(0, 1, 2)]},
            r"must_link to be pairs of samples, got shape \(1, 3\); pass for example \[\(0, 1",
        ),
        ({"cannot_link": [0, 1]}, r"cannot_link to be pairs of samples, got shape \(2,\)"),
        ({"cannot_link": [(4, 4)]}, "got 4 and 4, which are the same sample"),
        (
            {"must_link": [(0, 1), (1, 2)], "cannot_link": [(5, 6), (2, 0)]},
            "got 2 and 0, which are.*joined by must_link",
        ),
        ({"y": {0: 1, 3: 2}, "must_link": [(0, 5), (5, 3)]}, "got 0 of class 1 joined with 3 of class 2"),
        ({"y": {0: 1, 3: 1}, "cannot_link": [(3, 0)]}, "got 3 and 0, which are.*of one class"),
        (
            {"cannot_link": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]},
            "that 3 clusters can keep apart, found none",
        ),
        ({"y": {0: 0, 1: 1, 2: 2}, "cannot_link": [(9, 0), (9, 1), (9, 2)]}, "that 3 clusters can keep apart"),
    ],
)
def test_wrong_pairs_are_refused_before_the_fit(pairs, words):
    views, _ = groups(60)
    y = np.full(60, -1)
    y[list(pairs.get("y", {}))] = list(pairs.get("y", {}).values())
    found = model(evidence=False).fit(views)
    before = found.labels_
    with pytest.raises(ValueError, match=words) as caught:
        found.fit(views, y, **{name: value for name, value in pairs.items() if name != "y"})
    assert "\n" not in str(caught.value)
    assert found.labels_ is before  # the last fit is still there


def test_pairs_through_samples_without_any_value():
    views, _ = groups(60)
    for X in views:
        X[[0, 30]] = np.nan
    pairs = {"must_link": [(1, 0), (0, 2), (30, 5)], "cannot_link": [(30, 8), (0, 4)]}  # 1 and 2 are of two groups
    found = model(on_empty="drop").fit(views, **pairs)
    assert found.labels_[[0, 30]].tolist() == [-1, -1]
    assert found.labels_[1] == found.labels_[2] != found.labels_[4]
    assert found.labels_[5] != found.labels_[8]
    chances = found.label_probabilities_
    assert np.isnan(chances[[0, 30]]).all()
    np.testing.assert_allclose(np.delete(chances, [0, 30], axis=0).sum(axis=1), 1.0)


def test_samples_are_named_by_their_ids():
    pd = pytest.importorskip("pandas")
    views, _ = groups(60)
    names = np.array([f"s{i:02d}" for i in range(60)])
    order = np.random.default_rng(0).permutation(60)
    frames = {"a": pd.DataFrame(views[0], index=names), "b": pd.DataFrame(views[1], index=names).iloc[order]}
    must = [("s00", "s01"), ("s01", "s05")]
    plain = model(evidence=False).fit(views, must_link=[(0, 1), (1, 5)], cannot_link=[(3, 6)])
    named = model(evidence=False).fit(frames, must_link=must, cannot_link=pd.DataFrame([("s03", "s06")]))
    np.testing.assert_array_equal(named.labels_, plain.labels_)
    short = jella.cluster(
        {name: frame.rename(index=str.upper) for name, frame in frames.items()},
        3,
        ids="strip,casefold",
        evidence=False,
        must_link=[("S00 ", "S01"), ("S01", "S05")],
        cannot_link=[("S03", "s06")],
    )
    np.testing.assert_array_equal(short.labels, plain.labels_)
    with pytest.raises(ValueError, match="got 's99', which is none of the 60 samples; these are 's00' to 's59'"):
        model().fit(frames, must_link=[("s00", "s99")])
    numbered = {name: frame.set_axis([int(one[1:]) + 7 for one in frame.index]) for name, frame in frames.items()}
    labels = model(evidence=False).fit(numbered, must_link=[("7", 8), (8.0, "12")], cannot_link=[(10, 13)]).labels_
    np.testing.assert_array_equal(labels, plain.labels_)


@pytest.mark.parametrize("landmarks", [40, 200])
def test_pairs_of_samples_that_are_no_landmarks(landmarks):
    views, y = groups(200)
    views = [np.concatenate([X, X[:20]]) for X in views]  # the last are copies of the first
    must, cannot = by_truth(np.random.default_rng(0).integers(3, size=220), 60)
    found = model(landmarks=landmarks, evidence=False).fit(views, must_link=must, cannot_link=cannot)
    assert agree(found.labels_, must, cannot)
    known = found.readout_.known
    np.testing.assert_array_equal(found.labels_[known.places], known.labels)
    free = np.setdiff1d(np.arange(200), np.concatenate([must, cannot]).ravel())
    assert len({(a, b) for a, b in zip(y[free], found.labels_[free], strict=True)}) < 9
    y[:100] = -1
    both = model(landmarks=landmarks, evidence=False).fit(views, np.append(y, y[:20]), must_link=[(0, 215)])
    np.testing.assert_array_equal(both.labels_[100:200], y[100:])
    assert both.labels_[0] == both.labels_[215]


def test_there_are_as_many_clusters_as_pairs_take():
    views = without_clusters("noise")
    cannot = [(0, 1), (1, 2), (2, 0)]
    with pytest.warns(NoClearClustersWarning, match="n_clusters_ is 3: pass n_clusters"):
        found = model(None).fit(views, cannot_link=cannot)
    assert found.n_clusters_ == found.cluster_path_.n_clusters == found.evidence_.path.n_clusters == 3
    assert agree(found.labels_, cannot_link=cannot)
    with pytest.warns(NoClearClustersWarning, match="n_clusters_ is 1: pass n_clusters"):
        assert model(None).fit(views, must_link=cannot).n_clusters_ == 1
    views, y = groups(60)
    assert model(None).fit(views, cannot_link=cannot).n_clusters_ == 3
    known = np.where(few_known(y) == 2, -1, few_known(y))
    found = model(None).fit(views, known, cannot_link=[(0, 20)])
    assert found.n_clusters_ == 2
    with pytest.raises(ValueError, match="that 2 clusters can keep apart"):
        model(None).fit(views, known, cannot_link=cannot)


def test_values_in_steps_keep_pairs(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    views = [(np.eye(3)[y] @ rng.normal(size=(3, 4)) * 3 + rng.normal(size=(120, 4))).round() for _ in range(2)]
    must, cannot = by_truth(rng.integers(3, size=120), 50)
    found = model(evidence=False).fit(views, must_link=must, cannot_link=cannot)
    assert agree(found.labels_, must, cannot)
    found.save(tmp_path / "model.jella")
    np.testing.assert_array_equal(jella.load(tmp_path / "model.jella").predict(views), found.predict(views))


def test_chunks_take_pairs():
    da = pytest.importorskip("dask.array", reason="dask arrays are not installed")
    import dask

    views, _ = groups(90)
    must, cannot = by_truth(np.random.default_rng(0).integers(3, size=90), 30)
    with dask.config.set(scheduler="sync"):
        lazy = [da.from_array(X, chunks=(45, -1)) for X in views]
        labels = model(evidence=False).fit(lazy, must_link=must, cannot_link=cannot).labels_
        assert agree(np.asarray(labels), must, cannot)


def test_a_ring_that_clusters_cannot_keep_apart_is_refused():
    views, _ = groups(60)
    ring = [(i, (i + 1) % 5) for i in range(5)]
    with pytest.raises(ValueError, match="that 2 clusters can keep apart, found none that do; increase n_clusters"):
        model(2, evidence=False).fit(views, cannot_link=ring)
    assert agree(model(3, evidence=False).fit(views, cannot_link=ring).labels_, cannot_link=ring)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_clusters_that_pairs_allow(seed):
    rng = np.random.default_rng(seed)
    classes, apart = np.array([-1, 2, -1, -1, -1]), np.array([[0, 1], [0, 2], [2, 3], [1, 4], [3, 4]])
    known = KnownGroups(np.array([0, 0, 1, 2, 3, 4, 4, -1]), classes, apart)
    distance = rng.random((8, 3)) + np.array([0, 1, 1])  # most are nearest to the same cluster
    allowed = [
        labels
        for labels in product(range(3), repeat=5)
        if labels[1] == 2 and all(labels[a] != labels[b] for a, b in apart)
    ]
    best = min(allowed, key=lambda labels: sum(distance[i, labels[g]] for i, g in enumerate(known.groups) if g >= 0))
    np.testing.assert_array_equal(known.assigned(distance), [*np.array(best)[known.groups[:7]], distance[7].argmin()])


def test_groups_are_numbered_by_class_and_then_as_samples_come():
    known = KnownGroups(np.array([2, 0, -1, 1, 0, 3]), np.array([-1, -1, 1, -1]), np.array([[1, 0], [0, 1], [0, 3]]))
    some = known.take(np.array([3, 4, 0, 2]))
    assert some.groups.tolist() == [1, 2, 0, -1]
    assert some.classes.tolist() == [1, -1, -1]
    assert some.apart.tolist() == [[1, 2]]


def test_edges_between_groups_that_are_apart_are_removed():
    known = KnownGroups(np.array([2, 0, 0, 1, -1]), np.full(3, -1), np.array([[0, 1]]))
    tied = _with_ties(np.ones((5, 5)), known).toarray()
    assert tied[1, 3] == tied[3, 1] == tied[2, 3] == 0.0
    assert tied[1, 2] == tied[2, 1] > 1.0
    assert tied[0, 3] == tied[4, 3] == tied[0, 1] == 1.0


class TestCommand:
    @pytest.fixture
    def folder(self, tmp_path):
        pd = pytest.importorskip("pandas")
        views, _ = groups(60)
        for name, X in zip("ab", views, strict=True):
            pd.DataFrame(X, index=[f"p{i:02d}" for i in range(60)]).add_prefix(name).to_csv(tmp_path / f"{name}.csv")
        return tmp_path

    def run(self, folder, *more):
        words = ["cluster", folder / "a.csv", folder / "b.csv", "-k", 3, "-o", folder / "out", "--no-report", "--quiet"]
        return main([*map(str, words), *more])

    @pytest.mark.parametrize("header", ["one,other\n", ""])
    def test_files_of_pairs(self, folder, header):
        pd = pytest.importorskip("pandas")
        (folder / "same.csv").write_text(f"{header}p00,p01\np01,p02\n")
        (folder / "other.tsv").write_text(f"{header.replace(',', chr(9))}p03\tp06\np00\tp03\n")
        words = ["--must-link", str(folder / "same.csv"), "--cannot-link", str(folder / "other.tsv")]
        assert self.run(folder, *words, "--set", "evidence=False", "--no-calibrate") == 0
        labels = pd.read_csv(folder / "out" / "labels.csv", index_col=0)["cluster"]
        assert labels["p00"] == labels["p01"] == labels["p02"]
        assert labels["p06"] != labels["p03"] != labels["p00"]
        assert json.loads((folder / "out" / "run.json").read_text())["summary"]["clusters"] == 3

    @pytest.mark.parametrize(
        ("text", "more", "words"),
        [
            ("p00,p99\n", [], "got 'p99', which is none of the 60 samples"),
            ("p00,p01\np00,p99\n", [], "got 'p99', which is none of the 60 samples"),
            ("a,b\nx,y\n", [], "got 'x', which is none of the 60 samples"),
            ("a,b,c\np00,p01,p02\n", [], "expected two columns of ids in same.csv, got 3"),
            (
                "a,b\np00,p01\n",
                ["--method", "mvliv"],
                "expected the method sparse-bdr with pairs of samples, got mvliv",
            ),
            ("p00,p01\n", ["--dask"], "got --must-link; leave it out"),
        ],
    )
    def test_wrong_pairs_are_refused(self, folder, capsys, text, more, words):
        (folder / "same.csv").write_text(text)
        assert self.run(folder, "--must-link", str(folder / "same.csv"), *more) == 2
        assert words in capsys.readouterr().err
        assert not (folder / "out").exists()
