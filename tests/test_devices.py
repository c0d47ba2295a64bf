"""The same fit in every array library and on every device, and no copies to the host between sweeps."""

from __future__ import annotations

import importlib
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import jella
from jella.datasets import load_digits_views, make_incomplete

METHODS = {
    "MVLIV": {},
    "PVC": {"max_iter": 10},
    "DAIMC": {"max_iter": 10},
    "IMLBDR": {"basis": "orthonormal", "solver": "basic", "max_iter": 10},
    "SparseBDR": {"solver": "basic"},
}
#: library, device
PLACES = [
    pytest.param("array_api_strict", None, id="strict"),
    pytest.param("torch", "cpu", id="torch"),
    pytest.param("torch", "cuda", id="torch-cuda", marks=pytest.mark.gpu),
    pytest.param("cupy", None, id="cupy", marks=pytest.mark.gpu),
]


def holed(n=600, setting="incomplete-view", dtype=np.float64):
    views = {name: X[:n].astype(dtype) for name, X in load_digits_views().data.items()}
    return make_incomplete(views, 0.3, setting, random_state=0)


def moved(views, library, device):
    xp = pytest.importorskip(library)
    if library == "torch" and device == "cuda" and not xp.cuda.is_available():
        pytest.skip("no CUDA device")
    if library == "cupy":
        importlib.import_module("cupyx.scipy.sparse")
    options = {"device": device} if device else {}
    return {name: xp.asarray(X, **options) for name, X in views.items()}


def history(method, views):
    return getattr(jella, method)(10, random_state=0, **METHODS[method]).fit(views).result_.objective


