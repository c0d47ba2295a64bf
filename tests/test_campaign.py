"""A small part of the campaign; `make campaign` runs all of it. And that the campaign can find something."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

for _package in ("pandas", "h5py", "pyarrow", "openpyxl", "rdata", "anndata", "mudata", "plotly"):
    pytest.importorskip(_package)
pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs processes of Linux")

TESTS = Path(__file__).parent


def run(folder: Path, *pieces: str) -> list[dict[str, Any]]:
    """Do pieces of the campaign in a process of its own; returns a record per attack."""
    lines = folder / "lines.jsonl"
    paths = [str(TESTS), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    words = [sys.executable, "-m", "campaign", *pieces, "--lines", str(lines)]
    done = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert lines.exists(), done.stderr
    return [json.loads(line) for line in lines.read_text().splitlines()]


def check(records: list[dict[str, Any]], count: int) -> None:
    """All attacks were done, and none found something."""
    assert len(records) == count
    assert not [record for record in records if record["verdict"] != "ok"]


def test_the_campaign_notices_what_is_wrong(tmp_path):
    records = run(tmp_path, "fakes")
    assert len(records) > 10
    assert [record["name"].partition(": ")[2] for record in records] == [record["verdict"] for record in records]


def test_damaged_files(tmp_path):
    check(run(tmp_path, "files:0-36"), 36)


def test_hand_written_files(tmp_path):
    check(run(tmp_path, "handmade:0-4", "handmade:80-90", "handmade:140-150"), 24)


def test_tampered_models(tmp_path):
    check(run(tmp_path, "models:0-20"), 20)


def test_signals(tmp_path):
    check(run(tmp_path, "signals:1-4", "signals:4-5"), 4)


def test_two_writers(tmp_path):
    check(run(tmp_path, "writers:0-1"), 1)


def test_full_disks(tmp_path):
    check(run(tmp_path, "disk:0-8"), 8)


def test_laws(tmp_path):
    pytest.importorskip("campaign.laws")
    check(run(tmp_path, "laws:0-2"), 2)


def test_attacks_that_are_done_are_not_done_again(tmp_path):
    first = run(tmp_path, "handmade:0-1")
    assert run(tmp_path, "handmade:0-1") == first


def test_the_table_counts_and_lists(tmp_path):
    from campaign import table

    common = {"part": "files", "group": "csv", "count": 1, "code": 0, "seconds": 0.1, "mib": 200, "took": 0.2}
    records = [common | {"name": "a", "verdict": "ok", "state": "done"}, common | {"name": "b", "verdict": "crash"}]
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records) + '{"unfinished')
    table.write(tmp_path / "lines.jsonl", tmp_path)
    page = (tmp_path / "campaign.md").read_text()
    assert "| csv | 2 | 1 | 1 crash | 1 done | 0.1 | 200 |" in page
    assert "**2 attacks, 1 of them found something.**" in page
    assert len((tmp_path / "campaign.jsonl").read_text().splitlines()) == 3
