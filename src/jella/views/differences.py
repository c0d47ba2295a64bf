"""How the sample ids of tables differ, and the simplest rule that makes most of them equal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from jella.views.ids import IdRule, as_id

#: with more ids than this, only the first few rules are tried
MANY = 200_000
_SEPARATORS = "-_.:/|# "


@dataclass(frozen=True)
class Difference:
    """How ids differ, in words; a rule that matches them, if there is one, and how many samples it matches."""

    words: str
    rule: str | None = None
    matched: int = 0
    total: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether the rule is one that makes names of other things, such as features, hardly ever equal."""
        return self.rule is not None and not self.rule.startswith(("re:", "digits"))


def find_difference(indices: Sequence[Any], pair: tuple[int, int], numbered: Sequence[bool]) -> Difference:
    """The difference of the ids of two tables, and the rule for all tables that matches most samples.

    Parameters
    ----------
    indices : list of pandas Index
        The ids of each table.
    pair : the two tables
    numbered : list of bool
        Whether the ids of a table are only the positions 0, 1, 2, ...
    """
    ids = [[as_id(one) for one in index] for index in indices]
    best = Difference(_no_rule([indices[v] for v in pair], numbered[pair[0]] != numbered[pair[1]]))
    for number, (rule, words) in enumerate(chain(_candidates(ids, pair), _after_case(ids, pair))):
        if number > 4 and sum(map(len, ids)) > MANY:
            break
        matched, total, in_pair = _count(ids, rule, pair)
        if matched > best.matched and in_pair:
            best = Difference(words, rule, matched, total)
    return best


def _count(ids: Sequence[Sequence[str]], rule: str, pair: tuple[int, int]) -> tuple[int, int, bool]:
    """Samples in two tables or more, samples, and whether the pair shares a tenth; 0 if the rule merges samples."""
    made = [set(IdRule.of(rule).match(one)) for one in ids]
    if any(len(new) < len(old) for new, old in zip(made, ids, strict=True)):
        return 0, 0, False
    counts = Counter(one for new in made for one in new)
    a, b = (made[v] for v in pair)
    return sum(n > 1 for n in counts.values()), len(counts), 10 * len(a & b) >= min(len(a), len(b))


def _candidates(ids: Sequence[Sequence[str]], pair: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """Rules from simple to less simple, each with the difference that it removes."""
    yield "text", "numbers against text"
    yield "strip", "spaces around them"
    yield "casefold", "upper and lower case"
    yield "strip,casefold", "spaces, and upper and lower case"
    yield "zeros", "zeros in front of numbers"
    for width in _widths(ids):
        yield f"prefix:{width}", f"they agree only in their first {width} characters"
    yield from _affixes(ids, pair)
    for mark in _SEPARATORS:
        if any(mark in one for v in pair for one in ids[v][:50]):
            escaped = re.escape(mark)
            yield f"re:^[^{escaped}]+", f"what follows the first {mark!r}"
            yield f"re:[^{escaped}]+$", f"what precedes the last {mark!r}"
    yield "digits", "the text around their numbers"


def _after_case(ids: Sequence[Sequence[str]], pair: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """The same rules after spaces and case are removed."""
    plain = [IdRule.of("strip,casefold").match(table) for table in ids]
    for rule, words in _candidates(plain, pair):
        if rule.startswith(("prefix", "re:", "zeros")):
            yield f"strip,casefold,{rule}", f"spaces or case, and {words}"


def _widths(ids: Sequence[Sequence[str]]) -> list[int]:
    """Numbers of characters that ids may agree in, largest first.

    They are the common length of all ids of a table, and the places where all ids of a table have a separator.
    """
    found = set()
    for table in ids:
        lengths = {len(one) for one in table}
        found |= lengths if len(lengths) == 1 else set()
        places = [{at for at, sign in enumerate(one) if sign in _SEPARATORS} for one in table]
        found |= set.intersection(*places)
    longest = max(len(one) for table in ids for one in table)
    return sorted((width for width in found if 1 < width < longest), reverse=True)


def _affixes(ids: Sequence[Sequence[str]], pair: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """Rules that remove what all ids of a table begin or end with."""
    heads = [re.sub(r"[0-9]+$", "", _common_start(ids[v])) for v in pair]
    tails = [re.sub(r"^[0-9]+", "", _common_start([one[::-1] for one in ids[v]])[::-1]) for v in pair]
    for affixes, pattern, what in ((heads, "^(?:{})?(.*)$", "prefix"), (tails, "^(.*?)(?:{})?$", "suffix")):
        there = sorted(dict.fromkeys(affix for affix in affixes if affix), key=len, reverse=True)
        if there and affixes[0] != affixes[1]:
            words = f"the {what} {' or '.join(map(repr, there))}"
            yield "re:" + pattern.format("|".join(map(re.escape, there))), words


def _common_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    same = [a == b for a, b in zip(first, last, strict=False)]
    return first[: (*same, False).index(False)]


def _no_rule(indices: Sequence[Any], one_numbered: bool) -> str:
    if one_numbered:
        return "the rows of one are only numbered from 0, those of the other have names"
    kinds = [{type(one).__name__ for one in index[:50].tolist()} for index in indices]
    if kinds[0] != kinds[1]:
        return f"they are {'/'.join(sorted(kinds[0]))} against {'/'.join(sorted(kinds[1]))}, and no rule matches them"
    return "no simple rule matches them"
