"""Covariates: effects are removed, put back, shrunk; batches no longer explain clusters and classes still do."""

from __future__ import annotations

import csv
import shutil
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import jella
from jella.cli.main import main
from jella.views import read_views
from jella.views.effects import Design, learn_effects

N = 90
CLASSES, BATCHES = np.arange(N) % 3, np.arange(N) // 3 % 4


def planted(seed: int = 0, size: float = 3.0, *, holes: bool = True) -> dict[str, np.ndarray]:
    """Classes, and stronger effects of four batches and of age; 20 samples lack a view."""
    rng = np.random.default_rng(seed)
    made = {}
    for name, d in (("rna", 20), ("protein", 15)):
        effects = size * rng.normal(size=(4, d))[BATCHES] + 0.5 * ages()[:, None] * rng.normal(size=d)
        made[name] = 1.5 * rng.normal(size=(3, d))[CLASSES] + effects + rng.normal(size=(N, d))
    if not holes:
        return made
    made["protein"][rng.permutation(N)[:20]] = np.nan
    made["rna"][rng.random(made["rna"].shape) < 0.1] = np.nan
    return made


def ages() -> np.ndarray:
    return np.random.default_rng(9).normal(size=N)


def covariates() -> dict[str, np.ndarray]:
    return {"batch": BATCHES, "age": ages()}


def nmi(labels: np.ndarray, truth: np.ndarray) -> float:
    return jella.metrics.nmi(truth, labels)


def test_batches_no_longer_explain_clusters_and_classes_still_do():
    known = covariates() | {"class": CLASSES}
    before = jella.cluster(planted(), 3, metadata=known, evidence=False)
    after = jella.cluster(planted(), 3, metadata=known, covariates=["batch", "age"], evidence=False)
    assert nmi(before.labels, BATCHES) > 0.6 > 0.2 > nmi(before.labels, CLASSES)
    assert nmi(after.labels, CLASSES) > 0.9 > 0.1 > nmi(after.labels, BATCHES)
    assert before.metadata.loc["batch", "verdict"] == after.metadata.loc["class", "verdict"] == "associated"
    assert after.metadata.loc["batch", "verdict"] == "not associated"
    assert "adjusted    for batch and age: removed" in repr(after)
    assert after.adjuster.explained_["rna"] > 0.5


def test_completed_values_come_back_in_the_units_given():
    X = planted()
    truth = planted()
    rng = np.random.default_rng(5)
    hidden = (rng.random(truth["rna"].shape) < 0.1) & ~np.isnan(truth["rna"])
    X["rna"][hidden] = np.nan
    done = jella.complete(X, covariates=covariates(), interval=0.9)
    plain = jella.complete(X)
    for name, view in X.items():
        seen = ~np.isnan(view)
        assert np.array_equal(done.views[name][seen], view[seen])
        assert not np.isnan(done.views[name]).any()
        assert (done.lower[name] <= done.views[name]).all()
        assert (done.views[name] <= done.upper[name]).all()
    errors = [np.sqrt(np.mean((one.views["rna"] - truth["rna"])[hidden] ** 2)) for one in (done, plain)]
    assert errors[0] < errors[1]
    assert done.kinds == {"rna": "real", "protein": "real"}
    unit = np.nanstd(done.adjuster.transform(X, covariates())["rna"], axis=0)
    error = np.sqrt(np.mean(((done.views["rna"] - truth["rna"]) / unit)[hidden] ** 2))
    title = jella.plot.completed(done, truth, view="rna").get_title(loc="left")
    assert title.startswith(f"rna: {hidden.sum()} hidden values, error {error:.2f}; intervals hold")


def test_tables_and_plots_of_a_result_show_adjusted_values():
    X = planted()
    found = jella.cluster(X, 3, covariates=covariates(), evidence=False)
    assert np.array_equal(found.complete()["rna"][~np.isnan(X["rna"])], X["rna"][~np.isnan(X["rna"])])
    adjusted, top = found.adjuster.transform(X, covariates())["rna"], found.markers(1).iloc[0]
    assert top["mean"] == pytest.approx(np.nanmean(adjusted[found.labels == 0, int(top["feature"].split()[1])]))
    names = [word.get_text() for word in jella.plot.heatmap(found, n_features=1).get_yticklabels()]
    assert len(names) == 2
    assert found.model.adjusted_for_ == ("batch", "age")
    assert found.model.fit(X).adjusted_for_ == ()


