"""Laws of completed values, through SparseBDR.complete and jella.complete."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from common import planted
from scipy import sparse

import jella
from jella.numerics.arrays import to_numpy
from jella.views import Hidden
from jella.views.draw import draw_for_calibration
from jella.views.kinds import BOUNDS

N = 80
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(setting="incomplete-view", n=N, seed=0, **options):
    views = planted(n=n, widths=(9, 7, 5), noise=0.3, seed=seed, **options)
    holed = jella.datasets.make_incomplete(views, 0.25, setting, random_state=seed)
    return dict(zip("abc", holed, strict=True))


def model_of(**options):
    return jella.SparseBDR(**{"max_iter": 5, "random_state": 0, **options})


def same(first, second, atol=0.0):
    assert list(first) == list(second)
    for name in first:
        np.testing.assert_allclose(to_numpy(first[name]), to_numpy(second[name]), rtol=0, atol=atol)


def relative(first, second, spread):
    """Root mean square difference of completed values, in standard deviations."""
    return float(np.sqrt(np.mean([np.mean(((first[k] - second[k]) / spread[k]) ** 2) for k in first])))


@pytest.fixture(scope="module", autouse=True)
def _few_trials():
    """Few values are hidden: these tests are not about how good the values are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jella.impute.hidden_values.MOST_TRIALS", 3)
        yield


@pytest.fixture(scope="module")
def views():
    return data()


@pytest.fixture(scope="module")
def fitted(views):
    model = model_of(n_clusters=3).fit(views)
    model.learn_completion()
    return model


@pytest.fixture(scope="module")
def found(fitted, views):
    return fitted.complete(views, interval=0.9)


@pytest.fixture(scope="module")
def once(views):
    return jella.complete(views, n_clusters=3, max_iter=5, interval=0.9)


# what stays


def test_observed_values_stay_bit_for_bit(views, found, once):
    for result in (found, once):
        for name, X in views.items():
            seen = ~np.isnan(X)
            for part in (result.views, result.lower, result.upper):
                assert part[name][seen].tobytes() == X[seen].tobytes()
            assert np.isfinite(result.views[name]).all()
            assert (result.std[name][seen] == 0).all()
            assert (result.std[name][~seen] > 0).all()
            assert (result.lower[name] <= result.views[name]).all()
            assert (result.views[name] <= result.upper[name]).all()
            assert (result.lower[name][~seen] < result.upper[name][~seen]).all()


def test_one_call_gives_what_the_model_gives(views, found, once):
    for part in ("views", "lower", "upper", "std"):
        same(getattr(once, part), getattr(found, part))
    overall = once.model.imputer_.overall
    assert (once.error, once.standard_error, once.mean_error) == (
        overall.error,
        overall.standard_error,
        overall.mean_error,
    )
    assert 0 < once.error < 0.9 * once.mean_error
    assert once.n_filled == {name: int(np.isnan(X).sum()) for name, X in views.items()}


def test_values_lie_nearer_to_the_truth_than_means(views, found):
    truth = dict(zip("abc", planted(n=N, widths=(9, 7, 5), noise=0.3), strict=True))
    gone = {name: np.isnan(X) for name, X in views.items()}
    ours, means = (
        np.concatenate([((found.views[k] if by else np.nanmean(views[k], axis=0)) - truth[k])[gone[k]] for k in truth])
        for by in (True, False)
    )
    assert np.mean(ours**2) < 0.7 * np.mean(means**2)
    inside = [(found.lower[k] <= truth[k]) & (truth[k] <= found.upper[k]) for k in truth]
    assert np.concatenate([one[gone[k]] for one, k in zip(inside, truth, strict=True)]).mean() > 0.85


def test_garbage_under_a_mask_changes_nothing(views, found):
    for garbage in (1e6, -np.inf):
        X = {name: np.where(np.isnan(one), garbage, one) for name, one in views.items()}
        observed = {name: ~np.isnan(one) for name, one in views.items()}
        other = model_of(n_clusters=3).fit(X, observed=observed).complete(X, observed=observed, interval=0.9)
        for part in ("views", "lower", "upper", "std"):
            same(getattr(other, part), getattr(found, part))


