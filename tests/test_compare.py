"""`jella compare`: its rows, what they are fitted with, the baselines, and the numbers of the command line."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import types
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from common import holed
from scipy import sparse
from sklearn.impute import KNNImputer
from sklearn.preprocessing import StandardScaler

import jella
from jella.cli.main import main
from jella.cli.numbers import share, whole
from jella.model_selection import HeldOut
from jella.model_selection.baselines import BASELINES, ColumnMeans, Iterative, Mofa, Neighbours, SoftImpute
from jella.numerics.limits import get_limits, limits_as
from jella.numerics.progress import StatusLine
from jella.views import read_views


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Three groups in two views, with whole views missing, and their classes."""
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("compare") / "groups.npz"
    y = np.arange(60) % 3
    views = [5 * rng.normal(size=(3, d))[y] + rng.normal(size=(60, d)) + 20 for d in (8, 6)]
    views = jella.datasets.make_incomplete(views, 0.2, "missing-view", random_state=0)
    np.savez(path, left=views[0], right=views[1], labels=y)
    return path


def compare(capsys, data, *words):
    assert main(["compare", str(data), *map(str, words)]) == 0
    return capsys.readouterr().out


def rows_of(capsys, data, *words):
    record = json.loads(compare(capsys, data, *words, "--json", "--quiet"))
    return {row["method"]: row for row in record["methods"]}, record


# the table


def test_each_row_has_error_standard_error_scaling_and_rank(capsys, data, tmp_path):
    file = tmp_path / "t.csv"
    words = ("--methods", "mvliv", "pvc", "knn-imputer", "--repeats", 2, "--rate", 0.2)
    rows, record = rows_of(capsys, data, *words, "-o", file)
    assert list(rows)[-1] in ("mean-fill", "pvc")
    assert (rows["mvliv"]["scaling"], rows["mvliv"]["rank"]) == ("root", 10)
    assert (rows["pvc"]["scaling"], rows["knn-imputer"]["scaling"]) == ("feature", "standardize")
    assert rows["knn-imputer"]["rank"] is None
    assert record["repeats"] == 2
    X = dict(np.load(data))
    del X["labels"]
    held_out, model = HeldOut(2, share=0.2, random_state=0), jella.MVLIV(scale="auto", random_state=0)
    errors = [held_out.score(X, model.fit(part).complete(part), hidden) for part, hidden in held_out.split(X)]
    assert rows["mvliv"]["error"] == pytest.approx(np.mean(errors))
    assert rows["mvliv"]["error_se"] == pytest.approx(np.std(errors, ddof=1) / np.sqrt(2))
    with file.open() as table:
        (written,) = (row for row in csv.DictReader(table) if row["method"] == "mvliv")
    assert float(written["error_se"]) == rows["mvliv"]["error_se"]
    assert (written["scaling"], written["rank"]) == ("root", "10")


def test_the_text_says_what_was_done(capsys, data):
    lines = compare(capsys, data, "--methods", "mvliv", "ramc", "-k", 2, "--quiet").splitlines()
    assert lines == []
    lines = compare(capsys, data, "--methods", "mvliv", "ramc", "-k", 2).splitlines()
    assert lines[0].split() == ["method", "error", "±", "se", "scaling", "rank", "NMI", "ARI", "seconds"]
    assert lines[-3:] == [
        "ramc: it takes complete data",
        "error: root mean square on 10% of the known values, which were hidden (mean of 3 splits); "
        "1 is one standard deviation of a feature",
        "NMI, ARI: 2 clusters (as given) of all data, at the default scaling of each method",
    ]
    assert "(one split)" in compare(capsys, data, "--methods", "mvliv", "--repeats", 1, "-k", "labels")


def test_the_number_of_clusters_is_not_that_of_the_classes_unless_asked(capsys, data, monkeypatch):
    seen, original = [], jella.MVLIV.fit
    monkeypatch.setattr(
        jella.MVLIV, "fit", lambda self, *a, **k: seen.append(self.n_clusters) or original(self, *a, **k)
    )
    number = jella.model_selection.select_n_clusters(
        {k: v for k, v in np.load(data).items() if k != "labels"}
    ).n_clusters
    words = ("--methods", "mvliv", "--repeats", 1)
    _, record = rows_of(capsys, data, *words)
    assert record["n_clusters"] == number
    assert seen == [None, number]
    _, record = rows_of(capsys, data, *words, "-k", "labels")
    assert (record["n_clusters"], seen[2:]) == (3, [3, 3])
    _, record = rows_of(capsys, data, *words, "-k", 5)
    assert (record["n_clusters"], seen[4:]) == (5, [5, 5])


