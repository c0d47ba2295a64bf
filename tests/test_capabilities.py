"""One record says what a method can do; tags, refusals, the page on methods and what really happens agree with it."""

from __future__ import annotations

from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from common import planted

import jella
from jella.estimators.base import BaseMultiView
from jella.estimators.catalogue import estimators, methods, methods_table
from jella.terms import L21

PAGE = Path(__file__).parents[1] / "docs" / "which-method.md"
by_kind = pytest.mark.parametrize("kind", estimators().values(), ids=lambda kind: kind.__name__)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def quick(kind: type) -> object:
    known = kind().get_params()
    wanted = {"n_clusters": 3, "max_iter": 3, "random_state": 0}
    return kind(**{name: value for name, value in wanted.items() if name in known})


def accepts(kind: type, views: list) -> bool:
    try:
        quick(kind).fit(views)
    except ValueError:
        return False
    return True


def test_the_table_of_the_page_on_methods_is_that_of_the_records():
    assert methods_table() in PAGE.read_text()


@by_kind
def test_the_record_is_what_happens(kind):
    can = kind().capabilities
    views = planted()
    entries, whole = [[X.copy() for X in views] for _ in range(2)]
    entries[0][3, 2] = np.nan
    whole[1][5] = np.nan
    signed = [X - 0.5 for X in views]
    assert accepts(kind, views)
    assert accepts(kind, entries) == (can.missing == "entries")
    assert accepts(kind, whole) == (can.missing != "nothing")
    assert accepts(kind, signed) == can.signed
    with dask.config.set(scheduler="synchronous"):
        assert accepts(kind, [da.from_array(X, chunks=(17, -1)) for X in views]) == (can.not_in_chunks is None)


@by_kind
def test_tags_are_those_of_the_record(kind):
    tags, can = kind().__sklearn_tags__(), kind().capabilities
    assert tags.input_tags.positive_only == (not can.signed)
    assert tags.input_tags.allow_nan == (can.missing == "entries")


@by_kind
def test_what_holds_pairs_of_samples_says_so(kind):
    """Beyond the views, memory of a fitted model grows as n² or does not."""
    from sklearn.utils._testing import ignore_warnings

    def largest(n: int) -> int:
        model = ignore_warnings(quick(kind).fit)(planted(n=n))
        result = getattr(model, "result_", None)
        states = () if result is None else result.blocks.embedding_states
        found = [getattr(state, "affinity", state) for state in states if state is not None]
        return max((X.size for X in found if isinstance(X, np.ndarray)), default=0)

    assert (largest(60) == 3600) == (kind().capabilities.pairs > 0)


def test_records_follow_the_parameters():
    assert jella.JELLA(embedding=[L21(0.1)]).capabilities.not_in_chunks is not None
    assert jella.JELLA(loss="sample_norm", embedding=["indicator"]).capabilities.missing == "views"
    assert not jella.JELLA(basis=["nonnegative"], embedding=["nonnegative"]).capabilities.signed
    assert jella.JELLA(embedding=["learned_graph"]).capabilities.pairs


def test_methods_are_those_of_the_library_with_the_recommended_one_first():
    assert next(iter(methods())) == "SparseBDR"
    public = {name for name in jella.__all__ if isinstance(getattr(jella, name), type)}
    assert {*methods(), "JELLA"} == {name for name in public if issubclass(getattr(jella, name), BaseMultiView)}
