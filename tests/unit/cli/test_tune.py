"""The command ``pegasos tune``."""

import csv

import pytest
from sklearn.datasets import dump_svmlight_file, make_moons

from pegasos.cli import main
from pegasos.cli.tune import seconds_of
from pegasos.errors import PegasosError


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "moons.svm"
    dump_svmlight_file(*make_moons(80, noise=0.2, random_state=0), str(path))
    return path


def test_a_file_is_searched_and_the_results_are_written(rows, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    table, picture, best = tmp_path / "trials.csv", tmp_path / "search.png", str(tmp_path / "best.pegasos")
    options = ["--budget", "10m", "--trials", "4", "--folds", "2", "--seed", "0"]
    files = ["--leaderboard", str(table), "--picture", str(picture), "-o", best]
    assert main(["tune", str(rows), *options, *files]) == 0
    printed = capsys.readouterr().out
    assert "4 settings were tried in" in printed
    assert "PegasosClassifier(" in printed
    written = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["rank"] for row in written] == ["1", "2", "3", "4"]
    assert picture.stat().st_size > 5_000
    assert main(["predict", best, str(rows), "--scores"]) == 0
    assert float(capsys.readouterr().err.split()[1]) > 0.7


@pytest.mark.parametrize(("text", "seconds"), [("90", 90.0), ("30s", 30.0), ("5m", 300.0), ("1.5h", 5400.0)])
def test_times_are_read_with_their_units(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-5", "0", "5d", "0m"])
def test_what_is_not_a_time_raises_an_error(text):
    with pytest.raises(PegasosError, match="--budget must be a time such as 90, 30s, 5m or 1h"):
        seconds_of(text)


@pytest.mark.parametrize(("text", "sentence"), [("nonsense here\n", "line 1, column 1"), ("", "holds no rows")])
def test_a_file_without_rows_raises_an_error(tmp_path, capsys, text, sentence):
    path = tmp_path / "bad.svm"
    path.write_text(text)
    assert main(["tune", str(path)]) == 2
    assert sentence in capsys.readouterr().err


def test_a_file_that_is_not_there_raises_an_error(tmp_path, capsys):
    assert main(["tune", str(tmp_path / "none.svm")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_noticed_before_the_search(rows, tmp_path, capsys):
    assert main(["tune", str(rows), "--picture", str(tmp_path / "none" / "search.png")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_a_picture_that_cannot_be_drawn_and_a_file_that_would_be_lost_are_noticed_before_the_search(rows, capsys):
    pytest.importorskip("matplotlib")
    assert main(["tune", str(rows), "--picture", "search.doc"]) == 2
    assert "--picture must be a file such as search.png" in capsys.readouterr().err
    assert main(["tune", str(rows), "--leaderboard", str(rows)]) == 2
    assert "would be overwritten" in capsys.readouterr().err
