"""The report: its numbers without HTML, and its page without a browser."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from common import holed, make, planted
from scipy import sparse
from sklearn.metrics import silhouette_samples

import jella
from jella.describe.affinity import AffinityMap
from jella.describe.colouring import of_column
from jella.describe.compared import compare
from jella.describe.palette import palette
from jella.describe.subject import Absent
from jella.estimators.base import BaseMultiView
from jella.model_selection.against_mean import errors_against_mean
from jella.numerics.words import percent
from jella.oneshot.completed import Completed
from jella.problem.terms.base import concrete_subclasses
from jella.report import ReportData, write_report
from jella.report.cluster_figures import affinity_figure
from jella.report.figures import all_figures
from jella.report.model_figures import prediction_figure
from jella.report.model_sections import prediction_section, variance_section
from jella.report.page import render
from jella.report.predictions import Prediction, Predictions, true_range
from jella.report.sampling import some_rows
from jella.views import read_views

HOSTILE = '</script><img src="x" onerror="alert(1)">&amp;'
PARTS = ("convergence", "maps", "affinity", "stability", "predictions", "variance", "markers", "associations")
PARTS += ("evidence", "probabilities")


@pytest.fixture(autouse=True)
def quick_maps(monkeypatch):
    """Maps by neighbours take longer than all else; the tests in a browser draw them."""
    monkeypatch.setattr("jella.describe.picture.neighbour_plane", lambda W, method, seed: W[:, [0, -1]])


def _every_kind():
    kinds = {kind for kind in concrete_subclasses(BaseMultiView) if kind.__module__.startswith("jella.")}
    return sorted((kind for kind in kinds if not kind.__name__.startswith("Base")), key=lambda kind: kind.__name__)


def _fitted(kind, n_clusters=3):
    views = holed("missing-view") if kind is not jella.RAMC else planted()
    rounds = 100 if kind is jella.RAMC else 5
    return make(kind, n_clusters=n_clusters, random_state=0, max_iter=rounds, tol=0.0).fit(views), views


class _Page(HTMLParser):
    """Elements of a page, with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def count(self, tag):
        return sum(name == tag for name, _ in self.found)


@pytest.mark.parametrize("kind", _every_kind(), ids=lambda kind: kind.__name__)
def test_every_estimator_has_a_report(kind):
    model, views = _fitted(kind)
    data = ReportData.of(model, views)
    page = _Page(render(data))
    drawn = [attrs["id"] for tag, attrs in page.found if attrs.get("class") == "plot"]
    lacks = {part for part in PARTS if isinstance(getattr(data, part), Absent)}
    without_section = lacks - {"stability"} | (set() if hasattr(model, "labels_") else {"clusters"})
    assert page.count("section") == 13 - len(without_section)
    assert ("plot-embedding" in drawn) == (not isinstance(data.maps, Absent))
    assert set(drawn) - {"plot-embedding"} == set(all_figures(data))
    expected = set()
    if not hasattr(model, "labels_"):
        expected |= {"stability", "markers", "associations"}
    if not hasattr(model, "complete"):
        expected.add("predictions")
    if not hasattr(model, "bases_"):
        expected |= {"variance", "associations"}
    if not hasattr(model, "gather_evidence"):
        expected |= {"evidence", "probabilities"}
    assert lacks == expected
    assert all(getattr(data, part).reason.endswith(".") for part in lacks)


def test_models_without_clusters_say_so():
    model, views = _fitted(jella.MVLIV, n_clusters=None)
    data = ReportData.of(model, views)
    assert data.clusters.size == 0
    assert isinstance(data.markers, Absent)
    assert "No clusters were asked for." in data.summary
    assert "This model has no clusters." in render(data)


def test_nothing_is_modified_and_the_numbers_are_the_same_again():
    model, views = _fitted(jella.SparseBDR)
    before = [view.copy() for view in views], model.labels_.copy(), model.get_params()
    one, other = (ReportData.of(model, views) for _ in range(2))
    for view, copy in zip(views, before[0], strict=True):
        np.testing.assert_array_equal(view, copy)
    np.testing.assert_array_equal(model.labels_, before[1])
    assert model.get_params() == before[2]
    assert one.summary == other.summary
    np.testing.assert_array_equal(one.stability.by_cluster, other.stability.by_cluster)
    np.testing.assert_array_equal(one.probabilities.own, other.probabilities.own)
    np.testing.assert_array_equal(one.predictions.by_view[0].true, other.predictions.by_view[0].true)


