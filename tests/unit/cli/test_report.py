"""The command ``pegasos report``, and the page that ``train`` writes."""

from pegasos.cli import main


def test_the_page_is_written_and_named(rows, model, tmp_path, capsys):
    path = tmp_path / "page.html"
    assert main(["report", model, rows, "-o", str(path), "--title", "Rows & <labels>"]) == 0
    assert capsys.readouterr().out == f"report   {path}\n"
    assert "Rows &amp; &lt;labels&gt;" in path.read_text(encoding="utf8")


def test_a_training_writes_the_page_of_its_model(rows, tmp_path, capsys):
    path = tmp_path / "page.html"
    assert main(["train", rows, "-o", str(tmp_path / "m.pegasos"), "--report", str(path)]) == 0
    assert f"report   {path}\n" in capsys.readouterr().out
    assert path.read_text(encoding="utf8").lower().startswith("<!doctype html>")


def test_a_page_that_cannot_be_written_raises_an_error(rows, model, failing, tmp_path):
    assert "does not exist" in failing("report", model, rows, "-o", tmp_path / "none" / "page.html")
    assert "is a folder" in failing("report", model, rows, "-o", tmp_path)
    assert "No such file" in failing("report", tmp_path / "none.pegasos", rows)
