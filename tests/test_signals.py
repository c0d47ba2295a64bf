"""Ctrl-C, SIGTERM, SIGHUP, SIGKILL and closed pipes, at each stage of a command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import jella
from jella.cli.main import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
pytest.importorskip("pandas")

PATIENCE = 120
#: a command in a process that waits where it is told to, and says so by a file
SCRIPT = """
import os, signal, sys, time
from pathlib import Path

place, waits, words = Path(sys.argv[1]), sys.argv[2].split(), sys.argv[3:]

def waiting(module, name, number):
    whole = getattr(module, name)
    def wait(*args, **options):
        (place / f"at-{number}").touch()
        while not (place / f"go-{number}").exists():
            time.sleep(0.01)
        return whole(*args, **options)
    setattr(module, name, wait)

for number, what in enumerate(waits):
    path, _, name = what.rpartition(".")
    module, _, cls = path.partition(":")
    __import__(module)
    owner = sys.modules[module]
    waiting(getattr(owner, cls) if cls else owner, name, number)
import jella.cli.main
raise SystemExit(jella.cli.main.main(words))
"""
FIT = ("--method", "mvliv", "--set", "max_iter=3", "--set", "tol=0.0")


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "in").mkdir()
    np.savez(tmp_path / "in" / "pair.npz", a=rng.random((12, 3)), b=rng.random((12, 4)))
    return tmp_path / "in" / "pair.npz"


@pytest.fixture
def started(tmp_path):
    """Starts commands; what still runs at the end is killed."""
    processes = []
    (tmp_path / "sync").mkdir()

    def start(waits, *words, code=None, env=None):
        head = [sys.executable, "-c", SCRIPT, str(tmp_path / "sync"), waits] if code is None else code
        process = subprocess.Popen(
            [*head, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_default_signals,
            env=env,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def _default_signals():
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL)


def reached(process, file):
    for _ in range(PATIENCE * 100):
        if file.exists():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError(f"{file} did not appear")


def ended(process):
    out, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in err
    return process.returncode, out, err


def outputs(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir() if path.name not in ("in", "sync"))


@pytest.mark.parametrize("how", ["SIGINT", "SIGHUP"])
def test_before_there_are_results_nothing_is_left(data, started, tmp_path, how):
    process = started("jella.io.read", "cluster", data, "-k", 2, *FIT, "-o", tmp_path / "new" / "out")
    reached(process, tmp_path / "sync" / "at-0")
    process.send_signal(getattr(signal, how))
    code, out, err = ended(process)
    assert (code, out) == (130, "")
    assert err == "jella: interrupted; there were no results to keep yet\n"
    assert outputs(tmp_path) == []


def test_in_a_fit_the_last_sweep_is_kept(data, started, tmp_path):  # for Ctrl-C see test_cli
    out = tmp_path / "out"
    process = started("jella.cli.fitting:SweepLine.__call__", "cluster", data, "-k", 2, *FIT, "-o", out, "--no-report")
    reached(process, tmp_path / "sync" / "at-0")
    process.send_signal(signal.SIGTERM)
    code, text, _ = ended(process)
    assert code == 130
    assert "interrupted: the results are those of the last accepted sweep" in text
    assert json.loads((out / "run.json").read_text())["summary"]["interrupted"] is True
    assert outputs(tmp_path) == ["out"]


def test_a_second_ctrl_c_ends_at_once_and_leaves_nothing(data, started, tmp_path):
    waits = "jella.cli.fitting:SweepLine.__call__ jella.io.write_views"
    process = started(waits, "cluster", data, "-k", 2, *FIT, "-o", tmp_path / "out", "--no-report")
    reached(process, tmp_path / "sync" / "at-0")
    process.send_signal(signal.SIGINT)
    reached(process, tmp_path / "sync" / "at-1")
    process.send_signal(signal.SIGINT)
    code, _, err = ended(process)
    assert code == 130
    assert err.endswith("jella: interrupted; there were no results to keep yet\n")
    assert outputs(tmp_path) == []


@pytest.mark.parametrize(
    ("command", "missing", "how"), [("cluster", "report", "SIGINT"), ("complete", "error", "SIGTERM")]
)
def test_what_comes_after_the_results_does_not_cost_them(data, started, tmp_path, how, command, missing):
    if command == "cluster":
        pytest.importorskip("plotly")
    out = tmp_path / "out"
    # in the second fit, which would otherwise keep its last sweep
    wait = "jella.model_selection.against_mean.without_choice"
    clusters = ("-k", "2") if command == "cluster" else ()
    process = started(wait, command, data, *clusters, *FIT, "-o", out)
    reached(process, tmp_path / "sync" / "at-0")
    assert (out / "completed" / "pair.npz").exists()
    assert json.loads((out / "run.json").read_text())["parts"] == {missing: "pending"}
    process.send_signal(getattr(signal, how))
    code, _, err = ended(process)
    assert code == 130
    says = f"the results in {out} are complete without the {missing}; `jella report {out}` adds it"
    assert err == f"jella: interrupted; {says}\n"
    (tmp_path / "sync" / "at-0").unlink()
    process = started(wait, "report", out)
    reached(process, tmp_path / "sync" / "at-0")
    process.send_signal(getattr(signal, how))
    code, _, err = ended(process)
    assert (code, err.splitlines()[-1]) == (130, f"jella: interrupted; {says}")
    assert outputs(tmp_path) == ["out"]
    assert main(["report", str(out)]) == 0
    assert json.loads((out / "run.json").read_text())["parts"] == {missing: "written"}


@pytest.mark.parametrize("module", ["numpy", "argparse"])
def test_ctrl_c_while_python_imports_is_no_traceback(data, started, tmp_path, module):
    slow = tmp_path / "sync" / module
    slow.mkdir()
    (slow / "__init__.py").write_text(f"import time\nopen({str(slow / 'at')!r}, 'w').close()\ntime.sleep(99)\n")
    env = os.environ | {"PYTHONPATH": f"{slow.parent}{os.pathsep}{Path(jella.__file__).parents[1]}"}
    process = started("", "info", data, code=[sys.executable, "-m", "jella"], env=env)
    reached(process, slow / "at")
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert (code, out) == (130, "")
    assert err == "jella: interrupted; there were no results to keep yet\n"


@pytest.mark.parametrize("stage", range(1, 4))
def test_sigkill_leaves_the_old_results_or_the_new_ones(capsys, data, started, tmp_path, stage):
    """Killed before, between and after the two renames that replace OUT."""
    out = tmp_path / "out"
    words = ("cluster", str(data), "-k", "2", *FIT, "-o", str(out), "--no-report", "--quiet")
    assert main([*words, "--seed", "1"]) == 0
    kill = (
        "import os, signal, sys, jella.cli.main\n"
        "rename, count = os.rename, [0]\n"
        "def killing(*paths):\n"
        f"    count[0] += 1\n    if count[0] == {stage}: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"    rename(*paths)\n    if count[0] == 2 and {stage} == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.rename = killing\n"
        "sys.exit(jella.cli.main.main(sys.argv[1:]))\n"
    )
    process = started("", *words, "--seed", 2, "--overwrite", code=[sys.executable, "-c", kill])
    assert process.wait(PATIENCE) == -signal.SIGKILL
    assert outputs(tmp_path) != ["out"]
    assert main([*words, "--seed", "3"]) == 2
    err = capsys.readouterr().err
    assert "which exists; pass --overwrite" in err
    assert ("the earlier results are back" in err) == (stage == 2)
    assert outputs(tmp_path) == ["out"]
    done = json.loads((out / "run.json").read_text())
    assert done["options"]["seed"] == (2 if stage == 3 else 1)
    there = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert there == set(done["files"])
    assert main([*words, "--seed", "4", "--overwrite"]) == 0


def test_the_second_of_two_runs_with_one_place_is_refused(capsys, data, started, tmp_path):
    out = tmp_path / "out"
    words = ("complete", str(data), *FIT, "-o", str(out), "--no-error", "--quiet")
    first = started("jella.io.read", *words)
    reached(first, tmp_path / "sync" / "at-0")
    assert main(words) == 2
    assert f"got process {first.pid}, which does too" in capsys.readouterr().err
    (tmp_path / "sync" / "go-0").touch()
    assert ended(first)[0] == 0
    assert outputs(tmp_path) == ["out"]


def test_compare_keeps_the_methods_that_are_done(data, started, tmp_path):
    file = tmp_path / "table.csv"
    words = ("compare", data, "--methods", "mvliv", "pvc", "-k", 2, "-o", file)
    process = started("jella.estimators.methods.pvc:PVC.fit", *words)
    reached(process, tmp_path / "sync" / "at-0")
    process.send_signal(signal.SIGINT)
    code, out, _ = ended(process)
    assert code == 130
    assert out.splitlines()[-1] == "interrupted: not compared are pvc"
    assert sorted(line.partition(",")[0] for line in file.read_text().splitlines()) == ["mean-fill", "method", "mvliv"]


def test_a_full_disk_under_standard_output_is_one_sentence(data, tmp_path):
    import resource

    with (tmp_path / "text").open("w") as file:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "jella", "info", str(data)],
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "jella: cannot use 'standard output': file too large\n"


def test_a_reader_that_has_seen_enough_is_no_error(data):
    info = f"{sys.executable} -m jella info {data}"
    pipe = f"set -o pipefail; {info} | head -1"
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("pair: ")
    assert (done.returncode, done.stderr) == (0, "")
    closed = f"{info} | true; echo ${{PIPESTATUS[0]}}; {info} >&- 2>&-; echo $?"
    done = subprocess.run(["bash", "-c", closed], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["0", "0"], "")


def test_a_signal_that_python_swallows_is_raised_again(tmp_path):
    """In a destructor, an exception is printed and lost; the command must end all the same."""
    code = """