def test_the_order_of_samples_changes_nothing(views, found):
    order = np.random.default_rng(1).permutation(N)
    turned = {name: X[order] for name, X in views.items()}
    other = model_of(n_clusters=3).fit(turned).complete(turned, interval=0.9)
    for part in ("views", "lower", "upper", "std"):
        # the path predicts in single precision, whose rounding depends on the place of a sample
        same(getattr(other, part), {k: X[order] for k, X in getattr(found, part).items()}, atol=1e-6)


def test_the_order_of_views_changes_values_little(views, found):
    turned = {name: views[name] for name in "cab"}
    other = model_of(n_clusters=3).fit(turned).complete(turned)
    assert list(other) == list("cab")
    spread = {name: np.nanstd(X, axis=0) for name, X in views.items()}
    # other values are hidden, so the weights differ within their own uncertainty
    assert relative({k: other[k] for k in "abc"}, found.views, spread) < 0.1


def test_completing_changes_neither_embedding_nor_labels(views, fitted):
    before = model_of(n_clusters=3).fit(views)
    np.testing.assert_array_equal(before.embedding_, fitted.embedding_)
    np.testing.assert_array_equal(before.labels_, fitted.labels_)
    np.testing.assert_array_equal(before.transform(views), fitted.transform(views))


def test_values_are_the_same_for_any_number_of_clusters(views, found):
    for k in (None, 5, 10):
        same(model_of(n_clusters=k).fit(views).complete(views), found.views, atol=1e-7)


def test_a_new_fit_forgets_what_was_learned(views, fitted):
    model = model_of(n_clusters=3).fit(views)
    assert "imputer_" not in vars(model)
    model.complete(views)
    assert model.imputer_ is not None
    assert "imputer_" not in vars(model.fit(data(seed=1)))


# types of values and containers


def test_single_precision(views):
    X = {name: one.astype(np.float32) for name, one in views.items()}
    other = model_of(n_clusters=3).fit(X).complete(X, interval=0.9)
    # the same values: rounding gives other fingerprints, and these hide other values
    doubles = {name: one.astype(np.float64) for name, one in X.items()}
    found = model_of(n_clusters=3).fit(doubles).complete(doubles, interval=0.9)
    spread = {name: np.nanstd(one, axis=0) for name, one in views.items()}
    assert all(one.dtype == np.float32 for one in (*other.views.values(), *other.lower.values()))
    assert relative(other.views, found.views, spread) < 1e-3
    assert relative(other.lower, found.lower, spread) < 1e-3


@pytest.mark.parametrize("k", [3, 10])  # the model of ten has the rank of completion
def test_tensors_come_back_as_tensors(k, views, found):
    torch = pytest.importorskip("torch")
    X = {name: torch.asarray(one) for name, one in views.items()}
    other = model_of(n_clusters=k).fit(X).complete(X, interval=0.9)
    for part in ("views", "lower", "upper"):
        assert all(isinstance(one, torch.Tensor) for one in getattr(other, part).values())
        same(getattr(other, part), getattr(found, part), atol=1e-6)


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    W, here = rng.gamma(1.0, 1.0, (N, 3)), np.arange(N) % 4 > 0
    X = rng.poisson(W @ rng.gamma(0.3, 0.5, (3, 60)))
    return {"rna": sparse.csr_array(X * here[:, None]).astype(float), "z": W @ rng.normal(size=(3, 6))}, here


