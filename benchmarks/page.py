"""The page on speed, and the README's first table of times, from the files in benchmarks/results.

``python -m benchmarks.page`` writes docs/speed.md and renews the README.
"""

import json
import re
from pathlib import Path
from typing import Any

from benchmarks import defaults, multiclass, tables
from benchmarks.kernels import grid, large
from benchmarks.losses import line
from benchmarks.measure import Outcome
from benchmarks.problems import SMALL
from benchmarks.tables import Row, geometric_mean
from experiments.pages import table, wrapped

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
README = Path(__file__).parents[1] / "README.md"
_HEADER = "| data | lam | pegasos | LIBLINEAR | LinearSVC | Snap ML | fastest rival / pegasos |"
_SHOWN = {
    "a9a": ("a9a (48,842 x 123, sparse)", 1e-4, 1e-5),
    "covtype": ("covtype (581,012 x 54)", 1e-4, 1e-5),
    "mnist": ("mnist (70,000 x 784), digits below 5", 1e-4),
    "fashion_mnist": ("fashion_mnist (70,000 x 784), tops", 1e-4),
    "kddcup99": ("kddcup99 (805,050 x 118, sparse)", 1e-5),
    "dense_2m": ("generated (2,000,000 x 50)", 1e-4),
    "reuters21578": ("reuters21578 (12,902 x 13,135, sparse)", 1e-4),
    "sparse_1m": ("generated text (1,000,000 x 500,000, sparse)", 1e-4),
}

sizes = {
    "covtype": "covtype, 581,012 x 54",
    "fashion_mnist": "fashion_mnist, 70,000 x 784",
    "mnist": "mnist, 70,000 x 784",
    "a9a": "a9a, 48,842 x 123, sparse",
    "w8a": "w8a, 49,749 x 300, sparse",
    "kddcup99": "kddcup99, 805,050 x 118, sparse",
    "reuters21578": "reuters21578, 12,902 x 13,135, sparse",
    "susy30k": "susy30k, 30,000 x 18",
    "dense_2m": "generated, 2,000,000 x 50",
    "sparse_1m": "generated text, 1,000,000 x 500,000, sparse",
    "magic04": "magic04, 19,020 x 10",
    "skin": "skin, 245,057 x 3",
    "phishing": "phishing, 11,055 x 68, sparse",
    "subjectivity": "subjectivity, 10,000 x 11,289, sparse",
    "sms_spam": "sms_spam, 5,574 x 4,213, sparse",
    "movie_reviews": "movie_reviews, 2,000 x 24,087, sparse",
    "breast_cancer": "breast cancer, 569 x 30",
    "generated_1000x20": "generated, 1,000 x 20",
    "generated_200x5000": "generated, 200 x 5,000",
}


def main() -> None:
    """Write the page, and the table and the sentences about it in the README."""
    PAGE.write_text(page(), encoding="utf8")
    README.write_text(renewed(README.read_text(encoding="utf8")), encoding="utf8")


def renewed(text: str) -> str:
    """The README with the times, the summary and the cut-off of the results."""
    rows = panel(1e-3)
    ratios = [row.ratio for row in rows if row.ratio is not None]
    before, _, after = text.partition(_HEADER + "\n")
    rest = after.partition("\n\n")[2]
    text = f"{before}{_HEADER}\n| --- | --- | --- | --- | --- | --- | --- |\n{_shown(rows)}\n\n{rest}"
    mean = f"({min(ratios):.1f} to {max(ratios):.0f} times as fast, geometric mean {geometric_mean(ratios):.1f})"
    text = re.sub(r"\([\d.]+ to \d+ times as fast, geometric mean [\d.]+\)", mean, text)
    patience, _ = _rules()
    return re.sub(r"stopped at \d+ times our time", f"stopped at {patience['patience']:g} times our time", text)


