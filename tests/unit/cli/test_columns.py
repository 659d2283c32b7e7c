"""Columns with names: kept with the model, and matched by name, whatever their order in a file."""

import gzip
import io
import sys

import numpy as np
import pytest

import pegasos
from pegasos.cli import main

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(120, 4)) * [1.0, 2.0, 3.0, 4.0], columns=list("abcd"))
    return frame.assign(kind=np.where(frame.a + frame.d > 0.0, "up", "down"))


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("columns")
    frame.to_csv(path / "train.csv", index=False)
    frame[["kind", "d", "b", "a", "c"]].to_csv(path / "mixed.csv", index=False)
    return path


def trained(folder, *options, data="train.csv", name="m.pegasos"):
    path = folder / name
    assert main(["train", str(folder / data), "--label", "kind", "-o", str(path), "--quiet", *options]) == 0
    return str(path)


def predictions(model, data, capsys, *options):
    capsys.readouterr()
    assert main(["predict", model, str(data), *options]) == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize("options", [(), ("--out-of-core",), ("--kernel", "rbf")])
def test_columns_in_another_order_are_predicted_as_in_their_own(folder, capsys, options):
    model = trained(folder, *options)
    assert pegasos.load(model).feature_names_in_.tolist() == list("abcd")
    label = "--label", "kind"
    own = predictions(model, folder / "train.csv", capsys, *label)
    assert predictions(model, folder / "mixed.csv", capsys, *label) == own
    assert len(set(own)) == 2


def test_a_search_and_a_cache_keep_the_names(folder, capsys):
    assert main(["tune", str(folder / "train.csv"), "--label", "kind", "--budget", "1s", "--quiet"]) == 0
    path = str(folder / "tuned.pegasos")
    words = ["tune", str(folder / "train.csv"), "--label", "kind", "--budget", "1s", "--quiet", "-o", path]
    assert main(words) == 0
    label = "--label", "kind"
    own = predictions(path, folder / "train.csv", capsys, *label)
    assert predictions(path, folder / "mixed.csv", capsys, *label) == own
    assert main(["convert", str(folder / "mixed.csv"), *label]) == 0
    assert predictions(path, folder / "mixed.csv.pegasos-cache", capsys) == own


def test_parquet_compressed_text_tabs_and_standard_input_are_matched_too(frame, folder, capsys, monkeypatch):
    model = trained(folder)
    label = "--label", "kind"
    own = predictions(model, folder / "train.csv", capsys, *label)
    mixed = frame[["c", "kind", "d", "b", "a"]]
    mixed.sample(frac=1.0, random_state=0).sort_index().to_parquet(folder / "mixed.parquet", index=True)
    mixed.to_csv(folder / "mixed.tsv.gz", index=False, sep="\t")
    text = mixed.to_csv(index=False, sep="\t")
    (folder / "tabs.csv").write_text(text)
    assert predictions(model, folder / "mixed.parquet", capsys, *label) == own
    assert predictions(model, folder / "mixed.tsv.gz", capsys, *label) == own
    assert predictions(model, folder / "tabs.csv", capsys, *label, "--delimiter", r"\t") == own
    with gzip.open(folder / "mixed.tsv.gz") as file:
        assert file.read().decode() == text
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert predictions(model, "-", capsys, *label, "--format", "csv", "--delimiter", "tab") == own


def test_missing_and_unknown_columns_are_named(frame, folder, failing, capsys):
    model = trained(folder)
    capsys.readouterr()
    frame.drop(columns="c").to_csv(folder / "less.csv", index=False)
    frame.assign(e=1.0).to_csv(folder / "more.csv", index=False)
    frame[list("abcd")].to_csv(folder / "bare.csv", index=False, header=False)
    assert "has no column 'c'" in failing("predict", model, folder / "less.csv", "--label", "kind")
    assert "has the column 'e'" in failing("predict", model, folder / "more.csv", "--label", "kind")
    assert "--label='kind'" in failing("predict", model, folder / "train.csv")
    assert "has no header" in failing("predict", model, folder / "bare.csv")


def test_a_weight_column_weighs_the_rows_and_is_not_a_feature(frame, folder, capsys):
    weights = np.random.default_rng(1).integers(0, 3, len(frame))
    frame.assign(w=weights).to_csv(folder / "weighted.csv", index=False)
    frame.loc[frame.index.repeat(weights)].to_csv(folder / "repeated.csv", index=False)
    tight = "--tol", "1e-9", "--random-state", "0"
    weighted = trained(folder, "--weight-column", "w", *tight, data="weighted.csv", name="w.pegasos")
    repeated = trained(folder, *tight, data="repeated.csv", name="r.pegasos")
    first, second = pegasos.load(weighted), pegasos.load(repeated)
    assert first.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-4, atol=1e-6)


def test_messages_name_options(folder, failing):
    assert "--lam must be" in failing("train", folder / "train.csv", "--label", "kind", "--lam", "-1")
    assert "--label='name'" in failing("train", folder / "train.csv")


def test_the_help_of_demo_names_its_folder(capsys):
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    assert "[folder]" in capsys.readouterr().out