def test_sparse_views_stay_sparse(counts, monkeypatch):
    X, here = counts
    widest, toarray = [], sparse.csr_array.toarray

    def watched(self, *args, **kwargs):
        widest.append(self.shape[0] if self.shape[1] == 60 else 0)
        return toarray(self, *args, **kwargs)

    model = model_of(n_clusters=10).fit(X, observed={"rna": here, "z": None})  # the model that completes, too
    monkeypatch.setattr(sparse.csr_array, "toarray", watched)
    for name in ("path.FEWEST", "path.MOST_COMPONENTS", "thresholded.MOST_SIDE"):  # as with many samples and features
        monkeypatch.setattr(f"jella.impute.{name}", 10)
    monkeypatch.setattr("jella.impute.imputer.BLOCK_BYTES", 8 * 66 * 7 * 5)
    monkeypatch.setattr("jella.impute.hidden_values.BLOCK_BYTES", 8 * 66 * 7 * 5)
    found = model.complete(X, observed={"rna": here, "z": None}, interval=0.9)
    assert max(widest) < N / 3
    for part in (found.views, found.lower, found.upper, found.std):
        assert sparse.issparse(part["rna"])
    assert (found.views["rna"][here] != X["rna"][here]).nnz == 0
    assert found.std["rna"][here].nnz == 0
    varies = np.ptp(toarray(X["rna"]), axis=0) > 0
    assert ((found.std["rna"][~here].toarray() > 0) == varies).all()
    assert (found.lower["rna"].toarray() >= 0).all()
    assert found.views["rna"][~here].sum() > 0


@pytest.fixture(scope="module")
def clinical():
    rng = np.random.default_rng(0)
    group = np.arange(N) % 3
    frame = pd.DataFrame({"age": 20.0 * group + rng.normal(size=N), "kind": np.array(list("abc"))[group]})
    other = pd.DataFrame(group[:, None] + 0.3 * rng.normal(size=(N, 5)), columns=list("vwxyz"))
    frame.index = other.index = [f"s{i}" for i in range(N)]
    whole = frame.copy()
    frame.iloc[::7, 1], frame.iloc[3::9, 0] = None, np.nan
    return {"clinical": frame, "other": other}, whole


def test_frames_and_categories_with_probabilities(clinical):
    X, whole = clinical
    found = jella.complete(X, max_iter=5, interval=0.8)
    gone = X["clinical"]["kind"].isna()
    assert (found.views["clinical"]["kind"][gone] == whole["kind"][gone]).mean() > 0.9
    chances = found.probabilities["clinical"]
    assert list(chances.columns) == ["kind=a", "kind=b", "kind=c"]
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    best = chances.to_numpy().argmax(axis=1)
    assert (np.array(list("abc"))[best] == found.views["clinical"]["kind"].astype(str)).all()
    for end in (found.lower, found.upper):
        assert (end["clinical"]["kind"] == found.views["clinical"]["kind"]).all()
        assert list(end["clinical"].index) == list(whole.index)
    assert (found.lower["clinical"]["age"] <= found.views["clinical"]["age"]).all()
    assert list(found.std["clinical"].columns) == ["age", "kind=a", "kind=b", "kind=c"]
    assert "categorical (1)" in found.kinds["clinical"]


def test_dropped_samples_stay_as_they_are(views):
    X = {name: one.copy() for name, one in views.items()}
    for one in X.values():
        one[[4, 30]] = np.nan
    found = jella.complete(X, max_iter=5, on_empty="drop", interval=0.9)
    for part in (found.views, found.lower, found.std):
        lost = np.isnan(np.hstack(list(part.values())))
        assert np.flatnonzero(lost.any(axis=1)).tolist() == [4, 30]
        assert lost[[4, 30]].all()
    assert found.n_filled["a"] == np.isnan(X["a"]).sum() - 18
    with pytest.raises(ValueError, match="sample"):
        found.model.set_params(on_empty="raise").complete(X)


# samples and views of any kind


def test_new_samples_may_lack_other_views():
    truth = dict(zip("abc", planted(n=100, widths=(9, 7, 5), noise=0.3), strict=True))
    X = {name: one[:N].copy() for name, one in truth.items()}
    X["b"][::6], X["c"][1::7] = np.nan, np.nan  # no sample of the fit lacks anything of the first view
    model = model_of(n_clusters=3).fit(X)
    new = {name: one[N:].copy() for name, one in truth.items()}
    new["a"][:10], new["b"][10:, 2:] = np.nan, np.nan
    found = model.complete(new, interval=0.9)
    assert all(np.isfinite(one).all() for one in found.views.values())
    gone = np.isnan(new["a"])
    assert np.mean((found.views["a"] - truth["a"][N:])[gone] ** 2) < 0.8 * np.var(truth["a"], axis=0).mean()
    inside = (found.lower["a"] <= truth["a"][N:]) & (truth["a"][N:] <= found.upper["a"])
    assert inside[gone].mean() > 0.88  # untested: the intervals are those of the mean
    assert np.isfinite(found.lower["b"]).all()  # those of whole views are taken


