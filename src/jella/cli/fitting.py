"""Choosing and fitting a method, for the commands that fit."""

from __future__ import annotations

import argparse
import ast
import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from jella.cli.completion import completion_settings
from jella.cli.numbers import whole
from jella.cli.signals import in_fit
from jella.cli.words import tell
from jella.numerics.progress import SweepLine, doing
from jella.numerics.words import closest_name

if TYPE_CHECKING:
    from jella.estimators.catalogue import Method
    from jella.estimators.on_device import Device


def method_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --method and the options for its parameters."""
    group = parser.add_argument_group("method")
    group.add_argument("--method", default="sparse-bdr", help="as `jella methods` lists them (default sparse-bdr)")
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


def clusters_argument(parser: argparse.ArgumentParser, **words: Any) -> None:
    """-k; words are accepted beside auto, and stand for their values."""
    named = " or ".join(["auto", *words])
    parser.add_argument(
        "-k",
        "--clusters",
        type=whole(1, auto=None, **words),
        default=None,
        metavar="K",
        help=f"number of clusters, or {named} (default auto)",
    )


def chosen_method(options: argparse.Namespace) -> Method:
    """The method that --method names."""
    from jella.estimators.catalogue import find_method

    return find_method(options.method)


def make_model(options: argparse.Namespace) -> Any:
    """The estimator that the options describe, not fitted."""
    method = chosen_method(options)
    known = method.kind().get_params()
    own = {"random_state": options.seed, "n_clusters": getattr(options, "clusters", None)}
    given = {name: value for name, value in own.items() if name in known}
    if "evidence" in known and not hasattr(options, "clusters"):
        given["evidence"] = False  # clusters are not asked for
    for text in options.set:
        name, equals, value = text.partition("=")
        if name not in known or not equals:
            close = f"write {name}=VALUE" if name in known else closest_name(name, known)
            raise ValueError(f"expected --set NAME=VALUE with a parameter of {method.name}, got {text!r}; {close}")
        given[name] = _value(value)
    given = completion_settings(options, method, known) | given
    if not options.quiet and "callback" in known:
        given["callback"] = SweepLine()
    return method.kind(**given)


def chosen_device(options: argparse.Namespace) -> Device | None:
    """The device that --device names, refused if the machine lacks it; None without the option."""
    if options.device is None:
        return None
    from jella.estimators.on_device import Device

    return Device.named(options.device)


def fit(model: Any, views: Any, device: Device | None, **told: Any) -> Any:
    """The fitted model, copied back from the device if there is one; each warning is printed once, on one line."""
    from jella.estimators.on_device import fit_on

    callback = getattr(model, "callback", None)
    line = callback if isinstance(callback, SweepLine) else nullcontext()
    with line, in_fit(), warnings.catch_warnings(record=True) as caught:
        doing("preparing: scaling, neighbours, start values")  # which may take most of the time
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module="dask|distributed")  # these warnings are about Dask, not about the fit
        model = fit_on(device, model, views, **told)
    if isinstance(line, SweepLine):
        for warning in {str(one.message) for one in caught}:
            tell(f"note: {' '.join(warning.split())}")
        model.set_params(callback=None)
    return model


def _value(text: str) -> Any:
    """The value of a Python literal; other text unchanged."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
