"""Model files that were changed on purpose, with a digest that fits again: what a forger, or a bug, could write."""

from __future__ import annotations

import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import jella
from jella.saving.digest import UNSEALED, seal

#: values that may come in the place of any other
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63, -(2**63), 10**30, 0.0, -0.0, 0.5, -1.5, 1e-320, 1e308, -1e308, "",
    "a", "nan", "auto", "sample", "x" * 100_000, [], [[]], [0, 1], {}, {"shared": 0}, {"shared": -1}, {"shared": 10**9},
    {"kind": "float", "parts": {"text": "nan"}}, {"kind": "float", "parts": {"text": "inf"}},
    {"kind": "float", "parts": {"text": "-inf"}}, {"kind": "tuple", "parts": {"items": []}},
    {"kind": "tuple", "parts": {"items": [1, 2.5, "a"]}}, {"kind": "dict", "parts": {"keys": ["a"], "values": [1]}},
    {"kind": "IndicatorClusters", "parts": {}}, {"kind": "bytes", "parts": {"hex": "00"}},
    {"kind": "Ridge", "parts": {"weight": 1e300}}, {"kind": "RangeIndex", "parts": {
        "start": 0, "stop": 10**15, "step": 1, "name": None}},
    {"kind": "Nothing", "parts": {}}, {"array": "arrays/0.npy", "dtype": "<f8", "shape": [1]},
)  # fmt: skip


def packed(members: dict[str, bytes], *, sealed: bool = True) -> bytes:
    """A model file of these members, with a digest that fits."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.comment = UNSEALED
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    if sealed:
        seal(stream)
    return stream.getvalue()


def unpacked(content: bytes) -> dict[str, bytes]:
    """The members of a model file."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def tampered(path: Path, seed: int) -> bytes:
    """The model file with something changed, drawn from the seed, and a digest that fits again."""
    rng = random.Random(seed)
    members = unpacked(Path(path).read_bytes())
    tree = json.loads(members["model.json"])
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choices(CHANGES, WEIGHTS)[0](rng, tree, members)
    members["model.json"] = json.dumps(tree).encode()
    if rng.random() < 0.02:
        return _renamed(packed(members, sealed=False), rng)
    return packed(members)


