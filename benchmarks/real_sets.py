"""Real data sets for the benchmarks, read from the folder named by JELLA_DATA."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from jella.datasets import load
from jella.io.stored import giving_arrays
from jella_experiments.protocol import norms_per_view, scaled_samples

loadmat = giving_arrays(scipy_io.loadmat)
mmread = giving_arrays(scipy_io.mmread)

Views = dict[str, Any]
Load = Callable[[Path], tuple[Views, np.ndarray]]


def folder() -> Path | None:
    """The folder with the data; None if JELLA_DATA is not set."""
    where = os.environ.get("JELLA_DATA")
    return Path(where) if where else None


def needed_folder() -> Path:
    """The folder with the data, for a benchmark that can do nothing without it."""
    data = folder()
    if data is None:
        raise SystemExit("set JELLA_DATA to the folder with the data")
    return data


def handwritten(data: Path) -> tuple[Views, np.ndarray]:
    """Six feature sets of 2000 handwritten digits, and the digits."""
    file = loadmat(data / "handwritten" / "UCI_Digits.mat")
    names = ("pix", "fou", "fac", "zer", "kar", "mor")
    return _floats(zip(names, file["fea"].ravel(), strict=True)), file["gt"].ravel()


def caltech7(data: Path) -> tuple[Views, np.ndarray]:
    """Three feature counts of 441 images, and the classes."""
    file = np.load(data / "Caltech7" / "caltech7_441_reextracted_sift200_surf200_lbp256.npz")
    return _floats((name, file[name]) for name in ("sift200", "surf200", "lbp256")), file["y"]


def msrc_v1(data: Path) -> tuple[Views, np.ndarray]:
    """SIFT and LBP counts of 210 images, the two views of the paper, and the classes."""
    file = loadmat(data / "MSRC-v1" / "MSRC-v1_6view_SIFT200_LBP256.mat")
    cells = file["X"].ravel()
    return _floats([("sift200", cells[5]), ("lbp256", cells[4])]), file["Y"].ravel()


def yale(data: Path) -> tuple[Views, np.ndarray]:
    """Three feature sets of 165 face images, and the persons."""
    file = np.load(data / "Yale" / "yale_165_yaleA_sift50_gist512_plus_lbp256.npz")
    return _floats((name, file[name]) for name in ("sift50", "gist512", "lbp256")), file["y"]


def three_sources(data: Path) -> tuple[Views, np.ndarray]:
    """Words of 169 stories in three newspapers (sparse counts), and the topics."""
    file = loadmat(data / "3sources" / "3sources_169.mat")
    return _floats((name, file[name]) for name in ("bbc", "guardian", "reuters")), file["truth"].ravel()


def msrc_v1_five(data: Path) -> tuple[Views, np.ndarray]:
    """Five feature sets of the same 210 images as MSRC-v1, in another order, and the classes."""
    file = loadmat(data / "MSRC-v1" / "MSRC_v1_5view.mat")
    names = ("cm24", "hog576", "gist512", "lbp256", "centrist254")
    return _floats(zip(names, file["fea"].ravel(), strict=True)), file["gt"].ravel()


def bbc_sport(data: Path) -> tuple[Views, np.ndarray]:
    """Two halves of 544 sports articles (sparse weights of words), and the sports."""
    file = loadmat(data / "BBCSport" / "bbcsport_2view.mat")
    return _floats(zip(("first", "second"), file["data"].ravel(), strict=True)), file["truth"].ravel()


def leaves(data: Path) -> tuple[Views, np.ndarray]:
    """Three feature sets of 1600 leaves, and the 100 species."""
    file = loadmat(data / "100leaves" / "100Leaves.mat")
    return _floats(zip(("margin", "shape", "texture"), file["X"].ravel(), strict=True)), file["y"].ravel()


def wikipedia(data: Path) -> tuple[Views, np.ndarray]:
    """Image words and text topics of 2866 articles, and their categories."""
    file = loadmat(data / "Wikipedia" / "Wiki.mat")
    return _floats(zip(("image", "text"), file["M"].ravel(), strict=True)), file["gnd"].ravel()


def pie(data: Path) -> tuple[Views, np.ndarray]:
    """Three feature sets of 2856 face images, and the persons."""
    file = np.load(data / "PIE" / "pie_2856_reextracted_sift50_gist512_lbp256.npz")
    return _floats((name, file[name]) for name in ("sift50", "gist512", "lbp256")), file["y"]


def corel5k(data: Path) -> tuple[Views, np.ndarray]:
    """Three feature sets of 4999 photographs, and the 50 subjects."""
    file = np.load(data / "Corel5k" / "corel5k_4999_reextracted_gist512_dsift1000_dhue100.npz")
    return _floats((name, file[name]) for name in ("gist512", "densesift1000", "densehue100")), file["y"]


def three_sources_416(data: Path) -> tuple[Views, np.ndarray]:
    """All 416 stories, as published: 53, 194 and 169 of them in one, two and three newspapers. Naturally missing."""
    where = data / "3sources" / "original_416_natural_missing"
    topics = {}
    for line in (where / "3sources.disjoint.clist").read_text().splitlines():
        topic, _, stories = line.partition(",")
        topics.update({story.strip(): topic.strip() for story in stories.split(",")})
    order = {story: row for row, story in enumerate(sorted(topics))}
    views = {}
    for name in ("bbc", "guardian", "reuters"):
        terms = mmread(where / f"3sources_{name}.mtx").tocoo()
        rows = np.array([order[s.strip()] for s in (where / f"3sources_{name}.docs").read_text().split()])
        there = np.zeros(len(order), dtype=bool)
        there[rows] = True
        values = np.zeros((len(order), terms.shape[0]))
        np.add.at(values, (rows[terms.col], terms.row), terms.data.astype(np.float64))
        counts = sparse.csr_array(values)
        views[name] = _with_missing_rows(counts, ~there)
    return views, np.array([topics[story] for story in order])


def breast_tcga(data: Path) -> tuple[Views, np.ndarray]:
    """Three omics layers of 220 tumours, 70 of them without protein, and the subtypes. Needs the package rdata."""
    import rdata

    read = rdata.read_rda(data / "breast.TCGA" / "breast.TCGA.rda")["breast.TCGA"]
    train, test = read["data.train"], read["data.test"]
    views = {
        name: np.vstack([np.asarray(train[name], float), np.asarray(test[name], float)]) for name in ("mirna", "mrna")
    }
    protein = np.asarray(train["protein"], float)
    lacking = np.full((len(test["subtype"]), protein.shape[1]), np.nan)
    return views | {"protein": np.vstack([protein, lacking])}, np.concatenate(
        [np.asarray(train["subtype"], str), np.asarray(test["subtype"], str)]
    )


def bdgp(data: Path) -> tuple[Views, np.ndarray]:
    """Word counts of images of 2500 embryos from three sides, and the classes; an absent image is a row of zeros."""
    file = loadmat(data / "BDGP" / "BDGP_fea.mat")
    names = ("lateral", "dorsal", "ventral")
    return {n: X.T.copy() for n, X in zip(names, file["X"].ravel(), strict=True)}, file["Y"].ravel()


def by_name(name: str) -> Load:
    """A set that `jella.datasets.load` finds by its name, complete."""

    def read(data: Path) -> tuple[Views, np.ndarray]:
        found = load(name, data)
        views = _floats((view, X if sparse.issparse(X) else np.asarray(X)) for view, X in found.views.items())
        return views, np.asarray(found.labels)

    return read


def _with_missing_rows(X: sparse.csr_array, missing: np.ndarray) -> sparse.csr_array:
    """The view with NaN in all columns of missing samples."""
    rows = np.flatnonzero(missing)
    block = sparse.csr_array(np.full((rows.size, X.shape[1]), np.nan))
    order = np.argsort(np.concatenate([np.flatnonzero(~missing), rows]), kind="stable")
    return sparse.csr_array(sparse.vstack([X[~missing], block])[order])


def unit_samples(views: Views) -> Views:
    """Each sample of each view at unit norm, as in the paper's experiments; empty samples stay zero."""
    return scaled_samples(views, norms_per_view(views))


