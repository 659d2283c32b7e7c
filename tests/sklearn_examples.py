"""Run scikit-learn's own examples about support vector machines with and without the patch, and compare what they do.

    python -m tests.sklearn_examples [names ...]

The source archive of the installed version is fetched from the package index into build/. Every script of
``examples/svm`` runs twice, in a process of its own. Compared are the printed text, number by number, the scores of
every machine that the script fits, in order, and its figures, pixel by pixel. The snippets of the user guide
about support vector machines run under the patch, against the output that the guide shows.
"""

import argparse
import contextlib
import doctest
import functools
import hashlib
import html
import io
import os
import pickle
import re
import runpy
import subprocess
import sys
import tarfile
import urllib.request
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import numpy as np
import sklearn.svm

BUILD = Path(__file__).parents[1] / "build"
INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple")
NAMES = ("SVC", "NuSVC", "LinearSVC", "SVR", "NuSVR", "LinearSVR", "OneClassSVM")
ROWS = 500  # rows of the training data whose scores are compared
NUMBERS = 0.02  # relative difference of printed numbers: the scripts train to LIBSVM's default tol of 1e-3
SCORES = 0.99  # least fraction of scores within `NUMBERS` of their spread
PIXELS = 0.02  # largest fraction of different pixels
KNOWN = {  # scores and pictures that differ by more, with the same text
    "plot_rbf_parameters.py": "gamma down to 1e-9, where LIBSVM's kernel in single precision is constant",
    "plot_svm_regression.py": "a polynomial with C=100, where LIBSVM ends 1.4 % above the least objective",
    "plot_svm_kernels.py": "a sigmoid kernel, which is indefinite: another stationary point",
}
_NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
_CLOCK = re.compile(r"\d+(\.\d+)? ?(s|ms|sec|seconds)\b")


