"""Kinds of values: what observed values show, what users give, and the scores that fit a kind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as sk

from jella import metrics
from jella.views import Hidden, read_views
from jella.views.feature_summary import FeatureSummary
from jella.views.kinds import ENOUGH, KINDS, Kinds

N = 60


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def kinds_of(X, given=None, observed=None):
    views = read_views(X, observed)
    found = Kinds.learn(views, given)
    return [kinds.tolist() for kinds in found.by_view]


def columns(rng, n=N):
    """One clear column of each kind of number; the range of some depends on their view."""
    return {
        "real": rng.normal(size=n),
        "amount": rng.gamma(2.0, size=n),
        "count": rng.poisson(3.0, size=n).astype(float),
        "proportion": rng.random(n),
        "binary": (rng.random(n) < 0.5).astype(float),
    }


def test_each_kind_is_found_in_a_view_of_its_own(rng):
    for kind, column in columns(rng).items():
        assert kinds_of(np.column_stack([column, column[::-1]])) == [[kind, kind]]


def test_what_a_column_is_depends_on_its_view(rng):
    by = columns(rng)
    table = np.column_stack([by[kind] for kind in ("amount", "count", "proportion", "binary")])
    assert kinds_of(table) == [["amount", "count", "amount", "binary"]]
    assert kinds_of(np.column_stack([table, by["real"]])) == [["real", "count", "real", "binary", "real"]]
    assert kinds_of(np.column_stack([by["proportion"], by["binary"]])) == [["proportion", "binary"]]


def test_rare_columns_of_counts_are_counts_and_clear_binary_ones_are_not(rng):
    counts = rng.poisson(2.0, size=(200, 6)).astype(float)
    rare = np.zeros((200, 3))
    rare[:2, 0], rare[5:20, 1] = 1.0, 1.0  # a few ones; the last column has zeros only
    half = (np.arange(200) % 2).astype(float)
    assert kinds_of(np.column_stack([counts, rare, half])) == [["count"] * 9 + ["binary"]]
    # without counts around them they are binary, zeros included
    assert kinds_of(np.column_stack([rare, half])) == [["binary"] * 4]


def test_counts_of_many_genes_are_all_counts(rng):
    X = rng.poisson(rng.gamma(0.3, 1.0, size=2000), size=(150, 2000))
    found = kinds_of(sparse.csr_array(X))[0]
    assert found.count("count") >= 1998


def test_columns_with_few_values_have_the_kind_of_their_view(rng):
    X = rng.normal(size=(N, 4))
    X[ENOUGH - 1 :, 0] = np.nan
    X[: ENOUGH - 1, 0] = 3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 2.0  # whole by chance
    assert kinds_of(X) == [["real"] * 4]
    X[ENOUGH - 1, 0] = 7.0  # one more, and it speaks for itself
    assert kinds_of(X) == [["count", "real", "real", "real"]]


def test_a_column_keeps_its_kind_where_that_of_its_view_contradicts_its_values(rng):
    binary = (rng.random((N, 3)) < 0.5).astype(float)
    assert kinds_of(np.column_stack([binary, np.full(N, 4.0)])) == [["binary"] * 3 + ["count"]]
    counts = rng.poisson(3.0, size=(N, 3)).astype(float)
    assert kinds_of(np.column_stack([counts, np.full(N, 0.5)])) == [["count"] * 3 + ["amount"]]


def test_few_values_in_all_are_real_numbers():
    assert kinds_of([[1.0, 2.0], [3.0, 0.0]]) == [["real", "real"]]


def test_small_views_pool_their_columns():
    assert kinds_of(np.array([[3.0, 1.0, 0.0], [2.0, 2.0, 7.0], [1.0, 0.0, 0.0]])) == [["count"] * 3]
    assert kinds_of(np.array([[0.3, 1.2, 0.0], [2.0, 2.5, 7.0], [1.0, 0.0, 0.0]])) == [["amount"] * 3]


def test_whole_numbers_among_whole_numbers_below_zero_are_not_counts(rng):
    X = rng.integers(-3, 4, size=(N, 4)).astype(float)
    X[:, 0] = np.abs(X[:, 0])
    assert kinds_of(X) == [["real"] * 4]


def test_numbers_so_large_that_all_are_whole_are_not_counts(rng):
    X = rng.random((N, 2)) * 1e18
    assert kinds_of(X) == [["amount", "amount"]]
    assert kinds_of((rng.random((N, 2)) * 1e9).astype(np.float32)) == [["amount", "amount"]]


def test_a_column_without_values_has_the_kind_of_its_view(rng):
    X = rng.poisson(3.0, size=(N, 3)).astype(float)
    X[:, 1] = np.nan
    assert kinds_of(X) == [["count"] * 3]


def test_values_under_the_mask_have_no_effect(rng):
    X = rng.poisson(3.0, size=(N, 4)).astype(float)
    observed = rng.random((N, 4)) < 0.7
    garbage = np.where(observed, X, -1e6 * rng.normal(size=X.shape))
    assert kinds_of(garbage, observed=observed) == [["count"] * 4]
    rows = rng.random(N) < 0.7
    assert kinds_of(np.where(rows[:, None], X, -0.5), observed=rows) == [["count"] * 4]
    views = read_views(garbage)
    hidden = Hidden((~observed,)).apply(views)
    assert Kinds.learn(hidden).by_view[0].tolist() == ["count"] * 4


def test_zeros_of_missing_samples_are_no_values_of_sparse_views(rng):
    X = rng.poisson(3.0, size=(N, 2)) + 2.5
    rows = np.ones(N, dtype=bool)
    rows[:5] = False
    views = read_views(sparse.csr_array(X), rows)
    assert views[0].is_sparse
    assert (FeatureSummary.of(views[0]).low >= 2.5).all()


def test_sparse_and_dense_views_agree_and_sparse_ones_stay_sparse(rng, monkeypatch):
    X = rng.poisson(0.2, size=(N, 30)).astype(float)
    X[:, 3] *= 0.5
    X[:, 4] *= -1.0
    dense = kinds_of(X)
    monkeypatch.setattr(sparse.csr_array, "toarray", None)
    monkeypatch.setattr(sparse.csr_array, "todense", None)
    assert kinds_of(sparse.csr_array(X)) == dense


@pytest.mark.parametrize("holes", [False, True])
def test_torch_and_single_precision(rng, holes):
    torch = pytest.importorskip("torch")
    X = np.column_stack(list(columns(rng).values())).astype(np.float32)
    if holes:
        X[rng.random(X.shape) < 0.1] = np.nan
    assert kinds_of(torch.asarray(X)) == kinds_of(X) == kinds_of(X.astype(np.float64))


def test_chunks_show_the_same_kinds(rng):
    da = pytest.importorskip("dask.array")
    from jella.distributed.read import read_chunked

    X = np.column_stack(list(columns(rng).values()))
    X[rng.random(X.shape) < 0.1] = np.nan
    views = read_chunked([da.from_array(X, chunks=(7, -1))])
    assert [kinds.tolist() for kinds in Kinds.learn(views).by_view] == kinds_of([X])


# kinds that are given


def test_given_kinds(rng):
    X = {"a": rng.poisson(3.0, size=(N, 2)).astype(float), "b": rng.random((N, 2))}
    assert kinds_of(X, "amount") == [["amount"] * 2, ["amount"] * 2]
    assert kinds_of(X, {"a": "real"}) == [["real"] * 2, ["proportion"] * 2]
    assert kinds_of(X, {"b": {1: "amount"}}) == [["count"] * 2, ["proportion", "amount"]]


def test_given_kinds_by_the_names_of_features(rng):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rng.poisson(3.0, size=(N, 2)), columns=["x", "y"])
    assert kinds_of({"a": frame}, {"a": {"y": "real"}}) == [["count", "real"]]
    numbered = frame.set_axis([1, 0], axis=1)  # a name comes before a position
    assert kinds_of({"a": numbered}, {"a": {1: "real"}}) == [["real", "count"]]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("counts", r"expected a kind of value, got 'counts'; did you mean 'count'\?"),
        ("count", r"expected whole numbers from 0 in feature 0 of view 'a' of kind 'count', got -1.5; choose"),
        (
            {"a": {1: "binary"}},
            r"expected only 0 and 1 in feature 1 of view 'a' of kind 'binary', got numbers that are",
        ),
        ({"a": {1: "count"}}, r"expected whole numbers from 0 in feature 1 .* got numbers that are not whole"),
        ({"b": "real"}, r"expected kinds of the views \['a'\], got the view 'b'"),
        ({"a": {7: "real"}}, r"got the feature 7; pass names of its columns, or positions from 0 to 1"),
        ({"a": {-1: "real"}}, r"got the feature -1"),
        ({"a": "categorical"}, r"expected a kind that fits numbers .* got 'categorical'"),
        ({"a": 3}, r"expected a kind of value, got 3"),
    ],
)
def test_wrong_given_kinds_are_refused(given, words):
    X = np.column_stack([np.linspace(-1.5, 1, 20), np.linspace(0, 1, 20)])
    with pytest.raises(ValueError, match=words):
        kinds_of({"a": X}, given)


def test_bounds_and_summary(rng):
    by = columns(rng)
    views = read_views({"all": np.column_stack([*by.values(), by["real"]]), "b": by["binary"][:, None]})
    found = Kinds.learn(views, {"all": {1: "amount", 3: "proportion"}})
    low, high = found.bounds(0)
    assert low.tolist() == [-np.inf, 0, 0, 0, 0, -np.inf]
    assert high.tolist() == [np.inf, np.inf, np.inf, 1, 1, np.inf]
    assert found.summary(views.names) == {
        "all": "real (2), amount (1), binary (1), count (1), proportion (1)",
        "b": "binary",
    }
    assert found.groups(0) == []


# scores


def test_scores_agree_with_those_of_scikit_learn(rng):
    y, p = (rng.random(50) < 0.3).astype(int), rng.random(50)
    assert metrics.brier_score(y, p) == pytest.approx(sk.brier_score_loss(y, p))
    assert metrics.log_loss(y, p) == pytest.approx(sk.log_loss(y, p))
    levels = rng.integers(0, 3, 50)
    chances = rng.dirichlet(np.ones(3), 50)
    assert metrics.log_loss(np.eye(3)[levels], chances) == pytest.approx(sk.log_loss(levels, chances))
    assert metrics.brier_score(np.eye(3)[levels], chances) == pytest.approx(
        np.mean([((np.eye(3)[k] - q) ** 2).sum() for k, q in zip(levels, chances, strict=True)])
    )


def test_scores_of_values_outside_the_bounds_are_finite():
    assert metrics.brier_score([0, 1], [-0.5, 1.5]) == 0.0
    assert metrics.log_loss([1, 0], [-0.5, 1.5]) == pytest.approx(-np.log(1e-6))


def test_scores_of_counts():
    assert metrics.relative_error([1, 2, 7], [1, 4, 6]) == pytest.approx(0.3)
    assert metrics.total_bias([1, 2, 7], [1, 4, 6]) == pytest.approx(0.1)
    assert np.isnan(metrics.total_bias([0, 0], [1, 0]))
    assert np.isnan(metrics.relative_error([0], [1]))


def test_each_kind_has_scores():
    for kind in KINDS:
        scores = metrics.scores_of_kind(kind, [1.0, 0.0], [1.0, 0.0])
        assert scores
        assert all(value == pytest.approx(0.0, abs=1e-5) for value in scores.values())
    assert set(metrics.scores_of_kind("binary", [1], [1])) == {"brier", "log_loss"}
    assert set(metrics.scores_of_kind("count", [1], [1])) == {"rmse", "relative_error", "total_bias"}
    with pytest.raises(ValueError, match="expected a kind of value, got 'odd'"):
        metrics.scores_of_kind("odd", [1], [1])


@pytest.mark.parametrize(
    ("true", "completed", "words"),
    [
        ([1, 0], [1], "expected as many completed as true values"),
        ([], [], "at least one"),
        ([np.nan], [1], "expected finite values"),
        ([0.5], [1], "expected true values 0 and 1, got values from 0.5 to 0.5"),
        ([[1, 1]], [[0.5, 0.5]], "expected one level for each row"),
    ],
)
def test_wrong_values_to_score_are_refused(true, completed, words):
    with pytest.raises(ValueError, match=words):
        metrics.brier_score(true, completed)
