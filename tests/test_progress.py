"""Long work says what it does: on a line that the caller opened, and nowhere else."""

from __future__ import annotations

import copy
import io

import numpy as np
import pytest

import jella
from jella.cli.main import main
from jella.numerics.progress import StatusLine, doing
from jella.report import write_report


class Terminal(io.StringIO):
    """A stream that looks like a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(StatusLine, "_stream", property(lambda line: stream))  # pytest replaces sys.stderr again
    monkeypatch.setattr("jella.numerics.progress._PAUSE", 0.0)
    return stream


def said(stream):
    """The texts that a terminal has shown, one after the other."""
    return [part for part in stream.getvalue().replace("\r\x1b[K", "\n").split("\n") if part]


def views(n=60):
    return {name: view[:n] for name, view in jella.datasets.load_digits_views().data.items()}


def test_what_is_done_is_said_on_the_line_that_was_opened_last(terminal):
    doing("nobody hears this")
    with StatusLine(prefix="outer: ") as line:
        doing("one")
        with StatusLine():
            doing("two")
        doing("three")
        assert copy.deepcopy(line).prefix == "outer: "  # a callback is copied with its model
    doing("nobody hears this either")
    assert said(terminal) == ["outer: one", "two", "outer: three"]


def test_a_line_that_an_error_ends_is_closed(terminal):
    with pytest.raises(KeyError), StatusLine():
        raise KeyError
    doing("nobody hears this")
    assert said(terminal) == []


def test_nothing_is_said_without_being_asked(terminal, tmp_path):
    found = jella.cluster(views(), 3, metadata={"batch": np.arange(60) % 2}, covariates="batch", kinds="real")
    found.complete()
    found.markers(1)
    write_report(tmp_path / "r.html", jella.MVLIV(3, random_state=0).fit(views()), views(), held_out=False)
    assert said(terminal) == []


def test_a_line_that_is_not_enabled_leaves_that_of_the_caller_open(terminal):
    with StatusLine(), StatusLine(enabled=False):
        doing("one")
    with StatusLine(enabled=False):
        doing("two")
    assert said(terminal) == ["one"]


def test_all_calls_in_a_context_say_their_steps(terminal):
    with jella.show_progress():
        found = jella.cluster(views(), 3)
        jella.plot.embedding(found, method="tsne")
        found.complete()
        jella.complete(jella.datasets.make_incomplete(views(), 0.3, random_state=0))
    shown = said(terminal)
    steps = ("preparing: ", "sweep ", "refitting on parts", "drawing a map by t-SNE", "completing", "calibrating on")
    for step in steps:
        assert any(text.startswith(step) for text in shown), step
    doing("nobody hears this")
    assert said(terminal) == shown


def test_a_clustering_says_its_steps(terminal):
    batch = {"batch": np.arange(60) % 2}
    found = jella.cluster(views(), 3, metadata=batch, covariates="batch", kinds="real", progress=True)
    assert found.model.callback is None
    shown = said(terminal)
    steps = ["learning the effects of batch on view pixels", "removing effects from view pixels", "preparing: "]
    steps += ["sweep ", "refitting on parts of the samples", "comparing the clusters with batch"]
    places = [next(i for i, text in enumerate(shown) if text.startswith(step)) for step in steps]
    assert places == sorted(places)


def test_a_completion_says_its_steps(terminal):
    jella.complete(jella.datasets.make_incomplete(views(), 0.3, random_state=0), progress=True)
    shown = "\n".join(said(terminal))
    assert "calibrating on hidden values, trial 1 of" in shown
    assert "completing missing values" in shown


def test_a_report_says_its_steps(terminal, tmp_path):
    model = jella.SparseBDR(3, random_state=0).fit(views())
    write_report(tmp_path / "r.html", model, views(), metadata={"batch": np.arange(60) % 2}, progress=True)
    shown = said(terminal)
    assert all(text.startswith("report: ") for text in shown)
    for step in (
        "refitting on parts",
        "calibrating on hidden values, trial",
        "drawing a map by t-SNE",
        "comparing the features of view pixels between clusters",
        "comparing the clusters with batch",
        "writing the page",
    ):
        assert any(step in text for text in shown), step


def test_commands_say_their_steps(terminal, tmp_path, capsys):
    for name, view in views().items():
        head = ",".join(f"f{j}" for j in range(view.shape[1]))
        np.savetxt(tmp_path / f"{name}.csv", view + 0.5, delimiter=",", header=head, comments="")
    rows = "\n".join(str(i % 2) for i in range(60))
    (tmp_path / "meta.csv").write_text(f"batch\n{rows}\n")
    data = [str(tmp_path / f"{name}.csv") for name in views()]
    words = ["--metadata", str(tmp_path / "meta.csv")]
    adjust = ["--adjust", "batch", "--kinds", "real", "--no-report"]
    assert main(["cluster", *data, "-k", "3", "-o", str(tmp_path / "out"), *words, *adjust]) == 0
    assert main(["transform", str(tmp_path / "out"), *data, "-o", str(tmp_path / "new"), *words]) == 0
    assert main(["report", str(tmp_path / "out"), "--to", str(tmp_path / "r.html")]) == 0
    shown = said(terminal)
    for step in (
        "report: drawing maps of the samples",
        "learning the effects of batch",
        "calibrating on hidden values, trial",
        "comparing the clusters with batch",
        "comparing the features of view",
        "placing 60 samples",
        "completing missing values",
    ):
        assert any(text.startswith(step) for text in shown), step
    before = len(said(terminal))
    assert main(["report", str(tmp_path / "out"), "--to", str(tmp_path / "quiet.html"), "--quiet"]) == 0
    assert len(said(terminal)) == before
