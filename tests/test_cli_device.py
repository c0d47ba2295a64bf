"""--device: the same files as without it, from fits in PyTorch."""

from __future__ import annotations

import json
import sys
import zipfile

import numpy as np
import pytest
from scipy import sparse

import jella
from jella.cli.main import main
from jella.datasets import load_digits_views, make_incomplete
from jella.estimators.catalogue import methods
from jella.estimators.on_device import Device, on_host
from jella.io import read
from jella.numerics.arrays import to_numpy

pd = pytest.importorskip("pandas")
torch = pytest.importorskip("torch")

PLACES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
#: what may be missing -> a setting that makes it so
SETTINGS = {"entries": "incomplete-view", "views": "missing-view"}


@pytest.fixture(params=PLACES)
def device(request):
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return Device.named(request.param)


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Two views of 90 digits as CSV tables: no sample order in common, each lacks samples and cells."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    for name, rows in (("pixels", np.arange(75)), ("fourier", np.arange(20, 90))):
        order = rng.permutation(rows)
        values = load_digits_views().data[name][order]
        values = np.where(rng.random(values.shape) < 0.1, np.nan, values)
        columns = [f"{name} {j}" for j in range(values.shape[1])]
        names = pd.Index([f"digit {i}" for i in order], name="sample")
        pd.DataFrame(values, index=names, columns=columns).to_csv(folder / f"{name}.csv")
    return folder


def digits(setting="incomplete-view", n=60, dtype=np.float64):
    views = {name: X[:n].astype(dtype) for name, X in load_digits_views().data.items()}
    return make_incomplete(views, 0.3, setting, random_state=0) if setting else views


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def both(capsys, tmp_path, *words):
    """Folders of the same run without and with --device cpu."""
    places = tmp_path / "without", tmp_path / "with"
    for place, more in zip(places, ((), ("--device", "cpu")), strict=True):
        code, _, err = run(capsys, *words, "-o", place, *more)
        assert code == 0, err
    return places


def kinds_of_values(path):
    """The description of a saved model, numbers left out."""
    with zipfile.ZipFile(path) as archive:
        description = json.loads(archive.read("model.json"))

    def shape(node):
        if isinstance(node, dict):
            return {name: shape(part) for name, part in node.items()}
        if isinstance(node, list):
            return [shape(part) for part in node]
        return "number" if isinstance(node, float) else node

    return shape({name: description[name] for name in ("class", "parameters", "fitted")})


def assert_same_views(one, other, tol=1e-6):
    assert list(one.views) == list(other.views)
    for name, X in one.views.items():
        Y = other.views[name]
        assert type(X) is type(Y)
        if hasattr(X, "index"):
            assert X.index.equals(Y.index)
            assert X.columns.equals(Y.columns)
            assert X.dtypes.equals(Y.dtypes)
        np.testing.assert_allclose(np.asarray(X), np.asarray(Y), rtol=0, atol=tol)


def test_cluster_writes_the_same_files_from_tables(capsys, tables, tmp_path):
    pytest.importorskip("plotly")
    without, there = both(capsys, tmp_path, "cluster", tables, "-k", 4, "--quiet")
    assert sorted(p.name for p in there.iterdir()) == sorted(p.name for p in without.iterdir())
    assert (there / "labels.csv").read_bytes() == (without / "labels.csv").read_bytes()
    embeddings = [pd.read_csv(place / "embedding.csv", index_col="sample") for place in (without, there)]
    pd.testing.assert_frame_equal(*embeddings, rtol=0, atol=1e-6)
    assert_same_views(read(without / "completed"), read(there / "completed"))
    for name in ("pixels", "fourier"):
        before, after = (pd.read_csv(f / f"{name}.csv", index_col="sample") for f in (tables, there / "completed"))
        known = before.notna().to_numpy()
        assert (after.loc[before.index].to_numpy()[known] == before.to_numpy()[known]).all()
    assert kinds_of_values(there / "model.jella") == kinds_of_values(without / "model.jella")
    assert "fourier 3" in (there / "report.html").read_text(encoding="utf-8")


def test_transform_takes_the_model_that_was_fitted_on_a_device(capsys, tables, tmp_path):
    without, there = both(capsys, tmp_path, "cluster", tables, "-k", 4, "--no-report", "--quiet")
    found = []
    for place in (without, there):
        new = tmp_path / f"new {place.name}"
        assert run(capsys, "transform", place, tables / "fourier.csv", "-o", new, "--quiet")[0] == 0
        found.append(pd.read_csv(new / "embedding.csv", index_col="sample"))
    pd.testing.assert_frame_equal(*found, rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_complete_writes_the_same_values_and_errors_from_arrays(capsys, tmp_path, dtype):
    views = digits(dtype=dtype)
    np.savez(tmp_path / "digits.npz", **views)
    words = ("--method", "mvliv", "--set", "n_components=3", "--set", "max_iter=10", "--set", "tol=0.0", "--quiet")
    without, there = both(capsys, tmp_path, "complete", tmp_path / "digits.npz", *words)
    completed = read(there / "completed" / "digits.npz")
    assert_same_views(read(without / "completed" / "digits.npz"), completed, 1e-6 if dtype is np.float64 else 1e-3)
    for name, X in views.items():
        assert completed.views[name].dtype == dtype
        assert np.array_equal(completed.views[name][~np.isnan(X)], X[~np.isnan(X)])
    here, other = (json.loads((place / "run.json").read_text())["summary"] for place in (without, there))
    assert other.pop("device").startswith("cpu, torch ")
    assert other["filled"] == here["filled"]
    assert other["mean_error"] == pytest.approx(here["mean_error"], rel=1e-5)
    assert other["error"] == pytest.approx(here["error"], rel=1e-6 if dtype is np.float64 else 1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "method", [method for name, method in methods().items() if name != "RAMC"], ids=lambda m: m.name
)
def test_every_method_comes_back_as_a_model_of_the_host(method, device, tmp_path):
    names = pd.Index([f"s{i}" for i in range(40)])
    views = {
        name: pd.DataFrame(X[:, :15], index=names).add_prefix("f")
        for name, X in digits(SETTINGS[method.can.missing], n=40).items()
    }
    settings = {"n_clusters": 3, "max_iter": 3, "random_state": 0}
    model = method.kind(**{name: value for name, value in settings.items() if name in method.kind().get_params()})
    there, here = device.fit(model, views), model.fit(views)
    there.save(tmp_path / "model.jella")
    here.save(tmp_path / "host.jella")
    if device.place.type == "cpu":
        assert kinds_of_values(tmp_path / "model.jella") == kinds_of_values(tmp_path / "host.jella")
    assert there.feature_names_in_.tolist() == here.feature_names_in_.tolist()
    assert there.sample_names_in_.equals(names)
    for name in ("embedding_", "labels_"):
        if hasattr(here, name):
            assert type(getattr(there, name)) is np.ndarray
            np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=0, atol=1e-6)
    np.testing.assert_allclose(there.transform(views), here.transform(views), rtol=0, atol=1e-6)


