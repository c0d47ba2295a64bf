"""Which arrays of a file are views, whether their samples are rows or columns, and which array holds the labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from jella.io import kinds
from jella.io.dataset import Options
from jella.io.errors import DataError, some
from jella.io.stored import rounding


@dataclass(frozen=True)
class Slot:
    """Where a view is stored: a variable, or one cell of it; transposed if its columns are the samples."""

    variable: str
    cell: int | None = None
    turned: bool = False

    def value(self, variables: Mapping[str, Any]) -> Any:
        """The matrix as stored, not transposed."""
        stored = variables[self.variable]
        if self.cell is not None:
            return stored.ravel()[self.cell]
        return kinds.from_triplets(stored) if kinds.is_triplets(stored) else stored


@dataclass(frozen=True)
class Layout:
    """The places of the views, the labels, and notes on what was decided."""

    places: dict[str, Slot]
    labels: np.ndarray | None
    notes: tuple[str, ...]

    def views(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The views, samples as rows, in floating point; sparse views as CSR arrays."""
        return {name: _as_view(place.value(variables), place.turned) for name, place in self.places.items()}


def find_layout(variables: Mapping[str, Any], options: Options, where: str) -> Layout:
    """Find views and labels among the variables of a file.

    Views are the cells of a cell array or, if there is none, the matrices. The number of labels is the number of
    samples, and so shows whether samples are rows or columns; without labels the views must agree on a number.
    """
    wanted = _wanted_labels(variables, options, where)
    labellings = wanted | _labellings(variables)
    places, notes = _candidates(variables, labellings)
    if not places:
        raise DataError(_no_views(variables, notes, where))
    shapes = {name: place.value(variables).shape for name, place in places.items()}
    label_name = _matching(wanted or labellings, shapes, options)
    if wanted and label_name is None:
        raise DataError(
            f"expected one label per sample, got {next(iter(wanted.values())).size} in {options.labels!r} of "
            f"{where} and views of the shapes {list(shapes.values())}; name other labels"
        )
    labels = None if label_name is None else labellings[label_name]
    n, how = _n_samples(shapes, None if labels is None else labels.size, options.samples, where)
    kept = {name: place for name, place in places.items() if n in _lengths(shapes[name], options.samples)}
    _check_cells([shapes[name] for name, place in places.items() if name not in kept and place.cell is not None], n)
    _check_real({name: place.value(variables) for name, place in kept.items()}, where)
    turned = _turned({name: shapes[name] for name in kept}, n, options.samples)
    notes += how + _notes(variables, kept, turned, label_name)
    notes += _left_out([name for name in places if name not in kept], n)
    notes += _words(variables, n)
    notes += _other_labels([name for name in labellings if name != label_name])
    placed = {name: Slot(p.variable, p.cell, turned[name]) for name, p in kept.items()}
    return Layout(placed, labels, tuple(notes))


def _wanted_labels(variables: Mapping[str, Any], options: Options, where: str) -> dict[str, np.ndarray]:
    if options.labels is None:
        return {}
    value = variables.get(options.labels)
    found = kinds.as_vector(value)
    if found is None:
        found = kinds.classes_of_one_hot(value)
    if found is None:
        known = list(_labellings(variables))
        raise DataError(
            f"expected labels in the variable {options.labels!r} of {where}, got none; pass one of {known} or leave "
            "labels out"
        )
    return {options.labels: found}


