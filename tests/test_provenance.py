"""Every committed file of results names the source revision that it was computed with."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import provenance  # noqa: E402

FOLDERS = (ROOT / "docs" / "results", ROOT / "benchmarks" / "results")
#: written by hand, without figures of their own
NOT_COMPUTED = {"docs/results/index.md", "docs/results/provenance.json"}
FILES = sorted(
    path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in folder.rglob("*") if path.is_file()
)  # fmt: skip


@pytest.mark.parametrize("file", [file for file in FILES if file not in NOT_COMPUTED])
def test_every_file_of_results_has_a_record(file):
    assert provenance.origin_of(file) is not None, f"python benchmarks/provenance.py --stamp {file} --command '...'"


@pytest.mark.parametrize("origin", provenance.origins(), ids=lambda one: one.file)
def test_records_are_complete_and_those_of_the_files(origin):
    assert origin.revisions
    assert all(re.fullmatch("[0-9a-f]{7,}", revision) for revision in origin.revisions)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", origin.date)
    assert origin.command
    assert origin.machine
    assert origin.digest == provenance.digest_of(origin.file), (
        f"{origin.file} has changed: python benchmarks/provenance.py --stamp {origin.file} after computing it again, "
        "--same if its figures are as before"
    )


def test_words_say_when_figures_are_older_than_the_code(monkeypatch):
    origin = provenance.origins()[0]
    monkeypatch.setattr(provenance, "changes_since", lambda revisions: 3)
    assert "older than the code: 3 commits" in provenance.in_words(origin)
    monkeypatch.setattr(provenance, "changes_since", lambda revisions: 0)
    assert "has not changed since" in provenance.in_words(origin)
    assert origin.revisions[0] in provenance.in_words(origin)
