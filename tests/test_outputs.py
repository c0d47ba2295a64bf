"""What commands write: names that are no paths, results before reports, and never over what jella did not write."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import jella
from jella.cli.lock import locked
from jella.cli.main import main
from jella.io import read, write_views
from jella.io.file_names import MOST_BYTES, file_name, file_names, name_of, target_in
from jella.io.formulas import guarded, unguarded
from jella.numerics.words import aligned, printable

pd = pytest.importorskip("pandas")

FIT = ("-k", "2", "--method", "mvliv", "--set", "max_iter=2", "--quiet")
ODD = [
    "a/b", "a\\b", "..", ".", "", "x\0y", "CON", "nul", "com1.txt", ".hidden", "dot.", "space ", "a:b", "x" * 300,
    "\udc80", "%2F", "%", "%_", "RNA", "rna", "\u00e9", "e\u0301", "\x1b[31mred", "line\nbreak", "plain", "a b",
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two small views with holes in one archive."""
    rng = np.random.default_rng(0)
    views = {name: np.where(rng.random((12, d)) < 0.1, np.nan, rng.random((12, d))) for name, d in (("a", 3), ("b", 4))}
    file = tmp_path_factory.mktemp("data") / "pair.npz"
    np.savez(file, **views)
    return file


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fit(capsys, data, out, *words):
    return run(capsys, "cluster", data, *FIT, "-o", out, "--no-report", *words)


# names


def test_names_become_names_of_files_that_differ_and_come_back():
    stems = file_names(ODD)
    assert len({stem.casefold() for stem in stems.values()}) == len(ODD)
    for name, stem in stems.items():
        assert not set(stem) & set('/\\:\0"<>|?*\n\x1b')
        assert not stem.startswith(".")
        assert not stem.endswith((".", " "))
        assert len(stem.encode()) <= MOST_BYTES
        assert Path(stem).name == stem
        if len(name) < 100:
            assert name_of(stem) == name
    for name in ("plain", "a b", "gene%20expression", "h\u00e9llo-1.2_x", "50%"):
        assert name_of(name) == name
    assert file_name("plain") == "plain"
    assert name_of("..%2F..%2Fetc") == "..%2F..%2Fetc"  # others wrote it: it would be another stem


def test_a_name_that_is_a_path_is_no_target(tmp_path):
    for stem in ("../x", "x/y", "..", "", "/etc/passwd"):
        with pytest.raises(ValueError, match="expected the name of a file"):
            target_in(tmp_path, stem)


@pytest.mark.parametrize("ending", ["", ".npz"])
def test_views_of_any_name_are_written_inside_and_read_back(tmp_path, ending):
    rng = np.random.default_rng(0)
    ids = ["=1+1", "'=x", "-1", "@s"]
    views = {name: pd.DataFrame(rng.random((4, 2)), index=ids, columns=["+f", "g"]) for name in [*ODD, "samples"]}
    place = tmp_path / "in" / f"out{ending}"
    written = write_views(views, place)
    assert {path.name for path in (tmp_path / "in").iterdir()} == {place.name}
    assert all(path == place or path.parent == place for path in written)
    back = read(place)
    assert set(back.views) == set(views)
    for name, view in views.items():
        np.testing.assert_array_equal(back.views[name].to_numpy(), view.to_numpy())
        assert list(back.views[name].index) == ids
    again = tmp_path / f"again{ending}"
    write_views(back.views, again, like=back)
    assert set(read(again).views) == set(views)


def test_names_in_an_archive_do_not_leave_the_folder_of_results(capsys, tmp_path):
    rng = np.random.default_rng(0)
    from jella.io.npz import save_arrays

    save_arrays({"../../evil": rng.random((9, 3)), "/abs": rng.random((9, 2))}, tmp_path / "x.npz")
    assert fit(capsys, tmp_path / "x.npz", tmp_path / "out")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "x.npz"]
    assert set(read(tmp_path / "out" / "completed").views) == {"../../evil", "/abs"}
    save_arrays({"../../evil": rng.random((3, 3))}, tmp_path / "new.npz")
    code, _, err = run(capsys, "transform", tmp_path / "out", tmp_path / "new.npz", "-o", tmp_path / "new")
    assert code == 0, err
    assert [path.name for path in (tmp_path / "new" / "predicted").iterdir()] == ["%2Fabs.csv"]


