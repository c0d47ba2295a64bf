"""Tables in the paper's layout as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from jella_experiments.cell import Cell
from jella_experiments.paper import BESIDE, COMPLETION_METHODS, INCOMPLETE_VIEW_METHODS
from jella_experiments.summary import (
    LOWER_IS_BETTER,
    NOTHING,
    STRATEGIES,
    Found,
    Place,
    Summary,
    strategies,
    summaries,
)

HEADS = {"nmi": "NMI ↑", "ari": "AdjRI ↑", "rmse": "RMSE ↓", "rmse_all": "RMSE, all entries ↓"}
DIGITS = {"nmi": 3, "ari": 3, "rmse": 4, "rmse_all": 4}
ABSENT = "–"
FITTING_COLUMNS = 9  # columns that fit on a page without scaling
Measured = tuple[Place, str, str, Summary]

_LATEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "±": r"$\pm$",
    "×": r"$\times$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


@dataclass(frozen=True)
class TableEntry:
    """A number with a text in brackets, or the short reason why there is none; `note` becomes a footnote."""

    figure: str
    bracket: str = ""
    best: bool = False
    note: str = ""


@dataclass(frozen=True)
class Column:
    """A head, perhaps under one that spans several columns; `ruled` draws a line before the column."""

    head: str
    over: str = ""
    ruled: bool = False


@dataclass(frozen=True)
class ResultTable:
    """The content of a table, independent of Markdown or LaTeX.

    Parameters
    ----------
    caption : str
    corner : tuple of str
        Heads of the columns that name the rows.
    columns : tuple of Column
    rows : tuple of (names, entries)
        One name per entry of `corner`, one entry per column.

    Examples
    --------
    >>> row = ("0.1",), (TableEntry("0.5", "(0.1)", best=True),)
    >>> table = ResultTable("Example.", ("m",), (Column("PVC"),), (row,))
    >>> print(table.markdown().splitlines()[-1])
    | 0.1 | **0.5**(0.1) |
    """

    caption: str
    corner: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[TableEntry, ...]], ...]

    @property
    def notes(self) -> list[str]:
        """Footnotes, numbered from 1 in order."""
        return list(dict.fromkeys(entry.note for _, entries in self.rows for entry in entries if entry.note))

    def markdown(self) -> str:
        """Markdown with caption, table and footnotes."""
        notes = self.notes

        def line(names: Iterable[str], entries: Iterable[str]) -> list[str]:
            pairs = zip(self.columns, entries, strict=True)
            return [*names, *(part for column, text in pairs for part in (["‖", text] if column.ruled else [text]))]

        def text(entry: TableEntry) -> str:
            figure = f"**{entry.figure}**" if entry.best else entry.figure
            return figure + entry.bracket + (f" [{notes.index(entry.note) + 1}]" if entry.note else "")

        heads = line(self.corner, (f"{column.over} {column.head}".strip() for column in self.columns))
        grid = markdown_grid(heads, [line(names, map(text, entries)) for names, entries in self.rows])
        lines = [self.caption, "", grid]
        lines += ["", *(f"{number}. {note}" for number, note in enumerate(notes, 1))] if notes else []
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """LaTeX: a float with a plain tabular; it needs the packages multirow and, if it is wide, graphicx."""
        spec = "|" + "c|" * len(self.corner) + "".join(f"c{bar}" for bar in self._bars())
        body = [f"\\begin{{tabular}}{{{spec}}}", "\\hline", *self._latex_heads(), *self._latex_rows(), "\\end{tabular}"]
        wide = len(self.columns) > FITTING_COLUMNS
        if wide:
            body = ["\\resizebox{\\textwidth}{!}{%", *body, "}"]
        notes = [
            f"\\par\\footnotesize $^{{{number}}}$ {escape_latex(note)}" for number, note in enumerate(self.notes, 1)
        ]
        needs = f"% \\usepackage{{multirow{',graphicx' if wide else ''}}}"
        head = [needs, "\\begin{table*}", "\\centering", f"\\caption{{{escape_latex(self.caption)}}}"]
        return "\n".join([*head, *body, *notes, "\\end{table*}"]) + "\n"

    def _bars(self) -> list[str]:
        """The rule to the right of each column: in LaTeX a rule belongs to the column before it."""
        return ["||" if after.ruled else "|" for after in (*self.columns[1:], Column(""))]

    def _latex_heads(self) -> list[str]:
        corner = [f"${head}$" if len(head) == 1 else escape_latex(head) for head in self.corner]
        low = [escape_latex(column.head) for column in self.columns]
        if not any(column.over for column in self.columns):
            return [" & ".join(corner + low) + r" \\ \hline"]
        spans = [list(group) for _, group in groupby(zip(self.columns, self._bars(), strict=True), lambda c: c[0].over)]
        high = [f"\\multicolumn{{{len(s)}}}{{c{s[-1][1]}}}{{{escape_latex(s[0][0].over)}}}" for s in spans]
        first = len(corner) + 1
        merged = " & ".join([f"\\multirow{{2}}*{{{head}}}" for head in corner] + high)
        return [
            f"{merged} \\\\ \\cline{{{first}-{len(corner) + len(low)}}}",
            " & ".join([""] * len(corner) + low) + r" \\ \hline",
        ]

    def _latex_rows(self) -> list[str]:
        lines, width = [], len(self.corner) + len(self.columns)
        for name, group in groupby(self.rows, key=lambda row: row[0][0]):
            rows = list(group)
            merged = f"\\multirow{{{len(rows)}}}*{{{escape_latex(name)}}}" if len(rows) > 1 else escape_latex(name)
            for position, (names, entries) in enumerate(rows, 1):
                first = merged if position == 1 else ""
                rule = r"\hline" if position == len(rows) else f"\\cline{{2-{width}}}"
                texts = [first, *map(escape_latex, names[1:]), *map(self._latex_entry, entries)]
                lines.append(" & ".join(texts) + rf" \\ {rule}")
        return lines

    def _latex_entry(self, entry: TableEntry) -> str:
        figure = escape_latex(entry.figure)
        mark = f"$^{{{self.notes.index(entry.note) + 1}}}$" if entry.note else ""
        return (f"\\textbf{{{figure}}}" if entry.best else figure) + escape_latex(entry.bracket) + mark


def markdown_grid(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table.

    Examples
    --------
    >>> print(markdown_grid(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [f"| {' | '.join(row)} |" for row in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]])


def escape_latex(text: str) -> str:
    r"""Text with escapes, so that LaTeX prints it unchanged.

    Examples
    --------
    >>> print(escape_latex("50 % of a_b, --draw"))
    50 \% of a\_b, -{}-draw
    """
    pieces = text.split("--")  # two hyphens would be printed as one dash
    return "-{}-".join("".join(_LATEX.get(character, character) for character in piece) for piece in pieces)


def long_csv(measured: Iterable[Measured]) -> str:
    """CSV with one line per number, for programs; empty if there is none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("dataset", "m", "method", "rule", "score", "mean", "std", "n"))
    for place, rule, score, summary in measured:
        mean, std = (repr(value) if value == value else "" for value in (summary.mean, summary.std))
        writer.writerow((place.dataset, f"{place.rate:g}", place.method, rule, score, mean, std, summary.n))
    return out.getvalue()