def test_what_is_missing():
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(500, 4)), "b": rng.normal(size=(500, 2))}
    views["b"][:100] = np.nan
    views["a"][200, :2] = np.nan
    found = ReportData.of(jella.MVLIV(n_components=2, max_iter=3, tol=0).fit(views), views, held_out=False).missing
    assert [(p.present, p.count) for p in found.patterns] == [((True, True), 400), ((True, False), 100)]
    assert found.views[0].missing == pytest.approx(2 / 2000)
    assert found.views[1].missing == pytest.approx(0.2)
    assert found.missing == pytest.approx(202 / 3000)
    assert found.has_entries
    assert found.is_binned
    assert found.share.shape == (2, 400)
    weights = np.diff(found.edges)
    np.testing.assert_allclose(found.share @ weights / 500, [1 - 2 / 2000, 0.8])
    assert set(found.order[:400]) == set(range(100, 500))


@pytest.mark.parametrize("setting", ["missing-view", "incomplete-view"])
def test_explained_shares_are_those_of_the_formula(setting):
    views = holed(setting)
    model = jella.MVLIV(n_components=3, scale="none", max_iter=20, tol=0).fit(views)
    found = ReportData.of(model, views, held_out=False).variance
    W = model.embedding_
    for v, (X, U) in enumerate(zip(views, model.bases_, strict=True)):
        whole = np.nansum(X**2)
        alone = [1 - np.nansum((X - np.outer(W[:, j], U[:, j])) ** 2) / whole for j in range(3)]
        np.testing.assert_allclose(found.by_component[v], alone, atol=1e-10)
        assert found.total[v] == pytest.approx(1 - np.nansum((X - W @ U.T) ** 2) / whole)
        top = found.loadings[0][v][0]
        assert top.feature == f"feature {np.abs(U[:, 0]).argmax()}"
        assert abs(top.weight) == pytest.approx(np.abs(U[:, 0]).max())


def test_components_are_numbered_from_0_as_columns_of_the_loadings():
    views = holed("missing-view")
    model = jella.MVLIV(n_components=3, max_iter=5, tol=0, random_state=0).fit(views)
    data = ReportData.of(model, views, held_out=False)
    assert all_figures(data)["plot-variance"]["data"][0]["x"] == ["0", "1", "2"]
    table = str(variance_section(data.variance, data)).partition("<tbody>")[2]
    assert [row.partition("</th>")[0].rpartition(">")[2] for row in table.split("<tr>")[1:]] == ["0", "1", "2"]


def test_features_that_distinguish_clusters_are_standardised_mean_differences(rng):
    labels = np.repeat([0, 1, 2, -1], [10, 12, 9, 3])
    X = rng.poisson(2.0, (34, 6)).astype(float) + 1e3
    X[labels == 1, 4] += 9.0
    X[:, 5] = 7.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[labels == 2, 3] = np.nan
    found = compare(read_views(X)[0], labels, np.arange(3)).difference
    inside, rest = (x[~np.isnan(x)] for x in (X[labels == 1, 4], X[(labels == 0) | (labels == 2), 4]))
    freedom = inside.size + rest.size - 2
    spread = np.sqrt((inside.var() * inside.size + rest.var() * rest.size) / freedom)
    assert found[1, 4] == pytest.approx((inside.mean() - rest.mean()) / spread)
    assert np.nanargmax(np.abs(found[1])) == 4
    assert np.isnan(found[:, 5]).all()
    assert np.isnan(found[2, 3])


def test_sparse_views_give_the_same_markers_and_are_never_dense_as_a_whole(rng, monkeypatch):
    labels = np.arange(60) % 3
    X = rng.poisson(0.2, (60, 50)).astype(float) + (labels[:, None] == np.arange(50) % 3) * rng.poisson(1.0, (60, 50))
    other = rng.poisson(1.0, (60, 8)).astype(float) + 3 * (labels[:, None] == np.arange(8) % 3)
    dense = compare(read_views(X)[0], labels, np.arange(3)).difference
    np.testing.assert_allclose(compare(read_views(sparse.csr_array(X))[0], labels, np.arange(3)).difference, dense)
    views = {"words": sparse.csr_array(X), "other": other}
    model = jella.SparseBDR(3, calibrate=False, random_state=0).fit(views)
    to_dense, shapes = sparse.csr_array.toarray, []
    monkeypatch.setattr(sparse.csr_array, "toarray", lambda self: shapes.append(self.shape) or to_dense(self))
    data = ReportData.of(model, views)
    assert (60, 50) not in shapes
    assert {p.view for p in data.predictions.by_view} == {"words", "other"}
    assert data.predictions.by_view[0].unit == "root mean squares of the view"


