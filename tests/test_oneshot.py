"""One call: what comes back, in which container, and what a prompt shows of it."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from common import SETTINGS, holed
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import jella
from jella.model_selection import HeldOut, held_out_error


def low_rank(n=90, widths=(12, 8, 10), groups=3, seed=0):
    """Groups on a plane of rank 4, with little noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % groups
    W = 3.0 * rng.normal(size=(groups, 4))[y] + rng.normal(size=(n, 4))
    return [W @ rng.normal(size=(4, d)) + 0.1 * rng.normal(size=(n, d)) for d in widths], y


def incomplete(setting="incomplete-view", rate=0.3, **options):
    views, y = low_rank(**options)
    return jella.datasets.make_incomplete(views, rate, setting, random_state=0), y


def framed(views):
    """DataFrames that lack the samples whose row is all NaN, each in an order of its own."""
    index = [f"s{i}" for i in range(len(views[0]))]
    frames = [pd.DataFrame(X, index=index).dropna(how="all").add_prefix("f") for X in views]
    return {f"part {v}": frame.sample(frac=1.0, random_state=v) for v, frame in enumerate(frames)}


def assert_kept(before, after):
    seen = ~np.isnan(before)
    assert np.array_equal(before[seen], after[seen])
    assert not np.isnan(after).any()


# cluster


@pytest.mark.parametrize("k", [None, 3])
def test_cluster_is_the_recommended_model(k):
    views, y = incomplete()
    found = jella.cluster(views, k)
    model = jella.SparseBDR(k, random_state=0).fit(views)
    np.testing.assert_array_equal(found.labels, model.labels_)
    np.testing.assert_array_equal(found.embedding, model.embedding_)
    assert found.n_clusters == model.n_clusters_ == found.sizes.size
    np.testing.assert_array_equal(found.sizes, np.bincount(found.labels))
    assert found.sample_names is None
    assert adjusted_rand_score(y, found.labels) > 0.5
    assert f"({'chosen' if k is None else 'given'})" in repr(found)
    assert f"{found.n_clusters} cluster" in repr(found).splitlines()[0]


def test_settings_reach_the_model():
    views, _ = incomplete()
    found = jella.cluster(views, 3, n_components=5, scale="standardize", random_state=7)
    assert found.embedding.shape == (90, 5)
    assert found.model.random_state == 7
    assert found.model.scaling_.kinds == ("standardize",) * 3
    done = jella.complete(views, n_components=4, n_clusters=3, estimate_error=False, calibrate=False)
    assert done.model.n_components == 4
    assert done.model.n_clusters_ == 3
    with pytest.raises(TypeError, match="n_neighbours"):
        jella.cluster(views, n_neighbours=4)
    with pytest.raises(ValueError, match="n_clusters=91"):
        jella.cluster(views, 91)


def test_repr_tells_what_matters_in_aligned_lines():
    views, _ = incomplete()
    named = dict(zip(("rna", "protein", "a name that nobody would want to read in full"), views, strict=True))
    found = jella.cluster(named, 3)
    lines = repr(found).splitlines()
    assert len(lines) == 9
    assert lines[2].startswith("  evidence    clear clusters: 3; modularity ")
    assert lines.pop(2) == f"  evidence    {found.evidence.path.words()}"
    assert lines.pop(2).startswith(f"  uncertain   {found.uncertain().size} sample")
    assert lines[0] == "Clustering of 90 samples: 3 clusters (given)"
    assert lines[1].split(maxsplit=1)[1] == ", ".join(map(str, sorted(found.sizes, reverse=True)))
    assert 0.2 < found.modularity < 1
    assert lines[2].split() == ["view", "features", "missing", "scaling", "weight"]
    for line, X, scale in zip(lines[3:6], views, found.model.scaling_.scales, strict=True):
        rest = (str(X.shape[1]), f"{100 * np.isnan(X).mean():.1f}%", scale.kind, f"{scale.root_weight**2:.2f}")
        assert tuple(line.split()[-4:]) == rest
    assert len({len(line) for line in lines[2:6]}) == 1
    assert max(map(len, lines)) < 100
    assert lines[5].startswith("  a name that nobody woul… ")
    assert re.fullmatch(r"  \d+ sweeps?, \d+\.\d s", lines[6])