def _labellings(variables: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Candidates for labels, the most likely first: vectors with a usual name, one-hot matrices with one, the rest."""
    vectors = {name: found for name, value in variables.items() if (found := kinds.as_vector(value)) is not None}
    named = {name: vector for name, vector in vectors.items() if kinds.is_label_name(name)}
    coded = {
        name: classes
        for name, value in variables.items()
        if kinds.is_label_name(name) and (classes := kinds.classes_of_one_hot(value)) is not None
    }
    others = {name: v for name, v in vectors.items() if name not in named and 1 < np.unique(v).size < v.size}
    return named | coded | (others if len(others) == 1 and not named and not coded else {})


def _candidates(
    variables: Mapping[str, Any], labellings: Mapping[str, np.ndarray]
) -> tuple[dict[str, Slot], list[str]]:
    """Places that may hold views, and notes on the other arrays."""
    cells = {name: cell for name, value in variables.items() if (cell := kinds.matrices_in(value))}
    matrices = {n: v for n, v in variables.items() if kinds.is_matrix(v) and n not in labellings}
    masks = [name for name, cell in cells.items() if kinds.are_masks(cell)]
    masks += [name for name, value in matrices.items() if _is_folds(value)]
    coded = [name for name, value in matrices.items() if _repeats_labels(value, labellings)]
    cells = {name: cell for name, cell in cells.items() if name not in masks}
    plain = [name for name in matrices if name not in (*masks, *coded)]
    if not cells:
        masks += [name for name in plain if _marks_presence(matrices[name], len(plain) - 1)]
    notes = [f"Masks or folds, not views: {some(masks)}."] if masks else []
    notes += [f"The labels in another form, not a view: {some(coded)}."] if coded else []
    deep = [name for name, value in variables.items() if getattr(value, "ndim", 0) > 2]
    notes += [f"More than two dimensions, left out: {some(deep)}."] if deep else []
    if not cells:
        return {name: Slot(name) for name in plain if name not in masks}, notes
    chosen, *others = sorted(cells, key=lambda name: not _has_one_length(cells[name]))
    if others or plain:
        notes.append(f"The views are the cells of {chosen!r}; left out: {some([*others, *plain])}.")
    names = _cell_names(chosen, len(cells[chosen]), variables)
    return {name: Slot(chosen, i) for i, name in enumerate(names)}, notes


def _is_folds(value: Any) -> bool:
    return kinds.are_permutations(value) and not kinds.is_triplets(value)


def _repeats_labels(value: Any, labellings: Mapping[str, np.ndarray]) -> bool:
    classes = kinds.classes_of_one_hot(value)
    return classes is not None and any(kinds.same_groups(classes, labels) for labels in labellings.values())


def _marks_presence(value: Any, n_others: int) -> bool:
    return n_others > 1 and value.shape[1] == n_others and kinds.are_masks([value])


def _has_one_length(matrices: list[Any]) -> bool:
    return bool(set.intersection(*({*m.shape} for m in matrices)))


def _cell_names(variable: str, count: int, variables: Mapping[str, Any]) -> list[str]:
    """Names of the cells if the file has a list of them; otherwise the name of the variable and MATLAB's index."""
    for name, value in variables.items():
        texts = kinds.as_vector(value)
        if texts is None or texts.dtype.kind != "U" or "name" not in name.lower():
            continue
        if texts.size == count == np.unique(texts).size:
            return [str(text) for text in texts]
    return [f"{variable}{i + 1}" for i in range(count)]


def _matching(labellings: Mapping[str, np.ndarray], shapes: Mapping[str, Any], options: Options) -> str | None:
    """The first labelling whose length can be the number of samples."""
    lengths = [_lengths(shape, options.samples) for shape in shapes.values()]
    all_agree = set.intersection(*lengths) or set.union(*lengths)
    return next((name for name, labels in labellings.items() if labels.size in all_agree), None)


def _lengths(shape: tuple[int, int], samples: str) -> set[int]:
    """The possible numbers of samples of a matrix."""
    return {*shape} if samples == "auto" else {shape[0 if samples == "rows" else 1]}


def _n_samples(
    shapes: Mapping[str, tuple[int, int]], n_labels: int | None, samples: str, where: str
) -> tuple[int, list[str]]:
    """The number of samples, and notes on what was assumed."""
    rows, columns = {shape[0] for shape in shapes.values()}, {shape[1] for shape in shapes.values()}
    if n_labels is not None:
        return n_labels, []
    if samples != "auto":
        counts = rows if samples == "rows" else columns
        if len(counts) == 1:
            return counts.pop(), []
    elif len(rows) == 1:
        n = rows.pop()
        assumed = f"The {n} rows are taken as the samples; pass samples='columns' if the columns are the samples."
        return n, [assumed] if len(columns) == 1 and columns != {n} else []
    else:
        common = set.intersection(*({*shape} for shape in shapes.values()))
        if common:
            return max(common), []
    raise DataError(
        f"expected views with equal numbers of samples in {where}, got the shapes {list(shapes.values())[:6]}; store "
        "samples that a view lacks as rows of NaN"
    )


def _turned(shapes: Mapping[str, tuple[int, int]], n: int, samples: str) -> dict[str, bool]:
    """Which views have their samples as columns; a square view is treated as the others."""
    if samples != "auto":
        return dict.fromkeys(shapes, samples == "columns")
    clear = [shape[0] != n for shape in shapes.values() if shape[0] != shape[1]]
    square = bool(clear) and all(clear)
    return {name: square if shape[0] == shape[1] else shape[0] != n for name, shape in shapes.items()}


def _notes(
    variables: Mapping[str, Any], places: Mapping[str, Slot], turned: Mapping[str, bool], label_name: str | None
) -> list[str]:
    notes = []
    if label_name is not None:
        notes.append(f"Labels are from {label_name!r}.")
    over = [name for name in places if turned[name]]
    if over:
        notes.append(f"Samples were columns and are rows now: {some(over)}.")
    values = {name: place.value(variables) for name, place in places.items()}
    square = [name for name, value in values.items() if value.shape[0] == value.shape[1]]
    if square:
        notes.append(
            f"{some(square)} is square: its {'columns' if turned[square[0]] else 'rows'} are taken as the samples."
        )
    listed = [name for name, place in places.items() if place.cell is None and kinds.is_triplets(variables[name])]
    if listed:
        notes.append(f"Stored as index triplets: {some(listed)}.")
    small = [f"{name} ({value.dtype})" for name, value in values.items() if _float_type(value.dtype) != value.dtype]
    if small:
        notes.append(f"Made float64: {', '.join(small)}.")
    return [*notes, *rounding(values)]


def _check_cells(shapes: list[tuple[int, int]], n: int) -> None:
    if shapes:
        raise DataError(
            f"expected {n} samples in each cell, got one of the shape {shapes[0]}; store samples that a view lacks "
            "as rows of NaN"
        )


def _check_real(values: Mapping[str, Any], where: str) -> None:
    wrong = [name for name, value in values.items() if value.dtype.kind == "c"]
    if wrong:
        raise DataError(
            f"expected real numbers in {wrong[0]!r} of {where}, got complex ones; store their real and imaginary parts "
            "as two views"
        )


def _words(variables: Mapping[str, Any], n: int) -> list[str]:
    """Notes on tables of the samples that do not hold numbers."""
    found = {name: kinds.words_in(value) for name, value in variables.items() if n in getattr(value, "shape", ())}
    return [f"{name!r} left out: it holds {words}, not numbers." for name, words in found.items() if words]


def _left_out(names: list[str], n: int) -> list[str]:
    return [f"{some(names)} left out: neither side has the length {n}."] if names else []


def _other_labels(names: list[str]) -> list[str]:
    return [f"Possible labels, not views: {some(names)}."] if names else []


def _no_views(variables: Mapping[str, Any], notes: list[str], where: str) -> str:
    if notes:
        return f"expected views in {where}, got none ({notes[0][:-1]}); read the file that these belong to"
    return (
        f"expected a cell array of matrices, or several matrices, in {where}, got "
        f"{some(list(variables)) or 'nothing'}; store one matrix per view, samples as rows"
    )


def _as_view(value: Any, turned: bool) -> Any:
    value = value.T if turned else value
    if sparse.issparse(value):
        return sparse.csr_array(value, dtype=_float_type(value.dtype))
    return np.ascontiguousarray(value, dtype=_float_type(value.dtype))


def _float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Float64 for small integers and half floats, which overflow when squared; single and double floats unchanged."""
    return dtype if dtype in (np.dtype(np.float32), np.dtype(np.float64)) else np.dtype(np.float64)
