"""Completed values on the command line: the same as in Python, with errors, intervals, kinds and probabilities."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
import warnings

import numpy as np
import pytest
from test_cli import Terminal

import jella
from jella.cli.main import main
from jella.io import read

pd = pytest.importorskip("pandas")

#: a view whose name is no name of a file
CLINICAL = "clinical/1"


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def summary(place):
    return json.loads((place / "run.json").read_text())["summary"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Counts that ten of 70 samples lack, a table with categories, and noise; cells of all of them are missing."""
    folder, rng, n = tmp_path_factory.mktemp("tables"), np.random.default_rng(0), 70
    W, ids = rng.normal(size=(n, 3)), pd.Index([f"s{i}" for i in range(n)], name="sample")
    rna = pd.DataFrame(rng.poisson(np.exp(W @ rng.normal(size=(3, 20)) * 0.6 + 1.5)).astype(float), index=ids)
    clinical = pd.DataFrame(
        {"age": 50 + 10 * W[:, 0], "sex": np.where(W[:, 1] > 0, "f", "m"), "score": W[:, 2]}, index=ids
    )
    clinical.loc[ids[3:9], "sex"] = None
    clinical.loc[ids[20:25], "age"] = np.nan
    noise = pd.DataFrame(np.random.default_rng(2).normal(size=(n, 6)), index=ids)
    rna.mask(rng.random(rna.shape) < 0.1).iloc[10:].to_csv(folder / "rna.csv")
    clinical.to_csv(folder / "clinical%2F1.csv")
    noise.mask(rng.random(noise.shape) < 0.1).to_csv(folder / "noise.csv")
    return folder


@pytest.fixture(scope="module")
def by_call(tables):
    """What `jella.complete` makes of the tables."""
    return jella.complete(read(tables).views, interval=0.9)


@pytest.fixture(scope="module")
def clustered(tables, tmp_path_factory):
    """Results of `jella cluster -k 3`, with intervals and a report."""
    place = tmp_path_factory.mktemp("clustered") / "out"
    assert main(["cluster", str(tables), "-k", "3", "-o", str(place), "--quiet", "--interval", "0.9"]) == 0
    return place


@pytest.fixture(scope="module")
def completed(tables, tmp_path_factory):
    """Results of `jella complete`, with intervals."""
    place = tmp_path_factory.mktemp("completed") / "out"
    assert main(["complete", str(tables), "-o", str(place), "--quiet", "--interval", "0.9"]) == 0
    return place


def assert_same(ours, theirs):
    """Tables with equal texts, and numbers that differ by rounding only."""
    assert set(ours) == set(theirs)
    for name, table in ours.items():
        other = theirs[name].loc[table.index].set_axis(table.columns, axis=1)
        numbers = table.select_dtypes("number").columns
        np.testing.assert_allclose(table[numbers], other[numbers], rtol=1e-8, atol=1e-8)
        texts = table.columns.difference(numbers)
        assert (table[texts].astype(str) == other[texts].astype(str)).all(axis=None)


def test_all_ways_to_complete_give_the_same_values(capsys, tables, by_call, clustered, completed, tmp_path):
    assert run(capsys, "cluster", tables, "-o", tmp_path / "auto", "--no-report", "--quiet")[0] == 0
    views = read(tables).views
    ways = [read(place / "completed").views for place in (clustered, completed, tmp_path / "auto")]
    ways.append(jella.SparseBDR(5, random_state=0).fit(views).complete(views))
    for way in ways:
        assert_same(way, by_call.views)


def test_all_ways_to_complete_say_the_same(capsys, tables, by_call, clustered, completed, tmp_path):
    code, out, _ = run(capsys, "complete", tables, "-o", tmp_path / "out")
    shown = [line[2:] for line in repr(by_call).splitlines()[1:-1]]
    assert code == 0
    assert out.splitlines()[:-1] == shown
    assert any(line.startswith("note: nothing predicts view 'noise'") for line in shown)
    for record in (summary(completed), summary(clustered)["completion"]):
        assert record["filled"] == by_call.n_filled
        assert record["kinds"] == by_call.kinds
        assert record["calibrated"] is True
        assert record["calibration_seconds"] > 0
        assert record["error"] == pytest.approx(by_call.error)
        assert record["standard_error_by_view"] == pytest.approx(by_call.standard_error_by_view)
        assert (record["imputed_by_mean"], record["notes"]) == (["noise"], list(by_call.notes))
    assert json.loads((completed / "run.json").read_text())["parts"] == {}  # the error needs no second fit
    assert "standard error" in (clustered / "report.html").read_text(encoding="utf-8")


def test_cells_are_counted_and_not_indicators(tables, by_call):
    assert by_call.n_filled[CLINICAL] == 6 + 5
    line = next(line for line in repr(by_call).splitlines() if CLINICAL in line)
    assert f" {(6 + 5) / (70 * 3):.1%} " in line
    found = jella.cluster(read(tables).views, 3)
    assert found.n_missing[CLINICAL] == 6 + 5
    assert f" {(6 + 5) / (70 * 3):.1%} " in next(line for line in repr(found).splitlines() if CLINICAL in line)