import os, signal, sys
import jella.cli.in_memory as module
from jella.cli.main import main

class Doomed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        [None for _ in range(1000)]

read = module.read_data
def slowly(options):
    doomed = Doomed()
    del doomed
    import time
    time.sleep(5)
    return read(options)
module.read_data = slowly
sys.exit(main(sys.argv[1:]))
"""
    np.savez(tmp_path / "a.npz", left=np.random.default_rng(0).normal(size=(20, 3)))
    words = ["cluster", "a.npz", "-k", "2", "-o", "out", "--no-report"]
    run = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (130, "jella: interrupted; there were no results to keep yet\n")
    assert not (tmp_path / "out").exists()


def test_an_import_that_a_signal_cuts_short_is_an_interruption(monkeypatch, capsys):
    """Compiled modules turn what is raised while they start into an ImportError."""

    def cut(options):
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        except BaseException:
            raise ImportError("initialization failed") from None

    monkeypatch.setattr("jella.cli.info.read_data", cut)
    assert main(["info", "a.npz"]) == 130
    assert capsys.readouterr().err == "jella: interrupted; there were no results to keep yet\n"


def test_compare_that_is_stopped_at_its_first_method_leaves_the_earlier_table(tmp_path, monkeypatch):
    np.savez(tmp_path / "a.npz", left=np.random.default_rng(0).normal(size=(20, 3)))
    words = ["compare", str(tmp_path / "a.npz"), "--methods", "mvliv", "-o", str(tmp_path / "t.csv"), "--overwrite"]
    assert main(words) == 0
    before = (tmp_path / "t.csv").read_bytes()

    def stop(self, method):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    monkeypatch.setattr("jella.cli.comparison.Comparison.row", stop)
    assert main(words) == 130
    assert (tmp_path / "t.csv").read_bytes() == before
