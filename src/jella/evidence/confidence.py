"""How sure labels are: votes of neighbours, turned into probabilities by how often refits agree."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

#: sharpness and floor of the votes that are tried
SHARPNESS = np.geomspace(0.2, 8.0, 25)
FLOORS = (0.003, 0.01, 0.03, 0.1)
#: limits of the classes of probability in which agreement is counted
CLASSES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class Confidence:
    """From votes of neighbours to probabilities: p ∝ (votes + floor)^sharpness.

    Attributes
    ----------
    sharpness, floor : float
        Those under which the labels of the refits are most probable.
    table : array (c, 3)
        For classes of probability: the mean probability of the labels of the fit, how often refits agree, and the
        number of cases.
    by_cluster : array (k,)
        How often refits agree with the label of a sample, by its cluster; NaN if no refit had samples of it.
    n_refits : int
    """

    sharpness: float = 1.0
    floor: float = 0.01
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
        own, agree = _sharpened(V, tau, floor)[at, ours], got == ours
        place = np.digitize(own, CLASSES[1:-1])
        table = [
            (own[place == c].mean(), agree[place == c].mean(), (place == c).sum())
            for c in range(len(CLASSES) - 1)
            if (place == c).any()
        ]
        sizes = np.bincount(ours, minlength=V.shape[1])
        agreed = np.bincount(ours, weights=agree, minlength=V.shape[1])
        shares = np.where(sizes > 0, agreed / np.maximum(sizes, 1), np.nan)
        return cls(tau, floor, np.array(table, dtype=float), shares, len(votes))

    def probabilities(self, votes: np.ndarray) -> np.ndarray:
        """The probabilities (n, k) of the clusters, from votes (n, k)."""
        return _sharpened(votes, self.sharpness, self.floor)


def _sharpened(votes: np.ndarray, sharpness: float, floor: float) -> np.ndarray:
    raised = (votes / votes.sum(axis=1, keepdims=True) + floor) ** sharpness
    return raised / raised.sum(axis=1, keepdims=True)