def test_probabilities_of_levels_are_written_by_view(by_call, clustered, completed):
    for place in (clustered, completed):
        assert [file.name for file in (place / "probabilities").iterdir()] == ["clinical%2F1.csv"]
        written = pd.read_csv(place / "probabilities" / "clinical%2F1.csv", index_col="sample")
        np.testing.assert_allclose(written, by_call.probabilities[CLINICAL].loc[written.index], atol=1e-8)
        likely = written.idxmax(axis=1).str.removeprefix("sex=")
        assert (read(place / "completed").views[CLINICAL]["sex"][likely.index].astype(str) == likely).all()


def test_intervals_are_written_like_the_views(tables, by_call, completed):
    lower, values, upper = (read(completed / f"completed{end}").views for end in ("-lower", "", "-upper"))
    assert_same(lower, by_call.lower)
    assert_same(upper, by_call.upper)
    before = read(tables).views
    for name, table in values.items():
        numbers = table.select_dtypes("number").columns
        low, middle, high = (views[name].loc[table.index, numbers] for views in (lower, values, upper))
        assert ((low <= middle) & (middle <= high)).all(axis=None)
        known = before[name][numbers].notna().reindex(table.index, fill_value=False)
        assert ((low == high) == known).all(axis=None)


@pytest.mark.parametrize("ending", ["h5mu", "h5ad"])
def test_intervals_are_layers_of_annotated_files(capsys, tmp_path, rng, ending):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    W = rng.normal(size=(40, 2))
    views = {name: W @ rng.normal(size=(2, d)) for name, d in (("a", 9), ("b", 6))}
    views["a"][rng.random(views["a"].shape) < 0.1] = np.nan
    file = tmp_path / f"cells.{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages' own future
        names = pd.DataFrame(index=[f"cell{i}" for i in range(40)])
        parts = {name: anndata.AnnData(X, obs=names) for name, X in views.items()}
        parts["b"] = parts["b"][:30].copy()
        mudata.MuData(parts).write_h5mu(file) if ending == "h5mu" else parts["a"].write_h5ad(file)
        words = ("complete", file, "-o", tmp_path / "out", "--interval", "0.8", "--quiet")
        assert run(capsys, *words)[0] == 0
        assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["completed", "run.json"]
        path = tmp_path / "out" / "completed" / file.name
        after = mudata.read_h5mu(path).mod if ending == "h5mu" else {"a": anndata.read_h5ad(path)}
    for name, part in after.items():
        low, high = part.layers["completed-lower"], part.layers["completed-upper"]
        assert ((low <= part.X) & (high >= part.X)).all()
        known = np.isfinite(views["a"]) if name == "a" else np.arange(40)[:, None] < 30
        assert ((low == high) == known).all()


