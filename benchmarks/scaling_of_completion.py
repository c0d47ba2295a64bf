"""Error of every completion method on real data, with samples at unit norm and with the scaling that completes best.

Run: JELLA_DATA=<folder> python benchmarks/scaling_of_completion.py [--sets nutrimouse] [--methods MVLIV] [--repeats 1]

Holes of the setting 'incomplete-view' at the rate .3 are made in the data as they are: no sample is divided by its norm
first. Each method runs at its defaults, except for its scaling: 'sample', then 'auto', or 'feature' for methods of
non-negative data; --scales names others. The error is over the holes, in standard deviations of a feature, as a
multiple of the error of the column means: below 1 is better than the means. Handwritten has 500 of its samples, chosen
at random. Prints a table in Markdown, that of docs/completion-methods.md; – where a method cannot run.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from real_sets import needed_folder, read_set

from jella.estimators.catalogue import methods
from jella.model_selection.against_mean import mean_errors
from jella.model_selection.errors import units_of
from jella.model_selection.held_out import Trials
from jella.views import read_views
from jella.views.draw import draw_setting
from jella.views.scaling import ALL_KINDS

SETS = ("breast.TCGA", "nutrimouse", "MSRC-v1", "Caltech7", "Handwritten")
MOST_SAMPLES = 500


def some_samples(views: dict[str, Any]) -> dict[str, Any]:
    n = next(iter(views.values())).shape[0]
    rows = np.random.default_rng(0).permutation(n)[:MOST_SAMPLES] if n > MOST_SAMPLES else slice(None)
    return {name: X[rows] for name, X in views.items()}


def trials_on(X: dict[str, Any], repeats: int) -> Trials:
    views = read_views(X)
    hidden = tuple(draw_setting(views, 0.3, "incomplete-view", np.random.default_rng(seed)) for seed in range(repeats))
    return Trials(X, None, views, False, hidden, units_of(views, "standardize"))


def relative_error(model: Any, trials: Trials) -> float:
    """Mean over the repeats of the error, over that of the means."""
    found = []
    for number in range(len(trials)):
        holed = trials.holed(number)
        ours = trials.errors(model.fit(holed).complete(holed), number)[0]
        found.append(ours / mean_errors(trials, holed, number)[0])
    return float(np.mean(found))


def cell(kind: Any, scale: str, trials: Trials) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f"{relative_error(kind(scale=scale, random_state=0), trials):.2f}"
    except ValueError:
        return "–"


def main() -> None:
    parser = argparse.ArgumentParser()
    completing = [method for method in methods().values() if method.completes]
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--methods", nargs="*", default=[method.name for method in completing])
    parser.add_argument("--scales", nargs="*", default=None, help=f"among {', '.join(ALL_KINDS)}")
    parser.add_argument("--repeats", type=int, default=1)
    chosen, data = parser.parse_args(), needed_folder()
    trials = {name: trials_on(some_samples(read_set(name, data)[0]), chosen.repeats) for name in chosen.sets}
    print(f"| method | scaling | {' | '.join(trials)} |\n|---|---|{'---|' * len(trials)}", flush=True)
    for method in completing:
        if method.name in chosen.methods:
            scales = chosen.scales or ("sample", method.scale_to_complete)
            cells = [" → ".join(cell(method.kind, scale, trial) for scale in scales) for trial in trials.values()]
            cells = ["–" if set(one.split(" → ")) == {"–"} else one for one in cells]
            print(f"| `{method.name}` | {' → '.join(scales)} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
