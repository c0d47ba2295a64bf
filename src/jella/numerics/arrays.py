"""Functions that the array API standard does not have, over array-api-compat; and blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import array_api_compat
import numpy as np
from scipy import sparse

#: Any array of an array-API library (numpy, torch, cupy, array-api-strict) or, for views, a SciPy sparse array.
Array: TypeAlias = Any

#: libraries by the types of arrays: looking one up takes longer than a small step of an update
_NAMESPACES: dict[tuple[type, ...], Any] = {}
#: bytes of a block of rows on the host and on a device
TARGET_BYTES, DEVICE_BYTES = 2**20, 2**30
#: numbers of an array that is decomposed on the host: a device starts many small steps for it
SMALL = 2**14
#: of a long row, of which the smallest entries are looked for
BANDS = 32


def namespace(*arrays: Array) -> Any:
    """The array library of the arguments; NumPy for SciPy sparse arrays."""
    kinds = tuple(map(type, arrays))
    if kinds not in _NAMESPACES:
        _NAMESPACES[kinds] = array_api_compat.array_namespace(
            *[np.empty(0) if sparse.issparse(array) else array for array in arrays]
        )
    return _NAMESPACES[kinds]


def to_numpy(array: Array) -> np.ndarray:
    """The array in NumPy, on the host; itself where it is one already."""
    try:
        return np.asarray(array)
    except (TypeError, RuntimeError):  # torch and cupy refuse implicit copies from another device
        return np.asarray(array_api_compat.to_device(array, "cpu"))


def like(values: Any, reference: Array) -> Array:
    """Values as an array with the library, the device and the floating type of the reference."""
    if sparse.issparse(reference):
        return np.asarray(values, dtype=reference.dtype)
    xp = namespace(reference)
    if array_api_compat.is_array_api_obj(values) and namespace(values) is not xp:
        values = to_numpy(values)  # what all libraries take
    if isinstance(values, np.ndarray) and not values.flags.writeable:
        values = values.copy()  # torch would share the memory, and warn that it is read-only
    return xp.asarray(values, dtype=reference.dtype, device=array_api_compat.device(reference))


def beside(values: np.ndarray, reference: Array) -> Array:
    """A NumPy array of any type, in the library and on the device of the reference; NumPy itself for SciPy's arrays."""
    if is_numpy(reference):
        return values
    if not values.flags.writeable:
        values = values.copy()  # torch would share the memory, and warn that it is read-only
    return namespace(reference).asarray(values, device=array_api_compat.device(reference))


def is_numpy(array: Array) -> bool:
    """Whether an array is one of NumPy or SciPy."""
    return isinstance(array, np.ndarray) or bool(sparse.issparse(array))


def on_accelerator(array: Array) -> bool:
    """Whether an array lies in the memory of another device than the processor."""
    if is_numpy(array):
        return False  # what the next line takes as long to find as a small step of an update
    if array_api_compat.is_torch_array(array):
        return array.device.type != "cpu"
    return "cpu" not in str(array_api_compat.device(array)).lower()


def if_small_on_host(array: Array) -> Array:
    """A small array of an accelerator in NumPy, to be decomposed there; any other array as it is."""
    return to_numpy(array) if on_accelerator(array) and array.shape[0] * array.shape[-1] <= SMALL else array


def is_floating(array: Array) -> bool:
    """Whether an array-API array holds real floating point numbers."""
    return bool(namespace(array).isdtype(array.dtype, "real floating"))


def sqnorm(array: Array) -> float:
    """Sum of the squares, without a temporary of the size of the array where the library allows it."""
    return float(square_sum(array))


def square_sum(array: Array) -> Any:
    """The same as a number or an array of one, on the device of the array, which need not be waited for."""
    if sparse.issparse(array):
        return float(np.vdot(array.data, array.data))
    if isinstance(array, np.ndarray):
        flat = array.ravel(order="K")
        return float(np.vdot(flat, flat))
    return namespace(array).sum(array * array)


