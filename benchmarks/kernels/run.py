"""Time the kernel machine of pegasos and its rivals to the same measured gap of 1e-3.

    python -m benchmarks.kernels.run [--problems usps,a9a] [--repeat 3] [--limit 120] [--rows 1500]
                                     [--compare] [--predict] [--whole] [--growth]
                                     [--grid [--cells few2,tens10] [--sizes 200,1000] [--costs 1,10]]

`rivals.py` says how each was matched, `objective.py` how it is judged, `problems.py` on what.
"""

import argparse
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.kernels import grid, growth, prediction, problems, tables, whole
from benchmarks.kernels.measure import compare
from benchmarks.kernels.rivals import installed, target
from benchmarks.measure import Rule

_PARTS = ("compare", "predict", "whole", "growth", "grid")


def main() -> None:
    """Run the requested parts; by default, the comparisons and prediction."""
    arguments = _arguments()
    asked = [part for part in _PARTS if getattr(arguments, part)] or ["grid", "compare", "predict"]
    for part in asked:
        _run_of[part](arguments)


def _compare(arguments: argparse.Namespace) -> None:
    rule = Rule(arguments.repeat, arguments.limit)
    results = tables.Results("kernels", {"target": target, **asdict(rule)}, arguments.rows)
    solvers = installed()
    for problem, C in _cases(arguments):
        outcomes = compare(solvers, problem, C, rule, weighs_memory=arguments.memory)
        results.add({**_heading(problem, C), "outcomes": {name: asdict(one) for name, one in outcomes.items()}})
        print(tables.render(results.rows[-1:]).splitlines()[2], flush=True)
    print(f"\nSeconds to a relative gap of {target:g}, best of {rule.repeat} (of one where it takes more than 10 s)\n")
    print(f"{tables.render(results.rows)}\n\n{tables.render_models(results.rows)}\n")


def _predict(arguments: argparse.Namespace) -> None:
    results = tables.Results("kernel_prediction", {}, arguments.rows)
    solvers = installed()
    for problem, C in _cases(arguments):
        row = {**_heading(problem, C), "n_test": len(problem.y_test), "speeds": prediction.speeds(solvers, problem, C)}
        results.add(row)
        print(tables.render_prediction([row]).splitlines()[2], flush=True)
    print(f"\nRows a second of predict, best of 5\n\n{tables.render_prediction(results.rows)}\n")


def _whole(arguments: argparse.Namespace) -> None:
    found = whole.measure(arguments.cost, arguments.rows)
    tables.write("kernel_whole", found, is_trial=arguments.rows is not None)
    print(f"\n{whole.render(found)}\n")


def _growth(arguments: argparse.Namespace) -> None:
    is_trial = arguments.rows is not None
    sizes = tuple(n for n in growth.sizes if not is_trial or n <= max(arguments.rows, growth.sizes[1]))
    found = growth.measure(sizes)
    path = tables.write("kernel_growth", found, is_trial=is_trial)
    if is_trial:
        growth.draw(found, path.with_suffix(".png"))
    else:
        growth.draw(found)
    print(f"\n{growth.render(found)}\n")


def _grid(arguments: argparse.Namespace) -> None:
    results = tables.Results("kernel_grid", {}, None)
    for n in arguments.sizes or grid.SIZES:
        for name in arguments.cells or grid.CELLS:
            for C in arguments.costs or grid.COSTS:
                row = grid.measure(name, int(n), float(C), arguments.repeat, arguments.limit)
                if row is not None:
                    results.add({**row, "problem": f"{name}, {int(n)} rows"})
                    print(grid.render(results.rows[-1:]).splitlines()[2], flush=True)
    print(f"\n{grid.render(results.rows)}\n")


def _cases(arguments: argparse.Namespace):
    for name in arguments.problems or problems.names():
        problem = problems.load(name, arguments.rows)
        for C in problem.Cs:
            yield problem, C


def _heading(problem: problems.Problem, C: float) -> dict[str, Any]:
    n_rows, n_features = problem.X.shape
    return {
        "problem": problem.name,
        "n_rows": n_rows,
        "n_features": n_features,
        "n_classes": len(np.unique(problem.y)),
        "gamma": problem.gamma,
        "C": C,
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels.run", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=_names, help="names, with commas; default: all four")
    parser.add_argument("--repeat", type=int, default=3, help="runs of the setting that counts; the best is kept")
    parser.add_argument(
        "--limit",
        type=float,
        default=120.0,
        help="seconds of a run that misses the gap, after which no stricter one is tried",
    )
    parser.add_argument("--rows", type=int, help="a trial on the first rows only; its results are kept in .cache")
    parser.add_argument(
        "--memory", action=argparse.BooleanOptionalAction, default=True, help="one more fit each, to weigh it"
    )
    parser.add_argument("--cost", type=float, default=10.0, help="C of --whole; default: 10")
    parser.add_argument("--compare", action="store_true", help="seconds to the gap; the default, with --predict")
    parser.add_argument("--predict", action="store_true", help="rows per second at predict")
    parser.add_argument("--whole", action="store_true", help="all of fashion_mnist, in a process of its own")
    parser.add_argument("--growth", action="store_true", help="time of a step of kernel Pegasos against the rows")
    parser.add_argument("--grid", action="store_true", help="sizes x features x classes x C, by LIBSVM's objective")
    parser.add_argument("--cells", type=_names, help=f"of --grid: {', '.join(grid.CELLS)}; default: all")
    parser.add_argument("--sizes", type=_names, help="of --grid: numbers of rows, with commas")
    parser.add_argument("--costs", type=_names, help="of --grid: values of C, with commas")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    return text.split(",")


_run_of = {"compare": _compare, "predict": _predict, "whole": _whole, "growth": _growth, "grid": _grid}


if __name__ == "__main__":
    main()