def _floats(pairs: Any) -> Views:
    """The views, with small integers as floats, since their squares would overflow."""
    return {
        name: sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else X.astype(np.float64) for name, X in pairs
    }


SETS: dict[str, Load] = {
    "MSRC-v1": msrc_v1,
    "MSRC-v1 (5 views)": msrc_v1_five,
    "Yale": yale,
    "Caltech7": caltech7,
    "3Sources": three_sources,
    "BBCSport": bbc_sport,
    "100leaves": leaves,
    "Handwritten": handwritten,
    "Wikipedia": wikipedia,
    "PIE": pie,
    "Corel5k": corel5k,
}

#: sets that were first used after SparseBDR and its defaults were fixed
OTHERS: dict[str, Load] = {name: by_name(name) for name in ("BBCSport (4 views)", "BUAA", "Cornell", "nutrimouse")}

#: sets that are incomplete by nature
NATURAL: dict[str, Load] = {"3Sources (416)": three_sources_416, "breast.TCGA": breast_tcga}

ALL: dict[str, Load] = {**SETS, **OTHERS, **NATURAL}


@lru_cache(maxsize=1)
def read_set(name: str, data: Path) -> tuple[Views, np.ndarray]:
    """Views and classes of a set; the last one read is kept."""
    return ALL[name](data)
