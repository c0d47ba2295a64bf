"""Messages that name the way out: packages that are not installed, misspelt names, paths, ids that come twice."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

import jella
from jella.cli.main import main
from jella.io import DataError, read, write_views

X = np.random.default_rng(0).normal(size=(12, 4))
IDS = ["a", "b", "b", *"defghijkl"]

#: runs the command line as if packages were not installed
BLOCKED = """
import sys
blocked = sys.argv[1].split(",")
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Block())
from jella.cli.main import main
sys.exit(main(sys.argv[2:]))
"""
OPTIONAL = "pandas,pyarrow,openpyxl,rdata,h5py,anndata,mudata,plotly,torch,dask,distributed,matplotlib,xarray,polars"


def run_without(packages, *arguments):
    words = [sys.executable, "-c", BLOCKED, packages, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def data(folder, kind):
    holed = [X.copy(), X[:, :3] ** 2]
    holed[0][1], holed[1][3, 1] = np.nan, np.nan
    path = folder / f"data.{kind}"
    if kind == "npz":
        np.savez(path, left=holed[0], right=holed[1])
    else:
        cells = np.empty((1, 2), dtype=object)
        cells[0, 0], cells[0, 1] = holed
        savemat(path, {"X": cells})
    return path


@pytest.mark.parametrize("kind", ["npz", "mat"])
def test_a_plain_install_does_all_but_the_report(tmp_path, kind):
    path = data(tmp_path, kind)
    code, text, error = run_without(OPTIONAL, "info", path)
    assert (code, error) == (0, "")
    assert "12 samples, 2 views" in text
    code, text, _ = run_without(OPTIONAL, "cluster", path, "-k", 2, "-o", tmp_path / "out")
    assert code == 0
    assert "no report.html: it needs the package 'plotly'; run pip install 'jella[report]'" in text
    assert "--no-report" in text
    wanted = ["completed", "embedding.csv", "features.csv", "labels.csv", "model.jella", "run.json"]
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == wanted
    code, text, _ = run_without(OPTIONAL, "cluster", path, "-k", 2, "-o", tmp_path / "quiet", "--no-report")
    assert code == 0
    assert "report" not in text
    code, _, _ = run_without(OPTIONAL, "complete", path, "-o", tmp_path / "done")
    assert code == 0
    completed = read(tmp_path / "done" / "completed" / path.name)
    assert all(np.isfinite(view).all() for view in completed.views.values())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    frame = pd.DataFrame(X, index=[f"s{i}" for i in range(12)], columns=list("abcd"))
    frame.to_csv(folder / "a.csv", index_label="id")
    frame.to_parquet(folder / "a.parquet")
    frame.to_excel(folder / "a.xlsx", index_label="id")
    np.savez(folder / "named.npz", view=X, names=np.array(frame.index, dtype=str))
    (folder / "a.rda").write_bytes(b"RDX3\nX\n")
    (folder / "v73.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(600))
    for name in ("a.h5ad", "a.h5mu"):
        (folder / name).write_bytes(b"\x89HDF\r\n\x1a\n")
    data(folder, "npz")
    return folder


@pytest.mark.parametrize(
    ("package", "words", "extra"),
    [
        ("pandas", ("info", "a.csv"), "pandas"),
        ("pandas", ("info", "named.npz"), "pandas"),
        ("pyarrow", ("info", "a.parquet"), "parquet"),
        ("pyarrow", ("cluster", "data.npz", "-o", "out", "--tables", "parquet"), "parquet"),
        ("openpyxl", ("info", "a.xlsx"), "excel"),
        ("rdata", ("info", "a.rda"), "r"),
        ("h5py", ("info", "v73.mat"), "mat73"),
        ("anndata", ("info", "a.h5ad"), "mudata"),
        ("mudata", ("info", "a.h5mu"), "mudata"),
        ("torch", ("cluster", "data.npz", "-o", "out", "--device", "cpu"), "torch"),
        ("dask", ("cluster", "a.parquet", "-o", "out", "--dask"), "dask"),
    ],
)
def test_the_command_line_names_the_extra(files, package, words, extra):
    words = [files / word if (files / word).exists() or word == "out" else word for word in words]
    code, _, error = run_without(package, *words)
    assert code == 2
    assert error == f"jella: expected the package '{package}', got no such package; run pip install 'jella[{extra}]'\n"


def test_python_names_the_extra(monkeypatch):
    found = jella.cluster(X, 2)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"run pip install 'jella\[pandas\]'"):
        found.as_frame()


# misspelt names


@pytest.mark.parametrize("call", [jella.cluster, jella.complete])
def test_a_misspelt_parameter_is_corrected(call):
    with pytest.raises(TypeError, match=r"got 'n_neighbours'; did you mean 'n_neighbors'\?"):
        call(X, n_neighbours=3)
    with pytest.raises(TypeError, match="got 'zzz'; pass one of alpha, beta"):
        call(X, zzz=3)


@pytest.mark.parametrize(
    ("given", "way_out"),
    [
        ("n_neighbour=3", "did you mean 'n_neighbors'?"),
        ("n_neighbors", "write n_neighbors=VALUE"),
    ],
)
def test_a_misspelt_setting_is_corrected(tmp_path, capsys, given, way_out):
    assert main(["cluster", str(data(tmp_path, "npz")), "-o", str(tmp_path / "out"), "--set", given]) == 2
    assert way_out in capsys.readouterr().err


@pytest.mark.parametrize(
    ("config", "way_out"),
    [
        ("sed = 3", "got ['sed']; did you mean 'seed'?"),
        ("[cluster]\nno_reprt = true", "did you mean 'no-report'?"),
        ("[cluser]\nseed = 1", "did you mean 'cluster'?"),
        ("[cluster.set]\nn_neighbour = 1", "did you mean 'n_neighbors'?"),
    ],
)
def test_a_misspelt_option_in_a_config_is_corrected(tmp_path, capsys, config, way_out):
    (tmp_path / "options.toml").write_text(config)
    words = [str(data(tmp_path, "npz")), "-o", str(tmp_path / "out"), "--config", str(tmp_path / "options.toml")]
    assert main(["cluster", *words]) == 2
    assert way_out in capsys.readouterr().err


# paths


@pytest.mark.parametrize(
    "call",
    [
        lambda: jella.cluster("file.mat"),
        lambda: jella.complete(Path("file.mat")),
        lambda: jella.SparseBDR().fit("file.mat"),
        lambda: jella.MVLIV(n_components=1).fit(["file.mat"]),
        lambda: jella.MVLIV(n_components=1).fit(X).transform("file.mat"),
        lambda: jella.datasets.make_incomplete("file.mat", 0.1),
    ],
)
def test_a_path_is_not_data(call):
    with pytest.raises(ValueError, match=r"pass jella\.io\.read\('file\.mat'\)\.views"):
        call()


def test_a_data_set_is_not_its_views(tmp_path):
    with pytest.raises(ValueError, match="got Dataset; pass its views"):
        jella.cluster(read(data(tmp_path, "npz")))


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        (("one/a.csv", "two/b.csv"), "got no data file but the folders 'one', 'two'; pass one of these"),
        (("readme.md",), "got 'readme.md'; put files there that end in .mat"),
        (("a.txt", "b.txt"), "got 'a.txt', 'b.txt'; pass the tables one by one"),
        ((), "got nothing; put files there"),
    ],
)
def test_a_folder_without_data_says_what_it_holds(tmp_path, capsys, inside, message):
    for name in inside:
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text("a,b\n1,2\n")
    (tmp_path / "data").mkdir(exist_ok=True)
    with pytest.raises(DataError) as caught:
        read(tmp_path / "data")
    assert message in str(caught.value)
    assert main(["cluster", str(tmp_path / "data"), "-o", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err


# ids that come twice


def test_ids_that_come_twice_are_named_in_every_kind_of_file(tmp_path):
    frame = pd.DataFrame(X, index=pd.Index(IDS, name="id"), columns=list("abcd"))
    frame.to_csv(tmp_path / "view.csv")
    frame.reset_index().to_excel(tmp_path / "view.xlsx", index=False, sheet_name="view")
    frame.to_parquet(tmp_path / "view.parquet")
    for kind in ("csv", "xlsx", "parquet"):
        with pytest.raises(DataError, match="expected one row per sample in 'view', got the sample 'b' more than once"):
            read(tmp_path / f"view.{kind}")
    frame.rename_axis("name").to_csv(tmp_path / "other.csv")
    with pytest.raises(DataError, match="expected one row per sample in 'other', got the sample 'b' more than once"):
        read(tmp_path / "other.csv")


def test_names_that_come_twice_in_annotated_data(tmp_path):
    anndata = pytest.importorskip("anndata")
    with pytest.warns(UserWarning, match="not unique"):
        stored = anndata.AnnData(X, obs=pd.DataFrame(index=IDS))
    with pytest.raises(ValueError, match="view 'view' has the sample 'b' more than once"):
        jella.MVLIV(n_components=1).fit(stored)
    stored.write_h5ad(tmp_path / "view.h5ad")
    with pytest.raises(DataError, match="got the sample 'b' more than once"):
        read(tmp_path / "view.h5ad")


def test_a_part_of_an_index_with_duplicates_is_unique():
    frame = pd.DataFrame(X, index=IDS)
    with pytest.raises(ValueError, match="has the sample 'b' more than once"):
        jella.MVLIV(n_components=1).fit(frame)
    part = frame.iloc[2:]
    fitted = jella.MVLIV(n_components=1).fit([part, frame.iloc[4:]])
    assert list(fitted.sample_names_in_) == IDS[2:]


def test_a_text_of_polars_that_comes_twice():
    pl = pytest.importorskip("polars")
    pytest.importorskip("narwhals")
    with pytest.raises(ValueError, match="distinct ids in its column of text 'who', got 'b' more than once"):
        jella.MVLIV(n_components=1).fit(pl.DataFrame({"who": IDS, "x": X[:, 0], "y": X[:, 1]}))


def test_write_views_without_pandas_needs_none_for_archives(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    (written,) = write_views({"left": X}, tmp_path / "views.npz")
    assert written.exists()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64])
@pytest.mark.parametrize(
    ("method", "name", "value"),
    [
        ("SparseBDR", "n_clusters", 3),
        ("SparseBDR", "n_neighbors", 5),
        ("IRMKMC", "n_clusters", 3),
        ("RAMC", "n_neighbors", 5),
    ],
)
def test_small_integers_of_numpy_do_not_overflow(kind, method, name, value):
    X = np.random.default_rng(0).random((140, 8))
    found = [
        getattr(jella, method)(**{"n_clusters": 3, name: a, "random_state": 0}).fit(X) for a in (value, kind(value))
    ]
    np.testing.assert_array_equal(found[0].labels_, found[1].labels_)


def test_a_negative_seed_is_refused_by_name():
    with pytest.raises(ValueError, match=r"random_state of MVLIV to be a whole number from 0, .* got -1"):
        jella.MVLIV(2, random_state=-1).fit(np.eye(5, 3))