def test_clusters_are_those_of_the_default_scaling(capsys, data):
    rows, _ = rows_of(capsys, data, "--methods", "daimc", "-k", 3)
    X = dict(np.load(data))
    y = X.pop("labels")
    expected = jella.metrics.nmi(y, jella.DAIMC(3, random_state=0).fit(X).labels_)
    assert rows["daimc"]["nmi"] == pytest.approx(expected)
    assert rows["daimc"]["scaling"] == "root"


def test_classes_are_needed_to_count_them(capsys, tmp_path):
    np.savez(tmp_path / "a.npz", left=np.random.default_rng(0).normal(size=(20, 3)))
    assert main(["compare", str(tmp_path / "a.npz"), "-k", "labels"]) == 2
    assert "expected known classes for -k labels, got none; pass --labels NAME" in capsys.readouterr().err


def test_a_method_that_only_clusters_says_so(capsys, tmp_path):
    np.savez(tmp_path / "a.npz", left=np.random.default_rng(0).normal(size=(20, 3)))
    rows, _ = rows_of(capsys, tmp_path / "a.npz", "--methods", "ramc")
    assert rows["ramc"]["why"] == "it completes nothing"


def test_a_method_that_fails_is_shown_with_the_reason(capsys, data, monkeypatch):
    def fail(self, X):
        raise ValueError("the reason")

    monkeypatch.setattr(Neighbours, "complete", fail)
    rows, _ = rows_of(capsys, data, "--methods", "knn-imputer", "mvliv", "-k", 2)
    assert (rows["knn-imputer"]["why"], rows["knn-imputer"]["error"]) == ("the reason", None)
    assert rows["mvliv"]["error"] is not None
    assert "knn-imputer: the reason" in compare(capsys, data, "--methods", "KNNImputer", "-k", 2).splitlines()


def test_progress_names_the_method_and_the_split(capsys, data, monkeypatch):
    shown = []
    monkeypatch.setattr(StatusLine, "show", lambda self, text, at_once=False: shown.append(text))
    compare(capsys, data, "--methods", "knn-imputer", "mvliv", "--repeats", 2)
    assert shown[0] == "0 of 2 methods compared; choosing the number of clusters"
    splits = [text for text in shown if "split" in text and "mean-fill" not in text]
    assert list(dict.fromkeys(splits))[:3] == [
        "0 of 2 methods compared; knn-imputer, split 1 of 2",
        "0 of 2 methods compared; knn-imputer, split 2 of 2",
        "1 of 2 methods compared; mvliv, split 1 of 2",
    ]
    assert shown[-1] == "1 of 2 methods compared; mvliv, clusters"


def test_all_means_what_is_installed(capsys, data, monkeypatch):
    monkeypatch.setattr(Mofa, "package", "no_such_package")
    monkeypatch.setattr(SoftImpute, "package", "no_such_package")
    rows, _ = rows_of(capsys, data, "--repeats", 1, "-k", 3)
    assert {"mean-fill", "knn-imputer", "iterative-imputer", "sparse-bdr", "rpca"} <= set(rows)
    assert not {"mofa", "soft-impute"} & set(rows)
    assert all(row["error"] is not None or row["method"] in ("ramc", "mic") for row in rows.values())
    rows, _ = rows_of(capsys, data, "--methods", "mofa")
    assert rows["mofa"]["why"] == "it needs the package no_such_package; pip install no_such_package"
    assert main(["compare", str(data), "--methods", "nothing"]) == 2
    assert "iterative-imputer, soft-impute, mofa, got 'nothing'; pass one of these names" in capsys.readouterr().err


# baselines


