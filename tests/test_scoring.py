"""The score: what is hidden, that it is the same every time, and that it does not favour the largest rank."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import cross_val_score

import jella
import jella.readout.scoring
from jella.estimators.base import BaseMultiView
from jella.estimators.completion import RRMC
from jella.numerics.arrays import to_numpy
from jella.readout.scoring import held_out_rmse
from jella.views import read_views
from jella.views.draw import draw_for_score, draw_left_out
from jella.views.scaling import KINDS, Scaling


def planted(n=120, widths=(30, 20), r=3, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, r))
    return [W @ rng.normal(size=(r, d)) + noise * rng.normal(size=(n, d)) for d in widths]


def holed(rate=0.3, seed=0, setting="incomplete-view", **options):
    return jella.datasets.make_incomplete(planted(seed=seed, **options), rate, setting, random_state=seed)


def full(masks, views):
    return [np.broadcast_to(m, (v.n_samples, v.n_features)) for m, v in zip(masks, views, strict=True)]


# what is hidden


@given(st.integers(0, 10**6), st.integers(1, 3), st.floats(0, 0.9))
@settings(max_examples=60, deadline=None)
def test_a_whole_view_or_a_tenth_of_the_entries_is_hidden(seed, n_views, rate):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(12, d)) for d in (25, 9, 1)[:n_views]]
    X = [np.where(rng.random(view.shape) < rate, np.nan, view) for view in X]
    for view in X:
        view[rng.random(12) < 0.4] = np.nan
    views = read_views(X)
    hidden = full(draw_for_score(views, np.random.default_rng(seed)), views)
    seen = [~np.isnan(view) for view in X]
    counts = np.stack([mask.sum(axis=1) for mask in seen], axis=1)
    lost = np.stack([where.sum(axis=1) for where in hidden], axis=1)
    for where, mask in zip(hidden, seen, strict=True):
        assert not (where & ~mask).any()  # nothing is hidden that was not there
    for i in range(12):
        present = np.flatnonzero(counts[i])
        if present.size >= 2:
            (v,) = np.flatnonzero(lost[i])
            assert lost[i, v] == counts[i, v]
        elif present.size == 1:
            (v,) = present
            expected = max(1, round(0.1 * counts[i, v])) if counts[i, v] > 1 else 0
            assert lost[i].sum() == lost[i, v] == expected
        else:
            assert not lost[i].any()


def test_all_views_and_entries_have_their_turn():
    views = read_views([np.ones((600, 3)), np.ones((600, 2)), np.ones((600, 1))])
    share = [where.mean() for where in draw_for_score(views, np.random.default_rng(0))]
    assert np.allclose(share, 1 / 3, atol=0.06)
    (where,) = draw_for_score(read_views(np.ones((600, 20))), np.random.default_rng(0))
    assert np.allclose(where.mean(axis=0), 0.1, atol=0.05)


def test_hidden_values_are_gone():
    for wrap in (np.asarray, sparse.csr_array):
        views = read_views([wrap(view) for view in holed(setting="missing-view")])
        hidden = draw_for_score(views, np.random.default_rng(0))
        for before, after, where in zip(views, hidden.apply(views), full(hidden, views), strict=True):
            left = np.broadcast_to(before.mask, where.shape) & ~where
            assert np.array_equal(np.broadcast_to(after.mask, where.shape), left)
            values = after.X.toarray() if after.is_sparse else after.X
            whole = before.X.toarray() if before.is_sparse else before.X
            assert np.array_equal(values, np.where(left, whole, 0.0))


# the value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", ["missing-view", "incomplete-view"])
def test_the_score_by_hand(kind, setting):
    """Of a model that predicts 2 everywhere, over the hidden entries, in units of the scale."""
    X = [view + 1 for view in holed(setting=setting)]
    views = read_views(X)
    scaling = Scaling.learn(views, kind)
    found = held_out_rmse(views, lambda v: [np.full(w.X.shape, 2.0) for w in v], scaling, np.random.default_rng(3))
    errors = []
    for view, where in zip(X, full(draw_for_score(views, np.random.default_rng(3)), views), strict=True):
        d = view.shape[1]
        by_sample = np.sqrt(np.nanmean(np.where(np.isnan(view).all(axis=1)[:, None], 0.0, view) ** 2, axis=1) * d)
        unit = {
            "sample": by_sample[:, None],
            "feature": np.sqrt(np.nanmean(view**2, axis=0)) * np.sqrt(d),
            "standardize": np.nanstd(view, axis=0) * np.sqrt(d),
            "center": np.sqrt(np.nanmean((view - np.nanmean(view, axis=0)) ** 2) * d),
            "none": 1.0,
        }[kind]
        errors.append(((2.0 - view) / np.where(where, unit, 1.0))[where])
    assert found == pytest.approx(np.sqrt(np.mean(np.concatenate(errors) ** 2)), rel=1e-9)


def test_missing_entries_are_not_scored():
    """A model that knows the truth has no error, whatever it says of entries that are not there."""
    truth = planted()
    X = jella.datasets.make_incomplete(truth, 0.3, "incomplete-view", random_state=0)
    views = read_views(X)
    scaling = Scaling.learn(views, "none")
    answers = [np.where(np.isnan(hole), 1e6, view) for hole, view in zip(X, truth, strict=True)]
    assert held_out_rmse(views, lambda _: answers, scaling, np.random.default_rng(0)) == 0.0


@pytest.mark.parametrize("block", [1, 40_000, 2**26])
def test_blocks_score_every_sample_once(monkeypatch, block):
    monkeypatch.setattr(jella.readout.scoring, "BLOCK_BYTES", block)
    X = holed()
    views, asked = read_views(X), []

    def predict(part):
        asked.append(part.n_samples)
        return [np.zeros(view.X.shape) for view in part]

    held_out_rmse(views, predict, Scaling.learn(views, "none"), np.random.default_rng(0))
    assert sum(asked) == 120
    assert len(asked) == {1: 120, 40_000: 2, 2**26: 1}[block]


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
def test_blocks_do_not_change_the_score(monkeypatch, wrap):
    X = [wrap(view) for view in planted(n=25)]  # all samples have two views, so that blocks draw the same
    model = jella.MVLIV(n_components=3).fit(X)
    expected = model.score(X)
    monkeypatch.setattr(jella.readout.scoring, "BLOCK_BYTES", 1)
    assert model.score(X) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("random_state", [None, 3, np.random.default_rng(0)])
def test_the_score_is_negative_and_the_same_every_time(random_state):
    X = holed()
    model = jella.MVLIV(n_components=3, random_state=random_state).fit(X)
    score = model.score(X)
    assert isinstance(score, float)
    assert -1 < score < 0
    assert model.score(X) == score
    if random_state == 3:
        other = jella.MVLIV(n_components=3, random_state=4).fit(X)
        assert np.array_equal(other.embedding_, model.embedding_)
        assert other.score(X) != score


def test_containers_score_the_same():
    X = holed(setting="missing-view")
    model = jella.MVLIV(n_components=3, scale="sample").fit(X)
    expected = model.score(X)
    assert model.score(tuple(X)) == expected
    assert model.score([np.ma.masked_invalid(view) for view in X]) == expected
    assert model.score([sparse.csc_array(view) for view in X]) == pytest.approx(expected, rel=1e-9)
    on_frames = jella.MVLIV(n_components=3, scale="sample").fit([pd.DataFrame(view) for view in X])
    assert on_frames.score([pd.DataFrame(view) for view in X]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("setting", ["missing-view", "incomplete-view"])
@pytest.mark.parametrize("scale", KINDS)
def test_the_planted_rank_beats_a_larger_one(setting, scale):
    X = holed(setting=setting)
    score = {r: jella.MVLIV(n_components=r, scale=scale, max_iter=100, tol=1e-3).fit(X).score(X) for r in (1, 3, 15)}
    assert score[3] > score[15]
    assert score[3] > score[1]


def test_one_view_scores_on_entries():
    (X,) = planted(widths=(40,))
    score = {r: jella.MVLIV(n_components=r, scale="none").fit(X).score(X) for r in (1, 3, 30)}
    assert score[3] > score[30]
    assert score[3] > score[1]
    noise = 0.3
    assert score[3] == pytest.approx(-noise, rel=0.15)


def test_samples_without_anything_are_left_out():
    X = holed(setting="missing-view")
    empty = [view.copy() for view in X]
    for view in empty:
        view[7] = np.nan
    model = jella.MVLIV(n_components=3, on_empty="drop").fit(empty)
    without = [np.delete(view, 7, axis=0) for view in X]
    assert model.score(empty) == pytest.approx(model.score(without), rel=1e-12)


def test_nothing_to_hide_is_an_error():
    X = np.ones((4, 1)) * np.arange(1.0, 5)[:, None]
    model = jella.MVLIV(n_components=1).fit(X)
    with pytest.raises(ValueError, match=r"^nothing can be hidden to score on: no sample has two observed values$"):
        model.score(X + 5)
    with pytest.raises(ValueError, match=r"^expected samples that a fit can do without and that have two observed"):
        model.score(X)


def test_scores_from_every_library(xp):
    X = [xp.asarray(view) for view in holed()]
    views = read_views(X)
    hidden = draw_for_score(views, np.random.default_rng(0))
    for before, after in zip(holed(), hidden.apply(views), strict=True):
        kept = np.broadcast_to(to_numpy(after.mask), before.shape)
        assert np.array_equal(to_numpy(after.X), np.where(kept, before, 0.0))


# samples of the fit


@pytest.fixture
def fits(monkeypatch):
    """The number of samples of each fit of any estimator."""
    seen, original = [], BaseMultiView._fit_read

    def counted(self, views, X, y):
        seen.append(views.n_samples)
        return original(self, views, X, y)

    monkeypatch.setattr(BaseMultiView, "_fit_read", counted)
    return seen


def regularised(r):
    return jella.JELLA(n_components=r, basis=["orthonormal"], embedding=[jella.terms.Ridge(1.0)], scale="none")


@pytest.mark.parametrize(
    "make",
    [
        regularised,
        lambda r: jella.MVLIV(n_components=r, scale="none", tol=1e-3),
        lambda r: jella.SparseBDR(3, n_components=r, scale="none", view_weights=None),
        lambda r: RRMC(r, scale="none"),
    ],
)
@pytest.mark.parametrize("one_view", [False, True])
def test_noise_cannot_be_predicted_at_any_rank(make, one_view):
    """The model has seen the noise, so its own predictions of it get better with the rank; the score does not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 30)) if one_view else [rng.normal(size=(80, 30)), rng.normal(size=(80, 20))]
    scores = [make(r).fit(X).score(X) for r in (1, 4, 16)]
    assert scores[0] > scores[1] > scores[2]
    assert max(scores) < -0.95


