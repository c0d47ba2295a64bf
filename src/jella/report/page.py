"""The report as one HTML file that contains all it needs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from jella.describe.subject import Absent
from jella.numerics.progress import StatusLine, doing
from jella.report.cluster_sections import cluster_colours
from jella.report.data import ReportData
from jella.report.figure_parts import few_digits
from jella.report.figures import all_figures, checked_figure, library
from jella.report.map_section import points_of
from jella.report.markup import Markup, embedded, joined, tag
from jella.report.sections import Section, all_sections

#: the script of the page, in the order in which its parts need each other
SCRIPTS = ("data", "clusters", "theme", "figures", "map", "selection", "tables", "names", "keyboard", "start")


def write_report(
    path: Any,
    model: Any,
    X: Any,
    *,
    observed: Any = None,
    metadata: Any = None,
    survival: tuple[str, str] | None = None,
    labels: Any = None,
    command: str | None = None,
    seed: int | None = None,
    title: str | None = None,
    held_out: bool = True,
    notes: Sequence[str] = (),
    progress: bool = False,
) -> Path:
    """Write a report on a fitted model and its data as one HTML file, which needs no network.

    Parameters
    ----------
    path : str or Path
        The file to write; its folder must exist.
    model : estimator of jella
        Fitted. Not modified, except that a SparseBDR of few samples learns from hidden values as at its first call of
        `complete`, and gathers evidence for its clusters: six to ten fits, unless it has evidence=False. With more
        than 1000 samples (3000 of few features; for evidence, at least 40 per cluster) this is done with a part of
        these, unless the model has done it before (`learn_completion`, `gather_evidence`), and the page says so.
    X : as in the model's fit
        The views that it was fitted on.
    observed : as in the model's fit
    metadata : DataFrame or dict of name -> column, optional
        What is known about the samples: the embedding can be coloured by it, and clusters are compared with it. A
        DataFrame is aligned by its index if the views have one; anything else must be in the order of the samples.
    survival : (str, str), optional
        Columns of the metadata with a time, and whether the event happened then (1) or not until then (0).
    labels : array (n,) or Series, optional
        True classes, used only to score the clusters; None or NaN if unknown.
    command : str, optional
        The command that was run, which the report quotes.
    seed : int, optional
        Seed of the random choices: hidden values, restarts, points shown. By default that of the model, or 0.
    title : str, optional
    held_out : bool, default=True
        Hide some values and fit again, to show how well they are predicted; a SparseBDR that has completed something
        knows this already. False avoids these fits.
    notes : sequence of str, optional
        Sentences on how the data were prepared, which the summary ends with.
    progress : bool, default=False
        Write what is being done to standard error.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import jella, tempfile
    >>> views = [view[:60] for view in jella.datasets.load_digits_views().data.values()]
    >>> model = jella.SparseBDR(4, random_state=0).fit(views)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(f"{folder}/report.html", model, views, title="Digits").stat().st_size < 8e6
    True
    """
    file = Path(path)
    if not file.parent.is_dir():
        raise ValueError(f"expected a path in a folder that exists, got {str(file)!r}; make {str(file.parent)!r} first")
    with StatusLine(enabled=progress, prefix="report: "):
        data = ReportData.of(
            model,
            X,
            observed=observed,
            metadata=metadata,
            survival=survival,
            labels=labels,
            command=command,
            seed=seed,
            title=title,
            held_out=held_out,
            notes=notes,
        )
        doing("writing the page")
        text = render(data)
    file.write_text(text, encoding="utf-8", errors="xmlcharrefreplace")  # a name may hold half a character
    return file


def render(data: ReportData) -> str:
    """The HTML of the page."""
    figures = {identity: checked_figure(figure) for identity, figure in all_figures(data).items()}
    points = None if isinstance(data.maps, Absent) else points_of(data.maps, data.sample_names, few_digits)
    several = data.clusters.tolist() if data.clusters.size > 1 else []
    colours = cluster_colours(len(several))
    clusters = {
        "ids": several,
        "sizes": data.sizes.tolist() if several else [],
        "light": [light for light, _ in colours],
        "dark": [dark for _, dark in colours],
    }
    sections = all_sections(data)
    links = [tag("li", tag("a", part.short, href=f"#{part.anchor}")) for part in sections]
    found = data.provenance
    return Template(_part("page.html")).substitute(
        title=joined([data.title]),
        subtitle=joined(
            [tag("span", f"jella {found.versions['jella']} · {data.method}"), " · ", tag("span", found.date)]
        ),
        style="\n".join(_part(f"style/{name}.css") for name in ("page", "parts", "print")),
        links=joined(links),
        sections=joined(_section(part) for part in sections),
        highlight=_highlight(several),
        data=joined(
            [
                embedded("data-figures", figures),
                embedded("data-points", points),
                embedded("data-clusters", clusters),
                embedded("data-names", {}),
            ]
        ),
        library=library(),
        script="\n".join(_part(f"script/{name}.js") for name in SCRIPTS),
    )


def _highlight(clusters: list[int]) -> Markup:
    """The chooser of the cluster that all plots, cards and tables show in front."""
    if not clusters:
        return Markup()
    options = [
        tag("option", f"Cluster {cluster}", value=str(i), data_name_of=str(i)) for i, cluster in enumerate(clusters)
    ]
    every = tag("option", "all clusters", value="")
    return tag("label", tag("span", "Highlight ", class_="unseen"), tag("select", every, *options, id="highlight"))


def _section(part: Section) -> Markup:
    title = f"{part.anchor}-title"
    return tag("section", tag("h2", part.heading, id=title), part.body, id=part.anchor, aria_labelledby=title)


def _part(name: str) -> str:
    return files("jella.report").joinpath(name).read_text(encoding="utf-8")