def test_repr_says_modularity_once_and_which_samples_evidence_is_from():
    views, _ = incomplete()
    found = jella.cluster(views, 3, evidence=False)
    assert re.search(rf"^  modularity  {found.modularity:.2f} ", repr(found), re.MULTILINE)
    part = jella.SparseBDR(3, random_state=0).fit(views).gather_evidence(most_samples=60)
    some = repr(replace(found, evidence=part))
    assert some.count("modularity") == 1
    assert f"  evidence    {part.path.words()} (from 60 of 90 samples, drawn at random)\n" in some


def test_samples_that_belong_nowhere_are_said_to(rng):
    groups = np.repeat(np.arange(4), 40)
    centres = [2.2 * rng.normal(size=(4, d)) for d in (20, 15)]
    views = [C[groups] + rng.normal(size=(160, C.shape[1])) for C in centres]
    views = [np.vstack([X, 4.0 * rng.normal(size=(8, X.shape[1]))]) for X in views]
    found = jella.cluster(views, 4, noise=True)
    assert (found.labels[160:] == -1).mean() > 0.8
    assert (found.labels[:160] == -1).mean() < 0.05
    np.testing.assert_array_equal(found.labels == -1, found.model.belongs_nowhere())
    assert found.sizes.sum() == (found.labels >= 0).sum()
    assert f"; {(found.labels == -1).sum()} samples in no cluster\n" in repr(found)
    assert (np.asarray(jella.cluster(views, 4).labels) >= 0).all()


def test_few_samples_are_clustered_by_the_graph_alone(rng):
    found = jella.cluster([rng.normal(size=(15, 4))])
    assert found.evidence is None
    assert "by the graph alone; not compared with data without clusters" in repr(found)


def test_repr_stays_short_with_many_views_and_clusters():
    views, _ = low_rank(n=60, widths=(6,) * 9)
    lines = repr(jella.cluster(views, 14)).splitlines()
    assert len(lines) <= 14
    assert lines[1].endswith(" … and 4 more")
    assert lines[1].count(",") == 9
    assert "  … and 4 more views" in lines
    done = repr(jella.complete(views, n_clusters=3, estimate_error=False, calibrate=False)).splitlines()
    assert len(done) <= 12
    assert done.index("  … and 4 more views") + 1 == next(i for i, line in enumerate(done) if line.startswith("  all"))


def test_frames_give_a_frame_of_samples():
    views, _ = incomplete("missing-view")
    frames = framed(views)
    found = jella.cluster(frames, 3)
    frame = found.as_frame()
    assert frame.index.equals(found.sample_names)
    assert set(frame.index) == {f"s{i}" for i in range(90)}
    assert frame.columns[0] == "cluster"
    assert frame.shape == (90, 4 + found.embedding.shape[1])
    np.testing.assert_array_equal(frame["cluster"], found.labels)
    np.testing.assert_array_equal(frame["probability"], found.probabilities[np.arange(90), found.labels])
    assert (frame["next_cluster"] != frame["cluster"]).all()
    np.testing.assert_array_equal(frame.iloc[:, 4:], found.embedding)
    # the samples that a frame lacks count as missing
    assert found.n_missing == {name: (90 - len(one)) * one.shape[1] for name, one in frames.items()}
    completed = found.complete()
    for name, one in frames.items():
        assert completed[name].loc[one.index].equals(one)
        assert set(completed[name].index) == set(frame.index)
        assert not completed[name].isna().any(axis=None)


def test_as_frame_without_names_counts_the_samples(monkeypatch):
    views, _ = incomplete()
    found = jella.cluster(views, 3)
    assert found.as_frame().index.tolist() == list(range(90))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'jella\[pandas\]'"):
        found.as_frame()


def test_samples_without_any_value_are_told():
    views, _ = incomplete()
    for X in views:
        X[[3, 8]] = np.nan
    with pytest.raises(ValueError, match="missing in every view"):
        jella.cluster(views, 3)
    found = jella.cluster(views, 3, on_empty="drop")
    assert found.labels[[3, 8]].tolist() == [-1, -1]
    assert found.sizes.sum() == 88
    assert "90 samples, 2 without any value left out" in repr(found)
    done = jella.complete(views, on_empty="drop")
    assert done.n_filled == {f"view{v}": int(np.isnan(X).sum()) - 2 * X.shape[1] for v, X in enumerate(views)}
    assert all(np.isnan(Y[[3, 8]]).all() and np.isnan(Y).sum() == 2 * Y.shape[1] for Y in done.views)
    assert done.error < done.mean_error


