"""Seconds to train: Pegasos, cutting planes (SVM-Perf), decomposition (SVM-Light, LIBSVM), as in the paper's table.

    python -m experiments.training_time [--quick]

The program ``svmocas`` (Debian: libocas-tools) takes part where it is installed.
"""

import re
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.svm import SVC

from experiments import command, data, judging, pages, pictures, walking
from pegasos import GapWarning, PegasosClassifier
from pegasos.theory import c_of_lam

enough = 1e-3  # above the optimum
longest = 120.0  # processor seconds, for each
decomposed = (4000, 8000, 16_000)  # rows of Covertype that LIBSVM gets
reported = {
    "reuters21578": {"Pegasos": 2, "SVM-Perf": 77, "SVM-Light": 20_075},
    "covtype": {"Pegasos": 6, "SVM-Perf": 85, "SVM-Light": 25_514},
    "movie_reviews": {"Pegasos": 2, "SVM-Perf": 5, "SVM-Light": 80},
}
lams = {"reuters21578": 1e-4, "rcv1_small": 1e-4, "covtype": 1e-6, "movie_reviews": 5e-5}
stands_for = {
    "reuters21578": "Reuters",
    "rcv1_small": "Reuters, a sample of the newer collection",
    "covtype": "Covertype",
    "movie_reviews": "astro-physics, which is not available",
}


class Rows(NamedTuple):
    """Training rows, their signs, and lam."""

    X: Any
    sign: np.ndarray
    lam: float

    @property
    def cost(self) -> float:
        """C, the other convention for the same problem."""
        return c_of_lam(self.lam, len(self.sign))


def rows_of(name: str, n_rows: int | None = None) -> Rows:
    """The training rows, in random order; Covertype is class 1 against the rest, columns divided by their largest."""
    if name != "covtype":
        X, sign = data.training_text(name)
    else:
        arrays = data.read(name)
        X = data.matrix(arrays)
        X = (X / np.maximum(np.abs(X).max(axis=0), 1e-9)).astype(np.float32)
        sign = np.where(arrays["y"] == 1, 1, -1).astype(np.int8)
    order = np.random.default_rng(0).permutation(len(sign))[:n_rows]
    return Rows(X[order], sign[order], lams[name])


def fitted(model: Any, rows: Rows) -> tuple[Any, float]:
    """The machine, and the processor seconds of its fit: reading, training, and its certificate."""
    begun = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)  # some are to end before their gap is small
        model.fit(rows.X, rows.sign)
    return model, process_time() - begun


def pegasos(rows: Rows, goal: float) -> dict[str, Any]:
    """Last iterate, rows drawn uniformly, one a step: how many steps it takes, then a fit of as many."""
    begun = process_time()
    looks = walking.objectives(walking.pegasos(rows.lam, 0), rows.X, rows.sign, walking.tenth_more(1000))
    steps = next(steps for steps, primal in looks if primal <= goal or process_time() - begun > longest)
    model, seconds = fitted(walking.pegasos(rows.lam, 0, max_steps=steps), rows)
    return _found(seconds, model.certificate_.primal <= goal, steps=steps)


def planes(rows: Rows, goal: float) -> dict[str, Any]:
    """Cutting planes: how many it takes, then a fit of as many."""
    settings = {"lam": rows.lam, "solver": "cutting_plane", "fit_intercept": False, "max_iter": 100_000}
    whole, _ = fitted(PegasosClassifier(**settings, tol=0.5 * enough / goal, time_budget=longest), rows)
    is_enough = whole.trace_["primal"] <= goal
    n_planes = int(whole.trace_["step"][is_enough.argmax() if is_enough.any() else -1])
    model, seconds = fitted(PegasosClassifier(**settings | {"tol": None, "max_iter": n_planes}), rows)
    return _found(seconds, model.certificate_.primal <= goal, steps=n_planes)


def default(rows: Rows, goal: float) -> dict[str, Any]:
    """What the library does by itself, to a proof of the same accuracy."""
    model, seconds = fitted(
        PegasosClassifier(rows.lam, fit_intercept=False, tol=enough / goal, time_budget=longest, random_state=0), rows
    )
    return _found(seconds, model.certificate_.relative_gap <= enough / goal, steps=model.n_steps_)