def test_errors_on_hidden_values_are_those_of_held_out():
    digits = jella.datasets.load_digits_views()
    full = {name: pd.DataFrame(view[:150]) for name, view in digits.data.items()}
    views = jella.datasets.make_incomplete(full, 0.3, random_state=0)
    model = jella.SparseBDR(10, calibrate=False, random_state=3).fit(views)
    data = ReportData.of(model, views)
    ours, means = errors_against_mean(model, views)
    for found in data.predictions.by_view:
        assert found.error == pytest.approx(ours[1][found.view])
        assert found.mean_error == pytest.approx(means[1][found.view])
        assert found.gain == pytest.approx(1 - (found.error / found.mean_error) ** 2)
        assert found.n_hidden >= found.true.size == found.predicted.size
        assert np.corrcoef(found.true, found.predicted)[0, 1] > 0.5
    assert isinstance(ReportData.of(model, views, held_out=False).predictions, Absent)
    assert "second model" in data.predictions.measured


def test_errors_of_a_calibrated_model_are_those_that_it_has_learned(rng, monkeypatch):
    views = {f"view{v}": view for v, view in enumerate(holed("incomplete-view", n=60))} | {
        "noise": rng.normal(size=(60, 5))
    }
    views["noise"][rng.random((60, 5)) < 0.2] = np.nan
    model = jella.SparseBDR(3, random_state=0).fit(views)
    model.learn_completion()
    monkeypatch.setattr("jella.report.predictions.refit", None)  # no second fit
    data = ReportData.of(model, views, held_out=False)
    for found, known, (true, answer) in zip(
        data.predictions.by_view, model.imputer_.by_view, model.imputer_.examples, strict=True
    ):
        assert (found.error, found.mean_error) == (known.error, known.mean_error)
        assert found.standard_error == known.standard_error > 0
        assert found.n_hidden == known.n_values
        np.testing.assert_array_equal(found.true, true)
        np.testing.assert_array_equal(found.predicted, answer)
    assert [p.by_mean for p in data.predictions.by_view] == [False, False, False, True]
    says = "othing predicts view 'noise' better than the mean of each feature"
    assert any(w.section == "completion" and says in w.words for w in data.warnings)
    assert not any("Do not rely" in w.words for w in data.warnings)
    page = render(data)
    assert f"hidden {model.imputer_.n_trials} times" in page
    for text in ("standard error", "0%, means", "amount", "real", "N" + says.replace("'", "&#x27;")):
        assert text in page


def test_the_band_holds_nine_tenths_of_the_true_values(rng):
    predicted = rng.normal(size=500)
    true = predicted + rng.normal(size=500)
    sizes, low, high = true_range(true, predicted)
    assert np.all(np.diff(sizes) > 0)
    inside = (true > np.interp(predicted, sizes, low)) & (true < np.interp(predicted, sizes, high))
    assert 0.8 < inside.mean() < 0.97
    assert true_range(true[:50], predicted[:50]) is None
    assert true_range(true, np.zeros(500)) is None


def test_clusters_that_follow_what_is_missing_are_warned_of():
    views = planted(n=120)
    model = jella.MVLIV(3, random_state=0, scale="none", max_iter=30, tol=0)
    views[1][np.arange(120) % 3 == 0] = np.nan  # the groups are the samples' positions modulo three
    data = ReportData.of(model.fit(views), views, held_out=False)
    strong = {a.view: a for a in data.associations if a.is_strong}
    assert set(strong) == {"view1"}
    assert sorted(strong["view1"].by_cluster) == pytest.approx([0, 1, 1], abs=0.1)
    assert any(w.section == "association" and "not missing at random" in w.words for w in data.warnings)

    views = holed("missing-view", n=120)
    data = ReportData.of(model.fit(views), views, held_out=False)
    assert not any(a.is_strong for a in data.associations)
    assert not any(w.section == "association" for w in data.warnings)


