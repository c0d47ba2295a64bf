"""Maps of the samples in two dimensions: principal components, t-SNE, and UMAP where it is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from jella.describe.colouring import Colouring
from jella.describe.picture import METHODS, Picture, draw_picture
from jella.describe.subject import Absent, Subject
from jella.report.sampling import MAP_POINTS, NEIGHBOUR_MAP_POINTS

#: fewer samples have no map by neighbours
FEWEST_SAMPLES = 10
#: the principal components are shown first if they hold at least this share of the variance
ENOUGH = 0.5


@dataclass(frozen=True, eq=False)
class Maps:
    """Maps of the samples, the one to show first at the beginning.

    Attributes
    ----------
    pictures : tuple of Picture
    rows : int array (m,)
        The samples of all maps together.
    colourings : tuple of Colouring, of these samples
    explained : float
        Share of the variance that two principal components hold.
    """

    pictures: tuple[Picture, ...]
    rows: np.ndarray
    colourings: tuple[Colouring, ...]
    explained: float

    @property
    def names(self) -> list[str]:
        """Names of the maps, as a reader chooses them."""
        return [METHODS[picture.method] for picture in self.pictures]


def draw_maps(subject: Subject, colour: Callable[[np.ndarray], Sequence[Colouring]]) -> Maps | Absent:
    """All maps that this installation can draw; `colour` takes the samples shown and returns their colourings."""
    plain = draw_picture(subject, (), most=MAP_POINTS)
    if isinstance(plain, Absent):
        return plain
    others = ["tsne", *(["umap"] if find_spec("umap") else [])] if plain.n_samples >= FEWEST_SAMPLES else []
    drawn = [draw_picture(subject, (), method, NEIGHBOUR_MAP_POINTS) for method in others]
    pictures = [plain, *(picture for picture in drawn if isinstance(picture, Picture))]
    explained = float(sum(plain.explained))
    if explained < ENOUGH and len(pictures) > 1:
        pictures = [*pictures[1:], plain]
    rows = np.unique(np.concatenate([picture.rows for picture in pictures]))
    return Maps(tuple(pictures), rows, tuple(colour(rows)), explained)
