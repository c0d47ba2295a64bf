"""Columns of pandas that are categories: their levels, which level each sample has, and new levels for some samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jella.views.categories import Category

#: a column of text with more levels, or more than half as many as it has texts, is no category; nor one of numbers
MOST_TEXTS = 50
#: a category has at most this many levels
MOST_LEVELS = 1000
TRUTH = ("False", "True")


def find_category(column: Any, name: str, view: str) -> Category | None:
    """The category that a column of a table is; None where it is none.

    Parameters
    ----------
    column : pandas Series
    name, view : str
        Names of the column and of its view.
    """
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        texts = tuple(map(level_text, dtype.categories))
        if len(set(texts)) < len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise ValueError(
                f"expected levels of different names in column {name!r} of view {view!r}, got {twice!r} more than "
                "once; rename them"
            )
        usual = len(texts) <= MOST_TEXTS or 2 * len(texts) <= column.count()
        form = "ordered" if dtype.ordered else "category"
        return Category(name, texts, form=form) if texts and usual and len(texts) <= MOST_LEVELS else None
    if not _holds_text(dtype):
        return Category(name, TRUTH, form="boolean") if _is_truth(dtype) else None
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind == "boolean":
        return Category(name, TRUTH, form="boolean")
    texts = tuple(sorted(set(column.dropna()))) if kind == "string" else ()
    few = 0 < len(texts) <= MOST_TEXTS and 2 * len(texts) <= column.count()
    if not few or any(map(_is_like_a_number, texts)):  # numbers with a mark such as '?' among them are no category
        return None
    return Category(name, tuple(map(str, texts)), form="text")


def is_number_column(dtype: Any) -> bool:
    """Whether a column of this type holds real numbers; truth values are none."""
    import pandas as pd

    real = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)
    return bool(real and not _is_truth(dtype))


def level_text(level: Any) -> str:
    """A level as text: 1.0 is 1, as in a column of whole numbers that lacks some."""
    if isinstance(level, float | np.floating) and float(level).is_integer():
        return str(int(level))
    return str(level)


def level_codes(column: Any, category: Category, view: str) -> np.ndarray:
    """The position of each sample's level, (n,); -1 where the column has none. Unknown levels are refused."""
    import pandas as pd

    try:
        codes, seen = pd.factorize(column)
    except TypeError:  # lists and the like
        codes, seen = pd.factorize(column.astype(str))
    position = {level: code for code, level in enumerate(category.levels)}
    known = np.array([position.get(level_text(level), -2) for level in seen] + [-1], dtype=np.intp)
    if (known == -2).any():
        level = level_text(seen[int(np.flatnonzero(known == -2)[0])])
        raise ValueError(
            f"expected a level of the fit in column {category.column!r} of view {view!r}, got {level!r}; leave it "
            "missing, or fit again with samples of this level"
        )
    return known[codes]


def fill_levels(column: Any, index: Any, category: Category, keep: np.ndarray, codes: np.ndarray) -> Any:
    """A column on `index`, its own rows first, with new levels where `keep` is False; its type stays if it can.

    Parameters
    ----------
    column : pandas Series
    keep, codes : arrays (n,), n the length of `index`
        Codes are positions of levels; -1 for none, and the cell is missing.
    """
    import pandas as pd

    codes = np.where(keep, -1, codes)
    values = np.full(len(index), None, dtype=object)
    values[: len(column)] = np.where(keep[: len(column)], column.astype(object).to_numpy(), None)
    levels, dtype = _levels_like(column, category, np.unique(codes[codes >= 0]).tolist())
    for code, level in levels.items():
        values[codes == code] = level
    if isinstance(dtype, np.dtype) and dtype.kind == "b" and pd.isna(values).any():
        dtype = "boolean"  # which can be missing
    return pd.Series(values, index=index, dtype=dtype, name=column.name)


def as_levels(column: Any, category: Category) -> Any:
    """The column as one of categories, if it is text: it then has all levels, also those that no sample has."""
    import pandas as pd

    return column.astype(pd.CategoricalDtype(list(category.levels))) if category.form == "text" else column


def new_column(category: Category, codes: np.ndarray, index: Any) -> Any:
    """A column that the user left out, in the form that it had in the fit."""
    import pandas as pd

    if category.form in ("category", "ordered"):
        made = pd.Categorical.from_codes(codes, pd.Index(category.levels), ordered=category.form == "ordered")
        return pd.Series(made, index=index, name=category.column)
    empty = pd.Series(np.empty(0), dtype=bool if category.form == "boolean" else object, name=category.column)
    return fill_levels(empty, index, category, np.zeros(len(index), dtype=bool), codes)


def _levels_like(column: Any, category: Category, needed: Sequence[int]) -> tuple[dict[int, Any], Any]:
    """The values of the needed levels in a column, by position; and the type of the column that can hold them."""
    import pandas as pd

    dtype = column.dtype
    texts = {code: category.levels[code] for code in needed}
    if isinstance(dtype, pd.CategoricalDtype):
        own = {level_text(level): level for level in dtype.categories}
        if not all(text in own for text in texts.values()):  # a part of the levels of the fit, in their order
            of_fit = [own.pop(text, text) for text in category.levels]
            own = {level_text(level): level for level in [*of_fit, *own.values()]}
            dtype = pd.CategoricalDtype(list(own.values()), dtype.ordered)
        return {code: own[text] for code, text in texts.items()}, dtype
    if category.levels == TRUTH and not isinstance(column.dropna().iloc[0] if column.count() else True, str):
        return {code: category.levels[code] == "True" for code in needed}, dtype
    seen = {level_text(level): level for level in column.dropna().unique()}
    levels = {code: seen.get(text, text) for code, text in texts.items()}
    is_new = not _holds_text(dtype) and any(isinstance(level, str) for level in levels.values())
    return levels, object if is_new else dtype


def _is_like_a_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _holds_text(dtype: Any) -> bool:
    import pandas as pd

    return pd.api.types.is_object_dtype(dtype) or (
        pd.api.types.is_string_dtype(dtype) and not isinstance(dtype, pd.SparseDtype | pd.CategoricalDtype)
    )


def _is_truth(dtype: Any) -> bool:
    import pandas as pd

    return pd.api.types.is_bool_dtype(dtype) and not isinstance(dtype, pd.SparseDtype | pd.CategoricalDtype)