def test_missing_entries_that_follow_clusters_are_warned_of(rng):
    views = planted(n=120)
    often = np.arange(120) % 3 == 0
    views[0][(rng.random(views[0].shape) < 0.4) & often[:, None]] = np.nan
    data = ReportData.of(jella.MVLIV(3, random_state=0, max_iter=30, tol=0).fit(views), views, held_out=False)
    assert [(a.view, a.kind, a.is_strong) for a in data.associations] == [("view0", "entries", True)]
    assert any("how much of view view0 is missing" in w.words for w in data.warnings)


def test_clear_clusters_are_stable_and_chance_ones_are_not(rng):
    clear = planted(n=90)
    data = ReportData.of(jella.SparseBDR(3, random_state=0).fit(clear), clear, held_out=False)
    assert data.stability.between > 0.95
    assert data.stability.by_cluster.min() > 0.95
    noise = [rng.normal(size=(90, 8)), rng.normal(size=(90, 8))]
    model = jella.MVLIV(6, scale="standardize", n_components=8, random_state=0, n_init=1, max_iter=5, tol=0)
    data = ReportData.of(model.fit(noise), noise, held_out=False)
    assert data.stability.between < 0.6
    assert any(w.section == "clusters" and "change much" in w.words for w in data.warnings)


def test_labels_are_scored_where_they_are_known():
    views = planted(n=60)
    model = jella.SparseBDR(3, random_state=0).fit(views)
    truth = np.array([["x", "y", "z"][i % 3] for i in range(60)], dtype=object)
    truth[:6] = None
    found = ReportData.of(model, views, labels=truth, held_out=False).agreement
    known = np.arange(60) >= 6
    assert (found.n_samples, found.n_labels) == (54, 3)
    codes = np.arange(60) % 3
    assert found.adjusted_rand == pytest.approx(jella.metrics.adjusted_rand(codes[known], model.labels_[known]))
    assert found.nmi == pytest.approx(jella.metrics.nmi(codes[known], model.labels_[known]))
    assert found.accuracy == pytest.approx(jella.metrics.accuracy(codes[known], model.labels_[known]))


def test_many_known_classes_that_are_numbers_are_no_scale():
    views = planted(n=60)
    known = np.arange(60) // 2
    model = jella.SparseBDR(3, evidence=False, random_state=0).fit(views)
    found = ReportData.of(model, views, labels=known, metadata={"age": known}, held_out=False).maps.colourings
    levels = {colouring.name: colouring.levels for colouring in found}
    assert len(levels["given label"]) == 30
    assert levels["age"] is None


def test_metadata_goes_by_the_names_of_the_samples():
    names = [f"s{i}" for i in range(40)]
    frames = [pd.DataFrame(view, index=names) for view in planted()]
    model = jella.SparseBDR(3, random_state=0).fit(frames)
    table = pd.DataFrame({"age": np.arange(40.0), "site": ["a", "b"] * 20}, index=names).iloc[::-1].drop(index="s3")
    data = ReportData.of(model, frames, metadata=table, held_out=False)
    by_name = {colouring.name: colouring for colouring in data.maps.colourings}
    assert np.isnan(by_name["age"].values[3])
    np.testing.assert_array_equal(np.delete(by_name["age"].values, 3), np.delete(np.arange(40.0), 3))
    assert by_name["site"].levels == ("a", "b", "not known")
    assert [by_name["site"].levels[code] for code in by_name["site"].values[:4]] == ["a", "b", "a", "not known"]
    assert data.sample_names == tuple(names)


def test_columns_are_numbers_or_categories():
    assert of_column("few", [3, 1, 2.0, np.nan]).levels == ("1", "2", "3", "not known")
    assert of_column("flag", [True, False]).levels == ("False", "True")
    assert of_column("many", np.arange(50)).levels is None
    assert np.isnan(of_column("infinite", [*range(20), np.inf]).values[-1])
    letters = of_column("letters", [f"{i:02d}" for i in range(40)] + ["05"])
    assert len(letters.levels) == 24
    assert letters.levels[-1] == "other"
    assert letters.levels[letters.values[-1]] == "05"
    assert of_column("nullable", pd.array([1, None], dtype="Int64")).levels == ("1", "not known")


