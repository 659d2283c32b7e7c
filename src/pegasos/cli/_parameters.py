"""The parameters of the estimators as options: names, defaults, words and help come from the classes themselves."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from pegasos.cli._models import Weights, load_any
from pegasos.errors import PegasosError
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.one_class import KernelPegasosOneClass, PegasosOneClass
from pegasos.estimators.regression import KernelPegasosRegressor, PegasosRegressor
from pegasos.losses import REGRESSION_LOSSES


class Machines(NamedTuple):
    """The estimators of a task: the linear one and the one with kernels."""

    linear: type
    kernel: type


TASKS = {
    "classification": Machines(PegasosClassifier, KernelPegasosClassifier),
    "regression": Machines(PegasosRegressor, KernelPegasosRegressor),
    "one-class": Machines(PegasosOneClass, KernelPegasosOneClass),
}
_LEFT_OUT = ("warm_start", "verbose")  # a command fits once, and has a bar


class Parameter(NamedTuple):
    """What the signature and the docstring of an estimator say of a parameter."""

    name: str
    default: Any
    annotation: str
    words: tuple[str, ...]
    help: str


def add_parameter_options(parser: argparse.ArgumentParser) -> None:
    """The task, and an option for each parameter of its estimators; the first one that has it says what it means."""
    parser.add_argument(
        "--task",
        choices=TASKS,
        help="predict classes, predict numbers, or find outliers without labels; default: regression if --loss is one "
        "of its losses, else classification",
    )
    known: set[str] = set()
    for title, kinds in _groups().items():
        group = parser.add_argument_group(title)
        for name, one in parameters_of(kinds[0]).items():
            if name not in known:
                words = [word for kind in _estimators() for word in _words_of(kind, name)]
                _add(group, one._replace(words=tuple(dict.fromkeys(words))))
                known.add(name)


def _groups() -> dict[str, tuple[type, ...]]:
    return {
        "parameters of the model": (PegasosClassifier,),
        "parameters of a kernel model (with --kernel)": (KernelPegasosClassifier,),
        "parameters of --task regression": (PegasosRegressor,),
    }


def _estimators() -> list[type]:
    return [kind for machines in TASKS.values() for kind in machines]


def _words_of(kind: type, name: str) -> tuple[str, ...]:
    one = parameters_of(kind).get(name)
    return () if one is None else one.words


def add_linear_options(parser: argparse.ArgumentParser, title: str, names: Sequence[str]) -> None:
    """Options for some parameters of the linear classifier."""
    group = parser.add_argument_group(title)
    known = parameters_of(PegasosClassifier)
    for name in names:
        _add(group, known[name])


def given_parameters(arguments: argparse.Namespace) -> dict[str, Any]:
    """The parameters of an estimator that were given, whichever it is."""
    known = {name for kind in _estimators() for name in parameters_of(kind)}
    return {name: value for name, value in vars(arguments).items() if name in known}


def task_of(arguments: argparse.Namespace) -> str:
    """The task that the options ask for."""
    is_regression = getattr(arguments, "loss", None) in REGRESSION_LOSSES
    return arguments.task or ("regression" if is_regression else "classification")


def model_of(arguments: argparse.Namespace) -> Any:
    """The estimator that the options ask for, with the parameters that were given."""
    task = task_of(arguments)
    kind = TASKS[task].kernel if hasattr(arguments, "kernel") else TASKS[task].linear
    given = given_parameters(arguments)
    for name in sorted(given.keys() - parameters_of(kind).keys()):
        if name in parameters_of(TASKS[task].kernel):
            raise PegasosError(f"{option_of(name)} is a parameter of kernel machines: give --kernel as well.")
        others = [other for other in TASKS if any(name in parameters_of(each) for each in TASKS[other])]
        raise PegasosError(f"{option_of(name)} is a parameter of --task {' and '.join(others)}, and not of {task}.")
    if "prior" in given:
        prior = load_any(given["prior"])
        given["prior"] = (prior.coef, prior.intercept) if isinstance(prior, Weights) else prior
    return kind(**given)


def parameters_of(kind: type) -> dict[str, Parameter]:
    """The parameters of an estimator, by name, in the order of its signature."""
    documented = _documented(inspect.getdoc(kind) or "")
    return {
        name: Parameter(name, one.default, str(one.annotation), *documented.get(name, ((), "")))
        for name, one in inspect.signature(kind).parameters.items()
        if name not in _LEFT_OUT
    }


def option_of(name: str) -> str:
    """The option that is named after a parameter."""
    return f"--{name.replace('_', '-')}"


def _documented(text: str) -> dict[str, tuple[tuple[str, ...], str]]:
    """For each parameter in a numpydoc section: its allowed words, and the first sentence about it."""
    section = re.search(r"^Parameters\n-+\n(.*?)\n\n\w+\n-+\n", text, re.DOTALL | re.MULTILINE)
    assert section is not None, "an estimator documents its parameters"
    found = {}
    for names, kind, body in re.findall(
        r"^(\w[\w, ]*?)(?: : ([^\n]*))?\n((?:    [^\n]*\n?)*)", section[1] + "\n", re.M
    ):
        words = re.search(r"\{(.*?)\}", kind)
        for name in names.split(", "):
            listed = [word.strip(' "') for word in words[1].split(",")] if words else []
            found[name] = tuple(word.lower() for word in listed), _in_short(body)
    return found


def _in_short(body: str) -> str:
    """The first sentence, and the next if that says little; without clauses about what only Python can say."""
    prose = " ".join(body.split()).replace("``", "")
    first, *others = re.split(r"(?<=\.) ", prose)
    clauses = (f"{first} {others[0]}" if others and len(first) < 25 else first).split("; ")
    return "; ".join([clauses[0], *takewhile(lambda clause: "`" not in clause, clauses[1:])]).rstrip(".")


def _add(group: Any, one: Parameter) -> None:
    default = "" if one.default is None else f" (default: {one.default})"
    text = f"{one.help}{default}".strip().replace("%", "%%")
    if isinstance(one.default, bool):
        group.add_argument(
            option_of(one.name), action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text
        )
        return
    group.add_argument(
        option_of(one.name),
        type=_readers.get(one.name) or _reader_of(one),
        default=argparse.SUPPRESS,
        metavar="{" + ",".join(one.words) + "}" if one.words else one.name.upper(),
        help=text,
    )


def _reader_of(one: Parameter) -> Callable[[str], Any]:
    """From text to what the annotation of the parameter allows."""

    def read(text: str) -> Any:
        if text.lower() == "none" and ("None" in one.annotation or "none" in one.words):
            return None
        for name, kind in (("int", int), ("float", float)):
            if name in one.annotation:
                try:
                    return kind(text)
                except ValueError:
                    continue
        if one.words and text not in one.words:
            raise argparse.ArgumentTypeError(f"{one.name} must be one of {', '.join(one.words)}, got {text!r}")
        if not one.words and "str" not in one.annotation and "Any" not in one.annotation:
            wanted = "a number" if "float" in one.annotation else "a whole number"
            raise argparse.ArgumentTypeError(f"{one.name} must be {wanted}, got {text!r}")
        return text

    return read


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"random_state must be a whole number, got {text!r}") from None


def _class_weight(text: str) -> str | dict[str | float, float]:
    """The word, or weights such as spam=5,ham=1."""
    if text == "balanced":
        return text
    try:
        return {_label(label): float(weight) for label, weight in (part.rsplit("=", 1) for part in text.split(","))}
    except ValueError:  # no number, or no "="
        raise argparse.ArgumentTypeError(
            f"class_weight must be balanced, or weights such as spam=5,ham=1, got {text!r}"
        ) from None


def _label(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


_readers: dict[str, Callable[[str], Any]] = {
    "class_weight": _class_weight,
    "random_state": _whole_number,
}
