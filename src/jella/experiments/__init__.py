"""The paper's experiments: grids of cells, a runner that can resume, and tables and figures from its results."""

from jella.experiments.cell import Cell
from jella.experiments.contenders import CONTENDERS, Contender
from jella.experiments.results_file import ResultsFile
from jella.experiments.runner import run

__all__ = ["CONTENDERS", "Cell", "Contender", "ResultsFile", "run"]
