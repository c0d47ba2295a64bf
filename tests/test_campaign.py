"""A small part of the campaign; `make campaign` runs all of it. And that the campaign can find something."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from campaign import __main__ as campaign

for _package in ("pandas", "h5py", "pyarrow", "openpyxl", "rdata", "anndata", "mudata", "plotly"):
    pytest.importorskip(_package)
pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs processes of Linux")

TESTS = Path(__file__).parent
#: what `make test` does of each part, and the number of attacks
PIECES = {
    "fakes": 14,
    "files:0-36": 36,
    "handmade:0-4": 4,
    "handmade:80-1080/50": 20,
    "models:0-20": 20,
    "signals:0-3": 3,
    "writers:0-1": 1,
    "disk:0-8/2": 4,
    "laws:0-2": 2,
}


def test_a_part_of_the_campaign_finds_nothing_but_the_fakes(tmp_path):
    """In one process, since starting it takes seconds."""
    lines = tmp_path / "lines.jsonl"
    paths = [str(TESTS), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    words = [sys.executable, "-m", "campaign", *PIECES, "--lines", str(lines)]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert lines.exists(), done.stderr
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    assert len(records) == sum(PIECES.values()), done.stderr
    found = [record for record in records if record["part"] != "fakes" and record["verdict"] != "ok"]
    assert not found
    fakes = [record for record in records if record["part"] == "fakes"]
    assert [record["name"].partition(": ")[2] for record in fakes] == [record["verdict"] for record in fakes]


def test_attacks_that_are_done_are_not_done_again(tmp_path, capsys):
    first = campaign.handmade.attacks()[0]
    record = {"part": first.part, "name": first.name, "verdict": "ok"}
    (tmp_path / "lines.jsonl").write_text(json.dumps(record) + "\n")
    assert campaign.main(["handmade:0-1", "--lines", str(tmp_path / "lines.jsonl")]) == 0
    assert "1 attacks, 0 of them new; 0 found something" in capsys.readouterr().err


@pytest.mark.parametrize("part", campaign.PARTS)
def test_names_of_attacks_are_distinct(part):
    names = [attack.name for attack in campaign.PARTS[part]()]
    assert len(set(names)) == len(names) > 0


def test_there_are_as_many_attacks_as_promised():
    count = {part: sum(attack.count for attack in make()) for part, make in campaign.PARTS.items()}
    assert count["files"] + count["handmade"] >= 2000
    assert count["models"] >= 500
    assert count["signals"] == 1600
    assert count["laws"] >= 10_000


def test_the_table_counts_and_lists(tmp_path):
    common = {"part": "files", "group": "csv", "count": 1, "code": 0, "seconds": 0.1, "mib": 200, "took": 0.2}
    records = [common | {"name": "a", "verdict": "ok", "state": "done"}, common | {"name": "b", "verdict": "crash"}]
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records) + '{"unfinished')
    campaign.table.write(tmp_path / "lines.jsonl", tmp_path)
    page = (tmp_path / "campaign.md").read_text()
    assert "| csv | 2 | 1 | 1 crash | 1 done | 0.1 | 200 |" in page
    assert "**2 attacks, 1 of them found something.**" in page
    assert len((tmp_path / "campaign.jsonl").read_text().splitlines()) == 3
