"""The report on evidence: the number of clusters, refits of the whole model, and how sure labels are."""

from __future__ import annotations

import base64
import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from common import holed, planted

import jella
from jella.describe.subject import Absent
from jella.estimators.certain_labels import NoClearClustersWarning
from jella.evidence.confidence import Confidence
from jella.report import ReportData
from jella.report.evidence_sections import MOST_DOUBTS
from jella.report.page import render
from jella.report.probabilities import UNCERTAIN


@pytest.fixture(autouse=True)
def quick_maps(monkeypatch):
    """Maps by neighbours take longer than all else; the tests in a browser draw them."""
    monkeypatch.setattr("jella.describe.picture.neighbour_plane", lambda W, method, seed: W[:, [0, -1]])


@pytest.fixture(scope="module")
def digits():
    """A model that has chosen its number of clusters, and its views."""
    some = {name: pd.DataFrame(view[:400]) for name, view in jella.datasets.load_digits_views().data.items()}
    for view in some.values():
        view.index = [f"s{i}" for i in view.index]
    views = jella.datasets.make_incomplete(some, 0.3, random_state=0)
    return jella.SparseBDR(random_state=0).fit(views), views


@pytest.fixture(scope="module")
def noise():
    """Views without any clusters."""
    rng = np.random.default_rng(0)
    return [rng.normal(size=(200, 20)), rng.normal(size=(200, 15))]


def report(model, views):
    data = ReportData.of(model, views, held_out=False)
    return data, render(data)


def section(page, anchor):
    return re.search(f'<section id="{anchor}".*?</section>', page, re.DOTALL)[0]


def figures(page):
    return json.loads(re.search(r'id="data-figures">(.*?)</script>', page, re.DOTALL)[1])


def lines(figure):
    return {trace["name"]: trace for trace in figure["data"]}


def values(trace, key):
    """Numbers of a trace; Plotly may write them as they are or as bytes."""
    found = trace[key]
    if isinstance(found, dict):
        return np.frombuffer(base64.b64decode(found["bdata"]), dtype=found["dtype"]).tolist()
    return found


def test_the_curves_are_those_of_the_evidence(digits):
    model, views = digits
    path = model.gather_evidence().path
    assert path.supported.size > 1
    data, page = report(model, views)
    found = figures(page)
    clear, stable = lines(found["plot-modularity"]), lines(found["plot-number-stability"])
    compared = np.isfinite(path.expected)
    own = dict(zip(values(clear["these data"], "x"), values(clear["these data"], "y"), strict=True))
    assert set(path.numbers[compared]) < set(own)
    assert own[path.best] == pytest.approx(path.modularity[path.numbers == path.best][0], rel=1e-3)
    band = values(clear["expected without groups"], "y")
    assert len(band) == 2 * compared.sum()
    assert min(band) < path.expected[compared].min()
    assert max(band) > path.expected[compared].max()
    assert values(clear["supported numbers"], "x") == path.supported.tolist()
    assert values(stable["supported numbers"], "x") == path.supported.tolist()
    np.testing.assert_allclose(values(stable["these data"], "y"), path.stability[compared], rtol=1e-3)
    np.testing.assert_allclose(
        values(stable["expected without groups"], "y"), path.expected_stability[compared], rtol=1e-3
    )
    for plot in ("plot-modularity", "plot-number-stability"):
        assert found[plot]["layout"]["annotations"][0]["text"] == f"{path.best} chosen"
        assert found[plot]["layout"]["shapes"][0]["x0"] == path.best
    words = section(page, "evidence")
    assert path.words()[1:] in words
    least = min(share for _, _, share in path.hierarchy())
    assert f"{least:.1%}" in words or least == 1.0
    assert f"which support numbers from {path.supported.min()} to {path.supported.max()}." in " ".join(data.summary)
    assert not any("clear" in warned.words for warned in data.warnings)


