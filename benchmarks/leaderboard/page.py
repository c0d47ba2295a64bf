"""The page of the leaderboard: all results, published figures beside them, and what differs."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from leaderboard.case import Case, Figure
from leaderboard.published import PAPERS

OURS = "jella SparseBDR"
SCORES = ("acc", "nmi", "ari")
Results = list[dict[str, Any]]

INTRODUCTION = """\
# Leaderboard: clusters of incomplete views

Written by `PYTHONPATH=benchmarks python -m leaderboard` from `leaderboard.jsonl`, which has all single runs with their
seeds, versions, source, machine and times. `make leaderboard` sets up all environments and adds what is missing;
`--again "jella SparseBDR"` computes the rows of a changed method again. A peer is a file in
`benchmarks/leaderboard/peers`, a data set a file in `benchmarks/leaderboard/sets`.

**Rules.** Every peer gets the same data and the number of classes, no label, and one setting for all sets: its
defaults, with the scaling that the list of peers states. Samples are shuffled first, with the number of the repeat as
the seed; that number is the seed of the method too. Published masks are run five times, or once per mask where there
are several; our own protocol is run with three masks. What "missing rate" means in which paper:
[protocols](../protocols.md).

**Scores** are in percent, means and standard errors over the repeats: ACC under the best one-to-one matching of
clusters to classes, NMI with the geometric mean, ARI. Where there is one mask only, the standard error tells of seeds
and order, not of other masks. A sample without any value is not given to a peer; it counts as wrong in ACC, and as one
more cluster in NMI and ARI. Where there are such samples, the scores over the others are shown too. The best value of
a column among the peers is in bold. Seconds are wall time of one run on a busy machine with two cores, one thread: for
orders of magnitude only. A peer that fails on a set, or has no answer within the limit, is shown with the reason and
is not run on the other repeats."""

PUBLISHED = """\
## Published figures

Rows in italics are quoted, not run by us. They are no fair comparison in either direction: their weights were chosen
with labels, ours were not; the preparation of the data, the masks, the mean in the NMI and the order of the samples
can differ, as each table says. We quote them so that readers see the order of magnitude that is claimed."""

ORDER = """\
## Why samples are shuffled

The files with published masks are sorted by class. Labels are not read, but the order gives them away to some
published programs: they stack the graphs of the views to a tensor of samples × views × samples and take a Fourier
transform along the samples before they shrink singular values (methods that are built on the t-SVD, such as t-SVD-MSC,
Xie et al., IJCV 2018). In a sorted file classes are long waves and noise is short waves, so the shrinkage keeps the
classes.

