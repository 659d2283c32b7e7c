"""Choose scaling, kernel, width and lam for a data file, and explain the choice.

pegasos tune data.svm
pegasos tune data.svm --budget 5m --scoring balanced_accuracy
pegasos tune data.svm --budget 30s -o best.pegasos --leaderboard trials.csv --picture search.png
"""

from __future__ import annotations

import argparse
import csv
import io
import re
from pathlib import Path
from typing import Any

from pegasos.cli._columns import frame_of
from pegasos.cli._files import add_format_options, check_goals, format_options, keep_names, kinds, read_rows
from pegasos.cli._results import print_json, table
from pegasos.errors import PegasosError
from pegasos.files import atomically

_seconds = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_COLUMNS = ("rank", "score", "spread", "folds", "kernel", "scaling", "lam", "gamma", "seconds", "verdict")
_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, the budget, and where the results go."""
    parser.add_argument("data", metavar="DATA", help=kinds)
    parser.add_argument("--budget", default="1m", help="time for the search, such as 90, 30s, 5m or 1h; default: 1m")
    parser.add_argument("--trials", type=int, help="maximum number of settings to try")
    parser.add_argument("--scoring", help="score to maximize, by its scikit-learn name; default: accuracy")
    parser.add_argument("--folds", type=int, default=5, help="folds of the cross-validation; default: 5")
    parser.add_argument(
        "--seed", type=int, help="seed; makes a search with --trials that ends within its budget repeatable"
    )
    parser.add_argument("--quiet", action="store_true", help="do not print a line per setting")
    parser.add_argument("--json", action="store_true", help="print one JSON object, and nothing else, on stdout")
    parser.add_argument("-o", "--output", metavar="MODEL", help="file for the best model")
    parser.add_argument("--leaderboard", type=Path, help="CSV file for all settings and their scores")
    parser.add_argument("--picture", type=Path, help="file for a plot of the search, such as search.png")
    add_format_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Search, print the account, write what was requested."""
    from pegasos.tuning.auto import AutoPegasos

    auto = AutoPegasos(
        seconds_of(arguments.budget),
        n_trials=arguments.trials,
        scoring=arguments.scoring,
        cv=arguments.folds,
        random_state=arguments.seed,
        verbose=0 if arguments.quiet or arguments.json else 1,
    )
    goals = arguments.output, arguments.leaderboard, arguments.picture
    check_goals(*goals, read=(arguments.data, arguments.labels))
    if arguments.picture is not None:
        _check_kind(arguments.picture)
    table = read_rows(arguments.data, format_options(arguments))
    if table.weights is not None:
        raise PegasosError("a search does not support sample weights: leave out --weight-column.")
    if table.words is not None:
        auto.fit(frame_of(table), table.y)
    else:
        auto.fit(table.X, table.y)
        keep_names(auto, table.feature_names)
    if arguments.output is not None:
        auto.save(arguments.output)
    if arguments.json:
        print_json({"model": arguments.output, "best": repr(auto.best_estimator_), "leaderboard": auto.leaderboard_})
    else:
        print(f"\n{_best(auto.leaderboard_[:_SHOWN])}\n\n{auto.account_}\n\n{auto.best_estimator_!r}")
    if arguments.leaderboard is not None:
        _write_csv(auto.leaderboard_, arguments.leaderboard)
    if arguments.picture is not None:
        from pegasos.tuning.pictures import draw_search

        with atomically(arguments.picture) as file:
            draw_search(auto).savefig(file, dpi=150, format=_kind_of(arguments.picture))


def _check_kind(picture: Path) -> None:
    """Whether such a picture can be drawn is known before the search."""
    from pegasos.plots._style import pyplot

    pyplot()  # raises an error if matplotlib is missing
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    if _kind_of(picture) not in kinds:
        raise PegasosError(
            f"--picture must be a file such as search.png, of {', '.join(sorted(kinds))}; got {picture}."
        )


def _kind_of(picture: Path) -> str:
    return picture.suffix[1:].lower() or "png"


def seconds_of(text: str) -> float:
    """The seconds of a time such as 90, 30s, 5m or 1h."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?)([smh]?)", text.strip())
    seconds = float(found[1]) * _seconds[found[2]] if found else 0.0
    if not seconds > 0.0:
        raise PegasosError(f"--budget must be a time such as 90, 30s, 5m or 1h, got {text!r}.")
    return seconds


def _best(rows: list[dict[str, Any]]) -> str:
    columns = [name for name in _COLUMNS if name in rows[0]]
    return table(columns, [[_cell(row[name]) for name in columns] for row in rows])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    text = io.StringIO()
    table = csv.DictWriter(text, rows[0].keys())
    table.writeheader()
    table.writerows(rows)
    with atomically(path) as file:
        file.write(text.getvalue().encode())
