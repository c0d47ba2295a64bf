"""The cells of the paper's tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from jella_experiments.cell import Cell
from jella_experiments.contenders import CONTENDERS, Contender, Parameters

BESIDE = ("KNNImputer + spectral", "SparseBDR")  # not in the paper, but shown beside its methods
MISSING_VIEW_METHODS = ("PVC", "MIC", "MVL-IV", "IMG", "DAIMC", "iRMKMC", "IML-BDR", *BESIDE)
INCOMPLETE_VIEW_METHODS = ("PVC", "MVL-IV", "IMG", "DAIMC", "IML-BDR", *BESIDE)
COMPLETION_METHODS = ("RPCA + RAMC", "RRMC + RAMC", "IML-BDR", *BESIDE)
STUDY_RATE = (
    0.2  # rate of the paper's study of the weights; the paper names none for the objective curves, so they use it too
)
STUDY_SWEEPS = 2000  # most sweeps in the objective curves: both strategies should reach the tolerance
STUDY_WEIGHTS = (1e-2, 1e-1, 1.0, 1e1, 1e2)


@dataclass(frozen=True)
class ExperimentPlan:
    """How much of the paper's experiments to run, and on what.

    Parameters
    ----------
    missing_view, incomplete_view : tuple of str
        Data sets of the two settings.
    rates : tuple of float
    repetitions : int
        Draws of missing values on sets that are not large.
    large : tuple of str
        Sets with half as many repetitions, on which methods of the order n² run with one combination of
        weights, one repetition and three rates.
    whole_grid : bool
        All combinations of weights of the paper's grids; otherwise the default and the one in the middle.
    """

    missing_view: tuple[str, ...] = ("MSRC-v1", "Yale", "Corel5k")
    incomplete_view: tuple[str, ...] = ("Caltech7", "Trecvid", "PIE")
    rates: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5)
    repetitions: int = 10
    large: tuple[str, ...] = ("Corel5k", "PIE")
    whole_grid: bool = True

    def only(self, found: Iterable[str]) -> ExperimentPlan:
        """The plan for the data sets that were found."""
        there = set(found)
        return replace(
            self,
            missing_view=tuple(name for name in self.missing_view if name in there),
            incomplete_view=tuple(name for name in self.incomplete_view if name in there),
        )

    @property
    def datasets(self) -> tuple[str, ...]:
        """All data sets, each once."""
        return tuple(dict.fromkeys(self.missing_view + self.incomplete_view))

    def settings(self) -> Iterator[tuple[str, str]]:
        """Data sets with their settings."""
        yield from ((dataset, "missing-view") for dataset in self.missing_view)
        yield from ((dataset, "incomplete-view") for dataset in self.incomplete_view)

    def combinations(self, contender: Contender) -> list[Parameters]:
        """The combinations of weights that run."""
        found = list(contender.combinations())
        return found if self.whole_grid or len(found) < 3 else [found[0], found[len(found) // 2]]

    def draws(self, dataset: str, contender: Contender, rates: Sequence[float]) -> list[tuple[int, float]]:
        """Repetitions and rates, all rates of a repetition before the next."""
        if dataset not in self.large:
            return [(repetition, rate) for repetition in range(self.repetitions) for rate in rates]
        if contender.quadratic:
            return [(0, rate) for rate in _few(rates)]
        return [(repetition, rate) for repetition in range(-(-self.repetitions // 2)) for rate in rates]

    def remark(self, datasets: Iterable[str]) -> str:
        """A sentence on data sets with fewer runs than the others; an empty text if there are none."""
        large = [dataset for dataset in dict.fromkeys(datasets) if dataset in self.large]
        if not large:
            return ""
        quadratic = ", ".join(name for name, contender in CONTENDERS.items() if contender.quadratic)
        return (
            f"On {' and '.join(large)} methods of the order n² ({quadratic}) run at their default weights, once and at "
            f"{len(_few(self.rates))} rates, so that weights by labels favour the other methods, which have half as "
            "many runs as on small sets."
        )


def _few(rates: Sequence[float]) -> Sequence[float]:
    """The first, the middle and the last."""
    return rates[:: max(1, (len(rates) - 1) // 2)]


QUICK = ExperimentPlan(
    missing_view=("MSRC-v1", "Yale"),
    incomplete_view=("Caltech7",),
    rates=(0.1, 0.5),
    repetitions=2,
    large=(),
    whole_grid=False,
)


def on_digits(plan: ExperimentPlan) -> ExperimentPlan:
    """The plan for the digits that come with scikit-learn."""
    return replace(plan, missing_view=("digits-150",), incomplete_view=("digits-150",))


def of_method(plan: ExperimentPlan, dataset: str, setting: str, method: str, rates: Sequence[float]) -> Iterator[Cell]:
    """Cells for each combination of a method's weights and its label-free error, on each draw of missing values."""
    contender = CONTENDERS[method]
    chosen = plan.combinations(contender)
    if dataset in plan.large and contender.quadratic:
        chosen = chosen[:1]
    for repetition, rate in plan.draws(dataset, contender, rates):
        for parameters in chosen:
            cell = Cell(dataset, setting, rate, repetition, method, parameters)
            yield cell
            if len(chosen) > 1 and not contender.whole_views:
                yield replace(cell, task="hold-out")