@pytest.mark.parametrize(("library", "device"), PLACES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_is_the_same_everywhere(method, library, device):
    views = holed()
    here, there = history(method, views), history(method, moved(views, library, device))
    assert here.size == there.size
    assert np.abs(there / here - 1).max() < 1e-8


@pytest.mark.parametrize(("library", "device"), PLACES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_single_precision_is_close_everywhere(method, library, device):
    views = holed(dtype=np.float32)
    here, there = history(method, views), history(method, moved(views, library, device))
    both = min(here.size, there.size)
    assert np.abs(there[:both] / here[:both] - 1).max() < 1e-4


@pytest.mark.parametrize(("library", "device"), [place for place in PLACES if place.values[0] != "array_api_strict"])
def test_what_comes_out_is_of_the_kind_that_went_in(library, device):
    views = moved(holed(200), library, device)
    model = jella.SparseBDR(10, random_state=0).fit(views)
    kind = type(next(iter(views.values())))
    completed = model.complete(views)
    assert isinstance(model.embedding_, kind)
    assert all(isinstance(X, kind) for X in completed.values())
    assert model.embedding_.device == next(iter(views.values())).device
    known = ~np.isnan(jella.numerics.arrays.to_numpy(views["pixels"]))
    before, after = jella.numerics.arrays.to_numpy(views["pixels"]), jella.numerics.arrays.to_numpy(completed["pixels"])
    assert (before[known] == after[known]).all()
    plain = jella.SparseBDR(10, random_state=0).fit(holed(200))
    assert adjusted_rand_score(plain.predict(holed(200)), model.predict(views)) > 0.99


@pytest.mark.parametrize("landmarks", [None, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_may_be_of_another_library_than_the_model(landmarks, dtype):
    torch = pytest.importorskip("torch")
    views, new = holed(150), {name: X[150:190].astype(dtype) for name, X in holed(190).items()}
    asked = {name: torch.asarray(X) for name, X in new.items()}
    for mine, others in ((views, asked), (moved(views, "torch", "cpu"), new), (moved(views, "torch", "cpu"), asked)):
        model = jella.SparseBDR(10, landmarks=landmarks, calibrate=False, random_state=0).fit(mine)
        kind, as_mine = type(mine["pixels"]), {name: np.asarray(X, dtype=float) for name, X in new.items()}
        same = as_mine if kind is np.ndarray else moved(as_mine, "torch", "cpu")
        assert isinstance(model.transform(others), kind)
        tight = 1e-9 if dtype == np.float64 or kind is not np.ndarray else 1e-4
        np.testing.assert_allclose(model.transform(others), model.transform(same), atol=tight)
        assert np.mean(model.predict(others) == model.predict(same)) >= (1.0 if tight < 1e-8 else 0.95)
        assert model.score(others) == pytest.approx(model.score(same), rel=1e-3)
        for name, X in model.complete(others).items():
            assert type(X) is type(others[name])
            known = ~np.isnan(new[name])
            assert (np.asarray(X)[known] == new[name][known]).all()
        assert model.predict({name: X[:5] for name, X in views.items()}).tolist() == model.labels_[:5].tolist()


@contextmanager
def counted_copies(monkeypatch, least, owner="jella.estimators.framework", step="solve"):
    """Sizes of the tensors of numbers that went to NumPy in a step, of those with `least` entries or more."""
    torch = pytest.importorskip("torch")
    seen, active = [], []
    place = importlib.import_module(owner)
    solve = getattr(place, step)
    original = {name: getattr(torch.Tensor, name) for name in ("__array__", "numpy", "cpu", "tolist")}

    def watched(name):
        def call(tensor, *args, **options):
            if active and tensor.numel() >= least and tensor.dtype.is_floating_point:
                seen.append((name, tuple(tensor.shape)))
            return original[name](tensor, *args, **options)

        return call

    def solving(*args, **options):
        active.append(True)
        try:
            return solve(*args, **options)
        finally:
            active.pop()

    monkeypatch.setattr(place, step, solving)
    for name in original:
        monkeypatch.setattr(torch.Tensor, name, watched(name))
    yield seen


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_nothing_goes_to_the_host_between_sweeps(method, monkeypatch):
    views = moved(holed(), "torch", "cpu")
    with counted_copies(monkeypatch, least=600) as seen:
        history(method, views)
    assert seen == []


@pytest.mark.parametrize("method", ["IMLBDR", "SparseBDR"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_an_accelerator_does_otherwise_changes_nothing(method, monkeypatch):
    pytest.importorskip("torch")
    views = holed()
    here = history(method, views)
    for place in ("numerics.arrays", "problem.terms.sparse_block_diagonal"):
        monkeypatch.setattr(f"jella.{place}.on_accelerator", lambda array: type(array).__module__ == "torch")
    there = history(method, moved(views, "torch", "cpu"))
    assert np.abs(there / here - 1).max() < 1e-8


@pytest.mark.parametrize("setting", ["missing-view", "incomplete-view"])
@pytest.mark.parametrize("landmarks", ["auto", 400])
def test_a_whole_fit_brings_little_to_the_host(setting, landmarks, monkeypatch):
    n = 700
    monkeypatch.setattr("jella.graphs.spectral.DIRECT", 100)
    monkeypatch.setattr("jella.numerics.kmeans.COMPARED", 100)
    monkeypatch.setattr("jella.numerics.kmeans.PER_CLUSTER", 10)
    views = moved(holed(n, setting), "torch", "cpu")
    least = min(X.shape[1] for X in views.values())
    model = jella.SparseBDR(10, n_neighbors=25, random_state=0, landmarks=landmarks)
    everything = type("Step", (), {"fit": staticmethod(lambda: model.fit(views))})
    monkeypatch.setitem(sys.modules, "whole_fit", everything)
    with counted_copies(monkeypatch, n * least, "whole_fit", "fit") as large:
        everything.fit()
    assert [shape for _, shape in large if len(shape) == 2] == []  # no view, not even the smallest
    with counted_copies(monkeypatch, n, "whole_fit", "fit") as rows:
        everything.fit()
    # the order of samples that ask for loans, the affinity and what it comes from; no graph and no eigenvectors
    W = tuple(model.result_.blocks.embedding.shape)
    rows = [shape for name, shape in rows if name == "__array__" and shape[0] >= W[0]]
    assert [shape for shape in rows if len(shape) == 2] in ([], [W] * 3)
    if landmarks == "auto":  # small components of a graph of few samples are decomposed on the host
        assert sum(shape[0] > n for shape in rows) <= 2


@pytest.mark.parametrize("setting", ["missing-view", "incomplete-view"])
def test_landmarks_are_the_same_everywhere(setting):
    views = holed(700, setting)
    here = jella.SparseBDR(10, random_state=0, landmarks=400).fit(views)
    there = jella.SparseBDR(10, random_state=0, landmarks=400).fit(moved(views, "torch", "cpu"))
    np.testing.assert_array_equal(there.labels_, here.labels_)
    np.testing.assert_allclose(np.asarray(there.embedding_), here.embedding_, atol=1e-6)
    new = {name: X[:60] * 1.001 for name, X in views.items()}
    np.testing.assert_array_equal(there.predict(moved(new, "torch", "cpu")), here.predict(new))


def test_the_counter_counts(monkeypatch):
    with counted_copies(monkeypatch, least=600) as seen:
        import torch

        views = moved(holed(), "torch", "cpu")
        model = jella.SparseBDR(10, random_state=0, callback=lambda progress: np.asarray(torch.ones(600)).sum() < 0)
        model.fit(views)
    assert seen != []
