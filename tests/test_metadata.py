"""Clusters and metadata: matching by id, associations, what missing values explain, survival, confusion tables."""

from __future__ import annotations

import csv
import json
import sys
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, kruskal, rankdata

import jella
from jella.cli.main import main
from jella.describe.association import associate
from jella.describe.availability import availability_groups
from jella.describe.confusion import Confusion
from jella.describe.metadata import MetadataFindings
from jella.describe.strength import Categories, Scores
from jella.describe.survival import check_survival, find_survival, log_rank_scores
from jella.io.metadata import read_metadata
from jella.report import ReportData, write_report
from jella.report.figures import all_figures
from jella.views import read_views
from jella.views.sample_columns import SampleColumn, read_columns

N = 60
IDS = [f"p{i:02d}" for i in range(N)]
CLASSES = np.arange(N) % 3


def views(seed: int = 0) -> dict[str, pd.DataFrame]:
    """Two tables around three classes; ten samples lack the second."""
    rng = np.random.default_rng(seed)
    made = {
        name: pd.DataFrame(4 * rng.normal(size=(3, d))[CLASSES] + rng.normal(size=(N, d)), index=IDS).add_prefix("g")
        for name, d in (("rna", 8), ("protein", 6))
    }
    made["protein"] = made["protein"].drop(index=IDS[5:15])
    return made


