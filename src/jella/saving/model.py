"""An estimator in a file: the name of its class, its parameters, and the attributes that a fit set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jella._version import __version__
from jella.saving.archive import open_archive, write_archive
from jella.saving.kinds import UnsaveableError
from jella.saving.tree import Decoder, Encoder, Node
from jella.views.containers import is_dask

#: version of the format; files of other versions are refused
FORMAT = 2
#: parameters that are code and used during a fit only: not saved
NOT_KEPT = ("callback",)
#: the modules that define estimators: a file may name only these
HOME = "jella.estimators."


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
    readout = fitted.get("readout_")
    if readout is not None and not readout.in_memory:
        raise ValueError(
            f"expected a model that has the samples it needs in memory, got {cls.__name__} fitted on a Dask "
            "collection; keep its embedding_ and labels_, or fit MVLIV, which needs no samples"
        )
    fitted = {name: _in_memory(value) for name, value in fitted.items() if not is_dask(value) and name != "_files"}
    for name in fitted:
        _refuse_reserved(cls, name)
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


def load_as(path: str | os.PathLike[str], known: Mapping[str, type[Any]]) -> Any:
    """The estimator in a file; its class must be one of the known ones."""
    with open_archive(path) as archive:
        description = archive.description()
        cls = _known_class(description, known)
        decoder = Decoder(archive.array, description["shared"])
        model = cls(**{name: decoder.decode(node) for name, node in description["parameters"].items()})
        for name, node in description["fitted"].items():
            _refuse_reserved(cls, name)
            setattr(model, name, decoder.decode(node))
    return model


def _in_memory(value: Any) -> Any:
    """A result without its embedding if that is in chunks; any other value unchanged."""
    blocks = getattr(value, "blocks", None)
    if blocks is None or not is_dask(blocks.embedding):
        return value
    return replace(value, blocks=replace(blocks, embedding=None))


def _known_class(description: dict[str, Any], known: Mapping[str, type[Any]]) -> type[Any]:
    version, name, written = description["format"], description["class"], description.get("jella")
    if type(version) is not int or version < 1:
        raise ValueError(f"expected format {FORMAT}, got {version!r}, of jella {written!r}; save the model again")
    if version != FORMAT:
        way_out = "update jella" if version > FORMAT else "fit the model again"
        raise ValueError(f"expected format {FORMAT}, got {version!r}, of jella {written!r}; {way_out}")
    if name not in known:
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


def _refuse_reserved(cls: type, name: str) -> None:
    """Refuse a fitted attribute with the name of a method or a property of the class."""
    if hasattr(cls, name):
        raise ValueError(
            f"expected attributes that a fit sets, got {name!r}, which is a member of the class {cls.__name__}"
        )
