"""The page on speed, from the files in benchmarks/results: ``python -m benchmarks.page`` writes docs/speed.md."""

import json
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.kernels import grid, large
from benchmarks.losses import line
from benchmarks.tables import Row, geometric_mean
from experiments.pages import table, wrapped

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "speed.md"

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
}


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf8")


def page() -> str:
    """All of it."""
    fine, coarse = (tables.read(target) for target in (1e-3, 1e-2))
    return f"""# Speed

Made by `python -m benchmarks.page` from the files in `benchmarks/results`, which `make bench` writes.

How long until the answer is known to be good? The clock runs from the call of `fit`, checks of the input included, and
stops for pegasos when the gap is *proved*. A rival is not asked for its own idea of convergence: it gets the time of
the loosest of its settings whose *measured* objective is within the target, found in hindsight. All take turns on two
cores of one machine, the best of several runs counts. `> s` means: not reached in s seconds. Rivals:
scikit-learn's LinearSVC and SGDClassifier, LIBLINEAR, Snap ML with one thread and with two, Vowpal Wabbit, skglm.

## To a gap of 1e-3

{_panel(fine)}
{wrapped(_summary(fine))}

## To a gap of 1e-2

{_panel(coarse)}
{wrapped(_summary(coarse))}

![Seconds against the distance from the optimum](images/benchmark.png)

## What bounds a fit

Where the time goes, to a gap of 1e-3. A bare pass is the scores of all rows on two threads; `fit / pass` says how many
of them would take as long as the fit. Reading is the checks of the input, sweeps are dual ascent and Pegasos, second
order is Newton's method.

{_shares()}
{_bounds()}
{_multiclass()}{_kernels()}{_losses()}## Scores of all rows

Milliseconds. `X @ w` does not check the rows, has no intercept and sums in single precision; ours checks every entry
and sums in double, in the same pass.

{_prediction()}
"""


def _panel(rows: list[Row]) -> str:
    header = [
        "data",
        "lam",
        "pegasos",
        "fastest rival",
        "its seconds",
        "ratio",
        "passes",
        "of bandwidth",
        "bytes a row",
    ]
    return table(header, [_line(row) for row in rows])


def _line(row: Row) -> list[str]:
    rivals = {name: one for name, one in row.outcomes.items() if name != "pegasos"}
    good = {name: one for name, one in rivals.items() if one.reached} or rivals
    name, fastest = min(good.items(), key=lambda pair: pair[1].seconds)
    more = "" if fastest.reached else "> "
    ratio = "missed" if row.ratio is None else f"{more}{row.ratio:.1f}"
    return [
        sizes[row.problem],
        f"{row.lam:g}",
        f"{row.outcomes['pegasos'].seconds:.3g}",
        name,
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
    """What keeps the rows back on which a rival is less than twice as slow. Written by hand, of the table above it."""
    return """Nothing here is bound by the bandwidth of the memory. What holds back the rows whose ratio is below 2:

- **Dual ascent is one chain of steps** (w8a and reuters21578, kddcup99 at lam = 1e-4). Each visit needs the weights as
  the one before left them: score, step, update, some 40 to 60 nanoseconds for a dozen entries, whatever the memory
  could deliver, and a second core cannot take a part of it. LIBLINEAR and Snap ML on one thread climb the same chain;
  what is gained on them comes of float32, prefetching, shrinking and of ending as soon as the proof is there. Two
  threads with copies of the weights need as many times the epochs as rows disturb each other, |x|^2 / (lam n) and more:
  measured, twice as many on reuters21578.
- **A proof takes passes of its own** (all rows, most of all those to 1e-2). One to check the rows, one for the weights
  of the dual point, one for the losses: of seven passes in all, three. Rivals do not prove; they are judged in
  hindsight.
- **Small data leave little to gain** (susy30k, a9a to 1e-2). Ten milliseconds, of which a third is Python: checks,
  labels, attributes, some twenty calls a step of Newton's method. The rivals' fits are as short as that.
- **Two threads that agree** (sparse_1m). Here two threads give the same bits every time: they work on copies of the
  weights, which are put together after each sweep, and only where rows disturb each other little; at lam = 1e-5 one
  thread does all the sweeps. Snap ML is faster there on two threads, and slower on one.
"""


def _multiclass() -> str:
    if not (RESULTS / "multiclass.json").exists():  # it takes long, and is run when asked for
        return ""
    rows = _read("multiclass")
    names = [key for key in rows[0] if key not in ("problem", "lam", "target")]
    return (
        "## Ten classes, one against the rest\n\n"
        + table(
            ["data", "lam", "gap", *names],
            [
                [row["problem"], f"{row['lam']:g}", f"{row['target']:g}", *(_number(row[name]) for name in names)]
                for row in rows
            ],
        )
        + "\n"
    )


def _kernels() -> str:
    if not (RESULTS / "kernel_grid.json").exists():
        return ""
    found = grid.render(json.loads((RESULTS / "kernel_grid.json").read_text())["rows"])
    rows, summary = found.split("\n\n")
    return f"""## Kernels, small and large tables

The problem of LIBSVM: RBF kernel, one machine for each pair of classes, free intercept, float64. A rival runs with its
default tolerance, its gap is measured, and pegasos is asked to prove that gap. Milliseconds of processor time, summed
over threads, the best of several runs on a machine that other programs used as well. On 200 rows, what Python does
around a fit, checks and certificate included, takes more time than the solver.
`python -m benchmarks.kernels.run --grid` repeats it.

{rows}

{wrapped(summary)}

{_large()}"""


def _large() -> str:
    if not (RESULTS / "kernel_large.json").exists():
        return ""
    return f"""## Kernels, many rows

Covtype, class 2 against the rest, columns standardized, RBF kernel, free intercept, float64: what is proved of the
exact problem when `time_budget` ends, and the accuracy on 20,000 other rows. Processor seconds say how much of the
machine a fit had, which other programs used as well. `python -m benchmarks.kernels.large` repeats it.

{large.render(json.loads((RESULTS / "kernel_large.json").read_text())["rows"])}

"""


def _losses() -> str:
    if not (RESULTS / "losses.json").exists():
        return ""
    rows = json.loads((RESULTS / "losses.json").read_text(encoding="utf8"))["rows"]
    ratios = [row["times"] for row in rows if row["times"] is not None]
    mean = geometric_mean(ratios)
    text = (
        "`make bench-losses`: processor milliseconds to a *measured* relative gap of 1e-3, one thread, against the "
        "loosest tolerance with which each rival of scikit-learn reaches it. The last column is the faster rival's "
        f"time over ours; its geometric mean is {mean:.2g}, the least {min(ratios):.2g}. Small tables are behind, and "
        "so is the squared epsilon-insensitive loss: its two sides are two rows here, one in LinearSVR's primal solver."
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
