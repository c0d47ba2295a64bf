"""`--dask` on the command line: what it writes is what memory gives, in parts; refusals; nothing stays behind."""

import json
import logging
import signal

import numpy as np
import pytest

import jella
from jella.cli.main import main
from jella.datasets import load_digits_views, make_incomplete
from jella.metrics import adjusted_rand

pd = pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("dask.dataframe", reason="dask DataFrames are not installed")
system = pytest.importorskip("dask.system", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

N = 90
FIT = ("--method", "mvliv", "--set", "max_iter=4", "--set", "tol=0.0")


@pytest.fixture(scope="module")
def address():
    """The scheduler of two worker processes."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(autouse=True)
def _small_parts_count(monkeypatch):
    import jella.distributed.read

    monkeypatch.setattr(jella.distributed.read, "WORTH_A_TASK", 1)


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """Two views of digits with holes, named, no order in common, each lacks samples: whole, and in parts."""
    rng = np.random.default_rng(0)
    views = make_incomplete({k: X[:N] for k, X in _digits().items()}, 0.2, "incomplete-view", random_state=0)
    frames = {}
    for name, rows in (("pixels", np.arange(75)), ("fourier", np.arange(20, N))):
        order = rng.permutation(rows)
        index = pd.Index([f"digit {i}" for i in order], name="sample")
        frame = pd.DataFrame(views[name][order], index, [f"{name} {j}" for j in range(views[name].shape[1])])
        frames[name] = frame[frame.notna().any(axis=1)]
    frames["fourier"] = frames["fourier"].reset_index()
    return _stored(frames, tmp_path_factory.mktemp("named"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """As `named`, without names: rows belong together by position."""
    views = make_incomplete({k: X[:N] for k, X in _digits().items()}, 0.2, "missing-view", random_state=0)
    frames = {name: pd.DataFrame(X).add_prefix(f"{name} ") for name, X in views.items()}
    return _stored(frames, tmp_path_factory.mktemp("plain"))


def _digits():
    data = load_digits_views().data
    return {"pixels": data["pixels"], "fourier": data["fourier"]}


def _stored(frames, folder):
    """The same views as a file each, and as a folder of parts each."""
    (folder / "whole").mkdir()
    for count, (name, frame) in enumerate(frames.items(), 3):
        frame.to_parquet(folder / "whole" / f"{name}.parquet")
        (folder / "parts" / name).mkdir(parents=True)
        is_ids = not isinstance(frame.index, pd.RangeIndex)
        for number, rows in enumerate(np.array_split(np.arange(len(frame)), count)):
            frame.iloc[rows].to_parquet(folder / "parts" / name / f"part.{number}.parquet", index=is_ids)
    return folder


def run(capfd, *words):
    code = main([str(word) for word in words])
    out, err = capfd.readouterr()
    return code, out, err


def both(folder, place, address, command, *words):
    """Folders of the same run in memory and on the cluster."""
    here, there = place / "here", place / "there"
    more = ("--no-report", "--tables", "parquet") if command == "cluster" else ("--no-error",)
    ways = (("whole", here, more), ("parts", there, ("--dask", address)))
    for kind, out, own in ways:
        parts = (command, folder / kind, *words, *FIT, *own, "-o", out, "--quiet")
        assert main([str(word) for word in parts]) == 0
    return here, there


@pytest.fixture(scope="module")
def clustered(named, tmp_path_factory, address):
    return both(named, tmp_path_factory.mktemp("clustered"), address, "cluster", "-k", 4)


def summary(place):
    return json.loads((place / "run.json").read_text())["summary"]


def rows_of(frame):
    return frame.set_index("sample") if "sample" in frame else frame


def assert_completed_alike(folder, here, there):
    for name in ("pixels", "fourier"):
        raw, ours, theirs = (
            rows_of(pd.read_parquet(path))
            for path in (
                folder / "whole" / f"{name}.parquet",
                there / "completed" / name,
                here / "completed" / f"{name}.parquet",
            )
        )
        assert list(ours.columns) == list(raw.columns)
        np.testing.assert_allclose(ours.loc[theirs.index].to_numpy(), theirs.to_numpy(), rtol=0, atol=1e-8)
        known = raw.notna().to_numpy()
        assert (ours.loc[raw.index].to_numpy()[known] == raw.to_numpy()[known]).all()
        assert ours.notna().all(axis=None)


def test_cluster_writes_what_memory_gives_in_parts(named, clustered, address):
    here, there = clustered
    assert sorted(path.name for path in there.iterdir()) == [
        "completed", "embedding", "labels", "model.jella", "run.json",
    ]  # fmt: skip
    assert len(list((there / "labels").iterdir())) == len(list((there / "embedding").iterdir())) > 2
    labels, known = pd.read_parquet(there / "labels"), pd.read_parquet(here / "labels.parquet")
    assert labels["sample"].tolist() == known["sample"].tolist()
    assert adjusted_rand(labels["cluster"], known["cluster"]) == 1.0
    ours, theirs = pd.read_parquet(there / "embedding"), pd.read_parquet(here / "embedding.parquet")
    assert list(ours.columns) == list(theirs.columns)
    np.testing.assert_allclose(rows_of(ours), rows_of(theirs), rtol=0, atol=1e-8)
    assert_completed_alike(named, here, there)
    said = summary(there)
    assert said.pop("dask") == {"where": address, "workers": 2}
    assert said == summary(here) | {"data": "parts", "sizes": np.bincount(labels["cluster"]).tolist()}
    assert sorted(said["sizes"]) == sorted(summary(here)["sizes"])


def test_ids_are_written_where_they_were_and_results_can_be_read_again(named, clustered):
    _, out = clustered
    assert pd.read_parquet(out / "completed" / "pixels").index.name == "sample"
    assert pd.read_parquet(out / "completed" / "fourier").columns[0] == "sample"
    again = jella.io.read_partitions(out / "completed")
    assert list(again["pixels"].compute().index) == pd.read_parquet(out / "labels")["sample"].tolist()
    model = jella.load(out / "model.jella")
    assert not hasattr(model, "embedding_")
    embedding = model.transform(jella.io.read(named / "whole").views)
    np.testing.assert_allclose(embedding, rows_of(pd.read_parquet(out / "embedding")).to_numpy(), atol=1e-8)


def test_complete_without_ids_goes_by_position(capfd, plain, tmp_path, address):
    here, there = both(plain, tmp_path, address, "complete")
    assert capfd.readouterr() == ("", "")
    assert sorted(path.name for path in there.iterdir()) == ["completed", "run.json"]
    assert_completed_alike(plain, here, there)
    said = summary(there)
    assert said.pop("dask")["workers"] == 2
    assert said == summary(here) | {"data": "parts"}


def test_the_recommended_method_completes_calibrated_and_says_how_well(capfd, plain, tmp_path, address):
    said = []
    for kind, more in (("whole", ()), ("parts", ("--dask", address))):
        out = tmp_path / kind
        code, _, _ = run(capfd, "complete", plain / kind, "--set", "max_iter=2", "-o", out, *more)
        assert code == 0
        said.append(summary(out))
    here, there = said
    assert there["calibrated"] is here["calibrated"] is True
    assert there["error"] == pytest.approx(here["error"], rel=1e-3)
    assert there["kinds"] == here["kinds"]


def test_positions_name_the_samples_of_labels(capfd, plain, tmp_path, address):
    out = tmp_path / "out"
    paths = [plain / "parts" / "pixels", plain / "whole" / "fourier.parquet"]
    code, text, _ = run(capfd, "cluster", *paths, "-k", 3, *FIT, "--dask", address, "-o", out)
    assert code == 0
    assert f"{N} samples of tables in 3 clusters" in text
    assert text.strip().endswith("no report.html: it needs the samples in memory")
    assert pd.read_parquet(out / "labels")["sample"].tolist() == list(range(N))


def test_the_recommended_method_needs_no_name_and_leaves_a_model(capfd, plain, tmp_path, address):
    out = tmp_path / "out"
    words = ("cluster", plain / "parts", "-k", 3, "--set", "max_iter=2", "--dask", address, "-o", out, "--no-report")
    code, text, _ = run(capfd, *words)
    assert code == 0
    assert text.splitlines()[0].endswith("by SparseBDR")
    labels = pd.read_parquet(out / "labels")
    assert labels["sample"].tolist() == list(range(N))
    assert jella.load(out / "model.jella").landmarks_.n_landmarks == N
    assert not pd.read_parquet(out / "completed" / "pixels").isna().any(axis=None)


def test_workers_of_this_machine_come_and_go_without_a_trace(capfd, plain, tmp_path):
    handler, disabled = signal.getsignal(signal.SIGINT), logging.root.manager.disable
    words = ("cluster", plain / "parts", "-k", 3, *FIT, "--dask", "-o", tmp_path / "out", "--quiet", "--json")
    code, out, err = run(capfd, *words)
    assert (code, err) == (0, "")
    where = json.loads(out)["dask"]
    assert where["where"] == "local"
    assert where["workers"] == system.CPU_COUNT  # one per core
    assert signal.getsignal(signal.SIGINT) is handler
    assert logging.root.manager.disable == disabled
    with pytest.raises(ValueError, match=r"No (global )?client"):
        distributed.get_client()


def test_ctrl_c_in_a_fit_keeps_the_last_sweep(capfd, plain, tmp_path, address, monkeypatch):
    import jella.cli.fitting

    def press(line, progress):
        if progress.n_iter == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(jella.cli.fitting.SweepLine, "__call__", press)
    out = tmp_path / "out"
    code, text, err = run(capfd, "cluster", plain / "parts", "-k", 3, *FIT, "--dask", address, "-o", out)
    assert code == 130
    assert "interrupted: the results are those of the last accepted sweep" in text
    assert err.count("\n") == 1
    assert len(pd.read_parquet(out / "embedding")) == N


def test_a_part_that_a_worker_cannot_read_is_one_sentence(capfd, plain, tmp_path, address):
    folder = tmp_path / "parts"
    for name in ("pixels", "fourier"):
        (folder / name).mkdir(parents=True)
        for file in (plain / "parts" / name).iterdir():
            (folder / name / file.name).write_bytes(file.read_bytes())
    file = folder / "pixels" / "part.1.parquet"
    content = bytearray(file.read_bytes())
    content[4:2000] = b"\xff" * 1996
    file.write_bytes(content)
    code, _, err = run(capfd, "cluster", folder, "-k", 3, *FIT, "--dask", address, "-o", tmp_path / "out")
    assert code == 2
    assert "expected a Parquet table in part.1.parquet, got bytes that are damaged or cut short" in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_cluster_that_is_lost_is_one_sentence(capfd, plain, tmp_path, address, monkeypatch):
    import jella.cli.on_dask
    from jella.solve.samples import SamplesLostError

    def lose(*args):
        raise SamplesLostError("all workers are gone; start some: the fit ended after 2 sweeps; and so on")

    monkeypatch.setattr(jella.cli.on_dask, "fit", lose)
    code, _, err = run(capfd, "complete", plain / "parts", *FIT, "--dask", address, "-o", tmp_path / "out")
    assert code == 2
    assert err.endswith("got a cluster that was lost: all workers are gone; start some\n")
    assert list(tmp_path.iterdir()) == []


def test_workers_that_would_write_elsewhere_are_refused(tmp_path):
    from jella.cli.on_dask import _check_shared

    class Far:
        def run(self, function, path):
            return {"tcp://near:1": function(path), "tcp://far:2": False}

    with pytest.raises(ValueError, match="the worker at tcp://far:2 does not; write where all machines do"):
        _check_shared(Far(), tmp_path)


@pytest.mark.parametrize("where", ["tcp://127.0.0.1:1", "odd://somewhere"])
def test_an_address_without_a_scheduler_is_one_sentence(capfd, plain, tmp_path, monkeypatch, where):
    import jella.cli.on_dask

    monkeypatch.setattr(jella.cli.on_dask, "_PATIENCE", 1)
    code, _, err = run(capfd, "cluster", plain / "parts", "-k", 3, *FIT, "--dask", where, "-o", tmp_path / "out")
    assert code == 2
    assert f"jella: expected a Dask scheduler with workers at {where}, got none in 1 seconds; start them" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("-k", 3, "--method", "img"),
            "parts (sparse-bdr, daimc, imcl, irmkmc, mvliv, pvc) with --dask, got img",
        ),
        (("-k", 3, "--method", "imlbdr"), "got imlbdr; leave --method out for sparse-bdr"),
        ((*FIT, "-k", 3, "--device", "cpu"), "expected --dask or --device, got both; leave one of them out"),
        ((*FIT, "-k", 3, "--labels", "y"), "expected only --id-column to read Parquet with --dask, got --labels"),
        ((*FIT, "-k", 3, "--non-numeric", "drop"), "got --non-numeric; leave it out"),
        (FIT, "expected a number of clusters for mvliv, got auto; pass -k NUMBER"),
        ((*FIT, "-k", 3, "--id-column", "who"), "expected the id column 'who' in all views, got none in 'fourier'"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_starts(capfd, plain, tmp_path, words, sentence):
    out = tmp_path / "out"
    code, text, err = run(capfd, "cluster", plain / "parts", "--dask", "tcp://nowhere.invalid:1", "-o", out, *words)
    assert (code, text, list(tmp_path.iterdir())) == (2, "", [])
    assert sentence in err
    assert err.count("\n") == 1


def test_data_behind_dask_are_not_taken_for_an_address(capfd, plain):
    with pytest.raises(SystemExit):
        main(["cluster", "--dask", str(plain / "parts")])
    assert "expected the address of a scheduler such as tcp://host:8786" in capfd.readouterr().err
    assert main(["cluster", "-o", str(plain / "out"), "-k", "3", *FIT, "--dask"]) == 2
    assert "expected Parquet files or folders with the data, got none" in capfd.readouterr().err