def test_a_clone_is_scored_on_samples_that_its_fit_lacks(fits):
    X = holed(n=60)
    model = jella.MVLIV(n_components=2, scale="none", random_state=0).fit(X)
    views, rng = read_views(X), np.random.default_rng(0)
    out = draw_left_out(views, rng)
    assert out.sum() == 12
    by_hand = jella.MVLIV(n_components=2, scale="none").fit([view[~out] for view in X])
    five_times = views.take(np.tile(np.flatnonzero(out), 5))
    expected = -held_out_rmse(five_times, by_hand._predict_new, model.scaling_, rng)
    fits.clear()
    assert model.score(X) == pytest.approx(expected, rel=1e-12)
    assert fits == [48]


def test_new_samples_are_scored_without_another_fit(fits):
    X = holed(n=60)
    first, rest = [view[:40] for view in X], [view[40:] for view in X]
    model = jella.MVLIV(n_components=2).fit(first)
    score = model.score(rest)
    views = read_views(rest)
    assert score == -held_out_rmse(views, model._predict_new, model.scaling_, np.random.default_rng(0))
    assert model.score(X) == score  # those of the fit are left out
    assert model.score([np.concatenate([view[40:], view[:7]]) for view in X]) == score
    assert fits == [40]


def test_test_folds_are_new_samples(fits):
    (X,) = planted(widths=(40,))
    X[7] = X[90]  # a sample that is in two folds is scored in none
    assert cross_val_score(jella.MVLIV(n_components=2), X, cv=3).shape == (3,)
    assert fits == [80, 80, 80]


