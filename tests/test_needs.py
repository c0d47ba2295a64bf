"""Estimates of memory before a fit: near what fits allocate, and refusals that name need, limit and way out."""

from __future__ import annotations

import json
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import jella
from jella.cli.main import main
from jella.estimators.catalogue import methods
from jella.numerics import limits
from jella.numerics.limits import Limits, limits_as

METHODS = methods()


def views(n: int, d: int, kind: str) -> list:
    rng = np.random.default_rng(0)
    W = rng.uniform(size=(n, 5))
    X = [W @ rng.uniform(size=(5, d)) + 0.05 * rng.uniform(size=(n, d)) for _ in range(2)]
    if kind == "entries":
        for view in X:
            view[rng.uniform(size=view.shape) < 0.1] = np.nan
    if kind == "views":
        X[0][: n // 5] = np.nan
    if kind != "sparse":
        return X
    return [sparse.csr_array(np.where(rng.uniform(size=view.shape) < 0.05, view, 0.0)) for view in X]


def allocated(name: str, X: list) -> tuple[float, float]:
    """The peak of what a short fit allocates, and what was estimated."""
    kind = METHODS[name].kind
    wanted = {"max_iter": 2, "n_clusters": 5, "n_steps": 3}
    model = kind(**{key: value for key, value in wanted.items() if key in kind().get_params()})
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X)
        return tracemalloc.get_traced_memory()[1], model.needs(X).memory
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["complete", "entries", "views", "sparse"])
@pytest.mark.parametrize("name", METHODS)
def test_estimates_are_near_what_a_fit_allocates(name, kind):
    can = METHODS[name].can
    if (kind == "entries" and can.missing != "entries") or (kind == "views" and can.missing == "nothing"):
        pytest.skip("the method takes no such data")
    if name == "RAMC" and kind == "sparse":
        pytest.skip("its neighbours are found in blocks of up to a gibibyte, as scikit-learn is set")
    peak, estimate = allocated(name, views(300, 250, kind))
    assert peak / 2.5 < estimate < 2.5 * peak


def test_the_estimates_of_square_arrays_grow_with_the_square():
    X = views(1000, 10, "complete")
    for name, arrays in {"IMG": 9, "IMLBDR": 5}.items():
        peak, estimate = allocated(name, X)
        assert estimate > arrays * 8 * 1000**2
        assert 0.6 * peak < estimate + 2**25


@pytest.mark.parametrize("name", ["IMG", "IMLBDR", "RPCA", "RRMC"])
def test_a_fit_that_needs_more_than_there_is_is_refused_before_it_starts(name, monkeypatch):
    monkeypatch.setattr("jella.estimators.needs.available_memory", lambda: 2**20)
    X = views(400, 30, "complete")
    model = METHODS[name].kind(max_iter=1)
    with pytest.raises(ValueError, match=rf"{name} needs about .* of memory for 400 samples x 60 .* 1.0 MiB available"):
        model.fit(X)
    assert not hasattr(model, "embedding_")
    with limits_as(Limits(memory=None)), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert model.fit(X).embedding_.shape[0] == 400


def test_a_limit_of_time_and_one_of_memory_can_be_set():
    X = views(400, 30, "complete")
    with (
        limits_as(Limits(memory=10**6)),
        pytest.raises(ValueError, match=r"976.6 KiB allowed.*set_limits\(memory=None"),
    ):
        jella.SparseBDR().fit(X)
    with (
        limits_as(Limits(seconds=1e-9)),
        pytest.raises(ValueError, match=r"set_limits\(seconds=None\).*--max-time none"),
    ):
        jella.SparseBDR().fit(X)


def test_sixty_thousand_samples_are_too_many_for_square_arrays_but_not_for_neighbours(monkeypatch):
    wide = sparse.random_array((60_000, 50), density=0.02, format="csr", rng=np.random.default_rng(0))
    monkeypatch.setattr(limits, "_CGROUPS", ())
    with limits_as(Limits(memory=64 * 2**30)):
        with pytest.raises(ValueError, match=r"IMG needs about 2\d\d\.\d GiB.*use jella.SparseBDR \(about"):
            jella.IMG(n_clusters=3).fit([wide])
        assert jella.SparseBDR().needs([wide]).memory < 2**30


def test_the_command_line_refuses_in_one_sentence_and_goes_on_when_told(tmp_path, capsys):
    np.savez(tmp_path / "two.npz", a=np.random.default_rng(0).uniform(size=(60, 5)), b=np.ones((60, 2)) + np.eye(60, 2))
    words = ["cluster", str(tmp_path / "two.npz"), "--method", "img", "-k", "2", "--no-report", "--quiet"]
    assert main([*words, "-o", str(tmp_path / "out"), "--max-memory", "1kB"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("jella: IMG needs about")
    assert "--max-memory none" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert main([*words, "-o", str(tmp_path / "out"), "--max-memory", "none", "--set", "max_iter=2"]) == 0
    assert main([*words, "-o", str(tmp_path / "no"), "--max-time", "soon"]) == 2
    assert jella.get_limits() == Limits()


def test_info_prints_the_estimates(tmp_path, capsys):
    np.savez(tmp_path / "two.npz", a=np.random.default_rng(0).uniform(size=(60, 5)), b=np.ones((60, 2)))
    assert main(["info", str(tmp_path / "two.npz")]) == 0
    assert "time of a core" in capsys.readouterr().out
    assert main(["info", str(tmp_path / "two.npz"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["needs"]["img"]["memory"] > 0 < record["needs"]["sparse-bdr"]["seconds"]
    assert main(["info", str(tmp_path / "two.npz"), "--max-memory", "1kB"]) == 0
    assert "cannot: img (it needs about" in capsys.readouterr().out
