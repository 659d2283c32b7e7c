"""The core only computes: no Python, no files, no printing, no clock and no hidden randomness."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "cpp" / "core"
SOURCES = sorted(path for path in CORE.rglob("*") if path.suffix in {".h", ".inl", ".cpp"})
FORBIDDEN = {
    "a header of Python": r'#\s*include\s*[<"](Python\.h|pybind11/|nanobind/|numpy/)',
    "input or output": r"#\s*include\s*<(.*stream|cstdio|stdio\.h|filesystem)>|\bprintf\s*\(",
    "a clock": r"#\s*include\s*<(chrono|ctime|time\.h)>",
    "randomness of its own": r"#\s*include\s*<random>|\bs?rand\s*\(",
}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("what", FORBIDDEN)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_no_file_of_the_core_has(source, what):
    found = re.search(FORBIDDEN[what], without_comments(source.read_text()))
    assert found is None, f"{source.name} has {what}: {found.group()}"


def test_the_files_of_the_core_are_found():
    assert {"loops.cpp", "linear_pegasos.inl", "dual_ascent.inl", "objective.inl", "random.h"} <= {
        path.name for path in SOURCES
    }


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("a header of Python", "#include <Python.h>"),
        ("a header of Python", "#include <nanobind/ndarray.h>"),
        ("input or output", "#include <iostream>"),
        ("input or output", "# include <fstream>"),
        ("input or output", 'std::printf("here");'),
        ("a clock", "#include <chrono>"),
        ("randomness of its own", "const int i = rand() % n;"),
    ],
)
def test_what_is_forbidden_is_recognised(what, line):
    assert re.search(FORBIDDEN[what], without_comments(f"// a comment\n{line}\n"))