def test_a_part_of_the_fit_is_refused():
    X = holed(n=60)
    model = jella.MVLIV(n_components=2).fit(X)
    with pytest.raises(ValueError, match=r"^expected new samples or all 60 samples of the fit, got 30 of them; "):
        model.score([view[:30] for view in X])


def test_samples_of_the_fit_are_known_in_any_order(fits):
    X = holed(n=60)
    model = jella.MVLIV(n_components=2).fit(X)
    order = np.random.default_rng(1).permutation(60)
    assert model.score([view[order] for view in X]) == pytest.approx(model.score(X), rel=0.3)
    assert fits == [60, 48, 48]


def test_a_given_start_goes_with_its_samples(fits, monkeypatch):
    X, rng = holed(n=60), np.random.default_rng(0)
    W, order = rng.normal(size=(60, 2)), rng.permutation(60)
    model = jella.MVLIV(n_components=2, init=W, max_iter=1, tol=0, warm_start=True).fit(X)
    seen = []
    original = jella.MVLIV._given_start
    monkeypatch.setattr(jella.MVLIV, "_given_start", lambda self, p: seen.append(self.init) or original(self, p))
    model.score([view[order] for view in X])
    out = draw_left_out(read_views([view[order] for view in X]), np.random.default_rng(0))
    assert np.array_equal(seen[0]["embedding"], W[order][~out])
    bases = [rng.normal(size=(view.shape[1], 2)) for view in X]
    model = jella.MVLIV(n_components=2, init={"embedding": W, "bases": bases}, max_iter=1, tol=0).fit(X)
    assert np.isfinite(model.score(X))