def test_new_samples_have_intervals_and_probabilities_too(capsys, tables, clustered, tmp_path):
    out = tmp_path / "out"
    assert run(capsys, "transform", clustered, tables / "rna.csv", "-o", out, "--interval", "0.9", "--quiet")[0] == 0
    assert [path.name for path in (out / "completed-lower").iterdir()] == ["rna.csv"]
    model, new = jella.load(clustered / "model.jella"), {"rna": read(tables / "rna.csv").views["rna"]}
    expected = model.complete(new, interval=0.9)
    for end in ("lower", "upper"):
        assert_same(read(out / f"predicted-{end}").views | read(out / f"completed-{end}").views, getattr(expected, end))
    assert [path.name for path in (out / "probabilities").iterdir()] == ["clinical%2F1.csv"]
    assert summary(out)["completion"]["calibrated"] is True


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("complete", "--method", "mvliv", "--interval", "0.9"), "(sparse-bdr) with --interval, got mvliv"),
        (("cluster", "-k", "2", "--method", "mvliv", "--kinds", "count"), "(sparse-bdr) with --kinds, got mvliv"),
        (("complete", "--method", "mvliv", "--no-calibrate"), "(sparse-bdr) with --no-calibrate, got mvliv"),
        (("complete", "--interval", "0.9", "--no-calibrate"), "expected --interval or --no-calibrate, got both"),
        (("complete", "--interval", "0.9", "--dask"), "expected samples in memory with --interval, got --dask"),
        (("complete", "--kinds", "count", "--dask"), "expected samples in memory with --kinds, got --dask"),
        (("complete", "--kinds", "count", "--kinds", "rna=count"), "name the views"),
        (("complete", "--kinds", "protein=count"), "got the view 'protein'"),
        (("complete", "--kinds", "noise=count"), "expected whole numbers from 0 in feature"),
    ],
)
def test_options_that_do_not_go_together_are_one_sentence(capsys, tables, tmp_path, words, says):
    code, out, err = run(capsys, words[0], tables, *words[1:], "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_kinds_can_be_given_also_in_a_file(capsys, tables, tmp_path):
    (tmp_path / "c.toml").write_text("[complete]\nno-calibrate = true\n[complete.kinds]\nrna = 'real'\n")
    words = ("complete", tables, "--no-error", "--quiet", "--config", tmp_path / "c.toml", "-o", tmp_path / "out")
    assert run(capsys, *words)[0] == 0
    record = summary(tmp_path / "out")
    assert (record["kinds"]["rna"], record["kinds"]["noise"]) == ("real", "real")
    assert (record["calibrated"], record["notes"], "error" in record) == (False, [], False)


def test_without_calibration_the_error_is_that_of_a_second_fit(capsys, tables, tmp_path):
    words = ("complete", tables, "--no-calibrate", "-o", tmp_path / "out")
    assert run(capsys, *words)[0] == 0
    by_hand = jella.complete(read(tables).views, calibrate=False)
    record = summary(tmp_path / "out")
    assert record["error_by_view"] == pytest.approx(by_hand.error_by_view)
    assert json.loads((tmp_path / "out" / "run.json").read_text())["parts"] == {"error": "written"}
    assert_same(read(tmp_path / "out" / "completed").views, by_hand.views)
    written = pd.read_csv(tmp_path / "out" / "probabilities" / "clinical%2F1.csv", index_col="sample")
    np.testing.assert_allclose(written, by_hand.probabilities[CLINICAL].loc[written.index], atol=1e-8)


@pytest.fixture
def stopped(monkeypatch):
    """A calibration that is interrupted in its second fit."""
    whole, calls = jella.SparseBDR._refit, []

    def stop(self, *args, **options):
        calls.append(self)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        return whole(self, *args, **options)

    monkeypatch.setattr(jella.SparseBDR, "_refit", stop)
    return calls


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("k", ["3", "auto"])
def test_an_interrupted_search_for_evidence_keeps_the_fit(capsys, tables, tmp_path, stopped, k):
    out = tmp_path / "out"
    code, text, err = run(capsys, "cluster", tables, "-k", k, "--no-report", "--no-calibrate", "-o", out)
    assert (code, len(stopped)) == (130, 2)
    if k == "auto":
        assert "interrupted while evidence was gathered: the number of clusters was chosen by the graph alone" in err
    else:
        assert "no evidence for the clusters: interrupted; probabilities are not calibrated" in text.splitlines()
    record = summary(out)
    assert record["interrupted"] is True
    assert "evidence" not in record
    assert len(pd.read_csv(out / "labels.csv")) == 70


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("command", ["complete", "cluster"])
def test_an_interrupted_calibration_keeps_the_fit(capsys, tables, tmp_path, stopped, monkeypatch, command):
    few = ("-k", "3", "--no-report", "--set", "evidence=False")
    out, k = tmp_path / "out", few if command == "cluster" else ()
    code, text, err = run(capsys, command, tables, *k, "-o", out, "--interval", "0.9")
    cut = "calibration interrupted: the values are those of one uncorrected model"
    assert (code, err, len(stopped)) == (130, "", 2)
    assert f"note: {cut}" in text.splitlines()
    assert "no intervals: they need a calibration on hidden values" in text.splitlines()
    assert "last accepted sweep" not in text
    record = summary(out)
    assert record["interrupted"] is True
    completion = record["completion"] if command == "cluster" else record
    assert (completion["calibrated"], completion["notes"]) == (False, [cut])
    plain = jella.SparseBDR(3 if k else None, calibrate=False, random_state=0)
    views = read(tables).views
    assert_same(read(out / "completed").views, plain.fit(views).complete(views))
    if command == "cluster":
        assert len(pd.read_csv(out / "labels.csv")) == 70
        assert jella.load(out / "model.jella").imputer_ is None
        before = len(stopped)
        assert run(capsys, "transform", out, tables, "-o", tmp_path / "new", "--quiet")[0] == 0
        assert run(capsys, "transform", out, tables, "-o", tmp_path / "other", "--interval", "0.9")[0] == 2
        assert len(stopped) == before  # nothing is fitted again
    else:
        assert run(capsys, "report", out)[0] == 0  # the error of the values that were written
        assert summary(out)["error"] == pytest.approx(jella.complete(views, calibrate=False).error)


def test_a_terminal_is_told_about_the_calibration(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["complete", str(tables), "-o", str(tmp_path / "out")]) == 0
    shown = sys.stderr.getvalue().split("\r\x1b[K")
    assert "calibrating on hidden values" in shown
    assert any(re.fullmatch(r"calibrating on hidden values, trial 2 of \d+", line) for line in shown)


def test_a_calibration_that_is_not_possible_is_told(capsys, tmp_path):
    values = np.full((12, 3), 7.0)
    np.savez(tmp_path / "a.npz", left=np.where(np.arange(12)[:, None] == 3, np.nan, values), right=values[:, ::-1])
    code, out, _ = run(capsys, "complete", tmp_path / "a.npz", "-o", tmp_path / "out", "--interval", "0.9")
    assert code == 0
    assert "note: not calibrated, since none of the values can be hidden: " in out
    assert "no intervals: " in out
    assert "no estimate of the error: " in out
