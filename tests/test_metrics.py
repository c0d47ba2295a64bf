"""Scores against hand-computed values, brute force and the definitions."""

import warnings
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from jella.metrics import accuracy, adjusted_rand, nmi, rmse

TRUE = [0, 0, 0, 1, 1, 2, 2, 2]
PRED = ["b", "b", "a", "a", "a", "c", "c", "b"]
LABELINGS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)])
)


def entropy(counts):
    shares = np.asarray(counts)[np.asarray(counts) > 0] / np.sum(counts)
    return -np.sum(shares * np.log(shares))


def brute_force_accuracy(true, pred):
    counts = np.zeros((4, 4))
    np.add.at(counts, (true, pred), 1)
    return max(counts[np.arange(4), order].sum() for order in map(list, permutations(range(4)))) / len(true)


@pytest.mark.parametrize(
    ("average", "mean"),
    [("geometric", lambda a, b: np.sqrt(a * b)), ("arithmetic", lambda a, b: (a + b) / 2), ("max", max), ("min", min)],
)
def test_nmi_is_the_mutual_information_over_the_named_mean(average, mean):
    true, pred = [0, 0, 0, 0, 1, 1], [0, 1, 2, 2, 2, 3]
    h_true, h_pred = entropy([4, 2]), entropy([1, 1, 3, 1])
    mutual = h_true + h_pred - entropy([1, 1, 2, 1, 1])
    assert nmi(true, pred, average=average) == pytest.approx(mutual / mean(h_true, h_pred))


def test_nmi_averages_geometrically_by_default():
    assert nmi(TRUE, PRED) == nmi(TRUE, PRED, average="geometric")
    assert nmi([0, 0, 1, 1], [0, 1, 2, 3]) == pytest.approx(np.sqrt(0.5))


def test_nmi_rejects_an_unknown_average():
    with pytest.raises(ValueError, match=r"expected average to be one of .*'min'.*, got 'median'"):
        nmi(TRUE, PRED, average="median")


def test_adjusted_rand_by_hand():
    # Pairs together in both: 2 of the 6 within classes and 6 within clusters, 15 pairs in all.
    assert adjusted_rand([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]) == pytest.approx((2 - 18 / 15) / (4.5 - 18 / 15))


@settings(max_examples=60, deadline=None)
@given(LABELINGS)
def test_accuracy_equals_the_best_permutation(labelings):
    true, pred = labelings
    assert accuracy(true, pred) == pytest.approx(brute_force_accuracy(true, pred))
    assert accuracy(true, pred) == accuracy(pred, true)


def test_accuracy_counts_unmatched_clusters_as_wrong():
    assert accuracy([0, 0, 0, 0], [0, 1, 2, 3]) == 0.25
    assert accuracy(TRUE, PRED) == 6 / 8


@pytest.mark.parametrize("score", [nmi, adjusted_rand, accuracy])
def test_label_names_and_types_do_not_matter(score):
    renamed = pd.Series(TRUE).map({0: 2.5, 1: -1.0, 2: 7.25})
    assert score(renamed, PRED) == pytest.approx(score(TRUE, PRED))
    assert score(TRUE, renamed) == pytest.approx(1.0)


@pytest.mark.parametrize("score", [nmi, adjusted_rand, accuracy])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "got 2 and 8"),
        ([], "got shape \\(0,\\)"),
        ([[0, 1]], "got shape \\(1, 2\\)"),
        ([np.nan, 1.0], "without NaN, got 1"),
        (np.array(["a", None], dtype=object), "of one type"),
        (np.array(["a", pd.NA], dtype=object), "of one type"),
    ],
)
def test_unusable_labels_are_named(score, labels, message):
    with pytest.raises(ValueError, match=message):
        score(TRUE, labels)


A = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
B = np.array([[0.0], [1.0], [2.0]])
A2 = A + np.array([[1.0, 0.0], [0.0, -2.0], [0.0, 0.0]])
B2 = B + np.array([[0.0], [0.0], [3.0]])


@pytest.mark.parametrize("container", [list, tuple, lambda views: dict(zip("ab", views, strict=True))])
def test_rmse_pools_the_entries_of_all_views(container):
    assert rmse(container([A, B]), container([A2, B2])) == pytest.approx(np.sqrt((1 + 4 + 9) / 9))
    missing = container([A2 != A, np.array([[True], [False], [False]])])
    assert rmse(container([A, B]), container([A2, B2]), missing=missing) == pytest.approx(np.sqrt((1 + 4) / 3))


def test_rmse_broadcasts_a_mask_of_rows():
    assert rmse(A, A2, missing=np.array([[False], [True], [False]])) == pytest.approx(np.sqrt(4 / 2))


def test_rmse_ignores_the_order_of_dict_keys():
    assert rmse({"a": A, "b": B}, {"b": B, "a": A2}) == pytest.approx(np.sqrt(5 / 9))


def test_rmse_ignores_gaps_outside_the_scored_entries():
    gappy = np.where(A == 6, np.nan, A)
    assert rmse(gappy, A2, missing=A < 4.5) == pytest.approx(np.sqrt(5 / 4))


def test_rmse_takes_sparse_matrices():
    missing = sparse.csr_array(A2 != A)
    assert rmse(sparse.csr_array(A), sparse.csc_matrix(A2), missing=missing) == pytest.approx(np.sqrt(5 / 2))


