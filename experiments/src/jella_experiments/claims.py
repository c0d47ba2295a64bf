"""The paper's claims, one by one, checked against results: each verdict follows from numbers by a stated rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import NamedTuple

from jella_experiments.cell import Cell
from jella_experiments.paper import (
    BESIDE,
    COMPLETION_METHODS,
    INCOMPLETE_VIEW_METHODS,
    MISSING_VIEW_METHODS,
    STUDY_RATE,
)
from jella_experiments.summary import (
    BY_LABELS,
    LABEL_FREE,
    LOWER_IS_BETTER,
    NOTHING,
    RULES,
    STRATEGIES,
    Found,
    Place,
    Summary,
    by_combination,
    by_place,
    strategies,
    summaries,
    sweeps_to_same,
    titles,
)
from jella_experiments.tables import ABSENT, markdown_grid

CONFIRMED, REJECTED, MIXED, NOT_RUN = "confirmed", "not confirmed", "mixed", "not run"
OURS = "IML-BDR"
SCORES = {"nmi": "NMI", "ari": "AdjRI", "rmse": "RMSE"}
RULE_NAMES = {BY_LABELS: "by labels", LABEL_FREE: "label-free"}
WIDE = 2.0
Planned = Mapping[str, Sequence[Cell]]
_ARTEFACTS = ("fig-missing-view", "table-nmi", "table-sor", "fig-parameters", "fig-views", "table-completion")
_STUDIES = dict(zip("abcdef", _ARTEFACTS, strict=True))


class Bar(NamedTuple):
    """The share of cells that a verdict needs, in words and in numbers."""

    words: str
    passes: Callable[[float], bool]
    fails: Callable[[float], bool]


CONSISTENTLY = Bar(
    "confirmed if it is 90 % or more in each {part}, not confirmed if below half in each {part}, mixed otherwise",
    lambda share: share >= 0.9,
    lambda share: share < 0.5,
)
MOSTLY = Bar(
    "confirmed if it is above half in each {part}, not confirmed if above half in none, mixed otherwise",
    lambda share: share > 0.5,
    lambda share: share <= 0.5,
)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, the rule by which we judge it, the verdict, and the numbers as Markdown."""

    says: str
    rule: str
    verdict: str
    numbers: str

    def markdown(self, letter: str) -> str:
        """The section of the page."""
        parts = [f"## ({letter}) {self.says}: {self.verdict}", f"Rule: {self.rule}."]
        return "\n\n".join([*parts, self.numbers] if self.numbers else parts)


@dataclass(frozen=True)
class Contest:
    """The leads of IML-BDR by cell (data set × rate); above zero is better."""

    leads: tuple[float, ...]
    planned: int

    @property
    def share(self) -> float:
        """Share of the finished cells in which IML-BDR is ahead."""
        return fmean(lead > 0 for lead in self.leads)

    def text(self, digits: int = 3) -> str:
        """Text with the number of cells ahead and the mean lead."""
        if not self.leads:
            return NOT_RUN
        ahead = sum(lead > 0 for lead in self.leads)
        rest = "" if len(self.leads) == self.planned else f" ({self.planned} planned)"
        return f"{ahead} of {len(self.leads)}{rest}, {fmean(self.leads):+.{digits}f}"


def claims_page(planned: Planned, found: Found) -> str:
    """Markdown with a verdict on each claim.

    Parameters
    ----------
    planned : mapping of artefact to its cells
    found : mapping of Cell to result
    """
    claims, body = check_claims(planned, found), []
    for (letter, name), claim in zip(_STUDIES.items(), claims, strict=True):
        there = f"{sum(cell in found for cell in planned[name])} of {len(planned[name])}"
        body.append([f"({letter})", claim.says, claim.verdict, there])
    verdicts = _grid(["", "claim", "verdict", "runs there"], body)
    head = ["# The paper's claims on these results", verdicts, *RULES.values()]
    sections = [claim.markdown(letter) for letter, claim in zip(_STUDIES, claims, strict=True)]
    return "\n\n".join([*head, *sections]) + "\n"