def test_without_calibration_values_stay_in_the_range_of_their_kind(counts):
    X, here = counts
    X = {"rna": X["rna"].toarray(), "z": X["z"]}
    for calibrate in (False, True):
        model = model_of(calibrate=calibrate, kinds={"z": "real"}).fit(X, observed={"rna": here, "z": None})
        found = model.complete(X, observed={"rna": here, "z": None})["rna"][~here]
        assert found.min() >= 0
        assert (found > 0).any()
    assert set(model.kinds_.by_view[0]) <= {"count", "binary"}


def test_given_kinds_bound_values():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(60, 2))
    X = 0.5 + 0.3 * W @ rng.normal(size=(2, 8)) + 0.2 * rng.normal(size=(60, 8))
    X = np.clip(X, 0.0, 1.0)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[0, 0] = np.nan
    for kinds, (low, high) in [("proportion", BOUNDS["proportion"]), ("amount", BOUNDS["amount"])]:
        found = jella.complete(X, kinds=kinds, max_iter=5, interval=0.99)
        gone = np.isnan(X)
        assert found.lower[gone].min() >= low
        assert found.upper[gone].max() <= high
        assert found.kinds == {"view": kinds}
    with pytest.raises(ValueError, match="expected a kind of value, got 'integer'"):
        model_of(kinds="integer").fit(X)
    with pytest.raises(ValueError, match="expected whole numbers from 0 in feature"):
        model_of(kinds="count").fit(X)


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, np.nan, True, "0.9", [0.9]])
def test_levels_of_intervals_are_checked(level, fitted, views, monkeypatch):
    monkeypatch.setattr(jella.SparseBDR, "fit", None)  # before a fit
    with pytest.raises(ValueError, match=r"expected 0 < interval < 1, got .*; pass the share of values"):
        fitted.complete(views, interval=level)
    with pytest.raises(ValueError, match=r"expected 0 < interval < 1, got .*; pass the share of values"):
        jella.complete(views, interval=level)


def test_intervals_need_calibration(views):
    with pytest.raises(ValueError, match=r"expected a model that can hide values .* pass samples in memory, to"):
        model_of(calibrate=False).fit(views).complete(views, interval=0.9)


def small_cases():
    rng = np.random.default_rng(0)
    two = rng.normal(size=(12, 3))
    two[4, 1] = np.nan
    lacks = np.where((np.arange(12) < 3)[:, None], np.nan, 5.0) * np.ones(4)
    wide = rng.normal(size=(15, 2)) @ rng.normal(size=(2, 400))
    wide[2:4] = np.nan
    three = rng.normal(size=(3, 4))
    three[1, 2] = np.nan
    flips = np.array([[0.0], [0.0], [1.0], [np.nan]])
    return {
        "constant view": [two, lacks],
        "constant views": [np.where(np.isnan(lacks), 1.0, lacks), lacks],
        "three samples": [three],
        "three samples, two views": [three, rng.normal(size=(3, 2))],
        "one view": [two],
        "one feature each": [np.where(np.arange(9.0) == 2, np.nan, np.arange(9.0))[:, None], np.arange(9.0)[:, None]],
        "one feature and one view": [two, np.where(np.arange(12.0)[:, None] == 2, np.nan, np.arange(12.0)[:, None])],
        "almost constant": [flips, np.zeros((4, 1))],
        "nothing missing": [two[:3], rng.normal(size=(3, 2))],
        "complete": [rng.normal(size=(12, 4)), rng.normal(size=(12, 3))],
        "many features": [wide, rng.normal(size=(15, 3))],
        "zeros": [np.where(np.isnan(two), np.nan, 0.0)],
    }


