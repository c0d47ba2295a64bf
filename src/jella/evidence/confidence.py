"""How sure labels are: votes of neighbours, turned into probabilities by how often refits agree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

#: sharpness and floor of the votes that are tried
SHARPNESS = np.geomspace(0.2, 8.0, 25)
FLOORS = (0.003, 0.01, 0.03, 0.1)
#: a label with a lower probability is uncertain
UNCERTAIN = 0.6
#: limits of the classes of probability in which agreement is counted
CLASSES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class Confidence:
    """From votes of neighbours to probabilities: p ∝ (votes + floor)^sharpness, mixed with a little of all clusters.

    Attributes
    ----------
    sharpness, floor : float
        Those under which the labels of the refits are most probable.
    doubt : float
        The share that is divided among all clusters, one case in all that were seen: nothing is certain.
    table : array (c, 3)
        For classes of probability: the mean probability of the labels of the fit, how often refits agree, and the
        number of cases.
    by_cluster : array (k,)
        How often refits agree with the label of a sample, by its cluster; NaN if no refit had samples of it.
    n_refits : int
    """

    sharpness: float = 1.0
    floor: float = 0.01
    doubt: float = 0.01
    table: np.ndarray = field(default_factory=lambda: np.empty((0, 3)))
    by_cluster: np.ndarray = field(default_factory=lambda: np.empty(0))
    n_refits: int = 0

    @classmethod
    def learn(cls, votes: list[np.ndarray], found: list[np.ndarray], labels: list[np.ndarray]) -> Confidence:
        """The confidence that fits how refits label samples.

        Parameters
        ----------
        votes : list of arrays (m, k)
            Votes of the neighbours in the fit, of the samples of each refit.
        found, labels : lists of int arrays (m,)
            Labels by the refit, matched to those of the fit, and labels of the fit.
        """
        V, got, ours = np.concatenate(votes), np.concatenate(found), np.concatenate(labels)
        if V.shape[1] < 2 or not len(V):
            return cls()
        at = np.arange(len(V))
        losses = {
            (float(tau), floor): -float(np.mean(np.log(_sharpened(V, tau, floor)[at, got])))
            for tau in SHARPNESS
            for floor in FLOORS
        }
        tau, floor = min(losses, key=lambda pair: losses[pair])
        fitted, agree = cls(tau, floor, 1.0 / (len(V) + 1.0)), got == ours
        own = fitted.probabilities(V)[at, ours]
        place = np.digitize(own, CLASSES[1:-1])
        table = [
            (own[place == c].mean(), agree[place == c].mean(), (place == c).sum())
            for c in range(len(CLASSES) - 1)
            if (place == c).any()
        ]
        sizes = np.bincount(ours, minlength=V.shape[1])
        agreed = np.bincount(ours, weights=agree, minlength=V.shape[1])
        shares = np.where(sizes > 0, agreed / np.maximum(sizes, 1), np.nan)
        return replace(fitted, table=np.array(table, dtype=float), by_cluster=shares, n_refits=len(votes))

    def probabilities(self, votes: np.ndarray) -> np.ndarray:
        """The probabilities (n, k) of the clusters, from votes (n, k)."""
        found = _sharpened(votes, self.sharpness, self.floor)
        return (1.0 - self.doubt) * found + self.doubt / found.shape[1]


def _sharpened(votes: np.ndarray, sharpness: float, floor: float) -> np.ndarray:
    raised = (votes / votes.sum(axis=1, keepdims=True) + floor) ** sharpness
    return raised / raised.sum(axis=1, keepdims=True)


def label_columns(labels: np.ndarray, probabilities: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of a table of labels: their probability, and the next cluster with its own.

    >>> columns = label_columns(np.array([1, 0]), np.array([[0.2, 0.8], [0.6, 0.4]]))
    >>> columns["probability"].tolist(), columns["next_cluster"].tolist(), columns["next_probability"].tolist()
    ([0.8, 0.6], [0, 1], [0.2, 0.4])
    """
    rows, own = np.arange(len(labels)), np.maximum(labels, 0)
    sure = np.where(labels >= 0, probabilities[rows, own], np.nan)
    if probabilities.shape[1] < 2:
        return {"probability": sure}
    others = np.where(np.isnan(probabilities), -1.0, probabilities)
    others[rows[labels >= 0], own[labels >= 0]] = -1.0
    following = np.where(np.isnan(probabilities[:, 0]), -1, others.argmax(axis=1))
    chance = np.where(following >= 0, others.max(axis=1), np.nan)
    return {"probability": sure, "next_cluster": following, "next_probability": chance}


def uncertain(labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Positions of the samples whose label is less probable than `UNCERTAIN`, the least certain first."""
    sure = label_columns(labels, probabilities)["probability"]
    few = np.flatnonzero(sure < UNCERTAIN)
    return few[np.argsort(sure[few], kind="stable")]
