"""`--dask`: fits of Parquet parts on a cluster.

Completed values are never sent to this process, and the embedding only if the method solves samples together (IMCL);
SparseBDR fetches its landmarks. Distributed imports this module in the workers that this process starts, and calls
`dask_setup` in them.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jella.cli.fitting import chosen_method, fit, make_model
from jella.cli.place import Out
from jella.cli.signals import deaf_to_ctrl_c
from jella.cli.words import say

if TYPE_CHECKING:
    from jella.cli.write_parts import FittedInParts

LOCAL = "local"
_PATIENCE = 10  # seconds to wait for a scheduler, or its first worker
#: each worker is a process with one thread, so these libraries must not start more threads
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
#: options for reading that have no meaning for Parquet, and their defaults
_OF_OTHER_FILES: dict[str, Any] = {
    "labels": None,
    "missing": [],
    "non_numeric": "categories",
    "samples": "auto",
    "ids": "exact",
    "zero_rows": "observed",
    "metadata": None,
    "must_link": None,
    "cannot_link": None,
}


def dask_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --dask and its address."""
    group = parser.add_argument_group("data that do not fit into memory")
    group.add_argument(
        "--dask",
        nargs="?",
        const=LOCAL,
        type=_address,
        metavar="ADDRESS",
        help="fit Parquet files in parts with Dask: on the cores of this machine, or on the cluster of the scheduler "
        "at ADDRESS, e.g. tcp://host:8786",
    )


def _address(text: str) -> str:
    if text != LOCAL and not re.fullmatch(r"\w+://.+|[^/\\]+:\d+", text):
        raise argparse.ArgumentTypeError(
            f"expected the address of a scheduler such as tcp://host:8786, got {text!r}; name DATA before --dask"
        )
    return text


def _data_name(options: argparse.Namespace) -> str:
    """The name of DATA in a summary."""
    from jella.io.parquet_files import view_name

    return view_name(Path(options.data[0]).absolute()) if len(options.data) == 1 else "tables"


@contextmanager
def fitted_on_dask(options: argparse.Namespace, place: Out) -> Iterator[FittedInParts]:
    """The model that the options describe, fitted on their cluster."""
    from jella.cli.write_parts import FittedInParts
    from jella.io.partitions import find_partitions, open_all
    from jella.solve.samples import SamplesLostError

    _check(options)
    model = make_model(options)
    say(options, "reading")
    sources = find_partitions(options.data if len(options.data) > 1 else options.data[0], id_column=options.id_column)
    try:
        with _quiet(), _connected(options) as client:
            folder = place.folder
            _check_shared(client, folder)
            workers = len(client.nthreads())
            say(options, f"fitting on {workers} workers, their work is shown at {client.dashboard_link}")
            X = open_all(sources)
            where = {"dask": {"where": options.dask, "workers": workers}}
            yield FittedInParts(options, fit(model, X, None), folder, _data_name(options), where, X, sources)
    except SamplesLostError as error:
        lost = str(error).partition(": the fit ended")[0]
        raise ValueError(f"expected workers until all is written, got a cluster that was lost: {lost}") from error


def _check(options: argparse.Namespace) -> None:
    """Refuse options that cannot be combined with --dask, before anything is started."""
    from jella.estimators.catalogue import methods

    if not options.data:
        raise ValueError("expected Parquet files or folders with the data, got none; name them after the command")
    if options.device is not None:
        raise ValueError("expected --dask or --device, got both; leave one of them out")
    for name in ("interval", "kinds"):
        if getattr(options, name):
            raise ValueError(f"expected samples in memory with --{name}, got --dask; leave one of them out")
    for name, default in _OF_OTHER_FILES.items():
        if getattr(options, name, default) != default:
            given = name.replace("_", "-")
            raise ValueError(f"expected only --id-column to read Parquet with --dask, got --{given}; leave it out")
    if chosen_method(options).can.not_in_chunks is not None:
        able = ", ".join(method.command_name for method in methods().values() if method.can.not_in_chunks is None)
        raise ValueError(
            f"expected a method that takes samples in parts ({able}) with --dask, got {options.method}; leave --method "
            "out for sparse-bdr"
        )


# the cluster


@contextmanager
def _quiet() -> Iterator[None]:
    """Log only errors, and ignore warnings of Dask about itself."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="distributed|dask")
            yield
    finally:
        logging.disable(before)


def _connected(options: argparse.Namespace) -> AbstractContextManager[Any]:
    """A client of the cluster; a cluster that was started for it is closed with it."""
    from jella.io.errors import need

    distributed = need("distributed", "dask")
    if options.dask == LOCAL:
        say(options, "starting workers")
        return _started(distributed)
    return _found(distributed, options.dask)


@contextmanager
def _started(distributed: Any) -> Iterator[Any]:
    """A client of worker processes on this machine, one per core."""
    with deaf_to_ctrl_c():  # a cluster that is partly started or closed would print tracebacks
        # the error of a task is raised in this process; at the end workers would only log that others are gone
        cluster = distributed.LocalCluster(
            threads_per_worker=1, processes=True, silence_logs=logging.CRITICAL, env=_ONE_THREAD, preload=[__name__]
        )
        client = distributed.Client(cluster)
    try:
        yield client
    finally:
        with deaf_to_ctrl_c():
            client.close()
            cluster.close()


@contextmanager
def _found(distributed: Any, address: str) -> Iterator[Any]:
    """A client of a cluster that already runs; it is not closed."""
    with ExitStack() as stack:
        try:
            client = stack.enter_context(distributed.Client(address, timeout=_PATIENCE))
            client.wait_for_workers(1, timeout=_PATIENCE)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"expected a Dask scheduler with workers at {address}, got none in {_PATIENCE} seconds; start them "
                "with `dask scheduler` and `dask worker`, or leave the address out to use this machine"
            ) from error
        yield client


def dask_setup(worker: Any) -> None:
    """Prepare a worker, also one that starts later: it ignores Ctrl-C, and does not repeat warnings."""
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    threadpool_limits(1)  # for libraries that were loaded before the environment was set


def _check_shared(client: Any, folder: Path) -> None:
    """Refuse a cluster whose workers do not see the folder; it is new, so no worker has another one of that name."""
    place = folder.absolute()
    blind = [worker for worker, sees in client.run(os.path.isdir, str(place)).items() if not sees]
    if blind:
        raise ValueError(
            f"expected a folder for the results that all workers see, got one under {str(place.parent)!r}, which "
            f"the worker at {blind[0]} does not; write where all machines do"
        )