# complete


@pytest.mark.parametrize("setting", SETTINGS)
def test_complete_predicts_hidden_values_and_says_how_well(setting):
    full, _ = low_rank()
    views = jella.datasets.make_incomplete(full, 0.3, setting, random_state=0)
    before = [X.copy() for X in views]
    done = jella.complete(views)
    assert isinstance(done.views, list)
    for X, old, Y in zip(views, before, done.views, strict=True):
        np.testing.assert_array_equal(X, old)
        assert_kept(X, Y)
    assert done.n_filled == {f"view{v}": int(np.isnan(X).sum()) for v, X in enumerate(views)}
    assert done.error < 0.6 * done.mean_error
    assert all(done.error_by_view[name] < 0.8 * done.mean_error_by_view[name] for name in done.n_filled)
    assert 0.8 < done.mean_error < 1.3
    # the estimate is near the truth
    hidden = [np.isnan(X) for X in views]
    assert done.error == pytest.approx(HeldOut().score(full, done.views, hidden), rel=0.4, abs=0.1)


def test_without_calibration_the_error_is_that_of_the_same_model():
    views, _ = incomplete()
    done = jella.complete(views, random_state=3, n_components=6, calibrate=False)
    split = HeldOut(random_state=3)
    same = held_out_error(jella.SparseBDR(n_components=6, random_state=3, calibrate=False), views, split)
    assert done.error == pytest.approx(same, rel=1e-9)
    ((with_holes, hidden),) = split.split(views)
    filled = [np.where(np.isnan(X), np.nanmean(X, axis=0), X) for X in with_holes]
    assert done.mean_error == pytest.approx(split.score(views, filled, hidden), rel=1e-9)
    assert done.standard_error is None


def test_repr_of_a_completion():
    views, _ = incomplete()
    named = dict(zip(("rna", "protein", "image"), views, strict=True))
    done = jella.complete(named)
    lines = repr(done).splitlines()
    total = sum(done.n_filled.values())
    assert lines[0] == f"Completion of 90 samples: {total:,} entries filled"
    by_view = (done.error_by_view, done.standard_error_by_view, done.mean_error_by_view)
    for line, (name, X) in zip(lines[2:5], named.items(), strict=True):
        share = f"{100 * np.isnan(X).mean():.1f}%"
        assert line.split() == [name, "real", str(done.n_filled[name]), share, *(f"{one[name]:.3f}" for one in by_view)]
    assert lines[5].split()[0] == "all"
    overall = (done.error, done.standard_error, done.mean_error)
    assert lines[5].split()[3:] == [f"{one:.3f}" for one in overall]
    assert len({len(line) for line in lines[1:6]}) == 1
    assert "no better" not in repr(done)
    assert re.fullmatch(r"  \d+ sweeps?, \d+\.\d s", lines[-1])


def test_noise_is_answered_by_the_mean_and_that_is_said(rng):
    full = [rng.normal(size=(150, 8)) for _ in range(2)]
    views = jella.datasets.make_incomplete(full, 0.3, random_state=0)
    done = jella.complete(views, n_clusters=10)
    assert done.imputed_by_mean == ["view0", "view1"]
    assert done.error == done.mean_error
    for X, Y in zip(views, done.views, strict=True):
        np.testing.assert_allclose(Y[np.isnan(X)], np.broadcast_to(np.nanmean(X, axis=0), X.shape)[np.isnan(X)])
    assert "no better than the mean" in repr(done)
    assert "nothing predicts views 'view0', 'view1' better than the mean" in repr(done)


def test_the_estimate_can_be_left_out():
    views, _ = incomplete()
    done = jella.complete(views, estimate_error=False)
    assert done.error is done.mean_error is done.error_by_view is done.mean_error_by_view is None
    assert "error not estimated" in repr(done)
    np.testing.assert_array_equal(done.views[0], jella.complete(views).views[0])


def test_what_cannot_be_estimated_says_so():
    views = [np.ones((12, 3)), np.ones((12, 2))]
    views[0][0] = np.nan
    done = jella.complete(views, n_clusters=2)
    np.testing.assert_allclose(done.views[0], 1.0)
    assert done.error is None
    assert "the error is not known: expected hidden values of features that vary" in repr(done)


