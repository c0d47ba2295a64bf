"""Docstrings state the parameters and defaults of the signatures; parts of a problem state what they compute."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import pytest

import jella
from jella.estimators.base import BaseMultiView
from jella.problem.terms.base import Part
from jella.solve import relaxation, updates
from jella.solve.relaxation import Relaxation


def _classes(module: Any, kind: type) -> list[type]:
    """Concrete public classes of a module that are of a kind."""
    names = getattr(module, "__all__", None) or vars(module)
    found = [getattr(module, name) for name in names]
    return [
        thing for thing in found if inspect.isclass(thing) and issubclass(thing, kind) and not inspect.isabstract(thing)
    ]


ESTIMATORS = _classes(jella, BaseMultiView)
PARTS = _classes(jella.terms, Part)
CLASSES = [
    *ESTIMATORS,
    *_classes(jella.terms, object),
    *_classes(relaxation, Relaxation),
    *_classes(updates, updates.Update),
]
#: a sum, a norm, a relation, a trace, or a function of an entry
FORMULA = r"[Σ‖=≤≥∈]|(max|min|argmin|tr)[(_]"


def section(kind: type, title: str) -> str:
    """Text of a section of a class's own docstring, empty where there is none."""
    doc = inspect.cleandoc(kind.__doc__ or "")
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", doc, flags=re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


def documented(kind: type) -> dict[str, str]:
    """What the Parameters section says after the colon, by name, in its order."""
    entries = re.findall(r"^(\w[\w, ]*?)(?: : (.*))?$", section(kind, "Parameters"), flags=re.MULTILINE)
    return {name: text for names, text in entries for name in names.split(", ")}


def defaults_of(kind: type) -> dict[str, Any]:
    """Defaults by name, in the order of the signature."""
    if kind.__init__ is object.__init__:
        return {}
    return {name: parameter.default for name, parameter in inspect.signature(kind).parameters.items()}


def differences(kind: type) -> list[str]:
    """Where the docstring and the signature differ, one sentence each."""
    said, defaults = documented(kind), defaults_of(kind)
    if list(said) != list(defaults):
        return [f"documents {list(said)}, takes {list(defaults)}"]
    wrong = [name for name in said if not agrees(said[name], defaults[name])]
    return [f"says '{name} : {said[name]}', has {defaults[name]!r}" for name in wrong]


def agrees(text: str, default: Any) -> bool:
    """Whether 'type, default=VALUE', 'type, optional' (None) or 'type' (no default) states the default."""
    stated = re.search(r", default=(.+)$", text)
    if default is inspect.Parameter.empty or default is None:
        return stated is None and text.endswith(", optional") == (default is None)
    return stated is not None and "optional" not in text and repr(ast.literal_eval(stated.group(1))) == repr(default)


def test_there_are_classes_to_walk():
    names = {kind.__name__ for kind in CLASSES}
    assert {"SparseBDR", "RAMC", "RPCA", "Support", "Squared", "SOR", "LMaFitSOR", "Sylvester"} <= names
    assert len(ESTIMATORS) >= 13
    assert {"Ridge", "SampleNorm", "SparseBlockDiagonal"} <= {kind.__name__ for kind in PARTS}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_parameters_are_documented_in_order_with_their_defaults(kind):
    assert differences(kind) == []


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_estimators_document_what_a_fit_sets_and_give_an_example(kind):
    assert "_ : " in section(kind, "Attributes")
    assert ">>> " in section(kind, "Examples")
    assert ".. [1] " in section(kind, "References")


@pytest.mark.parametrize("kind", PARTS, ids=lambda kind: kind.__name__)
def test_parts_have_their_formula_their_step_and_a_reference(kind):
    text = re.split(r"(?:Parameters|References)\n---", inspect.cleandoc(kind.__doc__))[0]
    first, *others = text.split("\n\n")
    assert re.search(FORMULA, first)
    steps = [paragraph for paragraph in others if re.search(r"\b(prox|projection|updates?)\b", paragraph)]
    assert any(re.search(FORMULA, step) for step in steps)
    assert re.search(r"^\.\. \[1\] \w[^[]*\b(19|20)\d\d\b", section(kind, "References"), flags=re.MULTILINE)


class Sound:
    """Agrees with its signature.

    Parameters
    ----------
    data : array
        Needed.
    size, span : float, default=1.0
        Two of a kind.
    kind : {'a', 'b'}, default='a'
    seed : int, optional
    """

    def __init__(self, data, size=1.0, span=1.0, *, kind="a", seed=None):
        pass


def test_a_sound_docstring_passes():
    assert differences(Sound) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("default='a'", "default='b'"),
        ("default=1.0", "default=1"),
        ("seed : int, optional", "seed : int"),
        ("seed : int, optional", "seed : int, default=None"),
        ("data : array", "data : array, optional"),
        ("size, span", "span, size"),
        ("size, span", "size"),
        ("kind : {'a', 'b'}, default='a'", "kind : {'a', 'b'}"),
        ("seed", "more : int\n    seed"),
        ("seed", "others\n    seed"),
    ],
)
def test_a_wrong_docstring_is_noticed(right, wrong):
    assert right in Sound.__doc__
    broken = type("Broken", (Sound,), {"__doc__": Sound.__doc__.replace(right, wrong)})
    assert differences(broken)