def entry_of(summary: Summary, digits: int) -> TableEntry:
    """An entry with mean and deviation, or the kind of failure, with the messages as a note."""
    messages = "; ".join(dict.fromkeys(" ".join(message.split()) for message in summary.failures))
    if not summary.n:
        return (
            TableEntry(messages.partition(":")[0], note=f"No repetition ran. {messages}")
            if messages
            else TableEntry(ABSENT)
        )
    total = summary.n + len(summary.failures)
    note = f"{len(summary.failures)} of {total} repetitions failed. {messages}" if messages else ""
    return TableEntry(f"{summary.mean:.{digits}f}", f"({summary.std:.{digits}f})" if summary.n > 1 else "", note=note)


def compared(summaries_: Sequence[Summary], score: str) -> list[TableEntry]:
    """Entries of one score in a row, the best marked; numbers that print the same are equally good."""
    entries = [entry_of(summary, DIGITS[score]) for summary in summaries_]
    there = [float(entry.figure) for entry, one in zip(entries, summaries_, strict=True) if one.n]
    best = (min if score in LOWER_IS_BETTER else max)(there, default=None)
    return [
        replace(entry, best=bool(one.n) and float(entry.figure) == best)
        for entry, one in zip(entries, summaries_, strict=True)
    ]


def comparison_table(cells: Iterable[Cell], found: Found, score: str, rule: str, caption: str) -> ResultTable:
    """The table with data sets and rates in rows, the methods of the incomplete-view setting in columns."""
    there = summaries(cells, found, score, rule)
    columns = tuple(Column(name, ruled=name == BESIDE[0]) for name in INCOMPLETE_VIEW_METHODS)
    rows = []
    for dataset, setting, rate in _row_places(there):
        found_here = [there.get(Place(dataset, setting, rate, name), NOTHING) for name in INCOMPLETE_VIEW_METHODS]
        rows.append(((dataset, f"{rate:g}"), tuple(compared(found_here, score))))
    return ResultTable(caption, ("Datasets", "m"), columns, tuple(rows))


