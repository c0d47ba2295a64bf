"""An estimator in a file: the name of its class, its parameters, and the attributes that a fit set."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from jella._version import __version__
from jella.saving.archive import open_archive, write_archive
from jella.saving.hints import check_hint, hints_of
from jella.saving.kinds import UnsaveableError
from jella.saving.tree import Decoder, Encoder, Node
from jella.views.containers import is_dask

#: version of the format; files of other versions are refused
FORMAT = 3
#: parameters that are code and used during a fit only: not saved
NOT_KEPT = ("callback",)
#: the modules that define estimators: a file may name only these
HOME = "jella.estimators."
#: what scikit-learn sets besides the fit: the container that `transform` returns
OUTPUT = "_sklearn_output_config"


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write an estimator to a file; see `BaseMultiView.save`."""
    cls = type(model)
    if not cls.__module__.startswith(HOME):
        raise ValueError(
            f"expected an estimator of jella, got the class {cls.__qualname__} of {cls.__module__}; save it with pickle"
        )
    encoder = Encoder()
    settings = model.get_params(deep=False)
    fitted = {name: value for name, value in vars(model).items() if name not in settings}
    fitted = {name: _in_memory(value) for name, value in fitted.items() if not is_dask(value) and name != "_files"}
    for name in fitted:
        if name not in fitted_names(cls):
            raise ValueError(
                f"expected attributes that a fit of {cls.__name__} sets, got the attribute {name}; delete it, or "
                "pickle the model"
            )
    description = {
        "format": FORMAT,
        "jella": __version__,
        "class": cls.__name__,
        "parameters": {
            name: _encode(encoder, value, f"the parameter {name}", "change it with set_params")
            for name, value in settings.items()
            if name not in NOT_KEPT
        },
        "fitted": {
            name: _encode(encoder, value, f"the attribute {name}", "delete it") for name, value in fitted.items()
        },
        "shared": encoder.shared,
    }
    write_archive(path, description, encoder.arrays)


def load_as(path: str | os.PathLike[str], known: Mapping[str, type[Any]], check: Callable[[Any], None]) -> Any:
    """The estimator in a file; its class must be one of the known ones, and `check` refuses what no fit gives."""
    with open_archive(path) as archive:
        description = archive.description()
        cls = _known_class(description, known)
        decoder = Decoder(archive.array, description["shared"])
        model = cls(**{name: decoder.decode(node) for name, node in description["parameters"].items()})
        declared = hints_of(type(model))  # type: ignore[arg-type]
        for name, node in description["fitted"].items():
            value = decoder.decode(node)
            if name not in fitted_names(cls):
                raise ValueError(f"expected attributes that a fit of {cls.__name__} sets, got {name!r}")
            check_hint(value, declared.get(name, Any), name)
            setattr(model, name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a wrong number is refused, however it was noticed
            check(model)
    return model


def fitted_names(cls: type) -> set[str]:
    """The attributes that a fit may set: those that the class declares with a trailing underscore."""
    return {name for name in hints_of(cls) if name.endswith("_") and not name.startswith("_")} | {OUTPUT}


def _in_memory(value: Any) -> Any:
    """A result without its embedding if that is in chunks; any other value unchanged."""
    blocks = getattr(value, "blocks", None)
    if blocks is None or not is_dask(blocks.embedding):
        return value
    return replace(value, blocks=replace(blocks, embedding=None))


def _known_class(description: dict[str, Any], known: Mapping[str, type[Any]]) -> type[Any]:
    wanted = {"format", "jella", "class", "parameters", "fitted", "shared"}
    if not isinstance(description, dict) or description.keys() != wanted:
        raise ValueError(f"expected a description with {sorted(wanted)}, got another")
    version, name, written = description["format"], description["class"], description["jella"]
    if type(version) is not int or version < 1:
        raise ValueError(f"expected format {FORMAT}, got {version!r}, of jella {written!r}; save the model again")
    if version != FORMAT:
        way_out = "update jella" if version > FORMAT else "fit the model again"
        raise ValueError(f"expected format {FORMAT}, got {version!r}, of jella {written!r}; {way_out}")
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"expected one of the estimators {sorted(known)}, got {name!r}; update jella")
    return known[name]


def _encode(encoder: Encoder, value: Any, where: str, way_out: str) -> Node:
    try:
        return encoder.encode(value)
    except UnsaveableError as error:
        raise ValueError(
            f"expected numbers, text, arrays and parts of jella to save, got {error} in {where}; {way_out}, or pickle "
            "the model"
        ) from None