def test_hostile_names_stay_text(tmp_path):
    names = [f"{HOSTILE}{i}" for i in range(40)]
    frames = {
        f"{HOSTILE}{v}": pd.DataFrame(view, index=names, columns=[f"{HOSTILE}{j}" for j in range(view.shape[1])])
        for v, view in enumerate(holed("missing-view"))
    }
    model = jella.SparseBDR(3, random_state=0).fit(frames)
    extra = {HOSTILE: [HOSTILE, "b"] * 20}
    file = write_report(tmp_path / "r.html", model, frames, metadata=extra, title=HOSTILE, command=HOSTILE)
    text = file.read_text(encoding="utf-8")
    page = _Page(text)
    assert page.count("img") == 0
    assert page.count("script") == 7  # theme, four of data, Plotly, the page's own
    assert HOSTILE not in text
    assert "&lt;/script&gt;&lt;img" in text


def test_samples_without_anything_keep_their_place():
    views = holed("missing-view")
    for view in views:
        view[[0, 7]] = np.nan
    model = jella.SparseBDR(3, on_empty="drop", random_state=0).fit(views)
    data = ReportData.of(model, views)
    assert 0 not in data.maps.rows
    assert 7 not in data.maps.rows
    assert data.sizes.sum() == 38
    assert int(data.affinity.edges[-1]) == 38
    assert any("2 samples have no value in any view" in w.words and "0 and 7" in w.words for w in data.warnings)
    render(data)


@pytest.mark.parametrize("as_frame", [False, True])
def test_one_view_is_enough(as_frame):
    X = planted()[0]
    X[::7, 2] = np.nan
    X = pd.DataFrame(X) if as_frame else X
    data = ReportData.of(jella.SparseBDR(3, random_state=0).fit(X), X)
    assert data.summary[0] == "40 samples described by one table: view (9 features)."
    assert len(data.predictions.by_view) == 1
    render(data)


def test_one_cluster_has_nothing_to_be_compared_with():
    views = holed("missing-view")
    data = ReportData.of(jella.SparseBDR(1, random_state=0).fit(views), views, held_out=False)
    assert "All samples are in one cluster." in data.summary
    assert "cluster" not in [colouring.name for colouring in data.maps.colourings]
    assert all(isinstance(getattr(data, part), Absent) for part in ("stability", "markers", "associations"))
    render(data)


def test_values_that_are_not_observed_do_not_matter():
    views = holed("incomplete-view")
    masks = [~np.isnan(view) for view in views]
    garbage = [np.where(mask, view, 99.0) for view, mask in zip(views, masks, strict=True)]
    plain = ReportData.of(jella.MVLIV(3, random_state=0, max_iter=5, tol=0).fit(views), views)
    model = jella.MVLIV(3, random_state=0, max_iter=5, tol=0).fit(garbage, observed=masks)
    masked = ReportData.of(model, garbage, observed=masks)
    assert plain.summary == masked.summary
    assert plain.markers == masked.markers
    assert plain.predictions.by_view[0].error == pytest.approx(masked.predictions.by_view[0].error)


def test_the_affinity_is_ordered_by_cluster_and_its_mean_stays():
    views = planted(n=330)
    model = jella.SparseBDR(3, random_state=0).fit(views)
    found = ReportData.of(model, views, held_out=False).affinity
    assert found.values.shape == (300, 300)
    sizes = np.diff(found.edges)
    assert float(sizes @ found.values @ sizes) == pytest.approx(model.affinity_.sum())
    assert found.inside > 0.9
    by_chance = sum((model.affinity_[model.labels_ == c].sum() / model.affinity_.sum()) ** 2 for c in range(3))
    words = render(ReportData.of(model, views, held_out=False))
    assert f"{percent(found.inside)} of it lies within clusters, where {percent(by_chance)} would by chance" in words
    np.testing.assert_array_equal(found.edges[found.ends], np.cumsum(np.bincount(model.labels_)))


def test_the_fit_is_told_with_its_reason():
    views = holed("missing-view")
    data = ReportData.of(jella.MVLIV(3, random_state=0, max_iter=2, tol=0).fit(views), views, held_out=False)
    assert "max_iter=2 was reached before the objective had settled" in data.convergence.words
    assert any(w.section == "convergence" for w in data.warnings)
    sums = sum(data.convergence.terms.values())
    np.testing.assert_allclose(sums, data.convergence.objective)
    data = ReportData.of(jella.RPCA().fit(views), views, held_out=False)
    assert "keeps no history by term" in data.convergence.words
    assert data.convergence.as_meant


