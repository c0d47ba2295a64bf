"""Tampered models: `jella transform` with a model file that was changed after it was saved."""

from __future__ import annotations

import importlib.util
import shutil
from functools import cache, partial
from pathlib import Path

import numpy as np

from campaign import sandbox
from campaign.attack import SEED, Attack, Finding
from campaign.files import originals, put
from campaign.mutate import damage

METHODS = ("MVLIV", "SparseBDR", "PVC", "IMG", "DAIMC")


def attacks(count: int = 500) -> list[Attack]:
    """Changed models of several methods in turn."""
    return [
        Attack("models", METHODS[n % len(METHODS)], f"{METHODS[n % len(METHODS)]}-{n}", partial(_strike, n))
        for n in range(count)
    ]


@cache
def saved(scratch: Path) -> Path:
    """A folder with a fitted model of each method."""
    place = scratch / "models"
    if not place.exists():
        place.mkdir()
        work = scratch / "fitting"
        work.mkdir()
        sandbox.make_place(work)
        made = sandbox.fork(partial(_fit, originals(scratch) / "folder" / "data", place), work)
        if made.code != 0:
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


def _tampered(path: Path, seed: int) -> bytes:
    """The changed content of a model file."""
    if importlib.util.find_spec("campaign.tampered") is not None:
        from campaign.tampered import tampered

        return tampered(path, seed)
    content = path.read_bytes()
    return damage(content, [content[::-1]], np.random.default_rng((SEED, seed)))[1]


def _strike(number: int, root: Path) -> Finding:
    place = sandbox.make_place(root)
    put(originals(root.parent) / "folder" / "data", place)
    model = saved(root.parent) / f"{METHODS[number % len(METHODS)]}.jella"
    made = sandbox.fork(lambda: _write(place / "model.jella", model, number), root)
    if made.code != 0:
        return made.finding("harness", "not made")
    before = sandbox.snapshot(root)
    run = sandbox.fork(_transform, root)
    changed = sandbox.changes(before, sandbox.snapshot(root), [str(sandbox.WORK / "out")])
    verdict = sandbox.verdict(run, changed)
    if verdict == "ok" and run.code == 2 and (place / "out").exists():
        verdict = "mixture"
    if verdict != "ok" or importlib.util.find_spec("campaign.tampered") is None:
        return run.finding(verdict, {0: "done", 2: "refused"}.get(run.code, ""))
    judged = sandbox.fork(_outcome, root)
    return judged.finding(sandbox.verdict(judged), judged.out.decode(errors="replace").strip()[:60])


def _write(path: Path, model: Path, number: int) -> int:
    path.write_bytes(_tampered(model, number))
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