def test_texts_that_begin_as_formulas_are_marked_in_new_tables_and_kept_in_own_ones(capsys, tmp_path):
    rng = np.random.default_rng(0)
    ids = ["=cmd()", "+x", "-y", "@z", "-1", *(f"s{i}" for i in range(8))]
    frame = pd.DataFrame(rng.random((13, 3)), index=pd.Index(ids, name="sample"), columns=["=a", "b", "c"])
    frame.iloc[0, 1] = np.nan
    frame.to_csv(tmp_path / "view.csv")
    assert fit(capsys, tmp_path / "view.csv", tmp_path / "out")[0] == 0
    for table in ("labels.csv", "embedding.csv"):
        with (tmp_path / "out" / table).open() as file:
            first = [row[0] for row in csv.reader(file)][1:6]
        assert first == ["'=cmd()", "'+x", "'-y", "'@z", "-1"]
    own = (tmp_path / "out" / "completed" / "view.csv").read_text()
    assert own.splitlines()[0] == "sample,=a,b,c"
    assert own.splitlines()[1].startswith("=cmd(),")
    for text in ("=x", "'=x", "''=x", "'tis", "-1e5", "--1", "plain", ""):
        assert unguarded(guarded(text)) == text


def test_names_do_not_control_the_terminal(capsys, tmp_path):
    rng = np.random.default_rng(0)
    name = "a\x1b]0;owned\x07\u202e\nb\x9b"
    views = {name: rng.random((6, 2)), "b": rng.random((6, 3))}
    views[name][0] = np.nan  # `info` names what a sample lacks
    write_views(views, tmp_path / "x.npz")
    for words in (("info",), ("complete", "-o", tmp_path / "out", "--method", "mvliv"), ("cluster", "-k", 99)):
        code, out, err = run(capsys, words[0], tmp_path / "x.npz", *words[1:])
        shown = out + err
        assert not set(shown) & set("\x1b\x07\u202e\x9b"), shown
        if code == 0:
            assert r"a\x1b]0;owned\x07\u202e\nb\x9b" in shown
    data = read(tmp_path / "x.npz")
    assert "\x1b" not in repr(data)
    assert r"\x1b" in repr(data)
    assert "\x1b" not in repr(jella.complete(data.views))
    assert aligned([("a\nb", "c")], "<<") == [r"a\nb  c"]
    assert printable("h\u00e9 \U0001f642 \u200d") == "h\u00e9 \U0001f642 \u200d"
    assert printable("\ud800\x85\u2028") == r"\ud800\x85\u2028"


# what is published when


def test_a_report_that_fails_leaves_the_results_and_can_be_added(capsys, data, tmp_path, monkeypatch):
    pytest.importorskip("plotly")
    import jella.report

    out = tmp_path / "out"
    write_report = jella.report.write_report
    for error, code in ((OSError(28, "No space left on device"), 2), (RuntimeError("ours"), 1), (MemoryError(), 2)):

        def fail(*args, error=error, **options):
            raise error

        monkeypatch.setattr(jella.report, "write_report", fail)
        found, _, err = run(capsys, "cluster", data, *FIT, "-o", out, "--overwrite")
        assert found == code
        assert f"the results in {out} are complete without the report; `jella report {out}` adds it" in err
        assert len(err.splitlines()) == 1
        done = json.loads((out / "run.json").read_text())
        assert done["parts"] == {"report": "pending"}
        assert sorted(path.name for path in out.iterdir()) == [
            "completed", "embedding.csv", "features.csv", "labels.csv", "model.jella", "run.json",
        ]  # fmt: skip
        error.__notes__ = []
    monkeypatch.setattr(jella.report, "write_report", write_report)
    assert run(capsys, "report", out)[0] == 0
    assert json.loads((out / "run.json").read_text())["parts"] == {"report": "written"}
    assert (out / "report.html").stat().st_size > 1000
    assert fit(capsys, data, out, "--overwrite")[0] == 0  # the report is one of the files that jella wrote


def test_an_error_that_was_not_estimated_is_estimated_later(capsys, data, tmp_path, monkeypatch):
    import jella.model_selection.against_mean as against

    words = ("complete", data, "--method", "mvliv", "--set", "max_iter=3")
    assert run(capsys, *words, "-o", tmp_path / "whole")[0] == 0
    estimate = against.errors_against_mean

    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(against, "errors_against_mean", stop)
    out = tmp_path / "out"
    code, _, err = run(capsys, *words, "-o", out)
    assert code == 130
    assert f"complete without the error; `jella report {out}` adds it" in err
    done = json.loads((out / "run.json").read_text())
    assert (done["parts"], "error" in done["summary"]) == ({"error": "pending"}, False)
    monkeypatch.setattr(against, "errors_against_mean", estimate)
    assert run(capsys, "report", out)[0] == 0
    done, whole = (json.loads((folder / "run.json").read_text()) for folder in (out, tmp_path / "whole"))
    assert done["parts"] == whole["parts"] == {"error": "written"}
    assert done["summary"] == whole["summary"]