def ocas(rows: Rows, goal: float, method: int) -> dict[str, Any]:
    """``svmocas`` on a file, until its objective is low enough; the reading is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        dump_svmlight_file(sp.csr_matrix(rows.X), rows.sign, str(path), zero_based=False)
        call = ["svmocas", "-m", method, "-c", rows.cost, "-r", 0, "-a", 0, "-q", goal / rows.lam, "-t", longest]
        call = [*map(str, call), str(path), str(Path(folder) / "model")]
        before = _seconds_of_children()
        said = subprocess.run(call, check=True, capture_output=True, text=True).stdout
        seconds = _seconds_of_children() - before
    steps, reached = re.findall(r"^\s*(\d+): .*Q_P=([\d.eE+-]+), Q_D", said, re.MULTILINE)[-1]
    # It tells times of the clock: how much of all they are is true of the processor, too.
    solving, all_of_it = (float(re.findall(rf"{name}_time *: ([\d.]+)", said)[0]) for name in ("ocas", "total"))
    return _found(seconds * solving / all_of_it, float(reached) * rows.lam <= goal * (1.0 + 1e-6), steps=int(steps))


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def decomposition(rows: Rows) -> dict[str, Any]:
    """LIBSVM with its own tolerance of 1e-3, that of SVM-Light too; its intercept is free."""
    _, seconds = fitted(SVC(kernel="linear", C=rows.cost, cache_size=500), rows)
    return _found(seconds, True)


def _found(seconds: float, reached: bool, **more: Any) -> dict[str, Any]:
    return {"seconds": float(f"{seconds:.3g}"), "reached": bool(reached)} | more


def machines(rows: Rows, goal: float, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """One after the other, each to the same objective."""
    yield "Pegasos", pegasos(rows, goal)
    yield "cutting planes", planes(rows, goal)
    if shutil.which("svmocas"):
        yield "svmocas, cutting planes", ocas(rows, goal, 0)
        yield "svmocas, OCAS", ocas(rows, goal, 1)
    if name != "covtype":
        yield "LIBSVM", decomposition(rows)
    else:
        yield "LIBSVM", _extrapolated(len(rows.sign))
    yield "auto, proved", default(rows, goal)


def _extrapolated(n: int) -> dict[str, Any]:
    """Covertype would take LIBSVM hours: a power of the rows, from a few sizes."""
    seconds = [decomposition(rows_of("covtype", n_rows))["seconds"] for n_rows in decomposed]
    power, start = np.polyfit(np.log(decomposed), np.log(seconds), 1)
    at_all = float(np.exp(start + power * np.log(n)))
    return _found(at_all, True, measured=dict(zip(map(str, decomposed), seconds, strict=True)), power=round(power, 2))


def measure(quick: bool) -> dict[str, Any]:
    """Each machine on each data set."""
    found = {}
    for name in ("rcv1_small", "movie_reviews") if quick else lams:
        rows = rows_of(name)
        exact, _ = fitted(PegasosClassifier(rows.lam, fit_intercept=False, tol=1e-5, random_state=0), rows)
        best = exact.certificate_.dual
        each = dict(machines(rows, best + enough, name))
        found[name] = {
            "rows": len(rows.sign),
            "features": rows.X.shape[1],
            "lam": rows.lam,
            "optimum": best,
            "machines": each,
        }
        print(name, {key: value["seconds"] for key, value in each.items()}, flush=True)
    results = {"enough": enough, "longest": longest, "reported": reported, "found": found}
    return results | {"picture": "training_time.png"}


def claims(results: dict[str, Any]) -> list[dict[str, Any]]:
    """What the slides say of two rivals, over the data sets."""
    found = results["found"]

    def ratio(name: str, rivals: tuple[str, ...]) -> float:
        """The ratio of the fastest rival's seconds to those of Pegasos; one that gave up does not count."""
        each = found[name]["machines"]
        reached = [each[rival]["seconds"] for rival in rivals if rival in each and each[rival]["reached"]]
        return min(reached, default=longest) / each["Pegasos"]["seconds"]

    perf = {name: ratio(name, ("cutting planes", "svmocas, cutting planes")) for name in found}
    light = {name: ratio(name, ("LIBSVM",)) for name in found}
    return [
        pages.claim(
            pages.slides,
            f"Pegasos trains faster than {rival} on Reuters, Covertype and astro-physics, {times} times.",
            judging.interval(np.log(list(values.values()))).verdict(least=0.0),
            f"Here, to the same objective, it is faster than {ours} by these factors: "
            + ", ".join(f"{value:.3g} ({name})" for name, value in values.items())
            + f". (The logarithm is {judging.interval(np.log(list(values.values())))} over them.)"
            + _why(found, values),
        )
        for rival, times, values, ours in (
            ("SVM-Perf", "39, 14 and 2.5", perf, "the faster of two cutting-plane programs"),
            ("SVM-Light", "10,000, 4,000 and 40", light, "LIBSVM, which replaces SVM-Light,"),
        )
    ]


