"""The paper's experiments: grids of cells, a runner that can resume, and tables and figures from its results."""

from jella_experiments.cell import Cell
from jella_experiments.contenders import CONTENDERS, Contender
from jella_experiments.results_file import ResultsFile
from jella_experiments.runner import run

__all__ = ["CONTENDERS", "Cell", "Contender", "ResultsFile", "run"]
