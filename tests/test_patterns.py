"""What every setting hides: how much, where, and depending on what."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jella.views import read_views
from jella.views.draw import SETTINGS, draw_setting

N = 2000
WIDTHS = (30, 8)


@pytest.fixture(scope="module")
def values():
    """Correlated features: three factors behind both views."""
    rng = np.random.default_rng(7)
    factors = rng.normal(size=(N, 3))
    return [5 + 3 * (factors @ rng.normal(size=(3, d)) + rng.normal(size=(N, d))) for d in WIDTHS]


@pytest.fixture(scope="module")
def full():
    return [np.ones((N, d), dtype=bool) for d in WIDTHS]


@pytest.fixture(scope="module")
def holey():
    """Inputs with holes already: missing entries, missing views, and one sample with nothing at all."""
    rng = np.random.default_rng(8)
    masks = [rng.random((N, d)) < 0.8 for d in WIDTHS]
    masks[0][:200] = False
    masks[1][199:300] = False
    return masks


def draw(observed, rate, setting, values=None, seed=0):
    """What is hidden of views with these masks, (n, d) booleans each."""
    values = [np.ones(mask.shape) for mask in observed] if values is None else values
    views = read_views([np.where(mask, x, np.nan) for mask, x in zip(observed, values, strict=True)])
    hidden = draw_setting(views, rate, setting, np.random.default_rng(seed))
    return [np.broadcast_to(where, mask.shape) for where, mask in zip(hidden, observed, strict=True)]


def n_left(observed, hidden):
    return sum((view & ~mask).sum(axis=1) for view, mask in zip(observed, hidden, strict=True))


def whole_view_lost(observed, hidden):
    return np.column_stack([v.any(axis=1) & ~(v & ~h).any(axis=1) for v, h in zip(observed, hidden, strict=True)])


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("rate", [0.0, 0.3, 0.8])
def test_only_observed_entries_are_hidden_and_no_sample_is_emptied(holey, values, setting, rate):
    hidden = draw(holey, rate, setting, values)
    for view, mask in zip(holey, hidden, strict=True):
        assert mask.dtype == bool
        assert mask.shape == view.shape
        assert not (mask & ~view).any()
    left = n_left(holey, hidden)
    assert left[199] == 0
    assert (np.delete(left, 199) > 0).all()
    assert any(mask.any() for mask in hidden) == (rate > 0)


@pytest.mark.parametrize("setting", SETTINGS)
def test_same_seed_same_entries_and_inputs_untouched(holey, values, setting):
    copies = [mask.copy() for mask in holey]
    first, again, other = (draw(holey, 0.4, setting, values, seed=seed) for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(holey, copies, strict=True))


def test_missing_view_takes_one_whole_view_from_the_exact_number_of_samples(holey):
    hidden = draw(holey, 0.35, "missing-view")
    lost = whole_view_lost(holey, hidden)
    assert lost.sum() == 700
    assert lost.sum(axis=1).max() == 1
    for v, (view, mask) in enumerate(zip(holey, hidden, strict=True)):
        np.testing.assert_array_equal(mask, view & lost[:, [v]])
    assert not lost[:300].any(), "samples with one view keep it"
    assert 280 < lost[:, 0].sum() < 420


def test_missing_view_hides_rows_where_only_whole_views_are_missing(full, holey):
    for masks, width in ((full, (1, 1)), (holey, WIDTHS)):
        views = read_views([np.where(mask, 1.0, np.nan) for mask in masks])
        hidden = draw_setting(views, 0.5, "missing-view", np.random.default_rng(0))
        assert [where.shape for where in hidden] == [(N, d) for d in width]
        assert sum(where.any(axis=1).sum() for where in hidden) == N // 2


def test_missing_view_says_when_too_few_samples_can_lose_one(holey):
    with pytest.raises(ValueError, match=r"expected 1800 samples \(rate 0.9 of 2000\).*got 1700; lower the rate"):
        draw(holey, 0.9, "missing-view")
    with pytest.raises(ValueError, match="expected at least 2 views for 'missing-view', got 1"):
        draw(holey[:1], 0.5, "missing-view")


def test_incomplete_view_takes_entries_of_what_the_lost_views_leave(holey):
    hidden = draw(holey, 0.3, "incomplete-view", seed=5)
    lost = draw(holey, 0.3, "missing-view", seed=5)
    assert whole_view_lost(holey, lost).sum() == 600
    for view, mask, gone in zip(holey, hidden, lost, strict=True):
        assert not (gone & ~mask).any()
        rest = view & ~gone
        # The few samples that were left with nothing, and drawn again, can only lower the count.
        assert 0 <= round(0.3 * rest.sum()) - (mask & rest).sum() < 15


def test_incomplete_view_is_exact_for_full_wide_views():
    wide = [np.ones((100, 60), dtype=bool)] * 2
    first, second = draw(wide, 0.25, "incomplete-view")
    lost = first.all(axis=1), second.all(axis=1)
    assert lost[0].sum() + lost[1].sum() == 25
    assert [mask[~gone].sum() for mask, gone in zip((first, second), lost, strict=True)] == [
        15 * (100 - gone.sum()) for gone in lost
    ]


def test_incomplete_view_of_one_view_only_removes_entries(full):
    (mask,) = draw(full[:1], 0.25, "incomplete-view")
    assert mask.sum() == N * WIDTHS[0] // 4
    assert not mask.all(axis=1).any()


def test_mcar_counts_are_exact_and_blind_to_values(holey, values):
    hidden = draw(holey, 0.2, "mcar")
    for view, mask, x in zip(holey, hidden, values, strict=True):
        assert mask.sum() == round(0.2 * view.sum())
        z = (x - x.mean(axis=0)) / x.std(axis=0)
        assert abs(z[mask].mean() - z[view & ~mask].mean()) < 0.06
        assert np.ptp(mask.sum(axis=0) / view.sum(axis=0)) < 0.08


def test_mnar_hides_large_values_at_the_asked_rate(holey, values):
    hidden = draw(holey, 0.3, "mnar", values)
    for view, mask, x in zip(holey, hidden, values, strict=True):
        assert mask[view].mean() == pytest.approx(0.3, abs=0.02)
        for j in range(x.shape[1]):
            seen = view[:, j]
            assert x[mask[:, j], j].mean() > x[seen & ~mask[:, j], j].mean() + 0.5 * x[seen, j].std()


def test_mnar_has_the_logistic_slope(full, values):
    from sklearn.linear_model import LogisticRegression

    mask, x = draw(full, 0.3, "mnar", values)[0], values[0]
    z = ((x - x.mean(axis=0)) / x.std(axis=0)).reshape(-1, 1)
    assert LogisticRegression(C=np.inf).fit(z, mask.ravel()).coef_[0, 0] == pytest.approx(2, abs=0.08)


def mar_parts(masks, values):
    """Driver columns (those never hidden) of both views, and the rest of the first view."""
    drivers = [~mask.any(axis=0) for mask in masks]
    columns = np.hstack([x[:, d] for x, d in zip(values, drivers, strict=True)])
    return drivers, np.column_stack([np.ones(N), columns]), masks[0][:, ~drivers[0]], values[0][:, ~drivers[0]]


def test_mar_spares_a_tenth_of_the_features_and_keeps_the_rate(full, values):
    masks = draw(full, 0.3, "mar", values)
    drivers = mar_parts(masks, values)[0]
    assert [d.sum() for d in drivers] == [3, 1]
    for mask, d in zip(masks, drivers, strict=True):
        assert mask[:, ~d].mean() == pytest.approx(0.3, abs=0.02)


def test_mar_depends_on_the_drivers_and_on_nothing_else(full, values):
    _, design, mask, x = mar_parts(draw(full, 0.3, "mar", values), values)
    share = mask.mean(axis=1)
    fit = design @ np.linalg.lstsq(design, share)[0]
    assert np.corrcoef(fit, share)[0, 1] > 0.8
    # The features are linear in the factors, so what the drivers leave unexplained must not differ for hidden entries.
    rest = x - design @ np.linalg.lstsq(design, x)[0]
    gap = [rest[m, j].mean() - rest[~m, j].mean() for j, m in enumerate(mask.T)]
    raw = [x[m, j].mean() - x[~m, j].mean() for j, m in enumerate(mask.T)]
    assert np.abs(np.mean(gap)) < 0.15
    assert np.abs(raw).max() > 4 * np.abs(gap).max()


def test_mar_does_not_read_values_outside_the_drivers(full, values):
    masks = draw(full, 0.3, "mar", values)
    drivers = mar_parts(masks, values)[0]
    changed = [np.where(d, x, 1000 - x**2) for x, d in zip(values, drivers, strict=True)]
    assert all(np.array_equal(a, b) for a, b in zip(masks, draw(full, 0.3, "mar", changed), strict=True))


def test_mar_keeps_the_rate_where_holes_follow_the_score(values):
    # One feature of each view is the driver; samples with large values have few other entries to lose.
    x = [values[1][:, :1] + np.zeros((N, 6)), values[1][:, :1] + np.zeros((N, 6))]
    observed = [np.hstack([np.ones((N, 3), bool), np.repeat(view[:, :1] < 5, 3, axis=1)]) for view in x]
    for view, mask in zip(observed, draw(observed, 0.3, "mar", x, seed=1), strict=True):
        free = mask.any(axis=0)
        assert free.sum() == 5
        assert mask[:, free].sum() / view[:, free].sum() == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("setting", ["mar", "mnar"])
def test_constant_features_go_missing_at_the_rate(full, setting):
    # The mean of equal numbers is off by rounding, up or down, which must not pass for a deviation.
    constant = [np.broadcast_to(np.linspace(0.1, 0.9, mask.shape[1]), mask.shape) for mask in full]
    masks = draw(full, 0.4, setting, constant)
    share = masks[0][:, masks[0].any(axis=0)].mean(axis=0)
    np.testing.assert_allclose(share, 0.4, atol=0.06)


@pytest.mark.parametrize("setting", ["mar", "mnar"])
def test_extreme_rates_are_solved(full, values, setting):
    few, most = (draw(full, rate, setting, values) for rate in (5e-324, 1 - 2**-53))
    assert sum(mask.sum() for mask in few) == 0
    assert n_left(full, most).max() == (4 if setting == "mar" else 1)


def test_samples_drawn_again_follow_the_law_given_that_something_stays():
    # Three entries at rate 0.8: given that one stays at least, 0.6 / (1 - 0.8**3) of 3 stay on average.
    observed = [np.ones((20000, 3), dtype=bool)]
    (mask,) = draw(observed, 0.8, "mnar", [np.zeros((20000, 3))])
    stay = ~mask
    again = 0.8**3
    assert stay.sum(axis=1).min() == 1
    expected = (0.2 + again * 0.2 / (1 - again)) * np.ones(3)
    np.testing.assert_allclose(stay.mean(axis=0), expected, atol=0.015)


@pytest.mark.parametrize(
    ("rate", "setting", "message"),
    [
        (1.0, "mcar", "expected 0 <= rate < 1, got 1.0"),
        (-0.1, "mcar", "got -0.1"),
        (np.nan, "mnar", "got nan"),
        (0.1, "MCAR", "expected setting to be one of .*'missing-view'.*'mnar'.*, got 'MCAR'"),
    ],
)
def test_wrong_arguments_are_named(full, rate, setting, message):
    with pytest.raises(ValueError, match=message):
        draw(full, rate, setting)


def test_mar_needs_features_beside_the_drivers(full, values):
    with pytest.raises(ValueError, match=r"beside the driver features .*got none in views with \[1, 1\] feature"):
        draw([mask[:, :1] for mask in full], 0.1, "mar", [x[:, :1] for x in values])


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(list(SETTINGS)),
    st.integers(1, 6),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.floats(0, 1, exclude_max=True),
    st.sampled_from([0.3, 0.7, 1.0]),
    st.integers(0, 2**32),
)
def test_small_inputs_keep_the_promises(setting, n, widths, rate, density, seed):
    rng = np.random.default_rng(seed)
    observed = [rng.random((n, d)) < density for d in widths]
    values = [rng.integers(-2, 3, mask.shape).astype(float) for mask in observed]
    try:
        hidden = draw(observed, rate, setting, values, seed=seed)
    except ValueError as error:
        assert str(error).startswith("expected ")  # noqa: PT017 (a refusal is a fair answer to some of these inputs)
        return
    assert all(not (mask & ~view).any() for view, mask in zip(observed, hidden, strict=True))
    has = sum(view.sum(axis=1) for view in observed) > 0
    np.testing.assert_array_equal(n_left(observed, hidden) > 0, has)
