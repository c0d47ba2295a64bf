"""The parser of the command line, from the modules of its commands."""

from __future__ import annotations

import argparse
from typing import NoReturn

from jella._version import __version__
from jella.cli import cluster, compare, complete, info, methods, report, reproduce, transform
from jella.cli.limits import limit_arguments
from jella.cli.numbers import whole
from jella.numerics.words import printable

#: each command is a module with HELP, arguments(parser) and run(options) -> (lines, machine-readable record)
COMMANDS = {
    "info": info,
    "cluster": cluster,
    "complete": complete,
    "transform": transform,
    "compare": compare,
    "report": report,
    "methods": methods,
    "reproduce": reproduce,
}


class Parser(argparse.ArgumentParser):
    """A parser that prints no control characters."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong, and exit with 2."""
        super().error(printable(message))


def make_parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of `jella`, and the parsers of the commands."""
    parser = Parser(
        prog="jella",
        description="Multi-view data with missing values: what is missing, clusters, imputed values, a report.",
        epilog="jella COMMAND --help says more. Exit codes: 0 done, 2 wrong input, 130 interrupted, 1 failed.",
    )
    parser.add_argument("--version", action="version", version=f"jella {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    made: dict[str, argparse.ArgumentParser] = {}
    for name, module in COMMANDS.items():
        made[name] = commands.add_parser(
            name,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.arguments(made[name])
        limit_arguments(made[name])
        _shared(made[name])
    return parser, made


def _shared(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("all commands")
    group.add_argument("--seed", type=whole(0, 2**32 - 1), default=0, help="seed of everything random (default 0)")
    group.add_argument("--quiet", action="store_true", help="no progress and no summary")
    group.add_argument("--json", action="store_true", help="the summary as JSON on standard output")
    group.add_argument("--config", metavar="FILE", help="TOML file with options, by their long names")
    group.add_argument("--debug", action="store_true", help="a traceback instead of a sentence")
