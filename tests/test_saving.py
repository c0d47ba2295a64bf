"""Models in files: every estimator comes back bit for bit, and a bad file is refused without running anything."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from campaign.tampered import outcome, tampered
from common import all_terms, holed, make, make_term, planted
from scipy import sparse

import jella
from jella.estimators.base import BaseMultiView
from jella.estimators.catalogue import estimators
from jella.numerics.arrays import like, to_numpy
from jella.numerics.limits import Limits, limits_as
from jella.problem.terms.base import concrete_subclasses
from jella.saving import archive
from jella.saving.digest import UNSEALED, seal
from jella.saving.kinds import SCALAR, SPECIAL, TEXTS, kinds_by_type
from jella.saving.pandas_kinds import NAMES, pandas_kinds
from jella.saving.tree import Decoder, Encoder
from jella.solve.relaxation import SOR
from jella.terms import L1, Proximable

WALKED = {kind for kind in concrete_subclasses(BaseMultiView) if kind.__module__.startswith("jella.")}
ALL = sorted((kind for kind in WALKED if not kind.__name__.startswith("Base")), key=lambda kind: kind.__name__)
by_name = pytest.mark.parametrize("method", ALL, ids=lambda method: method.__name__)


def data_for(method):
    if method is jella.RAMC:
        return planted()
    return holed("missing-view" if method in (jella.MIC, jella.IRMKMC) else "incomplete-view")


def frames_of(views, index):
    names = "abc"[: len(views)]
    return {
        name: pd.DataFrame(X, index=index, columns=[f"{name}{j}" for j in range(X.shape[1])])
        for name, X in zip(names, views, strict=True)
    }


def fitted(method, data, **options):
    model = make(method, **{"n_clusters": 3, "random_state": 0, "max_iter": 3, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three sweeps are not meant to converge
        return model.fit(data)


def back(model, tmp_path):
    model.save(tmp_path / "model.jella")
    other = jella.load(tmp_path / "model.jella")
    # all of the state, private too: what was loaded is written with the same bytes
    other.save(tmp_path / "again.jella")
    assert (tmp_path / "again.jella").read_bytes() == (tmp_path / "model.jella").read_bytes()
    return other


def assert_same_answers(model, other, data):
    assert repr(other.get_params()) == repr(model.get_params())
    for name in ("labels_", "embedding_", "feature_names_in_"):
        assert hasattr(model, name) == hasattr(other, name)
        if hasattr(model, name):
            np.testing.assert_array_equal(getattr(other, name), getattr(model, name), strict=True)
    for name in ("transform", "predict"):
        if hasattr(model, name):
            np.testing.assert_array_equal(getattr(other, name)(data), getattr(model, name)(data), strict=True)
    if hasattr(model, "complete"):
        ours, theirs = model.complete(data), other.complete(data)
        assert type(ours) is type(theirs)
        for one, two in zip(_values(ours), _values(theirs), strict=True):
            np.testing.assert_array_equal(_dense(one), _dense(two), strict=True)


def _dense(view):
    return view.toarray() if sparse.issparse(view) else np.asarray(view)


def _values(views):
    return list(views.values()) if isinstance(views, dict) else views


# round trips


def test_every_estimator_is_known():
    assert set(estimators().values()) == set(ALL)
    assert len(ALL) >= 13


@by_name
def test_single_precision_comes_back_bit_for_bit(method, tmp_path):
    views = [X.astype(np.float32) for X in data_for(method)]
    model = fitted(method, views)
    other = back(model, tmp_path)
    assert_same_answers(model, other, views)
    assert getattr(other, "embedding_", np.float32()).dtype == np.float32


@by_name
def test_double_precision_comes_back_and_can_be_fitted_and_pickled(method, tmp_path):
    views = data_for(method)
    model = fitted(method, views)
    other = back(model, tmp_path)
    assert type(other) is method
    assert vars(other).keys() == vars(model).keys()
    assert_same_answers(model, pickle.loads(pickle.dumps(other)), views)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same_answers(model, other.fit(views), views)


@by_name
def test_names_come_back(method, tmp_path):
    frames = frames_of(data_for(method), pd.Index([f"s{i}" for i in range(40)], name="sample"))
    model = fitted(method, frames)
    if hasattr(model, "set_output"):
        model.set_output(transform="pandas")
    other = back(model, tmp_path)
    assert_same_answers(model, other, frames)
    pd.testing.assert_index_equal(other.sample_names_in_, model.sample_names_in_, exact=True)
    assert other.view_names_in_ == model.view_names_in_
    if hasattr(model, "transform"):
        pd.testing.assert_frame_equal(other.transform(frames), model.transform(frames), check_exact=True)


@by_name
def test_unfitted_models(method, tmp_path):
    other = back(make(method, n_clusters=4, max_iter=7), tmp_path)
    assert repr(other) == repr(make(method, n_clusters=4, max_iter=7))
    assert vars(other).keys() == vars(method()).keys()


def test_one_array_without_clusters_and_dropped_samples(tmp_path):
    X = holed("incomplete-view")[0]
    X[7] = np.nan
    for method in (jella.MVLIV, jella.SparseBDR, jella.RPCA):
        model = fitted(method, X, n_clusters=None, on_empty="drop")
        other = back(model, tmp_path)
        assert_same_answers(model, other, X)
        assert 7 in other.dropped_


def test_sparse_views_stay_sparse(tmp_path):
    views = [sparse.csr_array(np.where(X > 0.6, X, 0.0)) for X in planted()]
    model = fitted(jella.SparseBDR, views)
    other = back(model, tmp_path)
    assert all(sparse.issparse(view.X) for view in other.readout_.samples)
    assert_same_answers(model, other, views)


def test_a_warm_start_goes_on_from_a_file(tmp_path):
    views = holed("incomplete-view")
    for method in (jella.DAIMC, jella.SparseBDR, jella.IMLBDR):
        model = fitted(method, views, warm_start=True)
        other = back(model, tmp_path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(other.fit(views).objective_, model.fit(views).objective_)


def test_labels_known_to_the_fit(tmp_path):
    views, y = holed("incomplete-view"), np.where(np.arange(40) < 20, np.arange(40) % 3, -1)
    model = jella.IMCL(n_clusters=3, random_state=0, max_iter=5, tol=0.0).fit(views, y)
    assert_same_answers(model, back(model, tmp_path), views)


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(10, 90, 2, name="row"),
        pd.Index(np.arange(40, dtype=np.int32) * 3),
        pd.Index([f"s{i}" for i in range(40)], dtype=object),
        pd.Index([i if i % 2 else f"s{i}" for i in range(40)], name=("a", 1)),
        pd.Index(np.linspace(0.0, 1.0, 40)),
        pd.to_datetime(np.arange(40), unit="D"),
        pd.to_timedelta(np.arange(40), unit="s"),
        pd.MultiIndex.from_product([["x", "y"], range(20)], names=["site", None]),
    ],
    ids=lambda index: f"{type(index).__name__}-{index.dtype}",
)
def test_names_of_many_kinds(index, tmp_path):
    views = holed("incomplete-view")
    for X in views:
        X[3] = np.nan
    model = fitted(jella.MVLIV, frames_of(views, index), on_empty="drop")
    other = back(model, tmp_path)
    assert type(other.sample_names_in_) is type(model.sample_names_in_)
    pd.testing.assert_index_equal(other.sample_names_in_, model.sample_names_in_, exact="equiv")
    assert index[3] in other.dropped_
    assert other.dropped_ == model.dropped_


def test_other_array_libraries_come_back_as_numpy(xp, tmp_path):
    arrays = holed("incomplete-view")
    views = [like(X, xp.asarray(np.zeros(1))) for X in arrays]
    for method in (jella.MVLIV, jella.SparseBDR):
        model = fitted(method, views)
        other = back(model, tmp_path)
        assert type(other.embedding_) is np.ndarray
        np.testing.assert_array_equal(other.embedding_, to_numpy(model.embedding_))
        np.testing.assert_allclose(other.transform(arrays), to_numpy(model.transform(views)), atol=1e-10)


def test_parameters_that_are_objects_of_the_library(tmp_path):
    model = jella.JELLA(
        n_components=2,
        basis=("ridge",),
        embedding=[L1(0.1), "nonnegative"],
        solver=SOR(step=0.3),
        view_weights={"a": np.float32(2.0), "b": 1},
        init={"embedding": np.eye(4, 2)},
        tol=float("inf"),
        random_state=np.int64(3),
    )
    other = back(model, tmp_path)
    assert repr(other) == repr(model)
    assert other.solver == SOR(step=0.3)
    assert other.embedding == [L1(0.1), "nonnegative"]
    assert type(other.view_weights["a"]) is np.float32
    np.testing.assert_array_equal(other.init["embedding"], np.eye(4, 2))


@pytest.mark.parametrize("kind", all_terms(), ids=lambda kind: kind.__name__)
def test_every_term_comes_back(kind):
    term = make_term(kind) if kind.__name__ != "SparseBlockDiagonal" else kind(make_term(kind).support, 3, alpha=0.2)
    encoder = Encoder()
    node = json.loads(json.dumps(encoder.encode(term)))
    decoder = Decoder(lambda member, dtype, shape: encoder.arrays[member], encoder.shared)
    assert type(decoder.decode(node)) is kind
    assert repr(decoder.decode(node)) == repr(term)


def test_kinds_have_names_of_their_own():
    names = [kind.name for kind in (TEXTS, SCALAR, *kinds_by_type().values())]
    assert len(set(names)) == len(names)
    assert {kind.name for kind in pandas_kinds().values()} == set(NAMES)
    assert not set(names) & set(NAMES)
    assert set(SPECIAL) <= set(kinds_by_type())


def test_what_two_attributes_share_is_written_once(tmp_path):
    model = fitted(jella.MVLIV, planted(n=600, widths=(50, 40)))
    other = back(model, tmp_path)
    assert other.embedding_ is other.result_.blocks.embedding
    assert other.bases_[0] is other.readout_.bases[0]
    with zipfile.ZipFile(tmp_path / "model.jella") as file:
        members = [info for info in file.infolist() if info.file_size > model.embedding_.nbytes]
        assert len(members) == 1
        assert all(info.compress_type == zipfile.ZIP_DEFLATED for info in file.infolist())


# what is refused when saving


class Mine(Proximable):
    def value(self, B, state=None):
        return 0.0

    def prox(self, B, step):
        return B


class MyMethod(jella.MVLIV):
    pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"random_state": np.random.default_rng(0)}, "got an object of type Generator in the parameter random_state"),
        ({"random_state": np.random.RandomState(0)}, "RandomState in the parameter random_state; change it with set_p"),
        ({"embedding": [Mine()]}, "got an object of type Mine in the parameter embedding"),
        ({"view_weights": pd.Series([1.0])}, "Series in the parameter view_weights"),
        ({"init": np.array([None, 1])}, "got an array of objects that are not all text in the parameter init"),
        ({"init": lambda: 0}, "got an object of type function in the parameter init"),
        ({"init": np.ma.zeros(3)}, "MaskedArray in the parameter init"),
        ({"init": np.zeros(2, dtype=complex)}, "an array of complex128 in the parameter init"),
    ],
)
def test_parameters_that_a_file_cannot_keep_are_named(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        jella.JELLA(**options).save(tmp_path / "model.jella")
    assert not list(tmp_path.iterdir())


def test_attributes_and_classes_that_a_file_cannot_keep_are_named(tmp_path):
    model = jella.MVLIV()
    model.extra_ = object()
    with pytest.raises(ValueError, match="got the attribute extra_; delete it, or pickle the model"):
        model.save(tmp_path / "model.jella")
    categories = fitted(jella.MVLIV, frames_of(planted(), pd.CategoricalIndex([f"s{i}" for i in range(40)])))
    with pytest.raises(ValueError, match="CategoricalIndex in the attribute sample_names_in_"):
        categories.save(tmp_path / "model.jella")
    with pytest.raises(ValueError, match="expected an estimator of jella, got the class MyMethod"):
        MyMethod().save(tmp_path / "model.jella")


def test_a_callback_is_left_out(tmp_path):
    model = fitted(jella.MVLIV, planted(), callback=lambda progress: False)
    assert back(model, tmp_path).callback is None


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.jella"
    model = fitted(jella.MVLIV, planted())
    model.save(path)
    before, calls = path.read_bytes(), []
    write = archive.npy.write_array

    def interrupted(stream, array, **options):
        calls.append(array)
        if len(calls) > 2:
            raise KeyboardInterrupt
        write(stream, array, **options)

    monkeypatch.setattr(archive.npy, "write_array", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fitted(jella.MVLIV, planted(seed=1)).save(path)
    assert len(calls) == 3
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# what is refused when loading


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A good file: its members by name, the description parsed."""
    path = tmp_path_factory.mktemp("good") / "model.jella"
    fitted(jella.SparseBDR, frames_of(planted(), pd.Index([f"s{i}" for i in range(40)]))).save(path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    return path.read_bytes(), members


def write(path, members, compression=zipfile.ZIP_DEFLATED):
    """A file of these members with a digest that fits, as a forger would write it."""
    with zipfile.ZipFile(path, "w", compression) as file:
        file.comment = UNSEALED
        for name, content in members.items():
            file.writestr(name, content if isinstance(content, bytes) else json.dumps(content))
    reseal(path)


def reseal(path):
    with open(path, "r+b") as file:
        seal(file)


def described(members, **changes):
    return {**members, "model.json": {**json.loads(members["model.json"]), **changes}}


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def test_the_rewritten_file_loads(good, tmp_path):
    write(tmp_path / "bad.jella", described(good[1]))
    (tmp_path / "good.jella").write_bytes(good[0])
    one, other = jella.load(tmp_path / "bad.jella"), jella.load(tmp_path / "good.jella")
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.embedding_, other.embedding_)