def test_the_fit_runs_there(device, monkeypatch):
    seen = []
    note = jella.MVLIV._prepare

    def prepare(model, *args, **options):
        prepared = note(model, *args, **options)
        seen.extend(view.X for view in prepared.scaled)
        return prepared

    monkeypatch.setattr(jella.MVLIV, "_prepare", prepare)
    model = device.fit(jella.MVLIV(3, random_state=0), digits(dtype=np.float32))
    assert {(X.device.type, X.dtype) for X in seen} == {(device.place.type, torch.float32)}
    assert model.embedding_.dtype == np.float32
    assert "_read" not in vars(model)


def test_the_model_and_the_views_that_were_given_stay_as_they_are():
    views, model = digits(), jella.SparseBDR(3, random_state=0)
    before = {name: X.copy() for name, X in views.items()}
    for X in views.values():
        X.flags.writeable = False
    Device.named("cpu").fit(model, views)
    assert not hasattr(model, "embedding_")
    assert all(np.array_equal(views[name], X, equal_nan=True) for name, X in before.items())


def test_what_attributes_share_on_the_device_they_share_on_the_host(device):
    model = device.fit(jella.MVLIV(n_components=3, random_state=0), digits())
    assert model.embedding_ is model.result_.blocks.embedding
    assert all(a is b for a, b in zip(model.readout_.bases, model.bases_.values(), strict=True))
    assert on_host(model).embedding_ is not model.embedding_


def test_tensors_are_the_views_on_all_samples_in_the_order_of_a_fit(tables, device):
    dataset = read(tables)
    tensors, aligned = device.tensors(dataset.views), jella.views.read_views(dataset.views)
    assert list(tensors) == list(dataset.views)
    for view in aligned:
        expected = dataset.views[view.name].reindex(aligned.sample_names).to_numpy()
        assert np.array_equal(to_numpy(tensors[view.name]), expected, equal_nan=True)
        assert tensors[view.name].device.type == device.place.type


def test_refusals_name_samples_as_on_the_host(device):
    frame = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": [2.0, 3.0, np.nan]}, index=["Ann", "Bo", "Cy"])
    with pytest.raises(ValueError, match="sample 'Cy' is missing in every view"):
        device.fit(jella.MVLIV(n_components=1), {"only": frame})


def test_a_device_without_enough_memory_is_one_sentence(monkeypatch):
    def full(*args, **options):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate a lot")

    monkeypatch.setattr(jella.MVLIV, "_solve", full)
    with pytest.raises(ValueError, match="expected views and model to fit into the memory of cpu, got more; leave"):
        Device.named("cpu").fit(jella.MVLIV(n_components=1), digits())


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "meta", ""])
def test_devices_that_are_not_there_are_refused_before_anything_is_read(capsys, tmp_path, name):
    code, out, err = run(capsys, "cluster", "no-file.csv", "-k", 3, "-o", tmp_path / "out", "--device", name)
    assert (code, out, list(tmp_path.iterdir())) == (2, "", [])
    assert f"expected a device of this machine with double precision, got {name!r}; pass one of cpu" in err
    assert len(err.strip().splitlines()) == 1


def test_without_torch_the_way_to_install_it_is_said(capsys, tables, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = run(capsys, "complete", tables, "-o", tmp_path / "out", "--device", "cuda")
    assert code == 2
    assert "pip install 'jella[torch]'" in err
    assert len(err.strip().splitlines()) == 1


def test_sparse_views_are_refused_by_name(device):
    views = {"dense": digits(None)["fourier"], "counts": sparse.eye_array(60, format="csr")}
    with pytest.raises(ValueError, match="expected dense views on a device, got view 'counts', which is sparse; leave"):
        device.fit(jella.MVLIV(n_components=2), views)


def test_a_method_that_computes_on_the_host_alone_is_refused(capsys, tmp_path):
    np.savez(tmp_path / "digits.npz", **digits(None))
    words = ("cluster", tmp_path / "digits.npz", "--method", "ramc", "-k", 3, "-o", tmp_path / "out")
    code, _, err = run(capsys, *words, "--device", "cpu")
    assert code == 2
    assert "expected a method that runs on devices, got RAMC" in err