def test_rmse_reads_views_as_estimators_do(xp):
    """Rows as lists, arrays of other libraries, and masks of zeros and ones."""
    assert rmse(A.tolist(), A2.tolist()) == pytest.approx(np.sqrt(5 / 6))
    assert rmse(xp.asarray(A), xp.asarray(A2), missing=xp.asarray(A2 != A)) == pytest.approx(np.sqrt(5 / 2))
    assert rmse(A, A2, missing=(A2 != A).astype(int)) == pytest.approx(np.sqrt(5 / 2))


def test_rmse_aligns_annotated_data_by_name():
    mudata, anndata = pytest.importorskip("mudata"), pytest.importorskip("anndata")
    names = {"obs": pd.DataFrame(index=list("xyz")), "var": pd.DataFrame(index=["f", "g"])}
    true, completed = anndata.AnnData(A, **names), anndata.AnnData(A2, **names)[["z", "x", "y"], ["g", "f"]].copy()
    assert rmse(true, completed) == pytest.approx(np.sqrt(5 / 6))
    assert rmse(true, completed.to_df()) == pytest.approx(np.sqrt(5 / 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own future
        both = [mudata.MuData({"a": one}) for one in (true, completed)]
    assert rmse(*both) == pytest.approx(np.sqrt(5 / 6))


def test_rmse_aligns_frames_by_label():
    true = pd.DataFrame(A, index=list("xyz"), columns=["f", "g"])
    completed = pd.DataFrame(A2, index=true.index, columns=true.columns).loc[["z", "x", "y"], ["g", "f"]]
    assert rmse(true, completed) == pytest.approx(np.sqrt(5 / 6))
    assert rmse(true, completed, missing=(completed != true.loc[completed.index, completed.columns])) == pytest.approx(
        np.sqrt(5 / 2)
    )
    rows = pd.DataFrame({"lost": [True, False, False]}, index=["y", "z", "x"])
    assert rmse(true, completed, missing=rows) == pytest.approx(np.sqrt(4 / 2))
    assert rmse(true, A2) == pytest.approx(np.sqrt(5 / 6))


def test_rmse_takes_nullable_frames_and_repeated_labels_in_the_same_order():
    true = pd.DataFrame({"f": [1, 2]}, index=["x", "x"]).astype("Int64")
    assert rmse(true, true + 2) == 2.0
    gappy = pd.DataFrame({"f": [1, None], "g": [2, 4]}, dtype="Int64")
    assert rmse(gappy, pd.DataFrame({"f": [3, 9], "g": [2, 4]}), missing=gappy.notna()) == np.sqrt(4 / 3)
    with pytest.raises(ValueError, match="got 1 that are not"):
        rmse(gappy, gappy)


def test_rmse_leaves_its_arguments_alone():
    copies = A.copy(), A2.copy()
    rmse(A, A2, missing=A > 2)
    np.testing.assert_array_equal((A, A2), copies)


@pytest.mark.parametrize(
    ("true", "completed", "missing", "message"),
    [
        (A, B, None, r"expected completed to have the shape \(3, 2\) of true, got \(3, 1\)"),
        ({"a": A}, {"a": B}, None, "expected completed of view 'a' to have the shape"),
        ({"a": A}, {"b": A}, None, r"\['a'\], got \['b'\]"),
        ([A, B], [A], None, r"\['view0', 'view1'\], got \['view0'\]"),
        (A, [A], None, r"one array, got \['view0'\]"),
        (A, {"view": A}, None, r"one array, got \['view'\]"),
        ([A], [A2], A > 2, r"expected missing to hold the same views as true, \['view0'\], got one array"),
        (A, A2, A > 99, "expected at least one entry to score, got none"),
        (A, A2, A, "expected missing to be boolean, got float64"),
        (A, A2, A.T > 2, r"expected missing to broadcast to \(3, 2\), got \(2, 3\)"),
        (A, A2, A[:, 0] > 2, r"expected missing to be 2-D, got shape \(3,\)"),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.0]}, None, r"expected true of view 'a' to be 2-D, got shape \(2,\)"),
        (A, np.where(A > 4, np.nan, A), None, "expected finite values at the scored entries, got 2"),
        (
            pd.DataFrame(A),
            pd.DataFrame(A, index=[0, 1, 3]),
            None,
            r"rows of completed .*not in true: \[3\], only in true: \[2\]",
        ),
        (pd.DataFrame(A), pd.DataFrame(A)[[0]], None, r"columns of completed .*got 1 for 2"),
    ],
)
def test_rmse_says_what_is_wrong(true, completed, missing, message):
    with pytest.raises(ValueError, match=message):
        rmse(true, completed, missing=missing)


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(float, hnp.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.floats(-1e3, 1e3)),
    st.integers(0, 99),
)
def test_rmse_splits_into_missing_and_observed_parts(true, seed):
    rng = np.random.default_rng(seed)
    completed, mask = true + rng.normal(size=true.shape), rng.random(true.shape) < 0.5
    parts = [(m.sum(), rmse(true, completed, missing=m)) for m in (mask, ~mask) if m.any()]
    pooled = np.sqrt(sum(count * part**2 for count, part in parts) / true.size)
    assert rmse(true, completed) == pytest.approx(pooled)