def _tuple(*items):
    return {"kind": "tuple", "parts": {"items": list(items)}}


def _csr(indices):
    parts = {"data": {"shared": 0}, "indices": {"shared": indices}, "indptr": {"shared": 2}, "shape": [2, 2]}
    return {"kind": "csr_array", "parts": parts}


BAD_DESCRIPTIONS = {
    "newer": ({"format": 4}, "expected format 3, got 4, of jella '0.* update jella"),
    "no version": ({"format": None}, "expected format 3, got None"),
    "class": ({"class": "os.system"}, "expected one of the estimators .*'SparseBDR'.*, got 'os.system'"),
    "base class": ({"class": "BaseJELLA"}, "expected one of the estimators"),
    "kind": ({"fitted": {"x_": {"kind": "subprocess.run", "parts": {}}}}, "a kind of value .*, got 'subprocess.run'"),
    "function": (
        {"fitted": {"x_": {"kind": "function", "parts": {"name": "exec"}}}},
        "got 'function'",
    ),
    "older": ({"format": 1}, "expected format 3, got 1, of jella '0.* fit the model again"),
    "object": ({"fitted": {"x_": {"odd": 1}}}, r"got an object with \['odd'\]"),
    "parts": (
        {"fitted": {"x_": {"kind": "Ridge", "parts": {"odd": 1}}}},
        r"expected the parts of a Ridge, got \['odd'",
    ),
    "value": ({"fitted": {"x_": {"kind": "Ridge", "parts": {"weight": -1.0}}}}, "expected the parts of a Ridge"),
    "parameter": ({"parameters": {"odd": 1}}, "got one that is damaged .*odd"),
    "method": ({"fitted": {"transform": 1}}, "attributes that a fit of SparseBDR sets, got 'transform'"),
    "dunder": ({"fitted": {"__class__": 1}}, "attributes that a fit of SparseBDR sets, got '__class__'"),
    "unknown": ({"fitted": {"x_": 1}}, "attributes that a fit of SparseBDR sets, got 'x_'"),
    "shared tuples": ({"shared": [_tuple(1)]}, "expected arrays and indexes among the shared values"),
    "ahead": (
        {"shared": [{"kind": "Index", "parts": {"values": {"shared": 0}, "dtype": None, "name": None}}]},
        "expected a reference to one of 0 values before it, got 0",
    ),
    "shared": ({"fitted": {"x_": {"shared": -1}}}, "values before it, got -1"),
    "not a tree": ({"fitted": 3}, "got one that is damaged"),
    "parts list": ({"fitted": {"x_": {"kind": "Ridge", "parts": []}}}, "got one that is damaged"),
}


