"""Tables, figures and the page of claims, from existing results; this module computes no results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from jella.io.stored import replacing
from jella_experiments import figures, tables
from jella_experiments.cell import Cell
from jella_experiments.claims import claims_page
from jella_experiments.paper import ARTEFACTS, STUDY_RATE, ExperimentPlan
from jella_experiments.published import published_page
from jella_experiments.results_file import ResultsFile
from jella_experiments.summary import BY_LABELS, RULES, Found, Place, coverage, index, strategies, summaries

Results = Mapping[str, Mapping[str, Any]]
ViewNames = Callable[[str], Sequence[str]]

COUNTED = (
    "Means with sample standard deviations (ddof = 1) over repetitions; a repetition counts when all combinations of "
    "weights have run."
)
IN_TABLES = "The best of a row is bold, including the methods after the double rule; – means not run."


@dataclass(frozen=True)
class _Sheet:
    """The input of an output: the cells of one artefact on the sets that have results, and its caption."""

    name: str
    cells: tuple[Cell, ...]
    found: Found
    folder: Path
    origin: str

    def caption(self, title: str, *more: str) -> str:
        return " ".join((title, *more, self.origin))

    def write(self, end: str, text: str) -> Path:
        path = self.folder / f"{self.name}.{end}"
        with replacing(path) as part:
            part.write_text(text, encoding="utf-8")
        return path


def draw(
    names: Iterable[str],
    results: Results | ResultsFile | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    plan: ExperimentPlan,
    view_names: ViewNames,
    note: str = "",
) -> list[Path]:
    """Write the outputs of some of the paper's tables and figures.

    Parameters
    ----------
    names : iterable of str
        Keys of `jella_experiments.paper.ARTEFACTS`.
    results : mapping of key to result, ResultsFile or path
        Missing and failed cells are marked. A data set without any result is left out, and named.
    folder : path
        Created if it does not exist. Tables are .md, .tex and .csv files, figures .png and .svg; `published.md` has
        the paper's printed numbers beside ours, `claims.md` a verdict on each claim of the paper.
    plan : ExperimentPlan
        What was planned.
    view_names : callable
        From the name of a data set to the names of its views.
    note : str, optional
        The command, for the captions.

    Returns
    -------
    list of paths
        The files written.

    Examples
    --------
    >>> import tempfile
    >>> from jella_experiments.paper import QUICK
    >>> written = draw(["table-nmi"], {}, tempfile.mkdtemp(), plan=QUICK, view_names=lambda name: ("a", "b"))
    >>> [path.name for path in written]
    ['claims.md']
    """
    where = Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    file = results if isinstance(results, ResultsFile | Mapping) else ResultsFile(results)
    found = index(file if isinstance(file, Mapping) else file.results())
    made_with = _environments({} if isinstance(file, Mapping) else file.environments(), note)
    planned = {name: list(cells(plan, view_names)) for name, cells in ARTEFACTS.items()}
    written = []
    for name in names:
        sheet = _sheet(name, planned[name], found, where, plan, made_with)
        if sheet.cells:
            written += _DRAW[name](sheet)
    remark = plan.remark(cell.dataset for cells in planned.values() for cell in cells if cell in found)
    below = " ".join(filter(None, (remark, made_with)))
    for page, text in (("published", published_page(planned, found)), ("claims", claims_page(planned, found))):
        if text:
            written.append(where / f"{page}.md")
            with replacing(written[-1]) as part:
                part.write_text(f"{text}\n{below}\n", encoding="utf-8")
    return written


def _sheet(name: str, cells: list[Cell], found: Found, folder: Path, plan: ExperimentPlan, made_with: str) -> _Sheet:
    spans = coverage((cell for cell in cells if cell.setting != "complete"), found)  # it runs only once
    there = {dataset for dataset, (_, most, _) in spans.items() if most}
    parts = [f"{dataset} {_span(*span)}" for dataset, span in spans.items() if dataset in there]
    absent = [dataset for dataset in spans if dataset not in there]
    origin = f"Finished repetitions: {', '.join(parts)}." + (f" Not run: {', '.join(absent)}." if absent else "")
    kept = tuple(cell for cell in cells if cell.dataset in there)
    remark = plan.remark(cell.dataset for cell in kept)
    return _Sheet(name, kept, found, folder, " ".join(filter(None, (origin, remark, made_with))))


def _span(low: int, high: int, planned: int) -> str:
    return f"{low} of {planned}" if low == high else f"{low} to {high} of {planned}"


def _environments(environments: Mapping[str, Mapping[str, Any]], note: str) -> str:
    """A text with the command, and the versions, machines and dates of the results."""
    command = [f"Command: {note}."] if note else []
    packages = ("jella", "python", "numpy", "scipy", "scikit-learn")
    versions = dict.fromkeys(
        ", ".join(f"{name} {one[name]}" for name in packages if name in one) for one in environments.values()
    )
    machines = dict.fromkeys(one["machine"] for one in environments.values() if "machine" in one)
    dates = sorted({one["date"] for one in environments.values() if "date" in one})
    if not environments:
        return " ".join([*command, "Versions and dates were not recorded."])
    days = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "undated"
    return " ".join([*command, f"Computed {days} with {'; '.join(versions)} ({'; '.join(machines)})."])


def _comparison(score: str, title: str) -> Callable[[_Sheet], list[Path]]:
    def write(sheet: _Sheet) -> list[Path]:
        made = [
            tables.comparison_table(
                sheet.cells, sheet.found, score, rule, sheet.caption(title, sentence, COUNTED, IN_TABLES)
            )
            for rule, sentence in RULES.items()
        ]
        return _table_files(sheet, made, (score,))

    return write


def _completion(sheet: _Sheet) -> list[Path]:
    title = (
        "Completion and clusters in the incomplete-view setting at the rate m. RMSE is over the missing entries, with "
        "samples at unit norm; by labels, its weights are those with the lowest RMSE. The CSV also has rmse_all, over "
        "all entries. At m = 0 nothing is missing, and there is one run."
    )
    made = [
        tables.completion_table(sheet.cells, sheet.found, rule, sheet.caption(title, sentence, COUNTED, IN_TABLES))
        for rule, sentence in RULES.items()
    ]
    return _table_files(sheet, made, ("rmse", "rmse_all", "nmi", "ari"))


def _table_files(sheet: _Sheet, made: Sequence[tables.ResultTable], scores: Sequence[str]) -> list[Path]:
    measured = [
        (place, rule, score, summary)
        for rule, score in product(RULES, scores)
        for place, summary in summaries(sheet.cells, sheet.found, score, rule).items()
    ]
    return _write_tables(sheet, made, measured)


def _sor(sheet: _Sheet) -> list[Path]:
    title = (
        f"Seconds of the fit (sweeps until the stop) and objective at the stop of IML-BDR at its default weights, "
        f"rate {STUDY_RATE:g}; means over repetitions. A fit ends at "
        "the limit of sweeps where it has not converged before."
    )
    measured = [
        (Place(dataset, "", STUDY_RATE, strategy), "default weights", name, summary)
        for score, name in (("fit_seconds", "seconds"), ("n_iter", "sweeps"), ("objective", "objective"))
        for (dataset, strategy), summary in strategies(sheet.cells, sheet.found, score).items()
    ]
    return _write_tables(sheet, [tables.sor_table(sheet.cells, sheet.found, sheet.caption(title))], measured)


def _write_tables(sheet: _Sheet, made: Sequence[tables.ResultTable], measured: Iterable[tables.Measured]) -> list[Path]:
    return [
        sheet.write("md", "\n".join(table.markdown() for table in made)),
        sheet.write("tex", "\n".join(table.latex() for table in made)),
        sheet.write("csv", tables.long_csv(measured)),
    ]


def _missing_view(sheet: _Sheet) -> list[Path]:
    title = "NMI and AdjRI in the missing-view setting; bars are one standard deviation."
    written = []
    for rule, sentence in RULES.items():
        caption = sheet.caption(title, sentence, COUNTED, "Black dashed lines: methods that are not in the paper.")
        stem = sheet.folder / f"{sheet.name}-{rule}"
        written += figures.draw_missing_view(sheet.cells, sheet.found, rule, caption, stem)
    return written


def _weights(sheet: _Sheet) -> list[Path]:
    title = f"NMI of IML-BDR by its weights, missing-view setting at rate {STUDY_RATE:g}; means over repetitions."
    return figures.draw_weights(sheet.cells, sheet.found, sheet.caption(title), sheet.folder / sheet.name)


def _views(sheet: _Sheet) -> list[Path]:
    title = "IML-BDR on each pair of views and on all; bars are one standard deviation."
    caption = sheet.caption(title, RULES[BY_LABELS], COUNTED)
    return figures.draw_views(sheet.cells, sheet.found, caption, sheet.folder / sheet.name)


def _convergence(sheet: _Sheet) -> list[Path]:
    title = (
        f"Objective of IML-BDR by sweep at its default weights, rate {STUDY_RATE:g}, and below how far it is above the "
        "lowest of both strategies, relative to that; the first repetition thick, the others thin."
    )
    return figures.draw_convergence(sheet.cells, sheet.found, sheet.caption(title), sheet.folder / sheet.name)


_DRAW: dict[str, Callable[[_Sheet], list[Path]]] = {
    "table-nmi": _comparison("nmi", "NMI in the incomplete-view setting at the rate m."),
    "table-adjri": _comparison("ari", "Adjusted Rand index in the incomplete-view setting at the rate m."),
    "table-completion": _completion,
    "fig-missing-view": _missing_view,
    "fig-parameters": _weights,
    "fig-views": _views,
    "fig-convergence": _convergence,
    "table-sor": _sor,
}