def test_how_to_do_it_again():
    model, views = _fitted(jella.MVLIV)
    found = ReportData.of(model, views, command="jella cluster a.csv", seed=5, held_out=False).provenance
    assert found.model == "jella.MVLIV(max_iter=5, n_clusters=3, random_state=0, tol=0.0)"
    assert (found.command, found.model_seed, found.seed) == ("jella cluster a.csv", "0", 5)
    assert found.versions["jella"] == jella.__version__
    assert {p.name for p in found.parameters if not p.is_default} == {"max_iter", "n_clusters", "random_state", "tol"}


def test_a_report_of_thousands_of_samples_stays_small(tmp_path, rng):
    n = 5000
    groups = rng.integers(0, 12, n)
    W = rng.normal(size=(12, 4))[groups] + 0.3 * rng.normal(size=(n, 4))
    views = [W @ rng.normal(size=(4, d)) for d in (30, 20)]
    views[0][rng.random(views[0].shape) < 0.2] = np.nan
    model = jella.MVLIV(12, n_components=4, random_state=0, n_init=1, max_iter=3, tol=0).fit(views)
    columns = {f"column {j}": rng.normal(size=n) for j in range(5)}
    file = write_report(tmp_path / "report.html", model, views, metadata=columns, held_out=False)
    assert file.stat().st_size < 8e6
    assert "Of 5,000 samples, drawn at random: " in file.read_text(encoding="utf-8")


def test_refusals_say_what_to_do(tmp_path, monkeypatch):
    model, views = _fitted(jella.MVLIV)
    with pytest.raises(ValueError, match="expected a fitted estimator of jella, got list"):
        ReportData.of([], views)
    with pytest.raises(ValueError, match="expected the 40 samples that the model was fitted on, got 10"):
        ReportData.of(model, [view[:10] for view in views])
    with pytest.raises(ValueError, match="one value of 'labels' for each of the 40 samples, got shape"):
        ReportData.of(model, views, labels=[1, 2])
    with pytest.raises(ValueError, match="expected metadata to be a DataFrame or a dict"):
        ReportData.of(model, views, metadata=[1] * 40)
    with pytest.raises(ValueError, match="expected metadata with 40 rows"):
        ReportData.of(model, views, metadata=pd.DataFrame({"a": [1]}))
    with pytest.raises(ValueError, match="in a folder that exists"):
        write_report(tmp_path / "none" / "r.html", model, views)
    frames = [pd.DataFrame(view) for view in views]
    framed = make(jella.MVLIV, n_clusters=3, max_iter=2, tol=0.0).fit(frames)
    with pytest.raises(ValueError, match="with their values and in their order, got others; pass the X"):
        ReportData.of(model, [view[::-1] for view in views])
    with pytest.raises(ValueError, match="in their order, got other names"):
        ReportData.of(framed, [frame.iloc[::-1] for frame in frames])
    with pytest.raises(ValueError, match="names of the samples as index"):
        ReportData.of(framed, frames, metadata=pd.DataFrame({"a": [1]}, index=["elsewhere"]))
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(ImportError, match=r"pip install 'jella\[report\]'"):
        write_report(tmp_path / "r.html", model, views, held_out=False)


def test_plotly_is_loaded_only_to_write():
    code = "import sys, jella.report; assert 'plotly' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_many_samples_are_described_by_a_part_that_the_model_does_not_keep(monkeypatch):
    views = {"a": planted(n=150)[0], "b": planted(n=150)[1]}
    views["b"][::5] = np.nan
    model = jella.SparseBDR(3, random_state=0).fit(views)
    for name in ("sampling.EVIDENCE_SAMPLES", "predictions.COMPLETION_SAMPLES"):
        monkeypatch.setattr(f"jella.report.{name}", 30)
    monkeypatch.setattr("jella.report.sampling.SAMPLES_PER_CLUSTER", 10)
    data = ReportData.of(model, views)
    assert not {"evidence_", "imputer_"} & set(vars(model))
    assert data.evidence.n_samples == 90  # of narrow samples three times as many
    assert data.probabilities.own.size == 150
    assert [found.view for found in data.predictions.by_view] == ["b"]  # all samples have the other view
    page = render(data)
    assert "on a random 75% of 90 samples, drawn at random, and its clusters" in page
    assert "This is about 90 of the 150 samples, drawn at random." in " ".join(data.summary)
    assert "Refits to more samples may make labels surer." in page
    assert "This was done with 90 of the 150 samples, drawn at random" in page
    kept, imputer = model.gather_evidence(), model.learn_completion()
    data = ReportData.of(model, views)
    assert data.evidence is kept
    assert data.predictions.by_view[0].error == imputer.by_view[1].error
    assert "drawn at random" not in render(data)