@pytest.mark.parametrize(("changes", "message"), BAD_DESCRIPTIONS.values(), ids=BAD_DESCRIPTIONS.keys())
def test_descriptions_that_are_not_known_are_refused(changes, message, good, tmp_path):
    write(tmp_path / "bad.jella", described(good[1], **changes))
    with pytest.raises(ValueError, match=message) as caught:
        jella.load(tmp_path / "bad.jella")
    assert "bad.jella" in str(caught.value)


def _first(good):
    """Member, node and array of the first array of the file."""
    node = json.loads(good[1]["model.json"])["shared"][0]
    return node["array"], node, np.load(io.BytesIO(good[1][node["array"]]))


def test_arrays_that_are_not_as_described_are_refused(good, tmp_path):
    member, node, array = _first(good)
    short = npy(array)[:-8]
    huge = npy(np.zeros(1)).replace(b"(1,)", b"(9999999999999,)", 1)
    huge_node = {**json.loads(good[1]["model.json"]), "shared": [{**node, "shape": [9999999999999]}]}
    for members, message in [
        ({**good[1], member: npy(array.astype(np.float32))}, r"hold <f8 of shape \[.*, got <f4 of shape \["),
        ({**good[1], member: npy(array[:-1])}, rf"of shape \[{len(array)}.*\], got <f8 of shape \[{len(array) - 1}"),
        ({**good[1], member: short}, r"expected \d+ bytes of data in 'arrays/0.npy', got \d+"),
        ({**good[1], member: npy(array) + b"more"}, r"expected \d+ bytes of data"),
        ({**good[1], "model.json": huge_node, member: huge}, r"expected 79999999999992 bytes of data"),
        (described(good[1], fitted={"x_": node}), "expected each array once, got 'arrays/0.npy' again"),
        ({**good[1], member: b""}, "cannot load"),
        ({**good[1], member: b"not an array"}, "cannot load"),
        ({name: content for name, content in good[1].items() if name != member}, "expected a member 'arrays/0.npy', "),
        ({name: content for name, content in good[1].items() if name != "model.json"}, "expected a member 'model.json"),
        ({**good[1], "model.json": b"{"}, "cannot load"),
        ({**good[1], "model.json": b"[" * 100_000}, "got one that is damaged"),
        ({**good[1], "model.json": b"[]"}, "expected a description with"),
        ({**good[1], "model.json": b'{"class": 1, "class": 2}'}, "expected each name once in an object"),
        ({**good[1], "model.json": b'{"class": NaN}'}, "expected finite numbers in the description, got NaN"),
        ({**good[1], "model.json": b'{"class": 1e999}'}, "expected finite numbers in the description, got 1e999"),
        ({**good[1], "more.npy": b""}, "expected only members that the description mentions, got 'more.npy'"),
    ]:
        write(tmp_path / "bad.jella", members)
        with pytest.raises(ValueError, match=message):
            jella.load(tmp_path / "bad.jella")