def check_claims(planned: Planned, found: Found) -> list[Claim]:
    """All claims, in the order of the page."""
    return [
        _ahead(
            "In the missing-view setting IML-BDR is consistently above the other methods",
            planned["fig-missing-view"],
            found,
            MISSING_VIEW_METHODS,
            CONSISTENTLY,
        ),
        _ahead(
            "In the incomplete-view setting IML-BDR is the best in most cells",
            planned["table-nmi"],
            found,
            INCOMPLETE_VIEW_METHODS,
            MOSTLY,
        ),
        _faster(planned["table-sor"], found),
        _insensitive(planned, found),
        _more_views(planned, found),
        _ahead(
            "IML-BDR completes with a lower RMSE than RPCA and RRMC",
            planned["table-completion"],
            found,
            COMPLETION_METHODS,
            CONSISTENTLY,
            scores=("rmse",),
        ),
    ]


def judge(passed: Sequence[bool], failed: Sequence[bool]) -> str:
    """The verdict: confirmed if all pass, not confirmed if all fail, otherwise mixed; not run if there are none.

    Examples
    --------
    >>> judge([True, True], [False, False]), judge([True, False], [False, True]), judge([], [])
    ('confirmed', 'mixed', 'not run')
    """
    if not passed:
        return NOT_RUN
    return CONFIRMED if all(passed) else REJECTED if all(failed) else MIXED


def contest(there: Mapping[Place, Summary], others: Sequence[str], score: str) -> Contest:
    """IML-BDR against the best of some others, in each cell that all of them have."""
    sign = -1.0 if score in LOWER_IS_BETTER else 1.0
    leads, planned = [], 0
    for place, ours in there.items():
        rivals = [place._replace(method=name) for name in others]
        if place.method == OURS and place.rate > 0 and all(rival in there for rival in rivals):
            planned += 1
            if ours.n and all(there[rival].n for rival in rivals):
                leads.append(min(sign * (ours.mean - there[rival].mean) for rival in rivals))
    return Contest(tuple(leads), planned)


def _ahead(
    says: str,
    cells: Sequence[Cell],
    found: Found,
    methods: Sequence[str],
    bar: Bar,
    scores: Sequence[str] = ("nmi", "ari"),
) -> Claim:
    """IML-BDR against all of the paper's other methods together, which is judged, and against each, which is shown."""
    there = {(rule, score): summaries(cells, found, score, rule) for rule, score in product(RULES, scores)}
    rivals = tuple(name for name in methods if name not in (OURS, *BESIDE))
    together = [contest(found_here, rivals, score) for (_, score), found_here in there.items()]
    shares = [one.share for one in together if one.leads]
    rows = {"**all of the paper's together**": rivals} | {name: (name,) for name in (*rivals, *BESIDE)}
    body = [
        [head, *(contest(here, names, score).text(4 if score == "rmse" else 3) for (_, score), here in there.items())]
        for head, names in rows.items()
    ]
    heads = ["IML-BDR against", *(f"{SCORES[score]} {RULE_NAMES[rule]}" for rule, score in there)]
    counted = "Cells (data set × rate) in which IML-BDR is ahead, and its mean lead; above zero is better."
    return Claim(
        says,
        f"the share of cells in which IML-BDR beats all the paper's other methods: {bar.words.format(part='column')}",
        judge([bar.passes(share) for share in shares], [bar.fails(share) for share in shares]),
        f"{counted}\n\n{_grid(heads, body)}" if shares else "",
    )


