"""Where committed results come from: docs/results/provenance.json has command, source revision and machine per file.

Run: python benchmarks/provenance.py                     one line per file: revision, and changes of the source since
     python benchmarks/provenance.py --stamp FILE ...    FILE was computed just now: write revision, date, machine
     python benchmarks/provenance.py --same FILE ...     FILE was edited, but its figures are as before
Needs only Python itself and git.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from measuring import machine

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "docs" / "results" / "provenance.json"


@dataclass(frozen=True)
class Origin:
    """Where the figures of a file come from.

    Parameters
    ----------
    file : str
        Path in the repository: the data, or a page that has no data beside it.
    pages : tuple of str
        Pages, tables and pictures that are made from the file; patterns are allowed.
    command : str
        What computed it.
    revisions : tuple of str
        Commits of the source that it was computed with.
    recorded : bool
        Whether the program wrote the state of its source beside the figures; otherwise a revision is the commit that
        added them.
    date, machine : str
        When (the last day) and on what.
    digest : str
        Of the content of the file, so that a change without a new record is noticed.
    """

    file: str
    pages: tuple[str, ...]
    command: str
    revisions: tuple[str, ...]
    recorded: bool
    date: str
    machine: str
    digest: str


def origins() -> list[Origin]:
    """The records of all files."""
    rows = json.loads(RECORD.read_text())
    return [Origin(**{**row, "pages": tuple(row["pages"]), "revisions": tuple(row["revisions"])}) for row in rows]


def write(records: Iterable[Origin]) -> None:
    RECORD.write_text(json.dumps([asdict(one) for one in records], indent=1) + "\n")


def digest_of(file: str) -> str:
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:12]


def origin_of(path: str) -> Origin | None:
    """The record of a file or page, by its path in the repository."""
    from fnmatch import fnmatch

    found = [one for one in origins() if path == one.file or any(fnmatch(path, page) for page in one.pages)]
    return found[0] if found else None


def git(*words: str) -> str | None:
    """What git answers, or None without git, its history, or the revision."""
    try:
        return subprocess.run(
            ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def changes_since(revisions: Iterable[str]) -> int | None:
    """How many commits changed the library since the oldest of some revisions; None where git does not know."""
    counted = [git("rev-list", "--count", f"{revision}..HEAD", "--", "src/jella") for revision in revisions]
    return None if None in counted or not counted else max(int(count or 0) for count in counted)


def in_words(origin: Origin) -> str:
    """Revision, date, machine and command, and whether the library has changed since."""
    first, *others = origin.revisions
    last = f" to {others[-1]}" if others else ""
    by_commit = "" if origin.recorded else " (by the commits that added the figures)"
    words = (
        f"Computed with revision{'s' if others else ''} {first}{last}{by_commit}, {origin.date}, {origin.machine}, "
        f"by `{origin.command}`."
    )
    changes = changes_since(origin.revisions)
    if changes is None:
        return words
    if changes == 0:
        return f"{words} The library has not changed since."
    return f"{words} These figures are older than the code: {changes} commits changed the library since."


def _stamped(origin: Origin) -> Origin:
    revision = git("rev-parse", "--short=7", "HEAD")
    if revision is None or git("status", "--porcelain", "--", "src/jella"):
        raise SystemExit("expected src/jella without changes, so that a revision names it; commit them first")
    return replace(
        origin,
        revisions=(revision,),
        recorded=True,
        date=time.strftime("%Y-%m-%d"),
        machine=machine(),
        digest=digest_of(origin.file),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stamp", nargs="+", default=[], metavar="FILE")
    parser.add_argument("--same", nargs="+", default=[], metavar="FILE")
    parser.add_argument("--command", help="with --stamp: the command that computed a file that is new")
    options = parser.parse_args()
    records = {one.file: one for one in origins()}
    for file in options.stamp:
        new = Origin(file, (), options.command or "", (), True, "", "", "")
        if file not in records and not options.command:
            raise SystemExit(f"expected a file with a record, got {file!r}, which is new; add --command")
        record = records.get(file, new)
        records[file] = _stamped(replace(record, command=options.command or record.command))
    for file in options.same:
        records[file] = replace(records[file], digest=digest_of(file))
    if options.stamp or options.same:
        write(records[file] for file in sorted(records))
    else:
        for one in records.values():
            print(f"{one.file}: {in_words(one)}")


if __name__ == "__main__":
    main()
