"""MuData and AnnData are read and completed as DataFrames of the same numbers; results are written into a MuData."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from common import make, never_pulling
from scipy import sparse

import jella
from jella.estimators.base import BaseMultiView
from jella.model_selection import HeldOut, held_out_error, search, select_n_clusters, select_rank
from jella.numerics.arrays import to_numpy
from jella.views import read_views

reason = "mudata is not installed: pip install 'jella[mudata]'"
mudata = pytest.importorskip("mudata", reason=reason)
anndata = pytest.importorskip("anndata", reason=reason)
pd = pytest.importorskip("pandas", reason=reason)

N = 40
PUBLIC = [getattr(jella, name) for name in jella.__all__]
METHODS = [thing for thing in PUBLIC if isinstance(thing, type) and issubclass(thing, BaseMultiView)]
QUICK = {"n_clusters": 3, "n_components": 3, "random_state": 0, "tol": 0, "max_iter": 5, "n_init": 2, "n_neighbors": 5}


@pytest.fixture(autouse=True)
def _behaviour_of_mudata_to_come():
    """Else every MuData made here warns that the default will change."""
    with never_pulling(mudata):
        yield


def annotated(values, cells, prefix):
    """One modality with annotations of every kind."""
    n, d = values.shape
    obs = pd.DataFrame({"depth": np.arange(n), "good": np.arange(n) % 2 == 0, "batch": ["x"] * n}, index=cells)
    var = pd.DataFrame({"length": np.arange(d)}, index=[f"{prefix}{j}" for j in range(d)])
    out = anndata.AnnData(values, obs=obs, var=var)
    out.obsm["X_pca"] = np.ones((n, 2))
    out.varm["PCs"] = np.ones((d, 2))
    out.layers["counts"] = values.copy()
    out.uns["note"] = "kept"
    return out


def parts(complete=False, seed=0):
    """Sparse counts and dense proteins of three groups of cells; some cells have one of the two only."""
    rng = np.random.default_rng(seed)
    W = rng.uniform(0.0, 0.3, (N, 3))
    W[np.arange(N), np.arange(N) % 3] += 1.0
    rna = rng.poisson(3.0 * W @ rng.uniform(0.0, 1.0, (3, 12))).astype(float)
    adt = W @ rng.uniform(0.0, 1.0, (3, 6)) + 0.05 * rng.uniform(size=(N, 6))
    cells = np.array([f"cell{i}" for i in range(N)])
    own = (np.arange(N), np.arange(N)) if complete else (np.arange(N - 6), np.r_[np.arange(10, N)[::-1], 3, 5])
    return {
        "rna": annotated(sparse.csr_matrix(rna[own[0]]), cells[own[0]], "gene"),
        "adt": annotated(adt[own[1]], cells[own[1]], "protein"),
    }


def example(**options):
    mdata = mudata.MuData(parts(**options))
    mdata.obs["donor"] = [f"donor{i % 4}" for i in range(mdata.n_obs)]
    mdata.obsm["X_joint"] = np.arange(mdata.n_obs, dtype=float)[:, None]
    mdata.uns["study"] = {"year": 2024}
    return mdata


def frames(X):
    """The same numbers as DataFrames; sparse ones where they are sparse, for models keep those so."""
    return {name: frame(part) for name, part in (X.mod if hasattr(X, "mod") else X).items()}


def frame(part):
    names = {"index": part.obs_names, "columns": part.var_names}
    if sparse.issparse(part.X):
        return pd.DataFrame.sparse.from_spmatrix(part.X, **names)
    return pd.DataFrame(np.asarray(part.X), **names)


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def fitted(X, method=jella.MVLIV, **options):
    return make(method, **{**QUICK, **options}).fit(X)


def assert_same_views(found, expected):
    """A MuData or a dict of AnnData has the rows and values of a dict of DataFrames."""
    for name, part in (found.mod if hasattr(found, "mod") else found).items():
        assert list(part.obs_names) == list(expected[name].index)
        assert list(part.var_names) == list(expected[name].columns)
        assert np.allclose(dense(part.X), expected[name].to_numpy(), rtol=0, atol=1e-12, equal_nan=True)


# every estimator


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_gives_the_numbers_of_dataframes(method):
    mdata = example(complete=method is jella.RAMC)
    options = {"alpha": 0.1} if method is jella.PVC else {}
    ours, theirs = fitted(mdata, method, **options), fitted(frames(mdata), method, **options)
    for name in ("embedding_", "labels_", "objective_"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        if hasattr(ours, name):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name), equal_nan=True)
    assert list(ours.sample_names_in_) == list(theirs.sample_names_in_)
    assert list(ours.feature_names_in_) == [*mdata["rna"].var_names, *mdata["adt"].var_names]
    if hasattr(ours, "bases_"):
        assert list(ours.bases_) == ["rna", "adt"]
    if hasattr(ours, "complete"):
        assert_same_views(ours.complete(mdata), theirs.complete(frames(mdata)))
    if hasattr(ours, "score"):
        assert ours.score(mdata) == theirs.score(frames(mdata))


def test_samples_are_the_union_in_order_of_appearance():
    mdata = example()
    rna, adt = mdata["rna"].obs_names, mdata["adt"].obs_names
    assert list(fitted(mdata).sample_names_in_) == [*rna, *(cell for cell in adt if cell not in rna)]


def test_collections_of_annotated_matrices():
    mdata, expected = example(), fitted(frames(example()))
    for X in (dict(mdata.mod), list(mdata.mod.values()), tuple(mdata.mod.values())):
        model = fitted(X)
        assert np.array_equal(model.embedding_, expected.embedding_)
        completed = model.complete(X)
        assert type(completed) is type(X)
        named = completed if isinstance(X, dict) else dict(zip(mdata.mod, completed, strict=True))
        assert_same_views(named, expected.complete(frames(mdata)))


def test_one_annotated_matrix_is_one_view():
    part = parts()["adt"]
    part.X[2, 3] = part.X[5, 0] = np.nan
    model, expected = fitted(part), fitted(frame(part))
    assert np.array_equal(model.embedding_, expected.embedding_)
    assert list(model.feature_names_in_) == list(part.var_names)
    completed = model.complete(part)
    assert completed.obs.equals(part.obs)
    assert_same_views({"": completed}, {"": expected.complete(frame(part))})
    assert np.array_equal(model.transform(part[:4]), expected.transform(frame(part)[:4]))
    assert np.isnan(jella.datasets.make_incomplete(part, 0.2, "mcar", random_state=0).X).any()


def test_one_call_and_model_selection():
    mdata = example()
    tables = frames(mdata)
    assert np.array_equal(jella.cluster(mdata, 3).labels, jella.cluster(tables, 3).labels)
    ours, theirs = jella.complete(mdata, n_components=3), jella.complete(tables, n_components=3)
    assert_same_views(ours.views, theirs.views)
    assert ours.error == pytest.approx(theirs.error, abs=1e-12)
    model = make(jella.MVLIV, **{**QUICK, "n_clusters": None})
    assert held_out_error(model, mdata) == pytest.approx(held_out_error(model, tables), abs=1e-12)
    assert select_rank(mdata, (1, 3), estimator=model, random_state=0).rank in (1, 3)
    assert search(model, {"n_components": [1, 3]}, mdata, random_state=0).best_params["n_components"] in (1, 3)
    assert select_n_clusters(mdata).n_clusters == select_n_clusters(tables).n_clusters


# holes


@pytest.mark.parametrize("setting", ["missing-view", "incomplete-view"])
def test_made_holes_are_nan_and_the_rest_stays(setting):
    mdata = example()
    before = {name: dense(part.X) for name, part in mdata.mod.items()}
    holed = jella.datasets.make_incomplete(mdata, 0.3, setting, random_state=0)
    expected = jella.datasets.make_incomplete(frames(mdata), 0.3, setting, random_state=0)
    assert_same_views(holed, expected)
    assert sparse.issparse(holed["rna"].X)
    for name, part in mdata.mod.items():
        assert np.isnan(dense(holed[name].X)).any()
        assert np.array_equal(dense(part.X), before[name])
    assert holed.obs.equals(mdata.obs)


def test_held_out_values_are_hidden_and_scored():
    mdata, held_out = example(), HeldOut(share=0.3, random_state=0)
    ((holed, hidden),) = held_out.split(mdata)
    assert isinstance(holed, mudata.MuData)
    assert list(hidden) == ["rna", "adt"]
    error = held_out.score(mdata, fitted(holed).complete(holed), hidden)
    ((theirs, same),) = held_out.split(frames(mdata))
    expected = held_out.score(frames(mdata), fitted(theirs).complete(theirs), same)
    assert error == pytest.approx(expected, abs=1e-12)


# completing


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_completed_modalities_gain_what_they_lacked_and_keep_what_they_had(dtype):
    mdata = example()
    for part in mdata.mod.values():
        part.X = part.X.astype(dtype)
    mdata["adt"].X[4, 2] = np.nan
    model = fitted(mdata)
    completed = model.complete(mdata)
    assert model.embedding_.dtype == dtype
    assert list(completed.obs_names) == list(mdata.obs_names)
    assert completed.obs["donor"].equals(mdata.obs["donor"])
    assert np.array_equal(completed.obsm["X_joint"], mdata.obsm["X_joint"])
    assert completed.uns["study"] == mdata.uns["study"]
    for name, part in mdata.mod.items():
        done, own = completed[name], part.n_obs
        assert done.X.dtype == dtype
        assert type(done.X) is type(part.X)
        assert done.shape == (mdata.n_obs, part.n_vars)
        assert list(done.obs_names[:own]) == list(part.obs_names)
        assert done.var.equals(part.var)
        before, after = dense(part.X), dense(done.X)
        there = ~np.isnan(before)
        assert np.array_equal(after[:own][there], before[there])
        assert np.isfinite(after).all()
        assert (done.obs["depth"][:own] == part.obs["depth"]).all()
        assert done.obs["depth"][own:].isna().all()
        assert np.isnan(done.obsm["X_pca"][own:]).all()
        assert np.isnan(dense(done.layers["counts"])[own:]).all()
        assert np.array_equal(done.varm["PCs"], part.varm["PCs"])
        assert done.uns["note"] == "kept"


@pytest.mark.skipif(not hasattr(mudata, "set_options"), reason="this version of mudata has one behaviour")
@pytest.mark.filterwarnings("ignore:From 0.4:FutureWarning")
def test_the_behaviour_of_mudata_that_users_chose_is_followed():
    for pulls, columns in ((None, ["rna:depth", "adt:depth", "donor"]), (False, ["donor"])):
        with mudata.set_options(pull_on_update=pulls):
            mdata = example()
            completed = fitted(mdata).complete(mdata)
        assert set(columns) <= set(completed.obs)
        assert ("rna:depth" in completed.obs) == (pulls is None)


def test_names_of_variables_that_several_modalities_have():
    given = parts()
    given["adt"].var_names = given["rna"].var_names[:6]
    with warnings.catch_warnings(action="ignore"):  # newer ones say that the names are not unique
        mdata = mudata.MuData(given)
    completed = fitted(mdata).complete(mdata)
    assert list(completed.var_names) == list(mdata.var_names)
    expected = fitted(example()).complete(example())
    for name in ("rna", "adt"):
        assert np.allclose(dense(completed[name].X), dense(expected[name].X), rtol=0, atol=1e-12)


def test_a_completed_mudata_can_be_saved(tmp_path):
    completed = fitted(example()).complete(example())
    completed.write_h5mu(tmp_path / "completed.h5mu")
    again = mudata.read_h5mu(tmp_path / "completed.h5mu")
    assert np.array_equal(dense(again["rna"].X), dense(completed["rna"].X))


def test_a_sparse_modality_whose_cells_are_not_first():
    given = dict(reversed(parts().items()))
    assert_same_views(fitted(given).complete(given), fitted(frames(given)).complete(frames(given)))


def test_counts_in_integers_stay_where_nothing_is_missing():
    mdata = mudata.MuData(parts(complete=True))
    mdata["rna"].X = mdata["rna"].X.astype(np.int64)
    assert fitted(mdata).complete(mdata)["rna"].X.dtype == np.int64


# new samples


def test_new_samples_may_lack_modalities():
    mdata, new = example(), parts(seed=1)
    model, expected = fitted(mdata), fitted(frames(mdata))
    for names in (["rna", "adt"], ["rna"], ["adt"]):
        some = mudata.MuData({name: new[name] for name in names})
        assert np.array_equal(model.transform(some), expected.transform(frames(some)))
        assert np.array_equal(model.predict(some), expected.predict(frames(some)))
        completed = model.complete(some)
        assert_same_views(completed, expected.complete(frames(some)))
        assert set(completed.mod) == {"rna", "adt"}
    only = model.complete({"rna": new["rna"]})
    assert isinstance(only["adt"], anndata.AnnData)
    assert np.array_equal(dense(only["adt"].X), dense(model.complete(mudata.MuData({"rna": new["rna"]}))["adt"].X))


def test_views_of_objects_and_other_orders_of_variables():
    mdata = example()
    model, tables = fitted(mdata), frames(mdata)
    cells = mdata.obs_names[:8]
    few = mdata[cells]
    order = model.sample_names_in_.get_indexer(cells)
    expected = model.transform(mdata)[order]
    by_name = pd.DataFrame(model.transform(few), index=read_views(few).sample_names)
    assert np.allclose(by_name.loc[cells], expected, atol=1e-12)
    lacking = mdata[mdata.obs_names[~mdata.obs_names.isin(mdata["adt"].obs_names)]]
    assert lacking["adt"].n_obs == 0
    assert_same_views(model.complete(lacking), fitted(tables).complete(frames(lacking)))
    turned = {name: part[:, ::-1] for name, part in mdata.mod.items()}
    assert np.allclose(model.transform(turned), model.transform(mdata), atol=1e-12)
    completed = model.complete(turned)
    assert_same_views(completed, fitted(tables).complete({name: table.iloc[:, ::-1] for name, table in tables.items()}))
    assert type(completed["rna"].X) is sparse.csr_matrix


# size


def test_wide_counts_are_never_dense():
    n, d = 2000, 20000
    rng = np.random.default_rng(0)
    rna = sparse.random(n, d, density=1e-3, format="csr", dtype=np.float32, rng=rng)
    cells = [f"cell{i}" for i in range(n)]
    wide = anndata.AnnData(rna, obs=pd.DataFrame(index=cells), var=pd.DataFrame(index=[f"g{j}" for j in range(d)]))
    narrow = annotated(rng.normal(size=(n // 2, 5)).astype(np.float32), cells[::2], "protein")
    mdata = mudata.MuData({"rna": wide, "adt": narrow})
    tracemalloc.start()
    model = jella.MVLIV(n_components=3, max_iter=3, tol=0, random_state=0).fit(mdata)
    completed = model.complete(mdata)
    jella.write_mudata(mdata, model)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < n * d * 4 / 2  # bytes of half of the dense view
    for X in (read_views(mdata)[0].X, completed["rna"].X, mdata["rna"].layers["jella_completed"]):
        assert sparse.issparse(X)
        assert X.nnz == rna.nnz
    assert completed["adt"].shape == (n, 5)


# writing into a MuData


def test_results_are_written_where_scanpy_looks():
    mdata = example()
    before = {name: dense(part.X) for name, part in mdata.mod.items()}
    model = fitted(mdata, jella.SparseBDR)
    assert jella.write_mudata(mdata, model) is None
    rows = model.sample_names_in_.get_indexer(mdata.obs_names)
    assert np.array_equal(mdata.obsm["X_jella"], model.embedding_[rows])
    assert list(mdata.obs["jella_cluster"].cat.categories) == ["0", "1", "2"]
    assert np.array_equal(mdata.obs["jella_cluster"].astype(int), model.labels_[rows])
    assert np.allclose(mdata.obs["jella_probability"], model.label_probabilities_[rows, model.labels_[rows]])
    assert mdata.obsm["X_jella_pca"].shape == (N, 2)
    completed = model.complete(mdata)
    for v, (name, part) in enumerate(mdata.mod.items()):
        here = mdata.obs_names.get_indexer(part.obs_names)
        for key in ("X_jella", "X_jella_pca"):
            assert np.array_equal(part.obsm[key], mdata.obsm[key][here])
        colours = part.uns["jella_cluster_colors"].tolist()
        assert len(set(colours)) == 3
        assert colours == mdata.uns["jella_cluster_colors"].tolist()
        assert part.obs["jella_cluster"].equals(mdata.obs["jella_cluster"].loc[part.obs_names])
        assert np.array_equal(part.varm["jella_loadings"], to_numpy(model.readout_.bases[v]))
        assert np.array_equal(dense(part.X), before[name])
        assert np.array_equal(dense(part.layers["jella_completed"]), before[name])
        whole = dense(mdata.obsm[f"jella_completed_{name}"])
        assert np.array_equal(whole, dense(completed[name][mdata.obs_names].X))
        assert list(read_views(part)[0].feature_names) == list(part.var_names)
    record = mdata.uns["jella"]
    assert record["class"] == "SparseBDR"
    assert record["parameters"]["n_clusters"] == 3
    assert record["versions"]["jella"] == jella.__version__
    assert np.array_equal(record["objective"], model.objective_)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_every_estimator_writes_survives_a_file(method, tmp_path):
    mdata = example(complete=method is jella.RAMC)
    jella.write_mudata(mdata, fitted(mdata, method), key="it")
    mdata.write_h5mu(tmp_path / "it.h5mu")
    again = mudata.read_h5mu(tmp_path / "it.h5mu")
    assert set(again.obsm) == set(mdata.obsm)
    for name in set(mdata.obsm) - set(mdata.mod):
        assert np.array_equal(dense(again.obsm[name]), dense(mdata.obsm[name]), equal_nan=True)
    if "it_cluster" in mdata.obs:
        assert again.obs["it_cluster"].equals(mdata.obs["it_cluster"])
    for name, part in mdata.mod.items():
        assert set(again[name].layers) == set(part.layers)
        assert set(again[name].varm) == set(part.varm)
    assert again.uns["it"]["class"] == method.__name__
    assert again.uns["it"]["parameters"].keys() == mdata.uns["it"]["parameters"].keys()


def test_missing_entries_are_filled_in_the_layer_and_dropped_samples_have_no_result():
    given = parts(complete=True)
    counts = dense(given["rna"].X)
    counts[7] = given["adt"].X[7] = given["adt"].X[0, 1] = np.nan
    given["rna"].X = sparse.csr_matrix(counts)
    mdata = mudata.MuData(given)
    jella.write_mudata(mdata, fitted(mdata, on_empty="drop"))
    filled = mdata["adt"].layers["jella_completed"]
    assert np.isfinite(np.delete(filled, 7, axis=0)).all()
    assert np.isnan(mdata["adt"].X[0, 1])
    assert np.isnan(mdata.obsm["X_jella"][7]).all()
    assert mdata.obs["jella_cluster"].isna().to_numpy().nonzero()[0].tolist() == [7]


def test_a_second_model_leaves_nothing_of_the_first():
    mdata = example()
    jella.write_mudata(mdata, fitted(mdata))
    jella.write_mudata(mdata, fitted(mdata, jella.MIC, n_clusters=None))
    for target in (mdata, *mdata.mod.values()):
        assert "jella_cluster" not in target.obs
        assert "jella_cluster_colors" not in target.uns
    assert "jella_completed" not in mdata["rna"].layers
    assert "jella_completed_adt" not in mdata.obsm
    assert mdata.uns["jella"]["class"] == "MIC"


def test_some_observations_and_modalities_that_the_fit_left_out():
    mdata = example()
    model = fitted({"rna": mdata["rna"]})
    jella.write_mudata(mdata, model)
    lacking = ~mdata.obs_names.isin(mdata["rna"].obs_names)
    assert np.array_equal(np.isnan(mdata.obsm["X_jella"]).all(axis=1), lacking)
    assert np.array_equal(np.isnan(dense(mdata.obsm["jella_completed_rna"])).all(axis=1), lacking)
    assert "jella_loadings" not in mdata["adt"].varm
    few = mdata[:5].copy()
    jella.write_mudata(few, model)
    assert np.array_equal(few.obsm["X_jella"], mdata.obsm["X_jella"][:5])


# errors


def without_values(mdata):
    mdata["adt"].X = None
    return mdata


def strangers():
    """A modality of cells that no other has."""
    part = parts()["adt"]
    part.obs_names = [f"stranger{i}" for i in range(part.n_obs)]
    return part


def twice(part):
    part.obs_names = ["cell0", *part.obs_names[:-1]]
    return part


ERRORS = {
    "no values": (lambda: fitted(without_values(example())), "expected values in X of view 'adt', got none"),
    "shared variables": (
        lambda: fitted(mudata.MuData({"a": parts()["adt"], "b": strangers()}, axis=1)),
        "got axis=1; make one with axis=0",
    ),
    "nested": (lambda: fitted(mudata.MuData({"a": example()})), "view 'a', got a MuData"),
    "twice": (lambda: fitted({"a": twice(parts()["rna"])}), "view 'a' has the sample 'cell0' more than once"),
    "other variables": (
        lambda: fitted(example()).transform({"rna": parts()["rna"][:, 1:]}),
        "view 'rna' must have the 12 columns of the fit; see ['gene0']",
    ),
    "unknown modality": (
        lambda: fitted(parts()).transform(mudata.MuData({"atac": parts()["rna"]})),
        "view 'atac' was not seen in fit",
    ),
    "array beside": (lambda: fitted({"a": parts()["adt"], "b": np.ones((32, 2))}), "view 'b' has no index"),
    "write: an AnnData": (lambda: jella.write_mudata(parts()["rna"], None), "expected a MuData, got AnnData"),
    "write: a view": (lambda: jella.write_mudata(example()[:3], fitted(example())), "got a view of another"),
    "write: no model": (
        lambda: jella.write_mudata(example(), "model"),
        "expected a fitted estimator, got str",
    ),
    "write: not fitted": (
        lambda: jella.write_mudata(example(), jella.PVC()),
        "fitted estimator, got one that is not fitted",
    ),
    "write: plain arrays": (
        lambda: jella.write_mudata(example(), fitted({n: dense(p.X) for n, p in parts(complete=True).items()})),
        "expected a model of the modalities ['rna', 'adt'], got one of the views ['rna', 'adt']",
    ),
    "write: other views": (
        lambda: jella.write_mudata(example(), fitted({"a": parts()["rna"]})),
        "expected a model of the modalities ['rna', 'adt'], got one of the views ['a']",
    ),
    "write: other cells": (
        lambda: jella.write_mudata(mudata.MuData({**parts(), "adt": strangers()}), fitted(example())),
        "got 32 of 'adt' that its fit did not have, 'stranger0' first",
    ),
    "write: other variables": (
        lambda: jella.write_mudata(
            mudata.MuData({"rna": parts()["rna"][:, 1:].copy(), "adt": parts()["adt"]}), fitted(example())
        ),
        "expected modality 'rna' with the 12 variables of the fit, got 11",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_say_what_was_expected(case):
    call, words = ERRORS[case]
    with pytest.raises(ValueError) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_in_a_file_are_refused(tmp_path):
    part = parts()["adt"]
    part.write_h5ad(tmp_path / "adt.h5ad")
    backed = anndata.read_h5ad(tmp_path / "adt.h5ad", backed="r")
    with pytest.raises(ValueError, match="expected view 'a' in memory, got an AnnData that is backed by a file"):
        fitted({"a": backed})
    backed.file.close()


def test_neither_package_is_imported_unless_needed():
    code = (
        "import sys, numpy as np, pandas as pd, jella; X = pd.DataFrame(np.ones((4, 2))); "
        "jella.MVLIV(n_components=1).fit([X, X]).complete([X, None]); "
        "jella.write_mudata; found = {'anndata', 'mudata'} & set(sys.modules); assert not found, found"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
