"""Imputers in files: equal values after loading, and tampered records are refused."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from common import planted
from test_saving import npy, write

import jella
from jella.impute.recipe import Correction
from jella.saving.imputer_rules import check_record

N = 80
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(setting="incomplete-view", n=N, seed=0, **options):
    views = planted(n=n, widths=(9, 7, 5), noise=0.3, seed=seed, **options)
    holed = jella.datasets.make_incomplete(views, 0.25, setting, random_state=seed)
    return dict(zip("abc", holed, strict=True))


def model_of(**options):
    return jella.SparseBDR(**{"max_iter": 5, "random_state": 0, **options})


def same(first, second):
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@pytest.fixture(scope="module")
def views():
    return data()


@pytest.fixture(scope="module")
def fitted(views):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jella.impute.hidden_values.MOST_TRIALS", 3)
        model = model_of(n_clusters=3).fit(views)
        model.learn_completion()
    return model


@pytest.fixture(scope="module")
def found(fitted, views):
    return fitted.complete(views, interval=0.9)


def test_saved_models_give_equal_values(views, fitted, found, tmp_path, monkeypatch):
    monkeypatch.setattr("jella.impute.hidden_values.MOST_TRIALS", 3)
    fitted.save(tmp_path / "with.jella")
    model_of(n_clusters=3).fit(views).save(tmp_path / "without.jella")
    for name, has in (("with", True), ("without", False)):
        loaded = jella.load(tmp_path / f"{name}.jella")
        assert ("imputer_" in vars(loaded)) == has
        other = loaded.complete(views, interval=0.9)
        for part in ("views", "lower", "upper", "std"):
            same(getattr(other, part), getattr(found, part))
        assert loaded.imputer_.overall == fitted.imputer_.overall


def _walk(node, kind):
    """The parts of all records of a kind in the description of a file."""
    if isinstance(node, dict):
        if node.get("kind") == kind:
            yield node["parts"]
        for one in node.values():
            yield from _walk(one, kind)
    elif isinstance(node, list):
        for one in node:
            yield from _walk(one, kind)


def _change_array(part, change):
    """A change of the array of a part of the first record of a kind."""

    def apply(tree, members, kind):
        node = next(_walk(tree, kind))[part]
        while isinstance(node, dict) and ("parts" in node or "shared" in node) and "array" not in node:
            node = tree["shared"][node["shared"]] if "shared" in node else node["parts"]["items"][0]
        array = change(np.load(io.BytesIO(members[node["array"]])).copy())
        members[node["array"]] = npy(array)
        node["shape"], node["dtype"] = list(array.shape), array.dtype.str

    return apply


def _set_part(part, value):
    return lambda tree, members, kind: next(_walk(tree, kind)).update({part: value})


TAMPERED = [
    ("Correction", _change_array("weights", lambda w: -1.0 - w), "weights that are not negative"),
    ("Correction", _change_array("weights", lambda w: w[:-1]), "equal numbers of weights"),
    ("Correction", _change_array("shrink", lambda w: w - 2.0), "factors that are not negative"),
    ("Correction", _set_part("trust", 3.0), "trust from 0 to 1"),
    ("Correction", _change_array("shift", lambda w: w * np.nan), "finite numbers for shifts"),
    ("Units", _change_array("spreads", lambda w: 0.0 * w), "positive spreads of features"),
    ("Units", _change_array("means", lambda w: w[:-1]), "expected an array"),
    ("OnPath", _set_part("weight", -1.0), "a positive weight"),
    ("OnPath", _change_array("bases", lambda w: w[:, :-1]), "expected an array"),
    ("Strata", _change_array("errors", lambda w: w[::-1]), "sorted errors"),
    ("Strata", _change_array("table", lambda w: w + 999), "the table of strata from 0"),
    ("Strata", _change_array("spread", lambda w: -w), "positive spreads of errors"),
    ("Bounds", _change_array("low", lambda w: w * 0.0 + np.inf), "lower bounds below upper ones"),
    ("Typical", _change_array("means", lambda w: w[:-1]), "typical answers of"),
    ("Imputer", _set_part("n_trials", 0), "trials that took some time"),
    ("Imputer", _set_part("seconds", -1.0), "trials that took some time"),
    ("Imputer", _change_array("examples", lambda w: w[:1]), "for examples"),
    ("Recipe", _set_part("groups", {"kind": "tuple", "parts": {"items": []}}), "a correction per group"),
    ("Spread", _set_part("groups", {"kind": "tuple", "parts": {"items": []}}), "strata of each group"),
]


@pytest.fixture(scope="module")
def members(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "good.jella"
    fitted.save(path)
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.mark.parametrize(("kind", "change", "message"), TAMPERED)
def test_tampered_imputers_are_refused(kind, change, message, members, tmp_path):
    tree, changed = json.loads(members["model.json"]), dict(members)
    change(tree, changed, kind)
    write(tmp_path / "bad.jella", {**changed, "model.json": tree})
    with pytest.raises(ValueError, match=message):
        jella.load(tmp_path / "bad.jella")


def test_factors_of_counts_may_exceed_one():
    one = Correction(np.ones(3), np.zeros(2), np.ones(2), np.array([1.3, 0.8]))
    check_record(one)
    with pytest.raises(ValueError, match="not negative"):
        check_record(replace(one, shrink=-one.shrink))
