"""Every public name has a docstring with the meaning of its parameters, their defaults, and an example that runs."""

import doctest
import importlib
import inspect
import re

import pytest

import pegasos

MODULES = ("", ".dask", ".data", ".export", ".kernels", ".online", ".plots", ".report", ".spark", ".svm", ".theory")
NEEDS_A_CLUSTER = "pegasos.spark"  # its examples are shown, not run: they need a Java machine


def public_names():
    found = {}
    for module in (importlib.import_module(f"pegasos{suffix}") for suffix in MODULES):
        offered = getattr(module, "__all__", None) or [
            name for name, value in vars(module).items() if inspect.isfunction(value) and not name.startswith("_")
        ]
        for name in offered:
            value = getattr(module, name)
            if callable(value) and (value.__module__ or "").startswith("pegasos"):
                found.setdefault(id(value), (f"{module.__name__}.{name}", value))
    return dict(found.values())


NAMES = public_names()


def entries(text):
    """The names that the sections on parameters and attributes explain, each with the line that introduces it."""
    found = {}
    for section in re.findall(
        r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", text, re.MULTILINE | re.DOTALL
    ):
        for line in re.sub(r",\n(?=\w)", ", ", section).splitlines():
            if line and not line.startswith(" "):
                found |= dict.fromkeys(re.split(r", ", line.partition(" : ")[0]), line)
    return found


def parameters(value):
    if not inspect.isclass(value) and not inspect.isfunction(value):
        return {}
    if inspect.isclass(value) and (issubclass(value, Exception) or getattr(value, "_is_protocol", False)):
        return {}
    signature = inspect.signature(value)
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: each for name, each in signature.parameters.items() if each.kind not in kinds}


def test_the_public_names_are_found():
    assert len(NAMES) > 100
    assert {f"pegasos.{name}" for name in pegasos.__all__} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_explained_with_its_parameters_and_their_defaults(name):
    text = inspect.getdoc(NAMES[name])
    assert re.match(r".+[.:]$", text.partition("\n\n")[0].replace("\n", " "))
    explained = entries(text)
    for parameter, each in parameters(NAMES[name]).items():
        assert parameter in explained, f"{parameter} is not explained"
        line = explained[parameter]
        has_default = each.default is not inspect.Parameter.empty
        if (
            has_default
            and " : " in line
            and "Parameters\n" in text
            and not text.partition("Attributes\n")[2].count(line)
        ):
            assert "default" in line or "optional" in line, line


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_an_example_that_runs(name):
    """That its output is right is tested with all examples (`test_examples`)."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(NAMES[name]))
    assert examples
    if not name.startswith(NEEDS_A_CLUSTER):
        assert not any(each.options.get(doctest.SKIP) for each in examples)


def test_an_entry_may_name_several_parameters_and_continue_on_the_next_line():
    text = "X.\n\nParameters\n---\na, b,\nc\n    As there.\nd : int, default=1\n    D.\n\nExamples\n---\n>>> 1\n"
    assert entries(text) == {"a": "a, b, c", "b": "a, b, c", "c": "a, b, c", "d": "d : int, default=1"}
