"""k-means on the rows of an embedding: one thread, so that no digit depends on the number of cores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from threadpoolctl import threadpool_limits

from jella.numerics import kmeans as module
from jella.numerics.kmeans import kmeans, one_thread


def test_the_limit_ends_with_its_block():
    with threadpool_limits(2, user_api="openmp"):
        before = _openmp_effective_n_threads()  # two, if the machine has them
        with one_thread():
            assert _openmp_effective_n_threads() == 1
        assert _openmp_effective_n_threads() == before


def test_the_result_does_not_depend_on_the_threads_that_are_allowed(monkeypatch):
    W = np.random.default_rng(0).normal(size=(3000, 6))
    seen = []

    class Watched(KMeans):
        def fit(self, *arguments):
            seen.append(_openmp_effective_n_threads())
            return super().fit(*arguments)

    monkeypatch.setattr(module, "KMeans", Watched)
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads, user_api="openmp"):
            found.append(kmeans(W, 7, 2, 0))
    assert seen == [1, 1, 1]
    for other in found[1:]:
        np.testing.assert_array_equal(other.cluster_centers_, found[0].cluster_centers_)


def test_a_generator_gives_the_seed():
    W = np.random.default_rng(0).normal(size=(60, 2))
    one, two = (kmeans(W, 3, 1, np.random.default_rng(5)).inertia_ for _ in range(2))
    assert one == pytest.approx(two, rel=0)


def test_starts_are_compared_on_a_part_of_many_rows(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 20  # a part of every tenth row would lack most clusters
    W = 6.0 * rng.normal(size=(20, 4))[y] + rng.normal(size=(4000, 4))
    whole = kmeans(W, 20, 10, 0)
    monkeypatch.setattr(module, "COMPARED", 10)
    monkeypatch.setattr(module, "PER_CLUSTER", 20)
    found = kmeans(W, 20, 10, 0)
    assert found.n_iter_ <= whole.max_iter
    assert len(found.labels_) == 4000
    assert found.inertia_ < 1.02 * whole.inertia_
    np.testing.assert_array_equal(found.labels_, found.predict(W))
