"""Matrix Market files with their lists of names: V.mtx, V.docs (samples), V.terms (features), and .clist (classes)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from jella.io.dataset import Dataset, Options
from jella.io.errors import DataError, need, some
from jella.io.guard import COLUMN_BYTES, check_size, reading
from jella.io.mtx_check import check_matrix_market
from jella.io.sparse_parts import as_csr
from jella.io.stored import giving_arrays
from jella.views.frames import repeated


def read_matrix_market(path: Path, options: Options) -> Dataset:
    """The data set of a folder, or of one file: sparse views, aligned by the names of their samples."""
    files = sorted(file for file in path.glob("*.mtx") if file.is_file()) if path.is_dir() else [path]
    folder = path if path.is_dir() else path.parent
    names = _view_names(files)
    views = {name: _read_one(file) for name, file in zip(names, files, strict=True)}
    plain = [name for name, view in views.items() if sparse.issparse(view)]
    if plain and (len(plain) < len(views) or len({view.shape[0] for view in views.values()}) > 1):
        raise DataError(
            f"expected a list of samples (.docs) for each .mtx file of {folder.name}, got none for {some(plain)}; "
            "add it, one name per line"
        )
    labels, notes = (None, []) if plain else _read_classes(folder, options)
    if plain:
        notes.append("Rows are taken as the samples: there is no list of names (.docs).")
    else:
        notes.append("Samples were columns and are rows now; they are aligned by name.")
    return Dataset(path.name if path.is_dir() else path.stem, views, labels, notes=tuple(notes))


def _view_names(files: Sequence[Path]) -> list[str]:
    """The stems of the files, without a prefix of words that all have."""
    words = [re.split(r"(?<=[_\-. ])", file.stem) for file in files]
    same = [len(set(column)) == 1 for column in zip(*words, strict=False)]
    cut = 0 if len(files) == 1 else (*same, False).index(False)
    return ["".join(parts[cut:]) or "".join(parts) for parts in words]


def _read_one(file: Path) -> Any:
    """A sparse DataFrame if the samples have names; otherwise a CSR array, samples as rows."""
    from scipy.io import mmread

    with reading(file):
        check_matrix_market(file)
        loaded = giving_arrays(mmread)(file)
        matrix = as_csr(sparse.coo_array(loaded), file, np.float64)
    samples, terms = _lines(file.with_suffix(".docs")), _lines(file.with_suffix(".terms"))
    if samples is None:
        return matrix
    if matrix.shape[1] != len(samples) or (terms is not None and matrix.shape[0] != len(terms)):
        raise DataError(
            f"expected one column per line of {file.stem}.docs and one row per line of {file.stem}.terms, got shape "
            f"{matrix.shape} in {file.name} for {len(samples)} samples; the files do not belong together"
        )
    check_size(file, COLUMN_BYTES * matrix.shape[0])
    pd = need("pandas", "pandas")
    index = pd.Index(samples)
    if index.has_duplicates:
        raise DataError(f"expected each sample once in {file.stem}.docs, got {repeated(index)}; keep one of each")
    return pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(matrix.T), index=index, columns=terms)


def _read_classes(folder: Path, options: Options) -> tuple[Any, list[str]]:
    """Labels by sample name: from the list that is named, or the first list with one class per sample."""
    pd = need("pandas", "pandas")
    lists = {file.stem: _class_pairs(file) for file in sorted(folder.glob("*.clist"))}
    chosen = [stem for stem in lists if options.labels is None or options.labels in (stem, stem.rpartition(".")[2])]
    if options.labels is not None and not chosen:
        raise DataError(f"expected labels={options.labels!r} to be one of {list(lists)}, got another name; pass one")
    several = {stem: len(pairs) - len({sample for sample, _ in pairs}) for stem, pairs in lists.items()}
    single = [stem for stem in chosen if several[stem] == 0]
    if options.labels is not None and not single:
        raise DataError(f"expected one class per sample in {chosen[0]!r}, got samples with several; pass other labels")
    if not single:
        return None, []
    found = pd.Series(dict(lists[single[0]]), name="labels").sort_index()
    others = [stem for stem in lists if stem != single[0]]
    return found, [f"Labels are from {single[0]!r}."] + ([f"Not read: {some(others)}."] if others else [])


def _class_pairs(file: Path) -> list[tuple[str, str]]:
    """Pairs of sample and class, from lines such as 'name: id,id' or 'name, id,id'."""
    pairs = []
    for line in _lines(file) or []:
        name, *rest = re.split(r"[:,]", line, maxsplit=1)
        members = [member.strip() for part in rest for member in part.split(",")]
        pairs += [(member, name.strip()) for member in members if member]
    return pairs


def _lines(file: Path) -> list[str] | None:
    if not file.is_file():
        return None
    text = file.read_text(encoding="utf-8")
    if "\0" in text:
        raise DataError(f"expected names of samples or features in {file.name}, got binary data; fetch it again")
    return [line.strip() for line in text.splitlines() if line.strip()]