def test_run_json_lists_the_files(capsys, data, tmp_path):
    assert fit(capsys, data, tmp_path / "out")[0] == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["files"] == sorted(content(tmp_path / "out"))


# what is never replaced


@pytest.fixture
def out(capsys, data, tmp_path):
    place = tmp_path / "out"
    assert fit(capsys, data, place)[0] == 0
    return place


@pytest.mark.parametrize(
    "foreign", ["notes.txt", "completed/mine.csv", "labels.csv.bak", ".jella-part", "link", "folder/"]
)
def test_a_folder_with_a_file_of_others_is_not_replaced(capsys, data, out, foreign):
    if foreign == "link":
        (out / foreign).symlink_to(data)
    elif foreign.endswith("/"):
        (out / foreign).mkdir()
    else:
        (out / foreign).write_text("years of work")
    before = content(out)
    code, _, err = fit(capsys, data, out, "--overwrite")
    assert code == 2
    assert repr(foreign.rstrip("/")) in err
    assert "which jella did not write" in err
    assert content(out) == before
    assert sorted(path.name for path in out.parent.iterdir()) == ["out"]


def test_what_a_killed_report_left_does_not_block(capsys, data, out):
    (out / ".jella-0123456789abcdef.part.html").write_text("half")
    assert fit(capsys, data, out, "--overwrite")[0] == 0
    assert not list(out.glob(".jella*"))


@pytest.mark.parametrize("way", ["plain", "relative", "link", "config", "model"])
def test_a_folder_that_holds_the_input_is_not_replaced(capsys, data, out, tmp_path, monkeypatch, way):
    inside = out / "completed" / "pair.npz"
    before = content(out)
    if way == "model":
        code, _, err = run(capsys, "transform", out, data, "-o", out, "--overwrite")
    elif way == "config":
        shutil.copy(out / "run.json", tmp_path / "run.json")
        (out / "labels.csv").write_text("seed = 1\n")
        before = content(out)
        code, _, err = fit(capsys, data, out, "--overwrite", "--config", out / "labels.csv")
    else:
        if way == "relative":
            monkeypatch.chdir(tmp_path)
            inside = Path("out/../out/completed/pair.npz")
        if way == "link":
            (tmp_path / "elsewhere.npz").symlink_to(inside)
            inside = tmp_path / "elsewhere.npz"
        code, _, err = fit(capsys, inside, f"{out}/", "--overwrite")
    assert code == 2
    assert "expected to replace a folder without the input" in err
    assert content(out) == before


@pytest.mark.parametrize("where", [".", "..", "/", "~", "dangling", "to folder", "to file", "file", "file/x", "empty"])
def test_odd_places_are_refused_and_left_as_they_were(capsys, data, out, tmp_path, monkeypatch, where):
    monkeypatch.chdir(out)
    (tmp_path / "file").write_text("text")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "to folder").symlink_to(out)
    (tmp_path / "to file").symlink_to(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    place = {".": ".", "..": "..", "/": "/", "~": str(Path.home())}.get(where, tmp_path / where)
    before = content(tmp_path)
    for words in ((), ("--overwrite",)):
        code, _, err = fit(capsys, data, place, *words)
        if (where, words) == ("empty", ("--overwrite",)):
            assert code == 0
            shutil.rmtree(tmp_path / "empty")
            continue
        assert code == 2, err
        assert len(err.splitlines()) == 1
        assert content(tmp_path) == before
    assert (tmp_path / "to folder").is_symlink()
    assert not list(tmp_path.glob(".*jella*"))


def test_the_current_folder_and_mounts_are_not_replaced(capsys, data, out, monkeypatch):
    before = content(out)
    with monkeypatch.context() as inside:
        inside.chdir(out / "completed")
        assert fit(capsys, data, out, "--overwrite")[0] == 2
    monkeypatch.setattr(os.path, "ismount", lambda path: True)
    assert fit(capsys, data, out, "--overwrite")[0] == 2
    assert content(out) == before


def test_only_one_run_writes_to_a_place(capsys, data, out):
    with locked(out.parent / ".out.jella-lock", "out"):
        code, _, err = fit(capsys, data, out, "--overwrite")
        assert code == 2
        assert f"got process {os.getpid()}, which does too" in err
    assert fit(capsys, data, out, "--overwrite")[0] == 0
    (out.parent / ".out.jella-lock").write_text("mine")
    code, _, err = fit(capsys, data, out, "--overwrite")
    assert (code, "got another file" in err) == (2, True)
    assert (out.parent / ".out.jella-lock").read_text() == "mine"


def test_results_are_kept_beside_a_folder_that_appeared_meanwhile(capsys, data, tmp_path, monkeypatch):
    import jella.cli.cluster

    describe = jella.cli.cluster._write

    def appear(fitted):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "other.txt").write_text("theirs")
        return describe(fitted)

    monkeypatch.setattr(jella.cli.cluster, "_write", appear)
    code, _, err = fit(capsys, data, tmp_path / "out")
    assert code == 2
    assert content(tmp_path / "out") == {"other.txt": b"theirs"}
    (kept,) = (path for path in tmp_path.iterdir() if path.name != "out")
    assert f"the results of this run are in '{kept}'" in err
    assert (kept / "labels.csv").exists()


