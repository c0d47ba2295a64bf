"""Every Python block of the documentation runs, page by page; public things are documented."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType

import pytest

import jella
import jella_experiments
from jella.cli.parser import make_parser

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md"))]
#: folders of pages that `make docs` writes from examples
MADE_BY_THE_SITE = ("tutorials/", "gallery/")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_blocks_run(page, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    module = ModuleType("docs")  # classes of a page are pickled by the name of their module
    monkeypatch.setitem(sys.modules, "docs", module)
    for block in blocks:
        exec(compile(block, str(page), "exec"), vars(module))


def test_the_page_on_own_methods_keeps_its_promise():
    page = (ROOT / "docs" / "your-own-method.md").read_text()
    for name in ("SoftCap", "OneComponent", "BestComponent", "CappedParts"):
        body = re.search(rf"^class {name}.*?(?=^\w)", page, flags=re.MULTILINE | re.DOTALL)
        assert body is not None
        assert len(body.group(0).strip().splitlines()) < 30


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!http)([^)#]*)(?:#([^)]*))?\)", page.read_text()):
        file = page.parent / target if target else page
        made = any(target.startswith(folder) for folder in MADE_BY_THE_SITE)
        assert made or file.exists() or file.with_suffix(".rst").exists(), target
        assert not anchor or anchor in anchors(file), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as code hosts and the site make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_of_pages_exist_with_their_options(page):
    parser, _ = make_parser()
    for line in re.findall(r"^\$ (jella .*)$", page.read_text(), flags=re.MULTILINE):
        words = shlex.split(line, comments=True)[1:]
        if "--config" not in words:  # a file of options stands for required ones
            parser.parse_args(words)


def _public():
    for module in (
        jella,
        jella.datasets,
        jella_experiments,
        jella.io,
        jella.metrics,
        jella.plot,
        jella.report,
        jella.terms,
    ):
        for name in getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]:
            thing = getattr(module, name)
            if inspect.isclass(thing) or (inspect.isfunction(thing) and thing.__module__.startswith("jella")):
                yield pytest.param(thing, id=f"{module.__name__}.{name}")


def test_the_api_reference_has_everything_that_is_public():
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.rst"))
    listed = {name.rpartition(".")[2] for name in re.findall(r"^   ([A-Za-z][\w.]*)$", pages, flags=re.MULTILINE)}
    modules = [thing for name in jella.__all__ if inspect.ismodule(thing := getattr(jella, name))]
    public = {name for module in (jella, *modules) for name in module.__all__}
    assert public - listed - {module.__name__.rpartition(".")[2] for module in modules} - {"__version__"} == set()


@pytest.mark.parametrize("thing", list(_public()))
def test_public_things_are_documented_and_called_simply(thing):
    assert thing.__doc__
    record = is_dataclass(thing) or (inspect.isclass(thing) and issubclass(thing, Exception))
    if not record:
        parameters = inspect.signature(thing).parameters.values()
        positional = [p for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        assert len(positional) <= 3, positional
    for name, method in inspect.getmembers(thing, inspect.isfunction):
        if not name.startswith("_") and method.__module__.startswith("jella"):
            assert method.__doc__, name


def test_importing_is_light():
    """Nothing heavy loads with `import jella`; names load what they need when asked for."""
    code = (
        "import sys, jella; heavy = {'sklearn', 'pandas', 'scipy', 'matplotlib', 'torch'} & set(sys.modules); "
        "assert not heavy, heavy; jella.MVLIV; assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = jella.nothing
    assert set(jella.__all__) <= set(dir(jella))