def main() -> int:
    """Run, print a table, and return 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of the names of scripts; by default all")
    parser.add_argument("--run", nargs=2, metavar=("SCRIPT", "OUT"), help=argparse.SUPPRESS)
    parser.add_argument("--patched", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.run:
        script, out = chosen.run
        Path(out).write_bytes(pickle.dumps(observed(script, is_patched=chosen.patched)))
        return 0
    folder = fetched()
    scripts = sorted((folder / "examples" / "svm").glob("plot_*.py"))
    scripts = [each for each in scripts if not chosen.names or any(name in each.name for name in chosen.names)]
    is_good = True
    print(f"{'script':45s} text   fits  equal  pixels")
    for script in scripts:
        theirs, ours = (in_process(script, is_patched=is_patched) for is_patched in (False, True))
        words, is_same, is_close = compared(theirs, ours)
        why = "" if is_close else KNOWN.get(script.name, "DIFFERENT")
        is_good &= is_same and why != "DIFFERENT"
        print(f"{script.name:45s} {words}   {why if is_same else 'DIFFERENT'}".rstrip(), flush=True)
    if not chosen.names:
        failed, tried = snippets(folder / "doc" / "modules" / "svm.rst")
        print(f"user guide: {tried - failed} of {tried} snippets print what the guide shows")
        is_good &= failed == 0
    return 0 if is_good else 1


def fetched() -> Path:
    """The unpacked source archive of the installed scikit-learn."""
    name = f"scikit_learn-{sklearn.__version__}"
    folder = BUILD / name
    if not (folder / "examples").exists():
        page = f"{INDEX.rstrip('/')}/scikit-learn/"
        with urllib.request.urlopen(page, timeout=60) as answer:
            links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"', answer.read().decode())]
        link, digest = urldefrag(urljoin(page, next(each for each in links if f"/{name}.tar.gz#" in each)))
        with urllib.request.urlopen(link, timeout=600) as answer:
            archive = answer.read()
        if digest != f"sha256={hashlib.sha256(archive).hexdigest()}":
            raise ValueError(f"{link} does not have the digest that the index states: {digest}.")
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(BUILD, filter="data")
    return folder


def in_process(script: Path, *, is_patched: bool) -> dict[str, Any]:
    """What a script does, in a process of its own."""
    out = BUILD / f"{script.stem}-{'ours' if is_patched else 'theirs'}.pickle"
    command = [sys.executable, "-m", "tests.sklearn_examples", "--run", str(script), str(out)]
    subprocess.run(command + ["--patched"] * is_patched, check=True, env={**os.environ, "MPLBACKEND": "Agg"})
    found: dict[str, Any] = pickle.loads(out.read_bytes())
    return found


def observed(script: str, *, is_patched: bool) -> dict[str, Any]:
    """The printed text, the scores of every machine that the script fits, and the pixels of its figures."""
    import matplotlib.pyplot as plt

    import pegasos

    warnings.simplefilter("ignore")
    np.random.seed(0)  # some scripts draw their data without a seed  # noqa: NPY002
    printed, fits = io.StringIO(), list[tuple[str, bool, Any]]()
    with contextlib.redirect_stdout(printed), pegasos.patch_sklearn() if is_patched else contextlib.nullcontext():
        for name in NAMES:
            record(getattr(sklearn.svm, name), fits)
        runpy.run_path(script, run_name="__main__")
    pictures = []
    for number in plt.get_fignums():
        canvas: Any = plt.figure(number).canvas
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    return {"text": printed.getvalue(), "fits": fits, "pictures": pictures}


def record(machine: Any, fits: list[tuple[str, bool, Any]]) -> None:
    """After every fit of this class, note its name, whether it is ours, and its scores of the first rows."""
    fit, is_ours = machine.fit, machine.__module__.startswith("pegasos.")

    @functools.wraps(fit)
    def recorded(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        model = fit(self, X, *args, **kwargs)
        fits.append((machine.__name__, is_ours, scores_of(self, X[:ROWS])))
        return model

    machine.fit = recorded


def scores_of(model: Any, rows: Any) -> Any:
    """Predicted numbers, or scores: those of pairs of classes, because votes jump where one changes its sign."""
    if not hasattr(model, "decision_function"):
        return np.asarray(model.predict(rows))
    shape = getattr(model, "decision_function_shape", None)
    with contextlib.ExitStack() as later:
        if shape is not None:
            later.callback(setattr, model, "decision_function_shape", shape)
            model.decision_function_shape = "ovo"
        return np.asarray(model.decision_function(rows))


def compared(theirs: dict[str, Any], ours: dict[str, Any]) -> tuple[str, bool, bool]:
    """A line of the table; whether text and classes are the same, and scores and pictures up to the tolerances."""
    is_same_text = same_text(theirs["text"], ours["text"])
    names = [[name for name, *_ in each["fits"]] for each in (theirs, ours)]
    shares = [share_equal(one[2], other[2]) for one, other in zip(theirs["fits"], ours["fits"], strict=False)]
    n_ours = sum(is_ours for _, is_ours, _ in ours["fits"])
    pictures = zip(theirs["pictures"], ours["pictures"], strict=True)
    pixels = max((float(np.mean(np.abs(a.astype(int) - b).max(axis=-1) > 16)) for a, b in pictures), default=0.0)
    least = min(shares, default=1.0)
    words = f"{'same' if is_same_text else 'DIFF'}  {n_ours:5d}  {least:.3f}  {pixels:.4f}"
    is_same = is_same_text and names[0] == names[1] and n_ours == len(names[1])
    return words, is_same, least >= SCORES and pixels <= PIXELS


def same_text(one: str, other: str) -> bool:
    """Whether two texts are equal, except for small differences of their numbers and for times."""
    one, other = _CLOCK.sub("", one), _CLOCK.sub("", other)
    if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", other).split():
        return False
    a, b = (np.array([float(number) for number in _NUMBER.findall(text)]) for text in (one, other))
    return bool(np.allclose(a, b, rtol=NUMBERS, atol=NUMBERS))


def share_equal(one: Any, other: Any) -> float:
    """The fraction of scores that differ by little of their spread, or of the margin."""
    return float(np.mean(np.abs(one - other) <= NUMBERS * max(1.0, float(np.ptp(one)))))


def snippets(page: Path) -> tuple[int, int]:
    """How many snippets of the page fail under the patch, and how many there are."""
    import pegasos

    warnings.simplefilter("ignore")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with pegasos.patch_sklearn():
        result = doctest.testfile(str(page), module_relative=False, optionflags=flags, encoding="utf-8")
    return result.failed, result.attempted


if __name__ == "__main__":
    sys.exit(main())
