"""Figures in the guides are those of the files in benchmarks/results."""

import json
import re

import pytest

from benchmarks.page import RESULTS
from benchmarks.problems import SMALL

DOCS = RESULTS.parents[1] / "docs"


def results(name):
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf8"))


def table(page, header):
    """The rows of a table, by the beginning of its header."""
    text = (DOCS / page).read_text(encoding="utf8")
    body = text[text.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip(" *") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in body]


def numbers(text):
    """The numbers of some cells; powers of ten as the pages write them."""
    return [float(found.replace(",", "")) for found in re.findall(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?", text)]


def close(shown, measured):
    """Equal up to the digits that are shown."""
    digits = len(shown.replace(",", "").partition(".")[2])
    return abs(numbers(shown)[0] - measured) <= 0.51 * 10.0**-digits + 1e-9


def test_the_speed_of_online_learners_is_that_of_the_results():
    problems = results("online")["problems"]
    shown = table("online.md", "| | perceptron | PA-I | AROW |")
    assert [row[0].split(",")[0] for row in shown] == list(problems)
    rivals = ("perceptron, scikit-learn", "PA-I, scikit-learn", "perceptron, river", "PA-I, river")
    for (name, *cells), found in zip(shown, problems.values(), strict=True):
        measured = [found["rows_a_second"][rule] / 1e6 for rule in ("perceptron", "PA-I", "AROW")]
        measured += [found["ratios"][rival] for rival in rivals]
        assert all(map(close, cells, measured)), name


def test_the_cost_of_training_from_disk_is_that_of_the_results():
    shown = table("out-of-core.md", "| 8.16 GB, 20,000,000 x 100")
    measured = results("scale_out_of_core")["rows"]
    assert {row["GB"] for row in measured} == {8.16}
    for (_, seconds, times, gap, passes, memory), row in zip(shown, measured, strict=True):
        assert close(seconds, row["seconds"])
        assert close(times, row["of reading"])
        if row["epochs"]:
            assert float(gap) == float(row["certified gap"])
            assert close(passes, row["epochs"])
            assert close(memory.removesuffix(" GB"), row["peak memory, GB"])


def test_the_whole_of_fashion_mnist_with_a_kernel_took_what_the_page_says():
    found = results("kernel_whole")
    text = " ".join((DOCS / "kernels.md").read_text(encoding="utf8").split())
    seconds, gigabytes = re.search(r"gap of 1e-3 in (\d+) s on two cores, with a peak of ([\d.]+) GB", text).groups()
    assert close(seconds, found["seconds"])
    assert close(gigabytes, found["peak_megabytes"] / 1000)
    assert found["certified_gap"] <= 1e-3


def test_the_passes_over_partitions_are_those_of_the_results():
    found = {(row["problem"], row["partitions"], row["tol"]): row["passes"] for row in results("scale_rounds")["rows"]}
    problems = list(dict.fromkeys(problem for problem, _, _ in found))
    shown = table("distributed.md", "| problem | partitions | to 10⁻³ | to 10⁻⁶ |")
    assert 2 * len(shown) == len(found)
    assert sum(bool(row[0]) for row in shown) == len(problems)
    remaining, name = iter(problems), ""
    for problem, partitions, coarse, fine in shown:
        name = next(remaining) if problem else name
        assert int(coarse) == found[name, int(partitions), 1e-3]
        assert int(fine) == found[name, int(partitions), 1e-6]


def test_the_comparison_with_spark_is_that_of_the_results():
    shown = table("distributed.md", "| problem | method | passes | seconds |")
    measured = results("scale_spark")["rows"]
    for (_, method, passes, seconds, objective, bound), row in zip(shown, measured, strict=True):
        assert method.strip("`").replace(",", "") == row["method"].replace(",", "")
        assert numbers(passes) == [row["passes"]]
        assert close(seconds, row["seconds"])
        assert close(objective, float(row["objective"]))
        if bound:
            assert close(bound, float(row["lower bound"]))


def test_the_shares_of_certified_predictions_are_those_of_the_results():
    shown = table("certified.md", "| data | samples | features | classes | ball | certified |")
    measured = {row["name"]: row for row in results("certified")["shares"]}
    keys = ("ball", "share", "share_of_test", "seconds", "seconds_of_regions", "seconds_of_rows", "share_until")
    assert len(shown) == len(measured)
    for name, rows, features, classes, *cells in shown:
        row = measured[name]
        assert numbers(f"{rows} {features} {classes}") == [row["rows"], row["features"], row["classes"]]
        for cell, key in zip(cells, (*keys, "seconds_until"), strict=True):
            assert (row[key] is None) == (not cell)
            assert not cell or close(cell, row[key]), (name, key)
    text = (DOCS / "certified.md").read_text(encoding="utf8")
    assert all(f"{value:,}" in text for value in results("certified")["total"].values())


def test_a_path_takes_at_most_a_third_of_its_fits_one_by_one():
    ratios = [row["path_ratio"] for row in results("path")["rows"]]
    assert len(ratios) == 4
    assert min(ratios) == pytest.approx(3.0, abs=0.1) or min(ratios) > 3.0


def test_where_another_library_is_faster_the_guide_has_the_times_of_the_results():
    text = " ".join((DOCS / "how-to-choose.md").read_text(encoding="utf8").split())
    rows = {(row["problem"], row["lam"]): row for row in results("0.001")["rows"]}
    sparse = rows["sparse_1m", 1e-4]["outcomes"]
    snap = min(one["seconds"] for name, one in sparse.items() if name.startswith("Snap ML") and one["reached"])
    texts = ("sparse_1m", "subjectivity", "sms_spam")
    others = [row["ratio"] for (name, _), row in rows.items() if name not in (*SMALL, *texts)]
    assert len(others) == 26  # thirteen data sets, two lams each
    assert min(others) >= 1.0
    sentences = rows["subjectivity", 1e-5]["outcomes"]
    ours, theirs = (sentences[name]["seconds"] for name in ("pegasos", "LIBLINEAR"))
    assert f"{theirs:.3f} s against {ours:.3f} s on 10,000 sentences" in text
    assert f"{snap:.2f} s against {sparse['pegasos']['seconds']:.2f} s at a gap of 1e-3" in text
    kernels = {(row["problem"], row["C"]): row["outcomes"] for row in results("kernels")["rows"]}["a9a", 1.0]
    ours, theirs = (kernels[name]["seconds"] for name in ("pegasos", "scikit-learn-intelex"))
    assert f"{theirs:.1f} s against {ours:.1f} s on a9a" in text


def test_the_comparison_of_searches_is_that_of_the_results():
    """Means over the splits, of which most data sets have one."""
    found = {}
    for row in results("tuning"):
        found.setdefault((row["data"].partition(":")[0], row["method"]), []).append(row["test"])
    shown = table("tuning.md", "| data | grid, its seconds | AutoPegasos in a tenth of them |")
    assert len(shown) == 6
    for name, *cells in shown:
        for cell, method in zip(cells, ("grid", "tenth", "auto", "optuna", "halving"), strict=True):
            measured = found.get((name.partition(",")[0], method))
            assert (not cell) == (measured is None)
            if cell:
                assert numbers(cell)[0] == pytest.approx(sum(measured) / len(measured), abs=6e-5), (name, method)


def test_real_tasks_are_solved_as_the_guides_say():
    found = results("real_tasks")
    regression = table("regression.md", "| | R² | processor seconds |")
    for (_, score, seconds), one in zip(regression, found["regression"]["models"].values(), strict=True):
        assert close(score, one["R2"])
        assert close(seconds, one["seconds"])
    text = (DOCS / "regression.md").read_text(encoding="utf8")
    assert f"lie {found['regression']['between the quantiles']:.1%} of".replace("%", " %") in text
    areas = {name.strip("`"): area for name, area in table("novelty.md", "| | area under the ROC curve |")}
    assert close(areas.pop("Nystroem(300)` and `PegasosOneClass"), found["novelty"]["Nystroem + PegasosOneClass"])
    assert all(close(area, found["novelty"][name]) for name, area in areas.items())
    assert len(areas) == 3
    ours, theirs = found["labels"].values()
    text = " ".join((DOCS / "multilabel.md").read_text(encoding="utf8").split())
    assert f"micro F1 of {ours['micro']:.3f} and a macro F1 of {ours['macro']:.3f}" in text
    assert f"({theirs['micro']:.3f} and {theirs['macro']:.3f})" in text
