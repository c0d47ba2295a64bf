"""Small valid data sets in every format that is read; hostile files are made from them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

N = 12
WIDTHS = {"left": 4, "right": 3}


def values(seed: int = 0) -> dict[str, np.ndarray]:
    """Two views around two groups of samples; a tenth of the entries is missing."""
    rng = np.random.default_rng(seed)
    views = {}
    for name, width in WIDTHS.items():
        X = np.round(rng.random((N, width)) + (np.arange(N) % 2)[:, None], 3)
        holes = rng.random(X.shape) < 0.1
        holes[:, 0] = False
        X[holes] = np.nan
        views[name] = X
    return views


def frames() -> dict[str, Any]:
    """The views as tables with ids."""
    import pandas as pd

    ids = pd.Index([f"s{i}" for i in range(N)], name="id")
    return {
        name: pd.DataFrame(X, index=ids, columns=[f"{name}{j}" for j in range(X.shape[1])])
        for name, X in values().items()
    }


def mat5(path: Path) -> None:
    from scipy.io import savemat

    cells = np.empty((1, 2), dtype=object)
    cells[0, :] = list(values().values())
    savemat(path, {"X": cells, "y": np.arange(N)[:, None] % 2 + 1}, do_compression=path.stem.endswith("z"))


def mat73(path: Path) -> None:
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, X in values().items():
            file.create_dataset(name, data=X.T).attrs["MATLAB_class"] = np.bytes_("double")
        file.create_dataset("y", data=(np.arange(N)[None] % 2 + 1.0)).attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, made for a test".ljust(116) + b" " * 8 + b"\x00\x02IM")


def npz(path: Path) -> None:
    np.savez_compressed(path, **values(), y=np.arange(N) % 2)


def npz_sparse(path: Path) -> None:
    from scipy import sparse

    sparse.save_npz(path, sparse.csr_array(np.nan_to_num(np.hstack(list(values().values()))).round()))


def matrix_market(folder: Path) -> None:
    from scipy import sparse
    from scipy.io import mmwrite

    folder.mkdir()
    for name, X in values().items():
        mmwrite(folder / f"{name}.mtx", sparse.coo_array(np.nan_to_num(X.T)))
        (folder / f"{name}.docs").write_text("".join(f"s{i}\n" for i in range(N)))
        (folder / f"{name}.terms").write_text("".join(f"t{j}\n" for j in range(X.shape[1])))
    (folder / "set.clist").write_text("even: s0,s2,s4\nodd: s1,s3,s5\n")


def delimited(path: Path) -> None:
    mark = "," if path.suffix == ".csv" else "\t"
    frames()["left"].to_csv(path, sep=mark)


def parquet(path: Path) -> None:
    frames()["left"].to_parquet(path)


def feather(path: Path) -> None:
    frames()["left"].reset_index().to_feather(path)


def excel(path: Path) -> None:
    import pandas as pd

    with pd.ExcelWriter(path) as book:
        for name, frame in frames().items():
            frame.to_excel(book, sheet_name=name)


def r_data(path: Path) -> None:
    import rdata

    write = rdata.write_rda if path.suffix == ".rda" else rdata.write_rds
    write(path, dict(values()))


def annotated(path: Path) -> None:
    import anndata

    anndata.AnnData(frames()["left"].fillna(0.0)).write_h5ad(path)


def modalities(path: Path) -> None:
    import anndata
    import mudata

    with suppress(AttributeError):  # later versions never pull
        mudata.set_options(pull_on_update=False)
    mudata.MuData({name: anndata.AnnData(f.fillna(0.0)) for name, f in frames().items()}).write_h5mu(path)


def tables(folder: Path) -> None:
    folder.mkdir()
    for name, frame in frames().items():
        frame.iloc[: N - 1 if name == "right" else N].to_csv(folder / f"{name}.csv")
    (folder / "class.csv").write_text("id,class\n" + "".join(f"s{i},{'ab'[i % 2]}\n" for i in range(N)))


def config(folder: Path) -> None:
    tables(folder)
    (folder / "study.toml").write_text(
        f'seed = 3\nquiet = true\n\n[cluster]\ndata = ["{folder.name}/left.csv", "{folder.name}/right.csv"]\n'
        'clusters = 2\nmethod = "mvliv"\noutput = "out"\nno-report = true\n\n[cluster.set]\nn_components = 2\n'
    )


#: format -> (name of the file or folder, what writes it)
FORMATS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "mat5": ("data.mat", mat5),
    "mat5 packed": ("dataz.mat", mat5),
    "mat73": ("data.mat", mat73),
    "npz": ("data.npz", npz),
    "npz sparse": ("data.npz", npz_sparse),
    "mtx": ("data", matrix_market),
    "csv": ("left.csv", delimited),
    "tsv": ("left.tsv", delimited),
    "txt": ("left.txt", delimited),
    "parquet": ("left.parquet", parquet),
    "feather": ("left.feather", feather),
    "xlsx": ("data.xlsx", excel),
    "rda": ("data.rda", r_data),
    "rds": ("data.rds", r_data),
    "h5ad": ("data.h5ad", annotated),
    "h5mu": ("data.h5mu", modalities),
    "folder": ("data", tables),
    "toml": ("data", config),
}


def make_valid(place: Path) -> int:
    """Write all formats below a folder, each in a folder of its own."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, (name, write) in FORMATS.items():
            (place / kind).mkdir(parents=True)
            write(place / kind / name)
    return 0
