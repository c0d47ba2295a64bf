"""Fits on an accelerator, of views in any container: the host reads them, and the fitted model returns to the host.

After reading, only values are moved to the device; plain arrays, which have neither names nor an order of their own,
are read there. So names, the order of samples and errors are those of a fit on the host, and the returned model
completes, reports and saves like a model that was fitted on the host.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

import numpy as np
from array_api_compat import is_torch_array
from sklearn.base import clone

from jella.estimators.base import BaseMultiView
from jella.estimators.consensus import RAMC
from jella.estimators.known_classes import Told
from jella.numerics.arrays import Array, namespace, to_numpy
from jella.numerics.optional import need
from jella.views import Views, read_views


@dataclass(frozen=True)
class Device:
    """A device that PyTorch can compute on.

    Attributes
    ----------
    place : torch.device

    Examples
    --------
    >>> import jella, pytest; _ = pytest.importorskip("torch")
    >>> model = Device.named("cpu").fit(jella.MVLIV(n_components=1), {"a": [[1.0, 2.0], [2.0, 4.0]]})
    >>> model.complete({"a": [[3.0, float("nan")]]})["a"].round(6)
    array([[3., 6.]])
    """

    place: Any

    @classmethod
    def named(cls, name: str) -> Device:
        """The device of that name, such as cpu, cuda or cuda:1, after a test with a small sum."""
        torch = _torch()
        try:
            float(torch.ones(1, dtype=torch.float64, device=name).sum())
        except (AssertionError, ImportError, RuntimeError, TypeError):  # missing devices raise different errors
            known = ", ".join(["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))])
            raise ValueError(
                f"expected a device of this machine with double precision, got {name!r}; pass one of {known}"
            ) from None
        return cls(torch.device(name))

    @staticmethod
    def takes(model: Any) -> bool:
        """Whether the model computes on the device of its views; RAMC and estimators of others compute in NumPy."""
        return isinstance(model, BaseMultiView) and not isinstance(model, RAMC)

    def fit(self, model: Any, X: Any, y: Any = None) -> Any:
        """A clone of the model, fitted on the device and moved to the host with all attributes of the fit.

        Parameters
        ----------
        model : estimator
            Not modified.
        X : as in its fit
            Dense views.
        y : optional
            As the fit of the model is told it.
        """
        if not self.takes(model):
            raise ValueError(
                f"expected a method that runs on devices, got {type(model).__name__}, which computes in NumPy; leave "
                "the device out"
            )
        fitted = clone(model)
        try:
            there = self._plain(X)
            views = self._moved(fitted._read(X, None, reset=True)) if there is None else fitted._read(there, None, True)
            fitted._fit_views(views, X, y)
        except _torch().cuda.OutOfMemoryError:
            raise ValueError(
                f"expected views and model to fit into the memory of {self.place}, got more; leave the device out"
            ) from None
        return on_host(fitted)

    def tensors(self, X: Any) -> dict[str, Array]:
        """The views by name as tensors: all samples in the order of a fit, NaN where nothing was observed."""
        views = self._moved(read_views(X))
        return {view.name: namespace(view.X).where(view.mask, view.X, float("nan")) for view in views}

    def _plain(self, X: Any) -> Any:
        """Plain NumPy tables of floats as tensors, which are read faster there; None for all else."""
        if not isinstance(X, dict | list | tuple):
            return None
        tables = list(X.values()) if isinstance(X, dict) else list(X)
        if any(type(one) is not np.ndarray or one.ndim != 2 or one.dtype not in (float, np.float32) for one in tables):
            return None
        tensors = [self._tensor(one) for one in tables]
        return dict(zip(X, tensors, strict=True)) if isinstance(X, dict) else tensors

    def _moved(self, views: Views) -> Views:
        for view in views:
            if view.is_sparse:
                raise ValueError(
                    f"expected dense views on a device, got view {view.name!r}, which is sparse; leave the device "
                    "out, or store the view densely"
                )
        items = tuple(replace(view, X=self._tensor(view.X), mask=self._tensor(view.mask)) for view in views)
        return replace(views, items=items)

    def _tensor(self, array: np.ndarray) -> Array:
        # torch takes no negative strides, and warns about read-only memory
        return _torch().asarray(np.require(array, requirements=["C", "W"]), device=self.place)

    @property
    def hardware(self) -> str:
        """The name of the card, or cpu."""
        return _torch().cuda.get_device_name(self.place) if self.place.type == "cuda" else str(self.place)

    def __str__(self) -> str:
        what = f" ({self.hardware})" if self.place.type == "cuda" else ""
        return f"{self.place}{what}, torch {_torch().__version__}"


def fit_on(device: Device | None, model: Any, X: Any, **told: Any) -> Any:
    """The model fitted on the device; without a device the model itself is fitted, where its views are."""
    if device is None:
        return model.fit(X, **told)
    return device.fit(model, X, Told(**told) if told else None)


def on_host(model: Any) -> Any:
    """A copy of a model with NumPy arrays instead of tensors; attributes that share an array still share it."""
    stream, buffers = BytesIO(), list[pickle.PickleBuffer]()
    _ToHost(stream, protocol=5, buffer_callback=buffers.append).dump(model)
    return pickle.loads(stream.getvalue(), buffers=buffers)


class _ToHost(pickle.Pickler):
    """Tensors are pickled as NumPy arrays."""

    def reducer_override(self, value: Any) -> Any:
        return (np.asarray, (to_numpy(value),)) if is_torch_array(value) else NotImplemented


def _torch() -> Any:
    return need("torch", "torch")
