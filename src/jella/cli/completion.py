"""Completed views on the command line: options, calibration on hidden values, files, and what is said about them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jella.cli.fitted import Record
from jella.cli.numbers import share
from jella.cli.signals import in_fit
from jella.numerics.progress import StatusLine, doing

if TYPE_CHECKING:
    from jella.estimators.catalogue import Method
    from jella.io import Dataset
    from jella.oneshot.completed import Completed

PLAIN = "the values are those of one uncorrected model"
CUT = f"calibration interrupted: {PLAIN}"


# options


def interval_argument(parser: Any) -> None:
    """Add --interval."""
    parser.add_argument(
        "--interval",
        type=share,
        metavar="SHARE",
        help="also write intervals that hold this share of the true values, e.g. 0.9 (sparse-bdr)",
    )


def completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a completion."""
    group = parser.add_argument_group("completed values")
    interval_argument(group)
    group.add_argument(
        "--kinds",
        metavar="[VIEW=]KIND",
        action="append",
        default=[],
        help="kind of the values of a view, or of all: real, amount, count, proportion or binary (sparse-bdr; default: "
        "detected); may be given several times",
    )
    group.add_argument(
        "--no-calibrate",
        action="store_true",
        help="do not weigh and correct predictions on hidden values, which takes a few fits (sparse-bdr)",
    )


def completion_settings(options: argparse.Namespace, method: Method, known: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a model that the options of a completion give; refused where the method has none."""
    kinds, plain = getattr(options, "kinds", None), getattr(options, "no_calibrate", False)
    given = {"--kinds": bool(kinds), "--no-calibrate": plain, "--interval": getattr(options, "interval", None)}
    for option, there in given.items():
        if there and "calibrate" not in known:
            raise ValueError(
                f"expected a method that learns from hidden values (sparse-bdr) with {option}, got "
                f"{method.command_name}; leave {option} out"
            )
    if plain and given["--interval"] is not None:
        raise ValueError("expected --interval or --no-calibrate, got both; leave one of them out")
    found: dict[str, Any] = {"kinds": given_kinds(options)} if kinds else {}
    return found | ({"calibrate": False} if plain else {})


def given_kinds(options: argparse.Namespace) -> Any:
    """A kind for all views, or a dict of view -> kind; None if none is given."""
    texts: list[str] = getattr(options, "kinds", None) or []
    if not texts:
        return None
    if texts == [text for text in texts if "=" in text]:
        return {view: kind for view, _, kind in (text.rpartition("=") for text in texts)}
    if len(texts) > 1:
        raise ValueError(f"expected one --kinds KIND, or several --kinds VIEW=KIND, got {texts}; name the views")
    return texts[0]


# calibration


def calibrate(model: Any, *, quiet: bool) -> bool:
    """Let a model that can learn from hidden values do so; whether it could finish.

    Ctrl-C ends this as it ends a fit: what was fitted stays, and the model completes without what it would have
    learned.
    """
    if not hasattr(model, "learn_completion"):
        return True
    with StatusLine(enabled=not quiet), in_fit():
        doing("calibrating on hidden values")
        try:
            model.learn_completion()
        except KeyboardInterrupt:
            model.imputer_ = None
            return False
    return True


# files


def write_completed(done: Completed, dataset: Dataset, folder: Path) -> None:
    """Write completed views, their intervals and the probabilities of levels."""
    from jella.io import write_views
    from jella.io.write import has_layers
    from jella.views.intervals import LOWER, UPPER

    ends = {} if done.lower is None else {LOWER: dict(done.lower), UPPER: dict(done.upper)}
    own, new = _parted(done.views, dataset)
    if ends and has_layers(dataset):
        layers = {name: _parted(views, dataset)[0] for name, views in ends.items()}
        write_views(own, folder / "completed", like=dataset, layers=layers)
    else:
        write_views(own, folder / "completed", like=dataset)
        for name, views in ends.items():
            write_views(_parted(views, dataset)[0], folder / name, like=dataset)
    if new:
        write_views(new, folder / "predicted")
        for name, views in ends.items():
            write_views(_parted(views, dataset)[1], folder / name.replace("completed", "predicted"))
    if done.probabilities:
        write_views(done.probabilities, folder / "probabilities")


def _parted(views: Mapping[str, Any], dataset: Dataset) -> tuple[dict[str, Any], dict[str, Any]]:
    """The views that the data have, and those that they lack."""
    own = {name: views[name] for name in dataset.views}
    return own, {name: view for name, view in views.items() if name not in own}


# words


def completion_record(model: Any, done: Completed, *, cut: bool) -> Record:
    """What run.json says about completed values."""
    record: Record = {"calibrated": done.quality is not None}
    if hasattr(model, "kinds_"):
        record["kinds"] = model.kinds_.summary(model.view_names_in_)
    if done.quality is not None:
        return record | {"calibration_seconds": round(model.imputer_.seconds, 3)} | done.quality.as_record()
    from jella.estimators.interrupted import was_interrupted

    why = "the fit was interrupted" if was_interrupted(model) else "none of the values can be hidden"
    return record | {"notes": [CUT] if cut else uncalibrated(model, why)}


def uncalibrated(model: Any, why: str) -> list[str]:
    """A note that a model was not calibrated, if it should have been."""
    return [f"not calibrated, since {why}: {PLAIN}"] if getattr(model, "calibrate", False) else []


def note_lines(record: Record) -> list[str]:
    """A line per note on completed values."""
    return [f"note: {note}" for note in record.get("notes", ())]


def error_line(record: Record) -> str:
    """A line on the estimated error."""
    own = record.get("standard_error")
    more = "" if own is None else f" ± {own:.3f}"
    return (
        f"error on hidden values, in standard deviations of a feature: {record['error']:.3f}{more}; "
        f"the mean's: {record['mean_error']:.3f}"
    )