def _shown(rows: list[Row]) -> str:
    found = {(row.problem, row.lam): row for row in rows}
    lines = []
    for problem, (name, *lams) in _SHOWN.items():
        for lam in lams:
            lines.append(_line_of_readme(name if lam == lams[0] else "", found[problem, lam]))
    return "\n".join(lines)


def _line_of_readme(name: str, row: Row) -> str:
    outcomes = row.outcomes
    snaps = [one for solver, one in outcomes.items() if solver.startswith("Snap ML")]
    snap = min([one for one in snaps if one.reached] or snaps, key=lambda one: one.seconds)
    each = [outcomes["pegasos"], outcomes["LIBLINEAR"], outcomes["LinearSVC"], snap]
    best = min((one for one in each if one.reached), key=lambda one: one.seconds)
    cells = [f"{'' if one.reached else '> '}{_two_digits(one.seconds)}" for one in each]
    cells[0] += " s"
    cells = [f"**{cell}**" if one is best else cell for cell, one in zip(cells, each, strict=True)]
    is_bound = not any(one.reached for solver, one in outcomes.items() if solver != "pegasos")
    lam = f"{row.lam:.0e}".replace("e-0", "e-") + _mark(row)
    ratio = f"{'> ' if is_bound else ''}{row.ratio:.1f}"
    return " ".join(f"| {' | '.join([name, lam, *cells, ratio])} |".split())


def _two_digits(seconds: float) -> str:
    rounded = f"{float(f'{seconds:.2g}'):g}"
    return f"{seconds:.1f}" if 1.0 <= seconds < 10.0 else rounded


def page() -> str:
    """All of it."""
    fine, coarse = (panel(target) for target in (1e-3, 1e-2))
    rules, versions = _rules()
    return f"""# Benchmarks: speed against other libraries

How long do pegasos and its rivals take to reach the same accuracy? If you compare SVM libraries, find the times here,
the cases in which pegasos is slower, how all this was measured, and how to repeat it.

Written by `python -m benchmarks.page` from the files in `benchmarks/results`, which `make bench` writes.

Times are those of `fit`, input validation included. pegasos is done when the gap is *proved*. A rival is not judged by
its own stopping rule: its time is that of the loosest setting whose *measured* objective is within the target, chosen
in hindsight. All solvers take turns on two cores of one machine ({rules["processor"]}), and the best of up to
{rules["repeat"]} runs counts. Rivals: scikit-learn's LinearSVC and SGDClassifier, LIBLINEAR, Snap ML with one thread
and with two, Vowpal Wabbit, skglm.

{_cut_off(rules)}

{wrapped(f"**Versions.** {versions}. The linear panels were measured on {rules['measured']}.")}

## To a gap of 1e-3

{_panel(fine)}
{wrapped(_summary(fine))}

## To a gap of 1e-2

{_panel(coarse)}
{wrapped(_summary(coarse))}

![Seconds against the distance from the optimum](images/benchmark.png)

## What limits a fit

Where the time goes, for a gap of 1e-3. A bare pass computes the scores of all samples on two threads, and
`fit / pass` is the duration of the fit in bare passes. "Reading" is input validation, "sweeps" are dual ascent and
Pegasos, "second order" is Newton's method.

{_shares()}
{_bounds()}
{_small()}{_multiclass()}{_defaults()}{_kernels()}{_losses()}## Prediction: scores of all samples

Milliseconds. `X @ w` does not validate the data, has no intercept and sums in single precision; pegasos validates
every entry and sums in double precision, in the same pass.

{_prediction()}
"""


def panel(target: float) -> list[Row]:
    """The rows of a target without the small tables, which have a section of their own."""
    return [row for row in tables.read(target) if row.problem not in SMALL]