def test_umap_is_a_map_where_it_is_installed(monkeypatch):
    def plane(W, method, seed):

        return W[:, [0, -1]]

    views = planted(n=60)
    model = jella.SparseBDR(3, evidence=False, random_state=0).fit(views)
    monkeypatch.setattr("jella.describe.picture.neighbour_plane", plane)
    for there, names in ((True, ["PCA", "t-SNE", "UMAP"]), (False, ["PCA", "t-SNE"])):
        monkeypatch.setattr("jella.report.maps.find_spec", lambda name, there=there: there or None)
        data = ReportData.of(model, views, held_out=False)
        assert set(data.maps.names) == set(names)
        page = render(data)
        assert (">UMAP</option>" in page) == there
        assert ("t-SNE and UMAP keep neighbours together" in page) == there


def test_the_first_sentence_and_the_table_measure_gains_alike():
    views = holed("incomplete-view", n=120)
    data = ReportData.of(jella.SparseBDR(3, evidence=False, random_state=0).fit(views), views)
    better = [p for p in data.predictions.by_view if p.is_better]
    assert better
    for p in better:
        assert f"{percent(p.gain)} in {p.view}" in " ".join(data.summary)


def test_the_error_of_a_view_without_holes_is_no_warning():
    views = {"a": planted(n=150)[0], "b": planted(n=150)[1]}
    views["b"][::5] = np.nan  # so only values of b can be hidden as they are missing
    model = jella.SparseBDR(3, evidence=False, random_state=0).fit(views)
    assert not any("is not known" in one.words for one in ReportData.of(model, views).warnings)
    new = {"a": np.full((5, views["a"].shape[1]), np.nan), "b": views["b"][1:5].repeat(2, axis=0)[:5] + 0.1}
    done = Completed.by(model, new)
    assert any("error of view 'a' is not known" in note for note in done.quality.notes)


def test_what_was_not_checked_is_not_praised():
    views = planted(n=60)
    for evidence, says in (
        (False, "but nothing says whether the clusters would be found again: the model has"),
        (True, ""),
    ):
        model = jella.SparseBDR(3, evidence=evidence, random_state=0).fit(views)
        data = ReportData.of(model, views, held_out=False)
        assert data.warnings == ()
        page = render(data)
        assert (says or "speaks against these results.</p>") in page
        assert ("speaks against these results, but" in page) == (not evidence)


def test_a_second_fit_of_many_samples_takes_some(monkeypatch):
    monkeypatch.setattr("jella.report.predictions.COMPLETION_SAMPLES", 25)
    views = holed("incomplete-view", n=120)
    model = jella.MVLIV(3, random_state=0, max_iter=20, tol=0).fit(views)
    found = ReportData.of(model, views).predictions
    assert "This was done with 75 of the 120 samples" in found.measured
    rows = some_rows(120, 75, 0)
    part = [view[rows] for view in views]
    alone = ReportData.of(model.fit(part), part).predictions
    assert [one.error for one in found.by_view] == pytest.approx([one.error for one in alone.by_view])
    assert "drawn at random" not in alone.measured


def test_silhouettes_are_those_of_the_embedding():
    views = planted(n=90)
    model = jella.SparseBDR(3, random_state=0).fit(views)
    found = ReportData.of(model, views, held_out=False).silhouettes
    W = model.embedding_ / np.linalg.norm(model.embedding_, axis=1, keepdims=True)
    values = silhouette_samples(W, model.labels_)
    np.testing.assert_allclose(found.middle, [np.median(values[model.labels_ == c]) for c in range(3)])
    assert found.mean == pytest.approx(values.mean())
    assert np.all(found.low <= found.middle)
    assert np.all(found.middle <= found.high)


def test_the_heat_map_shows_the_differences_of_the_cards():
    views = holed("incomplete-view", n=90)
    data = ReportData.of(jella.SparseBDR(3, random_state=0).fit(views), views, held_out=False)
    shown = {(v, f): j for j, (v, f) in enumerate(zip(data.heat.views, data.heat.features, strict=True))}
    for c, by_view in enumerate(data.markers.found):
        for view, markers in zip(data.markers.views, by_view, strict=True):
            best = markers[0]
            assert data.heat.differences[c, shown[view, best.feature]] == pytest.approx(best.difference)


