"""Hidden values: views without them, and the user's containers without them, are the same for everyone who hides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from common import never_pulling
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import jella
import jella.views.hide
from jella.model_selection import HeldOut, held_out_error, search, select_rank
from jella.numerics.arrays import to_numpy
from jella.readout.scoring import held_out_rmse
from jella.report.data import ReportData
from jella.views import Hidden, read_views
from jella.views.draw import SETTINGS, draw_as_missing, draw_for_score, draw_setting
from jella.views.scaling import Scaling
from jella_experiments.cell import Cell
from jella_experiments.protocol import compute_cell

N, WIDTHS = 40, (7, 5, 4)


def planted(seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(N, 2))
    return [10 * (W @ rng.normal(size=(2, d)) + 0.3 * rng.normal(size=(N, d))) for d in WIDTHS]


def with_zeros():
    return [np.where(np.abs(view) > 8, view, 0.0) for view in planted()]


def gappy(entries=0.2, views=0.2, seed=1, of=planted):
    rng = np.random.default_rng(seed)
    X = [np.where(rng.random(view.shape) < entries, np.nan, view) for view in of()]
    for view in X:
        view[rng.random(N) < views] = np.nan
    return X


def named(view, start=0):
    return pd.DataFrame(view, index=[f"s{i}" for i in range(start, start + len(view))]).add_prefix("g")


def shifted():
    """Views with some of the samples each, in different orders."""
    first, *others = planted()
    return {"first": named(first), "b": named(others[0][5:], 5).iloc[::-1], "c": named(others[1], 9)}


CONTAINERS = {
    "list": planted,
    "tuple": lambda: tuple(planted()),
    "dict": lambda: dict(zip("abc", planted(), strict=True)),
    "one array": lambda: planted()[0],
    "with gaps": gappy,
    "without some views": lambda: gappy(entries=0.0),
    "float32": lambda: [view.astype(np.float32) for view in gappy()],
    "integers": lambda: [view.astype(np.int64) for view in planted()],
    "nested lists": lambda: [view.tolist() for view in planted()],
    "masked": lambda: [np.ma.masked_greater(view, 12) for view in planted()],
    "frames": lambda: [named(view) for view in gappy()],
    "shifted frames": shifted,
    "nullable frames": lambda: [named(view.astype(int)).convert_dtypes().mask(named(view) > 15) for view in planted()],
    "sparse frames": lambda: [named(view).astype(pd.SparseDtype(float, 0)) for view in with_zeros()],
    "csr": lambda: [sparse.csr_array(view) for view in with_zeros()],
    "csr with gaps": lambda: [sparse.csr_array(view) for view in gappy(of=with_zeros)],
    "csc beside arrays": lambda: [sparse.csc_array(with_zeros()[0]), *gappy()[1:]],
    "one-dimensional": lambda: [view[:, :1] for view in gappy(entries=0.0)],
    "AnnData": lambda: annotated([named(view) for view in gappy()]),
    "MuData": lambda: multimodal(shifted()),
}


def annotated(frames):
    anndata = pytest.importorskip("anndata")
    return [anndata.AnnData(frame) for frame in frames]


def multimodal(frames):
    mudata = pytest.importorskip("mudata")
    parts = annotated([frame.add_prefix(name) for name, frame in frames.items()])
    with never_pulling(mudata):
        return mudata.MuData(dict(zip(frames, parts, strict=True)))


def at_random(views, rng):
    """Observed entries in half of the views, whole samples in the others."""
    masks = [rng.random((views.n_samples, rng.choice([1, view.n_features]))) < 0.4 for view in views]
    return Hidden(tuple(where & to_numpy(view.mask) for where, view in zip(masks, views, strict=True)))


WAYS = {
    "score": draw_for_score,
    "at random": at_random,
    "nothing": lambda views, rng: Hidden.nothing(views),
    **{f"held out: {w}": lambda views, rng, w=w: draw_as_missing(views, 0.3, w, rng) for w in ("auto", "entries")},
    **{s: lambda views, rng, s=s: draw_setting(views, 0.3, s, rng) for s in SETTINGS if s != "missing-view"},
    "lost views": lambda views, rng: draw_setting(views, 0.2, "missing-view" if len(views) > 1 else "mcar", rng),
}


def dense(view):
    return view.X.toarray() if view.is_sparse else to_numpy(view.X)


def assert_same(ours, theirs):
    assert ours.names == theirs.names
    if theirs.sample_names is not None:
        pd.testing.assert_index_equal(ours.sample_names, theirs.sample_names)
    for one, other in zip(ours, theirs, strict=True):
        assert one.is_sparse == other.is_sparse
        assert one.feature_names == other.feature_names
        assert one.X.dtype == other.X.dtype
        assert np.array_equal(to_numpy(one.mask), to_numpy(other.mask))
        assert np.array_equal(dense(one), dense(other))


# the law


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", CONTAINERS)
def test_hiding_and_reading_commute(kind, way):
    X = CONTAINERS[kind]()
    if kind == "one-dimensional" and way == "mar":
        pytest.skip("the only feature of every view drives the others")
    views = read_views(X)
    hidden = WAYS[way](views, np.random.default_rng(0))
    left = hidden.apply(views)
    assert_same(left, read_views(hidden.apply_to(X, views)))
    assert_same(views, read_views(X))  # X is as it was
    lost = tuple(before.n_observed() - after.n_observed() for before, after in zip(views, left, strict=True))
    assert hidden.counts(views) == lost
    assert any(lost) == (way != "nothing")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, named])
def test_hiding_and_reading_commute_under_masks_of_the_user(wrap, way):
    """Whatever the container holds where nothing was observed."""
    rng = np.random.default_rng(2)
    for by_row in (False, True):
        observed = [rng.random((N, 1 if by_row else d)) < 0.8 for d in WIDTHS]
        X = [wrap(np.where(seen, view, 1e9)) for seen, view in zip(observed, with_zeros(), strict=True)]
        views = read_views(X, observed)
        hidden = WAYS[way](views, np.random.default_rng(0))
        gone = hidden | Hidden.missing(views)
        assert_same(hidden.apply(views), read_views(gone.apply_to(X, views)))


def test_hiding_and_reading_commute_in_every_library(xp):
    X = [xp.asarray(view) for view in gappy()]
    views = read_views(X)
    hidden = draw_for_score(views, np.random.default_rng(0))
    holed = hidden.apply_to(X, views)
    assert all(type(one) is type(other) for one, other in zip(holed, X, strict=True))
    assert_same(hidden.apply(views), read_views(holed))


def test_the_law_can_fail():
    views = read_views(planted())
    hidden = draw_for_score(views, np.random.default_rng(0))
    other = draw_for_score(views, np.random.default_rng(1))
    with pytest.raises(AssertionError):
        assert_same(hidden.apply(views), other.apply(views))


# what is drawn


@pytest.mark.parametrize("entries", [0.0, 0.3])
def test_samples_lose_one_of_the_views_that_they_have(entries):
    """Of three views, of which many samples lack one: as many samples as asked for lose one whole view."""
    X = gappy(entries, views=0.3)
    views = read_views(X)
    several = int((views.presence().sum(axis=1) >= 2).sum())
    for seed in range(5):
        rng = np.random.default_rng(seed)
        draws = {
            round(0.4 * N): draw_setting(views, 0.4, "missing-view", rng),
            round(0.5 * several): draw_as_missing(views, 0.5, "views", rng),
        }
        for count, hidden in draws.items():
            lost = views.presence() & ~hidden.apply(views).presence()
            assert lost.sum() == count
            assert lost.sum(axis=1).max() == 1
            assert sum(hidden.counts(views)) == sum(v.count_by_sample()[lost[:, i]].sum() for i, v in enumerate(views))


# what stands under a hidden value, and the order of samples, do not matter


@given(st.integers(0, 10**6), st.sampled_from(list(WAYS)), st.sampled_from([0.0, 0.3]))
@settings(max_examples=40, deadline=None)
def test_only_observed_values_are_hidden_and_samples_keep_something(seed, way, entries):
    X = gappy(entries, seed=seed)
    for view in X:
        view[3] = np.nan
    views = read_views(X)
    hidden = WAYS[way](views, np.random.default_rng(seed))
    assert all(not (where & ~to_numpy(view.mask)).any() for where, view in zip(hidden, views, strict=True))
    if way != "at random":
        assert np.array_equal(hidden.apply(views).presence().any(axis=1), views.presence().any(axis=1))


@given(st.integers(0, 10**6), st.sampled_from(list(WAYS)))
@settings(max_examples=30, deadline=None)
def test_hidden_values_leave_no_trace(seed, way):
    X = gappy(seed=seed)
    views = read_views(X)
    hidden = WAYS[way](views, np.random.default_rng(seed))
    garbage = [np.where(where, 1e9, view) for where, view in zip(hidden, X, strict=True)]
    for ours, theirs in zip(hidden.apply_to(X, views), hidden.apply_to(garbage, views), strict=True):
        assert np.array_equal(ours, theirs, equal_nan=True)
    assert_same(hidden.apply(views), hidden.apply(read_views(garbage)))


@given(st.integers(0, 10**6), st.sampled_from(list(WAYS)))
@settings(max_examples=30, deadline=None)
def test_hiding_goes_with_the_samples(seed, way):
    X = gappy(seed=seed)
    views, order = read_views(X), np.random.default_rng(seed).permutation(N)
    hidden = WAYS[way](views, np.random.default_rng(seed))
    moved = Hidden(tuple(where[order] for where in hidden))
    assert_same(moved.apply(views.take(order)), hidden.apply(views).take(order))
    # frames are matched by their names
    frames = [named(view) for view in X]
    shuffled = [frame.iloc[np.random.default_rng(v).permutation(N)] for v, frame in enumerate(frames)]
    views = read_views(frames)
    holed = hidden.apply_to(shuffled, views)
    for frame, expected, given_ in zip(holed, hidden.apply_to(frames, views), shuffled, strict=True):
        pd.testing.assert_index_equal(frame.index, given_.index)
        pd.testing.assert_frame_equal(frame.loc[expected.index], expected)


# reading masks back, and walking over them


@pytest.mark.parametrize("kind", ["list", "tuple", "dict", "one array", "with gaps", "shifted frames", "csr"])
def test_masks_come_back_as_they_were_given(kind):
    X = CONTAINERS[kind]()
    views = read_views(X)
    hidden = draw_as_missing(views, 0.3, "auto", np.random.default_rng(0))
    given_ = hidden.masks_like(X, views)
    assert type(given_) is (np.ndarray if kind == "one array" else type(X))
    assert all(np.array_equal(a, b) for a, b in zip(Hidden.read(given_, views), hidden, strict=True))


@pytest.mark.parametrize("block", [1, 300, 2**26])
def test_blocks_have_every_sample_with_something_hidden_once(monkeypatch, block):
    monkeypatch.setattr(jella.views.hide, "BLOCK_BYTES", block)
    hidden = draw_as_missing(read_views(gappy()), 0.3, "auto", np.random.default_rng(0))
    for v, where in enumerate(hidden):
        blocks = list(hidden.blocks(v, 100))
        assert max(rows.size for rows, _ in blocks) <= max(1, block // 100)
        assert np.array_equal(np.concatenate([rows for rows, _ in blocks]), np.flatnonzero(where.any(axis=1)))
        assert np.array_equal(np.concatenate([part for _, part in blocks]), where[where.any(axis=1)])


# everyone goes through it


class Passed:
    """What Hidden returned, and what models were fitted to."""

    def __init__(self, monkeypatch):
        self.returned, self.fitted = [], []
        fit = jella.MVLIV.fit
        monkeypatch.setattr(jella.MVLIV, "fit", lambda model, X, **more: self.fitted.append(X) or fit(model, X, **more))
        for name in ("apply", "apply_to"):
            monkeypatch.setattr(Hidden, name, self._noting(getattr(Hidden, name)))

    def _noting(self, method):
        def called(*arguments):
            self.returned.append(method(*arguments))
            return self.returned[-1]

        return called

    def has(self, X):
        return any(X is one for one in self.returned)


@pytest.fixture
def passed(monkeypatch):
    return Passed(monkeypatch)


def test_make_incomplete_goes_through_it(passed):
    for setting in SETTINGS:
        assert passed.has(jella.datasets.make_incomplete(planted(), 0.3, setting, random_state=0))


def test_the_score_goes_through_it(passed):
    X, asked = gappy(), []
    views = read_views(X)

    def predict(seen):
        asked.append(seen)
        return [np.zeros(view.X.shape) for view in seen]

    held_out_rmse(views, predict, Scaling.learn(views, "none"), np.random.default_rng(0))
    assert [passed.has(seen) for seen in asked] == [True]
    jella.MVLIV(n_components=2, max_iter=3, tol=0, on_empty="drop").fit(X).score(X)
    assert len(passed.returned) == 2


MODEL = jella.MVLIV(n_components=2, max_iter=3, tol=0, on_empty="drop")


@pytest.mark.parametrize(
    ("call", "n_hidden", "n_whole"),
    [
        (lambda X: held_out_error(MODEL, X, HeldOut(2)), 2, 0),
        (lambda X: search(MODEL, {"n_init": [1, 2]}, X, held_out=HeldOut(2)), 4, 1),
        (lambda X: select_rank(X, [1, 2], estimator=MODEL, held_out=HeldOut(2)), 4, 0),
        (lambda X: jella.model_selection.against_mean.errors_against_mean(MODEL.fit(X), X), 1, 1),
        (lambda X: ReportData.of(MODEL.fit(X), X).predictions, 1, None),
    ],
)
def test_every_fit_on_less_goes_through_it(passed, call, n_hidden, n_whole):
    X = gappy()
    call(X)
    less = [passed.has(seen) for seen in passed.fitted]
    assert sum(less) == n_hidden
    if n_whole is None:  # the report fits again for other reasons, to all data
        assert all(seen is X for seen, through in zip(passed.fitted, less, strict=True) if not through)
    else:
        assert len(less) == n_hidden + n_whole


@pytest.mark.parametrize("task", ["cluster", "hold-out"])
def test_the_experiments_go_through_it(passed, task):
    X = dict(zip("abc", [np.abs(view) for view in planted()], strict=True))
    cell = Cell(dataset="planted", method="MVL-IV", setting="missing-view", rate=0.3, task=task, repetition=0)
    compute_cell(cell, X, np.arange(N) % 3)
    assert len(passed.fitted) == 1
    assert passed.has(passed.fitted[0])
    assert len(passed.returned) == {"cluster": 1, "hold-out": 2}[task]


def test_views_without_anything_hidden_stay_themselves():
    views = read_views(gappy())
    one = replace(Hidden.nothing(views), masks=(np.ones((N, 1), dtype=bool), *Hidden.nothing(views).masks[1:]))
    left = one.apply(views)
    assert left[1] is views[1]
    assert not left[0].presence().any()
