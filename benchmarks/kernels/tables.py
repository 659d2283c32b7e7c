"""Results of the kernel benchmark: kept as JSON while they come, shown as Markdown at the end."""

import json
from pathlib import Path
from typing import Any

from benchmarks.tables import geometric_mean, machine, versions

Row = dict[str, Any]
_folder = Path(__file__).parent.parent
_PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn", "scikit-learn-intelex")
_OURS, _RIVALS = "pegasos", ("LIBSVM", "scikit-learn-intelex")


class Results:
    """One file of rows; a row is known by its problem and its C.

    Rows of earlier runs stay, so that problems can be run one by one, unless versions or settings have changed. Trials
    on fewer rows are kept apart, in `.cache`.
    """

    def __init__(self, name: str, settings: dict[str, Any], n_rows: int | None):
        folder = _folder / ("results" if n_rows is None else ".cache")
        folder.mkdir(exist_ok=True)
        self._path = folder / f"{name}.json"
        self._head = {**settings, "versions": versions(_PACKAGES)}
        self.rows: list[Row] = self._kept() if n_rows is None else []

    def add(self, row: Row) -> None:
        """Replace the row of this problem, and write the file."""
        key = row["problem"], row["C"]
        self.rows = [each for each in self.rows if (each["problem"], each["C"]) != key] + [row]
        content = {**self._head, "machine": machine(), "rows": self.rows}
        self._path.write_text(json.dumps(content, indent=1) + "\n")

    def _kept(self) -> list[Row]:
        if not self._path.exists():
            return []
        content = json.loads(self._path.read_text())
        is_alike = all(content.get(name) == value for name, value in self._head.items())
        return content["rows"] if is_alike else []


def write(name: str, content: dict[str, Any], *, is_trial: bool) -> Path:
    """A file that is written once."""
    path = _folder / (".cache" if is_trial else "results") / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({**content, "versions": versions(_PACKAGES), "machine": machine()}, indent=1) + "\n")
    return path


def render(rows: list[Row]) -> str:
    """Seconds to the target, ratios, gaps; then what the models are like."""
    head = ["problem", "rows x features", *(f"{name} s" for name in (*_RIVALS, _OURS))]
    head += [*(f"{name} / {_OURS}" for name in _RIVALS), "gaps"]
    lines = [
        [
            _title(row),
            f"{row['n_rows']:,} x {row['n_features']}",
            *(_seconds(row["outcomes"].get(name)) for name in (*_RIVALS, _OURS)),
            *(_ratio(row, name) for name in _RIVALS),
            _gaps(row),
        ]
        for row in rows
    ]
    means = "; ".join(f"{name} / {_OURS} {_mean(rows, name)}" for name in _RIVALS)
    return f"{_markdown(head, lines)}\n\nGeometric means of the ratios: {means}."


def render_models(rows: list[Row]) -> str:
    """Support vectors, test accuracy and memory of the models that counted."""
    names = (*_RIVALS, _OURS)
    head = ["problem", *(f"{name}: support vectors, test accuracy, extra MB" for name in names)]
    return _markdown(head, [[_title(row), *(_model(row["outcomes"].get(name)) for name in names)] for row in rows])


def render_prediction(rows: list[Row]) -> str:
    """Rows a second, and how many support vectors they were compared with."""
    names = (*_RIVALS, _OURS)
    head = ["problem", *(f"{name} rows/s (support vectors)" for name in names), *(f"{_OURS} / {n}" for n in _RIVALS)]
    lines = []
    for row in rows:
        speeds = row["speeds"]
        cells = [f"{speeds[n]['predict']:,.0f} ({speeds[n]['n_support']:,})" if n in speeds else "-" for n in names]
        ratios = [f"{speeds[_OURS]['predict'] / speeds[n]['predict']:.1f}" if n in speeds else "-" for n in _RIVALS]
        lines.append([_title(row), *cells, *ratios])
    return _markdown(head, lines)


def ratio(row: Row, rival: str) -> float | None:
    """Seconds of the rival over ours; None where one of them is missing or missed the target."""
    both = [row["outcomes"].get(name) for name in (rival, _OURS)]
    if not all(one and one["reached"] for one in both):
        return None
    return both[0]["seconds"] / both[1]["seconds"]


def _title(row: Row) -> str:
    classes = f"{row['n_classes']} classes"
    return f"{row['problem']}, {classes}, gamma {row['gamma']:.4g}, C {row['C']:g}"


def _seconds(outcome: Row | None) -> str:
    if outcome is None:
        return "-"
    return f"{'' if outcome['reached'] else '> '}{outcome['seconds']:.3g}"


def _ratio(row: Row, rival: str) -> str:
    value = ratio(row, rival)
    return "-" if value is None else f"{value:.2f}"


def _mean(rows: list[Row], rival: str) -> str:
    mean = geometric_mean([value for row in rows if (value := ratio(row, rival)) is not None])
    return "-" if mean is None else f"{mean:.2f}"


def _gaps(row: Row) -> str:
    return ", ".join(f"{row['outcomes'][name]['gap']:.1e}" for name in (*_RIVALS, _OURS) if name in row["outcomes"])


def _model(outcome: Row | None) -> str:
    if outcome is None:
        return "-"
    megabytes = outcome["extra_megabytes"]
    weight = "-" if megabytes is None else f"{megabytes:,.0f}"
    return f"{outcome['n_support']:,}, {outcome['accuracy']:.4f}, {weight}"


def _markdown(head: list[str], lines: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines))
