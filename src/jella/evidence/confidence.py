"""How sure labels are: votes of neighbours, turned into probabilities by how often refits agree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.isotonic import isotonic_regression

#: sharpness and floor of the votes that are tried
SHARPNESS = np.geomspace(0.2, 8.0, 25)
FLOORS = (0.003, 0.01, 0.03, 0.1)
#: a label with a lower probability is uncertain
UNCERTAIN = 0.6
#: cases that a class of probability has from the start, at its own probability
FEW = 5.0
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
    curve : array (2, c)
        How often refits agree with the first cluster of a sample, by the probability so far: it never falls. The
        probabilities of first clusters are corrected by it.
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
    curve: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
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
        fitted = cls(tau, floor, 1.0 / (len(V) + 1.0))
        first = fitted._mixed(V)
        fitted = replace(
            fitted,
            curve=_agreement_curve(first.max(axis=1), got == first.argmax(axis=1), fitted.doubt, 1.0 / V.shape[1]),
        )
        own, agree = fitted.probabilities(V)[at, ours], got == ours
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
        found = self._mixed(votes)
        if not len(self.curve) or found.shape[1] < 2:
            return found
        at, top = np.arange(len(found)), found.argmax(axis=1)
        raw = found[at, top]
        rest = found.copy()
        rest[at, top] = 0.0
        share = rest / (1.0 - raw)[:, None]  # of what is left for the other clusters; doubt leaves something
        second = share.max(axis=1)
        sure = np.maximum(np.interp(raw, *self.curve), second / (1.0 + second))  # the first cluster stays the first
        rest = share * (1.0 - sure)[:, None]
        rest[at, top] = sure
        return rest

    def _mixed(self, votes: np.ndarray) -> np.ndarray:
        found = _sharpened(votes, self.sharpness, self.floor)
        return (1.0 - self.doubt) * found + self.doubt / found.shape[1]


def _agreement_curve(sure: np.ndarray, agree: np.ndarray, doubt: float, chance: float) -> np.ndarray:
    """Mean probability and share of agreement (2, c) by class of probability; shares of few cases stay nearer to it."""
    place = np.digitize(sure, CLASSES[1:-1])
    counts = np.bincount(place, minlength=len(CLASSES) - 1)
    used = np.flatnonzero(counts)
    middle = np.bincount(place, weights=sure)[used] / counts[used]
    share = (np.bincount(place, weights=agree)[used] + FEW * middle) / (counts[used] + FEW)
    rising = isotonic_regression(share, sample_weight=counts[used] + FEW, y_max=1.0 - doubt)
    start = min(chance, middle[0])  # where all clusters are equally probable
    x, y = np.append(start, middle), np.append(min(chance, rising[0]), np.minimum(rising, 1.0 - doubt))
    return np.stack([x, y])


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
