"""Data sets by name: found in a folder, cut to their description, and compared with it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from jella.datasets import available, find, load, load_digits_views
from jella.datasets.registry import REGISTRY
from jella.io import DataError

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from real_sets import NATURAL, SETS

PAPER = {
    "MSRC-v1": (210, 7, [200, 256]),
    "Yale": (165, 15, [50, 512, 256]),
    "Corel5k": (4999, 50, [512, 1000, 100]),
    "Caltech7": (441, 7, [200, 200, 256]),
    "Trecvid": (1078, 5, [1894, 165]),
    "PIE": (11554, 68, [50, 256]),
}


def save_cells(file: Path, rng, n: int, widths: list[int], n_classes: int) -> list[np.ndarray]:
    views = [rng.standard_normal((n, d)) for d in widths]
    cells = np.empty((1, len(views)), dtype=object)
    cells[0, :] = views
    file.parent.mkdir(parents=True, exist_ok=True)
    savemat(file, {"X": cells, "Y": np.arange(n) % n_classes + 1})
    return views


def test_the_registry_describes_the_sets_of_the_paper():
    described = {e.name: (e.n_samples, e.n_classes, list(e.views.values())) for e in REGISTRY.values() if e.in_paper}
    assert described == PAPER


@pytest.mark.parametrize("name", ["digits", "embedded"])
def test_the_embedded_set(name):
    found, bunch = load(name), load_digits_views()
    assert list(found.views) == bunch.view_names
    np.testing.assert_array_equal(found.views["pixels"], bunch.data["pixels"])
    np.testing.assert_array_equal(found.labels, bunch.target)


def test_views_are_picked_by_width_in_the_described_order(tmp_path, rng):
    views = save_cells(tmp_path / "deep" / "er" / "MSRCv1.mat", rng, 210, [48, 256, 100, 200], 7)
    save_cells(tmp_path / "msrc_other.mat", rng, 210, [24, 576], 7)
    found = load("msrc-v1", tmp_path)
    assert list(found.views) == ["sift200", "lbp256"]
    np.testing.assert_array_equal(found.views["sift200"], views[3])
    assert "Names: X4 is sift200, X2 is lbp256." in found.notes
    assert "Not part of this set, left out: X1, X3." in found.notes
    assert not any("the paper's" in note for note in found.notes)
    assert find("MSRC-v1", tmp_path) == tmp_path / "deep" / "er" / "MSRCv1.mat"


def test_what_differs_from_the_paper_is_said(tmp_path, rng):
    save_cells(tmp_path / "PIE" / "faces.mat", rng, 60, [256, 50], 6)
    notes = load("PIE", tmp_path).notes
    assert "PIE has 60 samples, the paper's 11554." in notes
    assert "PIE has 6 classes, the paper's 68." in notes


def test_the_file_of_the_described_size_is_preferred(tmp_path, rng):
    save_cells(tmp_path / "yale_a.mat", rng, 30, [50, 512, 256], 15)
    whole = save_cells(tmp_path / "yale_whole.mat", rng, 165, [50, 512, 256], 15)
    save_cells(tmp_path / "yale_c.mat", rng, 400, [50, 512, 256], 15)
    np.testing.assert_array_equal(load("Yale", tmp_path).views["gist512"], whole[1])


def test_views_of_one_width_are_told_by_name(tmp_path, rng):
    views = {name: rng.standard_normal((441, d)) for name, d in (("surf200", 200), ("sift200", 200), ("lbp256", 256))}
    np.savez(tmp_path / "caltech7.npz", y=np.arange(441) % 7, **views)
    found = load("Caltech7", tmp_path)
    assert list(found.views) == ["sift200", "surf200", "lbp256"]
    for name, X in found.views.items():
        np.testing.assert_array_equal(X, views[name])


def test_a_set_without_labels_is_given_and_said(tmp_path, rng):
    np.savez(tmp_path / "trecvid.npz", text=rng.random((8, 1894)), colour=rng.random((8, 165)))
    found = load("Trecvid", tmp_path)
    assert found.labels is None
    assert "Trecvid has no labels in this file." in found.notes


def test_what_is_available_and_why_not(tmp_path, rng, monkeypatch):
    save_cells(tmp_path / "msrc.mat", rng, 210, [256, 200], 7)
    save_cells(tmp_path / "wiki.mat", rng, 20, [128, 11], 3)
    (tmp_path / "yale.npz").write_bytes(b"no archive")
    monkeypatch.setenv("JELLA_DATA", str(tmp_path))
    states = {state.name: state for state in available()}
    assert states["MSRC-v1"].path == tmp_path / "msrc.mat"
    assert "210 samples, 2 views" in repr(states["MSRC-v1"])
    assert "expected a view 'text' of 10 features, got views of [128, 11]" in states["Wikipedia"].reason
    assert "damaged" in states["Yale"].reason
    assert "no file with this name" in states["Trecvid"].reason
    assert [s.path for s in states.values()].count(None) == len(states) - 1
    monkeypatch.delenv("JELLA_DATA")
    assert "set JELLA_DATA" in available()[1].reason
    assert find("MSRC-v1") is None


def test_names_that_are_not_known(tmp_path):
    with pytest.raises(DataError, match=r"expected one of \['digits', 'MSRC-v1'.*got 'mnist'"):
        load("mnist")
    with pytest.raises(DataError, match=r"Trecvid \(shots of television news.*no file with this name"):
        load("Trecvid", tmp_path)
    with pytest.raises(DataError, match="is not a folder"):
        load("Trecvid", tmp_path / "none")
    with pytest.raises(DataError, match="which does not exist"):
        load("mnist.mat")


def test_a_path_is_read_as_it_is(tmp_path, rng):
    views = save_cells(tmp_path / "any.mat", rng, 9, [4, 3], 2)
    found = load(tmp_path / "any.mat")
    np.testing.assert_array_equal(found.views["X1"], views[0])


def _dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("name", [*SETS, *NATURAL])
def test_real_sets_are_those_of_the_benchmarks(data_folder, name):
    if name == "breast.TCGA":
        pytest.importorskip("rdata")
    try:
        views, labels = {**SETS, **NATURAL}[name](data_folder)
    except FileNotFoundError as error:
        pytest.skip(f"no such file: {error.filename}")
    found = load(name, data_folder)
    np.testing.assert_array_equal(found.labels, labels)
    assert list(found.views) == [view for view in views if view in REGISTRY[name].views]
    for view, X in found.views.items():
        assert sparse.issparse(X) == sparse.issparse(views[view])
        np.testing.assert_array_equal(_dense(X), _dense(views[view]))