def _small() -> str:
    rows = [(target, row) for target in (1e-2, 1e-3) for row in tables.read(target) if row.problem in SMALL]
    if not rows:
        return ""
    text = (
        "Milliseconds of one fit at C = 1. Here the Python code around a fit takes longer than the solver, for pegasos "
        "and LinearSVC alike; LIBLINEAR and Snap ML are given rows that were converted, and in part checked, "
        "beforehand, and their time is that of the solver."
    )
    names = list(dict.fromkeys(name for _, row in rows for name in row.outcomes))
    cells = [
        [sizes[row.problem], f"{target:g}", *(_milliseconds(row.outcomes.get(name)) for name in names)]
        for target, row in rows
    ]
    return f"## Small tables\n\n{wrapped(text)}\n\n{table(['data', 'gap', *names], cells)}\n"


def _milliseconds(outcome: Outcome | None) -> str:
    if outcome is None:
        return "-"
    return f"{'' if outcome.reached else '> '}{1e3 * outcome.seconds:.3g}"


def _cut_off(rules: dict[str, Any]) -> str:
    """When the search for the setting of a rival ends."""
    limit = f"{rules['limit']:g} s"
    stopped = (
        f"Every solver may take {limit} for one run"
        if rules["patience"] is None
        else f"One run of a rival may take {rules['patience']:g} times our time (but at least 1 s, and at most "
        f"{limit}). The search for its setting, all runs together, may take half as long again"
    )
    return wrapped(
        f"**Cut-off.** {stopped}. Where the number of epochs is the setting, one that would clearly take longer is not "
        "tried. `> s` means that the target was not reached by a run of s seconds, not that it never would be. Where "
        "no rival reached it, the table shows the shortest of these runs."
    )


def _panel(rows: list[Row]) -> str:
    header = [
        "data",
        "lam",
        "pegasos",
        "fastest rival",
        "its seconds",
        "ratio",
        "passes",
        "bandwidth used",
        "bytes per row",
    ]
    return table(header, [_line(row) for row in rows])


def _mark(row: Row) -> str:
    """A dagger for a row of an earlier measurement."""
    return " †" if row.measured != _rules()[0]["measured"] else ""


def _line(row: Row) -> list[str]:
    rivals = {name: one for name, one in row.outcomes.items() if name != "pegasos"}
    good = {name: one for name, one in rivals.items() if one.reached} or rivals
    name, fastest = min(good.items(), key=lambda pair: pair[1].seconds)
    more = "" if fastest.reached else "> "
    ratio = "missed" if row.ratio is None else f"{more}{row.ratio:.1f}"
    return [
        sizes[row.problem],
        f"{row.lam:g}{_mark(row)}",
        f"{row.outcomes['pegasos'].seconds:.3g}",
        name if fastest.reached else "none reached it",
        f"{more}{fastest.seconds:.3g}",
        f"**{ratio}**" if row.ratio is not None and row.ratio >= 2.0 else ratio,
        f"{row.usage.passes:.0f}",
        f"{row.usage.bandwidth_share:.0%}",
        f"{row.usage.bytes_a_row:.0f}",
    ]


def _summary(rows: list[Row]) -> str:
    ratios = [row.ratio for row in rows if row.ratio is not None]
    mean = geometric_mean(ratios)
    return (
        f"Geometric mean of the ratios {mean:.1f}, from {min(ratios):.2g} to {max(ratios):.2g}; at least twice as fast "
        f"as the fastest rival on {sum(ratio >= 2.0 for ratio in ratios)} of {len(ratios)}, slower on "
        f"{sum(ratio < 1.0 for ratio in ratios)}."
    )


def _read(name: str) -> list[dict[str, Any]]:
    return list(json.loads((RESULTS / f"{name}.json").read_text(encoding="utf8")))


