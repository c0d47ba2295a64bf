"""Descriptions of published multi-view sets: sizes, views, classes, and names of their files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Description:
    """The description of a data set: what its file must hold, and how to recognise the file by its name.

    Attributes
    ----------
    name : str
    n_samples, n_classes : int
    views : dict of str to int
        Widths of the views, in order.
    pattern : str
        Regular expression, in lower case, for the path below the data folder; folders end in '/'.
    source : str
        What the samples are, and who published them.
    in_paper : bool
        Whether the JELLA paper uses the set, with these views.
    """

    name: str
    n_samples: int
    n_classes: int
    views: dict[str, int]
    pattern: str
    source: str
    in_paper: bool = False


_PAPER = (
    Description(
        "MSRC-v1", 210, 7, {"sift200": 200, "lbp256": 256}, r"msrc", "photographs of objects, Microsoft Research", True
    ),
    Description(
        "Yale",
        165,
        15,
        {"sift50": 50, "gist512": 512, "lbp256": 256},
        r"yale(?!.?b)",
        "faces of 15 persons, Yale University",
        True,
    ),
    Description(
        "Corel5k",
        4999,
        50,
        {"gist512": 512, "densesift1000": 1000, "densehue100": 100},
        r"corel",
        "stock photographs of 50 subjects, Corel",
        True,
    ),
    Description(
        "Caltech7",
        441,
        7,
        {"sift200": 200, "surf200": 200, "lbp256": 256},
        r"caltech",
        "photographs of 7 of the subjects of Caltech-101, California Institute of Technology",
        True,
    ),
    Description(
        "Trecvid",
        1078,
        5,
        {"text1894": 1894, "hsv165": 165},
        r"trecvid",
        "shots of television news with their transcripts, TRECVID 2003, to be asked for at NIST",
        True,
    ),
    Description(
        "PIE",
        11554,
        68,
        {"sift50": 50, "lbp256": 256},
        r"(^|[/_-])pie",
        "faces of 68 persons, Carnegie Mellon University",
        True,
    ),
)

_OTHERS = (
    Description(
        "MSRC-v1 (5 views)",
        210,
        7,
        {"cm24": 24, "hog576": 576, "gist512": 512, "lbp256": 256, "centrist254": 254},
        r"msrc",
        "the images of MSRC-v1, other features and another order",
    ),
    Description(
        "Handwritten",
        2000,
        10,
        {"pix": 240, "fou": 76, "fac": 216, "zer": 47, "kar": 64, "mor": 6},
        r"handwritten|mfeat|digits",
        "handwritten digits in six feature sets, UCI (multiple features)",
    ),
    Description(
        "3Sources",
        169,
        6,
        {"bbc": 3560, "guardian": 3631, "reuters": 3068},
        r"3.?sources.*\.mat$",
        "news stories told by three newspapers, the part that all three told, University College Dublin",
    ),
    Description(
        "3Sources (416)",
        416,
        6,
        {"bbc": 3560, "guardian": 3631, "reuters": 3068},
        r"3.?sources.*/$",
        "all stories of 3Sources: views are missing by nature",
    ),
    Description("BBCSport", 544, 5, {"first": 3183, "second": 3203}, r"bbc.?sport", "sports articles cut in two, BBC"),
    Description(
        "BBCSport (4 views)",
        116,
        5,
        {"first": 1991, "second": 2063, "third": 2113, "fourth": 2158},
        r"bbc.?sport",
        "sports articles cut in four, BBC",
    ),
    Description(
        "100leaves",
        1600,
        100,
        {"margin": 64, "shape": 64, "texture": 64},
        r"leaves",
        "leaves of 100 species, UCI (one-hundred plant species)",
    ),
    Description(
        "BUAA", 1350, 150, {"visible": 100, "infrared": 100}, r"buaa", "faces in visible and infrared light, BUAA"
    ),
    Description("Cornell", 195, 5, {"words": 1703, "links": 195}, r"cornell", "pages of a university, WebKB"),
    Description("Wikipedia", 2866, 10, {"image": 128, "text": 10}, r"wiki", "articles with a picture, Wikipedia"),
    Description(
        "breast.TCGA",
        220,
        3,
        {"mirna": 184, "mrna": 200, "protein": 142},
        r"breast.?tcga",
        "breast tumours in three omics layers, one missing for 70 by nature; R package mixOmics",
    ),
    Description(
        "nutrimouse",
        40,
        5,
        {"gene": 120, "lipid": 21},
        r"nutrimouse",
        "mice on five diets, genes and lipids; R package mixOmics",
    ),
)

REGISTRY: dict[str, Description] = {entry.name: entry for entry in (*_PAPER, *_OTHERS)}
