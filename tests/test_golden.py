"""Replays of the original programs, from their stored inputs, starting values and outputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse

from jella.io.stored import giving_arrays
from jella.problem.model import Blocks, Problem
from jella.problem.terms.learned_graph import Laplacian, project_simplex_rows, squared_distances
from jella.problem.terms.sample_norm import RobustState
from jella.solve.plan import make_plan
from jella.solve.quadratic import Quadratic
from jella.solve.relaxation import Basic, LMaFitSOR
from jella.solve.samples import InMemory
from jella.solve.solver import evaluate, solve, sweep
from jella.solve.updates import CoordinateDescent, LeastSquares, Sylvester
from jella.terms import L1, Alignment, BlockDiagonal, Indicator, NonNegative, Ridge, SampleNorm
from jella.views import read_views

loadmat = giving_arrays(scipy_io.loadmat)


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


@pytest.mark.parametrize("weights", ["afa1_beta1", "afa0.0001_beta10000"])
@pytest.mark.parametrize("case", ["buaa", "msrc"])
def test_daimc_replays_the_program(golden, case, weights):
    """A whole run: U by our Sylvester update, the regressions and the objective by our term, W as the program does."""
    file = loadmat(golden / "DAIMC" / f"golden_{case}_{weights}.mat")
    views = list(file["X"].ravel())
    masks = [file["ind"][:, v].astype(float) for v in range(2)]
    options = file["opt"][0, 0]
    term = Alignment(options["afa"].item(), options["beta"].item())
    U, R = list(file["U0"].ravel()), list(file["B0"].ravel())
    V = file["V0"]
    values = []
    for _ in range(30):
        U = [
            Sylvester().apply(Quadratic(V.T @ (V * m[:, None]), X @ (V * m[:, None])), [term], u, [r])
            for X, m, u, r in zip(views, masks, U, R, strict=True)
        ]
        V = _semi_nonnegative_steps(views, masks, U, V)
        sums = V.sum(axis=0)
        V, U = V / sums, [u * sums for u in U]
        R = [term.refresh(u, r) for u, r in zip(U, R, strict=True)]
        misfit = sum(np.sum((X - u @ V.T) ** 2 * m) for X, u, m in zip(views, U, masks, strict=True))
        values.append(misfit + sum(term.value(u, r) for u, r in zip(U, R, strict=True)))
    np.testing.assert_allclose(values, file["F"].ravel(), rtol=1e-9)
    np.testing.assert_allclose(V, file["V"], rtol=1e-9, atol=1e-12)
    for ours, theirs in zip([*U, *R], [*file["U"].ravel(), *file["B"].ravel()], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9 * np.abs(theirs).max())


def _semi_nonnegative_steps(views, masks, U, V):
    """The program's W-step: up to 30 multiplicative steps, ended by a relative change of the loss below 1e-4."""
    last = None
    for step in range(30):
        above = below = 0.0
        for X, m, u in zip(views, masks, U, strict=True):
            cross, gram = X.T @ u, u.T @ u
            above = above + m[:, None] * (np.maximum(cross, 0) + V @ np.maximum(-gram, 0))
            below = below + m[:, None] * (np.maximum(-cross, 0) + V @ np.maximum(gram, 0))
        V = V * np.sqrt(above / np.maximum(below, 1e-10))
        loss = sum(np.sum((X - u @ V.T) ** 2 * m) for X, u, m in zip(views, U, masks, strict=True))
        if step > 0 and abs(loss - last) / last < 1e-4:
            break
        last = loss
    return V


BDR = ["buaa_l0.07_g0.007", "buaa_l1_g0.1", "buaa_l50_g1", "msrc_l1_g0.1", "msrc_l50_g1"]


@pytest.mark.parametrize("case", BDR)
def test_bdr_steps_replay_the_program(golden, case):
    """Our affinity and eigenvectors on fixed coordinates X are the BDR program: same counts, same B and Z.

    The program minimises ½‖X − XZ‖² + (λ/2)‖Z − B‖² + γ‖B‖_k: twice that is our term with alpha 1, beta λ, gamma 2γ.
    """
    file = loadmat(golden / "BDR" / f"golden_{case}.mat")
    X, k = file["X_"], int(file["k_"].item())
    weight, gamma = file["lambda"].item(), file["gamma"].item()
    term = BlockDiagonal(k, 1.0, weight, gamma=2 * gamma, eigen_tol=1e-13)
    W = np.ascontiguousarray(X.T)
    state, Z, count = term.start(W), np.zeros((X.shape[1],) * 2), 0
    while count < 1000:
        count += 1
        new = term.refresh(W, state)
        Z_new = new.previous + new.W @ new.M @ new.T.T
        change = max(np.abs(Z_new - Z).max(), np.abs(new.affinity - state.affinity).max())
        state, Z = new, Z_new
        if change < 1e-3:
            break
    assert count == int(file["iter"].item())
    np.testing.assert_allclose(state.affinity, file["B"], atol=1e-9)
    np.testing.assert_allclose(Z, file["Z"], atol=1e-9)


