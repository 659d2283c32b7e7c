"""Time pegasos and its rivals to the same distance from the same optimum.

    python -m benchmarks.run [--problems a9a,w8a] [--lams 1e-4,1e-5] [--repeat 5] [--patience 20] [--limit 60]

The rows of other problems that were measured before are kept, so that a run may be done in parts.

A solver is not asked for its own idea of convergence: it gets the seconds of the loosest of its settings whose
*measured* objective is within the target. `rivals` says how each was matched, `objective.py` how it is judged.
"""

import argparse
from datetime import date

from benchmarks import plots, problems, tables
from benchmarks.measure import Rule, compare
from benchmarks.rivals import installed
from benchmarks.usage import usage_of

_TARGETS = [1e-2, 1e-3]


def main() -> None:
    """Measure, print a line as each row is done, and the tables at the end."""
    arguments = _arguments()
    rule = Rule(arguments.repeat, arguments.limit, arguments.patience)
    solvers = installed()
    for name in arguments.problems or problems.names():
        problem = problems.load(name)
        for lam in arguments.lams or problem.lams:
            found, runs = compare(solvers, problem, lam, _TARGETS, rule)
            for target, outcomes in found.items():
                usage = usage_of(problem, lam, target, outcomes["pegasos"].seconds)
                row = tables.Row(name, lam, outcomes, runs, usage, date.today().isoformat(), rule.patience)
                _announce(target, row)
                tables.write(target, row, rule)
    for target in _TARGETS:
        print("\n" + tables.render(target, tables.read(target), rule))
    plots.draw([row for row in tables.read(_TARGETS[-1]) if row.problem in problems.pictured()])


def _announce(target: float, row: tables.Row) -> None:
    """Print a line for each row when it is done: a whole run takes a while."""
    seconds = ", ".join(
        f"{name} {one.seconds:.4f}{'' if one.reached else ' (missed)'}" for name, one in row.outcomes.items()
    )
    print(f"{row.problem}, lam {row.lam:g}, to {target:g}: {seconds}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=_names, help="names, with commas; default: the panel")
    parser.add_argument("--lams", type=_numbers, help="default: 1e-4,1e-5; of small problems 1/n")
    parser.add_argument("--repeat", type=int, default=5, help="runs of the setting that counts; the best is kept")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds one run of a solver may take")
    parser.add_argument(
        "--patience", type=float, default=20.0, help="times ours that one run of a rival may take, at least 1 s"
    )
    return parser.parse_args()


def _names(text: str) -> list[str]:
    return text.split(",")


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


if __name__ == "__main__":
    main()
