"""`jella.MultiView`: slicing by sample, reading, completion, and the tools of scikit-learn."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from common import planted
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

import jella
from jella.estimators.base import BaseMultiView
from jella.model_selection import AvailabilityKFold, HeldOut
from jella.problem.terms.base import concrete_subclasses
from jella.views import read_views

N = 30
IDS = [f"s{i:02d}" for i in range(N)]


def blobs(n: int = N, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % 3
    widths = {"a": 5, "b": 4, "c": 6}
    return {k: 4 * rng.normal(size=(3, d))[classes] + rng.normal(size=(n, d)) for k, d in widths.items()}, classes


def mixed() -> jella.MultiView:
    """A DataFrame that lacks samples and is in another order, an array with NaN, and a sparse array."""
    views, _ = blobs()
    table = pd.DataFrame(views["a"], index=IDS, columns=list("vwxyz")).iloc[::-1].iloc[:25]
    views["b"][4] = np.nan
    return jella.MultiView({"a": table, "b": views["b"], "c": sparse.coo_array(np.maximum(views["c"], 0))}, ids=IDS)


@pytest.mark.parametrize(
    "rows",
    [slice(3, 12, 2), [5, 2, 9], np.array([5, 2, 9]), np.arange(N) % 4 == 1, (np.arange(N) % 4 == 1).tolist(), -1],
    ids=["slice", "list", "array", "mask", "list of booleans", "one"],
)
def test_slices_take_the_same_samples_of_all_views(rows):
    views, X = blobs()[0], mixed()
    chosen = np.arange(N)[[rows] if isinstance(rows, int) else rows]
    part = X[rows]
    assert isinstance(part, jella.MultiView)
    assert len(part) == part.shape[0] == len(chosen)
    assert list(part) == ["a", "b", "c"]
    assert list(part.ids) == [IDS[i] for i in chosen]
    kept = chosen >= 5  # the table lacks the first five
    np.testing.assert_array_equal(part["a"].to_numpy()[kept], views["a"][chosen][kept])
    assert np.isnan(part["a"].to_numpy()[~kept]).all()
    np.testing.assert_array_equal(part["b"][chosen != 4], views["b"][chosen][chosen != 4])
    np.testing.assert_array_equal(part["c"].toarray(), np.maximum(views["c"], 0)[chosen])
    assert (list(part["a"].columns), part.shape[1]) == (list("vwxyz"), 15)


def test_it_is_a_mapping_of_views_with_a_length_in_samples():
    X = mixed()
    assert (len(X), len(X.keys()), len(X.values()), len(dict(X.items()))) == (N, 3, 3, 3)
    assert "a" in X
    assert "d" not in X
    assert X == X
    assert mixed() != X
    assert pickle.loads(pickle.dumps(X)).shape == X.shape
    with pytest.raises(KeyError):
        X["d"]


def test_all_readers_see_ids_and_views():
    views = read_views(mixed())
    assert list(views.sample_names) == IDS
    assert views.names == ("a", "b", "c")
    assert views.presence().sum(axis=0).tolist() == [25, 29, 30]


def test_the_same_fit_as_a_dict():
    views, _ = blobs()
    views["b"][:3] = np.nan
    one, other = (jella.MVLIV(3, random_state=0).fit(X) for X in (views, jella.MultiView(views)))
    np.testing.assert_array_equal(one.embedding_, other.embedding_)
    np.testing.assert_array_equal(one.transform(views), other.transform(jella.MultiView(views)))


def test_completed_views_are_a_multiview_with_observed_values_unchanged():
    X = mixed()
    for done in (jella.MVLIV(3, random_state=0).fit(X).complete(X), jella.complete(X, random_state=0).views):
        assert isinstance(done, jella.MultiView)
        assert list(done.ids) == list(done["a"].index) == IDS
        seen = X["a"].notna().to_numpy()
        np.testing.assert_array_equal(done["a"].to_numpy()[seen], X["a"].to_numpy()[seen])
        assert not done["a"].isna().any(axis=None)
        assert not np.isnan(done["b"]).any()
        assert sparse.issparse(done["c"])


def test_cluster_keeps_ids():
    found = jella.cluster(mixed(), 3, evidence=False)
    assert list(found.sample_names) == IDS
    assert isinstance(found.complete(), jella.MultiView)


def test_views_may_be_left_out_for_new_samples():
    X = mixed()
    model = jella.MVLIV(3, random_state=0).fit(X)
    new = jella.MultiView({"b": X["b"][10:15]})
    assert model.transform(new).shape == (5, 3)
    assert list(model.complete(new)) == ["b", "a", "c"]


def test_ids_of_arrays_and_the_order_of_ids():
    views, _ = blobs()
    X = jella.MultiView(views, ids=IDS)
    assert list(jella.MVLIV(2, random_state=0).fit(X).sample_names_in_) == IDS
    assert list(jella.MultiView(X).ids) == IDS
    table = pd.DataFrame(views["a"], index=IDS)
    turned = jella.MultiView([table], ids=IDS[::-1])
    np.testing.assert_array_equal(turned["view0"].to_numpy(), views["a"][::-1])


def test_other_containers_are_sliced():
    anndata, polars, xarray = (pytest.importorskip(name) for name in ("anndata", "polars", "xarray"))
    values = blobs()[0]["a"]
    columns = {f"g{j}": values[:, j] for j in range(5)}
    X = jella.MultiView(
        {
            "adata": anndata.AnnData(pd.DataFrame(columns, index=IDS)),
            "frame": polars.DataFrame({"id": IDS, **columns}),
            "array": xarray.DataArray(values, dims=("sample", "gene"), coords={"sample": IDS}),
        }
    )[[4, 2]]
    views = read_views(X)
    assert list(views.sample_names) == ["s04", "s02"]
    for view in views:
        np.testing.assert_array_equal(view.X, values[[4, 2]])


@pytest.mark.parametrize("container", ["array", "frame", "adata", "polars", "xarray"])
def test_a_bootstrap_has_samples_twice(container):
    values = blobs()[0]["a"]
    frame = pd.DataFrame(values, index=IDS, columns=[f"g{j}" for j in range(5)])
    if container == "array":
        X = jella.MultiView([values], ids=IDS)
    elif container == "frame":
        X = jella.MultiView([frame])
    elif container == "adata":
        X = jella.MultiView([pytest.importorskip("anndata").AnnData(frame)])
    elif container == "polars":
        X = jella.MultiView([pytest.importorskip("polars").from_pandas(frame.reset_index(names="patient"))])
    else:
        coords = {"sample": IDS}
        X = jella.MultiView([pytest.importorskip("xarray").DataArray(values, dims=("sample", "gene"), coords=coords)])
    rows = [3, 1, 3, 0, 3]
    drawn = X[rows]
    assert list(drawn.ids) == ["s03", "s01", "s03 (2)", "s00", "s03 (3)"]
    views = read_views(drawn)
    assert views.sample_names.tolist() == list(drawn.ids)
    np.testing.assert_array_equal(views[0].X, values[rows])
    assert list(drawn[[2, 2]].ids) == ["s03 (2)", "s03 (2) (2)"]
    model = jella.MVLIV(2, random_state=0).fit(resample(X, random_state=0))
    assert model.embedding_.shape == (len(IDS), 2)


def test_train_test_split_and_cross_validation():
    views, classes = blobs(60)
    X = jella.MultiView(jella.datasets.make_incomplete(views, 0.2, random_state=0))
    train, test, y_train, y_test = train_test_split(X, classes, test_size=0.3, random_state=0)
    assert (len(train), len(test), len(y_train), len(y_test)) == (42, 18, 42, 18)
    model = make_pipeline(jella.MVLIV(3, random_state=0), LogisticRegression())
    assert model.fit(train, y_train).score(test, y_test) > 0.8
    assert cross_validate(model, X, classes, cv=3)["test_score"].mean() > 0.8
    assert (cross_val_predict(model, X, classes, cv=3) == classes).mean() > 0.8


def test_grid_search_by_held_out_error_finds_the_rank():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(60, 2))
    views = [W @ rng.normal(size=(2, d)) + 0.01 * rng.normal(size=(60, d)) for d in (8, 9)]
    grid = {"n_components": [1, 2]}
    found = GridSearchCV(jella.MVLIV(random_state=0, tol=1e-4), grid, cv=KFold(3)).fit(jella.MultiView(views))
    assert found.best_params_ == {"n_components": 2}


def test_folds_share_out_the_patterns_and_the_classes():
    views, classes = blobs(60)
    views["b"][:7] = np.nan
    X = jella.MultiView(views)
    tests = [test for _, test in AvailabilityKFold(3).split(X, classes)]
    assert sorted(np.concatenate(tests)) == list(range(60))
    assert {len(test) for test in tests} == {20}
    assert {int((test < 7).sum()) for test in tests} <= {2, 3}
    assert all(np.ptp(np.bincount(classes[test])) <= 2 for test in tests)
    again = [test for _, test in AvailabilityKFold(3).split(X, classes)]
    assert all(np.array_equal(a, b) for a, b in zip(tests, again, strict=True))
    assert cross_validate(jella.MVLIV(2, random_state=0), X, cv=AvailabilityKFold(3))["test_score"].shape == (3,)


def test_refusals():
    views, _ = blobs()
    table = pd.DataFrame(views["a"], index=IDS)
    with pytest.raises(ValueError, match="expected 30 samples in each view without ids, got 29 in 'b'"):
        jella.MultiView({"a": views["a"], "b": views["b"][1:]})
    with pytest.raises(ValueError, match="expected ids to hold all samples of view 'a', got none for 's29'"):
        jella.MultiView({"a": table}, ids=IDS[:-1])
    with pytest.raises(ValueError, match="ids"):
        jella.MultiView([table, table.set_axis([f"other{i}" for i in range(N)])])
    with pytest.raises(ValueError, match="got None; leave the view out"):
        jella.MultiView([views["a"], None])
    with pytest.raises(IndexError, match="a boolean for each of the 30 samples, got 2"):
        jella.MultiView(views)[[True, False]]
    with pytest.raises(TypeError, match="expected a slice, positions or booleans"):
        jella.MultiView(views)[[0.5]]
    with pytest.raises(TypeError, match="got several keys"):
        jella.MultiView(views)[0, "a"]
    with pytest.raises(ValueError, match="without samples='columns'"):
        jella.cluster(jella.MultiView(views), 2, samples="columns")
    with pytest.raises(ValueError, match="expected n_splits"):
        AvailabilityKFold(1)
    with pytest.raises(ValueError, match="expected at least 5 samples, got 3"):
        next(AvailabilityKFold(5).split(jella.MultiView(views)[:3]))


def every_kind() -> list[type]:
    kinds = {kind for kind in concrete_subclasses(BaseMultiView) if kind.__module__.startswith("jella.")}
    return sorted((kind for kind in kinds if not kind.__name__.startswith("Base")), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.__name__)
def test_every_estimator_accepts_it(kind):
    views = dict(zip("abc", planted(n=30), strict=True))
    known = {"max_iter": 3, "tol": 0.0, "n_clusters": 3, "evidence": False, "random_state": 0}
    settings = {name: value for name, value in known.items() if name in kind().get_params()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, other = (kind(**settings).fit(X) for X in (views, jella.MultiView(views, ids=IDS)))
    for name in ("embedding_", "labels_"):
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert list(other.sample_names_in_) == IDS
    if hasattr(other, "complete"):
        assert isinstance(other.complete(jella.MultiView(views, ids=IDS)), jella.MultiView)


def test_values_are_hidden_in_it():
    X = mixed()
    held_out = HeldOut(random_state=0)
    ((holed, hidden),) = held_out.split(X)
    assert isinstance(holed, jella.MultiView)
    assert holed["a"].isna().sum().sum() > X["a"].isna().sum().sum()
    model = jella.MVLIV(2, random_state=0)
    assert np.isfinite(held_out.score(X, model.fit(holed).complete(holed), hidden))


def holes(n: int = 90) -> tuple[jella.MultiView, np.ndarray]:
    views, classes = blobs(n)
    return jella.MultiView(jella.datasets.make_incomplete(views, 0.3, random_state=0)), classes


@pytest.mark.parametrize("estimator", [None, jella.MVLIV(3, random_state=0), jella.RRMC()])
def test_completion_is_a_step_of_a_pipeline_for_one_table(estimator):
    X, classes = holes()
    steps = jella.Completer(estimator, join=True), StandardScaler(), LogisticRegression()
    found = cross_validate(make_pipeline(*steps), X, classes, cv=3, error_score="raise")
    assert found["test_score"].mean() > 0.9


def test_completion_is_a_step_before_another_estimator_for_views():
    X, classes = holes()
    pipe = make_pipeline(jella.Completer(jella.MVLIV(3, random_state=0)), jella.SparseBDR(3, random_state=0))
    assert jella.metrics.nmi(classes, pipe.fit(X).predict(X)) > 0.9
    grid = GridSearchCV(
        make_pipeline(jella.Completer(jella.MVLIV(random_state=0), join=True), LogisticRegression()),
        {"completer__estimator__n_components": [1, 4]},
        cv=3,
        error_score="raise",
    ).fit(X, classes)
    assert (grid.cv_results_["mean_test_score"] > 0.8).all()
    assert grid.best_estimator_[0].estimator_.n_components == grid.best_params_["completer__estimator__n_components"]


def test_test_samples_are_completed_from_training_samples_only():
    X, _ = holes()
    completer = jella.Completer(jella.MVLIV(3, random_state=0)).fit(X[:60])
    done = completer.transform(X[60:])
    own = jella.MVLIV(3, random_state=0).fit(X[:60]).complete(X[60:])
    for name in X:
        np.testing.assert_array_equal(done[name], own[name])
        assert not np.isnan(done[name]).any()


def test_a_joined_table_keeps_ids_order_and_names():
    X = mixed()
    completer = jella.Completer(jella.MVLIV(3, random_state=0), join=True)
    table = completer.fit_transform(X[::-1])
    assert list(table.index) == IDS[::-1]
    assert list(table.columns[:5]) == [f"a__{letter}" for letter in "vwxyz"]
    assert list(table.columns[5:7]) == ["b__0", "b__1"]
    seen = X["a"].notna().all(axis=1)
    pd.testing.assert_frame_equal(
        table.iloc[:, :5].set_axis(list("vwxyz"), axis=1).loc[X["a"].index[seen]], X["a"][seen], check_exact=True
    )
    frame = make_pipeline(completer).set_output(transform="pandas").fit_transform(X)
    assert list(frame.index) == IDS
    frames = {"a": X["a"].iloc[5:], "b": pd.DataFrame(blobs()[0]["b"], index=IDS).add_prefix("f").iloc[::-1]}
    again = completer.fit(frames).transform(frames)  # the first view lacks samples
    assert sorted(again.index) == IDS
    np.testing.assert_array_equal(again.loc[IDS[9], [f"b__f{j}" for j in range(4)]], X["b"][9])


def test_what_takes_one_table_says_what_to_do():
    X, classes = holes()
    with pytest.raises(TypeError, match=r"expected one table, got a MultiView of 3 views; take one of them, such as"):
        LogisticRegression().fit(X, classes)
    with pytest.raises(KeyError, match="expected the name of a view, got 'aa'; "):
        X["aa"]
    with pytest.raises(ValueError, match="expected an estimator of jella that completes, got LogisticRegression"):
        jella.Completer(LogisticRegression()).fit(X)
    with pytest.raises(ValueError, match="expected an estimator of jella that completes, got RAMC"):
        jella.Completer(jella.RAMC(3)).fit(X)
