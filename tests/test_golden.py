"""Replays of the original programs, from their stored inputs, starting values and outputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat

from jella.plan import make_plan
from jella.problem import Blocks, Problem
from jella.quadratic import Quadratic
from jella.relaxation import LMaFitSOR
from jella.solver import solve
from jella.terms import L1, NonNegative
from jella.updates import CoordinateDescent
from jella.views import read_views


@pytest.mark.parametrize("case", ["golden_buaa_r10", "golden_synth60x80_r5"])
def test_mvliv_with_its_rule_replays_lmafit(golden, case):
    """MVL-IV on one view is LMaFit: same ratios, same number of sweeps, same product, to 1e-9."""
    file = loadmat(golden / "LMaFit" / f"{case}.mat")
    m, n, rank = (int(file[key].item()) for key in ("m_", "n_", "k_"))
    options, out = file["o"][0, 0], file["Out"][0, 0]
    flat = np.full(m * n, np.nan)
    flat[file["Known_"].ravel().astype(int) - 1] = file["data_"].ravel()
    matrix = flat.reshape((m, n), order="F")
    X = matrix if m > n else matrix.T  # the program works on the wide form; its columns are our samples
    rule = LMaFitSOR(scale=max(1.0, np.linalg.norm(file["data_"])))
    views = read_views(X)
    result = solve(
        Problem(),
        make_plan(Problem(), views.is_rowwise, rule),
        views,
        start=Blocks((np.zeros((X.shape[1], rank)),), np.eye(X.shape[0], rank)),
        relaxation=rule,
        max_iter=int(options["maxit"].item()),
        tol=float(options["tol"].item()),
        close=False,
    )
    assert result.n_iter == int(out["iter"].item())
    ratios = np.sqrt([step.ratio for step in result.sweeps])
    np.testing.assert_allclose(ratios, out["RR"].ravel()[: result.n_iter], atol=1e-9)
    product = result.blocks.embedding @ result.blocks.bases[0].T
    np.testing.assert_allclose(product if m > n else product.T, file["X"] @ file["Y"], atol=1e-9)


def _cornell(data_folder, share):
    """Links and words of the pages, cut into paired and single ones as the PVC program does."""
    file = loadmat(data_folder / "WebKB" / "cornellRnSp.mat")
    links, words = (_triplets(file[key]) for key in ("X1", "X2"))
    order = loadmat(data_folder / "WebKB" / "cornellFolds.mat")["folds"][0].astype(int) - 1
    n = order.size
    paired = int(np.floor(n * share))
    first = int(np.ceil((n - paired) / 2))
    pair, one, two = order[:paired], order[paired : paired + first], order[paired + first :]
    return links[pair], words[pair], links[one], words[two]


def _triplets(table):
    table = table.astype(float)
    shape = tuple(table[0, :2].astype(int))
    rows, columns = (table[1:, i].astype(int) - 1 for i in (0, 1))
    return sparse.coo_array((table[1:, 2], (rows, columns)), shape=shape).toarray()


def _solve(blocks, factors, weight, start):
    """One block of PVC: non-negative, with weight on its ℓ1 norm, against several data blocks."""
    gram = sum(U @ U.T for U in factors)
    cross = sum(X @ U.T for X, U in zip(blocks, factors, strict=True))
    terms = [NonNegative(), *([L1(weight)] if weight else [])]
    return CoordinateDescent().apply(Quadratic(gram, cross), terms, start)


def _objective(Xs, Xp, Yp, Ys, P1, P2, P3, Ux, Uy, weights):
    first = np.linalg.norm(np.vstack([Xs, Xp]) - np.vstack([P1, P2]) @ Ux)
    second = np.linalg.norm(np.vstack([Yp, Ys]) - np.vstack([P2, P3]) @ Uy)
    return first + second + sum(w * P.sum() for w, P in zip(weights, (P1, P2, P3), strict=True))


def _weights(k=5, weight=0.01, widths=(195, 1703)):
    return weight * widths[0] / k, weight * sum(widths) / k, weight * widths[1] / k


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_pvc_blocks_replay_the_program(golden, data_folder, share):
    """Both phases of the program through our coordinate descent: its objective to 1e-5, its factors to 2e-4."""
    file = loadmat(golden / "PVC" / f"golden_octave_cornell_pair{share}.mat")
    Xp, Yp, Xs, Ys = _cornell(data_folder, share)
    w1, w2, w3 = _weights()
    P2, Ux, Uy = file["Pinit"], file["Uxinit"], file["Uyinit"]
    for _ in range(20):
        Ux = _solve([Xp.T], [P2.T], 0.0, Ux.T).T
        Uy = _solve([Yp.T], [P2.T], 0.0, Uy.T).T
        P2 = _solve([Xp, Yp], [Ux, Uy], w2, P2)
    P1, P3 = file["P1init"], file["P3init"]
    values = []
    for _ in range(20):
        P1, P3 = _solve([Xs], [Ux], w1, P1), _solve([Ys], [Uy], w3, P3)
        Ux = _solve([np.vstack([Xs, Xp]).T], [np.vstack([P1, P2]).T], 0.0, Ux.T).T
        Uy = _solve([np.vstack([Yp, Ys]).T], [np.vstack([P2, P3]).T], 0.0, Uy.T).T
        P2 = _solve([Xp, Yp], [Ux, Uy], w2, P2)
        values.append(_objective(Xs, Xp, Yp, Ys, P1, P2, P3, Ux, Uy, (w1, w2, w3)))
    np.testing.assert_allclose(values, file["objValue"].ravel(), rtol=1e-5)
    for ours, key in ((P1, "P1"), (P2, "P2"), (P3, "P3"), (Ux, "Ux"), (Uy, "Uy")):
        np.testing.assert_allclose(ours, file[key], atol=2e-4)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_pvc_steps_agree_with_the_authors_own_output(golden, data_folder, share):
    """The authors' final P2 meets our optimality conditions, and our step from it does not move it."""
    file = loadmat(golden / "PVC" / "authors" / f"PVC12paired_{share}f_1.mat")
    Xp, Yp, Xs, Ys = _cornell(data_folder, share)
    P1, P2, P3, Ux, Uy = (file[key] for key in ("P1", "P2", "P3", "U1", "U2"))
    weights = _weights()
    value = _objective(Xs, Xp, Yp, Ys, P1, P2, P3, Ux, Uy, weights)
    assert value == pytest.approx(file["objValue"].ravel()[-1], rel=1e-9)
    gram, cross = Ux @ Ux.T + Uy @ Uy.T, Xp @ Ux.T + Yp @ Uy.T
    assert np.abs(np.minimum(P2, 2 * (P2 @ gram - cross) + weights[1])).max() < 1e-4
    np.testing.assert_allclose(_solve([Xp, Yp], [Ux, Uy], weights[1], P2), P2, atol=1e-4)