def completion_table(cells: Iterable[Cell], found: Found, rule: str, caption: str) -> ResultTable:
    """The table with RMSE, NMI and AdjRI of the completion methods, IML-BDR and the others."""
    scores, cells = ("rmse", "nmi", "ari"), list(cells)
    there = {score: summaries(cells, found, score, rule) for score in scores}
    columns = tuple(
        Column(HEADS[score], over=name.replace(" + RAMC", "(+RAMC)"), ruled=name == BESIDE[0] and score == scores[0])
        for name in COMPLETION_METHODS
        for score in scores
    )
    rows = []
    for dataset, setting, rate in _row_places(there["nmi"]):
        by_score = [
            compared([there[s].get(Place(dataset, setting, rate, name), NOTHING) for name in COMPLETION_METHODS], s)
            for s in scores
        ]
        entries = tuple(entry for of_method in zip(*by_score, strict=True) for entry in of_method)
        rows.append(((dataset, f"{rate:g}"), entries))
    return ResultTable(caption, ("Datasets", "m"), columns, tuple(rows))


def _row_places(there: Mapping[Place, Summary]) -> list[tuple[str, str, float]]:
    """Data set, setting and rate of each row: sets in order, rates ascending."""
    order = list(dict.fromkeys(place.dataset for place in there))
    return sorted({place[:3] for place in there}, key=lambda row: (order.index(row[0]), row[2]))


def sor_table(cells: Iterable[Cell], found: Found, caption: str) -> ResultTable:
    """The table with seconds, iterations and last objective of the two strategies."""
    cells = list(cells)
    seconds, sweeps, last = (strategies(cells, found, score) for score in ("fit_seconds", "n_iter", "objective"))
    datasets = list(dict.fromkeys(dataset for dataset, _ in seconds))
    columns = tuple(
        Column(head, over=dataset) for dataset in datasets for head in ("seconds (iterations)", "last objective")
    )
    rows = []
    for strategy in STRATEGIES.values():
        entries: list[TableEntry] = []
        for dataset in datasets:
            took = entry_of(seconds[dataset, strategy], 3)
            ran = seconds[dataset, strategy].n
            bracket = f" ({sweeps[dataset, strategy].mean:.0f})" if ran else ""
            objective = f"{last[dataset, strategy].mean:.4f}" if ran else ABSENT
            entries += [replace(took, bracket=bracket), TableEntry(objective)]
        rows.append(((strategy,), tuple(entries)))
    return ResultTable(caption, ("Strategy",), columns, tuple(rows))