def test_what_killed_runs_left_is_put_back_or_removed_and_nothing_else(capsys, data, out):
    parent, before = out.parent, content(out)
    lock = {"jella": "lock", "pid": 2**22 + 1, "host": os.uname().nodename, "started": "1", "key": ""}
    (parent / ".out.jella-lock").write_text(json.dumps(lock))
    os.rename(out, parent / ".out.jella-0123abcd.old")
    (parent / ".out.jella-0123abcd.part").mkdir()
    (parent / ".out.jella-0123abcd.part" / ".jella-part").write_text("jella is writing out\n")
    theirs = (".out.jella-xyz.part", ".out.jella-00000000.part", ".other.jella-0123abcd.part")
    for name in theirs:
        (parent / name).mkdir()
        (parent / name / "thesis.txt").write_text("years")
    code, _, err = fit(capsys, data, out)
    assert code == 2
    assert "the earlier results are back" in err
    assert content(out) == before
    assert sorted(path.name for path in parent.iterdir()) == sorted(["out", *theirs])
    os.rename(out, parent / ".out.jella-0123abcd.old")
    assert run(capsys, "transform", out, data, "-o", parent / "new", "--quiet")[0] == 0  # also for those who read it
    assert content(out) == before


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_a_disk_that_is_full_leaves_the_earlier_results(data, out):
    import resource

    before = content(out)

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    words = ["cluster", str(data), *FIT, "-o", str(out), "--overwrite", "--no-report"]
    done = subprocess.run(
        [sys.executable, "-m", "jella", *words], capture_output=True, text=True, preexec_fn=small, check=False
    )
    assert done.returncode == 2
    assert "file too large" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert content(out) == before
    assert [path.name for path in out.parent.iterdir()] == ["out"]


# single files


def test_compare_does_not_write_over_a_file_unless_asked_and_keeps_what_is_done(capsys, data, tmp_path, monkeypatch):
    from jella.cli.signals import Stopped

    file = tmp_path / "table.csv"
    file.write_text("mine")
    words = ("compare", data, "--methods", "mvliv", "pvc", "-k", 2, "-o", file, "--quiet")
    code, _, err = run(capsys, *words)
    assert (code, "which exists; pass --overwrite" in err, file.read_text()) == (2, True, "mine")
    assert run(capsys, *words[:-2], data, "--overwrite")[0] == 2
    import jella.cli.comparison

    row = jella.cli.comparison.Comparison.row

    def stop(contest, method):
        if method.name == "pvc":
            raise Stopped
        return row(contest, method)

    monkeypatch.setattr(jella.cli.comparison.Comparison, "row", stop)
    code, out, _ = run(capsys, *words[:-1], "--overwrite")
    assert code == 130
    assert out.splitlines()[-1] == "interrupted: not compared are pvc"
    with file.open() as table:
        assert [one["method"] for one in csv.DictReader(table)][-1] in ("mean-fill", "mvliv")
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "null", "{", "\xff", '{"command": 1}', '{"command": "x", "options": []}', "[" * 100000,
        '{"command": "x", "options": {"command": "cluster", "data": 3}, "summary": {}, "parts": {}, "files": []}',
        '{"command": "x", "options": {"command": "cluster", "seed": "?"}, "summary": {}, "parts": {}, "files": []}',
        '{"command": "x", "options": {"command": ["cluster"]}, "summary": {}, "parts": {}, "files": []}',
        '{"command": "x", "options": {"command": "transform"}, "summary": {}, "parts": {}, "files": []}',
        '{"command": "", "options": {"command": "complete", "set": {"a": 1}}, "summary": {}, "parts": {}, "files": []}',
    ],
)  # fmt: skip
def test_a_damaged_run_json_is_one_sentence(capsys, out, text):
    (out / "run.json").write_text(text, encoding="latin-1")
    before = content(out)
    for words in (("report", out), ("report", out, "--to", out.parent / "x.html")):
        code, _, err = run(capsys, *words)
        assert code == 2, err
        assert len(err.splitlines()) == 1
    assert content(out) == before
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_report_is_not_written_over_other_files(capsys, data, out, tmp_path):
    (tmp_path / "x.html").write_text("mine")
    shutil.copy(data, tmp_path / "pair.npz")
    os.mkfifo(tmp_path / "pipe")
    for words in (
        ("--to", tmp_path / "x.html"),
        ("--to", out / "labels.csv", "--overwrite"),
        ("--to", tmp_path / "pair.npz", "--overwrite", "--data", tmp_path / "pair.npz"),
        ("--to", tmp_path),
        ("--to", tmp_path / "pipe", "--overwrite"),
        ("--to", tmp_path / "no" / "x.html"),
    ):
        before = content(tmp_path)
        code, _, err = run(capsys, "report", out, *words)
        assert code == 2, words
        assert len(err.splitlines()) == 1
        assert content(tmp_path) == before
    (out / "report.html").write_text("mine")
    assert run(capsys, "report", out)[0] == 2
    assert (out / "report.html").read_text() == "mine"