def clinical(seed: int = 1) -> pd.DataFrame:
    """The class, a number that goes along with it, noise, survival that depends on the class, and names."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "subtype": np.array(["lum", "her", "bas"])[CLASSES],
            "age": 50 + 10 * CLASSES + rng.normal(size=N),
            "noise": rng.normal(size=N),
            "days": rng.exponential(1.0 + 9 * (CLASSES == 2)),
            "died": (rng.random(N) < 0.8).astype(int),
            "name": IDS,
        },
        index=IDS,
    )


# statistics


def test_statistics_are_those_of_scipy(rng):
    groups, codes = rng.integers(0, 3, 200), rng.integers(0, 4, 200)
    statistic = Categories.of_codes(codes, groups)
    table = np.array([[np.sum((groups == g) & (codes == c)) for c in range(4)] for g in range(3)])
    test = chi2_contingency(table, correction=False)
    assert statistic.of(groups) == pytest.approx(test.statistic)
    assert statistic.p_value(test.statistic) == pytest.approx(test.pvalue)
    numbers = np.round(rng.normal(size=200), 1)  # with ties
    scores = Scores.of_scores(rankdata(numbers), groups)
    test = kruskal(*(numbers[groups == g] for g in range(3)))
    assert scores.of(groups) == pytest.approx(test.statistic)
    assert scores.p_value(test.statistic) == pytest.approx(test.pvalue)


def test_strength_of_categories_is_corrected_for_bias(rng):
    table = np.array([[20, 30], [25, 25], [30, 20]])
    groups, codes = (np.repeat(side, table.ravel()) for side in np.indices(table.shape).reshape(2, -1))
    statistic = Categories.of_codes(codes, groups)
    value = statistic.of(groups)
    assert statistic.strength(value) == pytest.approx(np.sqrt((4 / 150 - 2 / 149) / (1 - 1 / 149)))
    assert statistic.p_value(value) == pytest.approx(np.exp(-2.0))  # chi-square of 4 with two degrees of freedom
    noise = []
    for _ in range(20):
        groups, codes = rng.integers(0, 10, 200), rng.integers(0, 2, 200)
        chance = Categories.of_codes(codes, groups)
        noise.append(chance.strength(chance.of(groups)))
    assert np.median(noise) < 0.1


def test_few_samples_are_tested_by_permutation():
    labels, site = np.repeat([0, 1], 4), np.repeat(["x", "y"], 4)
    (found,) = associate([SampleColumn.of("site", site)], labels, np.zeros(8, dtype=int))
    exact = 2 / 70  # of the ways to choose four of eight, two are as extreme
    assert found.p_value == pytest.approx(exact, abs=0.015)
    assert found.p_value != pytest.approx(chi2_contingency(np.eye(2) * 4, correction=False).pvalue, abs=1e-3)


def test_p_values_are_uniform_without_association(rng, monkeypatch):
    monkeypatch.setattr("jella.describe.association.DRAWS", 199)
    labels, same = np.arange(80) % 3, np.arange(80) % 2
    columns = [SampleColumn.of(str(j), rng.integers(0, 3, 80)) for j in range(60)]
    columns += [SampleColumn.of(str(j), rng.normal(size=80)) for j in range(60)]
    found = associate(columns, labels, same)
    for name in ("p_value", "p_within"):
        values = np.array([getattr(one, name) for one in found])
        assert 0.07 <= (values < 0.2).mean() <= 0.33
        assert 0.4 < values.mean() < 0.6
    assert sum(one.verdict == "associated" for one in found) <= 3
    p = np.sort([one.p_value for one in found])
    smallest = np.min(p * len(p) / np.arange(1, len(p) + 1))  # of Benjamini and Hochberg
    assert min(one.q_value for one in found) == pytest.approx(smallest)


def test_what_only_missing_values_explain_is_said():
    lacks = np.arange(120) < 60  # they lack a view, come from one site, and mostly fall into one cluster
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(120) < 0.85, lacks, ~lacks).astype(int)
    site, stage = np.where(lacks, "A", "B"), labels.astype(str)
    X = [np.ones((120, 2)), np.where(lacks[:, None], np.nan, 1.0)]
    found = MetadataFindings.of({"site": site, "stage": stage}, labels, read_views(X))
    by_name = {one.column: one for one in found.columns}
    assert by_name["site"].verdict == "explained by missingness"
    assert by_name["site"].expected == pytest.approx(by_name["site"].strength)
    assert by_name["stage"].verdict == "associated"
    assert by_name["stage"].expected < 0.8 * by_name["stage"].strength
    assert found.words() == (
        "Of 2 tested columns of metadata, 1 is associated with the clusters: stage (1.00); strength from 0 to 1. "
        "Explained by what is missing: site."
    )


def test_groups_of_the_same_missing():
    X = [np.ones((50, 2)), np.ones((50, 3)), np.ones((50, 4))]
    X[0][:20], X[1][15:30], X[2][:3] = np.nan, np.nan, np.nan
    X[0][40:, 0] = np.nan
    groups = availability_groups(read_views(X))
    assert np.bincount(groups).min() >= 10
    presence = read_views(X).presence()
    for v in (0,):  # the view nearest to half of the samples splits all
        assert all(len(np.unique(presence[groups == g, v])) == 1 for g in np.unique(groups))
    assert len(np.unique(groups[30:40])) == 1
    assert groups[35] != groups[45]  # fewer entries
    assert np.array_equal(availability_groups(read_views([np.ones((30, 2))])), np.zeros(30))


def test_columns_that_cannot_be_tested_say_why():
    labels = np.arange(20) % 2
    columns = [
        SampleColumn.of("constant", ["x"] * 20),
        SampleColumn.of("unknown", [None] * 20),
        SampleColumn.of("name", [f"s{i}" for i in range(20)]),
        SampleColumn.of("one cluster", ["a", None, "b", None] * 5),
    ]
    found = associate(columns, labels, labels * 0)
    assert [one.verdict for one in found] == [
        "not tested: one value",
        "not tested: no value is known",
        "not tested: most values differ",
        "not tested: one cluster",
    ]
    assert all(np.isnan(one.q_value) for one in found)
    assert MetadataFindings(found).words() == "No column of the metadata could be compared with the clusters."


DAYS = [date(2014, 12, 31) + timedelta(days=i) for i in range(20)]


@pytest.mark.parametrize(
    "column",
    [
        DAYS,
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(pd.to_datetime(DAYS, utc=True)),
        np.array(DAYS, dtype="datetime64[ns]"),
        [day.isoformat() for day in DAYS],
        [f"{day.isoformat()}T00:00:00" for day in DAYS],
    ],
)
def test_dates_are_years(column):
    found = SampleColumn.of("visit", column)
    assert found.levels is None
    np.testing.assert_allclose(found.values[:3], [2014 + 364 / 365.2425, 2015, 2015 + 1 / 365.2425])


def test_few_dates_are_categories_and_other_texts_are_no_dates():
    assert SampleColumn.of("wave", pd.to_datetime(["2015-01-01", "2016-01-01"] * 9)).levels == (
        "2015-01-01",
        "2016-01-01",
    )
    assert SampleColumn.of("code", [f"20150{i:03d}" for i in range(20)]).levels is not None
    assert SampleColumn.of("mixed", [*DAYS, "later"]).levels is not None
    assert SampleColumn.of("stay", [timedelta(hours=12 * i) for i in range(20)]).values[3] == 1.5
    minutes = SampleColumn.of("measured", pd.date_range("2020-05-01 10:00", periods=20, freq="min"))
    assert minutes.levels is None
    np.testing.assert_allclose(np.diff(minutes.values), 1 / (365.2425 * 24 * 60), rtol=1e-3)
    assert SampleColumn.of("mixed", [1.0, "a", 2]).levels == ("1", "2", "a")
    values = [*DAYS, None]
    assert np.isnan(SampleColumn.of("visit", values).values[-1])
    assert values[0] == DAYS[0]


# matching


def test_columns_are_matched_by_id():
    table = pd.DataFrame({"age": np.arange(5.0), "site": list("abcde")}, index=list("vwxyz"))
    names = pd.Index(["z", "v", "q"])
    found = read_columns(table, names, 3)
    assert found["site"].tolist()[:2] == ["e", "a"]
    assert SampleColumn.of("site", found["site"]).known.tolist() == [True, True, False]
    padded = table.set_axis([f" {one} " for one in table.index])
    assert read_columns(padded, names, 3, ids="strip")["age"].tolist()[:2] == [4.0, 0.0]
    series = read_columns({"age": table["age"]}, names, 3)
    assert series["age"].tolist()[:2] == [4.0, 0.0]
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"sample": list("vwxyz"), "age": [0, 1, None, 3, 4]})
    assert read_columns(frame, names, 3)["age"].tolist()[:2] == [4, 0]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({"a": range(N)}), r"such as 'p00', got names that do not match, such as '0'; set it"),
        (pd.DataFrame({"who": IDS}), r"column 'who' has them: pass its set_index\('who'\)"),
        (pd.DataFrame({"a": [1, 2]}, index=["p01", "p01"]), "each sample once, got 'p01' more than once"),
        (pd.DataFrame(np.zeros((N, 2)), index=IDS, columns=["a", "a"]), "each column once, got 'a' more than once"),
        ({"a": [1, 2]}, "one value of 'a' for each of the 60 samples, got shape"),
        ([1, 2], "expected metadata to be a DataFrame or a dict of columns, got list"),
    ],
)
def test_metadata_that_do_not_match_are_refused_before_the_fit(table, words, monkeypatch):
    monkeypatch.setattr(jella.SparseBDR, "fit", None)
    with pytest.raises(ValueError, match=words):
        jella.cluster(views(), 3, metadata=table)


# survival and confusion


def test_survival_is_that_of_lifelines(rng):
    lifelines = pytest.importorskip("lifelines")
    times, events = np.round(rng.exponential(size=80), 1), rng.random(80) < 0.7
    labels = np.arange(80) % 2
    labels[:4] = -1
    columns = {"t": times.astype(object), "e": events.astype(object)}
    columns["t"][10] = None
    found = find_survival(columns, ("t", "e"), labels)
    rows = (labels >= 0) & (np.arange(80) != 10)
    test = lifelines.statistics.logrank_test(
        times[rows & (labels == 0)],
        times[rows & (labels == 1)],
        events[rows & (labels == 0)],
        events[rows & (labels == 1)],
    )
    assert found.p_value == pytest.approx(test.p_value)
    assert (found.n_samples, found.n_events) == (75, int(events[rows].sum()))
    fitted = lifelines.KaplanMeierFitter().fit(times[rows & (labels == 0)], events[rows & (labels == 0)])
    np.testing.assert_allclose(found.curves[0].survival, fitted.survival_function_.iloc[:, 0])
    assert found.curves[0].at_risk[0] == found.curves[0].n_samples
    assert list(found.as_frame().columns) == ["cluster", "time", "survival", "lower", "upper", "at_risk"]
    scores = log_rank_scores(times[rows], events[rows])
    np.testing.assert_allclose(found.scores[rows], scores)
    assert scores.sum() == pytest.approx(0.0, abs=1e-9)
    assert np.isnan(found.scores[~rows]).all()


def test_survival_that_cannot_be_used_is_refused(monkeypatch):
    columns = {"t": [1.0, 2.0], "e": [0, 1], "bad": [-1.0, 2.0], "text": ["a", "b"]}
    with pytest.raises(ValueError, match=r"name two columns of the metadata, got 'time'; pass \(time, event\)"):
        check_survival("time", columns)
    with pytest.raises(ValueError, match="got 'x'; it has t, e, bad and text"):
        check_survival(("t", "x"), columns)
    with pytest.raises(ValueError, match="for survival, got no metadata; pass metadata="):
        check_survival(("t", "e"), {})
    with pytest.raises(ValueError, match="expected times from 0 in column 'bad'"):
        check_survival(("bad", "e"), columns)
    with pytest.raises(ValueError, match=r"expected 1 .* or 0 .* in column 'text', got 'a' and 'b'; recode it"):
        check_survival(("t", "text"), columns)
    monkeypatch.setitem(sys.modules, "lifelines", None)
    with pytest.raises(ImportError, match=r"pip install 'jella\[survival\]'"):
        check_survival(("t", "e"), columns)


def test_confusion_puts_the_class_of_each_cluster_on_the_diagonal():
    labels, known = np.array([0, 0, 0, 1, 1, 2, -1]), np.array(["b", "b", "c", "a", "a", None, "c"], dtype=object)
    found = Confusion.of(labels, known)
    assert found.classes == ("b", "a", "c")
    assert found.as_frame().loc[0].to_dict() == {"b": 2, "a": 0, "c": 1}
    assert found.clusters == (0, 1)
    assert found.agreement == pytest.approx(4 / 5)
    with pytest.raises(ValueError, match="one class for each of the 7 samples, got 2"):
        Confusion.of(labels, ["a", "b"])


def test_classes_fewer_than_clusters_belong_to_those_that_hold_them_best():
    labels, known = np.array([0, 0, 1, 1, 1, 2, 2, 3]), np.array(["a", "a", "a", "b", "a", "b", "b", "a"])
    found = Confusion.of(labels, known)
    assert found.classes == ("a", "b")
    assert found.own in ((0, 2), (1, 2))  # two samples of a in cluster 0, and in cluster 1
    assert found.agreement == jella.metrics.accuracy(known, labels) == 0.5


# surfaces


def test_cluster_compares_metadata():
    table = clinical().sample(frac=1.0, random_state=0).drop(index="p03")
    found = jella.cluster(views(), 3, metadata=table, survival=("days", "died"), evidence=False)
    verdicts = found.metadata["verdict"]
    assert list(verdicts.index) == ["subtype", "age", "noise", "name", "survival (days, died)"]
    assert verdicts["subtype"] == verdicts["age"] == verdicts["survival (days, died)"] == "associated"
    assert verdicts["noise"] == "not associated"
    assert found.metadata.loc["subtype", "strength"] == pytest.approx(1.0)
    assert found.metadata.loc["subtype", "known"] == N - 1
    assert found.survival.p_value < 0.01
    assert "metadata    Of 4 tested columns of metadata, 3 are associated" in repr(found)
    assert np.diag(found.confusion(table["subtype"])).sum() == N - 1
    plain = jella.cluster(views(), 3, evidence=False)
    assert plain.metadata is None
    assert plain.survival is None
    np.testing.assert_array_equal(plain.labels, found.labels)


def test_the_report_has_a_section_only_with_metadata(tmp_path):
    model = jella.SparseBDR(3, evidence=False, random_state=0).fit(views())
    how = {"metadata": clinical(), "survival": ("days", "died"), "labels": clinical()["subtype"], "held_out": False}
    text = write_report(tmp_path / "r.html", model, views(), notes=["Adjusted for it all."], **how).read_text()
    for part in ('id="metadata"', 'id="plot-survival"', "Log-rank test", "Clusters and given labels", "it all."):
        assert part in text
    data = ReportData.of(model, views(), **how)
    assert data.confusion.counts.trace() == N
    assert "bold, and hold 100% of the samples" in text
    assert [f"<b>{size}</b>" in text for size in data.sizes] == [True] * 3
    lines = all_figures(data)["plot-survival"]["data"]  # the page colours and names them by cluster
    assert [line["meta"]["cluster"] for line in lines] == [0, 1, 2]
    assert text.count("No metadata and no known classes were given.") == 0
    bare = write_report(tmp_path / "s.html", model, views(), held_out=False).read_text()
    assert 'id="metadata"' not in bare
    assert bare.count("No metadata and no known classes were given.") == 1


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metadata")
    for name, table in views().items():
        table.to_csv(folder / f"{name}.csv", index_label="id")
    clinical().to_csv(folder / "clinical.tsv", sep="\t", index_label="patient")
    return folder


@pytest.mark.parametrize("ending", ["tsv", "csv", "xlsx", "parquet"])
def test_tables_of_metadata_are_read(tmp_path, ending):
    table, path = clinical(), tmp_path / f"clinical.{ending}"
    if ending == "xlsx":
        table.to_excel(path, index_label="patient")
    elif ending == "parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, sep="\t" if ending == "tsv" else ",", index_label="patient")
    found = read_metadata(path)
    assert list(found.index) == IDS
    assert list(found.columns) == list(table.columns)
    np.testing.assert_allclose(found["age"].astype(float), table["age"])
    assert found["subtype"].tolist() == table["subtype"].tolist()


def test_tables_that_are_no_metadata_are_refused(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"1")
    with pytest.raises(ValueError, match=r"ends in .csv.*got 'x.npz'; convert it"):
        read_metadata(tmp_path / "x.npz")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ValueError, match=r"got the empty file empty.csv"):
        read_metadata(tmp_path / "empty.csv")
    with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
        clinical().to_excel(book, sheet_name="a")
        clinical().to_excel(book, sheet_name="b")
    with pytest.raises(ValueError, match=r"expected one sheet of metadata in two.xlsx, got 'a', 'b'"):
        read_metadata(tmp_path / "two.xlsx")


def test_the_command_line_writes_what_metadata_show(files, tmp_path, capsys):
    data, meta = [files / "rna.csv", files / "protein.csv"], files / "clinical.tsv"
    words = ["cluster", *data, "-k", 3, "-o", tmp_path / "out", "--no-calibrate", "--set", "evidence=False"]
    code = main([str(w) for w in (*words, "--metadata", meta, "--survival", "days,died", "--no-report")])
    out, _ = capsys.readouterr()
    assert code == 0
    assert "Of 4 tested columns of metadata, 3 are associated with the clusters: subtype (1.00)" in out
    rows = {row["column"]: row for row in csv.DictReader((tmp_path / "out" / "metadata.csv").read_text().splitlines())}
    assert rows["subtype"]["verdict"] == "associated"
    assert rows["name"]["q_value"] == ""
    assert (tmp_path / "out" / "survival.csv").read_text().startswith("cluster,time,survival,lower,upper,at_risk")
    summary = json.loads((tmp_path / "out" / "run.json").read_text())["summary"]
    assert summary["metadata"]["columns"][0]["verdict"] == "associated"
    page = tmp_path / "later.html"
    assert main(["report", str(tmp_path / "out"), "--metadata", str(meta), "--to", str(page)]) == 0
    assert 'id="metadata"' in page.read_text()
    assert main(["report", str(tmp_path / "out")]) == 0
    assert 'id="plot-survival"' in (tmp_path / "out" / "report.html").read_text()


def test_known_classes_give_a_confusion_table(files, tmp_path):
    pd.DataFrame({"id": IDS, "subtype": clinical()["subtype"]}).to_csv(tmp_path / "subtype.csv", index=False)
    data = [files / "rna.csv", files / "protein.csv", tmp_path / "subtype.csv"]
    words = ["cluster", *data, "-k", 3, "-o", tmp_path / "out", "--no-calibrate", "--no-report", "--quiet"]
    assert main([str(word) for word in (*words, "--set", "evidence=False")]) == 0
    table = pd.read_csv(tmp_path / "out" / "confusion.csv", index_col=0)
    assert np.diag(table).tolist() == [20, 20, 20]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--survival", "days,died"], "expected --metadata FILE with --survival"),
        (["--adjust", "age"], "expected --metadata FILE with --adjust"),
        (["--metadata", "clinical.tsv", "--adjust-views", "rna"], "expected --adjust NAMES with --adjust-views"),
        (["--metadata", "clinical.tsv", "--adjust", "x"], "got 'x'; it has subtype, age"),
        (["--metadata", "rna.csv", "--survival", "days,died"], "got 'days'; it has g0"),
        (["--metadata", "none.csv"], "which does not exist; check the path"),
    ],
)
def test_options_that_do_not_fit_are_refused(files, tmp_path, capsys, monkeypatch, more, words):
    monkeypatch.chdir(files)
    assert main(["cluster", "rna.csv", "protein.csv", "-k", "3", "-o", str(tmp_path / "out"), *more]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
