"""Files that lead elsewhere: links inside HDF5, symbolic links, pipes, devices; and files that are not files."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from campaign.recipes import FIT, READ, Recipe, folder, table, text
from campaign.sandbox import Run

#: the value of a file that DATA must not lead to
SECRET = 777.125


def _secret(place: Path) -> Path:
    """A file with secret numbers outside the folder of the data."""
    import h5py

    path = place.parent.parent / "secret" / "secret.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.full((12, 4), SECRET)
        file.create_dataset("names", data=[f"s{i}" for i in range(12)], dtype=h5py.string_dtype())
    path.with_suffix(".raw").write_bytes(np.full(48, SECRET).tobytes())
    return path


def no_leak(run: Run, place: Path) -> str:
    """No secret number is in the output or in the results."""
    files = [path for path in (place / "out").rglob("*") if path.is_file()] if (place / "out").is_dir() else []
    marks = (b"777.1", np.float64(SECRET).tobytes())
    return (
        "leak"
        if any(mark in content for content in (run.out, *(f.read_bytes() for f in files)) for mark in marks)
        else ""
    )


def _hdf(change: Callable[[Any, Path], None], name: str = "data.mat") -> Callable[[Path], str]:
    def write(place: Path) -> str:
        import h5py

        secret = _secret(place)
        if name.endswith(".mat"):
            with h5py.File(place / name, "w") as file:
                file["b"] = np.arange(36.0).reshape(3, 12) % 7
                file["y"] = np.arange(12.0)[None] % 2
        else:
            import anndata
            import mudata

            with suppress(AttributeError):  # later versions never pull
                mudata.set_options(pull_on_update=False)
            part = anndata.AnnData(np.arange(48.0).reshape(12, 4))
            if name.endswith(".h5ad"):
                part.write_h5ad(place / name)
            else:
                mudata.MuData({"m": part}).write_h5mu(place / name)
        with h5py.File(place / name, "r+") as file:
            change(file, secret)
        return name

    return write


def _external(where: str) -> Callable[[Any, Path], None]:
    def change(file: Any, secret: Path) -> None:
        import h5py

        attrs = dict(file[where].attrs) if where in file else {}
        if where in file:
            del file[where]
        file[where] = h5py.ExternalLink(secret, "x")
        if attrs:
            with h5py.File(secret, "r+") as other:
                other["x"].attrs.update(attrs)

    return change


def _virtual(where: str) -> Callable[[Any, Path], None]:
    def change(file: Any, secret: Path) -> None:
        import h5py

        attrs = dict(file[where].attrs) if where in file else {}
        if where in file:
            del file[where]
        layout = h5py.VirtualLayout(shape=(12, 4), dtype="f8")
        layout[...] = h5py.VirtualSource(secret, "x", shape=(12, 4))
        file.create_virtual_dataset(where, layout).attrs.update(attrs)

    return change


def _raw(where: str) -> Callable[[Any, Path], None]:
    def change(file: Any, secret: Path) -> None:
        attrs = dict(file[where].attrs) if where in file else {}
        if where in file:
            del file[where]
        made = file.create_dataset(where, (12, 4), "f8", external=[(str(secret.with_suffix(".raw")), 0, 384)])
        made.attrs.update(attrs)

    return change


def _soft_loop(file: Any, secret: Path) -> None:
    import h5py

    file["a"] = h5py.SoftLink("/c")
    file["c"] = h5py.SoftLink("/a")


def _hard_loop(file: Any, secret: Path) -> None:
    group = file.create_group("g")
    group["self"] = file["/"]


def _dangling(file: Any, secret: Path) -> None:
    import h5py

    file["a"] = h5py.SoftLink("/nothing")
    file["c"] = h5py.ExternalLink("nothing.h5", "x")


def _link(name: str, target: str) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        (place / name).symlink_to(target)
        return name

    return write


def _pipe(name: str) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        os.mkfifo(place / name)
        return name

    return write


def _in_folder(make: Callable[[Path], str], more: bool = True) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        (place / "data").mkdir()
        if more:
            (place / "data" / "good.csv").write_text(table())
        make(place / "data")
        return "data"

    return write


def _socket(place: Path) -> str:
    import socket

    where = os.getcwd()
    os.chdir(place)
    made = socket.socket(socket.AF_UNIX)
    made.bind("left.csv")
    made.close()
    os.chdir(where)
    return "left.csv"


def _folder_called(name: str) -> Callable[[Path], str]:
    def write(place: Path) -> str:
        (place / name).mkdir()
        return name

    return write


def _many_files(place: Path) -> str:
    (place / "data").mkdir()
    for number in range(300):
        (place / "data" / f"v{number}.csv").write_text(table(4, 2, head=f"v{number}c{{}}"))
    return "data"


def _missing(place: Path) -> str:
    return "nothing-here.csv"


_ENDINGS = ("csv", "npz", "mat", "parquet", "feather", "xlsx", "rda", "h5ad", "h5mu", "mtx")
RECIPES = (
    *(
        Recipe(group, f"{kind} at {where}", _hdf(make(where), name), ("info", "cluster", "library"), no_leak)
        for kind, make in (("external link", _external), ("virtual data", _virtual), ("external storage", _raw))
        for group, name, where in (
            ("mat73", "data.mat", "a"),
            ("h5ad", "data.h5ad", "X"),
            ("h5mu", "data.h5mu", "mod/m/X"),
        )
    ),
    Recipe("mat73", "soft links in a circle", _hdf(_soft_loop), READ),
    Recipe("mat73", "a group in itself", _hdf(_hard_loop), READ),
    Recipe("mat73", "links to nothing", _hdf(_dangling), READ),
    *(Recipe("links", f"empty .{e}", text(f"left.{e}", ""), READ) for e in _ENDINGS),
    *(Recipe("links", f"one byte .{e}", text(f"left.{e}", "x"), READ) for e in _ENDINGS),
    *(Recipe("links", f"pipe .{e}", _pipe(f"left.{e}"), ("info",)) for e in _ENDINGS),
    *(Recipe("links", f"folder called .{e}", _folder_called(f"left.{e}"), ("info",)) for e in _ENDINGS),
    *(Recipe("links", f"broken link .{e}", _link(f"left.{e}", "nothing"), ("info",)) for e in _ENDINGS),
    Recipe("links", "link to itself", _link("left.csv", "left.csv"), FIT),
    Recipe("links", "link to /dev/zero, csv", _link("left.csv", "/dev/zero"), ("info",)),
    Recipe("links", "link to /dev/zero, npz", _link("left.npz", "/dev/zero"), ("info",)),
    Recipe("links", "link to /dev/zero, mat", _link("left.mat", "/dev/zero"), ("info",)),
    Recipe("links", "socket", _socket, READ),
    Recipe("links", "nothing there", _missing, FIT),
    Recipe("links", "unknown ending", text("left.xyz", table()), FIT),
    Recipe("folder", "broken link inside", _in_folder(_link("left.csv", "nothing")), FIT),
    Recipe("folder", "link to itself inside", _in_folder(_link("left.csv", "left.csv")), FIT),
    Recipe("folder", "link to the folder inside", _in_folder(_link("left.csv", ".")), FIT),
    Recipe("folder", "pipe inside", _in_folder(_pipe("left.csv")), FIT),
    Recipe("folder", "folder called .csv inside", _in_folder(_folder_called("left.csv")), FIT),
    Recipe("folder", "empty", folder({}), FIT),
    Recipe("folder", "two kinds", folder({"a.csv": table(), "b.npz": "x"}), READ),
    Recipe("folder", "300 tables", _many_files, ("info",)),
    *(
        Recipe("toml", word, text("study.toml", content), ("config",))
        for word, content in {
            "empty": "",
            "binary": b"\xff\x00\x80",
            "unknown option": "colour = 1\n",
            "unknown option with escape codes": '"\\u001b[31mred" = 1\n',
            "table for a number": "[cluster]\nclusters = {a = 1}\n",
            "list of tables": "[cluster]\ndata = [{a = 1}]\n",
            "command that is no table": "cluster = 3\n",
            "NUL in a path": '[cluster]\ndata = ["a\\u0000b"]\noutput = "o\\u0000"\n',
            "escape codes in a path": '[cluster]\ndata = ["\\u001b[31mred.csv"]\n',
            "infinite": "seed = inf\n",
            "date": "seed = 2020-01-01\n",
            "empty list": "[cluster]\ndata = []\nclusters = []\n",
            "negative number": "[cluster]\nclusters = -1\n",
            "unknown method": '[cluster]\nmethod = "\\u001b[31m"\ndata = "x.csv"\noutput = "out"\n',
            "set that is no table": '[cluster]\nset = 3\ndata = "x.csv"\noutput = "out"\n',
            "long path": f'[cluster]\ndata = "{"x" * 5000}"\noutput = "out"\n',
            "seed too large": "seed = 99999999999999999999\n",
        }.items()
    ),
    Recipe("toml", "pipe", _pipe("study.toml"), ("config",)),
    Recipe("toml", "folder", _folder_called("study.toml"), ("config",)),
    Recipe("toml", "nothing there", _missing, ("config",)),
)
