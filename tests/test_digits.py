"""The three views of the digits, checked against slower definitions."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import jella.datasets.digits
import jella.metrics
import jella.views.draw
from jella.datasets.digits import load_digits_views


@pytest.fixture(scope="module")
def digits():
    return load_digits_views()


@pytest.fixture(scope="module")
def images():
    return load_digits().images / 16


def column(digits, view, name):
    return digits.data[view][:, digits.feature_names[view].index(name)]


def test_shapes_and_names_agree(digits):
    assert list(digits.data) == digits.view_names == list(digits.feature_names) == ["pixels", "fourier", "gradients"]
    assert {name: view.shape[1] for name, view in digits.data.items()} == {"pixels": 61, "fourier": 34, "gradients": 77}
    for name, view in digits.data.items():
        assert view.shape == (1797, len(set(digits.feature_names[name])))
        assert f"{name} ({view.shape[1]} features)" in digits.DESCR


def test_targets_are_those_of_scikit_learn(digits):
    np.testing.assert_array_equal(digits.target, load_digits().target)
    np.testing.assert_array_equal(digits.target_names, range(10))


@pytest.mark.parametrize("name", ["pixels", "fourier", "gradients"])
def test_values_are_usable_by_any_method(digits, name):
    view = digits.data[name]
    assert view.dtype == np.float64
    assert view.flags.c_contiguous
    assert np.isfinite(view).all()
    assert view.min() >= 0
    assert 0.5 < view.max() < 5
    assert (np.ptp(view, axis=0) > 0).all()
    assert np.unique(view.round(9), axis=1).shape == view.shape, "two features are equal"


def test_pixels_keep_their_place(digits, images):
    for name in ("pixel_0_1", "pixel_3_4", "pixel_7_7"):
        i, j = map(int, name.split("_")[1:])
        np.testing.assert_array_equal(column(digits, "pixels", name), images[:, i, j])
    assert "pixel_0_0" not in digits.feature_names["pixels"]


def test_fourier_magnitudes_carry_all_the_energy_and_ignore_shifts(digits, images):
    direct = np.exp(-2j * np.pi * np.arange(8) * 3 / 8) @ images @ np.exp(-2j * np.pi * np.arange(8) * 2 / 8)
    np.testing.assert_allclose(column(digits, "fourier", "frequency_3_2"), np.abs(direct) / 8, atol=1e-12)
    alone = {"frequency_0_0", "frequency_0_4", "frequency_4_0", "frequency_4_4"}
    times = np.array([1 if name in alone else 2 for name in digits.feature_names["fourier"]])
    np.testing.assert_allclose(digits.data["fourier"] ** 2 @ times, (images**2).sum(axis=(1, 2)))


def test_projections_are_means_along_lines(digits, images):
    np.testing.assert_allclose(column(digits, "gradients", "row_3"), images[:, 3].mean(axis=1))
    np.testing.assert_allclose(column(digits, "gradients", "column_5"), images[:, :, 5].mean(axis=1))
    diagonal = np.diagonal(images, offset=2, axis1=1, axis2=2).mean(axis=1)
    np.testing.assert_allclose(column(digits, "gradients", "diagonal_9"), diagonal)
    anti = np.diagonal(images[:, ::-1], offset=-3, axis1=1, axis2=2).mean(axis=1)
    np.testing.assert_allclose(column(digits, "gradients", "antidiagonal_4"), anti)


def test_orientation_histograms_match_a_loop(digits, images):
    for sample in (0, 17, 1796):
        expected = np.zeros((2, 2, 8))
        down, right = np.gradient(images[sample])
        for i, j in np.ndindex(8, 8):
            angle = np.degrees(np.arctan2(down[i, j], right[i, j])) % 360
            expected[i // 4, j // 4, int((angle + 22.5) // 45) % 8] += np.hypot(down[i, j], right[i, j])
        np.testing.assert_allclose(digits.data["gradients"][sample, -32:], expected.ravel(), atol=1e-12)


@pytest.mark.parametrize(("name", "least"), [("pixels", 0.9), ("fourier", 0.75), ("gradients", 0.9)])
def test_every_view_tells_the_digits_apart(digits, name, least):
    train, test = slice(0, 1200), slice(1200, None)
    model = LogisticRegression(max_iter=3000).fit(digits.data[name][train], digits.target[train])
    assert model.score(digits.data[name][test], digits.target[test]) > least


def test_calls_do_not_share_arrays(digits):
    again = load_digits_views()
    again.data["pixels"][:] = -1
    assert digits.data["pixels"].min() == 0


@pytest.mark.parametrize("module", [jella.datasets.digits, jella.views.draw, jella.metrics])
def test_import_stays_light(module):
    run = f"import runpy, sys; runpy.run_path({module.__file__!r})"
    check = "assert not {'sklearn', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"{run}; {check}"], check=True, timeout=60)


def test_the_first_samples_only():
    few, whole = load_digits_views(30), load_digits_views()
    assert all(np.array_equal(few.data[name], view[:30]) for name, view in whole.data.items())
    assert np.array_equal(few.target, whole.target[:30])
    for wrong in (0, -1, 1798):
        with pytest.raises(ValueError, match="expected 1 to 1797"):
            load_digits_views(wrong)
