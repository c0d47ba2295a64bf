"""Values such as -999 that look like codes for missing ones are named."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import jella
from jella.views import read_views
from jella.views.missing_codes import MissingCodeWarning, code_notes


def coded(rng, code, n=40):
    X = {"a": rng.normal(size=(n, 4)), "b": rng.normal(size=(n, 3))}
    X["a"][rng.random(n) < 0.2, 1] = code
    X["a"][::9, 2] = code
    return X


@pytest.mark.parametrize("code", [-999, -99, -9, 999, 9999, 99])
def test_a_fit_names_values_that_look_like_a_code(code, rng):
    X = coded(rng, code)
    count = int((X["a"] == code).sum())
    with pytest.warns(
        MissingCodeWarning, match=f"'a' has {code} in {count} cells of the columns 1 and 2, far .*--missing"
    ):
        jella.MVLIV(2, random_state=0).fit(X)


def test_columns_are_named_also_in_one_table(rng):
    X = pd.DataFrame(coded(rng, -999)["a"], columns=list("pqrs"))
    with pytest.warns(MissingCodeWarning, match="the columns 'q' and 'r'"):
        jella.MVLIV(2, random_state=0).fit(X)


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X,
        lambda X: np.vstack([X, [-999.0, 0, 0, 0]]),  # once
        lambda X: X * 1000,  # among others
        lambda X: np.where(X > 0.5, 9.0, np.round(X + 4)),  # an answer of a scale
    ],
)
def test_other_values_are_none(change, rng):
    X = change(rng.normal(size=(60, 4)))
    X[:3] = np.where(np.abs(X[:3]) > 900, -999.0, X[:3])
    with warnings.catch_warnings():
        warnings.simplefilter("error", MissingCodeWarning)
        assert code_notes(read_views(X)) == []


def test_missing_values_and_rows_of_a_code_do_not_count(rng):
    X = {"a": rng.normal(size=(40, 4)), "b": 5 + rng.random((40, 3))}
    X["b"][:10], X["a"][5:9] = -999.0, np.nan  # rows of one value have a warning of their own
    assert code_notes(read_views(X)) == []
    assert len(code_notes(read_views([X["b"]]))) == 1


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_number_given_as_missing_is_found_however_it_is_written(ending, whole, rng, tmp_path):
    values = np.round(100 * rng.normal(size=(12, 3)))
    values[[1, 5], 1] = -999
    frame = pd.DataFrame(values if not whole else values.astype(np.int64), columns=["a", "b", "c"])
    if whole:
        frame.loc[0, "b"] = 2**60 + 1  # no double
    file = tmp_path / f"view.{ending}"
    frame.to_csv(file, index=False) if ending == "csv" else frame.to_parquet(file)
    found = jella.io.read(file, missing=["-999", "none"]).views["view"]
    assert found["b"].isna().tolist() == [place in (1, 5) for place in range(12)]
    there = found["b"].notna()
    assert found["b"][there].astype(int).tolist() == frame["b"][there].astype(int).tolist()
    pd.testing.assert_frame_equal(found[["a", "c"]], frame[["a", "c"]])
    assert not jella.io.read(file).views["view"].isna().any(axis=None)