def halves():
    """Three samples of four, the other ones, and the covariates of both."""
    X, known, first = planted(), covariates(), np.arange(N) % 4 > 0
    parts = [{name: view[rows] for name, view in X.items()} for rows in (first, ~first)]
    return *parts, *({name: column[rows] for name, column in known.items()} for rows in (first, ~first)), ~first


def test_a_model_takes_new_samples_with_their_covariates(tmp_path):
    X, new, known, of_new, rows = halves()
    found = jella.cluster(X, 3, covariates=known, evidence=False)
    found.model.save(tmp_path / "model.jella")
    for model in (found.model, jella.load(tmp_path / "model.jella")):
        assert model.adjusted_for_ == ("batch", "age")
        assert nmi(model.predict(new, covariates=of_new), CLASSES[rows]) > 0.8
        assert nmi(model.predict(new, covariates="removed"), CLASSES[rows]) < 0.7  # what the refusal saves users from
        adjusted = found.adjuster.transform(new, of_new)
        for method in ("transform", "predict", "predict_proba", "score"):
            answer = getattr(model, method)
            np.testing.assert_array_equal(answer(new, covariates=of_new), answer(adjusted, covariates="removed"))
        np.testing.assert_array_equal(model.predict(X, covariates=known), found.labels)
        np.testing.assert_array_equal(model.predict(found.adjuster.transform(X, known)), found.labels)


def test_new_samples_are_completed_in_the_units_given():
    X, new, known, of_new, rows = halves()
    found = jella.cluster(X, 3, covariates=known, evidence=False)
    done = found.model.complete(new, covariates=of_new, interval=0.9)
    adjusted = found.adjuster.transform(new, of_new)
    apart = found.model.complete(adjusted, covariates="removed")
    for name, view in found.adjuster.restore(apart, new, of_new).items():
        seen = ~np.isnan(new[name])
        assert np.array_equal(done.views[name][seen], new[name][seen])
        assert (done.lower[name] <= done.upper[name]).all()
        np.testing.assert_array_equal(done.views[name], view)
    hidden, truth = np.isnan(new["protein"]).all(axis=1), planted(holes=False)["protein"][rows]
    errors = [np.mean((one["protein"] - truth)[hidden] ** 2) for one in (done.views, apart)]
    assert hidden.sum() > 3
    assert errors[0] < 0.5 * errors[1]


def test_samples_that_were_not_adjusted_are_refused():
    X, new, known, of_new, _ = halves()
    model = jella.cluster(X, 3, covariates=known, evidence=False).model
    says = "adjusted for batch and age, got none for .* samples?; pass covariates={'batch': ..., 'age': ...}, or"
    for method in ("transform", "predict", "predict_proba", "complete", "score"):
        for samples in (new, X):
            with pytest.raises(ValueError, match=says):
                getattr(model, method)(samples)
    with pytest.raises(ValueError, match="batches for a model of views as they are"):
        model.partial_fit(new)
    with pytest.raises(ValueError, match="no covariates with a MVLIV of views as they are"):
        jella.MVLIV(3).fit(X).predict(new, covariates=of_new)
    with pytest.raises(ValueError, match=r"expected the covariate 'age' as in the fit, got \['batch'\]"):
        model.predict(new, covariates={"batch": of_new["batch"]})


def test_a_report_says_what_was_removed_and_takes_adjusted_views(tmp_path):
    X, known = planted(), covariates()
    found = jella.cluster(X, 3, covariates=known, evidence=False)
    write_report = partial(jella.report.write_report, tmp_path / "r.html", found.model, held_out=False)
    page = write_report(found.adjuster.transform(X, known)).read_text()
    assert "This page is about values without the effects of batch and age." in page
    with pytest.raises(ValueError, match="pass the views adjusted for batch and age, as jella"):
        write_report(X)


def test_more_samples_than_landmarks_are_completed_too():
    X, known = planted(), covariates()
    found = jella.cluster(X, 3, covariates=known, evidence=False, landmarks=50, calibrate=False)
    assert not np.isnan(found.complete()["rna"]).any()
    assert found.markers(1).shape[0] == 6


