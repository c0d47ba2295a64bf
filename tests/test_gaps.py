"""Groups that hardly an edge of the neighbour graph leaves: they are the labels, however curved or unequal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_circles

import jella
from jella.graphs.confirmed import label_neighbours
from jella.graphs.gaps import groups_apart, leaving
from jella.metrics import adjusted_rand


def unequal(rng, n=200, share=0.15, gap=8.0):
    y = (np.arange(n) < share * n).astype(int)
    return rng.normal(size=(n, 2)) + gap * y[:, None] * np.array([0.6, 0.8]), y


def labelled(X, k=2):
    return jella.SparseBDR(k, evidence=False, random_state=0).fit([X]).labels_


def test_a_far_group_of_few_samples_is_found(rng):
    X, y = unequal(rng)
    assert adjusted_rand(y, labelled(X)) == 1.0


def test_rings_are_found():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    assert adjusted_rand(y, labelled(X)) == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_of_more_groups_than_asked_for_the_nearest_are_joined(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 30)
    near, far = np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    X = rng.normal(size=(90, 6)) + np.stack([-4 * near, 4 * near, 40 * far])[y]
    assert adjusted_rand(y == 2, labelled(X)) == 1.0


def blocks(sizes, between=0.0):
    owner = np.repeat(np.arange(len(sizes)), sizes)
    graph = np.where(owner[:, None] == owner, 1.0, between)
    return graph, owner


def test_groups_are_apart_if_hardly_an_edge_leaves_them():
    graph, y = blocks([20, 30, 15])
    assert adjusted_rand(y, groups_apart(graph, 3)) == 1.0
    np.testing.assert_allclose(leaving(graph, y), 0.0, atol=1e-12)
    graph, y = blocks([20, 30, 15], between=0.05)
    assert leaving(graph, y).max() > 0.1
    assert groups_apart(graph, 3) is None


@pytest.mark.parametrize("k", [1, 2, 4, 65])
def test_another_number_of_groups_is_not_apart(k):
    graph, _ = blocks([20, 30, 15])
    assert groups_apart(graph, k) is None


@pytest.mark.parametrize("told", [None, 3])
def test_labels_are_the_same_with_neighbours_that_are_known_already(told, rng):
    X = rng.normal(size=(240, 6)) + 2.0 * np.eye(6)[np.arange(240) % 3]
    model = jella.SparseBDR(3, evidence=False, random_state=0).fit([X])
    readout = model._refit(model.read([X]), n_clusters=told)
    assert readout.found.shape[1] == (10 if told is None else label_neighbours(240, 3, 10))
    assert replace(readout).found is None
    np.testing.assert_array_equal(readout.find_labels(3, 10, 0), replace(readout).find_labels(3, 10, 0))


def test_bursts_of_near_duplicates_are_no_groups():
    graph, _ = blocks([100, 5, 5])
    assert groups_apart(graph, 3) is None