def _why(found: dict[str, Any], values: dict[str, float]) -> str:
    slower = [name for name, value in values.items() if value <= 1.0]
    if not slower:
        return ""
    sizes = ", ".join(f"{found[name]['rows']} rows of {name}" for name in slower)
    return f" It is slower on {sizes}, where a few planes are enough and each costs about one epoch of Pegasos."


def draw(results: dict[str, Any]) -> None:
    """Seconds, on a logarithmic scale."""
    figure, (axes,) = pictures.panels(1, width=8.0, height=4.2)
    names = list(results["found"])
    machines = list(dict.fromkeys(key for each in results["found"].values() for key in each["machines"]))
    width = 0.8 / len(machines)
    for at, (machine, color) in enumerate(zip(machines, pictures.colors, strict=False)):
        for place, name in enumerate(names):
            each = results["found"][name]["machines"].get(machine)
            if each is None:
                continue
            hatch = "//" if "power" in each else "xx" if not each["reached"] else None
            label = machine if place == 0 else None
            axes.bar(place + (at + 0.5) * width - 0.4, each["seconds"], width, color=color, hatch=hatch, label=label)
    axes.set(yscale="log", ylabel="processor seconds", xticks=range(len(names)), xticklabels=names)
    axes.legend(fontsize=8, ncols=2)
    pictures.save(figure, results["picture"])


def _cell(each: dict[str, Any] | None) -> str:
    if each is None:
        return ""
    mark = "*" if "power" in each else ""
    return f"{each['seconds']:.3g}{mark}" if each["reached"] else f"more than {each['seconds']:.3g}"


def page(results: dict[str, Any]) -> str:
    """The page, from the results alone."""
    found = results["found"]
    machines = list(dict.fromkeys(key for each in found.values() for key in each["machines"]))
    rows = [
        [name, each["rows"], each["features"], f"{each['lam']:g}", f"{each['optimum']:.4g}",
         *(_cell(each["machines"].get(machine)) for machine in machines)]
        for name, each in found.items()
    ]  # fmt: skip
    ours = pages.table(["data", "rows", "features", "lam", "optimum", *machines], rows)
    rivals = ("Pegasos", "SVM-Perf", "SVM-Light")
    theirs = pages.table(
        ["data", *rivals],
        [[stands_for[name].partition(",")[0], *(each[rival] for rival in rivals)] for name, each in reported.items()],
    )
    meanings = "\n".join(f"- `{name}` replaces {stands_for[name]}" for name in found)
    sizes = found.get("covtype", {}).get("machines", {}).get("LIBSVM", {})
    star = (
        f"\\* LIBSVM on Covertype is extrapolated: on {', '.join(sizes['measured'])} rows it took "
        f"{', '.join(f'{value:g}' for value in sizes['measured'].values())} seconds, so time "
        f"grows as the rows to the power {sizes['power']:g}."
        if sizes
        else ""
    )
    return f"""# Training time

For readers of the slides: how long do you wait for Pegasos, cutting planes and LIBSVM today, to the same accuracy?

Generated by `python -m experiments.training_time` from `training_time.json`. Times are processor seconds until the
objective is within {results["enough"]:g} of the optimum. (The slides do not state their accuracy; {enough:g} is the
default tolerance of SVM-Perf and SVM-Light.) lam has the paper's value for the data set that each one replaces. Only
LIBSVM has an intercept.

{meanings}

{pages.claims(results)}
![Seconds to train, as bars for each data set and program]({results["picture"]})

{ours}
{pages.wrapped(star)}

In the figure, extrapolated times are hatched, and runs that were stopped are crossed out. The table of the slides, in
seconds on a machine of 2007:

{theirs}
"Cutting planes" is `solver="cutting_plane"`, the method of SVM-Perf. `svmocas` is the program of the authors of OCAS,
with the same method and with their own; its time does not include reading the file. LIBSVM stops by its own rule.
"Auto, proved" is the library's default; its time includes a proof of that accuracy, which the others do not give.
"""


if __name__ == "__main__":
    command.run(sys.modules[__name__])