def _faster(cells: Sequence[Cell], found: Found) -> Claim:
    """Basic steps against SOR: sweeps, seconds, and sweeps to the objective that both reach."""
    measures = {
        "sweeps": strategies(cells, found, "n_iter"),
        "seconds": strategies(cells, found, "fit_seconds"),
        "sweeps to the same objective": sweeps_to_same(cells, found),
        "last objective": strategies(cells, found, "objective"),
    }
    basic, sor = STRATEGIES.values()
    datasets = [dataset for (dataset, strategy), one in measures["seconds"].items() if strategy == basic and one.n]
    faster, body = [], []
    for dataset in datasets:
        pairs = {name: (there[dataset, basic], there[dataset, sor]) for name, there in measures.items()}
        faster += [two.mean < one.mean for name, (one, two) in pairs.items() if name != "last objective"]
        repetitions = str(pairs["seconds"][0].n)
        body.append([dataset, repetitions, *(f"{one.mean:.4g} / {two.mean:.4g}" for one, two in pairs.values())])
    return Claim(
        "SOR converges faster than the basic steps",
        "fewer sweeps, fewer seconds and fewer sweeps to the higher of the two last objectives, in means over "
        "repetitions: confirmed if all of them on all data sets, not confirmed if none, mixed otherwise",
        judge(faster, [not one for one in faster]),
        _grid(["basic / SOR", "repetitions", *measures], body),
    )


def _insensitive(planned: Planned, found: Found) -> Claim:
    """The range of the means over the grid of weights, compared with the deviation over repetitions."""
    beside = summaries(planned["fig-missing-view"], found, "nmi", BY_LABELS)
    calm, body = [], []
    for place, group in by_place(planned["fig-parameters"]).items():
        grid = [one for one in by_combination(group, found, "nmi").values() if one.n > 1]
        if not grid:
            continue
        means, chance = [one.mean for one in grid], fmean(one.std for one in grid)
        spread = max(means) - min(means)
        calm.append(spread <= WIDE * chance)
        others = (beside.get(place._replace(method=name), NOTHING) for name in BESIDE)
        figures = (min(means), max(means), spread, chance, *(one.mean for one in others))
        body.append([place.dataset, str(len(grid)), *map(_figure, figures)])
    return Claim(
        "IML-BDR is not much changed by alpha and gamma",
        f"the range of the mean NMI over the grid is at most {WIDE:g} standard deviations over repetitions (their mean "
        f"over the grid; two repetitions at least), missing-view setting at rate {STUDY_RATE:g}: confirmed on all data "
        "sets, not confirmed on none, mixed otherwise",
        judge(calm, [not one for one in calm]),
        _grid(["data set", "combinations", "lowest", "highest", "range", "deviation", *BESIDE], body),
    )


def _more_views(planned: Planned, found: Found) -> Claim:
    """All views against each pair of views."""
    study, shares, body = planned["fig-views"], [], []
    compared = [*planned["fig-missing-view"], *planned["table-nmi"]]
    for score in ("nmi", "ari"):
        others = summaries(compared, found, score, BY_LABELS)
        there = summaries(study, found, score, BY_LABELS)
        for (dataset, setting), title in titles(there).items():
            whole = {place: one for place, one in there.items() if place[:2] == (dataset, setting) and not place.views}
            leads = _leads_over_pairs(whole, there)
            if leads.leads:
                shares.append(leads.share)
                beside = [_mean_over(others, [place._replace(method=name) for place in whole]) for name in BESIDE]
                body.append([title, SCORES[score], leads.text(), _mean_over(there, whole), *beside])
    return Claim(
        "IML-BDR is better with more views",
        "the share of comparisons (rate × pair of views) in which all views are ahead of the pair, weights by labels: "
        + CONSISTENTLY.words.format(part="row"),
        judge([CONSISTENTLY.passes(one) for one in shares], [CONSISTENTLY.fails(one) for one in shares]),
        _grid(
            ["data set", "score", "all views ahead of a pair, mean lead", "all views, mean over rates", *BESIDE], body
        ),
    )


def _leads_over_pairs(whole: Mapping[Place, Summary], there: Mapping[Place, Summary]) -> Contest:
    pairs = [
        (whole[alone], there[place]) for place in there if place.views and (alone := place._replace(views=())) in whole
    ]
    return Contest(tuple(ours.mean - pair.mean for ours, pair in pairs if ours.n and pair.n), len(pairs))


def _mean_over(there: Mapping[Place, Summary], places: Iterable[Place]) -> str:
    return _figure(fmean([there.get(place, NOTHING).mean for place in places]))


def _figure(value: float) -> str:
    return f"{value:.3f}" if value == value else ABSENT


def _grid(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table; an empty text if there are no rows."""
    return markdown_grid(heads, body) if body else ""
