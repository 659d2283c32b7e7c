"""Tables with columns of words: categories and texts beside numbers."""

import json

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

import pegasos
from pegasos.cli import main
from pegasos.data import open_source, read, read_table
from pegasos.errors import PegasosError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

GOOD, BAD = "a fine and friendly place", "an awful, dirty place"


def make_frame(n_rows=150, seed=0):
    random = np.random.default_rng(seed)
    city = random.choice(["Oslo", "Rome", "Bern"], n_rows)
    is_good = random.random(n_rows) < 0.5
    zip_code = random.choice([101, 102, 103], n_rows)
    size = random.normal(size=n_rows)
    note = [f"{GOOD if good else BAD}, said guest {k}" for k, good in enumerate(is_good)]
    score = 2.0 * (city == "Oslo") + 1.5 * is_good + 0.5 * size + (zip_code == 102)
    stars = np.where(score > 1.6, "many", "few")
    return pd.DataFrame({"city": city, "size": size, "note": note, "zip": zip_code, "stars": stars})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("words")
    frame = make_frame()
    frame.to_csv(path / "a.csv", index=False)
    frame.to_parquet(path / "a.parquet")
    frame.to_feather(path / "a.feather")
    frame.assign(city=frame.city.astype("category")).to_parquet(path / "category.parquet")
    frame[["note", "zip", "stars", "size", "city"]].to_csv(path / "mixed.tsv", index=False, sep="\t")
    frame.drop(columns="stars").to_csv(path / "unlabelled.csv", index=False)
    make_frame(60, 1).to_csv(path / "test.csv", index=False)
    return path


def run(capsys, *words):
    capsys.readouterr()
    code = main(list(map(str, words)))
    return code, *capsys.readouterr()


def trained(folder, capsys, *options, data="a.csv"):
    model = folder / "m.pegasos"
    code, out, error = run(capsys, "train", folder / data, "--label", "stars", "-o", model, "--quiet", *options)
    assert code == 0, error
    return model, out


def test_words_and_categories_are_learned_from(folder, capsys):
    model, out = trained(folder, capsys, "--test", str(folder / "test.csv"), "--C", "1")
    assert float(out.split("accuracy ")[1].split()[0]) > 0.9
    _, numbers = trained(folder, capsys, "--test", str(folder / "test.csv"), "--C", "1", "--features", "size,zip")
    assert float(numbers.split("accuracy ")[1].split()[0]) < 0.8
    model, _ = trained(folder, capsys, "--C", "1")
    loaded = pegasos.load(model)
    assert isinstance(loaded, Pipeline)
    frame = make_frame()
    assert (loaded.predict(frame) == frame.stars).mean() > 0.9  # a frame is what Python users give it