@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_baselines_complete_in_the_container_and_in_its_units(wrap):
    X = [np.round(view * [1e3], 3) for view in holed("missing-view")]
    full = KNNImputer().fit_transform(StandardScaler().fit_transform(np.hstack(X)))
    full = StandardScaler().fit(np.hstack(X)).inverse_transform(full)
    wrapped = [wrap(view) for view in X]
    found = Neighbours().fit(wrapped).complete(wrapped)
    means = ColumnMeans().fit(wrapped).complete(wrapped)
    parts = np.split(full, np.cumsum([view.shape[1] for view in X])[:-1], axis=1)
    for view, mine, plain, expected in zip(X, found, means, parts, strict=True):
        assert type(mine) is type(wrapped[0])
        mine, plain = (part.toarray() if sparse.issparse(part) else np.asarray(part) for part in (mine, plain))
        assert np.array_equal(mine[~np.isnan(view)], view[~np.isnan(view)])
        np.testing.assert_allclose(mine, expected, rtol=1e-8)
        np.testing.assert_allclose(plain, np.where(np.isnan(view), np.nanmean(view, axis=0), view), rtol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # five rounds are meant
@pytest.mark.parametrize("kind", [Neighbours, Iterative])
def test_units_do_not_change_what_baselines_predict(kind):
    X = holed("incomplete-view")
    units = [10.0 ** np.arange(view.shape[1]) for view in X]
    plain, other = kind().complete(X), kind().complete([view * u for view, u in zip(X, units, strict=True)])
    for one, two, unit in zip(plain, other, units, strict=True):
        np.testing.assert_allclose(two / unit, one, rtol=1e-4, atol=1e-6)


def test_too_large_data_are_not_tried():
    wide = read_views(sparse.csr_array((10, 3000)))
    assert Iterative().obstacle(wide) == "it would take too long with 3,000 features, more than 2,000"
    assert Neighbours().obstacle(wide) is None
    long = read_views(sparse.csr_array((30_000, 3)))
    assert Neighbours().obstacle(long) == "it would take too long with 30,000 samples, more than 20,000"
    with limits_as(replace(get_limits(), memory=1000)):
        assert "of memory, with 1000 bytes allowed" in Neighbours().obstacle(wide)
    assert ColumnMeans().obstacle(long) is None


def test_packages_get_standardised_views(monkeypatch):
    """With stand-ins for the packages, which answer zeros: the means of standardised features."""
    seen = {}

    class Solver:
        def __init__(self, verbose):
            assert verbose is False

        def fit_transform(self, M):
            seen["soft-impute"] = M
            return np.where(np.isnan(M), 0.0, M)

    class Node:
        def __init__(self, value):
            self.value = value

        def getExpectation(self):
            return self.value

    class EntryPoint:
        def __getattr__(self, name):
            return lambda *args, **options: seen.setdefault(name, (args, options)) and print(name)

        @property
        def model(self):
            (views,), _ = seen["set_data_matrix"]
            n, r = views[0][0].shape[0], seen["set_model_options"][1]["factors"]
            Z, W = np.zeros((n, r)), [np.ones((view.shape[1], r)) for (view,) in views]
            return types.SimpleNamespace(nodes={"Z": Node(Z), "W": Node(W)})

    monkeypatch.setitem(sys.modules, "fancyimpute", types.SimpleNamespace(SoftImpute=Solver))
    monkeypatch.setitem(sys.modules, "mofapy2", types.ModuleType("mofapy2"))
    monkeypatch.setitem(sys.modules, "mofapy2.run", types.ModuleType("mofapy2.run"))
    monkeypatch.setitem(sys.modules, "mofapy2.run.entry_point", types.SimpleNamespace(entry_point=EntryPoint))
    X = [7 + 3 * view for view in holed("incomplete-view")]
    expected = ColumnMeans().complete(X)
    for kind in (SoftImpute, Mofa):
        for one, two in zip(kind(3).complete(X), expected, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-10)
    np.testing.assert_allclose(np.nanstd(seen["soft-impute"], axis=0), 1.0)
    ((views,), _), (_, trained) = seen["set_data_matrix"], seen["set_train_options"]
    assert [view.shape for (view,) in views] == [view.shape for view in X]
    assert trained["seed"] == 3


def test_baselines_refuse_what_no_sample_has():
    X = holed("incomplete-view")
    X[0][:, 1] = np.nan
    with pytest.raises(ValueError, match="never observed"):
        Neighbours().complete(X)
    assert len({kind.name for kind in BASELINES}) == len(BASELINES)


# numbers


def test_numbers_of_the_command_line():
    assert (whole(0, 9)("9"), whole(1, auto=None)("auto"), share("0.25")) == (9, None, 0.25)
    for read, text, says in (
        (whole(0, 9), "10", "expected a whole number from 0 to 9, got '10'"),
        (whole(1, auto=None, labels="labels"), "0", "expected a whole number from 1 or auto or labels, got '0'"),
        (whole(1), "1.5", "expected a whole number from 1, got '1.5'"),
        (whole(1), "9" * 30, "expected a whole number from 1, got"),
        (share, "1", "expected a share between 0 and 1, got '1'"),
        (share, "x", "expected a share between 0 and 1, got 'x'"),
    ):
        with pytest.raises(argparse.ArgumentTypeError, match=f"^{says}"):
            read(text)
