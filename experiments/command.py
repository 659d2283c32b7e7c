"""What every experiment does around its measurement."""

import argparse
from types import ModuleType
from typing import Any


def run(experiment: ModuleType, arguments: list[str] | None = None) -> dict[str, Any]:
    """Measure, draw and write; ``--quick`` measures little and writes nothing, ``--twin`` too, without a download.

    ``--draw`` measures nothing.

    An experiment has ``measure(quick)``, which returns results, ``claims(results)``, ``draw(results)`` and
    ``page(results)``.
    """
    from experiments import data, pages

    name = experiment.__name__ if experiment.__spec__ is None else experiment.__spec__.name
    name = name.rpartition(".")[2]
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{name}", description=experiment.__doc__)
    parser.add_argument("--quick", action="store_true", help="little data; nothing is written")
    parser.add_argument("--twin", action="store_true", help="quick, on small data that scikit-learn has")
    parser.add_argument("--draw", action="store_true", help="redo verdicts, page and pictures from stored results")
    options = parser.parse_args(arguments)
    if options.twin:
        data.use_twins()
        options.quick = True
    results: dict[str, Any] = pages.read(name) if options.draw else experiment.measure(options.quick)
    results["claims"] = experiment.claims(results)
    for each in results["claims"]:
        print(f"{each['verdict']}: {each['says']}\n    {each['found']}", flush=True)
    if not options.quick:
        experiment.draw(results)
        pages.write(name, results, experiment.page(results))
    return results
