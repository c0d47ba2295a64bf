"""What every estimator must do; new ones are found by walking subclasses."""

from __future__ import annotations

import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from common import CASES, SETTINGS, all_methods, holed, make, planted
from expected_failures import EXPECTED, name_of, scikit_learn_checks
from sklearn.base import clone, is_clusterer
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

import jella
from jella.estimators.base import BaseMultiView
from jella.estimators.capabilities import probe
from jella.estimators.framework import BaseJELLA
from jella.numerics.arrays import like, to_numpy
from jella.terms import L1, NonNegative

METHODS = all_methods()
by_name = pytest.mark.parametrize("method", METHODS, ids=lambda m: m.__name__)
by_case = pytest.mark.parametrize(("method", "setting"), CASES, ids=lambda part: getattr(part, "__name__", part))


#: few sweeps: the checks are about what a fit takes and returns, not about where it ends
CHECKED = [*(make(m, max_iter=8) for m in METHODS), *(m(n_clusters=3, max_iter=8) for m in (jella.MVLIV, jella.PVC))]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks feed data without structure
@pytest.mark.parametrize(("estimator", "check"), scikit_learn_checks(CHECKED))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_expected_failure_is_a_check_of_a_method(name):
    """An entry of a check that is never run, or of a method that is gone, would otherwise stay for ever."""
    run = {name_of(check) for _, check in estimator_checks_generator(getattr(jella, name)())}
    assert set(EXPECTED[name]) <= run


def test_there_are_methods_to_walk():
    assert {"JELLA", "MVLIV", "PVC"} <= {method.__name__ for method in METHODS}


@by_case
def test_garbage_under_the_mask_changes_nothing(method, setting, rng):
    views = holed(setting)
    observed = [~np.isnan(X) for X in views]
    options = {"n_clusters": 3, "random_state": 0, "max_iter": 6, "tol": 0.0, "calibrate": False}
    reference = make(method, **options).fit(views)
    for garbage in (0.0, -1e300, np.inf, np.nan):
        filled = [np.where(mask, X, garbage) for X, mask in zip(views, observed, strict=True)]
        model = make(method, **options).fit(filled, observed=observed)
        np.testing.assert_array_equal(model.embedding_, reference.embedding_)
        np.testing.assert_array_equal(model.labels_, reference.labels_)
        np.testing.assert_array_equal(model.transform(filled, observed=observed), reference.transform(views))
        for ours, theirs in zip(model.complete(filled, observed=observed), reference.complete(views), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        if hasattr(model, "score"):
            assert model.score(filled, observed=observed) == reference.score(views)


@by_case
def test_permuting_samples_permutes_the_output(method, setting, rng):
    views, order = holed(setting, widths=(30, 20, 15)), rng.permutation(40)
    W = rng.uniform(size=(40, 3))
    bases = [rng.uniform(size=(d, 3)) for d in (30, 20, 15)]
    options = {"n_components": 3, "max_iter": 10, "tol": 0.0, "n_clusters": 3, "random_state": 0, "n_init": 50}
    here = make(method, init={"embedding": W, "bases": bases}, **options).fit(views)
    there = make(method, init={"embedding": W[order], "bases": bases}, **options).fit([X[order] for X in views])
    np.testing.assert_allclose(there.embedding_, here.embedding_[order], atol=1e-8)
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-8)
    assert adjusted_rand_score(there.labels_, here.labels_[order]) > 0.95


@by_case
def test_the_order_of_views_does_not_matter(method, setting, rng):
    views, order = holed(setting), [2, 0, 1]
    W, bases = rng.uniform(size=(40, 3)), [rng.uniform(size=(d, 3)) for d in (9, 6, 4)]
    options = {"n_components": 3, "max_iter": 10, "tol": 0.0, "n_clusters": 3, "random_state": 0}
    here = make(method, init={"embedding": W, "bases": bases}, **options).fit(views)
    moved = {"embedding": W, "bases": [bases[v] for v in order]}
    there = make(method, init=moved, **options).fit([views[v] for v in order])
    np.testing.assert_allclose(there.embedding_, here.embedding_, atol=1e-8)
    for v, ours in zip(order, there.bases_, strict=True):
        np.testing.assert_allclose(ours, here.bases_[v], atol=1e-8)


@by_case
def test_default_starts_are_deterministic_and_equivariant(method, setting, rng):
    views, order = holed(setting), rng.permutation(40)
    here, again = (make(method, n_components=3, max_iter=3, tol=0.0).fit(views) for _ in range(2))
    np.testing.assert_array_equal(here.embedding_, again.embedding_)
    there = make(method, n_components=3, max_iter=3, tol=0.0).fit([X[order] for X in views][::-1])
    np.testing.assert_allclose(there.embedding_, here.embedding_[order], atol=1e-7)


