"""The paper's experiments: grids of cells, a runner that resumes, tables and figures drawn from its results."""

from jella.experiments.cell import Cell
from jella.experiments.contenders import CONTENDERS, Contender
from jella.experiments.results_file import ResultsFile
from jella.experiments.runner import run

__all__ = ["CONTENDERS", "Cell", "Contender", "ResultsFile", "run"]
