"""The command line: every command on real files, round trips, config, exit codes, Ctrl-C."""

from __future__ import annotations

import csv
import io
import json
import os
import select
import signal
import subprocess
import sys
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import jella
from jella.cli.main import main
from jella.datasets import load_digits_views, make_incomplete

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Two views of 90 digits as CSV tables: 20 samples are not in the second, some cells of both are empty."""
    folder = tmp_path_factory.mktemp("tables")
    data = load_digits_views()
    names = [f"digit {i}, <b>" for i in range(90)]
    rng = np.random.default_rng(0)
    for name, rows in (("pixels", slice(0, 90)), ("fourier", slice(20, 90))):
        values = data.data[name][rows]
        values = np.where(rng.random(values.shape) < 0.1, np.nan, values)
        pd.DataFrame(values, index=pd.Index(names[rows], name="sample")).to_csv(folder / f"{name}.csv")
    pd.Series([f"d{digit}" for digit in data.target[:90]], index=pd.Index(names, name="sample"), name="digit").to_csv(
        folder / "digit.csv"
    )
    return folder


def files(folder):
    return [str(folder / "pixels.csv"), str(folder / "fourier.csv")]


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def test_help_names_every_command():
    done = subprocess.run([sys.executable, "-m", "jella", "--help"], capture_output=True, text=True, check=True)
    for command in ("info", "cluster", "complete", "transform", "compare", "report", "methods", "reproduce"):
        assert command in done.stdout


def test_help_loads_no_heavy_library():
    heavy = "('scipy', 'sklearn', 'pandas')"
    script = f"import sys, jella.cli.parser as m; m.make_parser(); print([x for x in {heavy} if x in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_methods_lists_all(capsys):
    code, out, _ = run(capsys, "methods", "--json")
    named = {method["class"] for method in json.loads(out)["methods"]}
    assert code == 0
    assert {"SparseBDR", "MVLIV", "PVC", "RPCA", "RAMC"} <= named


def test_what_methods_says_of_missing_entries_and_signs_is_so():
    data = load_digits_views()
    whole = {name: X[:60] for name, X in data.data.items()}
    cases = {
        "entries": make_incomplete(whole, 0.2, "incomplete-view", random_state=0),
        "views": make_incomplete(whole, 0.2, "missing-view", random_state=0),
        "nothing": whole,
    }
    from jella.estimators.catalogue import methods

    order = ("entries", "views", "nothing")
    for method in methods().values():
        params = {"n_clusters": 3} if method.clusters else {}
        for what, views in cases.items():
            allowed = order.index(what) >= order.index(method.can.missing)
            assert (method.obstacle(jella.views.read_views(views)) is None) == allowed
            if allowed:
                method.kind(**params).fit(views)
            else:
                with pytest.raises(ValueError):
                    method.kind(**params).fit(views)
        negative = {name: X - 1.0 for name, X in whole.items()}
        if method.can.signed:
            method.kind(**params).fit(negative)
        else:
            with pytest.raises(ValueError):
                method.kind(**params).fit(negative)


def test_info_tells_what_is_missing(capsys, tables):
    code, out, _ = run(capsys, "info", tables, "--json")
    record = json.loads(out)
    assert code == 0
    assert record["samples"] == 90
    assert {view["name"]: view["samples_without"] for view in record["views"]} == {"pixels": 0, "fourier": 20}
    assert record["patterns"][1] == {"lacks": ["fourier"], "samples": 20}
    assert sum(record["classes"].values()) == 90
    assert record["methods"]["irmkmc"] == "single entries are missing"
    _, text, _ = run(capsys, "info", tables)
    assert "20 samples lack fourier" in text


def test_cluster_writes_what_it_says_and_the_tables_come_back_as_they_were(capsys, tables, tmp_path):
    out = tmp_path / "out"
    code, text, _ = run(capsys, "cluster", tables, "-k", 10, "-o", out, "--no-report", "--seed", 3)
    assert code == 0
    assert "NMI" in text
    assert sorted(p.name for p in out.iterdir()) == [
        "completed",
        "confusion.csv",
        "embedding.csv",
        "features.csv",
        "labels.csv",
        "model.jella",
        "run.json",
    ]
    labels = pd.read_csv(out / "labels.csv", index_col="sample")
    exact = {"index_col": "sample", "float_precision": "round_trip"}
    before = {name: pd.read_csv(tables / f"{name}.csv", **exact) for name in ("pixels", "fourier")}
    views = {name: before[name] for name in sorted(before)}
    by_hand = jella.SparseBDR(10, random_state=3).fit(views)
    assert labels.index.tolist() == jella.views.read_views(views).sample_names.tolist()
    assert labels["cluster"].tolist() == by_hand.labels_.tolist()
    for name, frame in before.items():
        after = pd.read_csv(out / "completed" / f"{name}.csv", **exact)
        assert after.shape[0] == 90
        assert not after.isna().to_numpy().any()
        assert after.columns.tolist() == frame.columns.tolist()
        assert after.index[: len(frame)].tolist() == frame.index.tolist()
        known = frame.notna().to_numpy()
        assert (after.loc[frame.index].to_numpy()[known] == frame.to_numpy()[known]).all()
    command = json.loads((out / "run.json").read_text())
    assert command["options"]["seed"] == 3
    assert command["command"].startswith("jella cluster ")


def test_transform_uses_the_saved_model(capsys, tables, tmp_path):
    assert run(capsys, "cluster", *files(tables), "-k", 4, "-o", tmp_path / "out", "--no-report", "--quiet")[0] == 0
    assert run(capsys, "transform", tmp_path / "out", tables / "pixels.csv", "-o", tmp_path / "new")[0] == 0
    model = jella.load(tmp_path / "out" / "model.jella")
    new = {"pixels": pd.read_csv(tables / "pixels.csv", index_col="sample")}
    written = pd.read_csv(tmp_path / "new" / "embedding.csv", index_col="sample")
    assert np.allclose(written.to_numpy(), np.asarray(model.transform(new)), rtol=0, atol=1e-12)
    labels = pd.read_csv(tmp_path / "new" / "labels.csv")["cluster"]
    assert labels.tolist() == model.predict(new).tolist()
    predicted = pd.read_csv(tmp_path / "new" / "predicted" / "fourier.csv", index_col=0)
    assert np.allclose(predicted.to_numpy(), np.asarray(model.complete(new)["fourier"]), rtol=0, atol=1e-12)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_is_told_what_the_fit_is_at(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["cluster", *files(tables), "-k", "3", "--set", "max_iter=3", "-o", str(tmp_path / "out")]) == 0
    shown = sys.stderr.getvalue().split("\r\x1b[K")[1:]
    assert shown[0].startswith("preparing")
    assert any(text.startswith("finishing") for text in shown)
    others = [text for text in shown if text and not text.startswith("report: ")]
    sentences = [text for text in others[:-1] if "\n" in text]
    assert all(text.endswith(" ...\n") and text.count("\n") == 1 for text in sentences)  # each on a line that was wiped
    assert "writing ...\n" in sentences
    assert any(text.startswith("report: drawing maps") for text in shown)


def test_a_sentence_on_a_terminal_has_a_line_of_its_own(tables, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(["cluster", *files(tables), "-k", "500", "-o", str(tmp_path / "out")]) != 0
    preparing, sentence = sys.stderr.getvalue().split("\r\x1b[K")[1:]
    assert preparing.startswith("preparing")
    assert sentence.startswith("jella: ")


def test_progress_is_drawn_on_a_terminal_and_written_now_and_then_elsewhere(monkeypatch):
    from jella.numerics import progress

    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    shown = {}
    for stream in (Terminal(), io.StringIO()):
        with progress.ProgressLine(40, "steps", stream=stream) as line:
            for number in range(40):
                clock[0] += 1.0
                line.step(f"number {number}")
        shown[stream.isatty()] = stream.getvalue()
    drawn = shown[True].split("\r\x1b[K")
    assert drawn[1] == "1 of 40 steps, 39 s left  number 0"
    assert drawn[-2:] == ["40 of 40 steps, 0 s left  number 39", "40 of 40 steps, 40 s\n"]
    assert len(drawn) == 1 + 40 + 1
    assert shown[False].splitlines() == [
        "15 of 40 steps, 25 s left  number 14",
        "30 of 40 steps, 10 s left  number 29",
        "40 of 40 steps, 40 s",
    ]


@pytest.mark.parametrize("kind", ["npz", "mat", "xlsx", "h5mu"])
def test_views_are_completed_in_the_format_they_came_in(capsys, tmp_path, kind):
    views = make_incomplete({n: X[:40, :9] for n, X in load_digits_views().data.items()}, 0.3, "mcar", random_state=0)
    file = tmp_path / f"digits.{kind}"
    if kind == "npz":
        np.savez(file, **views)
    elif kind == "mat":
        from scipy.io import savemat

        cell = np.empty(3, dtype=object)
        cell[:] = list(views.values())
        savemat(file, {"X": cell})
    elif kind == "xlsx":
        pytest.importorskip("openpyxl")
        with pd.ExcelWriter(file) as book:
            for name, X in views.items():
                pd.DataFrame(X, index=[f"s{i}" for i in range(40)]).to_excel(book, sheet_name=name)
    else:
        mudata, anndata = pytest.importorskip("mudata"), pytest.importorskip("anndata")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the package's own future
            mudata.MuData({name: anndata.AnnData(X) for name, X in views.items()}).write_h5mu(file)
    words = ("cluster", file, "-k", 3, "--method", "mvliv", "--no-report", "--quiet", "-o", tmp_path / "out")
    assert run(capsys, *words)[0] == 0
    from jella.io import read

    (written,) = (tmp_path / "out" / "completed").iterdir()
    assert written.name == file.name
    before, after = read(file), read(written)
    assert list(after.views) == list(before.views)
    for name, X in before.views.items():
        old, new = np.asarray(X, dtype=float), np.asarray(after.views[name], dtype=float)
        assert np.array_equal(np.isnan(old), old != new)
        assert not np.isnan(new).any()


def test_complete_tells_its_error(capsys, tables, tmp_path):
    code, out, _ = run(capsys, "complete", *files(tables), "-o", tmp_path / "out", "--json")
    record = json.loads(out)
    assert code == 0
    assert record["error"] < record["mean_error"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["completed", "run.json"]


@pytest.mark.parametrize("scale", [None, "sample"])
def test_complete_uses_a_scaling_that_completes_well(capsys, tables, tmp_path, monkeypatch, scale):
    seen, original = [], jella.DAIMC.fit
    monkeypatch.setattr(
        jella.DAIMC, "fit", lambda self, *args, **kw: seen.append(self.scale) or original(self, *args, **kw)
    )
    words = ("complete", *files(tables), "-o", tmp_path / "out", "--method", "daimc", "--set", "max_iter=2")
    assert run(capsys, *words, *(("--set", f"scale={scale}") if scale else ()), "--no-error", "--quiet")[0] == 0
    assert seen == [scale or "auto"]


def test_compare_ranks_methods_without_labels_and_scores_with_them(capsys, tables, tmp_path):
    words = (
        "compare",
        *files(tables),
        "--methods",
        "sparse-bdr",
        "mvliv",
        "irmkmc",
        "--rate",
        "0.2",
        "--json",
        "--quiet",
    )
    code, out, _ = run(capsys, *words, "-o", tmp_path / "t.csv")
    rows = {row["method"]: row for row in json.loads(out)["methods"]}
    assert code == 0
    assert rows["sparse-bdr"]["error"] < rows["mean-fill"]["error"]
    assert rows["irmkmc"]["why"] == "single entries are missing"
    assert "nmi" not in rows["sparse-bdr"]
    with (tmp_path / "t.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 4
    words = ("compare", tables, "--methods", "mvliv", "-k", "labels", "--json", "--quiet")
    labelled = json.loads(run(capsys, *words)[1])
    assert labelled["n_clusters"] == 10
    scores = {row["method"]: row.get("nmi") for row in labelled["methods"]}
    assert scores["mean-fill"] is None
    data = jella.io.read(tables)
    by_hand = jella.MVLIV(n_clusters=10, random_state=0).fit(data.views)
    expected = jella.metrics.nmi(data.labels[by_hand.sample_names_in_], by_hand.labels_)
    assert scores["mvliv"] == pytest.approx(expected)


def test_options_come_from_a_config_file_and_the_command_line_wins(capsys, tables, tmp_path):
    config = tmp_path / "jella.toml"
    config.write_text(
        f"seed = 5\n[cluster]\ndata = {json.dumps(files(tables))}\nclusters = 4\nmethod = 'mvliv'\nno-report = true\n"
        "[cluster.set]\nmax_iter = 7\n"
    )
    out = tmp_path / "out"
    assert run(capsys, "cluster", "--config", config, "-o", out, "-k", 3, "--quiet")[0] == 0
    options = json.loads((out / "run.json").read_text())["options"]
    assert (options["seed"], options["clusters"], options["method"]) == (5, 3, "mvliv")
    assert jella.load(out / "model.jella").get_params()["max_iter"] == 7


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("info",), "expected a file or folder with the data"),
        (("info", "nothing-there.csv"), "does not exist"),
        (("cluster", "DATA", "-k", "3"), "pass -o OUT"),
        (("cluster", "DATA", "-k", "3", "-o", "OUT", "--method", "kmeans"), "expected a method among"),
        (("cluster", "DATA", "-k", "3", "-o", "OUT", "--set", "alfa=1"), "expected --set NAME=VALUE"),
        (("cluster", "DATA", "-o", "OUT", "--method", "pvc"), "pass -k NUMBER"),
        (("cluster", "DATA", "-k", "3", "-o", "OUT", "--method", "irmkmc"), "lacks"),
        (("complete", "DATA", "-o", "OUT", "--method", "ramc"), "expected a method that completes"),
        (("cluster", "DATA", "-k", "3", "-o", "OUT", "--method", "rpca"), "expected a method that clusters"),
        (("transform", "no.jella", "DATA", "-o", "OUT"), "no.jella"),
        (("report", "DATA"), "expected a folder that"),
        (("cluster", "DATA", "-o", "OUT", "--config", "no.toml"), "no.toml"),
        (("reproduce", "all", "--sets", "Yahoo", "-o", "OUT"), "expected data sets among"),
        (("reproduce", "all", "--sets", "Trecvid", "-o", "OUT"), "expected the files of Trecvid"),
    ],
)
def test_wrong_input_is_one_sentence_exit_code_2_and_nothing_written(capsys, tables, tmp_path, words, says):
    place = {"DATA": str(tables), "OUT": str(tmp_path / "out")}
    code, out, err = run(capsys, *(place.get(word, word) for word in words))
    assert code == 2
    assert out == ""
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def bad_files(folder):
    """One file of every kind that cannot be read, by what the sentence says of it."""
    good = "sample,a,b\ns1,1,2\ns2,3,4\ns3,5,7\n"
    files = {
        "empty": ("x.csv", b""),
        "cut": ("x.npz", b"PK\x03\x04half an archive"),
        "garbage": ("x.mat", bytes(range(256)) * 8),
        "twice": ("x.csv", (good + "s1,1,2\n").encode()),
        "not numbers": ("x.csv", b"sample,a,b\ns1,1,tall\ns2,3,small\ns3,5,tall\n"),
        "one sample": ("x.csv", b"sample,a,b\ns1,1,2\n"),
        "all missing": ("x.csv", ("sample,a," + ",".join(f"c{j}" for j in range(500)) + "\n" + "".join(
            f"s{i},{i}" + "," * 500 + "\n" for i in range(4))).encode()),
        "no views": ("x.mat", None),
        "pickled": ("x.npz", None),
        "unknown": ("x.docx", b"text"),
    }  # fmt: skip
    for kind, (name, content) in files.items():
        place = folder / kind
        place.mkdir()
        if kind == "no views":
            from scipy.io import savemat

            savemat(place / name, {"comment": "nothing here"})
        elif kind == "pickled":
            np.savez(place / name, X=np.array([{"a": 1}, None], dtype=object))
        else:
            (place / name).write_bytes(content)
        yield kind, place / name


def test_bad_files_are_one_sentence_each(capsys, tmp_path):
    for kind, path in bad_files(tmp_path):
        for words in (("info", path), ("cluster", path, "-k", 2, "-o", tmp_path / "out")):
            code, out, err = run(capsys, *words)
            assert code == 2, kind
            assert out == "", kind
            assert len(err.strip().splitlines()) == 1, (kind, err)
            assert not (tmp_path / "out").exists(), kind


def test_results_are_not_written_over_unless_asked_and_never_over_other_things(capsys, tables, tmp_path):
    words = ("cluster", *files(tables), "-k", 3, "--method", "mvliv", "--no-report", "--quiet", "-o", tmp_path / "out")
    assert run(capsys, *words)[0] == 0
    assert run(capsys, *words)[0] == 2
    assert run(capsys, *words, "--overwrite")[0] == 0
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    code, _, err = run(capsys, *words[:-1], mine, "--overwrite")
    assert code == 2
    assert "name another" in err
    assert (mine / "thesis.txt").read_text() == "years of work"


def test_a_failure_while_writing_leaves_nothing(capsys, tables, tmp_path, monkeypatch):
    def full(*args, **options):
        raise OSError(28, "No space left on device", "completed")

    monkeypatch.setattr("jella.io.write_views", full)
    code, _, err = run(capsys, "cluster", *files(tables), "-k", 3, "-o", tmp_path / "out", "--no-report")
    assert code == 2
    assert "no space left" in err
    assert list(tmp_path.iterdir()) == []


def test_an_unexpected_failure_has_its_own_code(capsys, monkeypatch):
    monkeypatch.setattr("jella.estimators.catalogue.methods", lambda: 1 / 0)
    code, _, err = run(capsys, "methods")
    assert code == 1
    assert "--debug" in err
    with pytest.raises(ZeroDivisionError):
        main(["methods", "--debug"])


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_saves_what_was_reached(tmp_path):
    out = tmp_path / "out"
    np.savez(tmp_path / "digits.npz", **load_digits_views().data)
    words = ["cluster", str(tmp_path / "digits.npz"), "-k", "10", "--method", "imlbdr", "--no-report", "-o", str(out)]
    words += ["--set", "max_iter=1000000", "--set", "tol=0.0"]
    # what is started in the background of a shell ignores Ctrl-C, and so would its children
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    screen, terminal = os.openpty()
    command = [sys.executable, "-m", "jella", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True, preexec_fn=heard)
    try:
        shown = b""
        while b"sweep" not in shown:
            assert select.select([screen], [], [], 120)[0], shown
            shown += os.read(screen, 1000)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=120)
    finally:
        process.kill()
        os.close(screen)
        os.close(terminal)
    assert process.returncode == 130
    assert "interrupted" in text
    assert (out / "labels.csv").exists()
    assert json.loads((out / "run.json").read_text())["summary"]["interrupted"] is True


def test_parquet_tables(capsys, tables, tmp_path):
    pytest.importorskip("pyarrow")
    words = ("cluster", *files(tables), "-k", 3, "--method", "mvliv", "--no-report", "--quiet", "-o", tmp_path / "out")
    assert run(capsys, *words, "--tables", "parquet")[0] == 0
    assert run(capsys, *words[:-1], tmp_path / "csv", "--tables", "csv")[0] == 0
    found, expected = pd.read_parquet(tmp_path / "out" / "labels.parquet"), pd.read_csv(tmp_path / "csv" / "labels.csv")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert expected["cluster"].nunique() == 3


def test_reproduce_runs_on_embedded_data_and_draws_again_without_computing(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("JELLA_DATA", raising=False)
    words = ("reproduce", "table-sor", "fig-convergence", "--quick", "--quiet", "--json", "-o", tmp_path / "out")
    code, out, _ = run(capsys, *words)
    record = json.loads(out)
    assert code == 0
    assert record["sets"] == ["digits-150"]
    assert set(record["missing"]) == {"MSRC-v1", "Yale", "Corel5k", "Caltech7", "Trecvid", "PIE"}
    names = {Path(path).name for path in record["written"]}
    assert {"table-sor.md", "table-sor.tex", "table-sor.csv", "fig-convergence.png", "claims.md"} <= names
    before = (tmp_path / "out" / "results.jsonl").read_bytes()
    (tmp_path / "out" / "table-sor.md").unlink()
    assert run(capsys, *words, "--draw")[0] == 0
    assert (tmp_path / "out" / "table-sor.md").exists()
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == before


def test_every_real_file_opens_or_says_why_not(capsys):
    where = os.environ.get("JELLA_DATA")
    if not where:
        pytest.skip("real data are read from the folder named by JELLA_DATA")
    seen = 0
    for path in sorted(Path(where).rglob("*")):
        if path.suffix in (".mat", ".npz", ".rda", ".csv", ".mtx"):
            code, out, err = run(capsys, "info", path)
            assert code in (0, 2), path
            assert (len(out) > 0) != (len(err.strip().splitlines()) == 1), path
            seen += 1
    assert seen > 10


@pytest.fixture
def readings(monkeypatch):
    """Counts of the files that were read, and of the containers that were turned into views."""
    import jella.io
    from jella.views import read_views

    counts = Counter()

    def counting(function, name):
        def call(*args, **options):
            counts[name] += 1
            return function(*args, **options)

        return call

    monkeypatch.setattr(jella.io, "read", counting(jella.io.read, "files"))
    plain = read_views.dispatch(object)
    read_views.register(object, counting(plain, "views"))
    yield counts
    read_views.register(object, plain)


@pytest.fixture(scope="module")
def results(tables, tmp_path_factory):
    """Folders of results: with known classes, and without."""
    folders = {}
    for name, data in (("scored", [str(tables)]), ("plain", files(tables))):
        folders[name] = tmp_path_factory.mktemp("results") / "out"
        assert main(["cluster", *data, "-k", "4", "-o", str(folders[name]), "--no-report", "--quiet"]) == 0
    return folders


# the data are read once, a fit on hidden values reads what it is given and what it completed
@pytest.mark.parametrize(
    ("words", "views"),
    [
        ("info DATA", 1),
        ("cluster DATA -k 4 -o OUT --no-report", 1),
        ("cluster DATA -k 4 -o OUT", 1),
        ("cluster PAIR -k 4 -o OUT --method mvliv --set max_iter=2", 1 + 2),
        ("complete PAIR -o OUT --no-error", 1),
        ("complete PAIR -o OUT", 1),
        ("complete PAIR -o OUT --no-calibrate", 1 + 2),
        ("transform SCORED DATA -o OUT", 1),
        ("transform SCORED PIXELS -o OUT", 1),
        ("report SCORED --to FILE", 1),
        ("report PLAIN --to FILE", 1),
        ("compare DATA --methods mvliv", 1 + 3 + 2 * 3),
        ("compare DATA --methods mvliv sparse-bdr irmkmc --repeats 2", 1 + 2 + 3 * 2),
    ],
)
def test_data_are_read_once(capsys, tables, results, readings, tmp_path, words, views):
    place = {"DATA": [tables], "PAIR": files(tables), "PIXELS": [tables / "pixels.csv"]}
    place |= {"SCORED": [results["scored"]], "PLAIN": [results["plain"]]}
    place |= {"OUT": [tmp_path / "out"], "FILE": [tmp_path / "report.html"]}
    assert run(capsys, *(part for word in words.split() for part in place.get(word, [word])))[0] == 0
    assert readings == {"files": 1, "views": views}


@pytest.mark.parametrize("words", ["info OUT", "cluster OUT -o NEW", "complete OUT -o NEW", "compare OUT"])
def test_results_are_no_data(capsys, results, tmp_path, words):
    folder = results["scored"]
    place = {"OUT": str(folder), "NEW": str(tmp_path / "new")}
    code, out, err = run(capsys, *(place.get(word, word) for word in words.split()))
    assert (code, out) == (2, "")
    assert f"got '{folder}', which holds the results of a command of jella; pass the data that they were" in err
    assert f"or '{folder / 'completed'}' for the completed values" in err
    assert not (tmp_path / "new").exists()


def test_a_run_of_another_program_beside_data_is_no_result(tmp_path):
    pd.DataFrame(np.eye(3)).to_csv(tmp_path / "view.csv")
    for text in ('{"command": "other"}', "no json", "[1]"):
        (tmp_path / "run.json").write_text(text)
        assert jella.io.read(tmp_path).views["view"].shape == (3, 3)


@pytest.mark.parametrize("values", [np.full((12, 2), 7.0), np.array([[1e307, 2e307], [3e307, 4e307]] * 6)])
def test_an_error_that_cannot_be_estimated_is_left_out(tmp_path, capfd, values):
    np.savez(tmp_path / "a.npz", left=np.where(np.arange(12)[:, None] == 3, np.nan, values), right=values[:, ::-1])
    assert main(["complete", str(tmp_path / "a.npz"), "--method", "mvliv", "-o", str(tmp_path / "out")]) == 0
    told = capfd.readouterr()
    assert "no estimate of the error: expected" in told.out
    assert "Warning" not in told.err
    assert json.loads((tmp_path / "out" / "run.json").read_text())["parts"] == {"error": "left out"}


@pytest.mark.parametrize("words", [["--rate", "2"], ["--rate", "nan"], ["--repeats", "0"], ["--repeats", "9" * 23]])
def test_compare_checks_its_numbers_at_once(words, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["compare", "a.npz", *words])
    assert "expected a" in capsys.readouterr().err
