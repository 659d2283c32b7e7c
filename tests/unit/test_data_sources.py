"""The data of the experiments: twins have the arrays of what they stand for, and files of every format are read."""

import bz2
import gzip
import io
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

from experiments import data, fetch, twins

FOLDER = Path(__file__).parents[2] / "experiments"


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), text)
    return buffer.getvalue()


def test_every_data_set_of_the_experiments_has_a_source_and_a_twin():
    assert set(twins.names()) == set(fetch.sources)
    texts = "".join(
        path.read_text(encoding="utf8") for path in FOLDER.glob("*.py") if path.stem not in ("twins", "fetch")
    )
    read = set(re.findall(r"data\.(?:read|text|training_text|strings|series|graphs)\(\"(\w+)\"\)", texts))
    assert read
    assert read <= set(fetch.sources)


@pytest.mark.parametrize("name", twins.names())
def test_twins_are_read_as_the_data_sets_are(name, monkeypatch):
    monkeypatch.setenv("PEGASOS_DATA", "twins")
    if name.startswith("graph_"):
        items, y = data.graphs(name)
        assert all(adjacency.shape[0] == len(labels) for adjacency, labels in items)
        assert all((adjacency != adjacency.T).nnz == 0 for adjacency, _ in items)
    elif name == "promotergene":
        items, y = data.strings(name)
        assert set("".join(items)) <= set("ACGT")
    elif name.startswith("splice"):
        items, y = (data.read(name)[key] for key in ("codes", "y"))
    else:
        arrays = data.read(name)
        items, y = data.matrix(arrays), arrays["y"]
    assert (items.shape[0] if hasattr(items, "shape") else len(items)) == len(y) > 100
    assert len(np.unique(y)) >= 2


def test_without_data_the_message_names_both_ways_out(monkeypatch):
    monkeypatch.delenv("PEGASOS_DATA", raising=False)
    with pytest.raises(SystemExit, match=r"experiments\.fetch letter --to folder.*--twin"):
        data.read("letter")


def read_as(name, answers):
    """The arrays of a source whose addresses end in these words."""
    return fetch.sources[name](lambda address: next(answers[end] for end in answers if address.endswith(end)))


def test_texts_in_files_and_on_lines_are_counted():
    files = {"movie_reviews__neg__a_dot_txt": "bad bad film", "movie_reviews__pos__b_dot_txt": "good film film"}
    found = read_as("movie_reviews", {".zip": zipped(**files)})
    assert found["y"].tolist() == [-1, 1]
    assert data.matrix(found).toarray().tolist() == [[1.0], [2.0]]  # the only word in two texts
    lines = {"s__rt_dot_neg": "a film\na film\n", "s__rt_dot_pos": "a film\n"}
    assert read_as("sentence_polarity", {".zip": zipped(**lines)})["y"].tolist() == [-1, -1, 1]


def test_reuters_has_topics_and_parts():
    words = "oil price rises"
    files = {
        "reuters__cats_dot_txt": "test/1 acq\ntraining/2 crude grain\ntraining/3 grain\n",
        "reuters__test__1": words,
        "reuters__training__2": words,
        "reuters__training__3": words,
    }
    found = read_as("reuters21578", {".zip": zipped(**files)})
    assert found["y"].tolist() == [1, -1, -1]
    assert found["split"].tolist() == [1, 0, 0]
    assert found["Y_indices"].tolist() == [0, 1, 2, 2]
    assert found["Y_indptr"].tolist() == [0, 1, 3, 4]


def test_lines_of_vowpal_wabbit_messages_and_questions_are_read():
    found = read_as("rcv1_small", {".dat": b"1 |f 3:0.5 1:2\n", ".data": b"-1 | 0:1.5\n"})
    assert data.matrix(found).toarray().tolist() == [[0.0, 2.0, 0.0, 0.5], [1.5, 0.0, 0.0, 0.0]]
    assert (found["y"].tolist(), found["split"].tolist()) == ([1, -1], [0, 1])
    found = read_as("sms_spam", {".zip": zipped(SMSSpamCollection="ham\thello you\nspam\thello prize\n")})
    assert found["y"].tolist() == [-1, 1]
    found = read_as(
        "trec6", {"5500.label": b"DESC:manner How far ?\nNUM:count How many ?\n", "10.label": b"NUM:x Far ?\n"}
    )
    assert (found["y"].tolist(), found["split"].tolist()) == ([0, 1, 1], [0, 0, 1])


def test_svmlight_files_are_joined():
    found = read_as("a9a", {"a9a": b"+1 1:1 3:1\n-1 2:1\n", "a9a.t": bz2.compress(b"-1 123:1\n")})
    assert data.matrix(found).shape == (3, 123)
    assert found["split"].tolist() == [0, 0, 1]


def test_strings_and_splice_sites_are_read():
    text = "+,S10,\t\tacgt\n-,867,\tttga\n"
    found = read_as("promotergene", {".zip": zipped(promoters_dot_data=text)})
    assert bytes(found["strings__txt"]) == b"acgt\0ttga"
    assert found["y"].tolist() == [1, 0]
    site, other = "A" * 100 + "G" * 100, "C" * 150 + "N" * 50
    content = f">1 label=1\n{'T' * 10}{site}{'T' * 10}\n>2 label=-1\n{other}\n".encode()
    found = read_as("splice_celegans_tr", {".bz2": bz2.compress(content)})
    assert found["codes"][0].tolist() == [0] * 100 + [2] * 100
    assert found["codes"][1].tolist() == [1] * 150 + [4] * 50
    assert found["y"].tolist() == [1, -1]


def test_graphs_and_series_are_read():
    files = {
        "M__M_A_dot_txt": "1, 2\n2, 1\n3, 4\n4, 3\n",
        "M__M_graph_indicator_dot_txt": "1\n1\n2\n2\n",
        "M__M_graph_labels_dot_txt": "1\n-1\n",
        "M__M_node_labels_dot_txt": "5\n6\n5\n5\n",
    }
    found = read_as("graph_mutag", {".zip": zipped(**files)})
    assert found["edges"].tolist() == [[0, 2], [1, 3]]
    assert found["graph_ptr"].tolist() == [0, 2, 4]
    assert found["y"].tolist() == [1, 0]
    files = {"G_TRAIN_dot_ts": "#x\n@data\n1,2:a\n3,4:b\n", "G_TEST_dot_ts": "@data\n5,6:a\n"}
    found = read_as("ucr_gunpoint", {".zip": zipped(**files)})
    assert found["X"].tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert (found["y"].tolist(), found["split"].tolist()) == ([0, 1, 0], [0, 0, 1])


def test_letters_of_words_are_read():
    line = "1 o 2 1 1 {} " + " ".join(["1"] + ["0"] * 127) + "\n"
    found = read_as("ocr_letters", {".gz": gzip.compress((line.format(0) + line.format(7)).encode())})
    assert found["X"].shape == (2, 128)
    assert found["split"].tolist() == [0, 1]


def test_what_cannot_be_fetched_is_told_and_what_is_there_stays(tmp_path):
    def refuse(address):
        raise OSError("no network")

    np.savez(tmp_path / "trec6.npz", y=np.zeros(1))
    assert fetch.fetch(["trec6", "sms_spam"], tmp_path, refuse) == ["sms_spam: no network"]
    assert [path.name for path in tmp_path.iterdir()] == ["trec6.npz"]
