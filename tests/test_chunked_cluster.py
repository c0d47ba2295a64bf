"""Fits on a cluster of worker processes: the same results, also when a worker dies; a sentence when all do."""

import os
import signal
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from test_chunked import METHODS, grouped, lazy, same

import jella
from jella.solve.samples import SamplesLostError

distributed = pytest.importorskip("distributed", reason="distributed is not installed")


@pytest.fixture(autouse=True)
def _small_chunks_count(monkeypatch):
    import jella.distributed.read

    monkeypatch.setattr(jella.distributed.read, "WORTH_A_TASK", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.mark.parametrize("name", ["MVLIV", "DAIMC", "SparseBDR"])
def test_worker_processes_give_what_memory_gives(client, name):
    views = grouped("incomplete-view")
    whole, chunked = clone(METHODS[name]).fit(views), clone(METHODS[name]).fit(lazy(views))
    same(chunked, whole)
    X = lazy(views)
    for ours, theirs in zip(chunked.complete(X), whole.complete(views), strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-8)


def test_robust_kmeans_on_worker_processes(client):
    views = grouped("missing-view")
    same(clone(METHODS["IRMKMC"]).fit(lazy(views)), clone(METHODS["IRMKMC"]).fit(views))


class Killer:
    """A callback that kills a worker process after the second sweep."""

    def __init__(self, client):
        self.client, self.killed = client, None

    def __call__(self, progress):
        if self.killed is None and progress.n_iter == 2:
            pids = self.client.run(os.getpid)
            self.killed = next(iter(pids.values()))
            os.kill(self.killed, signal.SIGKILL)


def _is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc").exists() else True


@pytest.mark.parametrize("method", [jella.DAIMC, jella.SparseBDR])
def test_a_killed_worker_changes_nothing(client, method):
    views, killer = grouped("incomplete-view"), Killer(client)
    whole = method(3, max_iter=8, tol=0.0, random_state=0).fit(views)
    chunked = method(3, max_iter=8, tol=0.0, random_state=0, callback=killer).fit(lazy(views, (5, 7, 9)))
    assert killer.killed is not None
    same(chunked, whole)
    assert not _is_running(killer.killed)


def test_losing_all_workers_is_a_sentence_and_keeps_the_last_sweep(monkeypatch):
    import jella.distributed.scheduler

    monkeypatch.setattr(jella.distributed.scheduler, "POLL", 0.1)
    monkeypatch.setattr(jella.distributed.scheduler, "GRACE", 0.5)
    views = grouped("incomplete-view")
    whole = jella.MVLIV(3, max_iter=3, tol=0.0).fit(views)
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options, silence_logs=50) as cluster, distributed.Client(cluster) as client:

        def lose(progress):
            if progress.n_iter == 3:
                cluster.scale(0)
                while client.nthreads():
                    time.sleep(0.05)

        model = jella.MVLIV(3, max_iter=10, tol=0.0, callback=lose, warm_start=True)
        with pytest.raises(SamplesLostError, match=r"all workers are gone; start some: the fit ended after 3 sweeps"):
            model.fit(lazy(views))
        assert model.result_.stop_reason == "samples lost"
        np.testing.assert_allclose(model.objective_[:-1], whole.objective_[:-1], rtol=1e-8)
        cluster.scale(1)
        client.wait_for_workers(1, timeout=30)
        # of the last sweep, or what its bases make of the samples
        assert np.isfinite(np.asarray(model.embedding_)).all()
        last = model.objective_[-1]
        again = model.set_params(callback=None, max_iter=2).fit(lazy(views))
        assert again.objective_[-1] < last
