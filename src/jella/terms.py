"""The terms of which problems consist: losses, regularisers and constraints."""

from jella.problem.terms import *  # noqa: F403
from jella.problem.terms import __all__ as __all__
