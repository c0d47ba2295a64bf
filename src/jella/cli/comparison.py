"""What `jella compare` does with each method: it fits without the hidden values, and all data for their clusters."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jella.cli.data import class_scores
from jella.cli.words import one_sentence

if TYPE_CHECKING:
    from jella.model_selection.held_out import Trials
    from jella.views import Views

Row = dict[str, Any]


@dataclass(frozen=True)
class Contestant:
    """A method that is compared.

    Attributes
    ----------
    name : str
        On the command line.
    obstacle : callable
        Why it cannot run on views, in a few words; None if it can.
    completing, clustering : callable or None
        Make the estimator that completes, and the one that finds clusters, from the settings of the command.
    """

    name: str
    obstacle: Callable[[Views], str | None]
    completing: Callable[[dict[str, Any]], Any] | None
    clustering: Callable[[dict[str, Any]], Any] | None = None


def contestants(names: list[str]) -> list[Contestant]:
    """The methods of these names, in any spelling; 'all': those of the library and the baselines that are installed."""
    from jella.estimators.catalogue import methods
    from jella.model_selection.baselines import BASELINES, ColumnMeans

    others = [kind for kind in BASELINES if kind is not ColumnMeans]
    known = {one.name: one for one in (*map(_of_method, methods().values()), *map(_of_baseline, others))}
    if names == ["all"]:
        missing = {kind.name for kind in others if not kind.installed()}
        return [one for name, one in known.items() if name not in missing]
    by_plain = {_plain(name): one for name, one in known.items()}
    for name in names:
        if _plain(name) not in by_plain:
            raise ValueError(f"expected a method among {', '.join(known)}, got {name!r}; pass one of these names")
    return [by_plain[_plain(name)] for name in dict.fromkeys(names)]


def column_means() -> Contestant:
    """What all methods are compared with."""
    from jella.model_selection.baselines import ColumnMeans

    return _of_baseline(ColumnMeans)


@dataclass(frozen=True)
class Comparison:
    """What each method gets: the same data and hidden values.

    Attributes
    ----------
    trials : Trials
    splits : list
        The data without the values that each split hides.
    truth : array (n,) or None
        Known classes.
    settings : dict
        Parameters of all methods that have them, in the fits without hidden values.
    n_clusters : int or None
        Number of clusters that are compared with the classes.
    tell : callable
        Called with a text before each fit.
    """

    trials: Trials
    splits: list[Any]
    truth: Any
    settings: dict[str, Any]
    n_clusters: int | None
    tell: Callable[[str], None]

    def row(self, method: Contestant) -> Row:
        """Its errors on hidden values, scores of its clusters if there are classes; or why there are none."""
        why = method.obstacle(self.trials.views)
        if why is None and method.completing is None and self.truth is None:
            why = "it completes nothing"
        row: Row = {"method": method.name, "error": None, "error_se": None, "scaling": None, "rank": None}
        row |= {"seconds": None, "why": why}
        if why is not None:
            return row
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if method.completing is not None:
                    row |= self._errors(method.name, method.completing)
                if self.truth is not None and method.clustering is not None:
                    self.tell(f"{method.name}, clusters")
                    model = method.clustering(self.settings | {"n_clusters": self.n_clusters})
                    row |= class_scores(model.fit(self.trials.X).labels_, self.truth)
        except Exception as error:  # one method that fails must not hide the others
            row["why"] = one_sentence(error)
        row["seconds"] = time.perf_counter() - started
        return row

    def _errors(self, name: str, make: Callable[[dict[str, Any]], Any]) -> Row:
        from jella.model_selection.search import mean_and_error

        found, models = [], []
        for number, holed in enumerate(self.splits):
            self.tell(f"{name}, split {number + 1} of {len(self.splits)}")
            models.append(make(self.settings).fit(holed))
            found.append(self.trials.errors(models[-1].complete(holed), number)[0])
        mean, spread = mean_and_error(found)
        used = {"scaling": scaling_of(models[-1]), "rank": rank_of(models[-1])}
        return {"error": mean, "error_se": spread if np.isfinite(spread) else None} | used


def scaling_of(model: Any) -> str:
    """The scaling that a fitted model used; its kinds, if views have different ones."""
    learned = getattr(model, "scaling_", None)
    return str(model.scaling) if learned is None else "/".join(dict.fromkeys(learned.kinds))


def rank_of(model: Any) -> int | None:
    """The number of components of a fitted model; None if it has none."""
    W = getattr(model, "embedding_", None)
    return model.rank if W is None else int(W.shape[1])


def _of_method(method: Any) -> Contestant:
    known = method.kind().get_params()

    def make(settings: dict[str, Any]) -> Any:
        return method.kind(**{name: value for name, value in settings.items() if name in known})

    return Contestant(
        method.command_name,
        method.obstacle,
        (lambda settings: make({"scale": method.scale_to_complete, **settings})) if method.completes else None,
        make if method.clusters else None,
    )


def _of_baseline(kind: Any) -> Contestant:
    def make(settings: dict[str, Any]) -> Any:
        return kind(random_state=settings["random_state"])

    return Contestant(kind.name, kind().obstacle, make)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
