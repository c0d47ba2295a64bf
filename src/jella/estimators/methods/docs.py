"""The parameters and attributes that all methods document alike, written once."""

from __future__ import annotations

import inspect
import re
from typing import TypeVar

T = TypeVar("T", bound=type)

PARAMETERS = """\
Parameters
----------
n_clusters : int, optional
    Number of clusters. Without it there are no labels, and neither `predict` nor `fit_predict`.
n_components : int, optional
    Rank r of the factorisation. By default n_clusters, or 10 without it, clipped to what the data allow.
scale : str, or sequence or dict of str, default='sample'
    Scaling before the fit, from observed entries only; one for all views, or one a view. 'sample': every sample to
    unit norm. 'feature': every feature to unit root mean square; 'standardize': to zero mean and unit variance (both
    then divided by sqrt(d)). 'center': every feature to zero mean, the whole view divided by one number. 'root': the
    signed square root of every value, for counts, histograms and intensities; then a dense view is centred in the
    same way, and every sample of a sparse view (or of one without negative values, at least 80 % zeros) comes to unit
    norm. 'auto': 'standardize' for a dense view with negative values, 'root' for any other. 'none': as it is.
view_weights : sequence or dict of positive floats, optional
    Weight of each view in the loss; 1 by default.
solver : {'basic', 'sor'} or Relaxation
    Plain alternation, or successive over-relaxation of the completed data.
init : {'svd', 'random'}, array (n, r) or dict of 'embedding' and 'bases', default='svd'
    Start: SVD of the mean-filled data (made non-negative where needed), random, or given.
n_init : int, default=10
    Starts of k-means, and of the fit where init='random'; the best is kept.
max_iter : int
    Most sweeps.
tol : float
    The fit ends when a sweep lowers the objective by less than this share.
warm_start : bool, default=False
    Go on from the blocks of the last fit.
on_empty : {'raise', 'drop'}, default='raise'
    A sample without any observed value: an error, or kept out of the fit (its embedding is NaN, its label -1).
callback : callable or sequence of callables, optional
    Called with a `jella.Progress` after every accepted sweep; a true value ends the fit.
random_state : int, RandomState or Generator, optional
    Seed of random starts, of k-means, and of what `score` hides."""

ATTRIBUTES = """\
Attributes
----------
embedding_ : array (n, r)
    Common embedding W.
bases_ : list, tuple or dict of arrays (d_v, r), as the views came
    U_v: the scaled view v is about ``embedding_ @ bases_[v].T`` (times the root of its weight).
labels_ : array (n,)
    Clusters, where n_clusters is given.
objective_ : array
    Objective after every accepted sweep; it never rises.
history_ : dict of arrays
    The same by term.
n_iter_, converged_ : int, bool
    Sweeps done, rejected ones included; whether the objective settled.
result_ : Result
    All of the solve: blocks, sweeps, reason to stop, seconds.
n_features_in_, feature_names_in_, view_names_in_
    What was seen in fit, all views together.
sample_names_in_ : pandas Index or None
    Names of the rows of the embedding, where the views are DataFrames.
dropped_ : list
    Names, or positions, of samples that were kept out for having nothing observed."""


def with_shared_docs(cls: T) -> T:
    """Put the shared sections where the class docstring says {parameters} and {attributes}.

    Of the parameters, those that the class has.
    """
    if cls.__doc__:
        # Python 3.13 takes the indentation off docstrings itself; before, it is ours to do
        doc = inspect.cleandoc(cls.__doc__).replace("{parameters}", _parameters_of(cls))
        cls.__doc__ = doc.replace("{attributes}", ATTRIBUTES)
    return cls


def _parameters_of(cls: type) -> str:
    head, *entries = re.split(r"\n(?=\w+ : )", PARAMETERS)
    there = inspect.signature(cls).parameters
    return "\n".join([head, *(entry for entry in entries if entry.split(" :")[0] in there)])