@pytest.mark.parametrize("fold", [1, 2, 3])
@pytest.mark.parametrize("iteration", [1, 2, 5])
def test_img_steps_replay_the_program(golden, fold, iteration):
    """Single steps of the program's first iterations through our ridge regression and shifted solver, to 1e-10.

    The program clips the rows of A with no active set; where clipping acts (fold 2) its A is not the projection.
    """
    stem = golden / "IMG" / f"golden_buaa_f{fold}"
    file, init = loadmat(f"{stem}.mat"), loadmat(f"{stem}_init.mat")
    options = file["o"][0, 0]
    ridge, beta, gamma = (options[key].item() for key in ("lamda", "beta", "gamma"))
    P = [init["P2init"], init["P1init"], init["P3init"]]
    sizes = np.cumsum([p.shape[0] for p in P])[:-1]
    Q, La, mu = np.vstack(P), init["La"], 0.1
    L = np.zeros_like(Q)
    for _ in range(iteration):
        U = [
            LeastSquares()
            .apply(Quadratic(P[0].T @ P[0], X.T @ P[0]), [Ridge(ridge)], np.zeros((X.shape[1], Q.shape[1])))
            .T
            for X in (file["Xp"], file["Yp"])
        ]
        blocks, Qs, Ls = [(0, 1), (0,), (1,)], np.split(Q, sizes), np.split(L, sizes)
        data = [[file["Xp"], file["Yp"]], [file["Xs"]], [file["Ys"]]]
        P = []
        for used, X, q, lagrange in zip(blocks, data, Qs, Ls, strict=True):
            gram = sum(U[v] @ U[v].T for v in used) + 0.5 * mu * np.eye(Q.shape[1])
            cross = sum(x @ U[v].T for v, x in zip(used, X, strict=True)) - 0.5 * lagrange + 0.5 * mu * q
            P.append(LeastSquares().apply(Quadratic(gram, cross), [], np.zeros_like(q)))
        stacked = np.vstack(P)
        Q = np.linalg.solve(beta * (La + La.T) + mu * np.eye(La.shape[0]), L + mu * stacked)
        distances = beta / (4 * gamma) * squared_distances(Q)
        A = np.maximum(0, (1 + distances.sum(axis=1, keepdims=True)) / Q.shape[0] - distances)
        if np.all(A > 0):
            np.testing.assert_allclose(project_simplex_rows(-distances), A, atol=1e-10)
        A = (A + A.T) / 2
        La = np.diag(A.sum(axis=1)) - A
        L, mu = L + mu * (stacked - Q), min(1.1 * mu, 1e10)
    stored = loadmat(f"{stem}_it{iteration}.mat")
    for ours, key in ((stacked[: sizes[0]], "P2"), (Q, "Q"), (U[0], "U1"), (U[1], "U2"), (A, "A")):
        if key in stored:
            np.testing.assert_allclose(ours, stored[key], atol=1e-10)
    np.testing.assert_allclose(Laplacian(A).matmul(Q), La @ Q, atol=1e-10)
    assert {"P2", "Q", "U1", "U2", "A"} <= set(stored)


@pytest.mark.parametrize("power", [2, 3, 5])
def test_irmkmc_on_complete_views_is_rmkmc(golden, power):
    """Sweeps of our solver from the program's start: its iteration count, labels, objective, centroids and weights."""
    file = loadmat(golden / "RMKMC" / f"golden_msrc_r{power}.mat")
    views = read_views([X.T for X in file["X"].ravel()])
    samples = InMemory.of(views)
    problem = Problem(loss=SampleNorm(power), embedding=(Indicator(),))
    plan = make_plan(problem, True, Basic())
    W = file["Gi"].astype(float)
    state = RobustState(np.full(2, 0.5))
    bases = tuple(np.zeros((view.n_features, W.shape[1])) for view in views)
    blocks = problem.start_states(Blocks(bases, W))
    at = replace(evaluate(problem, samples, blocks), blocks=replace(blocks, loss_state=state))
    vars(at.samples)["row_weights"] = [np.ones((W.shape[0], 1))] * 2  # the program starts from equal weights
    values = []
    for _ in range(100):
        at = sweep(problem, plan, samples, at, 1.0)
        values.append(at.value)
        if len(values) > 1 and values[-2] - values[-1] < 1e-5:
            break
    assert len(values) == int(file["t"].item())
    np.testing.assert_array_equal(at.blocks.embedding, file["G"])
    np.testing.assert_allclose(values, file["obj"].ravel()[: len(values)], rtol=1e-9)
    np.testing.assert_allclose(at.blocks.loss_state.view_weights, file["al"].ravel(), rtol=1e-9)
    for ours, theirs in zip(at.blocks.bases, file["F"].ravel(), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)
