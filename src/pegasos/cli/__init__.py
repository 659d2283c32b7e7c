"""The command line: ``pegasos COMMAND``, also as ``python -m pegasos``.

A command is a module of this package with `add_arguments(parser)` and `run(arguments)`, named in `_commands`; it is
imported when it is asked for. A `PegasosError` ends it with its sentence and the exit code 2, an interrupt with 130.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from pegasos.errors import PegasosError

_commands = {
    "convert": "make a binary cache of a data file",
    "demo": "train on bundled data and print the certificates",
    "tune": "choose scaling, kernel, width and lam within a time budget",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parsed = _parser(given).parse_args(given)
    try:
        import_module(f"{__name__}.{parsed.command}").run(parsed)
    except (PegasosError, OSError) as error:
        if parsed.debug:
            raise
        print(f"pegasos {parsed.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _parser(given: list[str]) -> argparse.ArgumentParser:
    """All commands with a line each; the arguments only of the one that was given."""
    parser = argparse.ArgumentParser(
        prog="pegasos", description="Support vector machines that return the proof of how good they are."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, line in _commands.items():
        command = commands.add_parser(name, help=line, formatter_class=argparse.RawDescriptionHelpFormatter)
        command.add_argument("--debug", action="store_true", help="show the traceback of an error")
        if name in given:
            module = import_module(f"{__name__}.{name}")
            command.description = module.__doc__
            module.add_arguments(command)
    return parser
