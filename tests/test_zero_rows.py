"""Rows of zeros, or of another mark, that look like samples without the view."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from scipy import sparse

import jella
from jella.cli.main import main
from jella.io import read
from jella.views import read_views
from jella.views.zero_rows import ZeroRowsWarning, constant_rows

N = 60


def views(d=(12, 9), seed=0):
    rng = np.random.default_rng(seed)
    W = np.eye(3)[np.arange(N) % 3] + 0.2 * rng.random((N, 3))
    return {f"v{j}": W @ rng.random((3, width)) for j, width in enumerate(d)}


def marked(value=0.0, count=15, **options):
    made = views(**options)
    made["v1"][:count] = value
    return made


def fit(X, **options):
    return jella.MVLIV(scale="sample", n_components=2, max_iter=3, tol=0).fit(X, **options)


def found(X, observed=None):
    return {view.name: one for view in read_views(X, observed) if (one := constant_rows(view)) is not None}


@pytest.mark.parametrize(
    ("value", "kind"),
    [(value, kind) for value in (0.0, -1.0, -999.0) for kind in ("dense", "frame")] + [(0.0, "sparse")],
)
def test_a_fit_warns_once_and_names_view_count_and_option(value, kind):
    X = marked(value)
    if kind == "sparse":
        X = {name: sparse.csr_array(view) for name, view in X.items()}
    elif kind == "frame":
        pd = pytest.importorskip("pandas")
        X = {name: pd.DataFrame(view).add_prefix("f") for name, view in X.items()}
    what = "zeros" if value == 0 else f"the value {value:g}"
    with pytest.warns(
        ZeroRowsWarning, match=f"view 'v1' has only {what} in 15 of 60 rows.*zero_rows='missing'"
    ) as seen:
        fit(X)
    assert len(seen) == 1


def test_one_warning_for_several_views():
    X = marked()
    X["v0"][30:40] = 0.0
    with pytest.warns(ZeroRowsWarning) as seen:
        fit(X)
    assert len(seen) == 1
    assert "'v0' has only zeros in 10 of 60" in str(seen[0].message)
    assert "'v1' has only zeros in 15 of 60" in str(seen[0].message)


def test_only_fits_warn():
    X = marked()
    with pytest.warns(ZeroRowsWarning):
        model = fit(X)
    model.transform(X)
    model.complete(X)


@pytest.mark.parametrize("kind", ["dense", "integer", "float32", "sparse", "matrix", "frame", "sparse frame", "list"])
def test_missing_makes_rows_of_nan(kind):
    X = {name: np.rint(100 * view) for name, view in marked().items()}
    expected = np.where(np.arange(N)[:, None] < 15, np.nan, X["v1"])
    if "frame" in kind:
        pd = pytest.importorskip("pandas")
        make = (
            pd.DataFrame if kind == "frame" else lambda view: pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(view))
        )
    else:
        make = {
            "dense": np.copy,
            "integer": lambda view: view.astype(int),
            "float32": np.float32,
            "sparse": sparse.csr_array,
            "matrix": sparse.csc_matrix,
            "list": lambda view: view.tolist(),
        }[kind]
    given = {name: make(view) for name, view in X.items()}
    done = jella.align(given, zero_rows="missing")
    if kind in ("sparse", "matrix", "float32", "frame"):
        assert type(done["v1"]) is type(given["v1"])
    if kind == "sparse frame":
        assert all(isinstance(dtype, pd.SparseDtype) for dtype in done["v1"].dtypes)
    read_back = read_views(done)[1]
    np.testing.assert_array_equal(read_back.presence(), np.arange(N) >= 15)
    assert read_back.is_sparse == (kind in ("sparse", "matrix", "sparse frame"))
    dense = read_back.X.toarray() if read_back.is_sparse else read_back.X
    np.testing.assert_array_equal(dense[15:], expected[15:])
    model = fit(done)  # without a warning
    plain = fit([view.astype(read_back.X.dtype) for view in (X["v0"], expected)])
    np.testing.assert_allclose(model.embedding_, plain.embedding_, rtol=1e-4 if kind == "float32" else 1e-10)
    assert found(given)["v1"].rows.sum() == 15  # not modified


def test_missing_with_ids_in_another_order():
    pd = pytest.importorskip("pandas")
    X = marked()
    index = [f"s{i}" for i in range(N)]
    frames = {
        name: pd.DataFrame(view, index=index).sample(frac=1.0, random_state=j)
        for j, (name, view) in enumerate(X.items())
    }
    done = jella.align(frames, zero_rows="missing")
    assert set(done["v1"].index[done["v1"].isna().all(axis=1)]) == set(index[:15])
    assert not done["v0"].isna().any(axis=None)


def test_annotated():
    anndata = pytest.importorskip("anndata")
    X = {name: anndata.AnnData(sparse.csr_matrix(view)) for name, view in marked().items()}
    done = jella.align(X, zero_rows="missing")
    np.testing.assert_array_equal(read_views(done)[1].presence(), np.arange(N) >= 15)
    assert sparse.issparse(done["v1"].X)


def test_tensors():
    torch = pytest.importorskip("torch")
    X = {name: torch.asarray(view) for name, view in marked().items()}
    with pytest.warns(ZeroRowsWarning, match="15 of 60"):
        fit(X)
    done = jella.align(X, zero_rows="missing")
    assert bool(torch.isnan(done["v1"][:15]).all())
    fit(done)


def test_one_call_completes_them():
    X = marked()
    with pytest.warns(ZeroRowsWarning) as seen:
        as_values = jella.complete(X)
    assert len(seen) == 1  # the second fit says nothing
    np.testing.assert_array_equal(as_values.views["v1"], X["v1"])
    done = jella.complete(X, zero_rows="missing", estimate_error=False)
    assert (done.views["v1"][:15] != 0).all()
    np.testing.assert_array_equal(done.views["v1"][15:], X["v1"][15:])
    assert done.n_filled == {"v0": 0, "v1": 15 * 9}
    assert jella.cluster(X, 3, zero_rows="missing").n_missing == {"v0": 0, "v1": 15 * 9}


# without reason to doubt


def test_masked_rows_are_no_zero_rows():
    X = marked()
    there = np.arange(N) >= 15
    assert not found(X, {"v1": there})
    fit(X, observed={"v1": there})
    X["v1"][:15] = np.nan
    assert not found(X)
    X["v1"][:15, 1:] = 0.0  # one entry is missing: what the others mean is not known
    assert not found(X)


def test_what_is_under_a_mask_does_not_matter():
    X = marked(count=4)
    there = np.arange(N) >= 2
    results = []
    for garbage in (0.0, 7.0, np.nan):
        X["v1"][:2] = garbage
        one = found(X, {"v1": there})["v1"]
        results.append((one.rows.tolist(), one.n_present, one.doubtful))
    assert results[0] == results[1] == results[2]
    assert sum(results[0][0]) == 2


def test_order_does_not_matter():
    X, order = marked(), np.random.default_rng(1).permutation(N)
    one, other = found(X)["v1"], found({name: view[order] for name, view in X.items()})["v1"]
    assert one.doubtful == other.doubtful
    np.testing.assert_array_equal(one.rows[order], other.rows)


def counts(mean, share_zero=0.0, n=1000, d=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(mean / d, size=(n, d)) * (rng.random((n, 1)) >= share_zero)
    return sparse.csr_array(X.astype(float))


@pytest.mark.parametrize("mean", [2, 3, 4])
def test_sparse_counts_may_have_empty_rows(mean):
    X = counts(mean)
    one = found([X])["view0"]
    assert one.rows.sum() == np.sum(np.diff(X.indptr) == 0) > 0
    assert not one.doubtful
    fit([X, counts(50)])


@pytest.mark.parametrize("mean", [25, 50])
def test_empty_rows_among_full_ones_are_doubtful(mean):
    assert found([counts(mean, share_zero=0.05)])["view0"].doubtful


def test_stored_zeros_are_zeros():
    X = counts(50)
    X.data[: X.indptr[30]] = 0.0
    assert found([X])["view0"].rows[:30].all()


def test_a_large_share_is_never_silent():
    assert found([counts(1)])["view0"].doubtful  # a third of the rows


@pytest.mark.parametrize("d", [1, 2, 3])
def test_narrow_binary_views(d):
    X = np.random.default_rng(0).integers(0, 2, (200, d)).astype(float)
    assert not any(one.doubtful for one in found([X]).values())


def test_a_single_row_is_no_reason_to_doubt():
    assert not found(marked(count=1))["v1"].doubtful


def test_values_that_occur_elsewhere_are_no_mark():
    X = np.random.default_rng(0).integers(1, 4, (200, 2)).astype(float)
    assert not found([X])


def test_several_constant_rows_are_no_mark():
    ages = np.repeat(np.arange(20.0, 80.0)[:, None], 2, axis=1)
    ages[0, 1] = 3.0
    assert not found([ages])
    assert not found([np.ones((10, 3))])


def test_a_view_of_zeros_only():
    assert not found([np.zeros((10, 3))])


def test_one_view_is_never_doubted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(marked()["v1"])


# files and the command line


@pytest.fixture
def file(tmp_path):
    np.savez(tmp_path / "data.npz", **marked())
    return tmp_path / "data.npz"


def test_command_line(file, tmp_path, capsys):
    assert main(["info", str(file)]) == 0
    assert "View 'v1' has only zeros in 15 of 60 rows (25.0%); pass zero_rows='missing'" in capsys.readouterr().out
    words = [str(file), "--method", "mvliv", "--set", "tol=0", "--set", "max_iter=3", "--no-error"]
    assert main(["complete", *words, "-o", str(tmp_path / "as values")]) == 0
    assert "note: view 'v1' has only zeros in 15 of 60 rows" in capsys.readouterr().err
    assert main(["complete", *words, "--zero-rows", "missing", "-o", str(tmp_path / "missing")]) == 0
    assert "only zeros" not in capsys.readouterr().err
    before, after = np.load(file), np.load(tmp_path / "missing" / "completed" / "data.npz")
    np.testing.assert_array_equal(after["v1"][15:], before["v1"][15:])
    assert (after["v1"][:15] != 0).all()


def test_reading(file):
    data = read(file, zero_rows="missing")
    assert np.isnan(data.views["v1"][:15]).all()
    assert "Rows of zeros are missing." in data.notes
    assert (read(file).views["v1"][:15] == 0).all()


@pytest.mark.skipif("JELLA_DATA" not in os.environ, reason="JELLA_DATA is not set")
def test_the_counts_of_bdgp():
    path = os.path.join(os.environ["JELLA_DATA"], "BDGP", "BDGP_fea.mat")
    if not os.path.exists(path):
        pytest.skip("there is no BDGP in JELLA_DATA")
    ones = found(read(path).views)
    assert [int(one.rows.sum()) for one in ones.values()] == [201, 1203, 1915]
    assert all(one.doubtful for one in ones.values())
