"""Hand-written hostile files, made to let a reader fail, wait, allocate, leak, or write elsewhere."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from campaign import bombs, broken_data, commands, links, sandbox, strange_names
from campaign.attack import Attack, Finding
from campaign.recipes import Recipe

RECIPES: tuple[Recipe, ...] = (*bombs.RECIPES, *broken_data.RECIPES, *strange_names.RECIPES, *links.RECIPES)


def attacks() -> list[Attack]:
    """Each recipe with each of its commands."""
    return [
        Attack(
            "handmade", recipe.group, f"{recipe.group}: {recipe.name} [{command}]", partial(_strike, recipe, command)
        )
        for recipe in RECIPES
        for command in recipe.commands
    ]


def _strike(recipe: Recipe, command: str, root: Path) -> Finding:
    place = sandbox.make_place(root)
    (root / "secret").mkdir()
    made = sandbox.fork(lambda: _written(recipe, place), root, limit=40.0)
    if made.code != 0:
        return made.finding("harness", "not made")
    return commands.strike(root, place, made.out.decode(), command, recipe.check)


def _written(recipe: Recipe, place: Path) -> int:
    import warnings

    warnings.simplefilter("ignore")
    print(recipe.write(place), end="")
    return 0
