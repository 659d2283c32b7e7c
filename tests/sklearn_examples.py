"""Run scikit-learn's own examples about support vector machines with and without the patch, and compare what they do.

    python -m tests.sklearn_examples [names ...]

The source archive of the installed version is fetched from the package index into build/. Every script of
``examples/svm`` runs twice, in a process of its own. Compared are the printed text, number by number, the predictions
of every fitted model that the script leaves behind, and its figures, pixel by pixel. The snippets of the user guide
about support vector machines run under the patch, against the output that the guide shows.
"""

import argparse
import contextlib
import doctest
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
import sklearn

BUILD = Path(__file__).parents[1] / "build"
INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple")
NUMBERS = 0.02  # relative difference of printed numbers: the scripts train to LIBSVM's default tol of 1e-3
PREDICTIONS = 0.99  # least fraction of equal classes; of numbers, of those within `NUMBERS` of their spread
PIXELS = 0.02  # largest fraction of different pixels
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
    print(f"{'script':45s} text  models  equal  pixels")
    for script in scripts:
        theirs, ours = (in_process(script, is_patched=is_patched) for is_patched in (False, True))
        words, good = compared(theirs, ours)
        is_good &= good
        print(f"{script.name:45s} {words}{'' if good else '   DIFFERENT'}", flush=True)
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
    """The printed text, the predictions of the fitted models, and the pixels of the figures."""
    import matplotlib.pyplot as plt

    import pegasos

    warnings.simplefilter("ignore")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pegasos.patch_sklearn() if is_patched else contextlib.nullcontext():
        left = runpy.run_path(script, run_name="__main__")
    models = {name: predicted(model) for name, model in fitted_models(left)}
    pictures = []
    for number in plt.get_fignums():
        canvas: Any = plt.figure(number).canvas
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    ours = sum(
        type(part).__module__.startswith("pegasos.") for _, model in fitted_models(left) for part in parts(model)
    )
    return {"text": printed.getvalue(), "models": models, "pictures": pictures, "ours": ours}


def fitted_models(left: dict[str, Any]) -> list[tuple[str, Any]]:
    """The fitted estimators among the variables of a script, and those in its lists and dictionaries."""
    found = []
    for name, value in sorted(left.items()):
        many = value if isinstance(value, list | tuple) else value.values() if isinstance(value, dict) else [value]
        for k, each in enumerate(many):
            flat = each if isinstance(each, list | tuple) else [each]
            is_fitted = [hasattr(one, "predict") and hasattr(one, "n_features_in_") for one in flat]
            found += [(f"{name}[{k}][{j}]", one) for j, one in enumerate(flat) if is_fitted[j]]
    return found


def parts(model: Any) -> list[Any]:
    """The estimator, the steps of a pipeline, and the best one of a search."""
    inner = [step for _, step in getattr(model, "steps", [])] + [getattr(model, "best_estimator_", None)]
    return [model, *(each for each in inner if each is not None)]


def predicted(model: Any) -> Any:
    """Predictions for the same rows of normal features."""
    rows = np.random.default_rng(0).normal(size=(2000, model.n_features_in_))
    return np.asarray(model.predict(2.0 * rows))


def compared(theirs: dict[str, Any], ours: dict[str, Any]) -> tuple[str, bool]:
    """A line of the table, and whether all is equal up to the tolerances."""
    is_same_text = same_text(theirs["text"], ours["text"])
    shares = [share_equal(model, ours["models"][name]) for name, model in theirs["models"].items()]
    pictures = zip(theirs["pictures"], ours["pictures"], strict=True)
    pixels = max((float(np.mean(np.abs(a.astype(int) - b).max(axis=-1) > 16)) for a, b in pictures), default=0.0)
    least = min(shares, default=1.0)
    words = f"{'same' if is_same_text else 'DIFF'}  {ours['ours']:6d}  {least:.3f}  {pixels:.4f}"
    return words, is_same_text and least >= PREDICTIONS and pixels <= PIXELS and ours["ours"] > 0


def same_text(one: str, other: str) -> bool:
    """Whether two texts are equal, except for small differences of their numbers and for times."""
    one, other = _CLOCK.sub("", one), _CLOCK.sub("", other)
    if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", other).split():
        return False
    a, b = (np.array([float(number) for number in _NUMBER.findall(text)]) for text in (one, other))
    return bool(np.allclose(a, b, rtol=NUMBERS, atol=NUMBERS))


def share_equal(one: Any, other: Any) -> float:
    """The fraction of equal predictions; of numbers, of those that differ by little of their spread."""
    if one.dtype.kind == "f" and len(np.unique(one)) > 20:
        return float(np.mean(np.abs(one - other) <= NUMBERS * float(np.ptp(one))))
    return float(np.mean(one == other))


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