@pytest.mark.parametrize("name", small_cases())
def test_small_and_odd_data_are_completed(name):
    X = small_cases()[name]
    model = model_of().fit(X)
    found = model.complete(X)
    for ours, theirs in zip(found, X, strict=True):
        seen = ~np.isnan(theirs)
        assert np.isfinite(ours).all()
        assert np.array_equal(ours[seen], theirs[seen])
        span = max(np.ptp(theirs[seen]), 1e-9)
        assert (np.abs(ours - np.nanmean(theirs, axis=0)) <= 3 * span).all()
    if model.imputer_ is not None:
        within = model.complete(X, interval=0.9)
        assert all(np.isfinite(one).all() for one in (*within.lower, *within.upper, *within.std))
    else:
        assert "constant" in name or name in ("zeros", "almost constant")


def test_a_constant_view_stays_constant():
    X = small_cases()["constant view"]
    found = model_of().fit(X).complete(X, interval=0.9)
    for part in (found.views, found.lower, found.upper):
        np.testing.assert_allclose(part[1], 5.0, rtol=1e-14)
    assert (found.std[1] == 0).all()


@pytest.mark.parametrize("unit", [1e12, 1e-12, 1e150])
def test_units_do_not_matter(unit, views, once):
    other = jella.complete({k: X * unit for k, X in views.items()}, n_clusters=3, max_iter=5, interval=0.9)
    spread = {name: np.nanstd(X, axis=0) for name, X in views.items()}
    # other fingerprints give another order, and hide other values
    for part in ("views", "lower", "upper"):
        assert relative({k: X / unit for k, X in getattr(other, part).items()}, getattr(once, part), spread) < 0.35
    assert other.error == pytest.approx(once.error, abs=3 * once.standard_error)
    assert other.mean_error == pytest.approx(once.mean_error, rel=0.1)
    assert len(other.model.imputer_.path.models) >= 3  # the path was followed until it got worse


def test_trials_that_hide_nothing_end_the_calibration(views, monkeypatch):
    calls, draw = [], draw_for_calibration

    def drawn(given, share, rng, *more):
        calls.append(share)
        return draw(given, share, rng, *more) if len(calls) < 2 else Hidden.nothing(given)

    monkeypatch.setattr("jella.impute.hidden_values.draw_for_calibration", drawn)
    model = model_of().fit(views)
    assert np.isfinite(model.complete(views)["a"]).all()
    assert model.imputer_.n_trials == 1
    calls[:] = [0.1]
    assert model_of().fit(views).learn_completion() is None


def test_intervals_end_exactly_at_the_bounds_of_their_kind():
    """Most values are zero: an end that misses zero by rounding would not hold them."""
    rng = np.random.default_rng(0)
    rate = rng.gamma(0.5, 1.0, (120, 3)) @ rng.gamma(0.3, 1.0, (3, 40))
    counts = rng.poisson(rate) + 0.0
    truth = counts / (7.3 * counts.max())  # shares, in a unit without exact binary numbers
    X = jella.datasets.make_incomplete([truth, np.log1p(rate[:, :8])], 0.3, "mcar", random_state=0)
    found = jella.complete(X, interval=0.9, max_iter=5, kinds={"view0": "proportion"})
    gone = np.isnan(X[0])
    lower, upper = found.lower[0][gone], found.upper[0][gone]
    assert ((lower == 0) | (lower > 1e-12)).all()
    assert (lower == 0).any()
    assert (lower <= found.views[0][gone]).all()
    assert (found.views[0][gone] <= upper).all()
    zero = truth[gone] == 0
    assert zero.mean() > 0.4
    assert (lower[zero] == 0).mean() > 0.9
    assert 0.87 < ((lower <= truth[gone]) & (truth[gone] <= upper)).mean() < 0.95


def test_intervals_of_two_samples_are_refused_with_the_reason():
    X = [np.array([[1.0, np.nan], [2.0, 3.0]]), np.array([[1.0, 2.0], [3.0, 5.0]])]
    with pytest.raises(ValueError, match=r"expected values that can be hidden .* none in 2 samples"):
        jella.complete(X, interval=0.9)
