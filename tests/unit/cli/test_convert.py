"""The command ``pegasos convert``."""

import json

from pegasos.cli import main
from pegasos.data import open_source


def test_json_says_what_the_cache_holds(rows, tmp_path, capsys):
    path = tmp_path / "rows.cache"
    assert main(["convert", rows, "-o", str(path), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert (values["cache"], values["n_rows"], values["is_sparse"]) == (str(path), 90, True)
    assert open_source(path).n_features == values["n_features"] == 6


def test_what_cannot_be_converted_raises_an_error(rows, failing, tmp_path):
    assert "is not a folder" in failing("convert", rows, "-o", tmp_path / "none" / "rows.cache")
    assert "cannot be read" in failing("convert", tmp_path / "none.svm")
