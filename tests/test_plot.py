"""Plots show what they should: labels, legends, the data drawn; not pixels."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.colors import to_hex

import jella
from jella.describe.colouring import of_column
from jella.describe.picture import Picture
from jella.plot.embedding_plot import _draw_groups
from jella.plot.labels import apart, label_ends
from jella.plot.style import group_ticks

DIGITS = jella.datasets.load_digits_views()
N = 120
GALLERY = Path(__file__).parent.parent / "examples" / "gallery"


def full():
    return {name: view[:N] for name, view in DIGITS.data.items()}


def holed():
    return jella.datasets.make_incomplete(full(), 0.3, "incomplete-view", random_state=0)


@pytest.fixture(scope="module")
def found():
    return jella.cluster(holed(), 10)


@pytest.fixture(scope="module")
def done():
    return jella.complete(holed(), interval=0.9)


def words(labels):
    return [label.get_text() for label in labels]


def texts(ax):
    return words(ax.texts)


def drawn(ax):
    """All points of the scatters of the Axes, (m, 2)."""
    return np.concatenate([np.asarray(part.get_offsets()) for part in ax.collections])


def looks_of(ax):
    """Colour and outline of each point of a plot of groups, in the order in which they are drawn."""
    (points,) = ax.collections
    outlines = [path.vertices.tobytes() for path in points.get_paths()]
    return list(zip(map(tuple, points.get_facecolors()), outlines, strict=True))


EVERY = {
    "affinity": lambda found, ax: jella.plot.affinity(found, ax=ax),
    "embedding": lambda found, ax: jella.plot.embedding(found, ax=ax),
    "evidence": lambda found, ax: jella.plot.evidence(found, ax=ax),
    "heatmap": lambda found, ax: jella.plot.heatmap(found, ax=ax),
    "loadings": lambda found, ax: jella.plot.loadings(found, ax=ax),
    "missingness": lambda found, ax: jella.plot.missingness(found, ax=ax),
    "objective": lambda found, ax: jella.plot.objective(found, ax=ax),
    "variance_explained": lambda found, ax: jella.plot.variance_explained(found, ax=ax),
}


@pytest.mark.parametrize("name", jella.plot.__all__)
def test_every_plot_draws_on_given_axes_and_can_be_rendered(name, found, done):
    figure, ax = plt.subplots()
    draw = EVERY.get(name, lambda _, ax: jella.plot.completed(done, full(), ax=ax))
    assert draw(found, ax) is ax
    assert plt.get_fignums() == [figure.number]
    assert ax.get_title(loc="left")
    figure.draw_without_rendering()
    assert draw(found, None).figure is not figure


def test_missingness_shows_views_shares_and_patterns(found):
    ax = jella.plot.missingness(found)
    assert words(ax.get_yticklabels()) == ["pixels", "fourier", "gradients"]
    views = holed()
    present = np.stack([~np.isnan(view).all(axis=1) for view in views.values()])
    assert [text.split("%")[0] for text in texts(ax)] == [f"{100 * share:.1f}" for share in present.mean(axis=1)]
    image = ax.images[0].get_array()
    assert image.shape == (3, N)
    share = np.stack([1 - np.isnan(view).mean(axis=1) for view in views.values()])
    np.testing.assert_allclose(np.sort(image.filled(0.0), axis=1), np.sort(share, axis=1))
    assert np.array_equal(image.mask.sum(axis=1), (~present).sum(axis=1))
    assert ax.patch.get_hatch()
    assert words(ax.get_xticklabels())[0] == str(int(present.all(axis=0).sum()))
    assert jella.plot.missingness(views).get_title(loc="left") == ax.get_title(loc="left")


def test_missingness_of_complete_views_and_of_a_model():
    model = jella.MVLIV(3, random_state=0, max_iter=5, tol=0).fit(full())
    ax = jella.plot.missingness(model, full())
    assert ax.get_title(loc="left").endswith("0% of the entries are missing")
    assert len(ax.figure.axes) == 1  # no scale
    with pytest.raises(ValueError, match="expected the views of the fit beside a model, got MVLIV alone; pass them"):
        jella.plot.missingness(model)


def test_embedding_draws_every_sample_once_and_names_clusters(found):
    ax = jella.plot.embedding(found)
    assert sorted(texts(ax), key=int) == [str(c) for c in range(10)]
    looks = looks_of(ax)
    assert sorted(Counter(looks).values(), reverse=True) == found.sizes.tolist()
    assert len({colour for colour, _ in looks}) == len({shape for _, shape in looks}) == 10
    assert "of variance" in ax.get_xlabel()


def test_no_group_is_hidden_by_those_drawn_after_it(found):
    points = np.zeros((N, 2))
    picture = Picture(np.arange(N), points, (0.5, 0.5), "", N, (of_column("half", ["a"] * 60 + ["b"] * 60),))
    ax = plt.subplots()[1]
    _draw_groups(ax, picture)
    drawn_last = Counter(looks_of(ax)[N // 2 :])
    assert len(drawn_last) == 2
    assert min(drawn_last.values()) > N // 8


def test_embedding_by_probability_views_and_metadata(found):
    ax = jella.plot.embedding(found, color="probability")
    own = found.probabilities[np.arange(N), found.labels]
    np.testing.assert_allclose(np.sort(ax.collections[-1].get_array()), np.sort(own))
    assert ax.figure.axes[1].get_ylabel() == "probability"
    ax = jella.plot.embedding(found, color="availability")
    present = {name: ~np.isnan(view).all(axis=1) for name, view in holed().items()}
    whole = np.logical_and.reduce(list(present.values()))
    counts = Counter(looks_of(ax))
    colour = dict(zip(words(ax.get_legend().get_texts()), ax.get_lines(), strict=True))["all views"].get_color()
    assert {to_hex(own): size for (own, _), size in counts.items()}[to_hex(colour)] == whole.sum()
    assert sum(counts.values()) == N
    column = pd.Series(["left", "right", None, "left"] * (N // 4), name="side")
    ax = jella.plot.embedding(found, color=column)
    assert words(ax.get_legend().get_texts()) == ["left", "right", "not known"]
    assert ax.get_legend().get_title().get_text() == "side"
    numbers = np.linspace(0, 1, N)
    numbers[:3] = np.nan
    ax = jella.plot.embedding(found, color=numbers, label="age")
    assert ax.figure.axes[1].get_ylabel() == "age"
    assert [len(part.get_offsets()) for part in ax.collections] == [3, N - 3]
    ax = jella.plot.embedding(found, color=[f"level {i % 30}" for i in range(N)])
    assert len(texts(ax)) == 30
    assert ax.get_legend() is None


def test_embedding_by_other_maps_and_of_samples_without_cluster(found, monkeypatch):
    ax = jella.plot.embedding(found, method="tsne")
    assert ax.get_xlabel() == "t-SNE 1"
    assert len(drawn(ax)) == N
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match="run pip install 'jella\\[umap\\]'"):
        jella.plot.embedding(found, method="umap")
    with pytest.raises(ValueError, match="one of \\['pca', 'tsne', 'umap'\\], got 'isomap'"):
        jella.plot.embedding(found, method="isomap")
    some = found.labels.copy()
    some[:7] = -1
    object.__setattr__(found, "labels", some)
    try:
        ax = jella.plot.embedding(found)
    finally:
        object.__setattr__(found, "labels", found.model.labels_)
    assert ax.get_lines()[0].get_label() == "no cluster"
    assert Counter(looks_of(ax)).most_common()[-1][1] == 7
    assert "-1" not in texts(ax)


def test_embedding_of_models_without_probabilities_or_clusters():
    model = jella.MVLIV(n_components=3, random_state=0, max_iter=5, tol=0).fit(full())
    assert len(drawn(jella.plot.embedding(model))) == N
    with pytest.raises(ValueError, match="with probabilities of labels, got MVLIV; use SparseBDR"):
        jella.plot.embedding(model, color="probability")
    with pytest.raises(ValueError, match="got 'batch'; pass for example a column"):
        jella.plot.embedding(model, color="batch")
    with pytest.raises(ValueError, match="expected one value of 'given values' for each of the 120 samples"):
        jella.plot.embedding(model, color=[1, 2])


def test_fifty_clusters_have_fifty_labels_that_do_not_overlap():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 8)
    views = [6 * rng.normal(size=(50, 12))[groups] + rng.normal(size=(400, 12)) for _ in range(2)]
    found = jella.cluster(views, 50, evidence=False)
    ax = jella.plot.embedding(found)
    ax.figure.canvas.draw()
    assert sorted(map(int, texts(ax))) == list(range(50))
    boxes = [text.get_window_extent() for text in ax.texts]
    overlaps = sum(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert overlaps <= 2
    assert len({colour for colour, _ in looks_of(ax)}) == 50
    assert len(jella.plot.affinity(found).get_xticks()) == 50


def test_groups_too_narrow_for_a_number_have_none():
    ax = plt.subplots()[1]
    sizes = np.array([100, 50, 50, *[2] * 20])
    group_ticks(ax, np.arange(23), sizes)
    shown = [int(word) for word in words(ax.get_xticklabels())]
    assert shown[:3] == [0, 1, 2]
    assert 3 < len(shown) < 23
    row = ax.get_xticks()[1::2]
    assert (np.diff(row) >= sizes.sum() / 32).all()


def test_heatmap_has_features_by_view_and_samples_by_cluster(found):
    ax = jella.plot.heatmap(found, n_features=3)
    names = words(ax.get_yticklabels())
    assert len(names) == 9
    assert set(names[:3]) <= set(found.markers().query("view == 'pixels'")["feature"])
    assert texts(ax) == ["pixels", "fourier", "gradients"]
    mesh = ax.collections[0].get_array()
    assert mesh.shape == (9, N)
    assert mesh.mask.any()
    assert words(ax.get_xticklabels()) == [str(c) for c in range(10)]
    np.testing.assert_allclose(ax.get_xticks(), np.cumsum(found.sizes) - found.sizes / 2 - 0.5)


def test_variance_explained_numbers_cells_and_sums_up():
    model = jella.MVLIV(n_components=4, random_state=0).fit(full())
    ax = jella.plot.variance_explained(model, full())
    image = ax.images[0].get_array()
    assert image.shape == (3, 4)
    numbers = [text for text in texts(ax) if not text.startswith("all")]
    assert numbers == [f"{100 * share:.0f}" for share in np.asarray(image).ravel()]
    totals = [text for text in texts(ax) if text.startswith("all")]
    for (name, X), words_of_total in zip(full().items(), totals, strict=True):
        v = list(full()).index(name)
        scaled = model.scaling_.apply(model.read(full()))[v].X
        rest = scaled - model.embedding_ @ model.bases_[name].T
        share = 1 - np.sum(rest**2) / np.sum(scaled**2)
        assert words_of_total == f"all: {100 * share:.1f}%"
        assert X.shape == scaled.shape
    with pytest.raises(ValueError, match="RAMC has no components"):
        jella.plot.variance_explained(jella.RAMC(3, random_state=0).fit(full()), full())


def test_loadings_are_the_largest_weights_and_negative_ones_are_hatched(found):
    ax = jella.plot.loadings(found, 1, view="fourier", n_features=5)
    table = found.loadings()["fourier"].iloc[:, 1]
    largest = table.abs().nlargest(5).index
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(table[largest].tolist())
    assert words(ax.get_yticklabels()) == [f"feature {j}" for j in largest]
    assert [bar.get_hatch() is not None for bar in ax.patches] == (table[largest] < 0).tolist()
    assert len(jella.plot.loadings(found).patches) == 24
    with pytest.raises(ValueError, match="got 'sound'; choose one of \\['pixels', 'fourier', 'gradients'\\]"):
        jella.plot.loadings(found, view="sound")
    with pytest.raises(ValueError, match="expected a component from 0 to"):
        jella.plot.loadings(found, 99)
    with pytest.raises(ValueError, match=r"expected a component from 0 to 19, got \{'pixels"):
        jella.plot.loadings(found, full())


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_numbers_of_components_do_not_overlap_in_small_axes(layout):
    wide = {name: np.hstack([view, np.roll(view, 1, axis=0)]) for name, view in full().items()}
    model = jella.SparseBDR(10, n_components=30, evidence=False, random_state=0).fit(wide)
    figure, axs = plt.subplots(3, 4, figsize=(22, 15), layout=layout)
    jella.plot.variance_explained(model, wide, ax=axs[0, 1])
    axs[0, 0].set_yticks([0], ["a label that takes room from all columns of axes, as long ones do"])
    axs[0, 2].set_yticks([0], ["a label that takes room from all columns of axes, as long ones do"])
    figure.draw_without_rendering()
    ticks = [tick for tick in axs[0, 1].get_xticklabels() if tick.get_text()]
    assert len(ticks) >= 2
    assert [tick.get_text() for tick in ticks] == [str(round(tick.get_position()[0])) for tick in ticks]
    boxes = [tick.get_window_extent() for tick in ticks]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))


def test_numbers_of_neighbouring_patterns_do_not_overlap():
    X = np.ones((7000, 1))
    views = {name: np.where(np.arange(7000)[:, None] // 450 == i, np.nan, X) for i, name in enumerate("abc")}
    ax = jella.plot.missingness(views)
    ax.figure.canvas.draw()
    labels = [label for label in ax.get_xticklabels() if label.get_text()]
    assert [label.get_text().strip() for label in labels] == ["5,650", "450", "450", "450"]
    boxes = [label.get_window_extent() for label in labels]
    ink = [(box.x0, box.x1, label.get_text().count("\n")) for box, label in zip(boxes, labels, strict=True)]
    assert all(a[1] < b[0] for i, a in enumerate(ink) for b in ink[i + 1 :] if a[2] == b[2])
    assert {row for _, _, row in ink} == {0, 1}


def test_probabilities_have_one_scale(found):
    assert jella.plot.embedding(found, color="probability").collections[-1].get_clim() == (0.0, 1.0)
    numbers = np.linspace(3, 5, N)
    assert jella.plot.embedding(found, color=numbers).collections[-1].get_clim() == (3.0, 5.0)


def test_evidence_for_one_and_for_several_numbers(found):
    ax = jella.plot.evidence(found)
    assert ax.get_xlabel() == "with 10 clusters"
    assert words(ax.get_yticklabels()) == ["stability", "modularity"]
    path = found.evidence.path
    assert f"these data\n{path.modularity[0]:.2f}" in texts(ax)
    assert f"without groups\n{path.expected[0]:.2f}" in texts(ax)
    several = jella.cluster({name: view[:60] for name, view in full().items()})
    ax, path = jella.plot.evidence(several), several.evidence.path
    assert f"{several.n_clusters} chosen" in texts(ax)
    assert {"modularity", "stability", "modularity\nwithout groups"} <= set(texts(ax))
    stable = np.isfinite(path.stability)
    np.testing.assert_allclose(ax.lines[1].get_ydata(), path.stability[stable])
    assert len(ax.collections) == 1
    assert len({line.get_xdata()[-1] for line in ax.lines[:2]}) == 1  # names lie beside lines, and on none
    with pytest.raises(ValueError, match="MVLIV does not compare its clusters"):
        jella.plot.evidence(jella.MVLIV(3, random_state=0, max_iter=5, tol=0).fit(full()))


def test_names_of_close_lines_do_not_overlap():
    _, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    label_ends(ax, [("one", 1.0, 0.60, "black"), ("two\nlines", 1.0, 0.61, "black"), ("three", 1.0, 0.62, "black")])
    ax.figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    assert all(one.y1 <= other.y0 + 3 for one, other in pairwise(boxes))


def test_affinity_outlines_clusters(found):
    ax = jella.plot.affinity(found)
    assert ax.images[0].get_array().shape == (N, N)
    assert [line.get_xdata()[1] - line.get_xdata()[0] for line in ax.lines] == found.sizes.tolist()
    assert words(ax.get_yticklabels()) == [str(c) for c in range(10)]
    assert "lies within clusters" in ax.get_title(loc="left")


def test_objective_has_a_line_per_term(found):
    ax = jella.plot.objective(found)
    assert ax.lines[0].get_label() == "objective"
    np.testing.assert_allclose(ax.lines[0].get_ydata(), found.model.objective_)
    assert set(texts(ax)) == {line.get_label() for line in ax.lines}
    model = jella.RPCA(random_state=0, max_iter=5, tol=0).fit(full())
    rounds = jella.plot.objective(model)
    assert texts(rounds) == ["objective"]
    np.testing.assert_allclose(rounds.lines[0].get_ydata(), model.objective_)


def test_completed_values_against_the_truth_with_intervals(done):
    ax = jella.plot.completed(done, full(), view="pixels")
    hidden = np.isnan(holed()["pixels"])
    varies = np.nanstd(holed()["pixels"], axis=0) > 0
    n = int((hidden & varies).sum())
    inside = (done.lower["pixels"] <= full()["pixels"]) & (full()["pixels"] <= done.upper["pixels"])
    title = ax.get_title(loc="left")
    assert title.startswith(f"pixels: {n:,} hidden values, error ")
    assert f"intervals hold {inside[hidden & varies].mean():.0%}" in title
    points = np.asarray(ax.collections[0].get_offsets())
    spread, mean = np.nanstd(holed()["pixels"], axis=0), np.nanmean(holed()["pixels"], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = ((done.views["pixels"] - mean) / spread)[hidden & varies]
    assert np.isin(points[:, 1].round(6), expected.round(6)).all()
    assert len(ax.collections[1].get_segments()) == 90
    assert words(jella.plot.completed(done, full()).get_legend().get_texts()) == ["pixels", "fourier", "gradients"]


def test_completed_values_of_own_trials_and_of_models(done):
    ax = jella.plot.completed(done, view="fourier")
    one, drawn = done.model.imputer_.by_view[1], done.model.imputer_.examples[1].shape[1]
    words = f"fourier: {drawn} of {one.n_values:,} hidden values, error {one.error:.2f} ± {one.standard_error:.2f}"
    assert ax.get_title(loc="left").startswith(words)
    every = done.model.imputer_.overall
    title = jella.plot.completed(done).get_title(loc="left")
    assert f"of {every.n_values:,} hidden values, error {every.error:.2f} " in title
    model = jella.MVLIV(5, random_state=0, max_iter=20, tol=0).fit(holed())
    ax = jella.plot.completed(model, full(), holed(), view="pixels")
    assert "intervals" not in ax.get_title(loc="left")
    assert len(ax.collections) == 1
    with pytest.raises(ValueError, match="MVLIV has not learned from hidden values: pass truth"):
        jella.plot.completed(model, X=holed())
    with pytest.raises(ValueError, match="expected some values that the fit did not have, got none"):
        jella.plot.completed(done, holed())


def test_completed_values_of_turned_tables():
    frames = {name: pd.DataFrame(view[:40, :12]) for name, view in DIGITS.data.items()}
    gaps = jella.datasets.make_incomplete(frames, 0.3, random_state=0)
    done = jella.complete({name: view.T for name, view in gaps.items()}, samples="columns", interval=0.9)
    straight = jella.complete(gaps, interval=0.9)
    one, other = (jella.plot.completed(result, frames).get_title(loc="left") for result in (done, straight))
    assert one == other


def test_labels_are_pushed_apart():
    rng = np.random.default_rng(0)
    centres = rng.uniform(0, 100, size=(30, 2))
    place = apart(centres, np.full((30, 2), 10.0))
    gaps = np.abs(place[:, None] - place[None]).max(axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert gaps.min() > 9.5
    assert np.abs(place - centres).max() < 60
    alone = np.array([[0.0, 0.0], [50.0, 0.0]])
    np.testing.assert_allclose(apart(alone, np.full((2, 2), 5.0)), alone, atol=0.01)


def test_names_with_dollar_signs_are_not_mathematics():
    views = {"a$b$": full()["pixels"], "c": full()["fourier"]}
    ax = jella.plot.missingness(views)
    ax.figure.draw_without_rendering()
    assert words(ax.get_yticklabels()) == [r"a\$b\$", "c"]


def test_matplotlib_is_imported_when_something_is_drawn_only(monkeypatch):
    code = "import sys, jella; jella.plot.embedding; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(
        ImportError, match="expected the package 'matplotlib', got no such package; run pip install 'jella\\[plot\\]'"
    ):
        jella.plot.missingness(full())


def test_every_plot_has_an_example_in_the_gallery():
    pages = {path.name: path.read_text() for path in sorted(GALLERY.glob("plot_*.py"))}
    for name in jella.plot.__all__:
        assert any(f"jella.plot.{name}(" in page for page in pages.values()), name
    for name, page in pages.items():
        title, line = page.split('"""')[1].strip().splitlines()[:2]
        assert set(line) == {"="}, name
        assert len(line) >= len(title), name
        compile(page, name, "exec")


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
@pytest.mark.parametrize("name", ["heatmap", "variance_explained"])
def test_words_beside_a_plot_do_not_lie_under_its_scale(name, layout):
    wide = {name: np.hstack([view, np.roll(view, 1, axis=0)]) for name, view in full().items()}
    model = jella.SparseBDR(10, n_components=25, evidence=False, random_state=0).fit(wide)
    figure, (ax, _) = plt.subplots(1, 2, figsize=(11, 4), layout=layout)
    getattr(jella.plot, name)(model, wide, ax=ax)
    figure.draw_without_rendering()
    scale = next(one for one in figure.axes if one.get_label() == "<colorbar>").get_tightbbox()
    beside = [text.get_window_extent() for text in ax.texts]
    assert len(beside) >= 3
    assert all(box.x1 < scale.x0 for box in beside)
    ticks = [tick.get_window_extent() for tick in ax.get_xticklabels()]
    assert all(one.x1 < other.x0 or one.y0 > other.y1 or other.y0 > one.y1 for one, other in pairwise(ticks))


def test_a_reason_goes_on_in_the_sentence_and_keeps_names():
    views = jella.datasets.make_incomplete([np.eye(30, 4), np.eye(30, 5)[::-1]], 0.2, random_state=0)
    with pytest.raises(ValueError, match="got one without; the model has evidence=False"):
        jella.plot.evidence(jella.complete(views, calibrate=False, estimate_error=False))
    with pytest.raises(ValueError, match="got one without; MVLIV does not compare"):
        jella.plot.evidence(jella.MVLIV(2, random_state=0).fit(views))
