"""The block-diagonal representation on a sparse support: the cost of a sweep grows with the pairs, not with n²."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any

import array_api_compat
import numpy as np
from scipy import sparse

from jella.numerics.arrays import (
    Array,
    at_least,
    beside,
    inners,
    like,
    namespace,
    on_accelerator,
    row_blocks,
    row_dots,
    take_rows,
    taken,
    target_bytes,
    to_numpy,
)
from jella.numerics.sparse_arrays import (
    csr_parts,
    has_sparse,
    lines_of,
    make_csr,
    reordered,
    row_sums,
    sparse_beside,
    sparse_elsewhere,
    stored_values,
    to_scipy,
    with_entries,
)
from jella.problem.terms.block_diagonal import BlockDiagonal, BlockState

#: pairs are updated in blocks of about this many bytes
BLOCK_BYTES = 2**22


class Support:
    """A symmetric pattern over n samples without diagonal, and a starting weight for each of its pairs.

    Parameters
    ----------
    weights : sparse array (n, n)
        Symmetric. Its stored entries are the pattern, explicit zeros included. The diagonal is left out. One of another
        library than SciPy has no diagonal, and the support then lies on its device.

    Attributes
    ----------
    n_samples, n_pairs : int
    rows, columns : int arrays (m,)
        The pairs, rows < columns.
    start : array (m,)
        Starting weights.
    """

    def __init__(self, weights: Any) -> None:
        if sparse_elsewhere(weights):
            self._lie_beside(weights)
            return
        full = sparse.csr_array(weights)
        full.sum_duplicates()
        self.n_samples = int(full.shape[0])
        lines = np.repeat(np.arange(self.n_samples), np.diff(full.indptr))
        upper = lines < full.indices
        self.rows, self.columns = lines[upper].astype(np.int32), full.indices[upper].astype(np.int32)
        self.start = full.data[upper]
        self.n_pairs, n = int(self.rows.size), self.n_samples
        numbered = sparse.csr_array((np.arange(1, self.n_pairs + 1), (self.rows, self.columns)), shape=(n, n))
        both = sparse.csr_array(numbered + numbered.T)
        both.sort_indices()
        self._indptr, self._indices = both.indptr, both.indices
        self._pair_of_entry = (both.data - 1).astype(np.int32)
        lines = np.repeat(np.arange(n), np.diff(both.indptr))
        self._entry_of_pair = np.flatnonzero(lines < both.indices).astype(np.int32)  # pairs are numbered row by row

    def _lie_beside(self, weights: Any) -> None:
        """Set all arrays from a symmetric matrix of another library."""
        values, self._indices, self._indptr = csr_parts(weights)
        xp, lines, n = namespace(values), lines_of(weights), int(weights.shape[0])
        upper = lines < self._indices
        self._entry_of_pair = xp.nonzero(upper)[0]
        self.rows, self.columns = taken(lines, self._entry_of_pair), taken(self._indices, self._entry_of_pair)
        self.start = taken(values, self._entry_of_pair)
        self.n_samples, self.n_pairs = n, int(self.rows.shape[0])
        columns, number = xp.astype(self._indices, lines.dtype), xp.cumulative_sum(xp.astype(upper, lines.dtype)) - 1
        mirror = xp.searchsorted(lines * n + columns, columns * n + lines)
        self._pair_of_entry = xp.where(upper, number, taken(number, mirror))

    @classmethod
    def averaging(cls, pattern: Any) -> Support:
        """The support of a symmetric 0/1 graph, starting from ½(1/deg_i + 1/deg_j): averages over neighbours."""
        graph = pattern if sparse_elsewhere(pattern) else sparse.csr_array(pattern)
        values, columns, _ = csr_parts(graph)
        inverse = 1.0 / at_least(row_sums(graph, values), 1.0)
        weights = 0.5 * (taken(inverse, lines_of(graph)) + taken(inverse, columns))
        return cls(with_entries(graph, weights))

    def like(self, reference: Array) -> Support:
        """The support with its arrays in the library and on the device of another, if that has sparse matrices."""
        if not has_sparse(reference) or not self.is_on_host:
            return self
        other = copy(self)
        for name in ("rows", "columns", "_indptr", "_indices", "_pair_of_entry", "_entry_of_pair"):
            setattr(other, name, beside(getattr(self, name), reference))
        return other

    @property
    def is_on_host(self) -> bool:
        """Whether its arrays are those of NumPy."""
        return isinstance(self.rows, np.ndarray)

    def matrix(self, values: Array) -> Any:
        """Values of the pairs (m,) as a symmetric matrix (n, n)."""
        spread = taken(values, self._pair_of_entry)
        return make_csr(spread, self._indices, self._indptr, self.n_samples)

    def values(self, matrix: Any) -> Array:
        """The opposite: values of the pairs (m,) in a matrix that this support made."""
        entries = stored_values(matrix)
        return taken(entries, self._entry_of_pair)

    def take(self, rows: np.ndarray) -> Support:
        """The support with the samples in another order."""
        return Support(reordered(self.matrix(self.start), rows))

    def __repr__(self) -> str:
        return f"Support(n_samples={self.n_samples}, n_pairs={self.n_pairs})"


class SparseBlockDiagonal(BlockDiagonal):
    """BlockDiagonal with B_ij = 0 for each pair (i, j) outside a given support.

    Value: alpha·‖W − PᵀW‖² + beta·‖P − B‖² + gamma·(sum of the k lowest eigenvalues of L_B), as in BlockDiagonal. The
    updates are those of BlockDiagonal and exact for the restricted problem, since B enters pair by pair:
    B_ij = max(½(P_ij + P_ji) − (gamma/(4·beta))·‖f_i − f_j‖², 0) on the support. P is B plus a matrix of rank r and is
    never formed, so time and memory grow with the number of pairs in the support. With a full support that starts from
    zero the term is BlockDiagonal.

    Parameters
    ----------
    support : Support
        The pairs of samples that B may join, with the weights that B starts from. The first update of W pulls every
        sample towards the average of the others by these weights.
    n_blocks : int, default=2
        k, the number of groups.
    alpha : float, default=0.1
        Weight of the self-expression of the embedding.
    beta : float, default=10.0
        Weight of ‖P − B‖².
    gamma : float, default=0.1
        Weight of the block-diagonal structure of B.
    eigen_tol : float, default=1e-4
        Relative residual to which the eigenvectors are solved in every sweep.
    eigen_steps : int, default=3
        Most steps of the eigensolver per sweep. A few are enough, since it continues from the vectors of the sweep
        before; the first sweep has at least 60 steps.

    References
    ----------
    .. [1] H. Tao, C. Hou, D. Yi, J. Zhu, D. Hu: Joint embedding learning and low-rank approximation: a framework for
       incomplete multi-view learning. IEEE Trans. Cybernetics 51 (2021).
    .. [2] C. Lu, J. Feng, Z. Lin, T. Mei, S. Yan: Subspace clustering by block diagonal representation. IEEE Trans.
       Pattern Analysis and Machine Intelligence 41 (2019).
    """

    pairs = 0

    def __init__(
        self,
        support: Support,
        n_blocks: int = 2,
        *,
        alpha: float = 0.1,
        beta: float = 10.0,
        gamma: float = 0.1,
        eigen_tol: float = 1e-4,
        eigen_steps: int = 3,
    ) -> None:
        super().__init__(n_blocks, alpha, beta, gamma=gamma, eigen_tol=eigen_tol, eigen_steps=eigen_steps)
        self.support = support
        self._moved: tuple[Any, Support] | None = None

    @property
    def pull(self) -> float:  # type: ignore[override]
        """The weight of the self-expression."""
        return self.alpha

    def take(self, rows: np.ndarray) -> SparseBlockDiagonal:
        """The term with the samples in another order."""
        other = copy(self)
        other.support, other._moved = self.support.take(rows), None
        return other

    def take_state(self, state: BlockState, rows: np.ndarray) -> BlockState:
        """The state with the samples in another order."""
        F = None if state.indicator is None else take_rows(state.indicator, rows)
        return replace(
            state,
            affinity=reordered(state.affinity, rows),
            previous=reordered(state.previous, rows),
            indicator=F,
            W=take_rows(state.W, rows),
            T=take_rows(state.T, rows),
        )

    def at_rest(self, state: BlockState) -> BlockState:
        """The state with its sparse matrices as SciPy arrays."""
        return replace(state, affinity=to_scipy(state.affinity), previous=to_scipy(state.previous))

    def start(self, B: Array) -> BlockState:
        """B = P = the starting weights, and no F yet."""
        if B.shape[0] != self.support.n_samples:
            raise ValueError(
                f"{self.name} has a support over {self.support.n_samples} samples, but the embedding has {B.shape[0]}"
            )
        support = self.support_like(B)
        if support.is_on_host:  # for libraries without sparse matrices too
            values = support.start.astype(to_numpy(B[:1, :1]).dtype, copy=False)
        else:
            values = like(self.support.start, B)
        affinity = support.matrix(values)
        nothing = namespace(B).zeros_like(B)
        return BlockState(affinity, None, affinity, nothing, like(np.eye(B.shape[1]), B), nothing, 0.0, 0.0)

    def support_like(self, B: Array) -> Support:
        """The support in the library and on the device of the embedding; it is moved once."""
        if not (has_sparse(B) and self.support.is_on_host):
            return self.support
        device = array_api_compat.device(B)
        if self._moved is None or self._moved[0] != device:
            self._moved = (device, self.support.like(B))
        return self._moved[1]

    def _affinity(self, WM: Array, T: Array, old: Any, F: Array | None) -> tuple[Any, float]:
        """As in BlockDiagonal, for the pairs of the support."""
        support = self.support_like(WM)
        if support.is_on_host:  # for libraries without sparse matrices too
            WM, T, F = to_numpy(WM), to_numpy(T), None if F is None else to_numpy(F)
        elif sparse.issparse(old):  # of an earlier fit
            old = support.matrix(like(support.values(sparse_beside(old, WM)), WM))
        xp, before, distance = namespace(WM), support.values(old), 0.0
        after = xp.empty_like(before)
        rows_of = _taken_together(WM, T, F)
        width = WM.shape[1] * WM.itemsize * 4
        for block in row_blocks(support.n_pairs, width, target_bytes(WM, BLOCK_BYTES)):
            (WM_i, T_i, F_i), (WM_j, T_j, F_j) = (rows_of(own[block]) for own in (support.rows, support.columns))
            symmetric = 0.5 * (row_dots(WM_i, T_j) + row_dots(T_i, WM_j))
            new = before[block] + symmetric
            if F is not None:
                difference = F_i - F_j
                new -= (0.25 * self.gamma / self.beta) * row_dots(difference, difference)
            new = at_least(new, 0.0)
            step = before[block] - new
            squares, products = inners((step, step), (step, symmetric))
            distance += 2.0 * squares + 4.0 * products  # both triangles
            after[block] = new
        return support.matrix(after), distance


def _taken_together(*arrays: Array | None) -> Callable[[Array], list[Any]]:
    """A function that takes rows of arrays with as many rows each; an accelerator takes those of all arrays at once."""
    given = [one for one in arrays if one is not None]
    if not on_accelerator(given[0]):
        return lambda rows: [None if one is None else taken(one, rows) for one in arrays]
    whole, ends = namespace(*given).concat(given, axis=1), np.cumsum([one.shape[1] for one in given]).tolist()

    def parts(rows: Array) -> list[Any]:
        some = taken(whole, rows)
        found = [some[:, start:end] for start, end in zip([0, *ends], ends, strict=False)]
        return found + [None] * (len(arrays) - len(found))

    return parts
