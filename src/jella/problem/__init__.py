"""What is minimised: a problem is a loss and the terms on each block of unknowns."""

from jella.problem.model import Blocks, Problem

__all__ = ["Blocks", "Problem"]
