"""Names of files, samples, features and views that would escape a folder, a terminal, a page or a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from campaign.mutate import zipped
from campaign.recipes import Recipe, folder, table, text
from campaign.sandbox import Run

FIT = ("info", "info json", "cluster", "complete")
#: a word for a recipe's name, and the name that attacks
NAMES = {
    "slash": "a/b",
    "up": "../../up",
    "up in the middle": "x/../../../up",
    "absolute": "/proc/jella-campaign",  # where nobody can make a file
    "dots": "..",
    "dot": ".",
    "backslash": "..\\..\\up",
    "escape codes": "\x1b[31mred\x1b[2J",
    "bell and backspace": "a\x07\x08b",
    "C1 codes": "a\x9b31mb",
    "direction marks": "a\u202etxt.exe",
    "line breaks": "a\nb\rc",
    "300 letters": "n" * 300,
    "300 letters of two bytes": "é" * 300,
    "formula": "=cmd|' /C calc'!A0",
    "script": "<script>window.hacked=1</script>",
    "end of script": "</script><script>window.hacked=1</script>",
    "percent": "a%2Fb%00%n%s",
    "braces": "{0}{name!r}",
    "quotes": "a\"b'c`d",
    "reserved": "con",
    "run.json": "run.json",
    "model": "model",
    "sample": "sample",
    "spaces": "  ",
    "lone surrogate": "a\udc80b",
    "not normal": "e\u0301é",
}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _csv(make: Callable[[str], tuple[str, str]]) -> Callable[[str], Callable[[Path], str]]:
    def with_name(name: str) -> Callable[[Path], str]:
        ids, head = make(name)
        content = table().replace("s3,", _quoted(ids) + ",", 1) if ids else table()
        content = content.replace("c1", _quoted(head), 1) if head else content
        return text("left.csv", content.encode("utf-8", "surrogateescape"))

    return with_name


_sample = _csv(lambda name: (name, ""))
_feature = _csv(lambda name: ("", name))


def _view_npz(name: str) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import io

        members = []
        for each, X in ((name, np.arange(36.0).reshape(12, 3) % 7), ("other", np.arange(24.0).reshape(12, 2) % 5)):
            stream = io.BytesIO()
            np.save(stream, X)
            members.append((f"{each}.npy", stream.getvalue()))
        (place / "data.npz").write_bytes(zipped(members))
        return "data.npz"

    return write


def _view_file(name: str) -> Callable[[Path], str]:
    return folder({f"{name}.csv": table(), "other.csv": table(head="o{}")})


def _modality(name: str) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import anndata
        import mudata

        with suppress(AttributeError):  # later versions never pull
            mudata.set_options(pull_on_update=False)
        parts = {each: anndata.AnnData(np.arange(36.0).reshape(12, 3) % 7 + 1) for each in ("first", "other")}
        for each, part in parts.items():
            part.var_names = [f"{each}{j}" for j in range(3)]
        mudata.MuData(parts).write_h5mu(place / "data.h5mu")
        import h5py

        with h5py.File(place / "data.h5mu", "r+") as file:
            file["mod"].move("first", name)
            if "mod-order" in file["mod"].attrs:
                file["mod"].attrs["mod-order"] = [name, "other"]
        return "data.h5mu"

    return write


def _sheet(name: str) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import io
        import zipfile
        from xml.sax.saxutils import quoteattr

        import openpyxl

        book = openpyxl.Workbook()
        book.active.title = "first"
        for row in ([None, "a", "b"], *([f"s{i}", float(i % 5), float(i % 3)] for i in range(12))):
            book.active.append(row)
        stream = io.BytesIO()
        book.save(stream)
        with zipfile.ZipFile(stream) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
        swap = (b'name="first"', f"name={quoteattr(name)}".encode())
        (place / "data.xlsx").write_bytes(zipped([(n, data.replace(*swap)) for n, data in members]))
        return "data.xlsx"

    return write


def _parquet(name: str) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import pandas as pd

        ids = pd.Index([name, *(f"s{i}" for i in range(1, 12))], name="id")
        pd.DataFrame({name: np.arange(12.0) % 5, "other": np.arange(12.0) % 3}, index=ids).to_parquet(
            place / "left.parquet"
        )
        return "left.parquet"

    return write


def no_script(run: Run, place: Path) -> str:
    """The report shows names as text."""
    report = place / "out" / "report.html"
    return "script" if report.exists() and "<script>window.hacked" in report.read_text(encoding="utf-8") else ""


def _json_if_json(run: Run, place: Path) -> str:
    """Standard output is JSON where JSON was asked for."""
    if run.code == 0 and run.out.lstrip().startswith(b"{"):
        json.loads(run.out)
    return ""


def _usable_as_file(name: str) -> bool:
    return "/" not in name and len(name.encode("utf-8", "surrogateescape")) < 240


_ENCODABLE = {word: name for word, name in NAMES.items() if "\udc80" not in name}
_XML = {word: name for word, name in _ENCODABLE.items() if all(c >= " " for c in name)}
RECIPES = (
    *(Recipe("csv", f"sample named {word}", _sample(name), FIT, _json_if_json) for word, name in NAMES.items()),
    *(Recipe("csv", f"feature named {word}", _feature(name), FIT, _json_if_json) for word, name in NAMES.items()),
    *(Recipe("npz", f"view named {word}", _view_npz(name), FIT, _json_if_json) for word, name in _ENCODABLE.items()),
    *(
        Recipe("folder", f"file named {word}", _view_file(name), FIT, _json_if_json)
        for word, name in NAMES.items()
        if _usable_as_file(name)
    ),
    *(
        Recipe("h5mu", f"modality named {word}", _modality(name), ("info", "complete"))
        for word, name in _ENCODABLE.items()
        if name not in ("..", ".") and not name.startswith("/")
    ),
    *(Recipe("xlsx", f"sheet named {word}", _sheet(name), ("info", "complete")) for word, name in _XML.items()),
    *(Recipe("parquet", f"sample and feature named {word}", _parquet(name), FIT) for word, name in _ENCODABLE.items()),
    *(
        Recipe("report", f"{what} named {word}", make(NAMES[word]), ("cluster report",), no_script)
        for what, make in (("sample", _sample), ("feature", _feature), ("view", _view_npz))
        for word in ("script", "end of script")
    ),
)