@pytest.mark.parametrize("data", ["a.csv", "a.parquet", "a.feather", "category.parquet"])
@pytest.mark.parametrize("options", [(), ("--kernel", "rbf")], ids=["linear", "kernel"])
def test_every_format_and_order_of_columns_predicts_the_same(folder, capsys, data, options):
    model, _ = trained(folder, capsys, *options, data=data)
    outputs = [
        run(capsys, "predict", model, folder / name, *label)[1]
        for name, label in [(data, ("--label", "stars")), ("mixed.tsv", ("--label", "stars")), ("unlabelled.csv", ())]
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert set(outputs[0].split()) == {"many", "few"}


def test_a_model_of_words_is_certified_reported_and_has_held_out_rows(folder, capsys):
    page = folder / "page.html"
    model, out = trained(folder, capsys, "--hold-out", "0.3", "--random-state", "0", "--report", str(page))
    assert "accuracy" in out
    assert "city_Oslo" in page.read_text()
    model, _ = trained(folder, capsys)
    code, out, error = run(capsys, "certify", model, folder / "mixed.tsv", "--label", "stars")
    assert code == 0, error
    assert "the model's own dual point" in out
    code, out, _ = run(capsys, "certify", model, folder / "test.csv", "--label", "stars")
    assert "found now" in out  # other rows
    code, out, error = run(capsys, "report", model, folder / "test.csv", "--label", "stars", "-o", page)
    assert code == 0, error
    assert "city_Oslo" in page.read_text()
    code, out, error = run(capsys, "predict", model, folder / "a.csv", "--label", "stars", "--scores", "--certified")
    assert code == 0, error
    assert "yes" in out


def test_numbers_can_be_categories_and_stay_them(folder, capsys):
    model, _ = trained(folder, capsys, "--categories", "zip", "--C", "1")
    names = pegasos.load(model)[0].get_feature_names_out().tolist()
    assert [name for name in names if "zip" in name] == [
        "categories__zip_101",
        "categories__zip_102",
        "categories__zip_103",
    ]
    assert run(capsys, "predict", model, folder / "mixed.tsv", "--label", "stars")[0] == 0
    code, _, error = run(capsys, "train", folder / "a.csv", "--label", "stars", "--categories", "zap")
    assert code == 2
    assert "'zap' is not a column" in error


def test_unknown_values_are_told_or_refused(folder, capsys):
    model, _ = trained(folder, capsys)
    other = make_frame(20, 2).assign(city="Paris")
    other.to_csv(folder / "paris.csv", index=False)
    code, out, error = run(capsys, "predict", model, folder / "paris.csv", "--label", "stars")
    assert code == 0
    assert len(out.split()) == 20
    assert "column 'city' has values in 20 rows that the model was not trained on: 'Paris'" in error
    code, _, error = run(capsys, "predict", model, folder / "paris.csv", "--label", "stars", "--unknown", "error")
    assert code == 2
    assert "'Paris'" in error
    assert "--unknown ignore" in error


def test_missing_and_strange_columns_are_named(folder, capsys):
    model, _ = trained(folder, capsys)
    frame = make_frame()
    frame.drop(columns="city").to_csv(folder / "less.csv", index=False)
    assert "no column 'city'" in run(capsys, "predict", model, folder / "less.csv", "--label", "stars")[2]
    frame.assign(age=1).to_csv(folder / "more.csv", index=False)
    assert (
        "'age', which the model was not trained on"
        in run(capsys, "predict", model, folder / "more.csv", "--label", "stars")[2]
    )
    frame.assign(size="big").to_csv(folder / "size.csv", index=False)
    assert "column 'size'" in run(capsys, "predict", model, folder / "size.csv", "--label", "stars")[2]


def test_a_mistake_in_numbers_is_an_error_that_names_its_row_and_not_a_category(folder, capsys):
    frame = make_frame().astype({"size": str})
    frame.loc[7, "size"] = "1.2x"
    frame.to_csv(folder / "mistake.csv", index=False)
    code, _, error = run(capsys, "train", folder / "mistake.csv", "--label", "stars")
    assert code == 2
    assert "row 8: column 'size'" in error
    assert "--categories" in error


@pytest.mark.parametrize("data", ["a.csv", "a.parquet"])
def test_out_of_core_words_are_refused_with_the_remedy(folder, capsys, data):
    code, _, error = run(capsys, "train", folder / data, "--label", "stars", "--out-of-core")
    assert code == 2
    assert "'city' holds words" in error
    assert "--features A,B" in error
    code, _, error = run(capsys, "train", folder / data, "--label", "stars", "--memory", "1G", "--categories", "city")
    assert code == 2
    assert "in memory" in error


def test_a_search_reads_words(folder, capsys):
    pytest.importorskip("optuna")
    path = folder / "tuned.pegasos"
    words = ["tune", folder / "a.csv", "--label", "stars", "--trials", "2", "--folds", "2", "--quiet", "-o", path]
    assert run(capsys, *words)[0] == 0
    outputs = [run(capsys, "predict", path, folder / name, "--label", "stars")[1] for name in ("a.csv", "mixed.tsv")]
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0].split())) == 2
    assert run(capsys, "certify", path, folder / "mixed.tsv", "--label", "stars")[0] in (0, 1)


