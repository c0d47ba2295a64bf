"""The page of the table of completion errors, docs/results/completion.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
from completion_found import COLUMNS, OURS, Found, Key, Result
from completion_intervals import intervals
from completion_sets import FULL_SIZE, MOST_SAMPLES, SETTINGS, TABLE_SETS
from completion_summary import summary


def draw(results: list[Result]) -> str:
    found = Found(results)
    return "\n".join(
        [
            *_head(found, results),
            *summary(found),
            *(line for setting in SETTINGS for line in _table(found, setting)),
            *_bias(found),
            *_full_size(found),
            *intervals(results),
            *_how(results),
            "",
        ]
    )


def _head(found: Found, results: list[Result]) -> list[str]:
    most = max((len(found.masks(key, m)) for key in found.cells() for m in found.methods()), default=0)
    text = f"""
Written by `python benchmarks/completion_table.py` (protocol in its first lines) from `completion.jsonl`, which has all
single runs. Sets in their own units. Errors are root mean squares over all removed values, each feature divided by the
standard deviation of all its true values, relative to the same error of the column means: below 1 is better than the
means. Means over up to {most} masks. All methods get the same masks; two methods are compared over the masks that both
have. Sets with more than {MOST_SAMPLES} samples: a random {MOST_SAMPLES} of them, the same for all methods. Rows of
zeros of BDGP are missing photographs: never scored. breast.TCGA: the samples that have all views. In mnar large values
go missing more often, and no method is told so.

All methods but jella and the mean get features standardised by the mean and deviation of their observed values
(features whose observed values are all equal are completed by that value), and dense arrays. Defaults otherwise, but:
IterativeImputer n_nearest_features=20, max_iter=5, on sets with at most 2000 features; MOFA+ with 15 factors, one
group, Gaussian; MissForest, as the package of that name does it (with LightGBM), on sets with at most 10,000 values;
MOFA+ and SoftImpute with one mask on sets with more than 1.5 million values. jella: `jella.complete(views)`.
"""
    return [
        "# Completion of real data",
        *text.rstrip().split("\n"),
        *_masks(found),
        *_failures(results),
    ]


def _masks(found: Found) -> list[str]:
    """How many masks each method has, by set."""
    groups: dict[tuple[str, str], list[str]] = {}
    for method, name in product(found.methods(), TABLE_SETS):
        counts = sorted({len(found.masks(key, method)) for key in found.cells() if key[0] == name})
        if counts and counts[-1]:
            groups.setdefault((method, "–".join(map(str, dict.fromkeys((counts[0], counts[-1]))))), []).append(name)
    lines = ["", "Masks:", ""]
    for method in found.methods():
        parts = [f"{count} on {', '.join(names)}" for (m, count), names in groups.items() if m == method]
        lines.append(f"- {method}: " + "; ".join(parts))
    return lines


def _failures(results: list[Result]) -> list[str]:
    failed: dict[str, list[str]] = {}
    for r in results:
        if "error" in r:
            failed.setdefault(r["method"], []).append(f"{r['set']} {r['setting']} {r['rate']:.0%}: {r['error']}")
    return [
        line
        for method, all_of in failed.items()
        for line in ("", f"{method} failed in {len(all_of)} runs, the first: {all_of[0][:200]}.")
    ]


def _table(found: Found, setting: str) -> list[str]:
    methods = found.methods()
    lines = ["", f"## {setting}", "", "| set | rate | " + " | ".join(methods) + " |", "|---" * (len(methods) + 2) + "|"]
    for key in found.cells():
        if key[1] == setting:
            scores = [found.mean(key, method) for method in methods]
            best = np.nanmin([*(round(score, 3) for score in scores), np.inf])
            shown = [_score(score, round(score, 3) == best) for score in scores]
            lines.append(f"| {key[0]} | {key[2]:.0%} | " + " | ".join(shown) + " |")
    return lines


def _score(score: float, best: bool) -> str:
    if np.isnan(score):
        return "–"
    return f"**{score:.3f}**" if best else f"{score:.3f}"


def _bias(found: Found) -> list[str]:
    text = """
## Bias and impossible values