def test_reproduce_does_not_write_into_a_folder_of_others(capsys, tmp_path):
    (tmp_path / "claims.md").write_text("mine")
    code, _, err = run(capsys, "reproduce", "table-sor", "--quick", "-o", tmp_path)
    assert (code, (tmp_path / "claims.md").read_text()) == (2, "mine")
    assert "`jella reproduce` wrote" in err


def test_too_little_memory_is_wrong_input(capsys, data, tmp_path, monkeypatch):
    def much(*args):
        raise MemoryError("Unable to allocate 8 TiB")

    monkeypatch.setattr("jella.cli.in_memory.fit", much)
    code, _, err = fit(capsys, data, tmp_path / "out")
    assert (code, "got less (Unable to allocate 8 TiB)" in err) == (2, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_that_cannot_be_printed_is_one_sentence(word):
    with open("/dev/full", "w") as full:
        run = subprocess.run([sys.executable, "-m", "jella", word], stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 2
    assert run.stderr == "jella: cannot use 'standard output': no space left on device\n"


def test_a_link_or_an_empty_name_is_no_file_to_write(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", left=np.eye(12, 3), right=np.eye(12, 2))
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for place in ("", str(tmp_path / "link")):
        assert main(["compare", str(tmp_path / "a.npz"), "--methods", "mvliv", "-o", place, "--overwrite"]) == 2
        assert "expected a file to write" in capsys.readouterr().err
    assert (tmp_path / "link").is_symlink()


def test_inputs_behind_links_in_a_folder_are_inputs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), index=[f"s{i}" for i in range(20)])
    frame.to_csv("real.csv")
    os.mkdir("in")
    os.symlink("../real.csv", "in/a.csv")
    frame.to_csv("in/b.csv")
    before = Path("real.csv").read_bytes()
    assert main(["compare", "in", "--methods", "mvliv", "-o", "real.csv", "--overwrite"]) == 2
    assert main(["complete", "in", "--method", "mvliv", "-o", "found", "--no-error"]) == 0
    os.mkdir("again")
    for name in ("a.csv", "b.csv"):
        os.symlink(f"../found/completed/{name}", f"again/{name}")
    assert main(["complete", "again", "--method", "mvliv", "-o", "found", "--overwrite", "--no-error"]) == 2
    assert "which holds 'again'" in capsys.readouterr().err
    assert Path("real.csv").read_bytes() == before
    assert Path("again/a.csv").exists()


def test_a_name_that_is_too_long_is_refused_before_the_fit(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", left=np.eye(12, 3), right=np.eye(12, 2))
    assert main(["cluster", str(tmp_path / "a.npz"), "-k", "2", "-o", str(tmp_path / ("n" * 250))]) == 2
    assert "a name of at most 240 bytes, got 250" in capsys.readouterr().err


@pytest.mark.parametrize("seed", ["-1", "99999999999999999999", "x"])
def test_a_seed_is_checked_at_once(seed, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["info", "a.npz", "--seed", seed])
    assert "expected a whole number from 0" in capsys.readouterr().err
