"""Rules that make the sample ids of several tables equal, such as their first 12 characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

#: one id, as text -> the id under which tables are matched
OneId: TypeAlias = Callable[[str], str]

NAMED = ("text", "strip", "casefold", "zeros", "digits")
_EXPECTED = (
    "'exact', 'union', a function, or rules with commas between them: text, strip, casefold, zeros, digits, prefix:N, "
    "re:PATTERN"
)


@dataclass(frozen=True)
class IdRule:
    """What to do with the ids of samples before views are aligned by them.

    Attributes
    ----------
    steps : tuple of callable
        Applied to each id, as text, from the first to the last; none leaves the ids as they are.
    union : bool
        Whether views that share too few samples are accepted.
    """

    steps: tuple[OneId, ...] = ()
    union: bool = False

    @classmethod
    def of(cls, ids: Any) -> IdRule:
        """The rule that the option `ids` describes.

        >>> IdRule.of("strip,prefix:4").match([" TCGA-01", "ACGT-02"])
        ['TCGA', 'ACGT']
        """
        if callable(ids):
            return cls((ids,))
        if not isinstance(ids, str):
            raise ValueError(f"expected ids to be {_EXPECTED}, got {ids!r}; pass one of these")
        steps, union, left = [], False, ids
        while left:
            name, _, left = (left, "", "") if left.startswith("re:") else left.partition(",")
            if name == "union":
                union = True
            elif name != "exact":
                steps.append(_step(name.strip() if not name.startswith("re:") else name))
        return cls(tuple(steps), union)

    def match(self, ids: Sequence[Any]) -> list[Any]:
        """The ids under which samples are matched."""
        if not self.steps:
            return list(ids)
        out = [as_id(one) for one in ids]
        for step in self.steps:
            out = [step(one) for one in out]
        return out

    def index(self, index: Any, name: str) -> Any:
        """The matched index of a view; refused if the rule makes two of its samples equal."""
        if not self.steps:
            return index
        import pandas as pd

        made = self.match(index)
        first: dict[Any, Any] = {}
        for own, new in zip(index, made, strict=True):
            if new in first:
                raise ValueError(
                    f"expected a rule for ids that keeps the samples of view {name!r} apart, got {new!r} for both "
                    f"{first[new]!r} and {own!r}; keep one of the two, or choose another rule"
                )
            first[new] = own
        return pd.Index(made, name=index.name, dtype=object if not made else None)


def as_id(one: Any) -> str:
    """An id as text; a whole number is written without a point.

    >>> as_id(7.0), as_id("7"), as_id(b"x")
    ('7', '7', 'x')
    """
    if isinstance(one, bytes):
        return one.decode(errors="replace")
    return str(int(one)) if isinstance(one, float) and one.is_integer() else str(one)


def told_apart(ids: Any) -> Any:
    """Ids that differ: the second of equal ones has a number, as those of samples drawn with replacement.

    >>> import pandas as pd
    >>> told_apart(pd.Index(["a", "b", "a", "a"])).tolist()
    ['a', 'b', 'a (2)', 'a (3)']
    """
    if not ids.has_duplicates:
        return ids
    texts, times = [str(one) for one in ids], Counter[str]()
    taken, out = set(texts), []
    for text in texts:
        times[text] += 1
        new = text
        while times[text] > 1 and (new := f"{text} ({times[text]})") in taken:
            times[text] += 1
        taken.add(new)
        out.append(new)
    import pandas as pd

    return pd.Index(out, name=ids.name, dtype=object)


def _step(name: str) -> OneId:
    kind, colon, value = name.partition(":")
    if kind == "prefix" and value.isdecimal() and int(value) > 0:
        return lambda one: one[: int(value)]
    if kind == "re" and colon:
        return _pattern(value)
    if name not in NAMED:
        raise ValueError(f"expected ids to be {_EXPECTED}, got {name!r}; pass one of these")
    return _STEPS[name]


def _pattern(text: str) -> OneId:
    """The first group of a pattern, or its match if it has no group; an id that it does not match stays."""
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ValueError(f"expected a regular expression after re:, got {text!r} ({error}); correct it") from None

    def step(one: str) -> str:
        found = pattern.search(one)
        if found is None:
            return one
        groups = [group for group in found.groups() if group is not None]
        return groups[0] if groups else found[0]

    return step


def _without_padding(one: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", one)


_STEPS: dict[str, OneId] = {
    "text": lambda one: one,
    "strip": str.strip,
    "casefold": str.casefold,
    "zeros": _without_padding,
    "digits": lambda one: "-".join(re.findall(r"\d+", _without_padding(one))) or one,
}
