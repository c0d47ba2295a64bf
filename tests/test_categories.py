"""Categories: columns of text, categories and truth values in tables become indicators, and come back as they were."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import jella
from jella.cli.main import main
from jella.io import read, write_views
from jella.io.errors import DataError
from jella.metrics import rmse
from jella.model_selection import HeldOut, held_out_error
from jella.model_selection.against_mean import mean_errors
from jella.model_selection.held_out import Trials
from jella.views import Hidden, Schema, read_views
from jella.views.categories import probabilities
from jella.views.draw import draw_as_missing, draw_for_score, draw_setting
from jella.views.kinds import Kinds
from jella.views.probabilities import level_probabilities

N = 90
NAMES = pd.Index([f"s{i}" for i in range(N)])
LATENT = np.random.default_rng(0).normal(size=N)
#: columns of one latent value: each category can be completed from the numbers
CLINICAL = pd.DataFrame(
    {
        "age": 40 + 10 * LATENT,
        "sex": np.where(LATENT > 0, "f", "m"),
        "grade": pd.Categorical(
            np.array(["low", "mid", "high"])[np.digitize(LATENT, [-0.5, 0.5])],
            categories=["low", "mid", "high", "unseen"],
            ordered=True,
        ),
        "smoker": LATENT > 0.2,
        "bmi": 22 + LATENT,
    },
    index=NAMES,
)
RNA = pd.DataFrame(LATENT[:, None] + np.zeros(5), index=NAMES, columns=list("abcde")) * [1, -1, 2, 1, 3]
FEATURES = (
    *("age", "sex=f", "sex=m", "grade=low", "grade=mid", "grade=high", "grade=unseen"),
    *("smoker=False", "smoker=True", "bmi"),
)


def holed():
    out = CLINICAL.copy()
    out.loc[NAMES[:9], "sex"] = None
    out.loc[NAMES[5:12], "grade"] = None
    out["smoker"] = out["smoker"].astype("boolean")
    out.loc[NAMES[20:29], "smoker"] = pd.NA
    out.loc[NAMES[30:33], "age"] = np.nan
    return out


def model(**settings):
    return jella.SparseBDR(2, random_state=0, **settings)


# reading


def test_columns_become_indicators_in_their_place():
    view = read_views({"c": CLINICAL})[0]
    assert view.feature_names == FEATURES
    assert [(one.column, one.levels, one.first, one.form) for one in view.categories] == [
        ("sex", ("f", "m"), 1, "text"),
        ("grade", ("low", "mid", "high", "unseen"), 3, "ordered"),
        ("smoker", ("False", "True"), 7, "boolean"),
    ]
    expected = np.column_stack(
        [
            CLINICAL["age"],
            *(CLINICAL["sex"] == level for level in "fm"),
            *(CLINICAL["grade"] == level for level in ("low", "mid", "high", "unseen")),
            *(CLINICAL["smoker"] == level for level in (False, True)),
            CLINICAL["bmi"],
        ]
    )
    np.testing.assert_array_equal(view.X, expected)
    assert view.is_complete


def test_a_missing_cell_lacks_all_its_indicators():
    frame = holed()
    view = read_views([frame])[0]
    for column, features in {"sex": slice(1, 3), "grade": slice(3, 7), "smoker": slice(7, 9)}.items():
        wanted = np.repeat(frame[column].notna().to_numpy()[:, None], features.stop - features.start, axis=1)
        np.testing.assert_array_equal(view.mask[:, features], wanted)


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_types_of_text(dtype):
    frame = pd.DataFrame({"x": CLINICAL["bmi"], "t": CLINICAL["sex"].astype(dtype)})
    frame.loc[NAMES[0], "t"] = None
    done = model().fit(frame).complete(frame)
    assert done["t"].dtype == frame["t"].dtype
    assert done["t"].notna().all()
    assert done["t"].iloc[1:].equals(frame["t"].iloc[1:])


@pytest.mark.parametrize("name", ["string[pyarrow]", "bool[pyarrow]"])
def test_types_of_arrow(name):
    pytest.importorskip("pyarrow")
    values = CLINICAL["sex"] if "string" in name else CLINICAL["smoker"]
    frame = pd.DataFrame({"x": CLINICAL["bmi"], "t": values.astype(name)})
    frame.loc[NAMES[0], "t"] = pd.NA
    done = model().fit(frame).complete(frame)
    assert done["t"].dtype == frame["t"].dtype
    assert done["t"].notna().all()


def test_float32_stays():
    frame = CLINICAL[["age", "sex"]].astype({"age": np.float32})
    assert read_views([frame])[0].X.dtype == np.float32


@pytest.mark.parametrize(
    "texts",
    [
        [f"t{i}" for i in range(N)],  # ids
        [f"t{i % 51}" for i in range(N)],  # too many for their number
        [str(i % 3) for i in range(N)],  # numbers
        ["?" if i % 5 == 0 else str(i % 3) for i in range(N)],  # numbers with a mark
        ["1,5" if i % 2 else "2,5" for i in range(N)],
        [None] * N,
        [i if i % 2 else "a" for i in range(N)],
        [("a",)] * N,
        pd.Categorical([f"t{i}" for i in range(N)]),
    ],
)
def test_other_text_is_refused_by_the_name_of_its_column(texts):
    with pytest.raises(ValueError, match=r"view 'c' must hold real numbers, got non-numeric columns \['who'\]"):
        read_views({"c": CLINICAL.assign(who=texts)})


def test_the_limits_of_text():
    many = pd.DataFrame({"t": [f"t{i % 50}" for i in range(100)], "x": 1.0})
    assert read_views([many])[0].n_features == 51
    with pytest.raises(ValueError, match="non-numeric"):
        read_views([pd.DataFrame({"t": [f"t{i % 51}" for i in range(200)], "x": 1.0})])
    with pytest.raises(ValueError, match="non-numeric"):
        read_views([many.iloc[:99]])


def test_levels_and_features_of_one_name_are_refused():
    twice = pd.Categorical([1, "1"] * (N // 2), categories=[1, "1"])
    with pytest.raises(ValueError, match="expected levels of different names in column 'g' of view 'c', got '1'"):
        read_views({"c": CLINICAL.assign(g=twice)})
    with pytest.raises(ValueError, match="expected features of different names in view 'c', got 'sex=f' twice"):
        read_views({"c": CLINICAL.assign(**{"sex=f": 1.0})})


def test_masks_are_those_of_the_columns():
    frame = holed()
    observed = frame.notna()
    garbage = frame.fillna({"sex": "m", "grade": "low", "smoker": True, "age": 1e9})
    for mask in (observed, observed.to_numpy(), read_views([frame])[0].mask, observed[observed.columns[::-1]]):
        views = read_views({"c": garbage}, {"c": mask})
        np.testing.assert_array_equal(views[0].mask, read_views([frame])[0].mask)
        np.testing.assert_array_equal(views[0].X, read_views([frame])[0].X)
    with pytest.raises(ValueError, match=r"must have shape \(90,\) or \(90, 5\), got \(90, 4\)"):
        read_views({"c": garbage}, {"c": observed.to_numpy()[:, :4]})


# completing


@pytest.mark.parametrize("several", [True, False])
def test_completed_tables_come_back_as_they_were(several):
    frame = holed()
    X = {"c": frame, "rna": RNA} if several else frame
    fitted = model().fit(X)
    done = fitted.complete(X)["c"] if several else fitted.complete(X)
    assert list(done.columns) == list(frame.columns)
    pd.testing.assert_series_equal(done.dtypes, frame.dtypes)
    assert done.notna().all(axis=None)
    for column in frame:
        known = frame[column].notna()
        pd.testing.assert_series_equal(done[column][known], frame[column][known])
        if column in ("sex", "grade", "smoker"):
            assert (done[column] == CLINICAL[column])[~known].mean() > 0.7
    assert fitted.n_features_in_ == (15 if several else 10)
    assert list(fitted.feature_names_in_)[:10] == list(FEATURES)


def test_truth_values_without_gaps_stay_truth_values_for_new_samples():
    X = {"c": CLINICAL, "rna": RNA}
    half = {"c": CLINICAL.iloc[:60], "rna": RNA}
    done = model().fit(X).complete(half)["c"]
    assert done["smoker"].dtype == bool
    assert (done["smoker"] == CLINICAL["smoker"]).mean() > 0.9
    assert done["grade"].dtype == CLINICAL["grade"].dtype
    assert list(done.index) == list(NAMES)


def test_truth_values_in_columns_of_objects():
    frame = CLINICAL.assign(smoker=CLINICAL["smoker"].astype(object))
    frame.loc[NAMES[:5], "smoker"] = None
    done = model().fit(frame).complete(frame)["smoker"]
    assert done.dtype == object
    assert {type(one) for one in done} == {bool}


def test_other_orders_of_columns_and_parts_of_levels():
    frame, fitted = holed(), model().fit({"c": holed(), "rna": RNA})
    whole = fitted.complete({"c": frame, "rna": RNA})["c"]
    turned = frame[frame.columns[::-1]]
    pd.testing.assert_frame_equal(fitted.complete({"c": turned, "rna": RNA})["c"], whole[turned.columns])
    assert fitted.read({"c": turned, "rna": RNA})[0].categories == fitted.schema_.categories[0]
    some = frame.index[(frame["sex"] != "f")]  # no 'f' among these, but some cells without a level
    part = frame.loc[some].assign(grade=frame.loc[some, "grade"].cat.remove_unused_categories())
    done = fitted.complete({"c": part, "rna": RNA.loc[some]})["c"]
    assert (done["sex"] == whole.loc[some, "sex"]).all()
    assert (done["sex"] == "f").any()
    np.testing.assert_array_equal(
        fitted.transform({"c": part, "rna": RNA.loc[some]}),
        fitted.transform({"c": frame, "rna": RNA})[frame.index.isin(some)],
    )


def test_a_completed_level_that_a_part_does_not_name():
    fitted = model().fit({"c": CLINICAL, "rna": RNA})
    part = CLINICAL.iloc[:30].copy()
    part["grade"] = pd.Categorical([None] * 30, categories=["low"], ordered=True)
    done = fitted.complete({"c": part, "rna": RNA.iloc[:30]})["c"]["grade"]
    assert (done.astype(str) == CLINICAL["grade"].iloc[:30].astype(str)).mean() > 0.7
    assert list(done.cat.categories) == ["low", "mid", "high", "unseen"]
    assert done.cat.ordered


def test_unknown_levels_are_refused():
    fitted = model().fit({"c": CLINICAL, "rna": RNA})
    for change, level in (({"sex": "x"}, "'x'"), ({"smoker": "maybe"}, "'maybe'")):
        words = (
            f"expected a level of the fit in column '{next(iter(change))}' of view 'c', got {level}; leave it missing"
        )
        with pytest.raises(ValueError, match=words):
            fitted.transform({"c": CLINICAL.assign(**change), "rna": RNA})
    with pytest.raises(ValueError, match="must have the 10 columns of the fit"):
        fitted.transform({"c": CLINICAL.drop(columns="sex"), "rna": RNA})


def test_new_samples_without_any_level():
    fitted = model().fit({"c": CLINICAL, "rna": RNA})
    part = CLINICAL.iloc[:4].assign(sex=np.nan)
    assert fitted.complete({"c": part, "rna": RNA.iloc[:4]})["c"]["sex"].isin(["f", "m"]).all()


def test_a_view_that_is_left_out_comes_back_with_its_columns():
    done = model().fit({"c": CLINICAL, "rna": RNA}).complete({"rna": RNA.iloc[:20]})["c"]
    assert list(done.columns) == list(CLINICAL.columns)
    assert done["smoker"].dtype == bool
    assert list(done["grade"].cat.categories) == ["low", "mid", "high", "unseen"]
    assert (done["sex"] == CLINICAL["sex"].iloc[:20]).mean() > 0.8


def test_samples_without_any_value_keep_their_holes():
    frame = CLINICAL.drop(index=NAMES[3]).reindex(NAMES)
    done = model(on_empty="drop").fit(frame).complete(frame)
    assert done.loc[NAMES[3]].isna().all()
    assert done.drop(index=NAMES[3]).notna().all(axis=None)


def test_saved_models_know_the_levels(tmp_path):
    X = {"c": holed(), "rna": RNA}
    fitted = model().fit(X)
    fitted.save(tmp_path / "m.jella")
    loaded = jella.load(tmp_path / "m.jella")
    assert loaded.schema_ == fitted.schema_
    pd.testing.assert_frame_equal(loaded.complete(X)["c"], fitted.complete(X)["c"])
    with pytest.raises(ValueError, match="got 'x'"):
        loaded.transform({"c": CLINICAL.assign(sex="x"), "rna": RNA})


def test_schemas_with_categories_out_of_place_are_refused():
    from dataclasses import replace

    from jella.saving.rules import check_record

    views = read_views({"c": CLINICAL})
    schema = Schema.of(views, {"c": CLINICAL})
    check_record(schema)
    sex = schema.categories[0][0]
    for wrong in (replace(sex, first=2), replace(sex, levels=("f", "x")), replace(sex, first=9)):
        with pytest.raises(ValueError, match=r"expected (features with the names|categories within)"):
            check_record(replace(schema, categories=((wrong,),)))


# hiding


@pytest.mark.parametrize("draw", ["setting", "missing", "score"])
def test_whole_cells_are_hidden(draw):
    views, rng = read_views({"c": holed()}), np.random.default_rng(0)
    hidden = {
        "setting": lambda: draw_setting(views, 0.3, "mcar", rng),
        "missing": lambda: draw_as_missing(views, 0.3, "entries", rng),
        "score": lambda: draw_for_score(views, rng),
    }[draw]()
    where = hidden[0]
    assert where.shape == (N, 10)
    for category in views[0].categories:
        cells = where[:, category.features]
        assert cells.any()
        assert (cells.all(axis=1) == cells.any(axis=1)).all()
    after = read_views(hidden.apply_to({"c": holed()}, views), schema=Schema.of(views, {"c": holed()}))
    np.testing.assert_array_equal(after[0].mask, views[0].mask & ~where)
    np.testing.assert_array_equal(after[0].X, hidden.apply(views)[0].X)


def test_the_share_of_hidden_values_is_one_of_cells():
    views = read_views({"c": CLINICAL})
    (where,) = draw_setting(views, 0.4, "mcar", np.random.default_rng(0))
    assert where[:, [0, 1, 3, 7, 9]].sum() == round(0.4 * N * 5)


def test_one_hidden_indicator_hides_its_cell():
    views = read_views({"c": CLINICAL})
    where = np.zeros((N, 10), dtype=bool)
    where[4, 5] = True
    hidden = Hidden((where,))
    assert hidden.apply_to({"c": CLINICAL}, views)["c"]["grade"].isna().sum() == 1
    assert not hidden.apply(views)[0].mask[4, 3:7].any()
    assert Hidden.read({"c": where}, views)[0][4].sum() == 4


def test_a_fit_knows_levels_that_are_hidden_everywhere():
    rare = CLINICAL.assign(sex=np.where(np.arange(N) == 7, "x", CLINICAL["sex"]))
    views = read_views({"c": rare, "rna": RNA})
    where = np.zeros((N, 11), dtype=bool)
    where[7, 1:4] = True
    apart = Hidden((where, np.zeros((N, 1), dtype=bool))).apply_to({"c": rare, "rna": RNA}, views)
    assert read_views(apart)[0].feature_names == views[0].feature_names


def test_held_out_errors():
    X = {"c": holed(), "rna": RNA}
    for what in ("auto", "entries", "views"):
        assert 0 < held_out_error(model(), X, HeldOut(random_state=0, what=what)) < 0.8
    ((gone, hidden),) = HeldOut(random_state=0, what="entries").split(X)
    done = model().fit(gone).complete(gone)
    assert HeldOut().score(X, done, hidden) < 0.8
    completion = jella.complete(X)
    assert completion.error < 0.7 * completion.mean_error
    assert completion.views["c"].notna().all(axis=None)
    assert np.isfinite(model().fit(X).score(X))


def test_rmse_counts_the_indicators():
    other = CLINICAL.copy()
    other.loc[NAMES[0], "sex"] = "m" if CLINICAL["sex"].iloc[0] == "f" else "f"
    assert rmse(CLINICAL, other) == pytest.approx(np.sqrt(2 / (10 * N)))
    missing = pd.DataFrame(False, index=NAMES, columns=CLINICAL.columns)
    missing.loc[NAMES[:2], "sex"] = True
    assert rmse(CLINICAL, other, missing=missing) == pytest.approx(np.sqrt(1 / 2))
    assert rmse(CLINICAL, other[other.columns[::-1]], missing=missing.to_numpy()) == pytest.approx(np.sqrt(1 / 2))


def test_align_keeps_categories():
    X = {"c": CLINICAL.iloc[:60], "rna": RNA}
    both = jella.align(X, ids="union")
    assert read_views(both)[0].feature_names == FEATURES
    done = model().fit(both).complete(both)["c"]
    assert (done["sex"] == CLINICAL["sex"]).mean() > 0.9
    assert set(done["smoker"]) == {True, False}


# probabilities


def test_probabilities_are_probabilities():
    rng = np.random.default_rng(0)
    shares = np.array([0.2, 0.5, 0.3])
    values = rng.normal(size=(50, 3))
    values[0], values[1], values[2] = [-1, -2, -3], [np.nan, 0, 1], [1e308, 1e308, 0]
    found = probabilities(values, shares)
    assert np.isnan(found[1]).all()
    rest = np.delete(found, 1, axis=0)
    assert (rest >= 0).all()
    np.testing.assert_allclose(rest.sum(axis=1), 1)
    np.testing.assert_array_equal(found[0], shares)
    np.testing.assert_allclose(found[2], [0.5, 0.5, 0])


def test_completed_levels_are_the_most_probable():
    X = {"c": holed(), "rna": RNA}
    fitted = model().fit(X)
    views = fitted.read(X)
    answers = fitted.readout_
    found = level_probabilities(views, answers.in_units(views, answers.expect(answers.embed(views))))
    assert list(found) == ["c"]
    frame = found["c"]
    assert list(frame.columns) == list(FEATURES[1:9])
    done = fitted.complete(X)["c"]
    for column in ("sex", "grade", "smoker"):
        own = frame.filter(regex=f"^{column}=")
        np.testing.assert_allclose(own.sum(axis=1), 1)
        assert (own.idxmax(axis=1) == column + "=" + done[column].astype(str)).all()
        known = holed()[column].notna()
        assert set(np.unique(own[known])) == {0.0, 1.0}


def test_kinds_of_categories():
    views = read_views({"c": CLINICAL, "rna": RNA})
    found = Kinds.learn(views)
    assert found.by_view[0].tolist() == ["amount", *["categorical"] * 8, "amount"]
    assert found.groups(0) == [slice(1, 3), slice(3, 7), slice(7, 9)]
    assert found.summary(views.names) == {"c": "categorical (3), amount (2)", "rna": "real"}
    assert Kinds.learn(views, {"c": "real"}).by_view[0].tolist() == ["real", *["categorical"] * 8, "real"]
    with pytest.raises(ValueError, match="expected a kind that fits the levels of a category for feature 'sex=f'"):
        Kinds.learn(views, {"c": {"sex=f": "binary"}})


# other frames


def other_frame(library, frame):
    columns = {column: [None if pd.isna(cell) else cell for cell in frame[column]] for column in frame}
    module = pytest.importorskip(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_frames(library):
    clinical = holed()[["age", "sex", "smoker"]].reset_index(names="id")
    X = {"c": other_frame(library, clinical), "rna": other_frame(library, RNA.reset_index(names="id"))}
    views = read_views(X)
    assert views[0].feature_names == ("age", "sex=f", "sex=m", "smoker=False", "smoker=True")
    done = model().fit(X).complete(X)["c"]
    assert type(done) is type(X["c"])
    schema = (lambda t: [t[c].type for c in t.column_names]) if library == "pyarrow" else (lambda t: t.dtypes)
    assert schema(done) == schema(X["c"])
    columns = {name: list(done[name].to_pylist() if library == "pyarrow" else done[name]) for name in ("sex", "smoker")}
    for column, cells in columns.items():
        known = holed()[column].notna().to_numpy()
        assert np.array_equal(np.array(cells)[known], holed()[column].to_numpy()[known].astype(np.array(cells).dtype))
        assert (np.array(cells) == CLINICAL[column].to_numpy()).mean() > 0.9
    assert 0 < held_out_error(model(), X) < 0.8


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_errors_of_means_where_a_level_is_hidden_everywhere(library):
    rare = CLINICAL[["age", "sex"]].assign(sex=np.where(np.arange(N) == 7, "x", CLINICAL["sex"]))
    X = {"c": other_frame(library, rare.reset_index(names="id"))}
    views = read_views(X)
    where = np.zeros((N, 4), dtype=bool)
    where[5:9, 1:] = True
    trials = Trials(X, None, views, False, (Hidden((where,)),), [np.ones(1)])
    assert 0 < mean_errors(trials, trials.holed(0), 0)[0] < 1


def test_categories_of_polars():
    pl = pytest.importorskip("polars")
    cells = [None, *CLINICAL["sex"].iloc[1:]]
    frame = pl.DataFrame(
        {
            "x": LATENT,
            "c": pl.Series(cells, dtype=pl.Categorical),
            "e": pl.Series(cells, dtype=pl.Enum(["m", "f", "x"])),
        }
    )
    views = read_views([frame])
    assert views[0].feature_names is not None
    assert set(views[0].feature_names) == {"x", "c=f", "c=m", "e=m", "e=f", "e=x"}
    done = model().fit(frame).complete(frame)
    assert done.dtypes == frame.dtypes
    assert done.null_count().sum_horizontal()[0] == 0
    assert done["e"].to_list()[1:] == cells[1:]


def test_chunks_take_truth_values_as_numbers_and_refuse_text():
    dd = pytest.importorskip("dask.dataframe")
    numbers = CLINICAL[["age", "smoker"]]
    fitted = jella.MVLIV(n_components=1).fit({"c": dd.from_pandas(numbers, npartitions=3)})
    assert list(fitted.feature_names_in_) == ["age", "smoker"]
    with pytest.raises(ValueError, match="non-numeric columns"):
        jella.MVLIV(n_components=1).fit({"c": dd.from_pandas(CLINICAL, npartitions=3)})
    in_memory = model().fit({"c": CLINICAL})
    with pytest.raises(ValueError, match="expected samples in memory for a model of categories"):
        in_memory.transform({"c": dd.from_pandas(CLINICAL, npartitions=3)})


# files


def stored(folder, kind, frame):
    folder.mkdir()
    if kind == "csv":
        frame.to_csv(folder / "c.csv")
        RNA.to_csv(folder / "rna.csv")
    elif kind == "xlsx":
        with pd.ExcelWriter(folder / "all.xlsx") as book:
            frame.to_excel(book, sheet_name="c")
            RNA.to_excel(book, sheet_name="rna")
    else:
        frame.to_parquet(folder / "c.parquet")
        RNA.to_parquet(folder / "rna.parquet")
    return folder


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_files_come_back_as_text(tmp_path, kind):
    pytest.importorskip({"csv": "pandas", "xlsx": "openpyxl", "parquet": "pyarrow"}[kind])
    frame = holed()[["age", "sex", "grade", "smoker"]].astype({"grade": object}).round(3)
    data = read(stored(tmp_path / "in", kind, frame))
    assert data.notes[0] == "Columns of view 'c' read as categories: 'sex' (2 levels) and 'grade' (3 levels)."
    done = model().fit(data.views).complete(data.views)
    written = write_views(done, tmp_path / "out", like=data)
    back = read(written[0] if kind == "xlsx" else written).views["c"]
    assert set(back["smoker"]) == {True, False}
    for column in ("sex", "grade", "smoker"):
        known = frame[column].notna()
        assert back[column].notna().all()
        assert back[column][known].tolist() == frame[column][known].tolist()
        assert (back[column].astype(str) == CLINICAL[column].astype(str))[~known].mean() > 0.7
    if kind == "csv":
        before, after = ((tmp_path / one / "c.csv").read_text().splitlines() for one in ("in", "out"))
        assert before[34:] == after[34:]


def test_parquet_keeps_the_type_category(tmp_path):
    pytest.importorskip("pyarrow")
    data = read(stored(tmp_path / "in", "parquet", holed()))
    done = model().fit(data.views).complete(data.views)
    write_views(done, tmp_path / "out", like=data)
    back = pd.read_parquet(tmp_path / "out" / "c.parquet")
    assert back["grade"].dtype == CLINICAL["grade"].dtype
    pd.testing.assert_frame_equal(back[["sex", "grade", "smoker"]], done["c"][["sex", "grade", "smoker"]])


@pytest.mark.parametrize("words", [("FALSE", "TRUE"), ("false", "true"), ("False", "True")])
def test_truth_values_in_text_tables_are_categories_in_the_letters_of_the_file(tmp_path, words):
    smoker = [words[value] for value in CLINICAL["smoker"].astype(int)]
    frame = CLINICAL[["age", "sex"]].round(3).assign(smoker=smoker)
    frame.loc[NAMES[:20], "smoker"] = None
    frame.to_csv(tmp_path / "c.csv")
    data = read(tmp_path / "c.csv")
    fitted = model().fit(data.views)
    assert fitted.kinds_.summary(["c"]) == model().fit(holed()[["age", "sex", "smoker"]]).kinds_.summary(["c"])
    write_views(fitted.complete(data.views), tmp_path / "out", like=data)
    back = pd.read_csv(tmp_path / "out" / "c.csv", dtype=str)
    assert set(back["smoker"]) == set(words)
    assert back["smoker"][20:].tolist() == smoker[20:]


def test_one_category_in_a_file(tmp_path):
    CLINICAL[["age", "sex"]].to_csv(tmp_path / "clinical.csv")
    assert read(tmp_path / "clinical.csv").notes[0] == "Column 'sex' of view 'clinical' read as a category of 2 levels."
    with pytest.raises(DataError, match="got text in the columns 'sex'"):
        read(tmp_path / "clinical.csv", non_numeric="error")


def test_numbers_with_a_mark_are_no_category(tmp_path):
    marked = CLINICAL[["age"]].assign(count=["?" if i % 7 == 0 else str(i % 3) for i in range(N)])
    marked.to_csv(tmp_path / "c.csv")
    with pytest.raises(DataError, match=r"got text such as '\?' in 13 of 90 rows of 'count'; pass missing=\['\?'\]"):
        read(tmp_path / "c.csv")
    assert read(tmp_path / "c.csv", missing=["?"]).views["c"]["count"].isna().sum() == 13


def test_text_in_files_with_samples_in_columns(tmp_path):
    frame = CLINICAL[["age", "sex"]].round(3)
    frame.loc[NAMES[2], "sex"] = None
    frame.T.to_csv(tmp_path / "c.csv")
    RNA.T.to_csv(tmp_path / "rna.csv")
    data = read(tmp_path, samples="columns")
    done = model().fit(data.views).complete(data.views)
    write_views(done, tmp_path / "out", like=data)
    before, after = ((tmp_path / one).read_text().splitlines() for one in ("c.csv", "out/c.csv"))
    assert before[:2] == after[:2]
    sexes = [line.split(",") for line in (before[2], after[2])]
    assert [i for i, (old, new) in enumerate(zip(*sexes, strict=True)) if old != new] == [3]
    assert sexes[1][3] == CLINICAL["sex"].iloc[2]


def test_completed_cells_of_tables_run_no_formulas(tmp_path):
    formula = CLINICAL[["age", "sex"]].replace({"sex": {"f": "=f"}})
    file = tmp_path / "c.csv"
    formula.to_csv(file)
    data = read(file)
    assert read(file).views["c"]["sex"].tolist() == formula["sex"].tolist()
    gaps = data.views["c"]["sex"].where(formula["age"] < 60)
    text = "".join(
        line if keep else line.rpartition(",")[0] + ",\n"
        for line, keep in zip(file.read_text().splitlines(keepends=True), [True, *gaps.notna()], strict=True)
    )
    file.write_text(text)
    data = read(file)
    done = model().fit(data.views).complete(data.views)
    write_views(done, tmp_path / "out", like=data)
    assert ",'=f\n" in (tmp_path / "out" / "c.csv").read_text()
    assert read(tmp_path / "out" / "c.csv").views["c"]["sex"].tolist() == done["c"]["sex"].tolist()


def test_new_files_of_categories(tmp_path):
    formula = CLINICAL[["age", "sex"]].replace({"sex": {"f": "=f"}})
    write_views({"c": formula}, tmp_path)
    assert ",'=f" in (tmp_path / "c.csv").read_text()
    assert read(tmp_path / "c.csv").views["c"]["sex"].tolist() == formula["sex"].tolist()
    write_views({"c": CLINICAL, "rna": RNA}, tmp_path / "all.npz")
    assert np.load(tmp_path / "all.npz")["c"].shape == (N, 10)


def test_few_new_samples_on_the_command_line(tmp_path, capsys):
    data, new = stored(tmp_path / "in", "csv", holed()[["age", "sex", "grade"]]), tmp_path / "new"
    assert main(["cluster", str(data), "-o", str(tmp_path / "out"), "--no-report", "--quiet", "-k", "2"]) == 0
    new.mkdir()
    some = (
        CLINICAL[["age", "sex", "grade"]].iloc[[3, 50, 60]].set_axis(["n1", "n2", "n3"], axis=0).astype({"grade": str})
    )
    some.loc["n1", "sex"] = None
    some.to_csv(new / "c.csv")
    RNA.iloc[[3, 50, 60]].set_axis(["n1", "n2", "n3"], axis=0).to_csv(new / "rna.csv")
    with pytest.raises(DataError, match="got text in the columns"):
        read(new)
    assert main(["transform", str(tmp_path / "out"), str(new), "-o", str(tmp_path / "more"), "--quiet"]) == 0
    back = pd.read_csv(tmp_path / "more" / "completed" / "c.csv", index_col=0)
    assert back.loc["n1", "sex"] == CLINICAL["sex"].iloc[3]
    assert back.loc[["n2", "n3"], ["sex", "grade"]].equals(some.loc[["n2", "n3"], ["sex", "grade"]])
    some.assign(sex=["f", "x", "m"]).to_csv(new / "c.csv")
    capsys.readouterr()
    assert main(["transform", str(tmp_path / "out"), str(new), "-o", str(tmp_path / "no")]) == 2
    assert "in column 'sex' of view 'c', got 'x'" in capsys.readouterr().err
