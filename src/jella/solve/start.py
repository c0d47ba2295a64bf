"""The blocks that a solve starts from: SVD of the imputed views, its non-negative form, random, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds

from jella.numerics.arrays import (
    Array,
    at_least,
    beside,
    like,
    namespace,
    row_blocks,
    solve_psd,
    taken,
    target_bytes,
    to_numpy,
)
from jella.numerics.kmeans import one_thread
from jella.numerics.sparse_arrays import (
    csr_parts,
    lines_of,
    neighbours_beside,
    row_slice,
    row_sums,
    sparse_beside,
    sparse_elsewhere,
    sparse_times,
    with_entries,
)
from jella.problem.model import Blocks, Problem
from jella.problem.terms import Indicator
from jella.solve.solver import largest_signs, split_rows
from jella.views import View, Views

#: below this many samples or features the start is computed through the smaller Gram matrix
SMALL_SIDE = 2000
#: sparse views are made dense there for more components than one in this many, which take longer one by one
MANY = 2


@singledispatch
def make_start(views: Any, problem: Problem, init: Any, rank: int, rng: np.random.Generator) -> Blocks:
    """Blocks to start from, which satisfy the constraints of the problem.

    Parameters
    ----------
    views : Views
        In memory; other kinds of views register their own version.
    problem : Problem
        Missing values are imputed for the SVD from the samples in its `neighbours`; without them, by means.
    init : 'svd', 'random', array (n, r), or dict with 'embedding' (n, r) and optionally 'bases', one (d_v, r) per view
    """
    if any(isinstance(term, Indicator) for term in problem.embedding) and isinstance(init, str):
        blocks = _from_clusters(views, init, rank, rng)
    elif isinstance(init, str) and init == "svd":
        blocks = _from_svd(views, problem, rank)
    elif isinstance(init, str) and init == "random":
        W = like(rng.standard_normal((views.n_samples, rank)), _dense_reference(views))
        blocks = _from_embedding(views, abs(W) if problem.has_nonnegative_embedding else W)
    elif isinstance(init, str):
        raise ValueError(f"init must be 'svd', 'random', an array or a dict of blocks, got {init!r}")
    else:
        blocks = _given(views, init, rank)
    return Blocks(feasible_bases(problem, blocks.bases), feasible_embedding(problem, blocks.embedding))


@dataclass(frozen=True)
class MeanFilled:
    """A view imputed by means, X + a μᵀ with a = 1 at absent samples: a sparse view stays sparse.

    Attributes
    ----------
    X : array (n, d) or CSR array
        Zero rows at absent samples; single missing entries are already imputed.
    absent : array (n,)
        1 where the sample lacks the view, else 0.
    mean : array (d,)
    """

    X: Array
    absent: Array
    mean: Array

    @classmethod
    def of(cls, view: View, mean: Array | None = None) -> MeanFilled:
        """A view imputed by its own means, or by given ones."""
        mean = feature_means(view) if mean is None else mean
        if view.is_rowwise:
            return MeanFilled(view.X, like(~view.presence(), mean), mean)
        return MeanFilled(namespace(mean).where(view.mask, view.X, mean), like(np.zeros(view.n_samples), mean), mean)

    def times(self, V: Array) -> Array:
        """Filled view times V, (n, r)."""
        return self.X @ V + self.absent[:, None] * (self.mean @ V)[None, :]

    def times_transposed(self, U: Array) -> Array:
        """Transpose of the filled view times U, (d, r)."""
        return self.X.T @ U + self.mean[:, None] * (self.absent @ U)[None, :]

    def dense(self) -> Array:
        """The filled view itself, (n, d)."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        return X + self.absent[:, None] * self.mean[None, :]


