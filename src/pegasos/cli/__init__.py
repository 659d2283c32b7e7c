"""The command line: ``pegasos COMMAND``, also as ``python -m pegasos``.

A command is a module of this package with `add_arguments(parser)` and `run(arguments)`, named in `_commands`; it is
imported on first use. `run` returns an exit code, or None for 0; an exception becomes an error
message and the exit code 2.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import warnings
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import Any, NoReturn

from pegasos import __version__

_commands = {
    "train": "train on a data file and write a model with its certificate",
    "predict": "predict the class or number of each row of a file",
    "certify": "measure how close a model is to the optimum, including models trained elsewhere",
    "report": "write an HTML page about a model and a data file",
    "tune": "choose scaling, kernel, width and lam within a time budget",
    "bench": "compare pegasos with other solvers on this machine, to the same gap",
    "convert": "write a binary cache of a data file",
    "playground": "open a page on which algorithms train step by step, in the browser",
    "demo": "train on bundled data and print the certificates",
    "completion": "print shell completion for these commands",
}
_EPILOG = """\
examples:
  pegasos train data.svm --lam 1e-4 -o model.pegasos
  pegasos predict model.pegasos new.svm
  pegasos certify model.pegasos data.svm

exit codes:
  0    success; train or certify proved the requested gap
  1    finished, but the gap did not reach tol; train has written the model
  2    an error, with a one-line message on stderr
  130  interrupted (Ctrl-C); train has written the current model, if any
  141  the reader of the output closed it, as in pegasos predict ... | head
"""
_style: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}


class Parser(argparse.ArgumentParser):
    """One that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """End with the exit code of errors."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help.\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="surrogateescape")  # file names that are not valid text are printed unchanged
    given = [_spelt(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    parsed = parser_for(next((word for word in given if word in _commands), None)).parse_args(given)
    try:
        with warnings.catch_warnings():
            # Rows of files come in the order of the model's columns, without their names.
            warnings.filterwarnings("ignore", "X does not have valid feature names")
            warnings.showwarning = lambda message, *_: print(f"pegasos {parsed.command}: {message}", file=sys.stderr)
            code: int | None = import_module(f"{__name__}.{parsed.command}").run(parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer has no reader either, and must not be flushed at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if parsed.debug:
            raise
        print(f"pegasos {parsed.command}: {_in_options(_sentence(error), vars(parsed))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"pegasos {parsed.command}: interrupted.", file=sys.stderr)
        return 130
    return code or 0


def parser_for(command: str | None) -> Parser:
    """All commands with a line each; the arguments only of this one."""
    parser = Parser(
        prog="pegasos",
        description="Support vector machines with a proof of how good each fit is.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"pegasos {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name, line in _commands.items():
        one = commands.add_parser(name, help=line, **_style)
        if name == command:
            _describe(one, name)
    return parser


def command_parser(command: str) -> Parser:
    """That of one command alone."""
    parser = Parser(prog=f"pegasos {command}", **_style)
    _describe(parser, command)
    return parser


def _describe(parser: argparse.ArgumentParser, command: str) -> None:
    module = import_module(f"{__name__}.{command}")
    parser.description = module.__doc__
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    module.add_arguments(parser)
    # That of argparse names every option, which fills a screen.
    places = [action for action in parser._actions if not action.option_strings]
    names = [str(place.metavar or place.dest) for place in places]
    words = [f"[{name}]" if place.nargs == "?" else name for place, name in zip(places, names, strict=True)]
    parser.usage = " ".join([parser.prog, "[options]", *words])


def _spelt(word: str) -> str:
    """An option with the underscores of the parameter it is named after is meant all the same."""
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value if name.startswith("--") else word


def _in_options(message: str, known: Collection[str]) -> str:
    """The message with the options of a command instead of the arguments of Python functions."""
    for name in sorted(known, key=len, reverse=True):
        option = f"--{name.replace('_', '-')}"
        message = re.sub(rf"(?<![\w.-]){name}=\[\.\.\.\]", f"{option} A,B", message)
        message = re.sub(rf"(?<![\w.-]){name}(=| must )", rf"{option}\1", message)
    return message


def _sentence(error: BaseException) -> str:
    """What went wrong, in one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, MemoryError):
        return f"there is not enough memory; train --memory reads block by block. {error}".rstrip()
    return next(iter(str(error).splitlines()), type(error).__name__)
