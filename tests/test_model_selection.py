"""Held-out values: what is hidden, what stays, that the error is on it; and what is chosen by it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV

import jella
from jella.model_selection import HeldOut, held_out_error, search, select_rank
from jella.model_selection.rank import N_SPLITS, default_estimator, ladder
from jella.terms import Ridge
from jella.views import read_views


def planted(n=80, widths=(12, 9), r=3, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, r))
    return [W @ rng.normal(size=(r, d)) + noise * rng.normal(size=(n, d)) for d in widths]


def holed_once(X, observed=None, **options):
    ((holed, hidden),) = HeldOut(**{"random_state": 0} | options).split(X, observed)
    return holed, hidden


def full(masks, X):
    return [np.broadcast_to(mask, np.shape(view)) for mask, view in zip(masks, X, strict=True)]


# what is hidden


@given(st.integers(0, 10**6), st.integers(1, 3), st.floats(0, 0.8), st.sampled_from(["auto", "views", "entries"]))
@settings(max_examples=50, deadline=None)
def test_only_observed_values_are_hidden_and_nothing_loses_its_last(seed, n_views, rate, what):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(15, d)) for d in (7, 3, 1)[:n_views]]
    X = [np.where(rng.random(view.shape) < rate, np.nan, view) for view in X]
    for view in X:
        view[rng.random(15) < 0.3] = np.nan
    if what == "views" and np.max(np.sum([~np.isnan(view).all(axis=1) for view in X], axis=0)) < 2:
        return
    try:
        holed, hidden = holed_once(X, share=0.6, what=what, random_state=seed)
    except ValueError as error:
        if "can be hidden" not in str(error):
            raise
        return
    before, after = [~np.isnan(view) for view in X], [~np.isnan(view) for view in holed]
    for was, now, where, old, new in zip(before, after, full(hidden, X), X, holed, strict=True):
        assert np.array_equal(was & ~where, now)
        assert not (where & ~was).any()
        assert np.array_equal(old[now], new[now])
        assert np.array_equal(was.any(axis=0), now.any(axis=0))
    assert np.array_equal(np.hstack(before).any(axis=1), np.hstack(after).any(axis=1))
    lost_whole = np.sum([b.any(axis=1) & ~a.any(axis=1) for b, a in zip(before, after, strict=True)], axis=0)
    if what == "views":
        partly = [w.any(axis=1) & (b & ~w).any(axis=1) for b, w in zip(before, full(hidden, X), strict=True)]
        assert not np.any(partly)
        assert lost_whole.max() == 1


def test_the_share_is_of_entries_or_of_samples_with_several_views():
    X = planted(n=200)
    _, hidden = holed_once(X, what="entries", share=0.2)
    assert [where.sum() for where in hidden] == [480, 360]
    X[0][:100] = np.nan
    _, hidden = holed_once(X, what="views", share=0.2)
    assert sum(where.sum() for where in hidden) == 20
    assert not any(where[:100].any() for where in hidden)


def test_auto_follows_what_the_data_lack():
    def kinds(X):
        _, hidden = holed_once(X)
        gone = full([hidden] if isinstance(hidden, np.ndarray) else hidden, [X] if isinstance(X, np.ndarray) else X)
        return any(g.all(axis=1).any() for g in gone), any((g.any(axis=1) & ~g.all(axis=1)).any() for g in gone)

    X = planted()
    assert kinds(X) == (True, False)
    assert kinds(jella.datasets.make_incomplete(X, 0.3, random_state=0)) == (True, False)
    assert kinds(X[0]) == (False, True)
    disjoint = [view.copy() for view in X]
    disjoint[0][:40] = disjoint[1][40:] = np.nan
    assert kinds(disjoint) == (False, True)
    with_entries = [view.copy() for view in X]
    with_entries[0][0, 0] = np.nan
    assert kinds(with_entries) == (True, True)


def test_the_same_seed_hides_the_same_and_splits_differ():
    X = planted()
    runs = [[hidden for _, hidden in HeldOut(2, random_state=seed).split(X)] for seed in (3, 3, 4)]
    same = [np.array_equal(a[0], b[0]) for a, b in ((runs[0][0], runs[1][0]), (runs[0][1], runs[1][1]))]
    assert all(same)
    assert not np.array_equal(runs[0][0][0], runs[0][1][0])
    assert not np.array_equal(runs[0][0][0], runs[2][0][0])


def test_containers_are_preserved():
    a, b = planted(n=30)
    index = [f"s{i}" for i in range(30)]
    frames = {"a": pd.DataFrame(a, index=index), "b": pd.DataFrame(b, index=index).iloc[5:]}
    holed, hidden = holed_once(frames, share=0.3)
    assert list(holed) == list(hidden) == ["a", "b"]
    assert holed["b"].index.equals(frames["b"].index)
    assert holed["a"].columns.equals(frames["a"].columns)
    assert not hidden["b"][:5].any()
    assert holed["a"].isna().all(axis=1).sum() == hidden["a"].sum() > 0
    assert isinstance(holed_once((a, b))[0], tuple)
    assert isinstance(holed_once([a, b])[0], list)
    holed, hidden = holed_once(a)
    assert isinstance(hidden, np.ndarray)
    assert np.array_equal(np.isnan(holed), hidden)
    assert not np.isnan(a).any()


def test_sparse_views_stay_sparse():
    X = [sparse.random_array((60, 40), density=0.1, rng=np.random.default_rng(0), format="csr"), planted(n=60)[1]]
    for with_entries in (False, True):
        if with_entries:
            X[1][3, 2] = np.nan
        holed, hidden = holed_once(X, share=0.3)
        assert sparse.issparse(holed[0])
        assert hidden[0].shape == (60, 1)
        assert hidden[0].any()
        assert hidden[1].shape == ((60, 9) if with_entries else (60, 1))
        assert read_views(holed)[0].is_sparse
    held_out, estimator = HeldOut(2, random_state=0), jella.MVLIV(n_components=2)
    by_hand = []
    for holed, hidden in held_out.split(X):
        first, second = estimator.fit(holed).complete(holed)
        by_hand.append(held_out.score(X, [first.toarray(), second], hidden))
    assert held_out_error(estimator, X, held_out) == pytest.approx(np.mean(by_hand), rel=1e-9)
    assert select_rank(X, [1, 2], random_state=0).estimator.scale == "sample"


def test_masks_of_the_user_are_respected():
    X = planted(n=50)
    observed = [np.random.default_rng(0).random(view.shape) < 0.8 for view in X]
    junk = [np.where(mask, view, 1e9) for mask, view in zip(observed, X, strict=True)]
    with_nan = [np.where(mask, view, np.nan) for mask, view in zip(observed, X, strict=True)]
    holed, hidden = holed_once(junk, observed)
    assert all(not (where & ~mask).any() for where, mask in zip(hidden, observed, strict=True))
    for one, other in zip(holed, holed_once(with_nan)[0], strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    model = jella.MVLIV(n_components=3)
    assert held_out_error(model, junk, observed=observed) == held_out_error(model, with_nan)
    found = search(model, {"n_components": [2, 3]}, junk, observed=observed, random_state=0)
    assert np.abs(found.best_estimator.complete(with_nan)[0]).max() < 1e3


@pytest.mark.parametrize(
    ("options", "words"),
    [({"n_splits": 0}, "n_splits"), ({"share": 10}, "not in percent"), ({"what": "rows"}, "one of these names")],
)
def test_wrong_settings_are_told_in_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        HeldOut(**options)


def test_what_cannot_be_hidden_is_told():
    with pytest.raises(ValueError, match="two or more views"):
        holed_once(planted()[0], what="views")
    with pytest.raises(ValueError, match="keep their last one"):
        holed_once(np.ones((3, 1)))


# the error


def test_the_error_of_column_means_is_one_and_does_not_depend_on_units():
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=(4000, 3)), "b": 5 + rng.normal(size=(4000, 2))}
    scaled = {"a": X["a"] * [1, 1e6, 1e-6], "b": X["b"] * 100}
    held_out = HeldOut(random_state=0)
    for data in (X, scaled):
        _, hidden = holed_once(data)
        means = {name: np.broadcast_to(view.mean(axis=0), view.shape) for name, view in data.items()}
        assert held_out.score(data, means, hidden) == pytest.approx(1, abs=0.06)
        assert set(held_out.score(data, means, hidden, by_view=True)) == {"a", "b"}
    _, hidden = holed_once(X)
    off = {"a": X["a"] + 2.0, "b": X["b"]}
    assert held_out.score(X, off, hidden, "none", by_view=True) == pytest.approx({"a": 2.0, "b": 0.0})


def test_only_hidden_values_count_and_constant_features_do_not():
    X = [view.copy() for view in planted()]
    X[0][:, 0] = 7.0
    _, hidden = holed_once(X, what="entries")
    noisy = [np.where(where, view, 1e6) for where, view in zip(hidden, X, strict=True)]
    noisy[0][:, 0] += 3.0
    assert HeldOut().score(X, noisy, hidden) == 0.0


def test_one_unit_for_a_sparse_view():
    dense = np.zeros((40, 5))
    dense[::4, 0] = 2.0
    dense[:, 1] = 1.0
    X = [sparse.csr_array(dense), np.random.default_rng(0).normal(size=(40, 2))]
    _, hidden = holed_once(X, share=0.5)
    completed = [sparse.csr_array(dense + 1.0), X[1]]
    unit = np.sqrt(np.mean(dense**2))
    assert HeldOut().score(X, completed, hidden, by_view=True)["view0"] == pytest.approx(1 / unit)


def test_frames_are_matched_by_their_names():
    a, b = (pd.DataFrame(view, index=[f"s{i}" for i in range(30)]) for view in planted(n=30))
    X = [a, b.iloc[::-1].iloc[4:]]
    _, hidden = holed_once(X, share=0.4)
    moved = [a.sample(frac=1, random_state=0), b]
    assert HeldOut().score(X, moved, hidden) == 0.0
    arrays = [a.to_numpy(), b.to_numpy().copy()]
    arrays[1][-4:] = np.nan
    model = jella.MVLIV(n_components=3)
    assert held_out_error(model, X) == pytest.approx(held_out_error(model, arrays), rel=1e-6)


def test_wrong_arguments_of_the_score_are_told():
    X = planted()
    holed, hidden = holed_once(X)
    with pytest.raises(ValueError, match="before it was split"):
        HeldOut().score(holed, X, hidden)
    with pytest.raises(ValueError, match="impute all of them"):
        HeldOut().score(X, holed, hidden)
    with pytest.raises(ValueError, match="pass the masks that split returned"):
        HeldOut().score(X, X, hidden[:1])
    with pytest.raises(ValueError, match="what complete returns"):
        HeldOut().score(X, [view[:-1] for view in X], hidden)
    with pytest.raises(ValueError, match="one of these names"):
        HeldOut().score(X, X, hidden, "sample")
    for wrong in (jella.RAMC(n_clusters=2), jella.MVLIV):
        with pytest.raises(ValueError, match="fit and complete"):
            held_out_error(wrong, X)


COMPLETING = ["DAIMC", "IMCL", "IMG", "IMLBDR", "IRMKMC", "JELLA", "MVLIV", "PVC", "RPCA", "RRMC"]


@pytest.mark.parametrize("name", COMPLETING)
def test_every_method_that_completes_can_be_searched(name):
    X = [np.abs(view) for view in planted(n=30, widths=(6, 5))]
    X[0][:4] = np.nan
    grid = {"scale": ["sample", "none"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(jella, name)()
        model.set_params(**{k: v for k, v in {"n_clusters": 3, "max_iter": 5}.items() if k in model.get_params()})
        found = search(model, grid, X, held_out=HeldOut(random_state=0))
    assert not found.failures
    assert np.isfinite(found.errors).all()
    assert hasattr(found.best_estimator, "embedding_")


def test_labels_reach_the_fit():
    X = [np.abs(view) for view in planted(n=30)]
    y = np.arange(30) % 3
    model = jella.IMCL(n_components=3, beta=1.0, max_iter=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert held_out_error(model, X, y=y) != held_out_error(model, X)
        assert search(model, {"beta": [1.0]}, X, y=y, held_out=HeldOut(random_state=0)).best_error == held_out_error(
            model, X, y=y
        )


# search


def ridged(**options):
    return jella.JELLA(n_components=12, basis=["orthonormal"], scale="standardize", solver="sor", **options)


def test_a_planted_better_weight_is_found_and_refitted():
    X = planted(noise=1.0)
    grid = {"embedding": [[Ridge(w)] for w in (1e-4, 0.2, 1e3)]}
    held_out = HeldOut(4, random_state=0)
    found = search(ridged(), grid, X, held_out=held_out)
    assert found.best_params["embedding"] == [Ridge(0.2)]
    assert found.best_error == found.errors.min() == found.errors[1]
    by_split = np.empty((3, 4))
    for split, (holed, hidden) in enumerate(held_out.split(X)):
        for i, candidate in enumerate(found.candidates):
            completed = ridged(**candidate.params).fit(holed).complete(holed)
            by_split[i, split] = held_out.score(X, completed, hidden)
    np.testing.assert_allclose(found.errors, np.mean(by_split, axis=1), rtol=1e-9)
    np.testing.assert_allclose(found.standard_errors, stats.sem(by_split, axis=1), rtol=1e-9)
    refitted = ridged(embedding=[Ridge(0.2)]).fit(X)
    assert np.array_equal(found.best_estimator.embedding_, refitted.embedding_)
    assert search(ridged(), grid, X, random_state=0, refit=False).best_estimator is None


def test_all_candidates_see_the_same_hidden_values():
    found = search(jella.MVLIV(), {"n_init": [1, 2, 3]}, planted(), held_out=HeldOut(2))  # n_init changes nothing
    assert len({candidate.by_split for candidate in found.candidates}) == 1
    assert len(set(found.candidates[0].by_split)) == 2


def test_a_failing_candidate_is_recorded_with_its_sentence():
    found = search(jella.MVLIV(), {"n_components": [2, 500]}, planted(), random_state=0)
    (failed,) = found.failures
    assert failed.params == {"n_components": 500}
    assert "choose at most" in failed.failure
    assert "choose at most" in repr(found)
    assert np.isnan(found.errors[1])
    assert found.best_params == {"n_components": 2}
    with pytest.raises(ValueError, match=r"all 2 failed: .*choose at most"):
        search(jella.MVLIV(), {"n_components": [500, 501]}, planted(), random_state=0)


def test_frame_and_table():
    found = search(jella.MVLIV(), {"n_components": [1, 2, 3, 4, 5, 6, 500]}, planted(), random_state=0)
    frame = found.as_frame()
    assert list(frame["n_components"][:1]) == [found.best_params["n_components"]]
    assert frame["error"].iloc[:-1].is_monotonic_increasing
    assert frame["failure"].notna().sum() == 1
    lines = repr(found).splitlines()
    assert lines[0] == "SearchResult(7 candidates, 1 failed)"
    assert f"n_components={found.best_params['n_components']}" in lines[2]
    assert "and 1 more" in lines


def test_settings_can_be_drawn():
    grid = {"tol": stats.loguniform(1e-6, 1e-2)}
    draws = [search(jella.MVLIV(n_components=2), grid, planted(), n_iter=3, random_state=s) for s in (0, 0, 1)]
    values = [[candidate.params["tol"] for candidate in found.candidates] for found in draws]
    assert values[0] == values[1] != values[2]
    with pytest.raises(ValueError, match="pass n_iter"):
        search(jella.MVLIV(), grid, planted())


def test_processes_change_nothing(capsys):
    grid, held_out = {"n_components": [1, 2, 500]}, HeldOut(2, random_state=0)
    alone = search(jella.MVLIV(), grid, planted(), held_out=held_out)
    together = search(jella.MVLIV(), grid, planted(), held_out=held_out, n_jobs=2, verbose=True)
    assert np.array_equal(alone.errors, together.errors, equal_nan=True)
    assert capsys.readouterr().out.count("\n") == 3


class Means(BaseEstimator):
    """Column means; interrupts itself on demand."""

    def __init__(self, shift=0.0, interrupt=False):
        self.shift = shift
        self.interrupt = interrupt

    def fit(self, X):
        if self.interrupt:
            raise KeyboardInterrupt
        self.means_ = [np.nanmean(view, axis=0) + self.shift for view in X]
        return self

    def complete(self, X):
        return [np.where(np.isnan(view), mean, view) for view, mean in zip(X, self.means_, strict=True)]


def test_an_interrupt_keeps_what_was_computed():
    grid = [{"shift": [1.0, 0.0]}, {"interrupt": [True]}, {"shift": [2.0]}]
    with pytest.warns(UserWarning, match="interrupted after 2 of 4 candidates"):
        found = search(Means(), grid, planted(), random_state=0)
    assert found.interrupted
    assert found.best_params == {"shift": 0.0}
    assert found.best_estimator is None
    assert "interrupted" in repr(found)
    with pytest.raises(KeyboardInterrupt):
        search(Means(), {"interrupt": [True, False]}, planted())


def interrupt(_progress):
    raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore:the fit was interrupted")
def test_a_fit_that_keeps_its_last_sweep_still_ends_the_search():
    with pytest.warns(UserWarning, match="interrupted after 1 of 3 candidates"):
        found = search(jella.MVLIV(n_components=2), {"callback": [None, interrupt, None]}, planted(), random_state=0)
    assert len(found.candidates) == 1


# rank


@pytest.mark.parametrize("setting", [None, "missing-view", "incomplete-view"])
def test_the_planted_rank_is_found(setting):
    X = planted(n=120, widths=(20, 15), r=4, noise=0.3)
    if setting is not None:
        X = jella.datasets.make_incomplete(X, 0.3, setting, random_state=0)
    path = select_rank(X, random_state=0)
    assert path.rank == 4 == path.estimator.n_components
    assert path.ranks == (2, 3, 4, 6, 8, 12, 16)[: len(path.ranks)]
    found = search(path.estimator, {"n_components": list(path.ranks)}, X, held_out=HeldOut(N_SPLITS, random_state=0))
    np.testing.assert_allclose(path.errors, found.errors, rtol=1e-9)
    np.testing.assert_allclose(path.standard_errors, found.standard_errors, rtol=1e-9)
    assert "     4" in repr(path).split("<")[0].splitlines()[-1]


class Bowl(Means):
    """An error that depends on the rank as told."""

    def __init__(self, errors=(), n_components=1):
        self.errors = errors
        self.n_components = n_components

    def fit(self, X):
        self.means_ = [np.full(view.shape[1], dict(self.errors)[self.n_components]) for view in X]
        return self


def bowl(**options):
    X = [np.zeros((20, 2)), np.zeros((20, 2))]
    for view in X:
        view[::2] = 1e-9  # varies, far below the errors
    errors = ((1, 5.0), (2, 3.02), (3, 3.0), (4, 3.1), (5, 3.2), (6, 3.3), (7, 1.0))
    return select_rank(X, [3, 2, 1, 4, 5, 6, 7], estimator=Bowl(errors), **options)


def test_the_walk_ends_after_three_rises():
    path = bowl()
    assert path.ranks == (1, 2, 3, 4, 5, 6)
    assert path.rank == 3


def test_a_tolerance_prefers_smaller_ranks():
    assert bowl(tolerance=0.01).rank == 2
    X = planted(n=60, r=4, noise=0.8)
    held_out = HeldOut(4, random_state=0)
    best, cautious = (select_rank(X, held_out=held_out, tolerance=t) for t in (0.0, "one-se"))
    assert best.rank == best.ranks[int(np.argmin(best.errors))]
    limit = best.errors.min() + best.standard_errors[np.argmin(best.errors)]
    assert cautious.rank == next(r for r, e in zip(best.ranks, best.errors, strict=True) if e <= limit)
    assert cautious.rank <= best.rank


def test_the_ladder_stays_below_half_of_what_is_possible():
    assert ladder(read_views(np.ones((200, 100)))) == [2, 3, 4, 6, 8, 12, 16, 24, 32, 48]
    assert ladder(read_views([np.ones((200, 64)), np.ones((200, 64))]))[-1] == 64
    assert ladder(read_views(np.ones((200, 3)))) == [1]


def test_wrong_arguments_of_the_rank_are_told():
    X = planted()
    with pytest.raises(ValueError, match="two or more splits"):
        select_rank(X, held_out=HeldOut(1), tolerance="one-se")
    with pytest.raises(ValueError, match="is the minimiser"):
        select_rank(X, tolerance=-1.0)
    with pytest.raises(ValueError, match="integers from 1"):
        select_rank(X, [0, 2])
    with pytest.raises(ValueError, match="n_components"):
        select_rank(X, estimator=jella.RPCA())


def test_a_sample_without_any_value_does_not_stop_the_choice():
    X = planted()
    for view in X:
        view[5] = np.nan
    assert select_rank(X, [1, 3, 6], random_state=0).rank == 3
    assert default_estimator(read_views(X)).on_empty == "drop"


# scikit-learn's own tools


def test_scikit_learn_searches_one_array_by_score():
    X = np.hstack(planted(n=90))
    grid = {"n_components": [1, 3, 9]}
    found = GridSearchCV(jella.MVLIV(scale="standardize"), grid, cv=3).fit(X)
    assert found.best_params_ == {"n_components": 3}
    assert search(jella.MVLIV(scale="standardize"), grid, X, random_state=0).best_params == {"n_components": 3}
