"""Saving and loading an estimator: its class by name, its parameters, and what a fit gave it."""

from __future__ import annotations

import os
from typing import Any

import jella
from jella.estimators.base import BaseMultiView
from jella.saving.archive import open_archive, write_archive
from jella.saving.kinds import UnsaveableError
from jella.saving.tree import Decoder, Encoder, Node
from jella.views import is_chunked

#: version of the format; files of a later one are refused
FORMAT = 1
#: parameters that act during a fit only, and are code: not kept
NOT_KEPT = ("callback",)


def estimators() -> dict[str, type[BaseMultiView]]:
    """Every estimator of the library by name: the only classes that a file may ask for."""
    public = [getattr(jella, name) for name in jella.__all__]
    return {thing.__name__: thing for thing in public if isinstance(thing, type) and issubclass(thing, BaseMultiView)}


def save(model: BaseMultiView, path: str | os.PathLike[str]) -> None:
    """Write an estimator to a file; see `BaseMultiView.save`."""
    cls = type(model)
    if estimators().get(cls.__name__) is not cls:
        raise ValueError(
            f"expected an estimator of jella, got the class {cls.__qualname__} of {cls.__module__}; save it with pickle"
        )
    if is_chunked(getattr(model, "embedding_", None)):
        from jella.distributed.model import has_chunks, without_chunks

        if has_chunks(model):
            raise ValueError(
                f"expected a model that has the samples it needs in memory, got {cls.__name__} fitted on a Dask "
                "collection; keep its embedding_ and labels_, or fit MVLIV, which needs no samples"
            )
        model = without_chunks(model)
    encoder = Encoder()
    settings = model.get_params(deep=False)
    fitted = {name: value for name, value in vars(model).items() if name not in settings}
    for name in fitted:
        _refuse_reserved(cls, name)
    description = {
        "format": FORMAT,
        "jella": jella.__version__,
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


def load(path: str | os.PathLike[str]) -> Any:
    """Load an estimator that `save` wrote. Nothing in the file is run, so files of strangers can be opened too.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    model : estimator
        Of the class that was saved, with its parameters and, where it was fitted, all that the fit gave it. Arrays of
        other libraries (torch, cupy) come back as NumPy arrays, and a `callback` as None.

    Examples
    --------
    >>> import os, tempfile, jella
    >>> path = os.path.join(tempfile.mkdtemp(), "model.jella")
    >>> jella.PVC(n_clusters=3, alpha=0.1).save(path)
    >>> jella.load(path)
    PVC(alpha=0.1, n_clusters=3)
    """
    with open_archive(path) as archive:
        description = archive.description()
        cls = _known_class(description)
        decoder = Decoder(archive.array, description["shared"])
        model = cls(**{name: decoder.decode(node) for name, node in description["parameters"].items()})
        for name, node in description["fitted"].items():
            _refuse_reserved(cls, name)
            setattr(model, name, decoder.decode(node))
    return model


def _known_class(description: dict[str, Any]) -> type[BaseMultiView]:
    version, name = description["format"], description["class"]
    if type(version) is not int or not 1 <= version <= FORMAT:
        raise ValueError(
            f"expected format {FORMAT} or earlier, got {version!r}, of jella {description.get('jella')!r}; update jella"
        )
    known = estimators()
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
    """A fitted attribute must not stand where the class has a method or a property."""
    if hasattr(cls, name):
        raise ValueError(f"expected attributes that a fit sets, got {name!r}, which {cls.__name__} has itself")