Bias: mean of completed minus true values, in standard deviations of the feature. Row sums, column sums: mean error of
the sums of samples and features that have holes, in standard deviations of the true sums, ± its standard error over
masks (from cells with at least two); views of counts only, without views whose samples all have about the same sum.
Impossible: share of the removed values that got a value below 0 where the view has none, or outside [0, 1] where all
values of the view are inside. Means over sets and rates; methods differ in the sets that they ran on.
"""
    lines = [
        *text.split("\n"),
        "| setting | method | sets | bias | row sums | column sums | impossible | seconds | CPU seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for setting, method in product(SETTINGS, found.methods()):
        keys = [key for key in found.cells() if key[1] == setting and found.masks(key, method)]
        if keys:
            entries = [
                str(len({key[0] for key in keys})),
                _over(found, keys, method, "bias", "{:+.3f}"),
                *(_with_error(found, keys, method, what) for what in ("row_bias", "column_bias")),
                _over(found, keys, method, "impossible", "{:.2%}"),
                *(_over(found, keys, method, what, "{:.2f}") for what in ("seconds", "cpu_seconds")),
            ]
            lines.append(f"| {setting} | {method} | " + " | ".join(entries) + " |")
    return lines


def _over(found: Found, keys: Sequence[Key], method: str, what: str, form: str) -> str:
    values = [value for key in keys if not np.isnan(value := found.mean(key, method, what))]
    return form.format(np.mean(values)) if values else "–"


def _with_error(found: Found, keys: Sequence[Key], method: str, what: str) -> str:
    parts = [values for key in keys if (values := found.values(key, method, what))]
    if not parts:
        return "–"
    errors = [np.std(values, ddof=1) / np.sqrt(len(values)) for values in parts if len(values) > 1]
    spread = f" ± {np.sqrt(np.sum(np.square(errors))) / len(errors):.3f}" if errors else ""
    return f"{np.mean([np.mean(values) for values in parts]):+.3f}{spread}"


def _full_size(found: Found) -> list[str]:
    keys = [key for key in found.runs if key[0] in FULL_SIZE]
    lines = [
        "",
        "## All samples",
        "",
        "One mask, one thread, each run in a process of its own; peak memory of that process.",
        "",
        "| set | setting | method | error | seconds | peak memory, GiB |",
        "|---|---|---|---|---|---|",
    ]
    for key, method in product(keys, COLUMNS):
        if found.masks(key, method):
            score, seconds, peak = (found.mean(key, method, what) for what in ("rmse", "seconds", "peak_gib"))
            lines.append(f"| {key[0]} | {key[1]} {key[2]:.0%} | {method} | {score:.3f} | {seconds:.1f} | {peak:.2f} |")
    return lines if keys else []


def _how(results: list[Result]) -> list[str]:
    versions: dict[str, set[str]] = {}
    for result in results:
        for name, version in result.get("versions", {}).items():
            if name != "source":
                versions.setdefault(name, set()).add(version)
    told = "; ".join(f"{name} {', '.join(sorted(found))}" for name, found in sorted(versions.items()))
    return [
        "",
        "## How it was computed",
        "",
        "    JELLA_DATA=<folder> python benchmarks/completion_table.py --jobs 16 --python MOFA+=<python> ...",
        "",
        "with one interpreter per method (how to make its environment: first lines of `benchmarks/other_imputers.py`),",
        "one thread per process. Seconds are those of the method alone.",
        "",
        f"Machines: {_machines(results)}.",
        "",
        f"Versions: {told}.",
        "",
        f"States of jella's source: {_sources(results)}.",
    ]


def _sources(results: list[Result]) -> str:
    """The digest of each state of the source, and how many results of which sets it computed."""
    sets: dict[str, Counter[str]] = {}
    for result in results:
        if "source" in result.get("versions", {}):
            sets.setdefault(result["versions"]["source"], Counter())[result["set"]] += 1
    told = {one: ", ".join(f"{name} ({count})" for name, count in found.items()) for one, found in sets.items()}
    return "; ".join(f"{one}: {names}" for one, names in sorted(told.items()))


def _machines(results: list[Result]) -> str:
    """Which ran how much; of jella separately."""
    counts = Counter((result["machine"], result["method"] == OURS) for result in results)
    parts = [f"{where} ({n} results of {OURS if own else 'other methods'})" for (where, own), n in counts.most_common()]
    return "; ".join(parts)
