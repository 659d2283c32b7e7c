"""The results of a target: as an aligned table, and as JSON with the versions of everything."""

import json
import math
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from threadpoolctl import threadpool_info

from benchmarks.measure import Outcome, Rule, Runs
from benchmarks.usage import Usage

_results = Path(__file__).parent / "results"
_PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn", "liblinear-official", "snapml", "vowpalwabbit", "skglm")
_OURS = "pegasos"


@dataclass(frozen=True)
class Row:
    """The outcomes of all solvers on one problem."""

    problem: str
    lam: float
    outcomes: dict[str, Outcome]
    runs: Runs
    usage: Usage
    measured: str  # date
    patience: float | None  # times our time that one run of a rival could take

    @property
    def ratio(self) -> float | None:
        """Seconds of the fastest rival over ours; None where we miss the target.

        Where all rivals miss it, the shortest of their longest runs is a lower bound of what any of them needs.
        """
        ours = self.outcomes[_OURS]
        rivals = [one for name, one in self.outcomes.items() if name != _OURS]
        good = [one.seconds for one in rivals if one.reached] or [one.seconds for one in rivals]
        return min(good) / ours.seconds if ours.reached else None


def render(target: float, rows: list[Row], rule: Rule) -> str:
    """The table, and the geometric mean of its ratios."""
    solvers = list(dict.fromkeys(name for row in rows for name in row.outcomes))
    lines = [["problem", "lam", *solvers, "fastest rival / pegasos", "passes", "of bandwidth", "bytes per row"]]
    for row in rows:
        seconds = [_cell(row.outcomes.get(name), rule) for name in solvers]
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        usage = [f"{row.usage.passes:.1f}", f"{row.usage.bandwidth_share:.0%}", f"{row.usage.bytes_a_row:.0f}"]
        lines.append([row.problem, f"{row.lam:g}", *seconds, ratio, *usage])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    title = f"Seconds until (P - P*) / P* <= {target:g}, best of {rule.repeat} or more; '> s': not reached in s seconds"
    return "\n".join([title, *aligned, _summary(rows)])


def _cell(outcome: Outcome | None, rule: Rule) -> str:
    if outcome is None:
        return "-"
    if outcome.reached:
        return f"{outcome.seconds:.4f}"
    return f"> {min(outcome.seconds, rule.limit):.3g}"


def _summary(rows: list[Row]) -> str:
    mean = geometric_mean([row.ratio for row in rows if row.ratio is not None])
    missed = sum(not row.outcomes[_OURS].reached for row in rows)
    sentence = "There is no ratio." if mean is None else f"Geometric mean of the ratios: {mean:.2f}."
    return f"{sentence} pegasos missed the target on {missed} of {len(rows)}."


def geometric_mean(ratios: list[float]) -> float | None:
    """None of nothing."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def write(target: float, row: Row, rule: Rule) -> None:
    """Keep a row in `results/<target>.json`, instead of an earlier one of the same problem and lam."""
    _results.mkdir(exist_ok=True)
    rows = [*(old for old in read(target) if (old.problem, old.lam) != (row.problem, row.lam)), row]
    content = {
        "target": target,
        "measured": row.measured,
        **asdict(rule),
        "versions": versions(_PACKAGES),
        "machine": machine(),
        "geometric_mean": geometric_mean([each.ratio for each in rows if each.ratio is not None]),
        "rows": [{**asdict(each), "ratio": each.ratio} for each in rows],
    }
    (_results / f"{target:g}.json").write_text(json.dumps(content, indent=1) + "\n")


def read(target: float) -> list[Row]:
    """The rows of `results/<target>.json` by their names, the larger lam first; none where there is no such file."""
    path = _results / f"{target:g}.json"
    found = json.loads(path.read_text())["rows"] if path.exists() else []
    found.sort(key=lambda each: (each["problem"], -each["lam"]))
    return [
        Row(
            each["problem"],
            each["lam"],
            {name: Outcome(**one) for name, one in each["outcomes"].items()},
            each["runs"],
            Usage(**each["usage"]),
            each["measured"],
            each["patience"],
        )
        for each in found
    ]


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Of Python and of the packages that are compared."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine() -> dict[str, object]:
    """What else decides over seconds: threaded BLAS on a busy machine slows down those who call it."""
    return {
        "processor": _processor(),
        "threads": os.cpu_count(),
        "blas_threads": [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"],
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
    }


def _processor() -> str:
    """The name Linux gives it; elsewhere the one Python reports."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
