"""The experiment runner: cells, holes shared by all methods, resuming, failures; the plan of the paper."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from jella.datasets import load_digits_views, make_incomplete
from jella.metrics import adjusted_rand, nmi, rmse
from jella.model_selection import HeldOut, held_out_error
from jella_experiments import CONTENDERS, Cell, ResultsFile, run
from jella_experiments.cell import TASKS
from jella_experiments.paper import ARTEFACTS, QUICK, ExperimentPlan, cells_of, comparison, on_digits
from jella_experiments.pipelines import all_features
from jella_experiments.protocol import compute_cell, norms_per_view, scaled_samples
from jella_experiments.results_file import content


def small(name: str):
    data = load_digits_views()
    return {view: X[:60] for view, X in data.data.items()}, data.target[:60] % 3


def clear():
    """Three digits that are easy to tell apart."""
    data = load_digits_views()
    rows = np.flatnonzero(np.isin(data.target, [0, 4, 6]))[:90]
    return {view: X[rows] for view, X in data.data.items()}, data.target[rows]


class ColumnMeans(BaseEstimator):
    """Fills in the means of columns."""

    def fit(self, X):
        self.means_ = {name: np.nanmean(view, axis=0) for name, view in X.items()}
        return self

    def complete(self, X):
        return {name: np.where(np.isnan(view), self.means_[name], view) for name, view in X.items()}


def failing(name: str):
    views, labels = small(name)
    return {view: X - 1.0 for view, X in views.items()}, labels  # PVC takes no negative values


def cells(methods=("MVL-IV", "PVC", "DAIMC"), repetitions=2):
    return [Cell("small", "missing-view", 0.3, t, method) for t in range(repetitions) for method in methods]


def test_cells_of_one_draw_share_their_holes_and_others_do_not():
    first = Cell("Yale", "missing-view", 0.1, 0, "PVC", (("alpha", 0.1),))
    assert first.seed == Cell("Yale", "missing-view", 0.1, 0, "IMG", task="hold-out").seed
    others = [
        Cell("Corel5k", "missing-view", 0.1, 0, "PVC"),
        Cell("Yale", "incomplete-view", 0.1, 0, "PVC"),
        Cell("Yale", "missing-view", 0.2, 0, "PVC"),
        Cell("Yale", "missing-view", 0.1, 1, "PVC"),
    ]
    assert len({first.seed, *(cell.seed for cell in others)}) == 5


def test_a_cell_survives_its_line_in_the_file():
    cell = Cell(
        "Yale", "missing-view", 0.1, 3, "IML-BDR", (("alpha", 0.01), ("gamma", 10.0)), ("gist", "lbp"), "hold-out"
    )
    assert Cell.from_dict(json.loads(json.dumps(cell.as_dict()))) == cell


def test_every_result_says_what_it_took_and_where(tmp_path):
    started = time.perf_counter()
    found = run(cells(repetitions=1), tmp_path / "r.jsonl", load=small, progress=False)
    passed = time.perf_counter() - started
    environments = ResultsFile(tmp_path / "r.jsonl").environments()
    for record in found.values():
        assert record["cpu_seconds"] > 0
        assert record["peak_mib"] > 10
        assert {"jella", "numpy", "scikit-learn", "machine", "date"} <= set(environments[record["environment"]])
    assert 0.1 * passed < sum(record["seconds"] for record in found.values()) <= passed


def test_nothing_is_computed_twice(tmp_path):
    asked = []

    def counting(name: str):
        asked.append(name)
        return small(name)

    first = run(cells(repetitions=1), tmp_path / "r.jsonl", load=counting, progress=False)
    assert len(asked) == 3
    again = run(cells(repetitions=2), tmp_path / "r.jsonl", load=counting, progress=False)
    assert len(asked) == 6
    assert {key: again[key] for key in first} == first


def test_a_failure_is_recorded_with_its_message_and_tried_again(tmp_path):
    cell = Cell("small", "missing-view", 0.3, 0, "PVC")
    failed = run([cell], tmp_path / "r.jsonl", load=failing, progress=False)[cell.key]
    assert failed["failed"].startswith("ValueError: ")
    assert "negative" in failed["failed"]
    mended = run([cell], tmp_path / "r.jsonl", load=small, progress=False)[cell.key]
    assert "failed" not in mended
    assert len(list(ResultsFile(tmp_path / "r.jsonl").records())) == 2  # the environment and the one result


def test_parallel_and_serial_runs_leave_the_same_file(tmp_path):
    run(cells(), tmp_path / "one.jsonl", load=small, progress=False)
    run(cells(), tmp_path / "two.jsonl", load=small, n_jobs=2, progress=False)
    assert lines(tmp_path / "one.jsonl") == lines(tmp_path / "two.jsonl")


def lines(path):
    return [content(record) for record in ResultsFile(path).records() if "dataset" in record]


SCRIPT = """
import sys
sys.path[:0] = {path!r}
import test_experiments as t
from jella_experiments import run
run(t.cells(repetitions=6), {file!r}, load=t.small, progress=False)
"""


def test_a_killed_run_goes_on_and_ends_as_if_it_had_not_been_killed(tmp_path):
    run(cells(repetitions=6), tmp_path / "whole.jsonl", load=small, progress=False)
    file = tmp_path / "killed.jsonl"
    script = SCRIPT.format(path=[os.path.dirname(__file__)], file=str(file))
    process = subprocess.Popen([sys.executable, "-c", script])
    while process.poll() is None and (not file.exists() or file.read_bytes().count(b"\n") < 4):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with file.open("ab") as part:
        part.write(b'{"dataset": "small", "sett')  # what a kill in the middle of a line leaves
    before = len(lines(file))
    assert 3 <= before < 18
    run(cells(repetitions=6), file, load=small, progress=False)
    assert lines(file) == lines(tmp_path / "whole.jsonl")


def test_scores_are_means_over_twenty_single_starts():
    views, labels = small("")
    cell = Cell("small", "missing-view", 0.3, 0, "MVL-IV")
    found = compute_cell(cell, views, labels)
    unit = scaled_samples(views, norms_per_view(views))
    holed = make_incomplete(unit, 0.3, "missing-view", random_state=cell.seed)
    model = CONTENDERS["MVL-IV"].make(3, cell.seed).fit(holed)
    from sklearn.cluster import KMeans

    W = model.embedding_ / np.linalg.norm(model.embedding_, axis=1, keepdims=True)
    runs = [KMeans(3, n_init=1, random_state=cell.seed % 2**31 + start).fit(W).labels_ for start in range(20)]
    assert found["nmi"] == pytest.approx(np.mean([nmi(labels, one) for one in runs]))
    assert found["ari"] == pytest.approx(np.mean([adjusted_rand(labels, one) for one in runs]))
    missing = {name: np.isnan(X) for name, X in holed.items()}
    assert found["rmse"] == pytest.approx(rmse(unit, model.complete(holed), missing=missing))
    assert found["rmse_all"] == pytest.approx(rmse(unit, model.complete(holed)))


def test_errors_of_methods_on_raw_data_are_at_unit_samples_too():
    views, labels = small("")
    big = {name: 100.0 * X for name, X in views.items()}
    cell = Cell("small", "incomplete-view", 0.3, 0, "SparseBDR", (("calibrate", False), ("kinds", "real")))
    assert compute_cell(cell, big, labels)["rmse"] == pytest.approx(compute_cell(cell, views, labels)["rmse"], rel=1e-3)


@pytest.mark.parametrize("scale", ["sample", "standardize"])
def test_what_users_would_pick_is_what_scikit_learn_does(scale):
    from sklearn.cluster import SpectralClustering
    from sklearn.impute import KNNImputer
    from sklearn.preprocessing import StandardScaler

    views, labels = small("")
    cell = Cell("small", "incomplete-view", 0.2, 0, "KNNImputer + spectral", (("scale", scale),))
    data = views if scale == "standardize" else scaled_samples(views, norms_per_view(views))
    X = all_features(make_incomplete(data, 0.2, "incomplete-view", random_state=cell.seed))
    if scale == "standardize":
        filled = KNNImputer().fit_transform(StandardScaler().fit_transform(X))
        filled = StandardScaler().fit_transform(filled)
    else:
        filled = KNNImputer().fit_transform(X)
    by_hand = SpectralClustering(3, affinity="nearest_neighbors", random_state=cell.seed).fit_predict(filled)
    assert compute_cell(cell, views, labels)["nmi"] == pytest.approx(nmi(labels, by_hand))


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")  # of the spectral clustering of others
@pytest.mark.parametrize("method", list(CONTENDERS))
def test_every_contender_clusters_and_holds_out_at_its_default(method):
    views, labels = clear()
    contender = CONTENDERS[method]
    cell = Cell("clear", "missing-view", 0.3, 0, method, contender.default)
    assert compute_cell(cell, views, labels)["nmi"] > 0.5
    if len(list(contender.combinations())) > 1 and not contender.whole_views:
        held = Cell("clear", "missing-view", 0.3, 0, method, contender.default, task="hold-out")
        holed = make_incomplete(
            scaled_samples(views, norms_per_view(views)), 0.3, "missing-view", random_state=held.seed
        )
        by_means = held_out_error(ColumnMeans(), holed, HeldOut(random_state=held.seed))
        assert 0 < compute_cell(held, views, labels)["error"] < 0.95 * by_means


def test_the_grids_are_the_papers():
    sizes = {name: len(list(contender.combinations())) for name, contender in CONTENDERS.items()}
    assert sizes == {
        "PVC": 4, "MIC": 3, "MVL-IV": 1, "IMG": 9, "DAIMC": 9, "iRMKMC": 3, "IML-BDR": 9, "RPCA + RAMC": 1,
        "RRMC + RAMC": 3, "KNNImputer + spectral": 2, "SparseBDR": 1,
    }  # fmt: skip


def test_the_plan_is_the_papers():
    yale = [c for c in comparison(ExperimentPlan(), "missing-view") if c.dataset == "Yale" and c.task == "cluster"]
    assert len(yale) == 50 * (4 + 3 + 1 + 9 + 9 + 3 + 9 + 2 + 1)
    corel = [c for c in comparison(ExperimentPlan(), "missing-view") if c.dataset == "Corel5k" and c.task == "cluster"]
    assert {c.rate for c in corel if c.method == "IML-BDR"} == {0.1, 0.3, 0.5}
    assert len([c for c in corel if c.method == "IML-BDR"]) == 3
    assert len([c for c in corel if c.method == "PVC"]) == 4 * 25


def test_what_cannot_be_run_is_said(tmp_path):
    with pytest.raises(ValueError, match="expected methods among"):
        run([Cell("small", "missing-view", 0.1, 0, "k-means")], tmp_path / "r.jsonl", load=small)
    with pytest.raises(ValueError, match="expected a task among"):
        Cell("small", "missing-view", 0.1, 0, "PVC", task="guess")
    cell = Cell("nowhere", "missing-view", 0.1, 0, "PVC")
    found = run([cell], tmp_path / "r.jsonl", progress=False)[cell.key]
    assert found["failed"].startswith("DataError: expected one of")


def test_the_command_line_knows_every_artefact():
    from jella.cli.reproduce import NAMES

    assert (*ARTEFACTS, "all") == NAMES


def on_torch():
    pytest.importorskip("torch")
    from jella.estimators.on_device import Device

    return Device.named("cpu")


def test_fits_on_a_device_find_the_same_and_name_it(tmp_path):
    device = on_torch()
    weights = (*CONTENDERS["IML-BDR"].default, ("max_iter", 20))
    asked = [Cell("small", "incomplete-view", 0.3, 0, "IML-BDR", weights, task=task) for task in TASKS]
    here = run(asked, tmp_path / "here.jsonl", load=small, progress=False)
    there = run(asked, tmp_path / "there.jsonl", load=small, device=device, progress=False)
    for key, record in there.items():
        assert record["device"] == "cpu"
        assert "device" not in here[key]
        assert set(content(record)) == set(content(here[key]))
        for score in {"nmi", "ari", "rmse", "rmse_all", "error", "objective", "n_iter"} & set(record):
            assert record[score] == pytest.approx(here[key][score], rel=1e-5)
    (environment,) = ResultsFile(tmp_path / "there.jsonl").environments().values()
    assert environment["machine"].endswith(f" cores, {device}")


def test_what_computes_in_numpy_stays_on_the_host_beside_a_device(tmp_path):
    device = on_torch()
    asked = [
        Cell("small", "incomplete-view", 0.3, 0, method, CONTENDERS[method].default)
        for method in ("RPCA + RAMC", "KNNImputer + spectral")
    ]
    here = run(asked, tmp_path / "here.jsonl", load=small, progress=False)
    for key, record in run(asked, tmp_path / "r.jsonl", load=small, device=device, progress=False).items():
        assert content(record) == content(here[key])
        assert "device" not in record
    with pytest.raises(ValueError, match="expected a method that runs on devices, got CompleteThenCluster"):
        device.fit(CONTENDERS["RPCA + RAMC"].make(3, 0), small("")[0])


def test_a_device_goes_to_other_processes():
    device = on_torch()
    assert pickle.loads(pickle.dumps(device)) == device


def test_the_command_line_takes_a_device(tmp_path, monkeypatch, capsys):
    on_torch()
    from jella.cli.main import main

    monkeypatch.delenv("JELLA_DATA", raising=False)
    seen = []
    monkeypatch.setattr("jella_experiments.reproduce.run", lambda *cells, device, **options: seen.append(device))
    monkeypatch.setattr("jella_experiments.reproduce.draw", lambda *results, **options: [])
    words = ["reproduce", "table-sor", "--quick", "-o", str(tmp_path / "out")]
    assert main([*words, "--device", "cpu"]) == 0
    assert main(words) == 0
    assert [None if device is None else device.hardware for device in seen] == ["cpu", None]
    assert main([*words, "--device", "nowhere"]) == 2
    assert "expected a device of this machine" in capsys.readouterr().err


def test_cells_come_repetition_by_repetition_and_once():
    plan = on_digits(QUICK)
    found = cells_of(ARTEFACTS, plan, lambda name: ("a", "b", "c"))
    assert len(found) == len(set(found))
    assert [cell.repetition for cell in found] == sorted(cell.repetition for cell in found)
    assert {cell.task for cell in found} == {"cluster", "hold-out", "converge"}


def test_without_the_package_of_experiments_the_command_says_where_it_is(monkeypatch, capsys, tmp_path):
    from jella.cli.main import main

    monkeypatch.setitem(sys.modules, "jella_experiments", None)
    monkeypatch.delitem(sys.modules, "jella_experiments.reproduce", raising=False)
    assert main(["reproduce", "all", "-o", str(tmp_path / "out")]) == 2
    assert "pip install ./experiments" in capsys.readouterr().err