def test_bars_of_features_have_a_common_zero_and_scale():
    views = planted(n=90)
    data = ReportData.of(jella.SparseBDR(3, random_state=0).fit(views), views, held_out=False)
    page = render(data)
    shown = [m for by_view in data.markers.found for markers in by_view for m in markers[:5]]
    bars = re.findall(r'class="bar (higher|lower)( cut)?"', page)
    widths = [float(width) for width in re.findall(r'<span style="width:([0-9.]+)%">', page)]
    assert [way for way, _ in bars] == ["higher" if m.difference > 0 else "lower" for m in shown]
    assert max(widths) == 50.0
    scale = np.array(widths) / np.abs([m.difference for m in shown])
    uncut = [not cut for _, cut in bars]
    np.testing.assert_allclose(scale[uncut], scale[uncut].mean(), rtol=0.1)
    assert 0 < sum(uncut) < len(bars)


def test_maps_show_the_same_samples_and_start_with_neighbours_where_two_components_hold_little(rng):
    views = planted(n=90)
    data = ReportData.of(jella.SparseBDR(3, random_state=0).fit(views), views, held_out=False)
    assert {"PCA", "t-SNE"} <= set(data.maps.names)
    assert all(picture.rows.size == 90 for picture in data.maps.pictures)
    assert (data.maps.names[0] == "PCA") == (data.maps.explained >= 0.5)
    views = [rng.normal(size=(60, 30)), rng.normal(size=(60, 30))]
    model = jella.MVLIV(3, scale="standardize", n_components=20, random_state=0, max_iter=20, tol=0).fit(views)
    data = ReportData.of(model, views, held_out=False)
    assert data.maps.explained < 0.5
    assert data.maps.names[0] != "PCA"


def test_nothing_missing_has_no_map_and_what_is_absent_is_listed_once():
    views = planted(n=60)
    data = ReportData.of(jella.MVLIV(3, random_state=0, max_iter=20, tol=0).fit(views), views)
    page = render(data)
    assert "plot-missing" not in page
    assert page.count("Nothing is missing.") == 2  # in the summary, and in the section
    for part in ("evidence", "probabilities", "associations"):
        assert page.count(getattr(data, part).reason) == 1
    assert page.index("Not in this report") > page.index('id="provenance"')


def test_counts_are_grouped_by_their_prediction(rng):
    rate = rng.gamma(2.0, 1.0, size=400)
    counts = Prediction("n", 400, 1.0, 2.0, "", rng.poisson(rate).astype(float), rate)
    shown = prediction_figure(counts, "count")["data"][0]
    assert len(shown["x"]) == 10
    assert shown["x"] == sorted(shown["x"])
    np.testing.assert_allclose(shown["y"], shown["x"], atol=1.0)
    assert len(prediction_figure(counts, "real")["data"][0]["x"]) == 400


def test_numbers_of_many_clusters_are_apart_along_the_affinity():
    ends = np.cumsum(np.arange(50, 0, -1))
    found = AffinityMap(np.eye(ends[-1]), np.arange(ends[-1] + 1), ends, "the affinity", 1.0, 0.9)
    ticks = affinity_figure(found, np.arange(50))["layout"]["xaxis"]
    assert np.diff(ticks["tickvals"]).min() >= ends[-1] / 24
    assert 15 < len(ticks["ticktext"]) <= 25
    assert ticks["ticktext"][0] == "0"
    assert int(ticks["ticktext"][-1]) > 35


def test_a_gain_within_its_uncertainty_is_not_called_sure():
    some = np.array([0.0, 1.0])
    sure, unsure = (
        Prediction(name, 9, 0.9, 1.0, "units", some, some, error) for name, error in (("a", 0.05), ("b", 0.2))
    )
    assert (sure.is_better, sure.is_unsure) == (True, False)
    assert (unsure.is_better, unsure.is_unsure) == (False, True)
    views = planted()
    data = ReportData.of(jella.SparseBDR(3, evidence=False, random_state=0).fit(views), views, held_out=False)
    words = prediction_section(Predictions((sure, unsure), "Measured.", {}), data)
    assert "The gain in b may be chance" in words
    assert "distances from the mean of their feature in units" in words


def test_every_cluster_has_a_colour_of_its_own_on_both_themes():
    for dark in (False, True):
        colours = palette(50, dark=dark)
        assert len(set(colours)) == 50
        assert colours[:8] == palette(8, dark=dark)