`python benchmarks/sample_order.py` shows it with made data: three views, five classes of 30 samples that overlap
almost completely. The data, the graphs and the last step (spectral clustering) are the same in all four cells:
"""

AFTER_ORDER = """
Sorted, the transform seems to find nearly all classes. Shuffled, it finds less than the plain sum of the graphs. A
figure from a sorted file says little unless the method gives the same answer for any order."""

NOT_HERE = """\
Not here: OSLFIMVC, OMVC, IMSCAGL and MKKMIK of iMML, which need Octave; its MRGCN and IntegrAO, which need its extra
`deep`; its MONET, which ignores the number of clusters; published programs in MATLAB."""


def draw(results: Results, peers: dict[str, ModuleType], cases: dict[str, Case], order: Iterable[str]) -> str:
    """The whole page; `order` is the table of the example on the order of samples."""
    cells: dict[tuple[str, str], Results] = {}
    for result in results:
        cells.setdefault((result["set"], result["peer"]), []).append(result)
    parts = [INTRODUCTION, _summary(cells, peers, cases)]
    parts += [_section(case, cells, peers) for case in cases.values() if any(name == case.name for name, _ in cells)]
    parts += [PUBLISHED + "\n\n" + _papers(cases), "\n".join([ORDER, *order, AFTER_ORDER]), _list(results, peers)]
    return "\n\n".join(parts) + "\n"


def _summary(cells: dict[tuple[str, str], Results], peers: dict[str, ModuleType], cases: dict[str, Case]) -> str:
    """SparseBDR beside the best other peer and the best published figure, by ACC."""
    lines = ["## In short", "", "ACC / NMI. The best other peer is chosen by ACC, set by set.", ""]
    lines += ["| set | SparseBDR | best other peer | best published |", "|---|---|---|---|"]
    for case in cases.values():
        means = {peer: _means(cells[case.name, peer]) for peer in peers if (case.name, peer) in cells}
        others = {peer: mean for peer, mean in means.items() if mean and peer != OURS}
        if not others:
            continue
        best = max(others, key=lambda peer: others[peer]["acc"])
        shown = f"{others[best]['acc']:.1f} / {others[best]['nmi']:.1f} {best}"
        ours = means.get(OURS)
        mine = f"{ours['acc']:.1f} / {ours['nmi']:.1f}" if ours else "not run"
        lines.append(f"| {case.name} | {mine} | {shown} | {_best_published(case.published)} |")
    return "\n".join(lines)


def _best_published(figures: tuple[Figure, ...]) -> str:
    if not figures:
        return "–"
    best = max(figures, key=lambda one: one.acc or 0.0)
    return f"{_number(best.acc)} / {_number(best.nmi)} {best.method}"


def _section(case: Case, cells: dict[tuple[str, str], Results], peers: dict[str, ModuleType]) -> str:
    """The table of one case."""
    rows = {peer: cells[case.name, peer] for peer in peers if (case.name, peer) in cells}
    empty = max((one.get("empty", 0) for results in rows.values() for one in results), default=0)
    names = [*SCORES, *(f"{score}_known" for score in SCORES if empty)]
    heads = ["ACC", "NMI", "ARI", *(f"{score}, samples with data" for score in ("ACC", "NMI", "ARI") if empty)]
    means = {peer: _means(results) for peer, results in rows.items()}
    ranked = sorted(rows, key=lambda peer: -means[peer].get("acc", -1.0))
    best = {name: max((mean[name] for mean in means.values() if name in mean), default=0.0) for name in names}
    lines = [f"## {case.name}", "", case.missing]
    if empty:
        n = max(one.get("n", 0) for results in rows.values() for one in results)
        lines[-1] += f" {empty} of the {n} samples are left without any value."
    lines += ["", f"| peer | {' | '.join(heads)} | runs | seconds |", "|---|" + "---|" * (len(heads) + 2)]
    lines += [_row(peer, rows[peer], names, best) for peer in ranked]
    for figure in case.published:
        values = [_number(figure.acc), _number(figure.nmi), _number(figure.ari), *["–"] * (len(names) - 3)]
        lines.append(f"| *{figure.method} (published)* | {' | '.join(values)} | – | – |")
    if case.differs:
        lines += ["", f"What differs in the published runs: {case.differs[0].lower()}{case.differs[1:]}"]
    return "\n".join(lines)


def _row(peer: str, results: Results, names: list[str], best: dict[str, float]) -> str:
    done = [one for one in results if "acc" in one]
    if not done:
        reason = results[0]["error"].replace("|", "/")
        return f"| {peer} | {reason} |" + " – |" * (len(names) + 1)
    texts = []
    for name in names:
        values = 100 * np.array([one[name] for one in done])
        error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
        text = f"{values.mean():.1f}" + (f" ± {error:.1f}" if values.size > 1 else "")
        texts.append(f"**{text}**" if np.isclose(values.mean(), best[name], rtol=0, atol=0.05) else text)
    failed = f" ({len(results) - len(done)} failed)" * (len(done) < len(results))
    seconds = np.mean([one["seconds"] for one in done])
    return f"| {peer} | {' | '.join(texts)} | {len(done)}{failed} | {seconds:.1f} |"


def _means(results: Results) -> dict[str, float]:
    """Mean scores in percent; empty if nothing was computed."""
    done = [one for one in results if "acc" in one]
    names = [name for name in (done[0] if done else {}) if name.partition("_")[0] in SCORES]
    return {name: float(100 * np.mean([one[name] for one in done])) for name in names}


def _papers(cases: dict[str, Case]) -> str:
    methods = dict.fromkeys(figure.method for case in cases.values() for figure in case.published)
    known = [f"- {method}: {PAPERS[method]}" for method in methods if method in PAPERS]
    others = [method for method in methods if method not in PAPERS]
    named = f"- {', '.join(others)}: named so in the comparison that published the figures" if others else ""
    return "\n".join([*known, *filter(None, [named])])


def _list(results: Results, peers: dict[str, ModuleType]) -> str:
    """What each peer does, with the versions and the states of the source that ran."""
    lines = ["## Peers", "", "| peer | what is done | versions | source |", "|---|---|---|---|"]
    for name, peer in peers.items():
        runs = [one for one in results if one["peer"] == name and "versions" in one]
        versions = sorted({", ".join(f"{what} {is_}" for what, is_ in one["versions"].items()) for one in runs})
        states = {digest: _commits(runs, digest) for digest in sorted({one["source"] for one in runs})}
        sources = "; ".join(f"{digest} ({', '.join(commits)})" for digest, commits in states.items())
        lines.append(f"| {name} | {peer.HOW} | {'; '.join(versions)} | {sources} |")
    machines = "; ".join(sorted({one["machine"] for one in results}))
    note = "`source` is the digest of jella's source, or of the file of another peer; commits are in parentheses."
    return "\n".join([*lines, "", f"Machines: {machines}. {note}", "", NOT_HERE])


def _commits(runs: Results, digest: str) -> list[str]:
    return sorted({one["revision"] for one in runs if one["source"] == digest})


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
