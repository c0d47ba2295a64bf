"""The runner of the leaderboard, on a small made data set."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from leaderboard.__main__ import chosen
from leaderboard.case import Case, Figure
from leaderboard.page import draw
from leaderboard.run import all_cases, all_peers, drop_older, fill, scores, shuffled
from leaderboard.scaling import side_by_side, standardised, unit_samples
from measuring import load
from sample_order import clusters, made_views

PEER = "mean-fill + k-means"


def made(data, repeat):
    """Two views of three far classes; the last sample has no value."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    views = [rng.normal(size=(60, 5)) + 50 * np.eye(3, 5)[y] for _ in range(2)]
    views[0][repeat] = np.nan
    for X in views:
        X[-1] = np.nan
    return views, y


CASE = Case("made", made, "One sample lacks a view.", repeats=2, published=(Figure("PIC", 90.0, None),), differs="All.")


@pytest.fixture(scope="module")
def peers():
    return all_peers()


@pytest.fixture(scope="module")
def filled(tmp_path_factory, peers):
    file = tmp_path_factory.mktemp("board") / "results.jsonl"
    fill(file, [peers[PEER]], [CASE], Path())
    return file


def test_each_cell_is_appended_once(filled, peers, capsys):
    before = filled.read_text()
    results = load(filled)
    assert [(one["set"], one["peer"], one["repeat"]) for one in results] == [("made", PEER, 0), ("made", PEER, 1)]
    fill(filled, [peers[PEER]], [CASE], Path())
    assert filled.read_text() == before
    assert not capsys.readouterr().out


def test_shuffled_samples_keep_their_classes(filled):
    """The classes are far from each other: another order of labels and classes would lose the agreement."""
    for one in load(filled):
        assert one["acc_known"] == one["nmi_known"] == one["ari_known"] == 1.0
        assert one["acc"] == pytest.approx(59 / 60)
        assert (one["n"], one["empty"], one["clusters"]) == (60, 1, 3)


def test_shuffling_is_seeded_and_the_same_in_all_views():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20)
    (first, second), order = shuffled([X, X + 1], y, 3)
    np.testing.assert_array_equal(first[:, 0], 2 * order)
    np.testing.assert_array_equal(second, first + 1)
    np.testing.assert_array_equal(order, shuffled([X], y, 3)[1])
    assert not np.array_equal(order, y)


def test_a_result_says_where_it_comes_from(filled):
    for one in load(filled):
        assert {"numpy", "scikit-learn", "python"} <= set(one["versions"])
        assert all(one[what] for what in ("source", "revision", "machine"))
        assert one["seed"] == one["repeat"]


def test_rows_of_another_source_are_dropped(filled, peers, tmp_path):
    file = tmp_path / "results.jsonl"
    first, second = load(filled)
    other = {**second, "peer": "another"}
    file.write_text("".join(json.dumps(one) + "\n" for one in (first, {**second, "source": "old"}, other)))
    assert drop_older(file, [peers[PEER]]) == 1
    assert load(file) == [first, other]


def test_failures_are_shown_and_not_tried_again(peers, tmp_path):
    def broken(data, repeat):
        views, y = made(data, repeat)
        return [np.full_like(X, np.inf) for X in views], y

    file = tmp_path / "results.jsonl"
    fill(file, [peers[PEER]], [Case("broken", broken, "Nothing.")], Path())
    fill(file, [peers["iMML NEMO"]], [Case("entries", made, "Entries.", entries=True)], Path())
    errors = [one["error"] for one in load(file)]
    assert errors[0].startswith("ValueError")
    assert errors[1:] == ["does not apply: single entries are missing"]


def test_a_peer_without_its_environment_says_so(peers, tmp_path, monkeypatch):
    monkeypatch.setattr(peers[PEER], "ENVIRONMENT", ".venv-of-nobody")
    fill(tmp_path / "results.jsonl", [peers[PEER]], [CASE], Path())
    (result,) = load(tmp_path / "results.jsonl")
    assert "FileNotFoundError" in result["error"]


def test_the_page_has_results_published_figures_and_what_differs(filled, peers):
    page = draw(load(filled), peers, {"made": CASE}, ["| the example |"])
    row = next(line for line in page.splitlines() if line.startswith(f"| {PEER} |") and "±" in line)
    assert "**100.0 ± 0.0**" in row
    assert "1 of the 60 samples are left without any value." in page
    for text in ("| *PIC (published)* | 90.0 | – |", "published runs: all.", "| the example |", "IJCAI 2019"):
        assert text in page


def test_every_peer_and_every_case_is_declared_fully(peers):
    assert len(peers) >= 15
    for peer in peers.values():
        assert peer.PACKAGES
        assert peer.HOW
        assert isinstance(peer.ENTRIES, bool)
        assert callable(peer.labels)
    cases = all_cases()
    assert len(cases) >= 10
    assert all(case.differs for case in cases.values() if case.published)
    assert [peer.NAME for peer in chosen(peers, ["KNNImputer + S"])] == [n for n in peers if n.startswith("KNNImputer")]
    with pytest.raises(SystemExit):
        chosen(peers, ["nobody"])


def test_scores_count_samples_without_values():
    y, known = np.array([0, 0, 1, 1]), np.array([True, True, True, False])
    found = scores(y, known, np.array([5, 5, 7]))
    assert (found["acc"], found["acc_known"]) == (0.75, 1.0)
    gift = scores(np.array([0, 0, 1, 1, 1]), np.array([True, True, True, False, False]), np.array([5, 6, 6]))
    assert (gift["acc"], gift["acc_known"]) == (pytest.approx(0.4), pytest.approx(2 / 3, abs=1e-6))
    assert "acc_known" not in scores(y, np.ones(4, dtype=bool), np.array([0, 0, 1, 1]))


def test_scalings_keep_missing_values():
    views = [np.array([[3.0, 4.0], [np.nan, np.nan], [0.0, 0.0]]), np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]])]
    np.testing.assert_allclose(unit_samples(views)[0], [[0.6, 0.8], [np.nan, np.nan], [0.0, 0.0]])
    np.testing.assert_allclose(standardised(views)[1], [[-1.0, 0.0], [1.0, 0.0], [np.nan, 0.0]])
    assert side_by_side([views[0], np.full((3, 2), np.nan)]).shape == (3, 2)


def test_a_transform_along_samples_depends_on_their_order():
    views, y = made_views(np.random.default_rng(0))
    order = np.random.default_rng(1).permutation(y.size)

    def same(shrink):
        moved = clusters([X[order] for X in views], shrink)
        there = clusters(views, shrink)[order]
        return np.mean((moved[:, None] == moved) == (there[:, None] == there))

    assert same(False) > same(True) + 0.1


@pytest.mark.parametrize("name", list(all_cases()))
def test_data_of_a_case_are_read(data_folder, name):
    case = all_cases()[name]
    try:
        views, y = case.read(data_folder, case.repeats - 1)
    except FileNotFoundError as error:
        pytest.skip(f"not in JELLA_DATA: {error.filename}")
    assert all(X.shape[0] == y.size and X.dtype == np.float64 for X in views)
    missing = [np.isnan(X) for X in views]
    assert any(mask.any() for mask in missing)
    assert case.entries == any((mask.any(axis=1) & ~mask.all(axis=1)).any() for mask in missing)
