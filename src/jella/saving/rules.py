"""What must hold inside the records of a file: shapes that agree, indices in range, finite numbers.

`check_record` is called for each record that a file holds, after the types of its fields. A package that registers
records of its own registers their rules too.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import sparse

from jella.evidence.confidence import Confidence
from jella.evidence.gather import ClusterEvidence
from jella.graphs.cluster_path import ClusterPath
from jella.problem.model import Blocks, Problem
from jella.problem.terms import Loss, Term
from jella.problem.terms.block_diagonal import BlockState
from jella.problem.terms.sample_norm import RobustState, SampleNorm
from jella.readout.base import FitSamples, Readout
from jella.readout.clusters import Clusters, KMeansClusters, NeighbourClusters
from jella.readout.landmarks import Landmarks
from jella.readout.low_rank import LowRankReadout
from jella.readout.neighbours import NeighbourReadout
from jella.solve.solver import Result
from jella.views import Schema, View, Views
from jella.views.adjustment import Adjustment
from jella.views.categories import FORMS, Category
from jella.views.checks import check_on_empty
from jella.views.effects import Covariate, Design
from jella.views.kinds import KINDS, Kinds
from jella.views.scaling import ALL_KINDS, Scaling, ViewScale


def require(holds: Any, wanted: str) -> None:
    """Refuse a part of a file for which a condition does not hold."""
    if not holds:
        raise ValueError(f"expected {wanted}, got something else")


def need_array(
    value: Any, shape: tuple[int | None, ...], what: str, kinds: str = "f", *, finite: bool = True
) -> np.ndarray:
    """The value, which must be an array of this shape (None: any length) and of these kinds of numbers."""
    fits = isinstance(value, np.ndarray) and value.ndim == len(shape) and value.dtype.kind in kinds
    fits = fits and all(wanted in (None, found) for wanted, found in zip(shape, value.shape, strict=True))
    if not fits:
        got = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        wanted_shape = "(" + ", ".join("any" if one is None else str(one) for one in shape) + ")"
        raise ValueError(f"expected an array {wanted_shape} for {what}, got {got}")
    if kinds == "f":
        require(value.dtype in (np.float32, np.float64), f"single or double precision for {what}")
        require(not finite or np.isfinite(value).all(), f"finite numbers for {what}")
    return value


def need_indices(value: Any, shape: tuple[int | None, ...], what: str, low: int, below: int) -> None:
    """Refuse what is not an array of whole numbers of this shape, between two bounds."""
    array = need_array(value, shape, what, "iu")
    require(array.size == 0 or (array.min() >= low and int(array.max()) < below), f"{what} from {low} to {below - 1}")


@singledispatch
def check_record(record: Any) -> None:
    """Refuse a record whose fields contradict each other; one without rules is accepted."""


@check_record.register
def _(schema: Schema) -> None:
    V = len(schema.names)
    require(V >= 1 and len(set(schema.names)) == V, "different names of views")
    require(len(schema.n_features) == len(schema.feature_names) == V, f"numbers and names of features of {V} views")
    require(all(1 <= width < 2**31 for width in schema.n_features), "views with features")
    require(V == 1 or not schema.is_single, "one view where there is a single array")
    for width, names in zip(schema.n_features, schema.feature_names, strict=True):
        require(names is None or len(names) == width, f"{width} names of features")
    require(len(schema.categories) in (0, V), f"categories of {V} views")
    for v, (names, width) in enumerate(zip(schema.feature_names, schema.n_features, strict=True)):
        check_categories(schema.categories_of(v), names, width)


@check_record.register
def _(category: Category) -> None:
    require(category.form in FORMS, f"a form of category among {FORMS}")
    require(category.first >= 0 and 1 <= len(set(category.levels)) == len(category.levels), "different levels")


def check_categories(categories: tuple[Category, ...], names: tuple[str, ...] | None, width: int) -> None:
    """Refuse categories whose indicators are not among the features of a view, or are not named after them."""
    stop = 0
    for category in categories:
        features = category.features
        require(features.start >= stop and features.stop <= width, f"categories within {width} features, in order")
        require(names is not None and names[features] == category.names, "features with the names of their levels")
        stop = features.stop


@check_record.register
def _(kinds: Kinds) -> None:
    require(len(kinds.by_view) == len(kinds.categories), "kinds and categories of the same views")
    for own, categories in zip(kinds.by_view, kinds.categories, strict=True):
        width = need_array(own, (None,), "kinds of features", "U").shape[0]
        require(np.isin(own, KINDS).all(), f"kinds among {KINDS}")
        indicators = np.zeros(width, dtype=bool)
        for category in categories:
            require(category.features.stop <= width, f"categories within {width} features")
            indicators[category.features] = True
        require(np.array_equal(indicators, own == "categorical"), "categorical features where there are categories")


@check_record.register
def _(view: View) -> None:
    shape = tuple(view.X.shape) if sparse.issparse(view.X) or isinstance(view.X, np.ndarray) else ()
    require(len(shape) == 2, "values (n, d) of a view")
    need_array(view.X.data if view.is_sparse else view.X, (None,) if view.is_sparse else shape, "the values of a view")
    mask = need_array(view.mask, (None, None), "the mask of a view", "b")
    require(mask.shape in ((1, 1), (shape[0], 1), shape), f"a mask that goes with values {shape}")
    require(not view.is_sparse or mask.shape[1] == 1, "a mask of whole samples for a sparse view")
    require(view.feature_names is None or len(view.feature_names) == shape[1], f"{shape[1]} names of features")
    check_categories(view.categories, view.feature_names, shape[1])
    hidden = ~mask
    if hidden.any():
        rows = hidden.any(axis=1) if mask.shape[1] == 1 else None
        under = view.X[np.flatnonzero(np.broadcast_to(rows, shape[:1]))] if rows is not None else view.X[hidden]
        require(not (under.data if view.is_sparse else under).any(), "zeros where nothing was observed")


@check_record.register
def _(views: Views) -> None:
    require(all(isinstance(view, View) for view in views.items), "views")
    require(len({view.n_samples for view in views.items}) <= 1, "views of the same samples")
    require(len(set(views.names)) == len(views.items), "different names of views")


@check_record.register
def _(scale: ViewScale) -> None:
    require(scale.kind in ALL_KINDS and scale.kind != "auto", "a known kind of scale")
    require(0 < scale.root_weight < np.inf, "a positive weight of a view")
    if scale.center is not None:
        need_array(scale.center, (None,), "the centre of a scale")
    if scale.spread is not None:
        require(np.all(need_array(scale.spread, (None,), "the spread of a scale") > 0), "a positive spread")


@check_record.register
def _(scaling: Scaling) -> None:
    if scaling.log_norms is not None:
        norms = need_array(scaling.log_norms, (None, len(scaling.scales)), "norms of samples", finite=False)
        require(not np.isinf(norms).any(), "finite norms of samples")
    require(scaling.log_norms is not None or not any(one.by_norm for one in scaling.scales), "norms of the samples")


@check_record.register
def _(covariate: Covariate) -> None:
    width = need_array(covariate.centre, (None,), "the centre of a covariate").size
    levels = covariate.levels
    require(width == (1 if levels is None else len(levels)), "a centre of the covariate")
    require(levels is None or len(set(levels)) == len(levels) >= 2, "different values of a covariate")
    require(0 < covariate.unit < np.inf, "a positive unit of a covariate")


@check_record.register
def _(design: Design) -> None:
    names = [one.name for one in design.covariates]
    require(names and len(set(names)) == len(names), "different covariates")


@check_record.register
def _(adjustment: Adjustment) -> None:
    schema = adjustment.schema
    widths, p = dict(zip(schema.names, schema.n_features, strict=True)), adjustment.design.groups.size
    require(adjustment.effects.keys() <= widths.keys(), "effects on the views")
    for name, effects in adjustment.effects.items():
        need_array(effects, (p, widths[name]), "effects of covariates")
    own = [kinds.size for kinds in adjustment.kinds.by_view]
    require(own == list(schema.n_features), "kinds of the values of all views")


def check_widths(scaling: Scaling, widths: list[int]) -> None:
    """Refuse a scaling that does not go with views of these numbers of features."""
    require(len(scaling.scales) == len(widths), f"scales of {len(widths)} views")
    for scale, width in zip(scaling.scales, widths, strict=True):
        require(scale.center is None or scale.center.shape == (width,), f"a centre of {width} features")
        require(scale.spread is None or scale.spread.shape in ((1,), (width,)), f"a spread of {width} features")


@check_record.register
def _(samples: FitSamples) -> None:
    m = need_array(samples.prints, (None,), "fingerprints", "u").shape[0]
    require(samples.prints.dtype == np.uint64, "fingerprints of 64 bits")
    need_indices(samples.places, (m,), "places of samples", 0, 2**48)
    require(np.unique(samples.places).size == m, "a place for each sample")
    shape = need_array(samples.own, (m, None), "the embedding").shape
    need_array(samples.shown, shape, "the embedding")
    if samples.labels is not None:
        need_indices(samples.labels, (m,), "labels", 0, max(m, 1))


@check_record.register
def _(landmarks: Landmarks) -> None:
    require(1 <= landmarks.n_landmarks <= landmarks.n_samples, "no more landmarks than samples")
    require(landmarks.recall is None or 0 <= landmarks.recall <= 1, "a recall from 0 to 1")
    if landmarks.near is not None:
        need_indices(landmarks.near, (None, None), "nearest landmarks", -1, landmarks.n_landmarks)


@check_record.register
def _(clusters: KMeansClusters) -> None:
    need_array(clusters.kmeans.cluster_centers_, (None, None), "centres of clusters")


@check_record.register
def _(clusters: NeighbourClusters) -> None:
    require(clusters.n_clusters >= 1, "at least one cluster")


@check_record.register
def _(path: ClusterPath) -> None:
    m = need_array(path.numbers, (None,), "numbers of clusters", "iu").shape[0]
    require(m >= 1 and path.n_clusters >= 1 and path.best in path.numbers, "the best of the numbers of clusters")
    need_array(path.modularity, (m,), "modularity")
    for values in (path.gap, path.expected, path.spread, path.stability, path.expected_stability):
        need_array(values, (m,), "evidence for numbers of clusters", finite=False)
    need_array(path.partitions, (None, None), "partitions", "iu")
    valley = need_array(path.valley, (None,), "valleys between clusters", finite=False)
    require(valley.size in (0, m) and path.dimension >= 0, "a valley per number of clusters")
    apart = need_array(path.apart, (None,), "least valleys between clusters", finite=False)
    require(apart.size in (0, m), "a least valley per number of clusters")
    require(min(path.cloud_valley, path.dealt_valley) >= 0, "valleys of data without groups")


@check_record.register
def _(confidence: Confidence) -> None:
    require(0 < confidence.sharpness < np.inf and 0 < confidence.floor < np.inf, "positive sharpness and floor")
    require(0 <= confidence.doubt <= 1, "a doubt from 0 to 1")
    curve = need_array(confidence.curve, (None, None), "a curve of agreement")
    require(curve.shape[0] in (0, 2) and np.all(np.diff(curve) >= 0), "a curve that never falls")
    require(np.all((curve >= 0) & (curve <= 1)), "shares from 0 to 1")
    need_array(confidence.table, (None, 3), "a table of agreement")
    need_array(confidence.by_cluster, (None,), "agreement by cluster", finite=False)


@check_record.register
def _(evidence: ClusterEvidence) -> None:
    require(isinstance(evidence.path, ClusterPath) and isinstance(evidence.confidence, Confidence), "evidence")


@check_record.register
def _(problem: Problem) -> None:
    require(isinstance(problem.loss, Loss), "a loss")
    require(all(isinstance(term, Term) for term in (*problem.basis, *problem.embedding)), "terms")


@check_record.register
def _(state: RobustState) -> None:
    require(np.all(need_array(state.view_weights, (None,), "weights of views") >= 0), "weights of at least zero")


def check_readout(readout: Readout) -> None:
    """Refuse a readout whose parts do not go together: the rules of all kinds."""
    check_on_empty(readout.on_empty)
    require(readout.bases, "bases")
    r = need_array(readout.bases[0], (None, None), "a basis").shape[1]
    require(r >= 1, "at least one component")
    for U in readout.bases:
        need_array(U, (None, r), "a basis")
        require(U.dtype == readout.bases[0].dtype, "bases of one precision")
    check_widths(readout.scaling, [U.shape[0] for U in readout.bases])
    if readout.known is not None:
        require(readout.known.own.shape[1] == r, f"an embedding of {r} components")
    clusters = readout.clusters
    require(clusters is None or isinstance(clusters, Clusters), "clusters")
    if isinstance(clusters, KMeansClusters):
        need_array(clusters.kmeans.cluster_centers_, (None, r), "centres of clusters")


check_record.register(Readout, check_readout)


@check_record.register
def _check_low_rank(readout: LowRankReadout) -> None:
    check_readout(readout)
    require(all(term.separable for term in readout.problem.embedding), "terms that treat each sample by itself")
    require(readout.problem.basis == () and readout.problem.neighbours is None, "a problem of new samples")
    state = readout.loss_state
    require(state is None or isinstance(state, RobustState), "a state of the loss")
    require(state is None or state.view_weights.size == len(readout.bases), "a weight per view")
    require((state is not None) == isinstance(readout.problem.loss, SampleNorm), "a state where the loss has one")


@check_record.register
def _(readout: NeighbourReadout) -> None:
    _check_low_rank(readout)
    samples, known = readout.samples, readout.known
    require(isinstance(samples, Views) and known is not None, "the samples of the fit")
    assert known is not None
    m = known.prints.size
    widths = [U.shape[0] for U in readout.bases]
    require(m >= 1 and [view.n_features for view in samples] == widths, f"samples with {widths} features")
    require(all(view.n_samples == m for view in samples), f"{m} samples")
    need_indices(readout.near, (m, None), "neighbours", -1, m)
    require(1 <= readout.n_neighbors <= m, "no more neighbours than samples")
    clusters = readout.clusters
    require(clusters is None or isinstance(clusters, NeighbourClusters), "clusters of neighbours")
    if isinstance(clusters, NeighbourClusters):
        require(clusters.n_clusters <= m and known.labels is not None, "labels of no more clusters than samples")
        need_indices(known.labels, (m,), "labels", 0, clusters.n_clusters)
    require(0 <= readout.pull < np.inf, "a finite weight of the neighbours")


@check_record.register
def _(state: BlockState) -> None:
    n, r = need_array(state.W, (None, None), "W of a block-diagonal term").shape
    need_array(state.M, (r, r), "M of a block-diagonal term")
    need_array(state.T, (n, r), "T of a block-diagonal term")
    for matrix in (state.affinity, state.previous):
        is_sparse = sparse.issparse(matrix)
        need_array(matrix.data if is_sparse else matrix, (None,) if is_sparse else (n, n), "an affinity")
        require(matrix.shape == (n, n), f"an affinity of {n} samples")
    if state.indicator is not None:
        need_array(state.indicator, (n, None), "the indicator of an affinity")


@check_record.register
def _(blocks: Blocks) -> None:
    require(blocks.bases, "bases")
    r = need_array(blocks.bases[0], (None, None), "a basis").shape[1]
    for U in blocks.bases:
        need_array(U, (None, r), "a basis")
    for states in blocks.basis_states:
        require(len(states) == len(blocks.bases), "a state per view")
        for U, state in zip(blocks.bases, states, strict=True):
            if state is not None:
                need_array(state, U.shape, "the state of a term on a basis")
    if blocks.embedding is None:
        return
    n = need_array(blocks.embedding, (None, r), "the embedding").shape[0]
    for state in blocks.embedding_states:
        if isinstance(state, BlockState):
            require(state.W.shape == (n, r), f"the state of {n} samples")
        elif state is not None:
            need_array(state, (n, n), "the state of a term on the embedding")


@check_record.register
def _(result: Result) -> None:
    m = need_array(result.objective, (None,), "the objective").shape[0]
    for values in result.history.values():
        need_array(values, (m,), "the history of a term")
    require(0 <= result.seconds < np.inf, "seconds")
