"""One call from incomplete views to clusters, with figures that help to judge them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from jella.describe.cluster_table import cluster_columns
from jella.describe.confusion import Confusion
from jella.describe.markers import SAME_DATA, marker_columns
from jella.describe.metadata import MetadataFindings
from jella.describe.subject import Subject
from jella.describe.survival import Survival, check_survival
from jella.estimators.adjuster import Adjuster
from jella.estimators.methods.sparse_bdr import SparseBDR
from jella.evidence.confidence import UNCERTAIN, label_columns, uncertain
from jella.evidence.gather import ClusterEvidence
from jella.graphs.spectral import modularity
from jella.numerics.arrays import Array, to_numpy
from jella.numerics.optional import need
from jella.numerics.progress import SweepLine
from jella.numerics.words import counted, percent, shortened
from jella.oneshot.adjusting import Adjusted, chosen_covariates
from jella.oneshot.common import (
    NAME_WIDTH,
    aligned_views,
    as_given,
    check_settings,
    count_cells,
    fit_model,
    metadata_columns,
    pairs_by_rule,
    view_table,
)
from jella.views import read_views
from jella.views.sample_columns import read_column

#: cluster sizes and uncertain samples that a repr lists
SHOWN_SIZES, SHOWN_UNCERTAIN = 10, 5


@dataclass(frozen=True, repr=False, eq=False)
class Clustering:
    """The result of `jella.cluster`.

    Attributes
    ----------
    labels : int array (n,)
        Cluster of each sample, from 0, the largest first; -1 for a sample without any value, if on_empty='drop', and
        with noise=True for a sample that belongs to no cluster.
    probabilities : array (n, n_clusters) or None
        Probabilities of the clusters of each sample, as `SparseBDR.label_probabilities_`; None for Dask collections.
    evidence : ClusterEvidence or None
        What speaks for the clusters; None with evidence=False and for fewer than 20 samples.
    embedding : array (n, r)
        In the array library of the views.
    n_clusters : int
    sizes : int array (n_clusters,)
        Number of samples of each cluster.
    sample_names : pandas Index or None
        In the order of the labels, if the views were DataFrames.
    modularity : float
        How clear the clusters are: the share of neighbours that lie in the same cluster, minus the share expected at
        random. Neighbours are those in the data, over the entries that both samples have.
    model : SparseBDR
        Fitted: for predict, transform and complete on new samples.
    n_missing : dict of name -> int
        Missing entries of each view; one of a category counts once.
    adjuster : Adjuster or None
        Fitted, if covariates were given. The model knows adjusted values, so its methods take new samples with their
        covariates: ``found.model.predict(new, covariates=batch)``.
    about : MetadataFindings or None
        What `metadata` and `survival` show, if metadata were given.
    seconds : float
    """

    labels: np.ndarray
    probabilities: np.ndarray | None
    evidence: ClusterEvidence | None
    embedding: Array
    n_clusters: int
    sizes: np.ndarray
    sample_names: Any
    modularity: float
    model: SparseBDR
    n_missing: dict[str, int]
    adjuster: Adjuster | None
    about: MetadataFindings | None
    seconds: float
    _views: Any
    _observed: Any
    _turned: bool
    _n_entries: dict[str, int]
    _adjusted: Adjusted | None

    @property
    def metadata(self) -> Any:
        """The association of the clusters with each column of the metadata, a pandas DataFrame; None without metadata.

        See `jella.describe.association.ColumnAssociation` for its columns. `verdict` says in words whether clusters and
        column are associated, and whether missing values alone explain it.
        """
        return None if self.about is None else self.about.as_frame()

    @property
    def survival(self) -> Survival | None:
        """Kaplan-Meier curves of the clusters and a log-rank test; None unless `survival` was given."""
        return None if self.about is None else self.about.survival

    def confusion(self, labels: Any) -> Any:
        """How known classes are spread over the clusters: a pandas DataFrame of counts, clusters in rows.

        Parameters
        ----------
        labels : Series, or array (n,) in the order of the samples
            Known classes, NaN or None if not known. A Series is matched by its index.
        """
        return Confusion.of(self.labels, read_column(labels, "labels", self.sample_names, self.labels.size)).as_frame()

    def complete(self) -> Any:
        """The clustered views with their missing values imputed, as `SparseBDR.complete` does.

        Same container and units, observed values unchanged bit for bit. The views are not copied when clustering: if
        they were changed since, the changed values are completed.
        """
        of = self._adjusted
        if of is None:
            done = self.model.complete(self._views, observed=self._observed)
        else:
            done = self.model.complete(of.given, observed=of.observed, covariates=of.covariates)
        return as_given(done, self._turned)

    def as_frame(self) -> Any:
        """A pandas DataFrame with one row per sample: its cluster, how probable that is, and its embedding."""
        pd = need("pandas", "pandas")
        columns = self.model.get_feature_names_out()
        frame = pd.DataFrame(to_numpy(self.embedding), index=self.sample_names, columns=columns)
        frame.insert(0, "cluster", self.labels)
        if self.probabilities is not None:
            for place, (name, values) in enumerate(label_columns(self.labels, self.probabilities).items(), 1):
                frame.insert(place, name, values)
        return frame

    def markers(self, n_features: int | None = None) -> Any:
        """Features that distinguish each cluster from all other samples, as a pandas DataFrame.

        The clusters were found in the same data, so p-values and q-values are too small: they rank features and prove
        nothing. `attrs["caveat"]` says so too. If covariates were given, means are those of adjusted values.

        Parameters
        ----------
        n_features : int, optional
            Features per cluster and view, the largest effect first; by default all with at least three observed values
            in the cluster and outside.

        Returns
        -------
        DataFrame
            cluster, view, feature; effect (difference of the means in pooled standard deviations, which count as at
            least a tenth of the feature's own) and its direction; mean and other_mean (in the cluster and outside, in
            your units); p_value (Welch's t-test) and q_value (Benjamini-Hochberg over all clusters and features);
            share_observed and other_share_observed (samples of the cluster, and others, that have a value).

        Examples
        --------
        >>> import jella
        >>> digits = jella.datasets.load_digits_views()
        >>> some = {name: view[:200] for name, view in digits.data.items()}
        >>> found = jella.cluster(some, 10, evidence=False)
        >>> found.markers(1).shape, found.markers(1).loc[0, ["view", "direction"]].tolist()
        ((30, 11), ['pixels', 'higher'])
        """
        frame = need("pandas", "pandas").DataFrame(marker_columns(self.as_subject(), n_features))
        frame.attrs["caveat"] = SAME_DATA
        return frame

    def summary(self) -> Any:
        """A pandas DataFrame with one row per cluster; -1 stands for samples that belong to none.

        Its columns are: size and share of all samples; mean_probability of the labels, and n_uncertain, the number of
        labels with a probability below 0.6; found_again, how often refits on halves of the samples agree with a label;
        for each view, lacks_NAME, the share of samples without it, and missing_NAME, the share of missing entries; and
        features, the three that differ most, with their effects as in `markers`.

        Examples
        --------
        >>> import jella
        >>> digits = jella.datasets.load_digits_views()
        >>> some = {name: view[:200] for name, view in digits.data.items()}
        >>> found = jella.cluster(jella.datasets.make_incomplete(some, 0.3, random_state=0), 10, evidence=False)
        >>> table = found.summary()
        >>> table.index.name, int(table["size"].sum()), bool(table["lacks_pixels"].between(0, 1).all())
        ('cluster', 200, True)
        """
        columns = cluster_columns(self.as_subject(), self.probabilities, self.evidence)
        return need("pandas", "pandas").DataFrame(columns).set_index("cluster")

    def loadings(self) -> Any:
        """The features of each component, as `SparseBDR.loadings`."""
        return self.model.loadings()

    def as_subject(self) -> Subject:
        """The model with its data, as tables and plots describe it."""
        return replace(Subject.of(self.model, self._views, self._observed), labels=np.asarray(self.labels))

    def uncertain(self) -> np.ndarray:
        """Positions of the samples whose label has a probability below 0.6, the least certain first."""
        return np.empty(0, dtype=np.intp) if self.probabilities is None else uncertain(self.labels, self.probabilities)

    def __repr__(self) -> str:
        model, n, names = self.model, self.labels.size, self.model.view_names_in_
        how = "chosen" if model.n_clusters is None else "given"
        path = getattr(model, "cluster_path_", None)
        if self.evidence is not None:  # it has the modularity of the same clusters, beside what is expected of it
            clear = [f"  evidence    {self.evidence.words(n - len(model.dropped_))}"]
        else:
            clear = [] if path is None else [f"  evidence    {path.words()}"]
            clear.append(
                f"  modularity  {self.modularity:.2f} (0: neighbours share a cluster no more often than at random)"
            )
        left_out = f", {len(model.dropped_):,} without any value left out" if model.dropped_ else ""
        nowhere = n - len(model.dropped_) - int(self.sizes.sum())
        none = f"; {counted(nowhere, 'sample')} in no cluster" if nowhere else ""
        widths = model.schema_.n_features
        rows = [("view", "features", "missing", "scaling", "weight")]
        for name, d, scale in zip(names, widths, model.scaling_.scales, strict=True):
            share = percent(self.n_missing[name], self._n_entries[name])
            rows.append((shortened(name, NAME_WIDTH), f"{d:,}", share, scale.kind, f"{scale.root_weight**2:.2f}"))
        return "\n".join(
            [
                f"Clustering of {counted(n, 'sample')}{left_out}: {counted(self.n_clusters, 'cluster')} ({how})",
                f"  sizes       {_largest_first(self.sizes)}{none}",
                *clear,
                *(() if self.probabilities is None or self.n_clusters < 2 else (f"  uncertain   {self._doubts()}",)),
                *(() if self.about is None else (f"  metadata    {self.about.words()}",)),
                *(() if self._adjusted is None else (f"  adjusted    {self._adjusted.words()}",)),
                *((f"  landmarks   {model.landmarks_}",) if model.landmarks_.is_worth_a_word else ()),
                *view_table(rows, "<>><>"),
                f"  {counted(model.n_iter_, 'sweep')}, {self.seconds:.1f} s",
            ]
        )

    def _doubts(self) -> str:
        found = self.uncertain()
        names = found if self.sample_names is None else self.sample_names[found]
        some = ", ".join(str(name) for name in list(names)[:SHOWN_UNCERTAIN])
        more = " …" if found.size > SHOWN_UNCERTAIN else ""
        return f"{counted(found.size, 'sample')} with a probability below {UNCERTAIN:g}" + (
            f": {some}{more}" if found.size else ""
        )


def cluster(
    views: Any,
    n_clusters: int | None = None,
    *,
    observed: Any = None,
    ids: Any = "exact",
    samples: str = "rows",
    zero_rows: str = "observed",
    noise: bool = False,
    must_link: Any = None,
    cannot_link: Any = None,
    metadata: Any = None,
    survival: tuple[str, str] | None = None,
    covariates: Any = None,
    adjust_views: Sequence[str] | None = None,
    progress: bool = False,
    random_state: Any = 0,
    **settings: Any,
) -> Clustering:
    """The clusters of samples that are described by several incomplete views, by one fit of `jella.SparseBDR`.

    Parameters
    ----------
    views : 2-D array, list, tuple or dict of arrays, DataFrames, SciPy sparse arrays or Dask collections
        Samples in rows. NaN marks a missing entry, a row of NaN a missing view. DataFrames are aligned by their index.
        Not modified.
    n_clusters : int, optional
        By default chosen from the data, with evidence from refits; 1, with a warning, where there are no clear
        clusters. With evidence=False the refits are left out (see `jella.SparseBDR`).
    observed : as views, of booleans, optional
        True where a value was observed, instead of NaN.
    ids, samples, zero_rows : optional
        How sample ids are made equal, where the samples are, and whether rows of zeros are missing; as in
        `jella.align`.
    noise : bool, default=False
        Whether samples that belong to no cluster get the label -1: those whose label has a probability below a half,
        and those that lie apart (`SparseBDR.belongs_nowhere`), also where a pair has them.
    must_link, cannot_link : sequence of pairs of samples, optional
        Samples that share a cluster, and samples that do not: pairs of their ids under the rule `ids`, or of their
        positions if the views have no ids. The labels agree with all of them.
    metadata : DataFrame or dict of name -> column, optional
        What is known about the samples, compared with the clusters afterwards: see `Clustering.metadata`. It has no
        effect on the clusters. A DataFrame is matched by its index if the views have ids, under the rule `ids`;
        anything else must be in the order of the samples.
    survival : (str, str), optional
        Columns of the metadata with a time and whether the event happened then (1) or not until then (0): see
        `Clustering.survival`. Needs the extra `survival`.
    covariates : DataFrame, Series, dict of name -> column, or names of columns of the metadata, optional
        Batches and numbers whose effects are removed from the views before the fit, by `jella.Adjuster`.
    adjust_views : sequence of str, optional
        Names of the views from which they are removed; by default all.
    progress : bool, default=False
        Whether a line on standard error says what is being done.
    random_state : int, Generator or RandomState, default=0
    **settings
        Other parameters of `jella.SparseBDR`, such as n_neighbors or scale.

    Returns
    -------
    Clustering

    Examples
    --------
    >>> import jella
    >>> digits = jella.datasets.load_digits_views()
    >>> some = {name: view[:300] for name, view in digits.data.items()}
    >>> found = jella.cluster(jella.datasets.make_incomplete(some, 0.3, random_state=0), 10)
    >>> found.labels.shape, found.n_clusters, int(found.sizes.sum())
    ((300,), 10, 300)
    >>> found  # doctest: +ELLIPSIS
    Clustering of 300 samples: 10 clusters (given)
      sizes       ...
      evidence    clear clusters: 10; modularity ...
      uncertain   ... with a probability below 0.6...
      view       features  missing  scaling      weight
      pixels           61     9.7%  ...
      fourier          34    10.7%  ...
      gradients        77     9.7%  ...
      ... sweeps, ... s
    """
    begin = perf_counter()
    check_settings(settings)
    with SweepLine(enabled=progress):
        views = aligned_views(views, observed, ids, samples, zero_rows)
        columns = metadata_columns(metadata, views, observed, ids)
        pair = check_survival(survival, columns)
        chosen = None if covariates is None else chosen_covariates(covariates, columns)
        settings = {"n_clusters": n_clusters, "random_state": random_state, **settings}
        told = {"must_link": pairs_by_rule(must_link, ids), "cannot_link": pairs_by_rule(cannot_link, ids)}
        model, adjusted = fit_model(views, observed, chosen, adjust_views, ids, settings, **told)
        evidence = model.gather_evidence()
        probabilities = model.label_probabilities_ if isinstance(model.labels_, np.ndarray) else None
        if noise and probabilities is None:
            raise ValueError("expected samples in memory with noise=True, got a Dask collection; compute some of them")
        own = np.asarray(model.labels_)
        labels = np.where(model.belongs_nowhere(), -1, own) if noise else model.labels_
        known, landmarks = np.asarray(labels)[np.asarray(labels) >= 0], np.sort(model.readout_.known.places)
        missing, entries = count_cells(views, observed)
        return Clustering(
            labels=labels,
            probabilities=probabilities,
            evidence=evidence,
            embedding=model.embedding_,
            n_clusters=model.n_clusters_,
            sizes=np.bincount(known, minlength=model.n_clusters_),
            sample_names=model.sample_names_in_,
            modularity=modularity(model.graph_ + model.graph_.T, own[landmarks]),
            model=model,
            n_missing=missing,
            adjuster=None if adjusted is None else adjusted.adjuster,
            about=MetadataFindings.of(columns, np.asarray(labels), read_views(views, observed), pair)
            if columns
            else None,
            seconds=perf_counter() - begin,
            _views=views if adjusted is None else adjusted.views,
            _observed=observed if adjusted is None else None,
            _turned=samples == "columns",
            _n_entries=entries,
            _adjusted=adjusted,
        )


def _largest_first(sizes: np.ndarray) -> str:
    ordered = np.sort(sizes)[::-1]
    more = f" … and {ordered.size - SHOWN_SIZES:,} more" if ordered.size > SHOWN_SIZES else ""
    return ", ".join(map(str, ordered[:SHOWN_SIZES])) + more
