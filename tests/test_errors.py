"""What users get wrong is told in one sentence, with the values, before anything is computed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import jella

N = 12
RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(N, 6)), RNG.normal(size=(N, 4))
NAMES = [f"s{i}" for i in range(N)]
FRAME_A = pd.DataFrame(A, index=NAMES).add_prefix("a")
FRAME_B = pd.DataFrame(B, index=NAMES).add_prefix("b")
YES = np.ones(N, dtype=bool)
TEXTS = [f"x{i}" for i in range(N)]


def changed(values, where, value):
    out = values.copy()
    out[where] = value
    return out


def frame_changed(frame, where, value):
    out = frame.copy()
    out.iloc[where] = value
    return out


def fit(X, observed=None, **options):
    return jella.MVLIV(**{"n_components": 2, "tol": 1e-2, **options}).fit(X, observed=observed)


def fitted(how):
    return {
        "dict": lambda: fit({"a": A, "b": B}),
        "list": lambda: fit([A, B]),
        "single": lambda: fit(A),
        "frames": lambda: fit({"a": FRAME_A, "b": FRAME_B}),
    }[how]()


def torch_and_numpy():
    torch = pytest.importorskip("torch")
    return fit([A, torch.asarray(B)])


def strict_complex():
    strict = pytest.importorskip("array_api_strict")
    return fit([strict.asarray(A + 0j)])


EMPTY = [changed(A, 3, np.nan), changed(B, 3, np.nan)]
EMPTY_MANY = [changed(A, slice(1, 9), np.nan), changed(B, slice(1, 9), np.nan)]
EMPTY_FRAMES = [frame_changed(FRAME_A, 3, np.nan), frame_changed(FRAME_B, 3, np.nan)]
NUMBERED = [frame.set_axis(np.arange(100, 100 + N)) for frame in EMPTY_FRAMES]

FIT = {
    # no views
    "empty list": (lambda: fit([]), "expected at least one view, got none"),
    "empty tuple": (lambda: fit(()), "expected at least one view, got none"),
    "empty dict": (lambda: fit({}), "expected at least one view, got none"),
    "only None": (lambda: fit([None, None]), "expected at least one view, got only None"),
    "None in fit": (lambda: fit([A, None]), "view 'view1' is None, but fit needs its features"),
    "None": (lambda: fit(None), "expected a 2-D array, or a list or dict of 2-D arrays, got NoneType"),
    "generator": (lambda: fit(x for x in [A, B]), "a list or dict of 2-D arrays, got generator"),
    "dict values": (lambda: fit({"a": A}.values()), "a list or dict of 2-D arrays, got dict_values"),
    "names that read the same": (lambda: fit({1: A, "1": B}), r"different names for the views, got \[1, '1'\]"),
    "file names": (
        lambda: fit(["rna.csv", "adt.csv"]),
        r"got the text 'rna.csv'; if it is a file, pass jella\.io\.read\(",
    ),
    "paths": (lambda: fit([Path("rna.csv")]), "got the text 'rna.csv'"),
    "no samples": (lambda: fit([A[:0], B[:0]]), "expected at least one sample, got views without rows"),
    # shapes
    "1-D in a list": (lambda: fit([A, B[:, 0]]), r"view 'view1' must be a 2-D array \(.*\), got 1 dimension"),
    "3-D in a list": (lambda: fit([A[:, :, None]]), r"view 'view0' must be a 2-D array \(.*\), got 3 dimension"),
    "3-D beside 2-D": (lambda: fit({"a": A, "b": B[None]}), r"view 'b' must be a 2-D array \(.*\), got 3 dimension"),
    "3-D alone": (lambda: fit(A[None]), r"a 2-D array \(samples x features\), got 3 dimensions; pass a list of 2-D"),
    "masked 1-D": (lambda: fit([A, np.ma.array(B[:, 0])]), "view 'view1' must be a 2-D array .*, got 1 dimension"),
    "sparse 1-D": (lambda: fit([A, sparse.coo_array(B[:, 0])]), "view 'view1' must be a 2-D array .*, got 1 dimension"),
    "ragged": (
        lambda: fit([A.tolist(), [[1.0, 2.0], [3.0]]]),
        "view 'view1' must be .*, got rows of different lengths",
    ),
    "lengths": (lambda: fit([A, B[:5]]), "view 'view1' has 5 samples, 'view0' has 12; .*NaN rows or use DataFrames"),
    "lengths, sparse": (lambda: fit([A, sparse.csr_array(B[:5])]), "view 'view1' has 5 samples, 'view0' has 12"),
    # DataFrames
    "frame beside array": (lambda: fit([FRAME_A, B]), "view 'view1' has no index while others are DataFrames"),
    "array beside frame": (lambda: fit({"a": A, "b": FRAME_B}), "view 'a' has no index while others are DataFrames"),
    "sample twice": (
        lambda: fit([FRAME_A, pd.concat([FRAME_B, FRAME_B.iloc[2:4]])]),
        "view 'view1' has the samples 's2' and 's3' more than once",
    ),
    "number twice": (
        lambda: fit([FRAME_A.set_axis([5, 5, *range(6, 16)])]),
        "view 'view0' has the sample 5 more than once",
    ),
    # a sample without anything
    "empty sample": (lambda: fit(EMPTY), "sample 3 is missing in every view; remove it or set on_empty='drop'"),
    "empty samples": (lambda: fit(EMPTY_MANY), "samples 1, 2, 3, 4, 5 and 3 more are missing in every view"),
    "empty sample, named": (lambda: fit(EMPTY_FRAMES), "sample 's3' is missing in every view"),
    "empty sample, numbered": (lambda: fit(NUMBERED), "sample 103 is missing in every view"),
    "empty sample, one view": (lambda: fit(EMPTY[0]), "sample 3 is missing in every view"),
    "empty sample, sparse": (lambda: fit([sparse.csr_array(EMPTY[0])]), "sample 3 is missing in every view"),
    "empty sample, observed": (lambda: fit([A, B], [changed(YES, 3, False)] * 2), "sample 3 is missing in every view"),
    "on_empty": (lambda: fit([A, B], on_empty="ignore"), "on_empty must be 'raise' or 'drop', got 'ignore'"),
    # a feature without anything
    "empty feature": (
        lambda: fit([A, changed(B, (slice(None), [1, 2]), np.nan)]),
        r"view 'view1' has 2 feature\(s\) that are never observed: \[1, 2\]",
    ),
    "empty feature, named": (
        lambda: fit([FRAME_A, frame_changed(FRAME_B, (slice(None), 1), np.nan)]),
        r"view 'view1' has 1 feature\(s\) that are never observed: \['b1'\]",
    ),
    "empty feature, observed": (
        lambda: fit([A, B], [None, changed(np.ones_like(B, dtype=bool), (slice(None), 2), False)]),
        r"view 'view1' has 1 feature\(s\) that are never observed: \[2\]",
    ),
    "empty features": (
        lambda: fit([changed(np.tile(A, 3), (slice(None), slice(0, 9)), np.nan)]),
        r"9 feature\(s\) that are never observed: \[0, 1, 2, 3, 4\] and 4 more",
    ),
    "empty view": (lambda: fit([A, B * np.nan]), "view 'view1' has no observed value at all; leave it out"),
    "view without features": (lambda: fit([A, B[:, :0]]), "view 'view1' has no observed value at all; leave it out"),
    # values
    "infinity": (lambda: fit([A, changed(B, (2, 1), np.inf)]), "view 'view1' has an infinite value at row 2, column 1"),
    "minus infinity": (lambda: fit(changed(A, (2, 1), -np.inf)), "an infinite value at row 2, column 1"),
    "infinity, named": (
        lambda: fit([FRAME_A.iloc[::-1], frame_changed(FRAME_B, (2, 1), np.inf)]),
        "view 'view1' has an infinite value at sample 's2', column 'b1'",
    ),
    "infinity, sparse": (
        lambda: fit([A, sparse.csc_array(changed(B, (2, 1), np.inf))]),
        "view 'view1' has an infinite value at row 2, column 1",
    ),
    "strings": (lambda: fit([A, B.astype(str)]), "view 'view1' must hold real numbers, got <U32; encode or drop"),
    "bytes": (lambda: fit([A, B.astype("S8")]), r"view 'view1' must hold real numbers, got \|S8"),
    "strings alone": (lambda: fit(B.astype(str)), "must hold real numbers, got an array of <U"),
    "strings in objects": (
        lambda: fit([A, changed(B.astype(object), (0, 0), "high")]),
        "view 'view1' must hold real numbers, got object",
    ),
    "strings in objects alone": (
        lambda: fit(changed(B.astype(object), (0, 0), "high")),
        "must hold real numbers.*'high'",
    ),
    "views as two arguments": (
        lambda: jella.cluster(A, B),
        "n_clusters.* got an array; pass several views as one list",
    ),
    "string column": (
        lambda: fit([FRAME_A, FRAME_B.assign(batch=TEXTS, day=TEXTS)]),
        r"view 'view1' must hold real numbers, got non-numeric columns \['batch', 'day'\]; make a column of",
    ),
    "string column alone": (lambda: fit(FRAME_B.assign(batch=TEXTS)), r"non-numeric columns \['batch'\]"),
    "many string columns": (lambda: fit([FRAME_A.astype(str)]), r"\['a0', 'a1', 'a2', 'a3', 'a4'\] and 1 more"),
    "numbers of type object": (
        lambda: fit([FRAME_A.astype(object)]),
        r"expected columns of a numeric type in view 'view0', got numbers of type object in \['a0'",
    ),
    "dates": (lambda: fit([A, np.full((N, 2), np.datetime64("2020-01-01"))]), "must hold real numbers, got datetime64"),
    "categories": (lambda: fit([FRAME_A.assign(c=pd.Categorical([None] * len(FRAME_A)))]), "non-numeric columns"),
    "complex": (lambda: fit([A, B + 1j]), "view 'view1' must hold real numbers, got complex128"),
    "complex, sparse": (lambda: fit([A, sparse.csr_array(B + 1j)]), "must hold real numbers, got complex128"),
    "complex column": (lambda: fit([FRAME_A + 1j]), "non-numeric columns"),
    "complex, another library": (strict_complex, "must hold real numbers, got .*complex128"),
    "two libraries": (torch_and_numpy, "expected views of one array library, got numpy and torch"),
    "negative": (
        lambda: jella.PVC(2).fit([abs(A), B]),
        "Negative values in data passed to PVC.*'view1' goes down to -",
    ),
    "negative, sparse": (lambda: jella.PVC(2).fit(sparse.csr_array(A)), "Negative values in data passed to PVC"),
    "negative once centred": (
        lambda: jella.PVC(2, scale="standardize").fit([abs(A), abs(B)]),
        "Negative values in data passed to PVC",
    ),
    # parameters
    "n_clusters": (lambda: fit([A, B], n_clusters=13), "n_clusters=13 is more than the 12 samples"),
    "rank of features": (
        lambda: fit([A, B], n_components=11),
        "n_components=11 is more than 12 samples and 10 features",
    ),
    "rank of samples": (lambda: fit([A[:5], B[:5]], n_components=6), "more than 5 samples .*; choose at most 5"),
    "scale": (lambda: fit([A, B], scale="max"), r"scale must be one of \['sample', .*\], got 'max'"),
    "standardize sparse": (
        lambda: fit([A, sparse.csr_array(B)], scale="standardize"),
        "scale='standardize' or 'center' would make the sparse view 'view1' dense",
    ),
    "weights, count": (lambda: fit([A, B], view_weights=[1]), r"one number for each of the 2 views, got \[1\]"),
    "weights, kind": (lambda: fit([A, B], view_weights="ab"), "one number for each of the 2 views, got 'ab'"),
    "weights, number": (lambda: fit([A, B], view_weights=2.0), "one number for each of the 2 views, got 2.0"),
    "weights, sign": (
        lambda: fit([A, B], view_weights=[1, 0]),
        r"must be positive, got \[1.0, 0.0\]; leave a view out",
    ),
    "weights, nan": (lambda: fit([A, B], view_weights=[1, np.nan]), "must be positive, got"),
    "weights, name": (lambda: fit({"a": A}, view_weights={"b": 1}), r"names 'b', but the views are \['a'\]"),
    # masks
    "mask of one": (lambda: fit([A, B], [YES]), "one mask for each of the 2 views, got 1"),
    "mask of none": (lambda: fit([A, B], True), "one mask for each of the 2 views, got bool"),
    "mask as array": (lambda: fit([A, B], np.ones((2, N))), "one mask for each of the 2 views, got ndarray"),
    "mask of another view": (
        lambda: fit({"a": A}, {"b": YES}),
        r"observed names the view 'b', but the views are \['a'\]",
    ),
    "mask, short": (
        lambda: fit([A, B], [None, YES[:5]]),
        r"'view1' must have shape \(12,\) or \(12, 4\), got \(5, 1\)",
    ),
    "mask, narrow": (lambda: fit([A, B], [None, np.ones((N, 3))]), r"must have shape .*, got \(12, 3\)"),
    "mask, 3-D": (lambda: fit([A, B], [None, np.ones((N, 4, 1))]), r"must have shape .*, got \(12, 4, 1\)"),
    "mask of one view": (
        lambda: fit(A, np.ones((N, 5))),
        r"'view' must have shape \(12,\) or \(12, 6\), got \(12, 5\)",
    ),
    "mask, halves": (
        lambda: fit([A, B], [None, np.full(N, 0.5)]),
        "must hold booleans, got other values of type float64",
    ),
    "mask, strings": (lambda: fit([A, B], [None, np.full(N, "yes")]), "must hold booleans, got other values"),
    "mask, NaN": (
        lambda: fit([A, changed(B, (2, 1), np.nan)], [None, YES]),
        "view 'view1' has NaN at row 2, column 1, where `observed` says True",
    ),
    "mask, NaN, named": (
        lambda: fit([FRAME_A.iloc[::-1], frame_changed(FRAME_B, (2, 1), np.nan)], [None, YES]),
        "view 'view1' has NaN at sample 's2', column 'b1', where `observed` says True",
    ),
    "mask, NaN, sparse": (
        lambda: fit([A, sparse.csr_array(changed(B, (2, 1), np.nan))], [None, YES]),
        "view 'view1' has NaN at row 2, column 1, where `observed` says True",
    ),
    "mask, NaN, sparse entries": (
        lambda: fit([A, sparse.csr_array(changed(B, (2, 1), np.nan))], [None, changed(np.ones((N, 4)), (0, 0), 0)]),
        "view 'view1' has NaN at row 2, column 1, where `observed` says True",
    ),
    "mask frame, rows": (
        lambda: fit([FRAME_A, FRAME_B], [None, FRAME_B.notna().iloc[1:]]),
        "the mask of view 'view1' must have each sample of the view once; see the sample 's0'",
    ),
    "mask frame, columns": (
        lambda: fit([FRAME_A, FRAME_B], [None, FRAME_B.notna().add_prefix("x")]),
        r"the mask of view 'view1' must have the columns of the view, got \['xb0'",
    ),
}

NEW = {
    "unknown view": (
        lambda: fitted("dict").transform({"a": A, "c": B}),
        r"view 'c' was not seen in fit; the model knows \['a', 'b'\]",
    ),
    "unknown view of a list": (lambda: fitted("list").transform({"a": A}), "view 'a' was not seen in fit"),
    "too few": (lambda: fitted("list").transform([A]), "expected 2 views as in fit, got 1; pass None"),
    "too many": (lambda: fitted("dict").transform([A, B, B]), "expected 2 views as in fit, got 3"),
    "one array": (
        lambda: fitted("dict").transform(A),
        r"expected the 2 view\(s\) \['a', 'b'\] as in fit, got one array",
    ),
    "a list": (lambda: fitted("single").transform([A, B]), "as in fit, got a collection of views"),
    "nothing": (lambda: fitted("dict").transform({}), "expected at least one view, got none"),
    "only None": (lambda: fitted("dict").transform({"a": None}), "expected at least one view, got only None"),
    "no samples": (lambda: fitted("list").transform([A[:0], B[:0]]), "expected at least one sample"),
    "width": (lambda: fitted("dict").transform({"a": A, "b": B[:, :3]}), "view 'b' had 4 features in fit, got 3"),
    "width of one view": (lambda: fitted("single").transform(A[:, :3]), "X has 3 features, but MVLIV is expecting 6"),
    "columns": (
        lambda: fitted("frames").transform({"b": FRAME_B.rename(columns={"b1": "other"})}),
        r"view 'b' must have the 4 columns of the fit; see \['b1', 'other'\]",
    ),
    "a column twice": (
        lambda: fitted("frames").transform({"b": FRAME_B[["b0", "b1", "b2", "b3", "b3"]]}),
        r"view 'b' must have the 4 columns of the fit; see \['b3'",
    ),
    "empty sample": (lambda: fitted("list").transform(EMPTY), "sample 3 is missing in every view"),
    "empty sample, named": (
        lambda: fitted("frames").complete(dict(zip("ab", EMPTY_FRAMES, strict=True))),
        "sample 's3' is missing in every view",
    ),
    "infinity": (lambda: fitted("list").complete([A, changed(B, (2, 1), np.inf)]), "infinite value at row 2, column 1"),
    "strings": (lambda: fitted("list").score([A, B.astype(str)]), "view 'view1' must hold real numbers, got <U32"),
    "mask of the wrong shape": (
        lambda: fitted("list").transform([A, B], observed=[YES[:3], None]),
        r"the mask of view 'view0' must have shape \(12,\) or \(12, 6\), got \(3, 1\)",
    ),
}


@pytest.mark.parametrize(("call", "pattern"), [*FIT.values(), *NEW.values()], ids=[*FIT, *(f"new: {x}" for x in NEW)])
def test_one_sentence_with_the_values(call, pattern):
    with pytest.raises(ValueError, match=pattern) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    assert not re.search(r"np\.\w+\(", message)  # 3, not np.int64(3)
    assert not re.search(r"\.\s+[A-Z]", message)  # one sentence


def test_a_rank_of_our_own_choice_is_clipped():
    assert jella.MVLIV().fit([A[:, :3], B[:, :2]]).embedding_.shape == (N, 5)
    assert jella.MVLIV(n_clusters=8).fit([A[:, :3], B[:, :2]]).embedding_.shape == (N, 5)
    assert jella.MVLIV(n_clusters=12, random_state=0).fit([A, B]).embedding_.shape == (N, 10)


@pytest.mark.parametrize("frames", [False, True])
def test_dropped_samples_keep_their_row(frames):
    X = EMPTY_FRAMES if frames else EMPTY
    model = jella.MVLIV(2, n_components=2, on_empty="drop", random_state=0, tol=1e-6).fit(X)
    kept = np.arange(N) != 3
    assert np.isnan(model.embedding_[3]).all()
    assert np.isfinite(model.embedding_[kept]).all()
    assert model.labels_[3] == -1
    assert set(model.labels_[kept]) == {0, 1}
    assert len(model.dropped_) == 1
    assert model.dropped_ == (["s3"] if frames else [3])
    without = jella.MVLIV(2, n_components=2, random_state=0, tol=1e-6).fit([np.delete(np.asarray(v), 3, 0) for v in X])
    assert np.allclose(model.embedding_[kept], without.embedding_)
    assert np.array_equal(model.predict(X) == -1, ~kept)
    assert np.array_equal(np.isnan(np.asarray(model.transform(X))).all(axis=1), ~kept)
    completed = [np.asarray(view) for view in model.complete(X)]
    assert all(np.isnan(view[3]).all() and np.isfinite(view[kept]).all() for view in completed)
    assert jella.MVLIV(n_components=2, on_empty="drop").fit([A, B]).dropped_ == []


@pytest.mark.parametrize("name", ["n_clusters", "n_components", "max_iter", "n_init", "tol"])
def test_a_setting_of_the_wrong_type_is_named(name):
    with pytest.raises(ValueError, match=f"expected {name} of .* number, got"):
        fit([A, B], **{name: "many"})
    if name != "tol":
        with pytest.raises(ValueError, match=f"expected {name} of .* number, got"):
            fit([A, B], **{name: 2.5})
