"""The numbers that the paper prints, and a page with ours beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from jella_experiments.cell import Cell
from jella_experiments.summary import BY_LABELS, NOTHING, RULES, Found, Place, Summary, strategies, summaries
from jella_experiments.tables import ABSENT, DIGITS, HEADS, Column, ResultTable, TableEntry


class Printed(NamedTuple):
    """A mean with its standard deviation, as printed."""

    mean: float
    std: float


REMARKS = {
    "Caltech7": "our features of Caltech7 were extracted again from the images, so the numbers are not comparable cell "
    "by cell",
    "PIE": "our PIE has 2856 of the paper's 11554 images, with features extracted again",
    "Trecvid": "the Trecvid set was not available, so we have no numbers for it",
}
SCORE_OF_TABLE = {"table-nmi": "nmi", "table-adjri": "ari"}

# data set, m, then PVC, MVL-IV, IMG, DAIMC, IML-BDR
_NMI = """
Caltech7 0.1 .403(.058) .602(.027) .609(.010) .363(.042) .684(.014)
Caltech7 0.2 .322(.059) .628(.033) .614(.012) .281(.034) .677(.020)
Caltech7 0.3 .235(.029) .637(.023) .556(.066) .236(.024) .666(.019)
Caltech7 0.4 .161(.060) .617(.028) .513(.081) .199(.018) .650(.018)
Caltech7 0.5 .127(.049) .610(.028) .420(.024) .149(.026) .636(.020)
Trecvid 0.1 .143(.051) .236(.036) .251(.003) .155(.028) .281(.008)
Trecvid 0.2 .167(.029) .234(.028) .226(.007) .142(.009) .270(.010)
Trecvid 0.3 .113(.043) .213(.044) .210(.010) .114(.016) .261(.015)
Trecvid 0.4 .034(.039) .197(.040) .195(.009) .090(.021) .252(.012)
Trecvid 0.5 .009(.002) .168(.042) .175(.005) .069(.025) .235(.012)
PIE 0.1 .141(.005) .140(.015) .160(.003) .139(.014) .172(.004)
PIE 0.2 .132(.010) .107(.004) .143(.001) .119(.001) .173(.008)
PIE 0.3 .115(.005) .110(.007) .132(.003) .103(.003) .175(.007)
PIE 0.4 .101(.001) .124(.009) .122(.003) .090(.000) .137(.012)
PIE 0.5 .096(.002) .092(.005) .106(.005) .079(.002) .114(.008)
"""
_ADJRI = """
Caltech7 0.1 .317(.068) .507(.043) .523(.017) .298(.047) .602(.034)
Caltech7 0.2 .240(.049) .530(.043) .529(.022) .222(.035) .590(.048)
Caltech7 0.3 .179(.032) .555(.037) .470(.067) .184(.022) .581(.037)
Caltech7 0.4 .110(.053) .524(.041) .437(.076) .137(.019) .563(.027)
Caltech7 0.5 .072(.035) .521(.032) .340(.027) .081(.020) .560(.022)
Trecvid 0.1 .109(.047) .184(.044) .209(.006) .100(.045) .237(.006)
Trecvid 0.2 .147(.050) .193(.035) .182(.009) .129(.019) .227(.009)
Trecvid 0.3 .091(.041) .172(.045) .160(.014) .094(.028) .220(.011)
Trecvid 0.4 .025(.032) .142(.046) .138(.015) .064(.025) .210(.009)
Trecvid 0.5 .003(.005) .129(.040) .107(.005) .056(.018) .191(.010)
PIE 0.1 .013(.001) .021(.003) .016(.000) .015(.004) .022(.001)
PIE 0.2 .012(.002) .013(.001) .013(.000) .011(.001) .023(.003)
PIE 0.3 .009(.001) .015(.001) .010(.001) .008(.000) .023(.001)
PIE 0.4 .007(.000) .019(.002) .008(.000) .006(.000) .016(.004)
PIE 0.5 .004(.001) .011(.001) .006(.000) .005(.000) .010(.001)
"""
# data set, m, then RMSE, NMI and AdjRI of RPCA + RAMC, RRMC + RAMC and IML-BDR
_COMPLETION = """
Caltech7 0 - .592(.049) .334(.084) - .592(.049) .334(.084) - .703(.044) .644(.078)
Caltech7 0.1 .0477(.0001) .103(.009) .060(.021) .0955(.0013) .397(.060) .143(.085) .0331(.0001) .684(.014) .602(.034)
Caltech7 0.2 .0478(.0001) .086(.009) .043(.014) .1258(.0021) .372(.074) .108(.070) .0333(.0001) .677(.020) .590(.048)
Caltech7 0.3 .0478(.0002) .083(.009) .041(.019) .1526(.0030) .325(.081) .088(.043) .0335(.0001) .666(.019) .581(.037)
Caltech7 0.4 .0480(.0001) .074(.012) .039(.015) .1783(.0048) .328(.060) .089(.049) .0337(.0001) .650(.018) .563(.027)
Caltech7 0.5 .0481(.0002) .061(.009) .034(.014) .1962(.0033) .302(.082) .082(.054) .0342(.0001) .636(.020) .560(.022)
Trecvid 0 - .223(.007) .062(.004) - .223(.007) .062(.004) - .274(.002) .232(.008)
Trecvid 0.1 .1730(.0007) .086(.018) .055(.013) .1141(.0034) .191(.034) .045(.014) .0252(.0000) .281(.008) .237(.006)
Trecvid 0.2 .1739(.0010) .080(.009) .055(.012) .1589(.0061) .165(.032) .049(.008) .0253(.0000) .270(.010) .227(.009)
Trecvid 0.3 .1758(.0011) .084(.010) .058(.010) .1936(.0040) .171(.042) .047(.007) .0254(.0000) .261(.015) .220(.011)
Trecvid 0.4 .1761(.0012) .076(.014) .047(.009) .2212(.0047) .118(.021) .045(.014) .0257(.0001) .252(.012) .210(.009)
Trecvid 0.5 .1777(.0015) .069(.015) .050(.015) .2467(.0031) .114(.031) .037(.011) .0258(.0001) .235(.012) .191(.010)
PIE 0 - .186(.002) .0004(.0000) - .186(.002) .0004(.0000) - .208(.003) .029(.001)
PIE 0.1 .0456(.0000) .065(.001) .002(.000) .1083(.0011) .178(.003) .0004(.0001) .0260(.0008) .172(.004) .022(.001)
PIE 0.2 .0458(.0000) .065(.002) .002(.000) .1526(.0012) .132(.025) .0003(.0000) .0315(.0037) .173(.008) .023(.003)
PIE 0.3 .0460(.0000) .059(.000) .002(.000) .1869(.0024) .136(.034) .0002(.0000) .0306(.0010) .175(.007) .023(.001)
PIE 0.4 .0463(.0000) .060(.002) .001(.000) .2162(.0015) .124(.035) .0002(.0000) .0359(.0037) .137(.012) .016(.004)
PIE 0.5 .0468(.0000) .057(.002) .001(.000) .2432(.0011) .114(.030) .0001(.0000) .0449(.0030) .114(.008) .010(.001)
"""
#: seconds and sweeps by data set and strategy
SOR = {
    ("Caltech7", "basic"): (7.877, 109),
    ("Caltech7", "basic + SOR"): (5.183, 62),
    ("Trecvid", "basic"): (85.931, 173),
    ("Trecvid", "basic + SOR"): (47.605, 84),
}


def _read(text: str, columns: Iterable[tuple[str, str]]) -> dict[tuple[str, float, str, str], Printed]:
    """Numbers by data set, m, method and score."""
    heads, figures = list(columns), {}
    for line in text.split("\n")[1:-1]:
        dataset, rate, *cells = line.split()
        for (method, score), cell in zip(heads, cells, strict=True):
            if cell != "-":
                mean, _, std = cell.removesuffix(")").partition("(")
                figures[dataset, float(rate), method, score] = Printed(float(mean), float(std))
    return figures


_COMPARED = ("PVC", "MVL-IV", "IMG", "DAIMC", "IML-BDR")
_COMPLETED = ("RPCA + RAMC", "RRMC + RAMC", "IML-BDR")
#: by data set, m, method and score
PRINTED = (
    _read(_NMI, product(_COMPARED, ["nmi"]))
    | _read(_ADJRI, product(_COMPARED, ["ari"]))
    | _read(_COMPLETION, product(_COMPLETED, ["rmse", "nmi", "ari"]))
)


def published_page(planned: Mapping[str, Sequence[Cell]], found: Found) -> str:
    """Markdown with our numbers / the paper's, for data sets that we have run; empty if there are none.

    Parameters
    ----------
    planned : mapping of artefact to its cells
    found : mapping of Cell to result
    """
    sections = [_clusters(planned[name], found, score) for name, score in SCORE_OF_TABLE.items()]
    sections += [_completion(planned["table-completion"], found), _sor(planned["table-sor"], found)]
    if not any(sections):
        return ""
    remarks = "; ".join(REMARKS.values())
    intro = f"Each entry is our number / the paper's. {RULES[BY_LABELS]} Not directly comparable: {remarks}."
    return "\n".join(["# Beside the paper's printed numbers", "", intro, "", *filter(None, sections)])


def _clusters(cells: Sequence[Cell], found: Found, score: str) -> str:
    ours = summaries(cells, found, score, BY_LABELS)
    columns = [(method, score) for method in _COMPARED]
    return _pairs(f"## {HEADS[score]}, incomplete-view setting", columns, {score: ours})


def _completion(cells: Sequence[Cell], found: Found) -> str:
    scores = ("rmse", "nmi", "ari")
    ours = {score: summaries(cells, found, score, BY_LABELS) for score in scores}
    title = (
        "## Completion\n\nOur RMSE is over the missing entries; the paper's formula is over the whole matrix, and it "
        "does not say how observed entries count."
    )
    return _pairs(title, list(product(_COMPLETED, scores)), ours)


def _pairs(title: str, columns: list[tuple[str, str]], ours: Mapping[str, Mapping[Place, Summary]]) -> str:
    """A table of our numbers / the paper's; an empty text if no data set of the paper's table has run."""
    places = {place for there in ours.values() for place, summary in there.items() if summary.n}
    spots = sorted({(place.dataset, place.rate, place.setting) for place in places})
    rows = []
    for dataset, rate, setting in spots:
        if not any((dataset, rate, *column) in PRINTED for column in columns):
            continue
        entries = (
            _pair(
                ours[score].get(Place(dataset, setting, rate, method), NOTHING),
                PRINTED.get((dataset, rate, method, score)),
                DIGITS[score],
            )
            for method, score in columns
        )
        rows.append(((dataset, f"{rate:g}"), tuple(entries)))
    single = len({score for _, score in columns}) == 1
    heads = tuple(Column(method) if single else Column(HEADS[score], over=method) for method, score in columns)
    return ResultTable(title, ("Datasets", "m"), heads, tuple(rows)).markdown() if rows else ""


def _pair(ours: Summary, theirs: Printed | None, digits: int) -> TableEntry:
    shown = f"{ours.mean:.{digits}f}" if ours.n else ABSENT
    return TableEntry(f"{shown} / {theirs.mean:.{digits}f}" if theirs else shown)


def _sor(cells: Sequence[Cell], found: Found) -> str:
    seconds, sweeps = strategies(cells, found, "fit_seconds"), strategies(cells, found, "n_iter")
    rows = [
        (
            (dataset, strategy),
            (
                TableEntry(f"{seconds[dataset, strategy].mean:.2f} / {took:.2f}"),
                TableEntry(f"{sweeps[dataset, strategy].mean:.0f} / {n}"),
            ),
        )
        for (dataset, strategy), (took, n) in SOR.items()
        if (dataset, strategy) in seconds and seconds[dataset, strategy].n
    ]
    title = "## Basic and SOR\n\nSeconds are from different machines; ours are at default weights."
    return (
        ResultTable(title, ("Datasets", "strategy"), (Column("seconds"), Column("sweeps")), tuple(rows)).markdown()
        if rows
        else ""
    )
