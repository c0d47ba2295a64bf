"""Choosing and fitting a method for the commands that do."""

from __future__ import annotations

import argparse
import ast
import sys
import time
import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from jella.numerics.progress import as_time

if TYPE_CHECKING:
    from jella.estimators.on_device import Device

_QUIET = 0.2  # seconds between two drawings


def method_arguments(parser: argparse.ArgumentParser, default: str = "sparse-bdr") -> None:
    """--method and its parameters."""
    group = parser.add_argument_group("method")
    group.add_argument("--method", default=default, help=f"as `jella methods` lists them (default {default})")
    group.add_argument(
        "--set",
        dest="set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a parameter of the method, e.g. --set n_neighbors=12; may be given several times",
    )
    group.add_argument(
        "--device", metavar="NAME", help="fit on this device with PyTorch, e.g. cuda (default: with NumPy)"
    )


def n_clusters(text: str) -> int | None:
    """The value of -k: a number, or None for 'auto'."""
    if text == "auto":
        return None
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 or auto, got {text!r}")
    return count


def make_model(options: argparse.Namespace, k: int | None = None) -> Any:
    """The estimator that the options name, unfitted."""
    from jella.estimators.catalogue import find_method

    method = find_method(options.method)
    known = method.kind().get_params()
    given = {"random_state": options.seed} if "random_state" in known else {}
    if "n_clusters" in known:
        if k is None and method.clusters and options.command == "cluster" and not method.can.chooses_n_clusters:
            raise ValueError(f"expected a number of clusters for {method.command_name}, got auto; pass -k NUMBER")
        given["n_clusters"] = k
    for text in options.set:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise ValueError(
                f"expected --set NAME=VALUE with a parameter of {method.name} ({', '.join(sorted(known))}), "
                f"got {text!r}; mend it"
            )
        given[name] = _value(value)
    if not options.quiet and "callback" in known:
        given["callback"] = SweepLine()
    return method.kind(**given)


def chosen_device(options: argparse.Namespace) -> Device | None:
    """What --device names, refused where it is not there; None without one."""
    if options.device is None:
        return None
    from jella.estimators.on_device import Device

    return Device.named(options.device)


def fit(model: Any, views: Any, device: Device | None) -> Any:
    """Fit, on the device where there is one; what the fit warns of is said once, in a line."""
    from jella.estimators.on_device import fit_on

    told = getattr(model, "callback", None)
    line = told if isinstance(told, SweepLine) else nullcontext()
    with line, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module="dask|distributed")  # they speak of themselves, not of the fit
        model = fit_on(device, model, views)
    if isinstance(line, SweepLine):
        for warning in {str(one.message) for one in caught}:
            print(f"jella: note: {' '.join(warning.split())}", file=sys.stderr)
        model.set_params(callback=None)
    return model


class SweepLine:
    """A callback that says how far a fit is, drawn over itself on a terminal and silent elsewhere."""

    def __init__(self) -> None:
        self.shown = 0.0
        self.drawn = False

    def __enter__(self) -> SweepLine:
        """Say what comes before the first sweep, which may be most of the time."""
        self._draw("preparing: scales, neighbours, a start")
        return self

    def __call__(self, progress: Any) -> None:
        """Say which sweep this was; of the last, what comes after it."""
        if progress.n_iter == progress.max_iter:
            self._draw("finishing: embedding, labels")
        elif time.monotonic() - self.shown > _QUIET:
            left = progress.seconds / progress.n_iter * (progress.max_iter - progress.n_iter)
            text = f"sweep {progress.n_iter} of at most {progress.max_iter}, objective {progress.objective:.6g}"
            self._draw(f"{text}, at most {as_time(left)} left")

    def _draw(self, text: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
            self.shown, self.drawn = time.monotonic(), True

    def __exit__(self, *error: object) -> None:
        """Wipe the line, also before a sentence on what went wrong."""
        if self.drawn:
            sys.stderr.write("\r\x1b[K")


def _value(text: str) -> Any:
    """A Python literal where it is one, else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