def row_sqnorms(X: Array) -> Array:
    """Squared norm of each row of a dense or sparse array, (n,)."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return namespace(X).sum(X * X, axis=1)


def at_least(values: Array, least: float) -> Array:
    """Values raised to `least` where they are below it."""
    return namespace(values).where(values > least, values, least)


def clipped(values: Array, low: Any, high: Any) -> Array:
    """Values raised to `low` and lowered to `high`, which are numbers or arrays."""
    # the function of the standard checks its arguments for longer than a small step of an update takes
    return (np if isinstance(values, np.ndarray) else namespace(values)).clip(values, low, high)


def norms_along(X: Array, axis: int) -> np.ndarray:
    """Euclidean norms along an axis, relative to the largest entry, so that no unit overflows or underflows."""
    if sparse.issparse(X):
        entries = X.tocoo()
        which, size = entries.coords[1 - axis], X.shape[1 - axis]
        unit = np.zeros(size)
        np.maximum.at(unit, which, np.abs(entries.data))
        unit = np.where(unit > 0, unit, 1.0)
        return unit * np.sqrt(np.bincount(which, (entries.data / unit[which]) ** 2, minlength=size))
    xp = namespace(X)
    largest = xp.max(xp.abs(X), axis=axis, keepdims=True)
    largest = xp.where(largest > 0, largest, xp.ones_like(largest))
    relative = X / largest
    squares = xp.sum(relative * relative, axis=axis, dtype=xp.float64)
    return to_numpy(xp.squeeze(largest, axis=axis)).astype(np.float64) * np.sqrt(to_numpy(squares))


def inner(a: Array, b: Array) -> float:
    """Frobenius inner product of two dense arrays."""
    return inners((a, b))[0]


def inners(*pairs: tuple[Array, Array]) -> list[float]:
    """Frobenius inner products of pairs of dense arrays, which a device is asked for at once."""
    xp = namespace(*pairs[0])
    found = [xp.sum(a * b) for a, b in pairs]
    return [float(found[0])] if len(found) == 1 else to_numpy(xp.stack(found)).tolist()


def add_scaled(A: Array, B: Array, factors: Array) -> None:
    """Add to A, in place, the columns of B times factors (r,)."""
    if array_api_compat.is_torch_array(A):
        A.addcmul_(B, factors)
    else:
        A += B * factors


def product_from(A: Array, B: Array, least: float) -> Array:
    """A @ B with `least`, a tiny number, in place of zeros.

    Smaller entries become `least` too, but in torch, which adds it to all entries while it multiplies.
    """
    if array_api_compat.is_torch_array(A):
        return A.new_full((B.shape[1],), least).addmm(A, B)
    return clipped(A @ B, least, None)


def subtract_product(A: Array, X: Array, small: Array) -> None:
    """Subtract X @ small from A, in place; A and small may be vectors."""
    if array_api_compat.is_torch_array(A):
        (A.addmv_ if A.ndim == 1 else A.addmm_)(X, small, alpha=-1)
        return
    if A.ndim == 1:
        A -= X @ small
        return
    for rows in cache_blocks(A):
        part = A[rows, :]
        part -= X[rows, :] @ small


def by_rows(X: Array, function: Callable[[slice], Array]) -> Array:
    """What a function returns for blocks of rows of X, in one array like X; in one piece where there is one block."""
    blocks = list(cache_blocks(X))
    if len(blocks) == 1:
        return function(blocks[0])
    made = namespace(X).empty_like(X)
    for rows in blocks:
        made[rows, :] = function(rows)
    return made


def solve_psd(gram: Array, right: Array) -> Array:
    """X with X·gram = right for a symmetric positive semi-definite gram, in the least-squares sense.

    Parameters
    ----------
    gram : array (..., r, r)
    right : array (..., m, r)

    Notes
    -----
    Directions of the gram below its rounding level are dropped (a pseudo-inverse). So rank-deficient factors, as in a
    view of six features at rank ten, get the solution of minimum norm. One well-conditioned gram is factored by
    Cholesky, in a tenth of the time of its eigenvectors.
    """
    if isinstance(gram, np.ndarray) and gram.ndim == right.ndim == 2 and gram.size and right.size:
        found = _by_cholesky(gram, right)
        if found is not None:
            return found
    xp = namespace(gram)
    eigenvalues, vectors = xp.linalg.eigh(gram)
    floor = xp.max(eigenvalues, axis=-1, keepdims=True) * (gram.shape[-1] * float(xp.finfo(gram.dtype).eps))
    keep = eigenvalues > xp.maximum(floor, xp.zeros_like(floor))
    inverse = xp.where(keep, 1.0 / xp.where(keep, eigenvalues, xp.ones_like(eigenvalues)), xp.zeros_like(eigenvalues))
    return ((right @ vectors) * inverse[..., None, :]) @ xp.matrix_transpose(vectors)


def _by_cholesky(gram: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """The same for a gram whose condition leaves half of the digits; None for others."""
    from scipy.linalg import get_lapack_funcs

    factor, condition, solve = get_lapack_funcs(("potrf", "pocon", "potrs"), (gram, right))
    lower, failed = factor(gram, lower=True)
    if failed or not condition(lower, np.abs(gram).sum(axis=0).max(), uplo="L")[0] > np.sqrt(np.finfo(gram.dtype).eps):
        return None
    return np.ascontiguousarray(solve(lower, right.T, lower=True)[0].T)


def row_dots(A: Array, B: Array) -> Array:
    """Inner product of each row of A with the same row of B, (n,)."""
    if isinstance(A, np.ndarray):
        return np.einsum("ij,ij->i", A, B)
    return namespace(A).sum(A * B, axis=1)


def taken(array: Array, places: Array) -> Array:
    """Rows of a dense array, at places in an array of its library, none of them negative."""
    if array_api_compat.is_torch_array(array):
        return array.index_select(0, places)  # `take` of the standard looks for negative places first, in four steps
    return namespace(array).take(array, places, axis=0)


def take_rows(array: Array, rows: np.ndarray) -> Array:
    """Rows of a dense or sparse array at NumPy positions, or where NumPy booleans are True."""
    if sparse.issparse(array):
        return array[rows]
    positions = np.flatnonzero(rows) if rows.dtype == bool else rows
    if isinstance(array, np.ndarray):
        return array.take(positions, axis=0)  # twice as fast as an index
    return taken(array, namespace(array).asarray(positions, device=array_api_compat.device(array)))


def along_rows(A: Array, places: Array) -> Array:
    """The entries of each row of A (n, c) at its own places (n, q); both in the same library."""
    if isinstance(A, np.ndarray):
        return np.take_along_axis(A, places, axis=1)
    if array_api_compat.is_torch_array(A):
        return A.gather(1, places)
    xp = namespace(A)
    first = xp.arange(A.shape[0], device=array_api_compat.device(A)) * A.shape[1]
    return xp.reshape(xp.take(xp.reshape(A, (-1,)), xp.reshape(places + first[:, None], (-1,))), tuple(places.shape))


def smallest_of_rows(D: Array, q: int) -> Array:
    """Places (n, q) of the q smallest entries of each row, in any order; of equal entries, any."""
    if q >= D.shape[1]:
        xp = namespace(D)
        return xp.broadcast_to(xp.arange(D.shape[1], device=array_api_compat.device(D))[None, :], tuple(D.shape))
    if array_api_compat.is_torch_array(D):
        return _smallest_by_bands(D, q)
    if isinstance(D, np.ndarray) or array_api_compat.is_cupy_array(D):
        return D.argpartition(q - 1, axis=1)[:, :q]
    return namespace(D).argsort(D, axis=1)[:, :q]


def _smallest_by_bands(D: Any, q: int) -> Any:
    """The same for torch, whose `topk` reads long rows many times: it gets the minima of groups of columns first.

    A group is a column of each of `BANDS` bands. The q smallest entries lie in the q groups with the smallest minima.
    """

    def smallest(A: Any) -> Any:
        return A.topk(q, dim=1, largest=False, sorted=False).indices

    (n, width), band = D.shape, D.shape[1] // BANDS
    if band < 2 * q:
        return smallest(D)
    xp, there, even = namespace(D), array_api_compat.device(D), band * BANDS
    groups = smallest(xp.min(xp.reshape(D[:, :even], (n, BANDS, band)), axis=1))
    columns = groups[:, None, :] + xp.arange(0, even, band, device=there)[None, :, None]
    over = xp.broadcast_to(xp.arange(even, width, device=there), (n, width - even))
    places = xp.concat([xp.reshape(columns, (n, -1)), over], axis=1)
    return along_rows(places, smallest(along_rows(D, places)))


# blocks of rows that fit the cache


def row_blocks(n_rows: int, bytes_per_row: float, target: int = TARGET_BYTES) -> Iterator[slice]:
    """Consecutive slices of n_rows rows, each of about `target` bytes and at least one row.

    >>> list(row_blocks(5, 10, target=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, int(target / max(bytes_per_row, 1)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def target_bytes(X: Array, on_host: int = TARGET_BYTES) -> int:
    """Bytes of a block of rows: as given on the host, large on a device, where fewer calls are faster."""
    return DEVICE_BYTES if on_accelerator(X) else on_host


def cache_blocks(X: Array) -> Iterator[slice]:
    """Blocks of rows for arithmetic in place: temporaries are small and stay in the cache.

    A temporary of the size of X would get new memory from the system each time, which costs more than the arithmetic.

    >>> import numpy as np
    >>> list(cache_blocks(np.ones((5, 2))))
    [slice(0, 5, None)]
    """
    if isinstance(X, np.ndarray) and 0 < 8 * X.size <= TARGET_BYTES:
        yield slice(0, X.shape[0])  # found in a third of the time, which counts for small data
        return
    yield from row_blocks(X.shape[0], 8 * X.shape[1], target_bytes(X))


def dense_rows(X: Array, rows: np.ndarray | slice) -> np.ndarray:
    """Some rows of a dense or sparse array, dense in NumPy and in double precision."""
    chosen = X[rows].toarray() if sparse.issparse(X) else to_numpy(X)[rows]
    return chosen.astype(np.float64, copy=False)