class Payload:
    """Unpickling it creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_a_pickle_in_an_array_is_not_run(good, tmp_path):
    member, node, _ = _first(good)
    content = npy(np.array([Payload(tmp_path / "ran")], dtype=object), allow_pickle=True)
    for dtype, shape in [(node["dtype"], node["shape"]), ("|O", [1])]:
        shared = json.loads(good[1]["model.json"])["shared"]
        shared[0] = {**node, "dtype": dtype, "shape": shape}
        write(tmp_path / "bad.jella", {**described(good[1], shared=shared), member: content})
        with pytest.raises(ValueError, match=r"expected numbers, text or dates in .*, got object"):
            jella.load(tmp_path / "bad.jella")
        assert not (tmp_path / "ran").exists()
    np.load(io.BytesIO(content), allow_pickle=True)[0].close()
    assert (tmp_path / "ran").exists()  # it would have run


def test_indices_out_of_range_are_refused():
    arrays = [np.ones(2), np.array([0, 1]), np.array([0, 1, 2]), np.array([0, 10**6])]
    nodes = [{"array": str(i), "dtype": array.dtype.str, "shape": list(array.shape)} for i, array in enumerate(arrays)]
    decoder = Decoder(lambda member, dtype, shape: arrays[int(member)], nodes)
    np.testing.assert_array_equal(decoder.decode(_csr(1)).toarray(), np.eye(2))
    with pytest.raises(ValueError, match="expected the parts of a csr_array"):
        decoder.decode(_csr(3))


def test_zip_bombs_are_refused(good, tmp_path):
    write(tmp_path / "bad.jella", good[1], zipfile.ZIP_LZMA)
    with pytest.raises(ValueError, match="to unpack to at most 0 times its size"):
        jella.load(tmp_path / "bad.jella")
    write(tmp_path / "bad.jella", good[1])
    with zipfile.ZipFile(tmp_path / "bad.jella") as file:
        info = file.getinfo("model.json")
    content = (tmp_path / "bad.jella").read_bytes()
    for field, unpacked, message in [
        ("file_size", 2**28, "expected the model to need at most 256.0 MiB of memory, got 48.0 GiB declared by a file"),
        ("file_size", None, "at most 1032 times its size"),
        ("compress_size", 2**28, "got some that overlap"),
    ]:
        old, new = getattr(info, field).to_bytes(4, "little"), (2**31).to_bytes(4, "little")
        where = content.rindex(old, 0, content.rindex(b"model.json"))  # in the directory at the end
        (tmp_path / "bad.jella").write_bytes(content[:where] + new + content[where + 4 :])
        reseal(tmp_path / "bad.jella")
        with pytest.raises(ValueError, match=message), limits_as(Limits(unpacked=unpacked)):
            jella.load(tmp_path / "bad.jella")


def test_lists_that_unpack_to_gigabytes_are_refused(good, tmp_path):
    write(tmp_path / "bad.jella", {**good[1], "model.json": b"[" + b"[]," * 2**23 + b"1]"})
    with pytest.raises(ValueError, match=r"expected the model to need at most 256.0 MiB of memory, got \d+\.\d MiB"):
        jella.load(tmp_path / "bad.jella")


def test_members_that_occur_twice_are_refused(good, tmp_path):
    with zipfile.ZipFile(tmp_path / "bad.jella", "w") as file:
        file.comment = UNSEALED
        for name in [*good[1], "arrays/0.npy"]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a duplicate name
                file.writestr(name, good[1][name])
    reseal(tmp_path / "bad.jella")
    with pytest.raises(ValueError, match=r"expected each member once, got 'arrays/0\.npy' again"):
        jella.load(tmp_path / "bad.jella")


# the digest


def test_a_file_with_any_byte_changed_is_refused(tmp_path):
    path, bad = tmp_path / "small.jella", tmp_path / "bad.jella"
    jella.MVLIV(n_components=1).fit([[1.0, 2.0], [2.0, 4.0]]).save(path)
    content, rng = path.read_bytes(), np.random.default_rng(0)
    # headers, directory and comment byte by byte; the data of the members at random places
    places = {*range(100), *range(len(content) - 400, len(content)), *rng.integers(len(content), size=300).tolist()}
    for where in sorted(places):
        bad.write_bytes(content[:where] + bytes([content[where] ^ (1 << int(rng.integers(8)))]) + content[where + 1 :])
        with pytest.raises(ValueError, match=r"bad\.jella"):
            jella.load(bad)
    for changed in (content + b"\n", content + content, content[1:], content[:-1], b"\0" + content):
        bad.write_bytes(changed)
        with pytest.raises(ValueError, match=r"bad\.jella"):
            jella.load(bad)
    bad.write_bytes(content)
    jella.load(bad)


def test_a_file_without_a_digest_is_refused(good, tmp_path):
    with zipfile.ZipFile(tmp_path / "old.jella", "w") as file:
        for name, content in good[1].items():
            file.writestr(name, content)
    with pytest.raises(ValueError, match=r"old\.jella.*or that was saved by a version of jella before format 3; .*fit"):
        jella.load(tmp_path / "old.jella")


def test_the_file_is_an_archive_that_names_its_digest(good):
    with zipfile.ZipFile(io.BytesIO(good[0])) as file:
        assert file.testzip() is None
        assert file.comment.decode().endswith(hashlib.sha256(good[0][:-64]).hexdigest())


# files of a forger, whose digest fits


def _without(name):
    return lambda tree: tree["fitted"].pop(name)


def _set(part, name, value):
    return lambda tree: tree[part].update({name: value})


FORGED = {
    "no answers": (_without("readout_"), "all attributes of a fitted SparseBDR, got none named 'readout_'"),
    "no names": (_without("view_names_in_"), "got none named 'view_names_in_'"),
    "other names": (_set("fitted", "view_names_in_", ["a", "b", "x"]), "expected the names of the views"),
    "width": (_set("fitted", "n_features_in_", 7), "expected the number of features of all views"),
    "type": (_set("fitted", "readout_", 3), "expected Readout for readout_, got a int"),
    "dropped": (_set("fitted", "dropped_", [1, 2]), "expected a finite embedding"),
    "parameter": (_set("parameters", "n_clusters", -1), "n_clusters == -1"),
    "word": (_set("parameters", "on_empty", "keep"), "on_empty must be 'raise' or 'drop', got 'keep'"),
    "weight": (_set("parameters", "alpha", -1.0), "must be positive and finite, got -1.0"),
}


@pytest.mark.parametrize(("change", "message"), FORGED.values(), ids=FORGED.keys())
def test_parts_that_do_not_go_together_are_refused(change, message, good, tmp_path):
    tree = json.loads(good[1]["model.json"])
    change(tree)
    write(tmp_path / "bad.jella", {**good[1], "model.json": tree})
    with pytest.raises(ValueError, match=message):
        jella.load(tmp_path / "bad.jella")


@pytest.mark.parametrize("method", [jella.SparseBDR, jella.DAIMC, jella.IRMKMC, jella.RPCA, jella.MIC, jella.RAMC])
def test_tampered_files_are_refused_or_answer(method, tmp_path):
    path, bad = tmp_path / "model.jella", tmp_path / "bad.jella"
    fitted(method, frames_of(data_for(method), pd.Index([f"s{i}" for i in range(40)]))).save(path)
    assert outcome(path) == "answers"
    found = []
    for seed in range(30):
        bad.write_bytes(tampered(path, seed))
        found.append(outcome(bad))
    assert set(found) == {"refused", "answers"}, found
    assert found.count("refused") >= 15


def test_files_that_are_no_archives_are_refused(good, tmp_path):
    content, path = good[0], tmp_path / "bad.jella"
    for broken, message in [
        (b"", "expected a zip archive in .*bad.jella', got something else; save the model again"),
        (pickle.dumps([1, 2]), "got something else"),
        *[(content[: int(share * len(content))], "cut short or damaged") for share in (0.1, 0.5, 0.9, 0.999)],
        *[(_flipped(content, number), "save the model again") for number in (1, 10, -1)],
    ]:
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=message) as caught:
            jella.load(path)
        assert re.search(r"bad\.jella", str(caught.value))
    with pytest.raises(FileNotFoundError):
        jella.load(tmp_path / "nothing.jella")


def _flipped(content, number):
    """The file with one byte changed in the middle of the data of a member."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        member = file.infolist()[number]
    where = member.header_offset + 30 + len(member.filename) + member.compress_size // 2
    return content[:where] + bytes([content[where] ^ 255]) + content[where + 1 :]


def test_values_that_are_nested_too_deeply_are_refused():
    node = 1
    for _ in range(60):
        node = {"kind": "tuple", "parts": {"items": [node]}}
    with pytest.raises(ValueError, match="nested at most 50 deep"):
        Decoder(None, []).decode(node)
