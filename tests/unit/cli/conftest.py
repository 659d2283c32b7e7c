"""Small files for the commands."""

import pytest
from sklearn.datasets import dump_svmlight_file, make_classification

from pegasos.cli import main


@pytest.fixture(scope="session")
def rows(tmp_path_factory):
    """Two classes, -1 and 1, 90 rows of 6 features."""
    path = tmp_path_factory.mktemp("rows") / "rows.svm"
    X, y = make_classification(90, 6, random_state=0)
    dump_svmlight_file(X, 2 * y - 1, str(path), zero_based=False)
    return str(path)


@pytest.fixture(scope="session")
def model(rows, tmp_path_factory):
    """What `pegasos train` makes of them."""
    path = str(tmp_path_factory.mktemp("models") / "rows.pegasos")
    assert main(["train", rows, "--lam", "0.01", "--random-state", "0", "-o", path, "--quiet"]) == 0
    return path


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """The current one, while the test lasts."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def failing(capsys):
    """Run a command that must fail: the exit code is 2, and there is one line on stderr, which is returned."""

    def run(*words):
        try:
            code = main(list(map(str, words)))
        except SystemExit as ended:  # by the parser
            code = ended.code
        shown = capsys.readouterr()
        assert code == 2
        assert shown.out == ""
        assert shown.err.count("\n") == 1
        assert "Traceback" not in shown.err
        return shown.err

    return run