def test_effects_are_least_squares_where_they_are_strong(rng):
    C = Design.learn({"batch": np.arange(60) % 3}).matrix({"batch": np.arange(60) % 3})
    effects = 5 * rng.normal(size=(3, 4))
    effects -= effects.mean(axis=0)
    X = 7.0 + C @ effects + 0.1 * rng.normal(size=(60, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    found = learn_effects(read_views([X])[0], C, np.zeros(3, dtype=int))
    np.testing.assert_allclose(C @ found, C @ effects, atol=0.15)
    for j in range(4):  # the same as least squares on the observed values of a feature
        seen = ~np.isnan(X[:, j])
        A = np.column_stack([np.ones(seen.sum()), C[seen]])
        b = np.linalg.lstsq(A, X[seen, j], rcond=None)[0][1:]
        np.testing.assert_allclose(C @ found[:, j], C @ (b - b.mean()), atol=0.02)


def test_effects_are_shrunk_where_there_are_none(rng):
    noise, batch = {"x": rng.normal(size=(60, 200))}, rng.integers(0, 5, 60)
    adjuster = jella.Adjuster().fit(noise, {"batch": batch})
    assert adjuster.explained_["x"] < 0.02  # least squares would remove 4 of 59 parts of the variance


def test_small_batches_are_shrunk_more(rng):
    batch = np.repeat(["large", "other", "small"], [40, 37, 3])
    X = np.where(batch == "small", 1.0, 0.0)[:, None] + rng.normal(size=(80, 100))
    X += np.where(batch == "large", 1.0, 0.0)[:, None]
    adjuster = jella.Adjuster().fit([X], {"batch": batch})
    left = adjuster.transform([X], {"batch": batch})[0]
    share = [
        1
        - (left[batch == one].mean() - left[batch == "other"].mean())
        / (X[batch == one].mean() - X[batch == "other"].mean())
        for one in ("large", "small")
    ]
    assert share[0] > share[1] > 0.2


def test_it_is_reversible_and_keeps_the_mean():
    X, known = planted(), covariates()
    adjuster = jella.Adjuster().fit(X, known)
    Y = adjuster.transform(X, known)
    back = adjuster.inverse_transform(Y, known)
    for name in X:
        np.testing.assert_allclose(back[name], X[name], atol=1e-9)
        assert np.array_equal(np.isnan(Y[name]), np.isnan(X[name]))
    batch = np.repeat([0, 1, 2], [25, 10, 5])
    complete = np.random.default_rng(0).normal(size=(40, 3)) + batch[:, None]
    adjusted = jella.Adjuster().fit_transform(complete, {"batch": batch})
    np.testing.assert_allclose(adjusted.mean(axis=0), complete.mean(axis=0))


def test_new_samples_and_unknown_covariates():
    X, known = planted(), covariates()
    adjuster = jella.Adjuster().fit(X, known)
    new = {"rna": X["rna"][:5]}
    some = {name: column[:5] for name, column in known.items()}
    np.testing.assert_array_equal(adjuster.transform(new, some)["rna"], adjuster.transform(X, known)["rna"][:5])
    nothing = {"batch": [None] * 5, "age": [np.nan] * 5}
    np.testing.assert_array_equal(adjuster.transform(new, nothing)["rna"], new["rna"])
    with pytest.raises(ValueError, match="that the fit has seen, got '7'; leave them empty"):
        adjuster.transform(new, some | {"batch": [7] * 5})
    with pytest.raises(ValueError, match=r"expected the covariate 'age' as in the fit, got \['batch'\]"):
        adjuster.transform(new, {"batch": BATCHES[:5]})
    with pytest.raises(ValueError, match="expected numbers in the covariate 'age' as in the fit, got text"):
        adjuster.transform(new, some | {"age": ["old"] * 5})


def test_values_stay_in_the_range_of_their_kind(rng):
    batch = np.arange(60) % 2
    X = {"a": rng.gamma(2.0, size=(60, 6)) * (1 + 4 * batch[:, None]), "b": rng.gamma(2.0, size=(60, 5))}
    X["a"][:10] = np.nan
    adjuster = jella.Adjuster().fit(X, {"batch": batch})
    low = {name: np.full(view.shape, -50.0) for name, view in X.items()}
    back = adjuster.restore(low, X, {"batch": batch})
    assert (back["a"][:10] == 0).all()
    assert np.array_equal(back["a"][10:], X["a"][10:])
    done = jella.complete(X, covariates={"batch": batch}, kinds="amount")  # adjusted values may be negative
    assert done.kinds == {"a": "amount", "b": "amount"}
    assert done.views["a"].min() >= 0


@pytest.mark.parametrize("container", ["frames", "MultiView", "list", "one", "observed"])
def test_containers(container):
    X, known = planted(), covariates()
    ids = [f"s{i}" for i in range(N)]
    frames = {name: pd.DataFrame(view, index=ids).add_prefix("g") for name, view in X.items()}
    table, how = pd.DataFrame(known, index=ids).sample(frac=1.0, random_state=0), {}
    given = {
        "frames": frames,
        "MultiView": jella.MultiView({"rna": frames["rna"], "protein": X["protein"]}, ids=ids),
        "list": [X["rna"], X["protein"]],
        "one": X["rna"],
        "observed": {name: np.nan_to_num(view) for name, view in X.items()},
    }[container]
    if container == "observed":
        how["observed"] = {name: ~np.isnan(view) for name, view in X.items()}
    known = table if container in ("frames", "MultiView") else known
    expected = jella.Adjuster().fit_transform(X, covariates())
    adjuster = jella.Adjuster().fit(given, known, **how)
    Y = adjuster.transform(given, known, **how)
    assert isinstance(Y, {"list": list, "one": np.ndarray, "MultiView": jella.MultiView}.get(container, dict))
    first = Y if container == "one" else Y[0] if container == "list" else Y["rna"]
    if container != "one":
        np.testing.assert_allclose(np.asarray(first), expected["rna"])
    model = jella.MVLIV(3, random_state=0).fit(Y)
    back = adjuster.restore(model.complete(Y), given, known, **how)
    assert type(back) is type(given)
    own = back if container == "one" else back[0] if container == "list" else back["rna"]
    seen = ~np.isnan(X["rna"])
    assert np.array_equal(np.asarray(own)[seen], X["rna"][seen])
    assert not np.isnan(np.asarray(own)).any()


def test_only_named_views_are_adjusted(rng):
    X = planted() | {"counts": rng.poisson(3.0, size=(N, 6)).astype(float)}
    with pytest.raises(ValueError, match=r"got count values in feature 0 of view 'counts'; take logarithms"):
        jella.cluster(X, 3, covariates=covariates())
    found = jella.cluster(X, 3, covariates=covariates(), adjust_views=["rna", "protein"], evidence=False)
    assert list(found.adjuster.adjustment_.effects) == ["rna", "protein"]
    assert nmi(found.labels, CLASSES) > 0.8
    done = jella.complete(X, covariates=covariates(), adjust_views=["rna", "protein"])
    assert done.kinds["counts"] == "count"
    assert np.array_equal(done.views["counts"], X["counts"])


def test_refusals(rng):
    X, known = planted(), covariates()
    with pytest.raises(ValueError, match=r"expected dense views .* got a sparse array of view 'view0'"):
        jella.Adjuster().fit([sparse.csr_array(np.abs(np.nan_to_num(X["rna"])))], known)
    with pytest.raises(ValueError, match="at least two values of the covariate 'batch', got one"):
        jella.Adjuster().fit(X, {"batch": [1] * N})
    with pytest.raises(ValueError, match="several samples per value of the covariate 'who', got 90 values"):
        jella.Adjuster().fit(X, {"who": [f"s{i}" for i in range(N)]})
    with pytest.raises(ValueError, match="expected at least one covariate, got none"):
        jella.Adjuster().fit(X, {})
    with pytest.raises(ValueError, match="names of views to adjust, got 'rnaa'; "):
        jella.Adjuster(["rnaa"]).fit(X, known)
    with pytest.raises(ValueError, match="columns of the metadata, got 'batch'; pass metadata"):
        jella.cluster(X, 3, covariates="batch")
    with pytest.raises(ValueError, match="for each of the 90 samples"):
        jella.complete(X, covariates={"batch": [1, 2]})
    mixed = {"rna": np.nan_to_num(X["rna"]), "protein": X["protein"]}
    with pytest.raises(ValueError, match="view 'protein', which is not adjusted, got observed"):
        jella.Adjuster(["rna"]).fit_transform(mixed, known, observed={"protein": ~np.isnan(X["protein"])})


def test_the_command_line_adjusts_and_puts_back(tmp_path, capsys):
    X, ids = planted(), [f"s{i:02d}" for i in range(N)]
    for name, view in X.items():
        pd.DataFrame(view, index=ids).add_prefix("g").dropna(how="all").to_csv(
            tmp_path / f"{name}.csv", index_label="id"
        )
    pd.DataFrame({**covariates(), "class": CLASSES}, index=ids).to_csv(tmp_path / "meta.csv", index_label="id")
    data, out = [str(tmp_path / f"{name}.csv") for name in X], tmp_path / "out"
    words = ["--metadata", str(tmp_path / "meta.csv"), "--adjust", "batch,age"]
    code = main(["cluster", *data, "-k", "3", "-o", str(out), *words, "--set", "evidence=False"])
    assert code == 0
    assert "The views were adjusted for batch and age: removed" in capsys.readouterr().out
    rows = {row["column"]: row["verdict"] for row in csv.DictReader((out / "metadata.csv").read_text().splitlines())}
    assert (rows["class"], rows["batch"]) == ("associated", "not associated")
    assert "The views were adjusted for batch and age" in (out / "report.html").read_text()
    given, done = (pd.read_csv(folder / "rna.csv", index_col=0) for folder in (tmp_path, out / "completed"))
    assert not done.isna().any(axis=None)
    pd.testing.assert_frame_equal(done.where(given.notna()), given, check_exact=True)
    assert main(["report", str(out)]) == 0
    moved = shutil.copy(out / "model.jella", tmp_path / "moved.jella")
    for model in (out, moved):
        assert main(["transform", str(model), *data, "-o", str(tmp_path / "new")]) == 2
        assert "expected --metadata FILE with a model of views adjusted for batch and age" in capsys.readouterr().err
    assert main(["transform", str(moved), *data, "-o", str(tmp_path / "new"), *words[:2], "--quiet"]) == 0
    before, again = (pd.read_csv(folder / "labels.csv", index_col=0)["cluster"] for folder in (out, tmp_path / "new"))
    assert again.equals(before)
    filled = pd.read_csv(tmp_path / "new" / "completed" / "rna.csv", index_col=0)
    pd.testing.assert_frame_equal(filled.where(given.notna()), given, check_exact=True)
    np.testing.assert_allclose(filled, done)
    more = ["--quiet", "--no-calibrate", "--kinds", "real"]
    assert main(["complete", *data, "-o", str(tmp_path / "done"), *words, *more]) == 0
    assert main(["cluster", *data, "-k", "3", "-o", str(tmp_path / "plain"), *more, "--no-report"]) == 0
    assert main(["transform", str(tmp_path / "plain"), *data, "-o", str(tmp_path / "p"), *words[:2]]) == 2
    assert "expected no --metadata with a model of views as they are" in capsys.readouterr().err


def test_adjusted_amounts_are_real_numbers_to_the_model(tmp_path, rng):
    batch, ids = np.arange(60) % 2, [f"s{i:02d}" for i in range(60)]
    X = rng.gamma(2.0, size=(60, 6)) * (1 + 4 * batch[:, None])
    X[:10, :3] = np.nan
    assert np.nanmin(jella.Adjuster().fit_transform([X], {"batch": batch})[0]) < 0
    pd.DataFrame(X, index=ids).add_prefix("g").to_csv(tmp_path / "a.csv", index_label="id")
    pd.DataFrame({"batch": batch}, index=ids).to_csv(tmp_path / "meta.csv", index_label="id")
    words = [tmp_path / "a.csv", "--metadata", tmp_path / "meta.csv", "--adjust", "batch", "--kinds", "amount"]
    words += ["-k", 2, "-o", tmp_path / "out", "--quiet", "--no-calibrate", "--no-report", "--set", "evidence=False"]
    assert main(["cluster", *map(str, words)]) == 0
    assert jella.load(tmp_path / "out" / "model.jella").kinds == {"a": "real"}
    assert pd.read_csv(tmp_path / "out" / "completed" / "a.csv", index_col=0).min(axis=None) >= 0