def comparison(plan: ExperimentPlan, setting: str) -> Iterator[Cell]:
    """Cells of the tables of NMI and AdjRI (incomplete-view), and of the curves of the missing-view setting."""
    whole = setting == "missing-view"
    for dataset in plan.missing_view if whole else plan.incomplete_view:
        for method in MISSING_VIEW_METHODS if whole else INCOMPLETE_VIEW_METHODS:
            yield from of_method(plan, dataset, setting, method, plan.rates)


def completion(plan: ExperimentPlan) -> Iterator[Cell]:
    """Cells with RMSE and clusters of completion methods against IML-BDR; complete data is one of the rates."""
    for dataset in plan.incomplete_view:
        for method in COMPLETION_METHODS:
            yield from of_method(plan, dataset, "incomplete-view", method, plan.rates)
            for parameters in plan.combinations(CONTENDERS[method])[: 1 if dataset in plan.large else None]:
                yield Cell(dataset, "complete", 0.0, 0, method, parameters)


def weights_study(plan: ExperimentPlan) -> Iterator[Cell]:
    """Cells of IML-BDR over five values each of alpha and gamma."""
    values = STUDY_WEIGHTS if plan.whole_grid else STUDY_WEIGHTS[::2]
    for dataset in plan.missing_view:
        if dataset not in plan.large:
            for repetition in range(plan.repetitions):
                for alpha in values:
                    for gamma in values:
                        weights = (("alpha", alpha), ("gamma", gamma))
                        yield Cell(dataset, "missing-view", STUDY_RATE, repetition, "IML-BDR", weights)


def views_study(plan: ExperimentPlan, view_names: Callable[[str], Sequence[str]]) -> Iterator[Cell]:
    """Cells of IML-BDR on each pair of views and on all views, if there are three."""
    for dataset, setting in plan.settings():
        names = view_names(dataset)
        if dataset in plan.large or len(names) != 3:
            continue
        for cell in of_method(plan, dataset, setting, "IML-BDR", plan.rates):
            if cell.task == "cluster":
                yield cell
                for pair in combinations(names, 2):
                    yield replace(cell, views=pair)


def convergence(plan: ExperimentPlan) -> Iterator[Cell]:
    """Cells with the objective of IML-BDR sweep by sweep, basic against SOR."""
    for dataset, setting in plan.settings():
        if dataset not in plan.large:
            for repetition in range(plan.repetitions):
                for solver in ("basic", "sor"):
                    parameters = (*CONTENDERS["IML-BDR"].default, ("max_iter", STUDY_SWEEPS), ("solver", solver))
                    yield Cell(dataset, setting, STUDY_RATE, repetition, "IML-BDR", parameters, task="converge")


ARTEFACTS: dict[str, Callable[[ExperimentPlan, Any], Iterator[Cell]]] = {
    "table-nmi": lambda plan, view_names: comparison(plan, "incomplete-view"),
    "table-adjri": lambda plan, view_names: comparison(plan, "incomplete-view"),
    "table-completion": lambda plan, view_names: completion(plan),
    "fig-missing-view": lambda plan, view_names: comparison(plan, "missing-view"),
    "fig-parameters": lambda plan, view_names: weights_study(plan),
    "fig-views": views_study,
    "fig-convergence": lambda plan, view_names: convergence(plan),
    "table-sor": lambda plan, view_names: convergence(plan),
}


def cells_of(names: Iterable[str], plan: ExperimentPlan, view_names: Callable[[str], Sequence[str]]) -> list[Cell]:
    """All cells of some artefacts, each once, repetition by repetition, so that early results are useful."""
    found = dict.fromkeys(cell for name in names for cell in ARTEFACTS[name](plan, view_names))
    return sorted(found, key=lambda cell: (cell.dataset in plan.large, cell.repetition))
