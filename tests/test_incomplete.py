"""make_incomplete: holes in the user's own containers, as many as asked for, the same for the same seed."""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import jella
from jella.datasets import make_incomplete
from jella.numerics.arrays import to_numpy
from jella.views import read_views
from jella.views.draw import SETTINGS

N, WIDTHS = 60, (12, 8)


def plain(dtype=np.float64):
    rng = np.random.default_rng(0)
    return [(10 * rng.normal(size=(N, d))).astype(dtype) for d in WIDTHS]


def sparse_values():
    return [np.where(np.abs(view) > 5, view, 0.0) for view in plain()]


def named(view, start=0):
    return pd.DataFrame(view, index=[f"s{i}" for i in range(start, start + len(view))]).add_prefix("g")


def holes(X):
    """The holes of every view, (n, d) booleans in the order of the union of the samples."""
    views = read_views(X)
    return [~np.broadcast_to(to_numpy(view.mask), (view.n_samples, view.n_features)) for view in views]


CONTAINERS = {
    "list": lambda: plain(),
    "tuple": lambda: tuple(plain()),
    "dict": lambda: dict(zip("ab", plain(), strict=True)),
    "float32": lambda: plain(np.float32),
    "integers": lambda: plain(np.int64),
    "nested lists": lambda: [view.tolist() for view in plain()],
    "masked": lambda: [np.ma.masked_greater(view, 12) for view in plain()],
    "frames": lambda: [named(view) for view in plain()],
    "frames of integers": lambda: [named(view.astype(np.int64)) for view in plain()],
    "frames of booleans": lambda: [named(view > 0) for view in plain()],
    "nullable frames": lambda: [named(view).convert_dtypes() for view in plain(np.int64)],
    "sparse frames": lambda: [named(view).astype(pd.SparseDtype(float, 0)) for view in sparse_values()],
    "csr": lambda: [sparse.csr_array(view) for view in sparse_values()],
    "coo matrix": lambda: [sparse.coo_matrix(view) for view in sparse_values()],
    "sparse integers": lambda: [sparse.csc_array(view.astype(int)) for view in sparse_values()],
}


def items(X):
    return list(X.values()) if isinstance(X, dict) else list(X)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kind", CONTAINERS)
def test_containers_stay_and_what_is_left_is_untouched(kind, setting):
    X = CONTAINERS[kind]()
    before = copy.deepcopy(X)
    found = make_incomplete(X, 0.3, setting, random_state=0)
    assert type(found) is type(X)
    for ours, theirs, old in zip(items(found), items(X), items(before), strict=True):
        assert type(ours) is (np.ndarray if kind == "nested lists" else type(theirs))
        assert np.array_equal(numbers(theirs), numbers(old), equal_nan=True)
        kept = ~np.isnan(numbers(ours))
        assert 0.4 < kept.mean() < 1
        assert np.array_equal(numbers(ours)[kept], numbers(theirs)[kept])
        if isinstance(ours, pd.DataFrame):
            pd.testing.assert_index_equal(ours.index, theirs.index)
            pd.testing.assert_index_equal(ours.columns, theirs.columns)
        if kind == "float32":
            assert ours.dtype == np.float32
    assert np.isfinite(jella.MVLIV(n_components=2, max_iter=3, tol=0).fit(found).embedding_).all()