def _shares() -> str:
    found = sorted(_read("shares"), key=lambda row: (row["problem"], -row["lam"]))
    parts = list(found[0]["parts"])
    rows = [
        [
            row["problem"],
            f"{row['lam']:g}",
            f"{1e3 * row['seconds']:.1f} ms",
            f"{1e3 * row['bare_pass']:.2f} ms",
            f"{row['seconds'] / row['bare_pass']:.0f}",
            f"{row['passes']:.0f}",
            *(f"{row['parts'][part] / row['seconds']:.0%}" for part in parts),
        ]
        for row in found
    ]
    return table(["data", "lam", "fit", "bare pass", "fit / pass", "passes", *parts], rows)


def _bounds() -> str:
    """Explain the rows on which a rival is less than twice as slow; written by hand, from the table above it."""
    return """Nothing here is limited by memory bandwidth. What limits the rows whose ratio is below 2:

- **Dual ascent is sequential** (w8a and reuters21578, kddcup99 at lam = 1e-4). Each visit needs the weights that
  the previous one left: score, step, update, about 40 to 60 nanoseconds for a dozen entries, whatever the memory
  bandwidth, and a second core cannot share this work. LIBLINEAR and Snap ML on one thread do the same work;
  the advantage over them comes from float32, prefetching, shrinking and stopping as soon as the proof is complete. Two
  threads with copies of the weights need more epochs, especially if samples interact strongly (if |x|^2 / (lam n) is
  large): on reuters21578, twice as many.
- **A proof takes passes of its own** (all data sets, especially to 1e-2): one to validate the data, one for the weights
  of the dual point, and one for the losses, of seven in all. Rivals prove nothing; they are judged in hindsight.
- **Small data leaves little to gain** (susy30k, a9a to 1e-2). A fit takes ten milliseconds, a third of it in Python:
  validation, labels, attributes, and about twenty calls per step of Newton's method. The rivals' fits are as short.
- **Threads must be deterministic** (sparse_1m). To give the same bits every time, two threads work on copies of the
  weights, which are merged after each sweep. This pays only where samples interact weakly; at lam = 1e-5 one thread
  does all the sweeps. Snap ML is faster there on two threads, and slower on one.
"""


def _rules() -> tuple[dict[str, Any], str]:
    """How the linear panels were measured, and with which versions."""
    found = json.loads((RESULTS / "0.001.json").read_text(encoding="utf8"))
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return {key: found[key] for key in ("repeat", "patience", "limit", "measured")} | found["machine"], versions


def _multiclass() -> str:
    if not multiclass.RESULT.exists():  # it takes long, and is run when asked for
        return ""
    found = json.loads(multiclass.RESULT.read_text(encoding="utf8"))
    rows, ratios = found["rows"], []
    names = list(dict.fromkeys(name for row in rows for name in row["rivals"]))
    cells = []
    for row in rows:
        rivals = row["rivals"].values()
        reached = [one["seconds"] for one in rivals if one["reached"]]
        ratios.append(min(reached or [one["seconds"] for one in rivals]) / row["pegasos"])
        start = [f"{row['problem']}, {row['size']}", f"{row['lam']:g}", f"{row['target']:g}", _number(row["pegasos"])]
        ratio = f"{'' if reached else '> '}{ratios[-1]:.1f}"
        cells.append([*start, *(_seconds(row["rivals"].get(name)) for name in names), ratio])
    text = (
        "Seconds until the sum of the objectives of all classes is within the gap; a rival is called once for each "
        f"class. A run of a rival may take {found['patience']:g} times our time, but at least 1 s and at most "
        f"{found['limit']:g} s. Geometric mean of the ratios {geometric_mean(ratios):.1f}, the least {min(ratios):.2g}."
    )
    header = ["samples x features, classes", "lam", "gap", "pegasos", *names, "fastest rival / pegasos"]
    return f"## Several classes, one-vs-rest\n\n{wrapped(text)}\n\n{table(header, cells)}\n"


def _seconds(rival: dict[str, Any] | None) -> str:
    if rival is None:
        return "-"
    return f"{'' if rival['reached'] else '> '}{_number(rival['seconds'])}"


