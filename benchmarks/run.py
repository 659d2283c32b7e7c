"""Time pegasos and its rivals to the same distance from the same optimum.

    python -m benchmarks.run [--problems a9a,w8a] [--lams 1e-4,1e-5] [--repeat 3] [--limit 60]

A solver is not asked for its own idea of convergence: it gets the seconds of the loosest of its settings whose
*measured* objective is within the target. `rivals` says how each was matched, `objective.py` how it is judged.
"""

import argparse

from benchmarks import problems, tables
from benchmarks.measure import Rule, compare
from benchmarks.rivals import installed

_targets = [1e-2, 1e-3]


def main() -> None:
    """Measure, print a line as each row is done, and the tables at the end."""
    arguments = _arguments()
    rule = Rule(arguments.repeat, arguments.limit)
    solvers = installed()
    rows: dict[float, list[tables.Row]] = {target: [] for target in _targets}
    for name in arguments.problems or problems.names():
        problem = problems.load(name)
        for lam in arguments.lams:
            for target, outcomes in compare(solvers, problem, lam, _targets, rule).items():
                rows[target].append(tables.Row(name, lam, outcomes))
                _announce(target, rows[target][-1])
                tables.write(target, rows[target], rule)
    for target in _targets:
        print("\n" + tables.render(target, rows[target], rule))


def _announce(target: float, row: tables.Row) -> None:
    """A line for each row as it is done: a whole run takes a while."""
    seconds = ", ".join(
        f"{name} {one.seconds:.4f}{'' if one.reached else ' (missed)'}" for name, one in row.outcomes.items()
    )
    print(f"{row.problem}, lam {row.lam:g}, to {target:g}: {seconds}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=_names, help="names, with commas; default: the five of the project")
    parser.add_argument("--lams", type=_numbers, default=[1e-3, 1e-4, 1e-5], help="default: 1e-3,1e-4,1e-5")
    parser.add_argument("--repeat", type=int, default=3, help="runs of the setting that counts; the best is kept")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds one run of a solver may take")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    return text.split(",")


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


if __name__ == "__main__":
    main()
