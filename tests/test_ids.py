"""Ids that do not match and tables the wrong way round: refused before a fit, with the option that helps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from common import never_pulling
from scipy import sparse

import jella
from jella.cli.main import main
from jella.io import DataError, read, write_views
from jella.views import read_views
from jella.views.ids import IdRule
from jella.views.overlap import Overlap

pd = pytest.importorskip("pandas")

N = 30
BASE = [f"TCGA-{i % 7:02d}-{'ABCDEFGH'[i % 8]}{i:03d}" for i in range(N)]


def frame(ids, d, prefix="f", seed=0):
    """Values of three groups of samples."""
    rng = np.random.default_rng(seed)
    W = np.eye(3)[np.arange(len(ids)) % 3] + 0.1 * rng.normal(size=(len(ids), 3))
    names = [f"{prefix}{j}" for j in range(d)]
    return pd.DataFrame((W @ rng.normal(size=(3, d))).round(3), index=ids, columns=names)


def pair(first, second):
    return {"rna": frame(first, 6, "g"), "adt": frame(second, 4, "p", seed=1)}


def fit(views):
    return jella.MVLIV(n_components=2, max_iter=5, tol=0).fit(views)


def refusal(views):
    with pytest.raises(ValueError, match="to share samples") as caught:
        fit(views)
    message = str(caught.value)
    assert "\n" not in message
    assert ". " not in message
    return message


# what differs, and the rule that helps

DIFFERENT = {
    "suffix": (BASE, [one + "-01A" for one in BASE], "prefix:12", "first 12 characters"),
    "two suffixes": ([one + "-11B" for one in BASE], [one + "-01A" for one in BASE], "prefix:12", "first 12"),
    "case": ([one.lower() for one in BASE], BASE, "casefold", "upper and lower case"),
    "spaces": ([one + " " for one in BASE], BASE, "strip", "spaces around them"),
    "numbers": (list(range(100, 130)), list(map(str, range(100, 130))), "text", "numbers against text"),
    "floats": ([float(i) for i in range(100, 130)], list(map(str, range(100, 130))), "text", "numbers against text"),
    "padding": ([f"s{i:03d}" for i in range(N)], [f"s{i}" for i in range(N)], "zeros", "zeros in front"),
    "prefixes": (
        [f"rna_{i}" for i in range(N)],
        [f"adt_{i}" for i in range(N)],
        "re:^(?:rna_|adt_)?(.*)$",
        "the prefix 'rna_' or 'adt_'",
    ),
    "separator": (
        [f"p{i}x_{'TN'[i % 2]}{i}" for i in range(N)],
        [f"p{i}x_q{i * 7}" for i in range(N)],
        "re:^[^_]+",
        "what follows the first '_'",
    ),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_a_refusal_shows_ids_and_proposes_a_rule_that_matches(case):
    first, second, rule, words = DIFFERENT[case]
    views = pair(first, second[::-1])
    message = refusal(views)
    assert f"ids={rule!r}, which matches 30 of 30 samples" in message
    assert words in message
    assert repr(first[0]) in message
    assert repr(second[-1]) in message
    assert "ids='union'" in message
    done = jella.align(views, ids=rule)
    assert set(done["rna"].index) == set(done["adt"].index)
    model = fit(done)
    assert len(model.embedding_) == N
    by_position = fit([views["rna"].to_numpy(), views["adt"].to_numpy()[::-1]])
    np.testing.assert_allclose(model.embedding_, by_position.embedding_, atol=1e-10)


def test_the_rule_with_the_most_matches_is_proposed():
    # without spaces 10 match, without spaces and case all do
    first = [one + " " if i < 10 else one.lower() + " " for i, one in enumerate(BASE)]
    assert "ids='strip,casefold', which matches 30 of 30" in refusal(pair(first, BASE))


def test_rules_that_merge_samples_are_not_proposed():
    ids = [f"A-{i}" for i in range(15)] + [f"B-{i}" for i in range(15)]
    assert "re:" not in refusal(pair(ids, [one.replace("-", "") + "!" for one in ids]))


def test_numbered_rows_beside_names():
    views = pair(BASE, BASE)
    views["adt"] = views["adt"].reset_index(drop=True)
    message = refusal(views)
    assert "only numbered from 0" in message
    assert "set the ids of 'adt'" in message


def test_ids_without_any_likeness():
    message = refusal(pair([chr(97 + i % 26) * (1 + i // 26) for i in range(N)], [f"{7 * i}" for i in range(N)]))
    assert "no simple rule" in message
    assert "which matches" not in message


def test_few_shared_samples():
    other = BASE[:2] + [f"x{i}" for i in range(28)]
    message = refusal(pair(BASE, other))
    assert "got 2 of 30" in message
    assert "'x0'" in message
    assert "'TCGA-00-A000'" not in message  # which is in both
    fit(pair(BASE, other[:1] + BASE[1:3] + other[3:]))  # three of thirty are enough


def test_the_smaller_view_counts():
    fit(pair([f"s{i}" for i in range(200)], [f"s{i}" for i in range(8)]))


# more than two views


def test_a_chain_of_views_is_accepted():
    a, b, c = (
        frame([f"s{i}" for i in ids], 4, seed=i) for i, ids in enumerate((range(20), range(10, 40), range(25, 50)))
    )
    assert fit([a, b, c]).embedding_.shape == (50, 2)
    overlap = Overlap.of(("a", "b", "c"), [a, b, c])
    assert overlap.notes() == ["Of 50 samples, 0 are in all 3 views.", "No sample is in both 'a' and 'c'."]


def test_two_groups_of_views_are_refused():
    left, right = [f"s{i}" for i in range(20)], [f"t{i}" for i in range(20)]
    views = {n: frame(ids, 4) for n, ids in (("a", left), ("b", left), ("c", right), ("d", right))}
    message = refusal(views)
    assert "'a' and 'd'" in message
    assert "got none" in message


def test_a_lonely_view_is_named():
    views = {n: frame([f"s{i}" for i in range(20)], 4) for n in "ab"} | {"odd": frame([f"S{i}" for i in range(20)], 4)}
    message = refusal(views)
    assert "'a' and 'odd'" in message
    assert "ids='casefold'" in message
    assert "samples='columns'" in message  # since all views have the same features, this is possible too


def test_one_view_with_its_samples_in_columns():
    first = frame(BASE, 4)
    for views in ({"rna": first, "adt": frame(BASE[3:], 6, "p").T}, {"adt": frame(BASE[3:], 6, "p").T, "rna": first}):
        message = refusal(views)
        assert "samples of 'rna'" in message
        assert "are columns of 'adt'; transpose 'adt'" in message


def test_order_does_not_matter():
    views = pair(BASE, [one + "-01A" for one in BASE])
    again = {name: view.sample(frac=1.0, random_state=1) for name, view in reversed(views.items())}
    assert "ids='prefix:12', which matches 30 of 30" in refusal(views)
    assert "ids='prefix:12', which matches 30 of 30" in refusal(again)


def test_only_fits_refuse():
    views = pair(BASE, BASE)
    model = jella.SparseBDR(3, random_state=0).fit(views)
    new = {"rna": views["rna"].iloc[:3].set_axis(list("abc")), "adt": views["adt"].iloc[:3].set_axis(list("xyz"))}
    assert model.transform(new).shape == (6, model.embedding_.shape[1])
    assert model.predict(new).shape == (6,)
    assert len(model.complete(new)["rna"]) == 6


def test_partial_overlap_is_no_warning():
    fit(pair(BASE[:20], BASE[10:]))  # warnings are errors here


def test_arrays_are_matched_by_position():
    A = np.arange(12.0).reshape(6, 2)
    holes = [np.where(np.arange(6)[:, None] < 3, A, np.nan), np.where(np.arange(6)[:, None] < 3, np.nan, A)]
    assert fit(holes).embedding_.shape == (6, 2)


# rules


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ("exact", 7, 7),
        ("text", 7.0, "7"),
        ("strip", " a b ", "a b"),
        ("casefold", "Straße", "strasse"),
        ("zeros", "s007-x010", "s7-x10"),
        ("digits", "s007-x010", "7-10"),
        ("digits", "none", "none"),
        ("prefix:4", "TCGA-01", "TCGA"),
        ("re:^(.*?)-", "A-B-C", "A"),
        ("re:[A-Z]+", "xABy", "AB"),
        ("re:^(?:a,(.*)|(.*),b)$", "z,b", "z"),
        ("re:^q", "abc", "abc"),
        ("strip,casefold,prefix:2", " ABC", "ab"),
        ("strip, casefold", " ABC", "abc"),
        (lambda one: one[::-1], 12, "21"),
    ],
)
def test_rules(rule, before, after):
    assert IdRule.of(rule).match([before]) == [after]


@pytest.mark.parametrize("rule", ["prefix", "prefix:0", "prefix:x", "lower", 3, None, "re:("])
def test_wrong_rules(rule):
    with pytest.raises(ValueError, match="expected"):
        jella.align(pair(BASE, BASE), ids=rule)


def test_a_rule_that_merges_samples_is_refused_with_both_ids():
    with pytest.raises(ValueError, match="view 'rna' apart, got 'TCGA' for both 'TCGA-00-A000' and 'TCGA-01-B001'"):
        jella.align(pair(BASE, BASE), ids="prefix:4")


def test_a_rule_that_does_not_help_is_refused():
    with pytest.raises(ValueError, match="ids='prefix:12'"):
        jella.align(pair(BASE, [one + "-01A" for one in BASE]), ids="casefold")


@pytest.mark.parametrize("twice", [["a", "b", "a", "c"], ["a"] * 4])
def test_samples_that_occur_twice(twice):
    views = pair(["a", "b", "c", "d"], twice)
    for call in (fit, jella.align):
        with pytest.raises(ValueError, match="view 'adt' has the sample 'a' more than once; keep one row"):
            call(views)


# jella.align


@pytest.mark.parametrize("container", [list, tuple, dict])
def test_align_keeps_the_container_and_changes_nothing(container):
    views = pair(BASE, [one + "-01A" for one in BASE])
    given = views if container is dict else container(views.values())
    before = {name: view.copy() for name, view in views.items()}
    done = jella.align(given, ids="prefix:12")
    assert type(done) is container
    assert all(views[name].equals(before[name]) for name in views)
    second = done["adt"] if container is dict else done[1]
    assert list(second.index) == BASE
    np.testing.assert_array_equal(second.to_numpy(), views["adt"].to_numpy())


def test_union_goes_on():
    views = pair(BASE, [f"x{i}" for i in range(10)])
    done = jella.align(views, ids="union")
    assert [len(view) for view in done.values()] == [40, 40]
    model = fit(done)
    assert model.embedding_.shape == (40, 2)
    assert done["adt"].loc["x3"].equals(views["adt"].loc["x3"])
    assert done["adt"].loc[BASE[0]].isna().all()
    assert len(jella.align(views, ids="casefold,union")["rna"]) == 40


def test_union_of_sparse_tables_stays_sparse():
    values = sparse.random_array((N, 5), density=0.5, rng=np.random.default_rng(0), format="csr") + sparse.csr_array(
        np.eye(N, 5)
    )
    views = pair(BASE, BASE)
    views["rna"] = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(values), index=[f"x{i}" for i in range(N)])
    done = jella.align(views, ids="union")
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in done["rna"].dtypes)
    assert fit(done).embedding_.shape == (2 * N, 2)


def test_samples_in_columns():
    views = pair(BASE, BASE[5:])
    over = {name: view.T for name, view in views.items()}
    message = refusal(over)
    assert "the samples seem to be the columns" in message
    assert "pass samples='columns', or ids='union'" in message
    done = jella.align(over, samples="columns")
    assert all(done[name].equals(views[name]) for name in views)
    arrays = jella.align([np.ones((2, 5)), sparse.csr_array(np.ones((3, 5)))], samples="columns")
    assert [view.shape for view in arrays] == [(5, 2), (5, 3)]


def test_equal_features_are_not_samples():
    views = {name: frame([f"{name}{i}" for i in range(N)], 4) for name in ("before", "after")}
    views["third"] = frame([f"after{i}" for i in range(N)], 7, "other")
    assert "seem to be the columns" not in refusal(views)


def test_align_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="expected samples to be one of"):
        jella.align(pair(BASE, BASE), samples="auto")
    with pytest.raises(ValueError, match="expected zero_rows to be one of"):
        jella.align(pair(BASE, BASE), zero_rows="keep")
    with pytest.raises(ValueError, match="expected views with sample ids"):
        jella.align([np.ones((3, 2)), np.ones((3, 1))], ids="casefold")


def test_one_call():
    views = pair(BASE, [one + "-01A" for one in BASE[4:]])
    with pytest.raises(ValueError, match="ids='prefix:12'"):
        jella.cluster(views, 3)
    found = jella.cluster(views, 3, ids="prefix:12")
    assert set(found.sample_names) == set(BASE)
    assert len(found.complete()["adt"]) == N
    over = {name: view.T for name, view in jella.align(views, ids="prefix:12").items()}
    done = jella.complete(over, samples="columns", estimate_error=False)
    assert done.views["adt"].shape == (4, N)
    assert list(done.views["adt"].index) == list(over["adt"].index)
    assert done.views["adt"][over["adt"].columns].equals(over["adt"])
    turned_back = jella.cluster(over, 3, samples="columns").complete()
    assert turned_back["adt"].shape == (4, N)
    assert turned_back["adt"][over["adt"].columns].equals(over["adt"])
    with pytest.raises(ValueError, match="got observed"):
        jella.cluster(views, 3, ids="prefix:12", observed={"rna": np.ones(N)})


# annotated matrices


def test_annotated_matrices():
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    views = {name: anndata.AnnData(view) for name, view in pair(BASE, [one + "-01A" for one in BASE[4:]]).items()}
    assert "ids='prefix:12'" in refusal(views)
    done = jella.align(views, ids="prefix:12")
    assert list(done["adt"].obs_names) == BASE[4:]
    assert views["adt"].obs_names[0].endswith("-01A")
    assert fit(done).embedding_.shape == (N, 2)
    assert fit(jella.align(views, ids="union")).embedding_.shape == (2 * N - 4, 2)
    with never_pulling(mudata):
        whole = mudata.MuData(views)
        whole.obs["batch"] = ["x"] * whole.n_obs
        assert "ids='prefix:12'" in refusal(whole)
        joined = jella.align(whole, ids="prefix:12")
        assert joined.n_obs == N
        assert (joined.obs["batch"] == "x").all()
        assert fit(joined).embedding_.shape == (N, 2)
    twice = anndata.AnnData(frame(BASE, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some versions of anndata warn
        twice.obs_names = [*BASE[:-1], BASE[0]]
    with pytest.raises(ValueError, match="view 'adt' has the sample 'TCGA-00-A000' more than once"):
        fit({"rna": views["rna"], "adt": twice})


# files and the command line


def stored(folder, views, kind="csv", **options):
    folder.mkdir(exist_ok=True)
    for name, view in views.items():
        if kind == "parquet":
            view.to_parquet(folder / f"{name}.parquet")
        elif kind == "feather":
            view.rename_axis("id").reset_index().to_feather(folder / f"{name}.feather")
        elif kind == "xlsx":
            with pd.ExcelWriter(folder / "all.xlsx", mode="a" if (folder / "all.xlsx").exists() else "w") as book:
                view.to_excel(book, sheet_name=name)
        else:
            view.to_csv(folder / f"{name}.csv", index_label="id")
    return folder / "all.xlsx" if kind == "xlsx" else folder


def tumours(folder):
    kinds = pd.DataFrame({"kind": np.array(list("abc"))[np.arange(N) % 3]}, index=[one + "-01A" for one in BASE])
    return stored(folder, pair(BASE[:26], [one + "-01A" for one in BASE[4:]]) | {"kind": kinds})


def test_reading_notes_what_does_not_match(tmp_path):
    data = read(tumours(tmp_path / "tumours"))
    assert any("A fit would refuse these views" in note and "ids='prefix:12'" in note for note in data.notes)
    with pytest.raises(ValueError, match="ids='prefix:12'"):
        fit(data.views)
    data = read(tmp_path / "tumours", ids="prefix:12")
    assert "Ids are matched by prefix:12." in data.notes
    assert "Of 30 samples, 22 are in all 2 views." in data.notes
    assert list(data.labels.index) == BASE
    with pytest.raises(DataError, match="'TCG' for both"):
        read(tmp_path / "tumours", ids="prefix:3")


@pytest.mark.parametrize("command", ["cluster", "complete", "compare"])
def test_commands_refuse(tmp_path, capsys, command):
    words = ["compare"] if command == "compare" else [command, "-o", str(tmp_path / "out")]
    assert main([words[0], str(tumours(tmp_path / "tumours")), *words[1:]]) == 2
    assert "ids='prefix:12', which matches 22 of 30 samples" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_info_shows_it(tmp_path, capsys):
    assert main(["info", str(tumours(tmp_path / "tumours"))]) == 0
    assert "A fit would refuse these views" in capsys.readouterr().out


def test_written_tables_have_the_ids_of_their_files(tmp_path):
    place = tumours(tmp_path / "tumours")
    assert main(["cluster", str(place), "-k", "3", "--ids", "prefix:12", "--no-report", "-o", str(tmp_path / "o")]) == 0
    for name, lacked in (("rna", BASE[26:]), ("adt", BASE[:4])):
        before = pd.read_csv(place / f"{name}.csv", index_col=0)
        after = pd.read_csv(tmp_path / "o" / "completed" / f"{name}.csv", index_col=0)
        assert list(after.index) == [*before.index, *lacked]
        assert after.loc[before.index].equals(before)
        assert not after.isna().any(axis=None)
    labels = pd.read_csv(tmp_path / "o" / "labels.csv", index_col="sample")
    assert set(labels.index) == set(BASE)


def test_union_on_the_command_line(tmp_path, capsys):
    place = tumours(tmp_path / "tumours")
    words = ["cluster", str(place), "-k", "3", "--ids", "union", "--no-report", "-o", str(tmp_path / "o")]
    assert main(words) == 0
    assert len(pd.read_csv(tmp_path / "o" / "completed" / "rna.csv")) == 52
    assert "NMI" in capsys.readouterr().out  # of the samples that have a class


def test_written_annotated_files_have_their_ids(tmp_path):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    views = pair(BASE[:26], [one + "-01A" for one in BASE[4:]])
    with never_pulling(mudata):
        mudata.MuData({name: anndata.AnnData(view) for name, view in views.items()}).write_h5mu(tmp_path / "x.h5mu")
    data = read(tmp_path / "x.h5mu", ids="prefix:12")
    write_views(fit(data.views).complete(data.views), tmp_path / "out", like=data)
    again = read(tmp_path / "out" / "x.h5mu")
    assert list(again.views["adt"].index) == [*views["adt"].index, *BASE[:4]]
    np.testing.assert_array_equal(again.views["adt"].iloc[:26], views["adt"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "xlsx"])
def test_tables_with_samples_in_columns_come_back_so(tmp_path, kind):
    pytest.importorskip({"csv": "pandas", "xlsx": "openpyxl"}.get(kind, "pyarrow"))
    views = pair(BASE[:26], BASE[4:])
    place = stored(tmp_path / "over", {name: view.T for name, view in views.items()}, kind)
    note = read(place).notes[-1]
    assert "samples='columns'" in note
    data = read(place, samples="columns")
    for name, view in views.items():
        pd.testing.assert_frame_equal(data.views[name], view, check_names=False, check_like=False)
    written = write_views(fit(data.views).complete(data.views), tmp_path / "out", like=data)
    again = read(written if kind != "xlsx" else written[0], samples="columns")
    for name, view in views.items():
        assert again.views[name].shape == (N, view.shape[1])
        np.testing.assert_array_equal(again.views[name].loc[view.index], view)


@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx"])
def test_text_in_tables_with_samples_in_columns(tmp_path, kind):
    pytest.importorskip({"csv": "pandas", "xlsx": "openpyxl"}.get(kind, "pyarrow"))
    over = pd.DataFrame({"gene": ["g1", "g2", "site"]})
    for i, site in enumerate(["Oslo", "Rome", "Rome", "Oslo"]):
        numbers = [i + 0.5, i * i + 1.25] if kind == "xlsx" else [f"{i}.50", None if i == 2 else f"{i * i}.25"]
        over[f"s{i}"] = [*numbers, site]
    if kind == "xlsx":
        over.loc[1, "s2"] = None
    path = tmp_path / f"a.{kind}"
    getattr(over, {"csv": "to_csv", "xlsx": "to_excel"}.get(kind, "to_parquet"))(path, index=False)
    with pytest.raises(DataError, match="got text in the columns 'site'") as caught:
        read(path, samples="columns", non_numeric="error")
    assert "samples=" not in str(caught.value)
    assert read(path, samples="columns", labels="site").labels.tolist() == ["Oslo", "Rome", "Rome", "Oslo"]
    (view,) = read(path, samples="columns", non_numeric="encode").views.values()
    assert list(view.columns) == ["g1", "g2", "site=Oslo", "site=Rome"]
    data = read(path, samples="columns", non_numeric="drop")
    ((name, view),) = data.views.items()
    assert list(view.columns) == ["g1", "g2"]
    assert list(view.index) == ["s0", "s1", "s2", "s3"]
    assert view["g1"].tolist() == [0.5, 1.5, 2.5, 3.5]
    write_views({name: view.fillna(7.125)}, tmp_path / "out", like=data)
    out = {"csv": lambda f: pd.read_csv(f, dtype=str), "xlsx": pd.read_excel}.get(kind, pd.read_parquet)(
        tmp_path / "out" / path.name
    )
    assert out["s0"].tolist() == over["s0"].tolist()
    assert [str(one) for one in out["s2"]] == [str(over.loc[0, "s2"]), "7.125", "Rome"]


def test_r_matrices_with_samples_in_columns(tmp_path, monkeypatch):
    xarray = pytest.importorskip("xarray")
    views = pair(BASE[:26], BASE[:26])
    content = {
        name: xarray.DataArray(
            view.to_numpy().T, dims=["dim_0", "dim_1"], coords={"dim_0": list(view.columns), "dim_1": list(view.index)}
        )
        for name, view in views.items()
    }
    kinds = np.array(list("abcd"))[np.arange(26) % 4]
    (tmp_path / "x.rda").write_bytes(b"an R file")
    monkeypatch.setattr("jella.io.rda._load", lambda path: {"all": content | {"kind": kinds}})
    data = read(tmp_path / "x.rda", samples="columns")
    assert all(data.views[name].equals(views[name]) for name in views)
    assert list(data.labels) == list(kinds)
    written = write_views(data.views, tmp_path / "out", like=data)
    assert pd.read_csv(written[0], index_col=0).shape == (6, 26)


def test_ids_and_columns_together(tmp_path):
    views = pair(BASE[:26], [one + "-01A" for one in BASE[4:]])
    place = stored(tmp_path / "over", {name: view.T for name, view in views.items()})
    data = read(place, samples="columns", ids="prefix:12")
    write_views(fit(data.views).complete(data.views), tmp_path / "out", like=data)
    head = (tmp_path / "out" / "adt.csv").read_text().splitlines()[0].split(",")
    assert head == ["id", *views["adt"].index, *BASE[:4]]


def test_numbers_as_names_of_samples_in_columns(tmp_path):
    views = pair(list(map(str, range(101, 131))), list(map(str, range(101, 131))))
    place = stored(tmp_path / "over", {name: view.T for name, view in views.items()})
    data = read(place, samples="columns")
    assert list(data.views["rna"].index) == list(views["rna"].index)


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("patient,a,b\nx,1,2\ny,3,4\nx,5,6\nz,1,1\n", "rows", "got the sample 'x' more than once; keep one row"),
        ("id,a,b\nx,1,2\nx,3,4\ny,5,6\ny,1,1\n", "rows", "got the samples 'x' and 'y' more than once"),
        ("gene,s1,s2,s1\ng1,1,2,3\ng2,3,4,5\n", "columns", "got the sample 's1' more than once; keep one column"),
    ],
)
def test_ids_that_occur_twice_in_tables(tmp_path, text, columns, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "a.csv", samples=columns)


def test_categories_are_no_ids(tmp_path):
    (tmp_path / "a.csv").write_text("site,a,b\nx,1,2\ny,3,4\nx,5,6\ny,1,1\n")
    with pytest.raises(DataError, match="got text in the columns 'site'"):
        read(tmp_path / "a.csv", non_numeric="error")
    assert list(read(tmp_path / "a.csv").views["a"].columns) == ["site", "a", "b"]


def test_rules_are_combined_where_one_alone_does_not_match():
    rng = np.random.default_rng(0)
    upper = pd.DataFrame(rng.normal(size=(20, 3)), index=[f"TCGA-{i:04d}-01A" for i in range(20)])
    lower = pd.DataFrame(rng.normal(size=(20, 3)), index=[f"tcga-{i:04d}" for i in range(20)])
    with pytest.raises(ValueError, match=r"ids='strip,casefold,prefix:9', which matches 20 of 20 samples"):
        jella.MVLIV(n_components=1).fit([upper, lower])


# containers of other libraries


def others(kind: str, ids: list[str], width: int, seed: int):
    values = np.random.default_rng(seed).normal(size=(len(ids), width))
    if kind == "xarray":
        xr = pytest.importorskip("xarray")
        return xr.DataArray(values, dims=("s", "f"), coords={"s": ids, "f": [f"f{j}" for j in range(width)]})
    pl = pytest.importorskip("polars")
    pytest.importorskip("narwhals")
    return pl.DataFrame({"sample": ids} | {f"f{j}": values[:, j] for j in range(width)})


@pytest.mark.parametrize("kind", ["xarray", "polars"])
def test_ids_of_other_containers_are_checked_and_matched(kind):
    short = [f"TCGA-{i:04d}" for i in range(20)]
    views = {"a": others(kind, [f"{one}-01A" for one in short], 4, 0), "b": others(kind, short[::-1], 3, 1)}
    with pytest.raises(ValueError, match="prefix:9"):
        jella.MVLIV(n_components=2).fit(views)
    made = jella.align(views, ids="prefix:9")
    assert [type(view) for view in made.values()] == [type(view) for view in views.values()]
    model = jella.MVLIV(n_components=2).fit(made)
    assert sorted(model.sample_names_in_) == short
    union = jella.align(views, ids="union")
    assert len(union["a"]) == 40
    assert jella.MVLIV(n_components=2).fit(union).embedding_.shape == (40, 2)


@pytest.mark.parametrize("kind", ["xarray", "polars"])
def test_zero_rows_of_other_containers_become_missing(kind):
    ids = [f"s{i}" for i in range(20)]
    a, b = others(kind, ids, 4, 0), others(kind, ids, 3, 1)
    if kind == "xarray":
        a[:5] = 0.0
    else:
        import polars as pl

        a = a.with_columns(
            [pl.when(pl.int_range(pl.len()) < 5).then(0.0).otherwise(pl.col(f"f{j}")).alias(f"f{j}") for j in range(4)]
        )
    made = jella.align([a, b], zero_rows="missing")
    assert type(made[0]) is type(a)
    assert read_views(made)[0].presence().tolist() == [False] * 5 + [True] * 15


def test_a_blank_id_is_no_id(tmp_path):
    (tmp_path / "a.csv").write_text('sample,x,y\n"  ",1,2\nb,3,4\nc,5,6\n')
    with pytest.raises(DataError, match="expected an id for each sample of 'a', got none in row 0"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize("lacking", [None, np.nan, pd.NaT])
def test_samples_without_an_id_are_refused_in_python(lacking):
    views = pair(BASE, BASE)
    for view in views.values():
        view.index = [*BASE[:11], lacking, *BASE[12:]]
    message = "expected an id for each sample of view 'rna', got none in row 11; name this sample"
    for call in (fit, read_views, jella.align):
        with pytest.raises(ValueError, match=message):
            call(views)


def test_ids_of_other_types_that_are_equal_match_without_a_warning():
    X = [pd.DataFrame(np.eye(12, 3) + 1.0), pd.DataFrame(np.eye(12, 4) + 2.0, index=np.arange(12.0))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        views = read_views(X)
    assert views.n_samples == 12


def test_an_index_of_several_levels_beside_one_is_refused():
    X = {"a": pd.DataFrame(np.eye(5, 3)), "b": pd.DataFrame(np.eye(5, 4))}
    X["b"].index = pd.MultiIndex.from_arrays([range(5), range(5)])
    for reader in (read_views, jella.MultiView):
        with pytest.raises(ValueError, match="expected ids of 1 level in view 'b' as in 'a', got 2"):
            reader(X)