def test_an_interrupted_fit_is_kept_and_not_repeated():
    views, _ = incomplete()
    calls = []

    def stop(progress):
        calls.append(progress)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        done = jella.complete(views, callback=stop)
    assert done.error is None
    assert len(calls) == 2
    assert_kept(views[0], done.views[0])


# containers


def as_sparse(views):
    return [sparse.csr_array(np.where(X > 0.5, X, 0.0)) for X in views]


@pytest.mark.parametrize("container", ["list", "tuple", "dict", "single", "frame"])
def test_containers_come_back_as_they_went_in(container):
    views = holed("incomplete-view", n=60)
    make = {
        "list": list,
        "tuple": tuple,
        "dict": lambda all_views: {"b": all_views[0], 1: all_views[1]},
        "single": lambda all_views: all_views[0],
        "frame": lambda all_views: pd.DataFrame(all_views[0]).add_prefix("f"),
    }[container]
    if container in ("single", "frame"):
        views = [np.hstack([np.ones((60, 1)), views[0]])]  # no sample without any value
    X = make(views)
    found, done = jella.cluster(X, 3), jella.complete(X, n_clusters=3, calibrate=False)
    np.testing.assert_array_equal(found.labels, jella.SparseBDR(3, random_state=0).fit(X).labels_)
    for completed in (found.complete(), done.views):
        assert type(completed) is type(X)
        if container == "dict":
            assert list(completed) == list(X)
        pairs = {"dict": zip(X.values(), completed.values(), strict=True)} if container == "dict" else {}
        pairs |= {"list": zip(X, completed, strict=False), "tuple": zip(X, completed, strict=False)}
        for before, after in pairs.get(container, [(X, completed)]):
            assert_kept(np.asarray(before), np.asarray(after))
    if container == "frame":
        assert done.views.columns.equals(X.columns)
    if container in ("single", "frame"):
        assert list(done.n_filled) == ["view"]
        assert "  all" not in repr(done)


def test_frames_are_completed_by_their_index():
    views, _ = incomplete("missing-view")
    frames = framed(views)
    before = {name: frame.copy() for name, frame in frames.items()}
    done = jella.complete(frames)
    for name, frame in frames.items():
        assert frame.equals(before[name])
        assert done.views[name].loc[frame.index].equals(frame)
        assert len(done.views[name]) == 90
        assert done.n_filled[name] == (90 - len(frame)) * frame.shape[1]
    assert done.error < 0.6 * done.mean_error


def test_sparse_views_stay_sparse():
    full, _ = low_rank()
    views = jella.datasets.make_incomplete(as_sparse(full), 0.3, random_state=0)
    found, done = jella.cluster(views, 3), jella.complete(views, n_clusters=3)
    assert found.model.scaling_.kinds == ("root",) * 3
    for X, Y, Z in zip(views, done.views, found.complete(), strict=True):
        assert sparse.issparse(Y)
        assert_kept(X.toarray(), Y.toarray())
        assert_kept(X.toarray(), Z.toarray())
    assert done.error < done.mean_error


def test_masks_stand_for_nan():
    views, _ = incomplete()
    observed = [~np.isnan(X) for X in views]
    junk = [np.where(seen, X, 1e6) for X, seen in zip(views, observed, strict=True)]
    by_nan, by_mask = jella.cluster(views, 3), jella.cluster(junk, 3, observed=observed)
    np.testing.assert_array_equal(by_nan.labels, by_mask.labels)
    assert by_nan.n_missing == by_mask.n_missing
    one = jella.complete(views, n_clusters=3, calibrate=False)
    other = jella.complete(junk, observed=observed, n_clusters=3, calibrate=False)
    assert one.error == pytest.approx(other.error)
    assert one.mean_error == pytest.approx(other.mean_error)
    for X, Y in (*zip(one.views, other.views, strict=True), *zip(by_nan.complete(), by_mask.complete(), strict=True)):
        np.testing.assert_allclose(X, Y)


def test_the_functions_are_public_and_hidden_by_no_module():
    import importlib.util

    for name in ("cluster", "complete"):
        assert name in jella.__all__
        assert callable(getattr(jella, name))
        assert importlib.util.find_spec(f"jella.{name}") is None