def test_texts_may_go_over_lines_and_be_missing(tmp_path, capsys):
    frame = make_frame()
    frame.loc[3, "city"] = None
    frame["note"] = [None if k == 4 else note.replace(" and ", "\nand, ") for k, note in enumerate(frame.note)]
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    tables = [read_table(tmp_path / name, label="stars", texts=True) for name in ("a.csv", "a.parquet")]
    assert tables[0].words == tables[1].words
    assert tables[0].words["city"][3] == tables[0].words["note"][4] == ""
    assert tables[0].column_names == ["city", "size", "note", "zip"]
    assert tables[0].feature_names == ["size", "zip"]
    assert main(["train", str(tmp_path / "a.csv"), "--label", "stars", "-o", str(tmp_path / "m"), "--quiet"]) == 0


def test_only_words_are_enough_and_names_are_needed(tmp_path, capsys):
    frame = make_frame()[["city", "stars"]]
    frame.to_csv(tmp_path / "a.csv", index=False)
    model = tmp_path / "m.pegasos"
    assert main(["train", str(tmp_path / "a.csv"), "--label", "stars", "-o", str(model), "--quiet"]) == 0
    frame[["city"]].to_csv(tmp_path / "b.csv", index=False)
    assert run(capsys, "predict", model, tmp_path / "b.csv")[0] == 0
    make_frame().to_csv(tmp_path / "bare.csv", index=False, header=False)
    code, _, error = run(capsys, "train", tmp_path / "bare.csv", "--label", "4", "--header", "no")
    assert code == 2
    assert "header" in error


def test_blocks_and_arrays_do_not_leave_out_words(folder):
    with pytest.raises(PegasosError, match="holds words"):
        open_source(folder / "a.csv", label="stars", texts=True)
    with pytest.raises(PegasosError, match="read_table"):
        read(folder / "a.csv", label="stars", texts=True)


@pytest.mark.parametrize("columns", [("--features", "size,zip"), ()], ids=["numbers", "words"])
def test_certify_takes_the_sample_weights_of_the_file(tmp_path, capsys, columns):
    weights = np.random.default_rng(3).uniform(0.1, 3.0, 150)
    make_frame().assign(w=weights).to_csv(tmp_path / "w.csv", index=False)
    model, options = tmp_path / "m.pegasos", ("--label", "stars", "--weight-column", "w", "--quiet", "--json")
    _, trained_out, _ = run(capsys, "train", tmp_path / "w.csv", *options, *columns, "-o", model)
    code, out, error = run(capsys, "certify", model, tmp_path / "w.csv", *options, *columns)
    assert code == 0, error
    primal = json.loads(out)["certificate"]["primal"]
    assert primal == pytest.approx(json.loads(trained_out)["certificate"]["primal"], rel=1e-6)
    weighted = run(capsys, "certify", model, tmp_path / "w.csv", *options, *columns, "--lam", "0.01")[1]
    plain = ("--label", "stars", "--features", "size,zip" if columns else "city,size,note,zip", "--json", "--quiet")
    without = run(capsys, "certify", model, tmp_path / "w.csv", *plain, "--lam", "0.01")[1]
    assert json.loads(weighted)["certificate"]["dual"] != pytest.approx(json.loads(without)["certificate"]["dual"])


def test_a_missing_text_is_named_by_a_search():
    pytest.importorskip("optuna")
    frame = make_frame()[["size", "note"]]
    auto = pegasos.AutoPegasos(None, n_trials=1, cv=2, random_state=0).fit(frame, make_frame().stars)
    frame["note"] = [None if k == 4 else note for k, note in enumerate(frame.note)]
    with pytest.raises(PegasosError, match="'note' has no text in row 4"):
        auto.predict(frame)
    with pytest.raises(PegasosError, match="'note' has no text in row 4"):
        auto.fit(frame, make_frame().stars)