def test_labels_go_with_their_samples(monkeypatch):
    X = [abs(view) for view in holed(n=60)]
    empty = np.full((1, 30), np.nan), np.full((1, 20), np.nan)
    X = [np.concatenate([hole, view]) for hole, view in zip(empty, X, strict=True)]
    y = np.arange(61) % 3 - 1
    model = jella.IMCL(n_components=2, on_empty="drop", max_iter=3, tol=0).fit(X, y)
    seen, original = [], BaseMultiView._fit_read
    monkeypatch.setattr(
        BaseMultiView, "_fit_read", lambda self, views, X, y: seen.append(y) or original(self, views, X, y)
    )
    model.score(X, y)
    out = draw_left_out(read_views([view[1:] for view in X]), np.random.default_rng(0))
    assert np.array_equal(seen[0], y[1:][~out])
    model.score(X)
    assert seen[1] is None


def test_the_other_fit_calls_nobody_and_changes_nothing():
    calls = []
    X = holed(n=60)
    model = jella.MVLIV(3, n_components=2, callback=calls.append, random_state=np.random.default_rng(0)).fit(X)
    n_calls, state, embedding = len(calls), model.random_state.bit_generator.state, model.embedding_.copy()
    assert model.score(X) == model.score(X)
    assert len(calls) == n_calls
    assert model.random_state.bit_generator.state == state
    assert np.array_equal(model.embedding_, embedding)
    assert model.labels_.shape == (60,)


def test_a_fit_that_needs_all_samples_says_what_to_do():
    X = planted(n=10)
    model = jella.MVLIV(n_components=9).fit(X)
    with pytest.raises(ValueError, match=r"n_components=9 is more than 8 samples .*, or use .*held_out_error"):
        model.score(X)


@given(st.integers(0, 10**6), st.floats(0, 0.95))
@settings(max_examples=60, deadline=None)
def test_a_fit_without_some_samples_has_all_features(seed, rate):
    rng = np.random.default_rng(seed)
    X = [np.where(rng.random((9, d)) < rate, np.nan, 1.0) for d in (6, 1)]
    X[1][3:] = np.nan
    views = read_views(X)
    out = draw_left_out(views, rng)
    counts = sum((~np.isnan(view)).sum(axis=1) for view in X)
    assert out.sum() <= max(1, round(0.2 * (counts >= 2).sum()))
    assert (counts[out] >= 2).all()
    for view in X:
        seen = ~np.isnan(view)
        assert np.array_equal(seen.any(axis=0), seen[~out].any(axis=0))