def _defaults() -> str:
    """What each estimator gives with no parameters."""
    rows = json.loads(defaults.RESULTS.read_text(encoding="utf8"))["rows"]
    text = (
        "What you get if you set nothing but `random_state=0`: milliseconds of processor time, accuracy on held-out "
        "data, and the relative gap between the objective of the model and the optimum of that objective, measured. "
        "Tables are standardized, rows of text have length 1. The objectives differ: `LinearSVC()` and `SVC()` have "
        "C = 1, with the squared hinge and the hinge; `SGDClassifier()`, `PegasosClassifier()` and "
        "`KernelPegasosClassifier()` have the hinge and lam (called alpha in the first) = 1e-4. So compare accuracies "
        "only after tuning C or lam. `make bench-defaults` repeats it."
    )
    parts = [
        "## Default against default",
        wrapped(text),
        defaults.render(rows).strip(),
        wrapped(defaults.summary(rows)),
    ]
    return "\n\n".join(parts) + "\n\n"


def _kernels() -> str:
    if not (RESULTS / "kernel_grid.json").exists():
        return ""
    found = grid.render(json.loads((RESULTS / "kernel_grid.json").read_text())["rows"])
    rows, summary = found.split("\n\n")
    return f"""## Kernels, small and large tables

LIBSVM's problem: RBF kernel, one-vs-one, free intercept, float64. A rival runs with its
default tolerance, its gap is measured, and pegasos has to prove that gap. Times are milliseconds of processor time,
summed over threads, the best of several runs on a shared machine. On 200 samples, the Python code around
a fit, validation and certificate included, takes more time than the solver.
`python -m benchmarks.kernels.run --grid` repeats it.

{rows}

{wrapped(summary)}

{_large()}"""


def _large() -> str:
    if not (RESULTS / "kernel_large.json").exists():
        return ""
    return f"""## Kernels, many samples

Covtype, class 2 against the rest, columns standardized, RBF kernel, free intercept, float64: the gap proved for the
exact problem when `time_budget` ends, and the accuracy on 20,000 held-out samples. Processor seconds show how much
of the shared machine the fit got. `python -m benchmarks.kernels.large` repeats it.

{large.render(json.loads((RESULTS / "kernel_large.json").read_text())["rows"])}

"""


def _losses() -> str:
    if not (RESULTS / "losses.json").exists():
        return ""
    rows = json.loads((RESULTS / "losses.json").read_text(encoding="utf8"))["rows"]
    ratios = [row["times"] for row in rows if row["times"] is not None]
    mean = geometric_mean(ratios)
    below = sum(ratio < 1.0 for ratio in ratios)
    text = (
        "`make bench-losses`: processor milliseconds to a *measured* relative gap of 1e-3, one thread, against the "
        "loosest tolerance with which each rival of scikit-learn, intelex or statsmodels reaches it. The last column "
        f"is the fastest rival's time over ours; its geometric mean is {mean:.2g}, the least {min(ratios):.2g}, and "
        f"{below} of {len(ratios)} are below 1. The squared epsilon-insensitive loss on few "
        "well-conditioned features is the best case of LinearSVR's primal solver, whose conjugate gradients need few "
        "steps there: on generated data of 100 to 100,000 samples with one to five such features it takes 0.46 to 1.2 "
        "times as long as ours, which spends its time on two dual variables per sample and on the certificate. With "
        "five or more features in different units and at least 1,000 samples it takes 1.4 to 88 times as long."
    )
    found = "\n".join(["| loss | data | ours | rivals | times |", "| --- | --- | --- | --- | --- |", *map(line, rows)])
    return f"## Other losses\n\n{wrapped(text)}\n\n{found}\n\n"


def _prediction() -> str:
    rows = _read("prediction")
    names = [key for key in rows[0] if key not in ("problem", "unit")]
    return table(["data", *names], [[row["problem"], *(_number(row[name]) for name in names)] for row in rows])


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


if __name__ == "__main__":
    main()
