"""The paper's tables and figures: find the data, run what is missing, draw."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from jella.estimators.on_device import Device
from jella_experiments.draw import draw
from jella_experiments.paper import ARTEFACTS, QUICK, ExperimentPlan, cells_of, on_digits
from jella_experiments.runner import load_dataset, run


def reproduce(
    names: Iterable[str] = ("all",),
    folder: str | os.PathLike[str] = "reproduced",
    *,
    data: str | os.PathLike[str] | None = None,
    sets: Iterable[str] | None = None,
    quick: bool = False,
    compute: bool = True,
    n_jobs: int = 1,
    device: Device | None = None,
    progress: bool = True,
    note: str = "",
) -> Reproduced:
    """Run the paper's experiments and draw their tables and figures.

    Parameters
    ----------
    names : iterable of str, default=('all',)
        What to compute: keys of `jella_experiments.ARTEFACTS`, or 'all'.
    folder : path, default='reproduced'
        Where to write the outputs and `results.jsonl`, all results so far. A run that was stopped continues from them.
    data : path, optional
        Folder with the data sets; the environment variable JELLA_DATA by default. If none is found, the digits that
        come with scikit-learn are used.
    sets : iterable of str, optional
        Only these data sets.
    quick : bool, default=False
        Small sets, two repetitions, two rates, two combinations of weights.
    compute : bool, default=True
        False draws from the results in the folder.
    n_jobs : int, default=1
        Number of cells at a time.
    device : jella.estimators.on_device.Device, optional
        The device for methods that can run on one; the others are fitted on the host.
    progress : bool, default=True
    note : str, optional
        The command, for the captions.

    Returns
    -------
    Reproduced
    """
    wanted = _known(names)
    found = look_for(QUICK if quick else ExperimentPlan(), data, sets)
    load = partial(load_dataset, folder=None if data is None else os.fspath(data))

    def view_names(name: str) -> tuple[str, ...]:
        return tuple(load(name)[0])

    file = Path(folder) / "results.jsonl"
    if compute:
        cells = cells_of(wanted, found.plan, view_names)
        run(cells, file, load=load, n_jobs=n_jobs, device=device, progress=progress)
    written = draw(wanted, file, folder, plan=found.plan, view_names=view_names, note=note)
    return replace(found, written=tuple(written))


@dataclass(frozen=True)
class Reproduced:
    """What was run on which data, and the files written.

    Attributes
    ----------
    plan : ExperimentPlan
    missing : dict of name to str
        Data sets of the paper that were not found, and why.
    notes : tuple of str
        What differs between the data sets that were found and the paper's.
    written : tuple of paths
    """

    plan: ExperimentPlan
    missing: dict[str, str]
    notes: tuple[str, ...]
    written: tuple[Path, ...] = ()


def look_for(
    plan: ExperimentPlan, data: str | os.PathLike[str] | None, sets: Iterable[str] | None = None
) -> Reproduced:
    """The plan for the data sets that are found; for the digits of scikit-learn if none is.

    All sets of the paper are searched for, also those that the plan leaves out.
    """
    from jella.datasets import load
    from jella.io import DataError

    paper = ExperimentPlan().datasets
    wanted = list(paper if sets is None else dict.fromkeys(sets))
    unknown = [name for name in wanted if name not in paper]
    if unknown:
        raise ValueError(f"expected data sets among {paper}, got {unknown}; pass some of these")
    there, missing, notes = [], {}, []
    for name in wanted:
        try:
            notes += [f"{name}: {note}" for note in load(name, data).notes]
            there.append(name)
        except DataError as error:
            missing[name] = str(error)
    if sets is not None and missing:
        raise ValueError(next(iter(missing.values())))
    runs = plan.only(there)
    notes += [f"{name}: left out by --quick" for name in there if name not in runs.datasets]
    return Reproduced(runs if runs.datasets else on_digits(plan), missing, tuple(notes))


def _known(names: Iterable[str]) -> list[str]:
    wanted = list(dict.fromkeys(names))
    unknown = [name for name in wanted if name not in (*ARTEFACTS, "all")]
    if unknown or not wanted:
        raise ValueError(f"expected names among {(*ARTEFACTS, 'all')}, got {unknown}; pass some of these")
    return list(ARTEFACTS) if "all" in wanted else wanted