def numbers(view):
    """Any view as floats with NaN for what is missing."""
    if sparse.issparse(view):
        return view.toarray().astype(float)
    if isinstance(view, pd.DataFrame):
        return view.to_numpy(dtype=float, na_value=np.nan)
    return np.ma.filled(np.ma.asarray(view).astype(float), np.nan)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_same_seed_gives_the_same_holes_in_every_container(setting):
    reference = holes(make_incomplete(sparse_values(), 0.3, setting, random_state=7))
    again = holes(make_incomplete(sparse_values(), 0.3, setting, random_state=np.random.default_rng(7)))
    other = holes(make_incomplete(sparse_values(), 0.3, setting, random_state=8))
    assert all(np.array_equal(a, b) for a, b in zip(reference, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(reference, other, strict=True))
    for kind in ("csr", "coo matrix", "sparse frames"):
        found = holes(make_incomplete(CONTAINERS[kind](), 0.3, setting, random_state=7))
        assert all(np.array_equal(a, b) for a, b in zip(reference, found, strict=True))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("rate", [0.0, 0.5, 0.95])
def test_no_sample_ends_with_nothing(setting, rate):
    found = holes(make_incomplete(plain(), rate, setting, random_state=0))
    assert not np.concatenate(found, axis=1).all(axis=1).any()
    assert any(where.any() for where in found) == (rate > 0)


def test_missing_view_counts():
    found = holes(make_incomplete(plain(), 0.4, random_state=0))
    whole = np.stack([where.all(axis=1) for where in found], axis=1)
    assert np.array_equal(np.stack([where.any(axis=1) for where in found], axis=1), whole)
    assert whole.sum() == round(0.4 * N)
    assert whole.sum(axis=1).max() == 1
    assert whole.any(axis=0).all()


def test_incomplete_view_counts():
    found = holes(make_incomplete(plain(), 0.4, "incomplete-view", random_state=0))
    whole = np.stack([where.all(axis=1) for where in found], axis=1)
    assert whole.sum() == round(0.4 * N)
    for where, gone in zip(found, whole.T, strict=True):
        assert where[~gone].sum() == round(0.4 * where[~gone].size)


def test_entrywise_counts():
    for where in holes(make_incomplete(plain(), 0.25, "mcar", random_state=0)):
        assert where.sum() == round(0.25 * where.size)
    for setting in ("mar", "mnar"):
        share = [where.mean() for where in holes(make_incomplete(plain(), 0.25, setting, random_state=0))]
        assert np.allclose(share, 0.25, atol=0.08)


def test_mnar_takes_the_large_values():
    X = plain()
    for view, where in zip(X, holes(make_incomplete(X, 0.4, "mnar", random_state=0)), strict=True):
        assert view[where].mean() > view[~where].mean() + 5


def test_one_array():
    (X, _) = plain()
    found = make_incomplete(X, 0.2, "incomplete-view", random_state=0)
    assert isinstance(found, np.ndarray)
    assert np.isnan(found).sum() == round(0.2 * X.size)
    frame = make_incomplete(named(X), 0.2, "mcar", random_state=0)
    assert isinstance(frame, pd.DataFrame)
    assert frame.isna().sum().sum() == round(0.2 * X.size)


def test_every_array_library(xp):
    X = [xp.asarray(view) for view in plain()]
    found = make_incomplete(X, 0.3, "incomplete-view", random_state=0)
    expected = make_incomplete(plain(), 0.3, "incomplete-view", random_state=0)
    for ours, theirs in zip(found, expected, strict=True):
        assert type(ours) is type(X[0])
        assert np.array_equal(to_numpy(ours), theirs, equal_nan=True)
    integers = make_incomplete([xp.asarray(view) for view in plain(np.int32)], 0.3, random_state=0)
    assert np.isnan(to_numpy(integers[0])).any()


def test_holes_that_were_there_stay():
    X = make_incomplete(plain(), 0.3, random_state=0)
    more = make_incomplete(X, 0.2, "mcar", random_state=1)
    for old, new in zip(holes(X), holes(more), strict=True):
        assert (new | ~old).all()
        assert new.sum() - old.sum() == round(0.2 * (~old).sum())
    masked = np.ma.masked_greater(plain()[0], 5)
    found = make_incomplete([masked, plain()[1]], 0.2, "mcar", random_state=1)[0]
    assert np.ma.getmaskarray(found)[masked.mask].all()


def test_frames_lose_their_own_rows():
    left, right = plain()
    X = [named(left), named(right[:40], start=20).iloc[::-1]]
    found = make_incomplete(X, 0.3, random_state=0)
    pd.testing.assert_index_equal(found[1].index, X[1].index)
    lost = [set(view.index[view.isna().all(axis=1)]) for view in found]
    assert len(lost[0]) + len(lost[1]) == round(0.3 * N)
    assert not lost[0] & lost[1]
    alone = {f"s{i}" for i in range(20)}  # they have the first view only, and keep it
    assert not lost[0] & alone


def test_columns_that_lose_nothing_keep_their_types():
    left, right = plain()
    frame = named(right).assign(count=np.arange(N), flag=np.arange(N) % 2 == 0)
    found = make_incomplete([named(left), frame], 0.02, "mcar", random_state=3)[1]
    untouched = [column for column in frame if found[column].notna().all()]
    assert 0 < len(untouched) < frame.shape[1]
    for column in untouched:
        assert found[column].dtype == frame[column].dtype


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_incomplete(plain(), 1.0), "0 <= rate < 1, got 1.0"),
        (lambda: make_incomplete(plain(), 30), "0 <= rate < 1, got 30"),
        (lambda: make_incomplete(plain(), 0.3, "views"), "got 'views'"),
        (lambda: make_incomplete(plain()[0], 0.3), "at least 2 views"),
        (lambda: make_incomplete([], 0.3), "at least one view, got none"),
        (lambda: make_incomplete([plain()[0], None], 0.3), "view 'view1' is None"),
        (lambda: make_incomplete([plain()[0], plain()[1][:5]], 0.3), "view 'view1' has 5 samples, 'view0' has 60"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