def outcome(path: Path, data: Any = None) -> str:
    """What comes of a file: 'refused', 'answers', or 'crash: ...' where it does neither.

    Parameters
    ----------
    path : Path
    data : views, optional
        What the model is asked about; by default random samples with the features that the model names.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = jella.load(path)
        except ValueError as error:
            one = str(error)
            return "refused" if "\n" not in one and Path(path).name in one else f"crash: odd sentence {one[:200]!r}"
        except Exception as error:
            return f"crash: load {type(error).__name__}: {str(error)[:200]}"
        if not hasattr(model, "schema_"):
            return _asked("repr", lambda: repr(model)) or "answers"
        given = _new_samples(model) if data is None else data
        for name in ("transform", "predict", "complete"):
            if hasattr(model, name):
                wrong = _asked(name, lambda name=name: getattr(model, name)(given))
                if wrong:
                    return wrong
        for name in ("embedding_", "labels_", "bases_", "affinity_", "n_iter_"):
            wrong = _asked(name, lambda name=name: getattr(model, name, None))
            if wrong:
                return wrong
        return _asked("repr", lambda: repr(model)) or "answers"


def _asked(name: str, ask: Callable[[], Any]) -> str | None:
    """What is wrong with an answer, or None; a refusal in a sentence is fine."""
    try:
        answer = ask()
    except ValueError as error:
        return None if "\n" not in str(error) else f"crash: {name} says {str(error)[:200]!r}"
    except Exception as error:
        return f"crash: {name} {type(error).__name__}: {str(error)[:200]}"
    if name == "repr":
        return None
    parts = list(answer.values()) if isinstance(answer, dict) else answer
    for part in parts if isinstance(parts, list | tuple) else [parts]:
        values = part.data if sparse.issparse(part) else np.asarray(part)
        if values.dtype.kind not in "fiub":
            return None if part is None else f"crash: {name} gives {values.dtype}"
        if name in ("transform", "complete", "bases_") and not np.isfinite(values).all():
            return f"crash: {name} is not finite"
    return None


def _new_samples(model: Any) -> Any:
    schema, rng = model.schema_, np.random.default_rng(0)
    views = {name: rng.random((5, d)) for name, d in zip(schema.names, schema.n_features, strict=True) if d < 10**6}
    return next(iter(views.values())) if schema.is_single else views


# changes of the description


def _nodes(tree: Any) -> list[tuple[Any, Any]]:
    """All places of a tree: (container, key)."""
    found, todo = [], [tree]
    while todo:
        node = todo.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else []
        for key in keys:
            found.append((node, key))
            todo.append(node[key])
    return found


def _place(rng: random.Random, tree: Any) -> tuple[Any, Any]:
    """A place; half of them are in what the fit has set, where most checks are."""
    roots = [tree[name] for name in ("fitted", "parameters", "shared") if isinstance(tree.get(name), dict | list)]
    places = _nodes(rng.choice(roots)) if roots and rng.random() < 0.9 else []
    return rng.choice(places or _nodes(tree) or [({"": 0}, "")])


def _replace(rng: random.Random, tree: Any, members: Any) -> None:
    node, key = _place(rng, tree)
    node[key] = json.loads(json.dumps(rng.choice(ODD)))


def _number(rng: random.Random, tree: Any, members: Any) -> None:
    places = [(node, key) for node, key in _nodes(tree) if type(node[key]) in (int, float)]
    if places:
        node, key = rng.choice(places)
        node[key] = rng.choice((node[key] + 1, node[key] - 1, -node[key], 0, 2**40, 1e300, float(node[key]), 1e-320))


def _swap(rng: random.Random, tree: Any, members: Any) -> None:
    (one, a), (two, b) = _place(rng, tree), _place(rng, tree)
    one[a], two[b] = json.loads(json.dumps(two[b])), json.loads(json.dumps(one[a]))


def _drop(rng: random.Random, tree: Any, members: Any) -> None:
    node, key = _place(rng, tree)
    del node[key]


def _double(rng: random.Random, tree: Any, members: Any) -> None:
    node, key = _place(rng, tree)
    if isinstance(node, list):
        node.insert(key, json.loads(json.dumps(node[key])))
    else:
        node[f"{key}x"] = json.loads(json.dumps(node[key]))


def _rename(rng: random.Random, tree: Any, members: Any) -> None:
    places = [(node, key) for node, key in _nodes(tree) if isinstance(node, dict)]
    node, key = rng.choice(places)
    names = [other for _, other in places]
    node[rng.choice([*names, "__class__", "x_", "transform"])] = node.pop(key)


def _refer(rng: random.Random, tree: Any, members: Any) -> None:
    places = [(node, key) for node, key in _nodes(tree) if key == "shared" and isinstance(node[key], int)]
    if places:
        node, key = rng.choice(places)
        node[key] = rng.randrange(len(tree["shared"]) + 1)


def _deepen(rng: random.Random, tree: Any, members: Any) -> None:
    node, key = _place(rng, tree)
    depth = rng.choice((3, 50, 400))
    for _ in range(depth):
        node[key] = [node[key]] if rng.random() < 0.5 else {"kind": "tuple", "parts": {"items": [node[key]]}}


def _laugh(rng: random.Random, tree: Any, members: Any) -> None:
    """Values that refer to each other, twice as many at each step."""
    shared = tree.get("shared", [])
    for _ in range(40):
        last = {"shared": len(shared) - 1}
        shared.append({"kind": "tuple", "parts": {"items": [last, last]}})
    node, key = _place(rng, tree)
    node[key] = {"shared": len(shared) - 1}


# changes of arrays


def _array(rng: random.Random, tree: Any, members: Any) -> None:
    """Another array in the place of one, described as it is."""
    places = [node for node, key in _nodes(tree) if key == "array" and isinstance(node.get("array"), str)]
    if not places:
        return
    node = rng.choice(places)
    array = np.load(io.BytesIO(members[node["array"]])) if node["array"] in members else np.zeros(3)
    array = np.atleast_1d(array)
    with np.errstate(all="ignore"):
        changed = rng.choice(ARRAYS)(rng, array)
    stream = io.BytesIO()
    np.save(stream, changed)
    members[node["array"]] = stream.getvalue()
    node["dtype"], node["shape"] = changed.dtype.str, list(changed.shape)


def _with_entry(rng: random.Random, array: np.ndarray) -> np.ndarray:
    out = array.copy()
    if out.size and out.dtype.kind in "iufb":
        value = rng.choice((0, 1, -1, 2**62, -(2**62)) if out.dtype.kind in "iu" else (0, -1.0, 1e300, np.nan, np.inf))
        out.flat[rng.randrange(out.size)] = np.asarray(value).astype(out.dtype)
    return out


def _as_type(array: np.ndarray, dtype: str) -> np.ndarray:
    return array.astype(dtype) if array.dtype.kind in "iufb" else array


ARRAYS: tuple[Callable[[random.Random, np.ndarray], np.ndarray], ...] = (
    _with_entry,
    _with_entry,
    lambda rng, a: a[:-1],
    lambda rng, a: a[:0],
    lambda rng, a: np.concatenate([a, a]),
    lambda rng, a: a[..., :-1],
    lambda rng, a: a.T.copy(),
    lambda rng, a: np.asfortranarray(a),
    lambda rng, a: a.ravel(),
    lambda rng, a: a[None],
    lambda rng, a: _as_type(a, rng.choice(("f4", "f8", "i8", "i4", "u1", "?", "f2", ">f8"))),
    lambda rng, a: (a * 1e200).astype(a.dtype) if a.dtype.kind == "f" else a,
    lambda rng, a: (a * 1e-200).astype(a.dtype) if a.dtype.kind == "f" else a,
    lambda rng, a: a + a.dtype.type(1) if a.dtype.kind in "iu" else a,
    lambda rng, a: np.zeros_like(a),
    lambda rng, a: -a if a.dtype.kind in "if" else a,
    lambda rng, a: np.full(a.shape, np.nan) if a.dtype.kind == "f" else np.full(a.shape, "text"),
)  # fmt: skip


# changes of the archive


def _member(rng: random.Random, tree: Any, members: Any) -> None:
    names = [name for name in members if name != "model.json"]
    which = rng.randrange(4)
    if which == 0:
        members["more.npy"] = b"something"
    elif which == 1 and names:
        del members[rng.choice(names)]
    elif which == 2 and len(names) > 1:
        one, two = rng.sample(names, 2)
        members[one], members[two] = members[two], members[one]
    elif names:
        name = rng.choice(names)
        members[name] = members[name][: rng.randrange(len(members[name]))]


def _renamed(content: bytes, rng: random.Random) -> bytes:
    """A byte in the directory of the archive changed, and the digest made to fit."""
    start = content.rindex(b"PK\x01\x02", 0, content.rindex(b"model.json"))
    where = rng.randrange(start, len(content) - len(UNSEALED))
    stream = io.BytesIO(content[:where] + bytes([content[where] ^ (1 << rng.randrange(8))]) + content[where + 1 :])
    seal(stream)
    return stream.getvalue()


CHANGES = (_replace, _number, _swap, _drop, _double, _rename, _refer, _deepen, _laugh, _array, _member)
WEIGHTS = (10, 6, 6, 4, 3, 3, 4, 2, 1, 14, 2)
