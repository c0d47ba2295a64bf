"""Tables about fitted models: features of clusters, clusters, loadings; and what plots are drawn from."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind

import jella
from jella.cli.main import main
from jella.describe.affinity import find_affinity
from jella.describe.compared import compare
from jella.describe.heat import find_heat
from jella.describe.markers import marker_columns
from jella.describe.palette import palette
from jella.describe.picture import draw_picture, neighbour_plane
from jella.describe.subject import Fit, Subject
from jella.describe.variance import find_variance
from jella.report import ReportData
from jella.views import read_views


def data(seed=0, n=90):
    """Two named views of three groups, with holes; the last feature of the second is the group itself."""
    rng = np.random.default_rng(seed)
    groups, names = np.arange(n) % 3, [f"s{i}" for i in range(n)]
    a = 3 * rng.normal(size=(3, 6))[groups] + rng.normal(size=(n, 6)) + 100.0
    b = 3 * rng.normal(size=(3, 4))[groups] + rng.normal(size=(n, 4))
    b[:, 3] = groups == 1
    a[rng.random(a.shape) < 0.1] = np.nan
    b[5:15] = np.nan
    views = {"a": pd.DataFrame(a, names, list("uvwxyz")), "b": pd.DataFrame(b, names, list("klmn"))}
    return views, groups


@pytest.fixture(scope="module")
def found():
    return jella.cluster(data()[0], 3)


def test_p_values_are_those_of_welch_and_q_values_those_of_benjamini_and_hochberg(found):
    views, _ = data()
    table = found.markers()
    assert len(table) == 3 * 10
    for row in table.itertuples():
        values, inside = views[row.view][row.feature], found.labels == row.cluster
        one, other = values[inside].dropna(), values[~inside].dropna()
        assert row.mean == pytest.approx(one.mean())
        assert row.other_mean == pytest.approx(other.mean())
        assert row.share_observed == pytest.approx(len(one) / inside.sum())
        assert row.other_share_observed == pytest.approx(len(other) / (~inside).sum())
        assert row.direction == ("higher" if row.effect > 0 else "lower")
        if row.feature != "n":  # which is constant in each cluster
            assert row.p_value == pytest.approx(ttest_ind(one, other, equal_var=False).pvalue, rel=1e-6)
    p = np.sort(table["p_value"])
    steps = np.minimum.accumulate((p * p.size / np.arange(1, p.size + 1))[::-1])[::-1]
    np.testing.assert_allclose(np.sort(table["q_value"]), np.minimum(steps, 1.0))
    assert "same data" in table.attrs["caveat"]


def test_rows_are_ordered_and_cut_after_q_values_are_known(found):
    whole, short = found.markers(), found.markers(2)
    assert short.groupby(["cluster", "view"], sort=False).size().tolist() == [2] * 6
    for key, part in whole.groupby(["cluster", "view"], sort=False):
        strength = part["effect"].abs()
        assert strength.is_monotonic_decreasing
        kept = short[(short["cluster"] == key[0]) & (short["view"] == key[1])]
        assert kept["feature"].tolist() == part["feature"].tolist()[:2]
        assert kept["q_value"].tolist() == part["q_value"].tolist()[:2]


def test_a_feature_that_is_the_cluster_has_the_largest_effect_and_a_finite_one():
    labels, X = np.repeat([0, 1], 10), np.zeros((20, 3))
    X[:, 0], X[:, 1], X[:, 2] = labels, 0.1, np.random.default_rng(0).normal(size=20)
    view = read_views(X)[0]
    table = compare(view, labels, np.arange(2))
    assert np.isfinite(table.difference[:, 0]).all()
    assert 15 < table.difference[1, 0] < 25
    assert np.isnan(table.difference[:, 1]).all()  # a constant
    assert np.isnan(table.p_value[:, 1]).all()
    assert (table.p_value[:, 0] < 1e-100).all()


def test_samples_of_no_cluster_do_not_count(found):
    subject = found.as_subject()
    labels = found.labels.copy()
    labels[::7] = -1
    kept = labels >= 0
    table = compare(subject.views[0], labels, np.arange(3))
    some = compare(subject.views.take(kept)[0], labels[kept], np.arange(3))
    np.testing.assert_allclose(table.difference, some.difference)
    assert np.array_equal(table.other_count, some.other_count)


def test_one_cluster_has_no_markers():
    found = jella.cluster(data()[0], 1, evidence=False)
    with pytest.raises(ValueError, match="at least two clusters to compare, got 1; fit with"):
        found.markers()
    assert found.summary()["size"].tolist() == [90]
    assert found.summary()["features"].tolist() == [""]


def test_summary_counts_what_the_result_says(found):
    table, (views, _) = found.summary(), data()
    assert table.index.tolist() == [0, 1, 2]
    assert table["size"].tolist() == found.sizes.tolist()
    assert table["share"].sum() == pytest.approx(1.0)
    own = found.probabilities[np.arange(90), found.labels]
    for c in range(3):
        inside = found.labels == c
        assert table.loc[c, "mean_probability"] == pytest.approx(own[inside].mean())
        assert table.loc[c, "n_uncertain"] == np.sum(own[inside] < 0.6)
        assert table.loc[c, "lacks_b"] == pytest.approx(views["b"][inside].isna().all(axis=1).mean())
        assert table.loc[c, "missing_a"] == pytest.approx(views["a"][inside].isna().to_numpy().mean())
        best = found.markers().query("cluster == @c").assign(size=lambda t: t["effect"].abs()).nlargest(1, "size")
        assert table.loc[c, "features"].startswith(f"{best['feature'].item()} of {best['view'].item()} ")
    assert table["found_again"].to_numpy() == pytest.approx(found.evidence.confidence.by_cluster)


def test_noise_has_a_row_of_its_own():
    rng = np.random.default_rng(1)
    far = {name: 20 * rng.normal(size=(3, view.shape[1])) for name, view in data()[0].items()}
    X = {name: np.concatenate([view.to_numpy(), far[name]]) for name, view in data()[0].items()}
    found = jella.cluster(X, 3, noise=True)
    table = found.summary()
    assert (found.labels == -1).any()
    assert table.loc[-1, "size"] == (found.labels == -1).sum()
    assert table["size"].sum() == 93
    assert table.loc[-1, "features"] == ""
    assert set(found.markers()["cluster"]) == {0, 1, 2}


def test_results_of_turned_tables_and_dask_collections():
    views, _ = data()
    turned = jella.cluster({name: view.T for name, view in views.items()}, 3, samples="columns", evidence=False)
    assert turned.markers().equals(jella.cluster(views, 3, evidence=False).markers())
    da = pytest.importorskip("dask.array")
    full = {name: da.from_array(np.nan_to_num(view.to_numpy()), chunks=(30, -1)) for name, view in views.items()}
    with pytest.raises(ValueError, match="expected samples in memory, got a Dask collection; compute some"):
        jella.cluster(full, 3).markers()


def test_loadings_are_the_bases_with_names(found):
    tables = found.loadings()
    assert list(tables) == ["a", "b"]
    assert tables["a"].index.tolist() == list("uvwxyz")
    assert tables["b"].columns.tolist() == found.model.get_feature_names_out().tolist()
    assert np.array_equal(tables["b"].to_numpy(), found.model.bases_["b"])
    plain = jella.MVLIV(n_components=2, random_state=0).fit([view.to_numpy() for view in data()[0].values()])
    assert plain.loadings()["view1"].index.tolist() == [0, 1, 2, 3]
    assert not hasattr(jella.RAMC(3), "loadings")


def test_without_pandas_a_hint_says_what_to_install(monkeypatch):
    found = jella.cluster([view.to_numpy() for view in data()[0].values()], 3, evidence=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    for table in (found.markers, found.summary, found.loadings):
        with pytest.raises(ImportError, match="run pip install 'jella\\[pandas\\]'"):
            table()


def test_cluster_writes_features(tmp_path, capsys):
    views, _ = data()
    for name, view in views.items():
        (tmp_path / "in").mkdir(exist_ok=True)
        view.rename_axis("sample").to_csv(tmp_path / "in" / f"{name}.csv")
    words = ["cluster", tmp_path / "in", "-k", "3", "--no-report", "--no-calibrate"]
    assert main([*map(str, words), "-o", str(tmp_path / "out")]) == 0
    written = pd.read_csv(tmp_path / "out" / "features.csv")
    expected = jella.cluster({name: views[name] for name in sorted(views)}, 3).markers(100)
    pd.testing.assert_frame_equal(written, expected, check_dtype=False, check_exact=False)


def test_heat_tables_never_mix_clusters_and_keep_holes(found, monkeypatch):
    import jella.describe.heat as heat

    subject = found.as_subject()
    table = find_heat(subject, 2)
    assert table.values.shape == (4, 90)
    assert table.views == ("a", "a", "b", "b")
    assert "n" in table.features
    order = np.argsort(found.labels, kind="stable")
    raw = data()[0]["a"][table.features[0]].to_numpy()[order]
    assert np.array_equal(np.isnan(table.values[0]), np.isnan(raw))
    np.testing.assert_allclose(table.values[0], (raw - np.nanmean(raw)) / np.nanstd(raw))
    monkeypatch.setattr(heat, "MOST_COLUMNS", 7)
    few = find_heat(subject, 2)
    assert few.values.shape[1] < 11
    assert few.sizes.sum() == 90
    at = np.cumsum(few.sizes) - few.sizes
    for start, size, cluster in zip(at, few.sizes, few.clusters, strict=True):
        assert set(found.labels[order][start : start + size]) == {cluster}
    seen = raw[: few.sizes[0]]
    assert few.values[0, 0] == pytest.approx((np.nanmean(seen) - np.nanmean(raw)) / np.nanstd(raw))


def test_a_fit_without_its_data_knows_what_was_dropped():
    X = data()[0]["a"].to_numpy().copy()
    X[4] = np.nan
    model = jella.MVLIV(3, random_state=0, on_empty="drop").fit([X, X])
    fit, subject = Fit.of_model(model), Subject.of(model, [X, X])
    for one in (fit, subject):
        assert np.flatnonzero(~one.kept).tolist() == [4]
        assert one.names[4] == "4"
    assert draw_picture(fit, []).rows.size == 89


def test_maps_of_few_samples_and_of_unknown_kinds():
    assert neighbour_plane(np.eye(3), "tsne", 0).shape == (3, 2)
    assert neighbour_plane(np.random.default_rng(0).normal(size=(20, 4)), "tsne", 0).shape == (20, 2)
    with pytest.raises(ValueError, match="got 'isomap'; pass for example 'tsne'"):
        neighbour_plane(np.eye(3), "isomap", 0)


def test_colours_differ():
    assert len(set(palette(50))) == 50
    assert palette(3) == palette(50)[:3]


def test_markers_of_a_model_beside_its_views():
    views, _ = data()
    model = jella.MVLIV(3, random_state=0).fit(views)
    columns = marker_columns(Subject.of(model, views), 1)
    assert columns["cluster"].tolist() == [0, 0, 1, 1, 2, 2]


def test_the_affinity_of_a_model_with_landmarks_is_that_of_its_landmarks():
    views = {name: view.to_numpy() for name, view in data()[0].items()}
    model = jella.SparseBDR(3, landmarks=40, evidence=False, random_state=0).fit(views)
    found = find_affinity(Subject.of(model, views))
    assert found.edges[-1] == model.affinity_.shape[0] == 40
    assert found.source == "the affinity that SparseBDR has learned, of its landmarks"
    assert found.modularity > 0.3
    W, view = model.result_.blocks.embedding, model.scaling_.apply(Subject.of(model, views).related().used())[0]
    rest = view.mask * (view.X - W @ model.bases_["a"].T)
    assert find_variance(Subject.of(model, views)).total[0] == pytest.approx(1 - np.sum(rest**2) / np.sum(view.X**2))
    batches = jella.SparseBDR(3, evidence=False, random_state=0).partial_fit({n: X[:60] for n, X in views.items()})
    last = {name: X[60:] for name, X in views.items()}
    assert find_affinity(Fit.of_model(batches.partial_fit(last))).edges[-1] == 30
    with pytest.raises(ValueError, match="expected the samples that the model was fitted on"):
        Subject.of(batches, last)
    data_of_report = ReportData.of(model, views, held_out=False)
    np.testing.assert_allclose(
        data_of_report.probabilities.own, model.label_probabilities_[np.arange(90), model.labels_]
    )


def test_a_map_does_not_depend_on_the_threads_that_are_allowed(monkeypatch, rng):
    """Threads change the last digits of t-SNE, and its picture with them."""
    from sklearn.manifold import TSNE
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
    from threadpoolctl import threadpool_limits

    seen, fit_transform = [], TSNE.fit_transform
    monkeypatch.setattr(
        TSNE, "fit_transform", lambda *given: seen.append(_openmp_effective_n_threads()) or fit_transform(*given)
    )
    W, maps = rng.normal(size=(60, 4)), []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            maps.append(neighbour_plane(W, "tsne", 0))
    assert seen == [1, 1]
    np.testing.assert_array_equal(*maps)
