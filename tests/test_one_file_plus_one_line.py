"""A term is one file and a method is one file: written outside the package, one import is all that they need."""

from __future__ import annotations

import importlib
import sys
import textwrap

import numpy as np
import pytest
from common import SETTINGS, planted
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import jella

TERM = '''
    """A soft cap on entries."""

    from jella.numerics.arrays import namespace
    from jella.terms import Proximable


    class SoftCap(Proximable):
        """weight · Σ max(b_ij − cap, 0): entries above the cap pay for the excess."""

        elementwise, order = True, 1

        def __init__(self, weight=0.5, cap=0.4):
            self.weight, self.cap = weight, cap

        def value(self, B, state=None):
            xp = namespace(B)
            return self.weight * float(xp.sum(xp.where(B > self.cap, B - self.cap, xp.zeros_like(B))))

        def prox(self, B, step):
            xp = namespace(B)
            lowered = B - step * self.weight
            return xp.where(lowered > self.cap, lowered, xp.where(B > self.cap, self.cap + 0.0 * B, B))
'''

METHOD = '''
    """A method with the term."""

    from jella.estimators.framework import BaseClusterer
    from jella.problem import Problem
    from jella.terms import NonNegative, Ridge

    from one_file_package.soft_cap import SoftCap


    class CappedParts(BaseClusterer):
        """Non-negative parts with small bases, whose use by a sample is capped."""

        def __init__(
            self,
            n_clusters=None,
            *,
            n_components=None,
            weight=0.5,
            scale="sample",
            view_weights=None,
            solver="basic",
            init="svd",
            n_init=10,
            max_iter=500,
            tol=1e-3,
            warm_start=False,
            on_empty="raise",
            callback=None,
            random_state=None,
        ):
            self.n_clusters, self.n_components, self.weight = n_clusters, n_components, weight
            self.scale, self.view_weights, self.solver, self.init = scale, view_weights, solver, init
            self.n_init, self.max_iter, self.tol, self.warm_start = n_init, max_iter, tol, warm_start
            self.on_empty, self.callback, self.random_state = on_empty, callback, random_state

        def declare(self, data):
            return Problem(basis=(Ridge(0.01),), embedding=(NonNegative(), SoftCap(self.weight)))
'''


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The two files as a package; importing it is the one line."""
    root = tmp_path_factory.mktemp("outside")
    folder = root / "one_file_package"
    folder.mkdir()
    for name, text in {"__init__": "", "soft_cap": TERM, "capped_parts": METHOD}.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    sys.path.insert(0, str(root))
    try:
        yield importlib.import_module("one_file_package.capped_parts")
    finally:
        sys.path.remove(str(root))
        for name in [name for name in sys.modules if name.split(".")[0] == "one_file_package"]:
            del sys.modules[name]


def _incomplete(setting="missing-view"):
    """Planted views of three groups, whole and with holes."""
    truth = planted(n=90, widths=(12, 9, 7), noise=0.02)
    return truth, jella.datasets.make_incomplete(truth, 0.3, setting, random_state=1)


@pytest.mark.parametrize("name", ["softcap", "SoftCap", "soft_cap", "soft-cap"])
def test_a_term_is_found_by_its_name(package, name):
    _, views = _incomplete()
    options = {"n_components": 3, "tol": 1e-6}
    model = jella.JELLA(embedding=[name], **options).fit(views)
    free = jella.JELLA(**options).fit(views)
    # it is counted as it says, the objective falls, and it acts
    excess = np.maximum(model.embedding_ - 0.4, 0)
    assert model.history_["embedding.SoftCap"][-1] == pytest.approx(0.5 * excess.sum(), abs=1e-9)
    assert np.all(np.diff(model.objective_) <= 0)
    assert excess.sum() < 0.5 * np.maximum(free.embedding_ - 0.4, 0).sum()


def test_a_term_goes_with_others_and_can_be_weighed(package):
    _, views = _incomplete("incomplete-view")
    heavy = package.SoftCap(50.0, cap=0.3)
    model = jella.JELLA(n_components=3, embedding=["nonnegative", heavy], tol=1e-6).fit(views)
    assert model.embedding_.min() >= 0.0
    assert model.embedding_.max() == pytest.approx(0.3)  # nothing is worth that price
    assert (model.embedding_ == 0.3).any()


def test_a_name_that_no_term_has_is_refused_with_those_there_are(package):
    with pytest.raises(ValueError, match=r"'softcap'.* got 'softcup'"):
        jella.JELLA(embedding=["softcup"]).fit(_incomplete()[1])


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_method_fits_transforms_predicts_and_completes(package, setting):
    truth, views = _incomplete(setting)
    model = package.CappedParts(n_clusters=3, random_state=0).fit(views)
    y = np.arange(90) % 3
    assert adjusted_rand_score(y, model.labels_) > 0.9
    np.testing.assert_allclose(model.transform(views), model.embedding_, atol=1e-6)
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    # samples that the fit has not seen
    both = [X[:60] for X in views], [X[60:] for X in views]
    model.fit(both[0])
    assert adjusted_rand_score(y, np.concatenate([model.labels_, model.predict(both[1])])) > 0.9
    completed = model.complete(both[1])
    missing = [np.isnan(X) for X in both[1]]
    rest = [X[60:] for X in truth]
    means = [np.where(m, np.nanmean(X, axis=0), X) for X, m in zip(both[1], missing, strict=True)]
    for ours, X, m in zip(completed, both[1], missing, strict=True):
        np.testing.assert_array_equal(ours[~m], X[~m])
    error = jella.metrics.rmse(rest, completed, missing=missing)
    assert error < 0.5 * jella.metrics.rmse(rest, means, missing=missing)


def test_a_method_is_an_estimator(package):
    _, views = _incomplete()
    model = clone(package.CappedParts(n_clusters=3, weight=0.001, max_iter=30, tol=0.0, random_state=0))
    assert model.get_params()["weight"] == 0.001
    model.fit(views)
    assert list(model.get_feature_names_out()) == ["cappedparts0", "cappedparts1", "cappedparts2"]
    assert set(model.history_) == {"loss", "basis.Ridge", "embedding.NonNegative", "embedding.SoftCap"}
    heavier = clone(model).set_params(weight=5.0).fit(views)
    assert heavier.embedding_.max() <= 0.4 < model.embedding_.max()
    # its bases are better than others: hidden values are predicted worse from those of shuffled samples
    shuffled = clone(model).fit([np.random.default_rng(v).permutation(X) for v, X in enumerate(views)])
    assert shuffled.score(views) < model.score(views) < 0