@by_case
def test_transform_of_the_training_samples_is_the_embedding(method, setting):
    views = holed(setting)
    model = make(method, n_clusters=3, random_state=0).fit(views)
    np.testing.assert_array_equal(model.transform(views), model.embedding_)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    np.testing.assert_array_equal(model.transform([X[5:6] for X in views]), model.embedding_[5:6])
    if model.declare(probe()).is_separable:  # then a new sample is embedded as those of the fit were
        W = model.readout_.without_samples().present(model.read(views))
        np.testing.assert_allclose(W, model.embedding_, atol=1e-6)


@by_case
def test_planted_groups_and_values_are_recovered(method, setting):
    truth = planted(n=120, widths=(20, 15, 10), noise=0.02)
    views = jella.datasets.make_incomplete(truth, 0.3, setting, random_state=1)
    model = make(method, n_clusters=3, random_state=0).fit(views)
    assert adjusted_rand_score(np.arange(120) % 3, model.labels_) > 0.9
    missing = [np.isnan(X) for X in views]
    means = [np.where(mask, np.nanmean(X, axis=0), X) for X, mask in zip(views, missing, strict=True)]
    error = jella.metrics.rmse(truth, model.complete(views), missing=missing)
    assert error < 0.5 * jella.metrics.rmse(truth, means, missing=missing)


@by_name
def test_new_incomplete_samples(method):
    truth = planted(n=150, noise=0.02)
    train = [X[:120] for X in truth]
    new = jella.datasets.make_incomplete([X[120:] for X in truth], 0.5, "missing-view", random_state=0)
    model = make(method, n_clusters=3, random_state=0).fit(train)
    labels = np.concatenate([model.labels_, model.predict(new)])
    assert adjusted_rand_score(np.arange(150) % 3, labels) > 0.9


@by_name
def test_labels_need_a_number_of_clusters(method):
    model = make(method, n_components=3, max_iter=5, tol=0.0).fit(planted())
    if method._chooses_n_clusters:
        assert model.labels_.max() + 1 == model.n_clusters_
        return
    assert not hasattr(model, "predict")
    assert not hasattr(model, "fit_predict")
    assert not hasattr(model, "labels_")
    with pytest.raises(AttributeError, match="predict"):
        _ = model.predict
    model = make(method, n_clusters=3, random_state=0, max_iter=5, tol=0.0)
    np.testing.assert_array_equal(model.fit_predict(planted()), model.labels_)
    model.set_params(n_clusters=None).fit(planted())
    assert not hasattr(model, "labels_")


@by_name
def test_fitted_attributes(method):
    views = dict(zip(("a", "b", "c"), holed("missing-view"), strict=True))
    model = make(method, n_clusters=3, n_components=3, random_state=0).fit(views)
    assert model.embedding_.shape == (40, 3)
    assert {name: U.shape for name, U in model.bases_.items()} == {"a": (9, 3), "b": (6, 3), "c": (4, 3)}
    assert sorted(set(model.labels_)) == [0, 1, 2]
    assert model.labels_.size == 40
    assert model.n_features_in_ == 19
    assert model.view_names_in_ == ["a", "b", "c"]
    assert not hasattr(model, "feature_names_in_")
    assert len(model.objective_) == sum(sweep.accepted for sweep in model.result_.sweeps)
    assert model.n_iter_ == len(model.result_.sweeps)
    assert model.converged_ is (model.result_.stop_reason != "max_iter")
    np.testing.assert_allclose(sum(model.history_.values()), model.objective_)
    assert list(model.get_feature_names_out()) == [f"{method.__name__.lower()}{j}" for j in range(3)]
    assert make(method, n_clusters=3, max_iter=1, tol=0.0).fit(views).converged_ is False


@by_name
def test_data_frames_name_features_and_samples(method):
    frames = {
        name: pd.DataFrame(X, index=[f"s{i}" for i in range(40)], columns=[f"{name}{j}" for j in range(X.shape[1])])
        for name, X in zip("abc", planted(), strict=True)
    }
    model = make(method, n_components=3, max_iter=5, tol=0.0).set_output(transform="pandas").fit(frames)
    assert list(model.feature_names_in_[:2]) == ["a0", "a1"]
    table = model.transform(frames)
    assert isinstance(table, pd.DataFrame)
    assert list(table.index) == [f"s{i}" for i in range(40)]
    assert list(table.columns) == list(model.get_feature_names_out())
    pd.testing.assert_frame_equal(model.fit_transform(frames), table)
    assert list(model.fit_transform(frames).index) == list(table.index)
    shuffled = {name: frame.iloc[::-1] for name, frame in frames.items()}
    pd.testing.assert_frame_equal(model.transform(shuffled).loc[table.index], table, atol=1e-8)


@by_name
def test_cloning_pickling_and_repr(method):
    views = holed("missing-view")
    model = make(method, n_clusters=3, random_state=0, tol=1e-3).fit(views)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "embedding_")
    np.testing.assert_array_equal(copy.fit(views).embedding_, model.embedding_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(views), model.transform(views))
    assert repr(model).startswith(f"{method.__name__}(n_clusters=3")


