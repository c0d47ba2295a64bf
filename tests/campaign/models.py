"""Tampered models: `jella transform` with a model file that was changed after it was saved."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from campaign import sandbox
from campaign.attack import SEED, Attack, Finding
from campaign.files import originals, put
from campaign.mutate import damage

METHODS = ("MVLIV", "SparseBDR", "PVC", "IMG", "DAIMC")


def attacks(count: int = 500) -> list[Attack]:
    """Models of several methods in turn: three of four changed by a forger, whose digest fits, the others damaged."""
    made = []
    for n in range(count + count // 3):
        method, how = METHODS[n % len(METHODS)], "damaged" if n % 4 == 3 else "forged"
        made.append(Attack("models", f"{method}, {how}", f"{method} {how} {n}", partial(_strike, n, method, how)))
    return made


@cache
def saved(scratch: Path) -> Path:
    """A folder with a fitted model of each method."""
    place = scratch / "models"
    if not place.exists():
        place.mkdir()
        work = scratch / "fitting"
        sandbox.make_place(work)
        made = sandbox.fork(partial(_fit, originals(scratch) / "folder" / "data", place), work)
        if made.code != 0:
            shutil.rmtree(place)
            raise RuntimeError(f"cannot make models: {made.err.decode()}")
        shutil.rmtree(work)
    return place


def _fit(data: Path, place: Path) -> int:
    import warnings

    import jella

    warnings.simplefilter("ignore")
    views = jella.io.read(data).views
    for name in METHODS:
        jella_kind = getattr(jella, name)
        jella_kind(n_clusters=2, random_state=0).fit(views).save(place / f"{name}.jella")
    return 0


def _tampered(path: Path, seed: int, how: str) -> bytes:
    """The changed content of a model file."""
    if how == "forged":
        from campaign.tampered import tampered

        return tampered(path, seed)
    content = path.read_bytes()
    return damage(content, [content[::-1]], np.random.default_rng((SEED, seed)))[1]


def _strike(number: int, method: str, how: str, root: Path) -> Finding:
    place = sandbox.make_place(root)
    put(originals(root.parent) / "folder" / "data", place)
    model = saved(root.parent) / f"{method}.jella"
    made = sandbox.fork(lambda: _write(place / "model.jella", model, number, how), root)
    if made.code != 0:
        return made.finding("harness", "not made")
    before = sandbox.snapshot(root)
    run = sandbox.fork(_transform, root)
    changed = sandbox.changes(before, sandbox.snapshot(root), [str(sandbox.WORK / "out")])
    verdict, state = sandbox.verdict(run, changed), {0: "done", 2: "refused"}.get(run.code, "")
    if verdict == "ok" and run.code == 2 and (place / "out").exists():
        verdict = "mixture"
    if verdict != "ok":
        return run.finding(verdict, state)
    if how == "damaged":
        same = (place / "model.jella").read_bytes() == model.read_bytes()
        return run.finding("ok" if run.code == 2 or same else "not noticed", state)
    judged = sandbox.fork(_outcome, root)
    what, _, why = judged.out.decode(errors="replace").strip().partition(":")
    verdict = sandbox.verdict(judged)
    found = judged.finding(what if verdict == "ok" and why else verdict, f"{state}, library {what}")
    return replace(found, said=why or found.said)


def _write(path: Path, model: Path, number: int, how: str) -> int:
    path.write_bytes(_tampered(model, number, how))
    return 0


def _transform() -> int:
    from jella.cli.main import main

    return main(["transform", "model.jella", "data", "-o", "out", "--quiet"])


def _outcome() -> int:
    import warnings

    from campaign.tampered import outcome

    warnings.simplefilter("ignore")
    print(outcome(Path("model.jella")))
    return 0