@dataclass(frozen=True)
class NeighbourFilled(MeanFilled):
    """A view imputed by neighbours, X + D X + a μᵀ: D averages the neighbours of an absent sample that have the view.

    Attributes
    ----------
    donors : sparse array (n, n)
        D, in the library of the values; empty rows at the samples that have the view, and at those without a neighbour
        that has it.
    """

    donors: Any

    @classmethod
    def by(cls, view: View, graph: Any, mean: Array | None = None) -> MeanFilled:
        """A view imputed from the neighbours in a 0/1 graph (n, n), and by means where no neighbour has a value.

        The graph is one of SciPy, or of the library of the values.
        """
        mean = feature_means(view) if mean is None else mean
        if not view.is_rowwise:
            return MeanFilled(_entries_from(view, graph, mean), like(np.zeros(view.n_samples), mean), mean)
        present = view.presence()
        if sparse_elsewhere(graph):
            return cls._there(view, graph, beside(~present, mean), mean)
        donors = sparse.csr_array(
            sparse.diags_array((~present).astype(float)) @ graph @ sparse.diags_array(present * 1.0)
        )
        donors.eliminate_zeros()
        count = np.diff(donors.indptr)
        donors.data = np.repeat(1.0 / np.maximum(count, 1), count).astype(np.dtype(str(mean.dtype).split(".")[-1]))
        return cls(view.X, like(~present & (count == 0), mean), mean, sparse_beside(donors, mean))

    @classmethod
    def _there(cls, view: View, graph: Any, absent: Array, mean: Array) -> MeanFilled:
        """The same with a graph in the library of the values; neighbours that lend nothing have a weight of zero."""
        lines, columns = lines_of(graph), csr_parts(graph)[1]
        lends = like(taken(absent, lines) & ~taken(absent, columns), mean)
        count = row_sums(with_entries(graph, lends), mean)
        donors = with_entries(graph, lends / taken(at_least(count, 1.0), lines))
        return cls(view.X, like(absent & (count == 0), mean), mean, donors)

    def times(self, V: Array) -> Array:
        """Filled view times V, (n, r)."""
        product = self.X @ V
        return product + sparse_times(self.donors, product) + self.absent[:, None] * (self.mean @ V)[None, :]

    def times_transposed(self, U: Array) -> Array:
        """Transpose of the filled view times U, (d, r)."""
        spread = U + sparse_times(sparse.csr_array(self.donors.T), U)
        return self.X.T @ spread + self.mean[:, None] * (self.absent @ U)[None, :]

    def dense(self) -> Array:
        """The filled view itself, (n, d)."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        return X + sparse_times(self.donors, X) + self.absent[:, None] * self.mean[None, :]


def _entries_from(view: View, graph: Any, mean: Array) -> Array:
    """Values with each missing entry imputed: the mean over its neighbours, or over all samples if none has a value."""
    xp, X = namespace(view.X), view.X
    values, seen = xp.astype(X, xp.float64, copy=False), xp.astype(view.mask, xp.float64)
    filled = xp.empty_like(X)
    for rows in row_blocks(view.n_samples, view.n_features * 8, target_bytes(X, 2**24)):
        some = sparse_beside(row_slice(graph, rows), X)
        total, count = sparse_times(some, values), sparse_times(some, seen)
        guess = xp.astype(xp.where(count > 0, total / at_least(count, 1.0), mean), X.dtype)
        filled[rows, :] = xp.where(view.mask[rows, :], X[rows, :], guess)
    return filled


def feature_means(view: View) -> Array:
    """Mean of each feature over its observed entries, (d,)."""
    total = view.X.sum(axis=0) if view.is_sparse else namespace(view.X).sum(view.X, axis=0)
    return like(total, view.X) / like(np.maximum(to_numpy(view.count_by_feature()), 1), view.X)


def truncated_svd(views: Views, rank: int, graph: Any = None) -> tuple[Array, Array, Array]:
    """Leading singular triplets of the imputed views side by side: Q (n, r), s (r,), V (Σ d_v, r).

    Deterministic, and equivariant: permuting samples permutes Q.
    """
    parts = [MeanFilled.of(view) if graph is None else NeighbourFilled.by(view, graph) for view in views]
    smaller = min(views.n_samples, views.n_features)
    large = smaller > SMALL_SIDE and isinstance(views[0].X, np.ndarray)
    thin = any(view.is_sparse for view in views) and (smaller > SMALL_SIDE or MANY * rank <= smaller)
    if rank < smaller - 1 and (large or thin):
        Q, s, V = _iterative_svd(views, rank, parts)
    else:
        F = views.xp.concat([part.dense() for part in parts], axis=1)
        tall = F.shape[0] >= F.shape[1]
        s, inverse, near = leading(F.T @ F if tall else F @ F.T, rank)
        far = (F @ near if tall else F.T @ near) * inverse
        Q, V = (far, near) if tall else (near, far)
    signs = largest_signs(V)
    return Q * signs, s, V * signs


def leading(gram: Array, rank: int) -> tuple[Array, Array, Array]:
    """Largest singular values (r,) from a Gram matrix, their inverses (0 at rounding level), and the vectors."""
    xp = namespace(gram)
    values, vectors = xp.linalg.eigh(gram)
    values, near = xp.flip(values)[:rank], xp.flip(vectors, axis=1)[:, :rank]
    s = xp.sqrt(at_least(values, 0.0))
    usable = s > s[0] * float(xp.finfo(gram.dtype).eps) ** 0.5
    return s, xp.where(usable, 1.0 / xp.where(usable, s, xp.ones_like(s)), xp.zeros_like(s)), near


def _iterative_svd(views: Views, rank: int, parts: Sequence[MeanFilled]) -> tuple[Array, Array, Array]:
    ends = np.cumsum([view.n_features for view in views])

    def matmat(V: np.ndarray) -> np.ndarray:
        blocks = np.split(V.reshape(V.shape[0], -1), ends[:-1])
        return np.sum([part.times(block) for part, block in zip(parts, blocks, strict=True)], axis=0)

    def rmatmat(Q: np.ndarray) -> np.ndarray:
        return np.concatenate([part.times_transposed(Q.reshape(Q.shape[0], -1)) for part in parts])

    shape = (views.n_samples, int(ends[-1]))
    if not any(np.any(view.X.data) if view.is_sparse else np.any(view.X) for view in views):
        return np.eye(shape[0], rank), np.zeros(rank), np.eye(shape[1], rank)
    operator = LinearOperator(
        shape, matvec=matmat, matmat=matmat, rmatvec=rmatmat, rmatmat=rmatmat, dtype=np.dtype(str(views.dtype))
    )
    # a first vector that is permuted with the samples: sums over features, or over samples
    n, d = shape
    first = matmat(np.ones((d, 1)))[:, 0] if n <= d else rmatmat(np.ones((n, 1)))[:, 0]
    Q, s, Vt = svds(operator, k=rank, v0=first if np.any(first) else np.ones(min(n, d)))
    order = np.argsort(-s)
    return Q[:, order], s[order], Vt[order].T


def _from_svd(views: Views, problem: Problem, rank: int) -> Blocks:
    graph = None if problem.neighbours is None else neighbours_beside(problem.neighbours, views[0].X)
    Q, s, V = truncated_svd(views, rank, graph)
    if problem.has_nonnegative_embedding:
        Q, V = nonnegative_pair(Q, s, V)
    else:
        Q = Q * s
    if problem.has_nonnegative_embedding and not problem.needs_nonnegative_data:
        return _from_embedding(views, Q)
    return Blocks(split_rows(V, [view.n_features for view in views]), Q)


def _from_clusters(views: Views, init: str, rank: int, rng: np.random.Generator) -> Blocks:
    """The start for an indicator: k-means on the leading SVD scores."""
    if init not in ("svd", "random"):
        raise ValueError(f"init must be 'svd', 'random', an array or a dict of blocks, got {init!r}")
    Q, s, _ = truncated_svd(views, rank)
    labels = first_clusters(to_numpy(Q * s), init, rank, rng).labels_
    return _from_embedding(views, like(np.eye(rank)[labels], _dense_reference(views)))


def first_clusters(scores: np.ndarray, init: str, rank: int, rng: np.random.Generator) -> Any:
    """A fitted k-means on scores (n, r), from samples far from each other ('svd') or random ones."""
    from sklearn.cluster import KMeans

    scores = scores.astype(np.float64)
    centres = far_samples(scores, rank) if init == "svd" else "random"
    with one_thread():
        return KMeans(rank, init=centres, n_init=1, random_state=int(rng.integers(2**31))).fit(scores)


def far_samples(scores: np.ndarray, k: int) -> np.ndarray:
    """K rows, each the farthest from those before it, starting with the one farthest from the mean, (k, r)."""
    distance = np.sum((scores - scores.mean(axis=0)) ** 2, axis=1)
    chosen = [int(distance.argmax())]
    distance = np.full(scores.shape[0], np.inf)
    for _ in range(1, k):
        distance = np.minimum(distance, np.sum((scores - scores[chosen[-1]]) ** 2, axis=1))
        chosen.append(int(distance.argmax()))
    return scores[chosen]


def nonnegative_pair(Q: Array, s: Array, V: Array) -> tuple[Array, Array]:
    """Non-negative factors by NNDSVD: the stronger sign of each singular pair, clipped and rescaled.

    Written out because scikit-learn has it inside NMF only, for complete data in NumPy.
    """
    up, of_Q, of_V = stronger_halves(half_squares(Q), half_squares(V), s)
    return half(Q, up) * of_Q, half(V, up) * of_V


def half_squares(Q: Array) -> Array:
    """Sums of squares of the positive and of the negative entries of each column, (2, r)."""
    xp = namespace(Q)
    squares = Q * Q
    return xp.stack([xp.sum(xp.where(Q > 0, squares, 0.0), axis=0), xp.sum(xp.where(Q < 0, squares, 0.0), axis=0)])


def half(Q: Array, up: Array) -> Array:
    """The positive entries of the columns where `up` is True, the absolute negative entries of the others."""
    xp = namespace(Q)
    turned = xp.where(up, Q, -Q)
    return xp.where(turned > 0, turned, 0.0)


def stronger_halves(of_Q: Array, of_V: Array, s: Array) -> tuple[Array, Array, Array]:
    """Whether the positive sign of each pair is the stronger, and factors for the halves, from squares (2, r)."""
    xp = namespace(s)
    nq, nv = xp.sqrt(of_Q), xp.sqrt(of_V)
    up = nq[0, :] * nv[0, :] >= nq[1, :] * nv[1, :]
    nq, nv = xp.where(up, nq[0, :], nq[1, :]), xp.where(up, nv[0, :], nv[1, :])
    one = xp.ones_like(nq)
    strength = xp.sqrt(s * nq * nv)
    return up, strength / xp.where(nq > 0, nq, one), strength / xp.where(nv > 0, nv, one)


def _from_embedding(views: Views, W: Array) -> Blocks:
    """The embedding, with least-squares bases on the views imputed by means."""
    gram = W.T @ W
    bases = tuple(solve_psd(gram, MeanFilled.of(view).times_transposed(W)) for view in views)
    return Blocks(bases, W)


def _given(views: Views, init: Any, rank: int) -> Blocks:
    reference = _dense_reference(views)
    given = init if isinstance(init, Mapping) else {"embedding": init}
    if "embedding" not in given:
        raise ValueError("init as a dict must have the key 'embedding', and may have 'bases'")
    W = like(given["embedding"], reference)
    check_embedding(W, views, rank)
    if given.get("bases") is None:
        return _from_embedding(views, W)
    return Blocks(given_bases(given["bases"], views, rank, reference), W)


def check_embedding(W: Any, views: Views, rank: int) -> None:
    """Raise an error for an embedding of another shape."""
    if tuple(W.shape) != (views.n_samples, rank):
        raise ValueError(f"init's embedding must have shape {(views.n_samples, rank)}, got {tuple(W.shape)}")


def given_bases(blocks: Any, views: Views, rank: int, reference: Array) -> tuple[Array, ...]:
    """Bases that a user gives, checked."""
    bases = tuple(like(U, reference) for U in in_view_order(blocks, views))
    expected = [(view.n_features, rank) for view in views]
    if [tuple(U.shape) for U in bases] != expected:
        raise ValueError(f"init's bases must have shapes {expected}, got {[tuple(U.shape) for U in bases]}")
    return bases


def in_view_order(blocks: Any, views: Views) -> list[Any]:
    """Blocks that a user gives per view, in the order of the views, from a dict by name or a sequence."""
    return [blocks[name] for name in views.names] if isinstance(blocks, Mapping) else list(blocks)


def feasible_bases(problem: Problem, bases: tuple[Array, ...]) -> tuple[Array, ...]:
    """Bases that satisfy the constraints."""
    for term in problem.basis:
        if term.stacked:
            stack = namespace(*bases).concat(list(bases), axis=0)
            bases = split_rows(term.project(stack), [U.shape[0] for U in bases])
        else:
            bases = tuple(term.project(U) for U in bases)
    return bases


def feasible_embedding(problem: Problem, W: Array) -> Array:
    """An embedding that satisfies the constraints."""
    for term in problem.embedding:
        W = term.project(W)
    return W


def _dense_reference(views: Views) -> Array:
    dense = [view.X for view in views if not view.is_sparse]
    return dense[0] if dense else np.empty(0, dtype=views[0].X.dtype)