def test_numbers_that_do_not_nest_are_said(digits):
    model, views = digits
    evidence = model.gather_evidence()
    data = ReportData.of(model, views, held_out=False)
    crossed = np.stack([np.arange(400) % 2, np.arange(400) // 134])
    path = replace(evidence.path, partitions=crossed)
    page = render(replace(data, evidence=replace(evidence, path=path)))
    assert "from 2 to 3 clusters, only 50.0% of the samples stay" in section(page, "evidence")


def test_a_number_that_was_given_has_words_and_no_curve():
    views = planted(n=90)
    data, page = report(jella.SparseBDR(3, random_state=0).fit(views), views)
    words = section(page, "evidence")
    assert "Clear clusters: 3; modularity" in words
    assert "This number was given, so no others were compared." in words
    assert "standard deviations above" in words
    assert 'class="plot"' not in words
    assert not {"plot-modularity", "plot-number-stability"} & set(figures(page))
    assert not any("clear" in warned.words for warned in data.warnings)


@pytest.mark.parametrize("n_clusters", [None, 5])
def test_no_clear_clusters_are_said_once_and_first(noise, n_clusters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoClearClustersWarning)
        model = jella.SparseBDR(n_clusters, random_state=0).fit(noise)
    data, page = report(model, noise)
    assert data.warnings[0].section == "evidence"
    assert data.warnings[0].words.startswith("No clear clusters: ")
    assert len(re.findall("(?i)no clear clusters", section(page, "summary"))) == 1
    assert ("5 clusters have modularity" in page) == (n_clusters == 5)
    drawn = {"plot-modularity", "plot-number-stability"} & set(figures(page))
    assert len(drawn) == (2 if n_clusters is None else 0)
    if n_clusters is None:
        assert "plot-sizes" not in page  # one bar says nothing
        assert isinstance(data.probabilities, Absent)
        assert lines(figures(page)["plot-modularity"]).keys() == {"these data", "expected without groups"}


def test_one_cluster_with_nearly_all_samples_is_a_sign_of_a_bad_cut():
    views, classes = planted(n=60), (np.arange(60) >= 57).astype(int)
    classes[0] = -1  # a y without unknown classes is ignored
    model = jella.SparseBDR(evidence=False, random_state=0).fit(views, classes)
    data = ReportData.of(model, views, held_out=False)
    assert data.sizes.tolist() == [57, 3]
    assert "The samples fall into 2 clusters of 3 to 57 samples." in data.summary  # as many as classes, not chosen
    says = "One cluster holds 95.0% of the samples: a sign of a bad cut."
    assert sum(says in warned.words for warned in data.warnings) == 1
    views = planted(n=60)
    data = ReportData.of(jella.MVLIV(3, random_state=0, max_iter=20, tol=0).fit(views), views, held_out=False)
    assert not any("bad cut" in warned.words for warned in data.warnings)


def test_stability_is_that_of_refits_of_the_whole_model(digits):
    model, views = digits
    evidence = model.gather_evidence()
    data, page = report(model, views)
    found, path = data.stability, evidence.path
    assert found.between == path.stability[path.numbers == path.n_clusters][0]
    np.testing.assert_array_equal(found.by_cluster, evidence.confidence.by_cluster)
    words, n = section(page, "clusters"), evidence.confidence.n_refits
    assert f"The whole model was fitted {n} times again, each time on a random 75% of the samples" in words
    assert f"without groups, {path.expected_stability[path.numbers == path.best][0]:.2f} is expected" in words
    bars = figures(page)["plot-stability"]
    np.testing.assert_allclose(values(bars["data"][0], "y"), found.by_cluster, rtol=1e-3)
    assert bars["layout"]["yaxis"]["title"]["text"] == "refits that agree"


@pytest.mark.parametrize(
    ("options", "n", "says"),
    [
        ({"evidence": False, "n_clusters": 3}, 60, "The model has evidence=False, so it was not fitted again on parts"),
        ({"evidence": False}, 60, "by the graph alone; not compared with data without clusters)."),
        ({"n_clusters": 3}, 18, "There are fewer than 20 samples"),
    ],
)
def test_without_evidence_the_reason_is_said(options, n, says):
    views = planted(n=n)
    data, page = report(jella.SparseBDR(random_state=0, **options).fit(views), views)
    assert says in data.evidence.reason
    assert data.stability.reason == data.evidence.reason
    assert data.evidence.reason.endswith(".")
    assert "Refits did not check these probabilities" in section(page, "probabilities")
    assert "Are the probabilities right?" not in page


def test_an_interrupted_fit_is_not_repeated():
    def interrupt(progress):
        raise KeyboardInterrupt

    views = planted(n=60)
    with pytest.warns(UserWarning, match="interrupted"):
        model = jella.SparseBDR(3, callback=interrupt, random_state=0).fit(views)
    data, _ = report(model, views)
    assert data.evidence.reason == "The fit was interrupted, so it was not repeated on parts of the samples."


def test_probabilities_are_those_of_the_model(digits):
    model, views = digits
    every = model.label_probabilities_
    data, page = report(model, views)
    found = data.probabilities
    np.testing.assert_array_equal(found.own, every[np.arange(400), model.labels_])
    uncertain = np.flatnonzero(found.own < UNCERTAIN)
    assert 0 < uncertain.size == len(found.doubts)
    assert [d.sample for d in found.doubts] == [f"s{i}" for i in sorted(uncertain, key=lambda i: found.own[i])]
    first = found.doubts[0]
    row = int(first.sample[1:])
    assert (first.cluster, first.probability) == (model.labels_[row], found.own[row])
    rest = np.delete(every[row], first.cluster)
    assert first.next_probability == rest.max() == every[row, first.next_cluster]
    bars = figures(page)["plot-probability"]["data"][0]
    assert sum(values(bars, "y")) == 400
    words = section(page, "probabilities")
    assert f"{uncertain.size} of 400 labels" in words
    for mean, agree, cases in model.gather_evidence().confidence.table:
        cells = "".join(f'<td class="number">{text}</td>' for text in (f"{mean:.2f}", f"{agree:.2f}", f"{cases:,.0f}"))
        assert cells in words


def test_the_list_of_uncertain_samples_is_cut(noise):
    _, page = report(jella.SparseBDR(5, random_state=0).fit(noise), noise)
    words = section(page, "probabilities")
    listed = re.search(r"The 20 most uncertain of (\d+) samples", words)
    assert int(listed[1]) > MOST_DOUBTS
    assert words.split("most uncertain")[-1].count("<tr>") == MOST_DOUBTS + 1


def test_samples_without_anything_have_no_probability():
    views = holed("missing-view", n=60)
    for view in views:
        view[[0, 7]] = np.nan
    model = jella.SparseBDR(3, on_empty="drop", random_state=0).fit(views)
    data, _ = report(model, views)
    assert data.probabilities.own.size == 58
    assert np.isfinite(data.probabilities.own).all()


def test_a_cluster_that_no_refit_has_seen_has_no_agreement():
    votes = [np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 0.0]])]
    found = Confidence.learn(votes, [np.array([0, 1])], [np.array([0, 1])])
    np.testing.assert_array_equal(found.by_cluster, [1.0, 1.0, np.nan])