@by_name
def test_random_state_is_honoured(method):
    views = holed("missing-view")
    options = {"n_clusters": 3, "init": "random", "n_init": 1, "max_iter": 5, "tol": 0.0}
    one, same, *others = (make(method, random_state=s, **options).fit(views) for s in (0, 0, 1, 2))
    np.testing.assert_array_equal(one.embedding_, same.embedding_)
    assert any(one.objective_[0] != other.objective_[0] for other in others)
    for state in (np.random.RandomState(0), np.random.default_rng(0)):
        make(method, random_state=state, **{**options, "n_clusters": None}).fit(views)


@by_case
def test_estimators_take_other_array_libraries(method, setting, xp):
    arrays = holed(setting)
    reference = xp.asarray(np.zeros(1))
    views = [like(X, reference) for X in arrays]
    model = make(method, n_clusters=3, random_state=0, max_iter=4, tol=0.0).fit(views)
    plain = make(method, n_clusters=3, random_state=0, max_iter=4, tol=0.0).fit(arrays)
    assert type(model.embedding_) is type(reference)
    assert type(model.complete(views)[0]) is type(reference)
    common = min(len(model.objective_), len(plain.objective_))  # rounding decides which stops first at the minimum
    assert common >= 2
    np.testing.assert_allclose(model.objective_[:common], plain.objective_[:common], rtol=1e-8)
    for ours, theirs in zip(model.complete(views), plain.complete(arrays), strict=True):
        np.testing.assert_allclose(to_numpy(ours), theirs, atol=1e-5)
    if hasattr(model, "score"):
        assert model.score(views) == pytest.approx(plain.score(arrays), rel=1e-4)


@by_name
def test_scikit_learn_tools_work_on_one_view(method):
    X = np.concatenate(planted(n=60), axis=1)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    if not method().__sklearn_tags__().input_tags.allow_nan:
        X = np.nan_to_num(X)
    rank = "n_components" if "n_components" in method().get_params() else "n_clusters"
    model = make(method, random_state=0, max_iter=20, tol=0.0)
    if hasattr(model, "score"):
        assert GridSearchCV(model, {rank: [1, 3]}, cv=3).fit(X).best_params_ == {rank: 3}
    pipeline = make_pipeline(FunctionTransformer(), model.set_params(**{rank: 2}))
    expected = clone(model).fit_transform(X)
    assert expected.shape == (60, 2)
    np.testing.assert_array_equal(pipeline.fit_transform(X), expected)


def test_the_generic_estimator_and_the_ready_made_ones_agree():
    for setting in SETTINGS:
        views = holed(setting)
        options = {"n_components": 3, "scale": "sample", "solver": "sor", "tol": 0.0, "max_iter": 20}
        generic = jella.JELLA(**options).fit(views)
        np.testing.assert_array_equal(generic.embedding_, jella.MVLIV(**options).fit(views).embedding_)
        parts = {"basis": ["nonnegative"], "embedding": [NonNegative(), L1(0.01)]}
        generic = jella.JELLA(**parts, **options).fit(views)
        np.testing.assert_array_equal(generic.embedding_, jella.PVC(**options).fit(views).embedding_)


def test_impossible_combinations_are_refused_before_the_loop():
    for options, message in [
        ({"basis": ["orthonormal", "l1"]}, "basis under Orthonormal with L1"),
        ({"embedding": ["box", "l21"]}, "embedding under Box with L21"),
        ({"embedding": ["orthonormal"]}, "Orthonormal ties the bases"),
        ({"basis": ["sparse"]}, "basis must be one of .*'l1'"),
        ({"loss": "huber"}, "loss must be one of .*'squared'"),
    ]:
        with pytest.raises(ValueError, match=message):
            jella.JELLA(callback=lambda progress: pytest.fail("the loop started"), **options).fit(planted())


def test_only_methods_for_any_sign_are_clusterers():
    assert is_clusterer(jella.MVLIV())
    assert not is_clusterer(jella.PVC())


@by_name
def test_signatures_are_alike(method):
    parameters = list(inspect.signature(method).parameters.values())
    assert parameters[0].name == "n_clusters"
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters[1:])
    annotated = {*BaseMultiView.__annotations__, *BaseJELLA.__annotations__}
    shared = {name for name in annotated if not name.endswith("_")}
    given = {p.name for p in parameters}
    fixed = {name for name in shared - given if hasattr(method, name)}
    assert shared <= given | fixed
    assert all(isinstance(p.default, str | int | float | bool | tuple | None) for p in parameters)
    for p in parameters:
        assert re.search(rf"^(\w+, )*{p.name}(, \w+)* : ", inspect.getdoc(method), flags=re.MULTILINE), p.name
