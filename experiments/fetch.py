"""Fetch the data sets of the experiments from their public sources, each into one file of arrays.

    python -m experiments.fetch --to folder [name ...]
    PEGASOS_DATA=folder python -m experiments

Without names, all of them. A data set that is already there is not changed. The licenses of some sources allow
research only; see the page of each. Text is counted here by scikit-learn's `CountVectorizer`, so that vocabularies may
differ in a few words from those of the results on file. `experiments.twins` needs no download.
"""

import argparse
import bz2
import csv
import gzip
import io
import re
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import fetch_covtype, fetch_kddcup99, fetch_openml, load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import OneHotEncoder

Arrays = dict[str, np.ndarray]
Open = Callable[[str], bytes]

uci = "https://archive.ics.uci.edu/static/public"
libsvm = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
nltk = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora"
graphs = "https://www.chrsmrrs.com/graphkerneldatasets"
series = "https://www.timeseriesclassification.com/aeon-toolkit"
shogun = "https://raw.githubusercontent.com/shogun-toolbox/shogun-data/master/easysvm"
wabbit = "https://raw.githubusercontent.com/VowpalWabbit/vowpal_wabbit/master/test"


def opened(address: str) -> bytes:
    """What is at an address."""
    with urlopen(address, timeout=120) as answer:
        return bytes(answer.read())


def sparse(rows: sp.spmatrix, y: np.ndarray, split: np.ndarray | None = None) -> Arrays:
    """Sparse rows, their labels, and 1 for those to test on."""
    rows = sp.csr_matrix(rows)
    found = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": np.array(rows.shape), "y": y}
    return found if split is None else found | {"split": split.astype(np.int8)}


def packed(texts: Iterable[str]) -> np.ndarray:
    """Strings as bytes, with a zero between them."""
    return np.frombuffer("\0".join(texts).encode(), np.uint8)


def members(archive: bytes, pattern: str) -> dict[str, str]:
    """The files of a zip archive whose names match, in the order of their names."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        names = sorted(name for name in files.namelist() if re.search(pattern, name))
        return {name: files.read(name).decode("latin-1") for name in names}


def of_openml(number: int, n_train: int | None = None) -> Callable[[Open], Arrays]:
    """Rows of numbers from openml.org/d/<number>, by scikit-learn; the first `n_train` are the training part."""

    def read(_: Open) -> Arrays:
        found = fetch_openml(data_id=number, as_frame=False, parser="liac-arff")
        X = found.data.toarray() if sp.issparse(found.data) else found.data
        _, y = np.unique(found.target, return_inverse=True)
        arrays = {"X": X.astype(np.float32), "y": y}
        return arrays if n_train is None else arrays | {"split": (np.arange(len(y)) >= n_train).astype(np.int8)}

    return read


def of_libsvm(*addresses: str, n_features: int) -> Callable[[Open], Arrays]:
    """Files in svmlight format, joined; with two of them the second is the test part."""

    def read(get: Open) -> Arrays:
        parts = [load_svmlight_file(io.BytesIO(unpacked(get(each))), n_features=n_features) for each in addresses]
        split = np.repeat(np.arange(len(parts)), [len(y) for _, y in parts])
        rows = sp.vstack([X for X, _ in parts], format="csr").astype(np.float32)
        return sparse(rows, np.concatenate([y for _, y in parts]), split if len(parts) > 1 else None)

    return read


def unpacked(content: bytes) -> bytes:
    """The content of a file that may be compressed by bzip2 or gzip."""
    if content[:3] == b"BZh":
        return bz2.decompress(content)
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


def counted(texts: list[str], y: np.ndarray, split: np.ndarray | None = None, **how: object) -> Arrays:
    """Counts of the words of texts."""
    return sparse(CountVectorizer(**how).fit_transform(texts), y, split)


def of_folders(address: str, negative: str, positive: str, *, by_line: bool) -> Callable[[Open], Arrays]:
    """Texts of two kinds in a zip archive of NLTK: one in each file, or one on each line."""

    def read(get: Open) -> Arrays:
        archive, texts, y = get(address), [], []
        for sign, pattern in ((-1, negative), (1, positive)):
            found = list(members(archive, pattern).values())
            lines = [line for text in found for line in text.splitlines() if line.strip()] if by_line else found
            texts += lines
            y += [sign] * len(lines)
        return counted(texts, np.array(y), min_df=2)

    return read


def reuters(get: Open) -> Arrays:
    """Reuters-21578 as in NLTK: 90 topics, the ModApte parts; y says whether a text is about acquisitions."""
    archive = get(f"{nltk}/reuters.zip")
    topics = dict(line.split(maxsplit=1) for line in members(archive, r"/cats\.txt$").popitem()[1].splitlines())
    texts = {name.split("reuters/", 1)[1]: text for name, text in members(archive, r"/(training|test)/\d+$").items()}
    names = sorted({topic for each in topics.values() for topic in each.split()})
    of_each = [sorted(names.index(topic) for topic in topics[name].split()) for name in texts]
    y = np.array([1 if "acq" in topics[name].split() else -1 for name in texts])
    split = np.array([name.startswith("test") for name in texts])
    found = counted(list(texts.values()), y, split, min_df=3, stop_words="english")
    pointers = np.concatenate([[0], np.cumsum([len(each) for each in of_each])])
    return found | {"Y_indices": np.concatenate(of_each), "Y_indptr": pointers, "topic_names__txt": packed(names)}


def rcv1(get: Open) -> Arrays:
    """A sample of RCV1 in the format of Vowpal Wabbit: a label, and after a bar pairs of word and weight."""
    rows, columns, values, y, split = [], [], [], [], []
    for part, name in enumerate(("train-sets/rcv1_small.dat", "test-sets/rcv1_small_test.data")):
        for line in get(f"{wabbit}/{name}").decode().splitlines():
            label, _, words = line.partition("|")
            for word in words.split()[0 if words.startswith(" ") else 1 :]:
                number, _, value = word.partition(":")
                columns.append(int(number))
                values.append(float(value or 1))
                rows.append(len(y))
            y.append(int(float(label.split()[0])))
            split.append(part)
    return sparse(sp.csr_matrix((np.float32(values), (rows, columns))), np.array(y), np.array(split))


def trec(get: Open) -> Arrays:
    """Questions of six kinds."""
    folder, texts, kinds, split = "https://cogcomp.seas.upenn.edu/Data/QA/QC", [], [], []
    for part, name in enumerate(("train_5500.label", "TREC_10.label")):
        for line in get(f"{folder}/{name}").decode("latin-1").splitlines():
            kind, _, text = line.partition(":")
            texts.append(text.partition(" ")[2])
            kinds.append(kind)
            split.append(part)
    return counted(texts, np.unique(kinds, return_inverse=True)[1], np.array(split))


def sms(get: Open) -> Arrays:
    """Text messages, spam or not."""
    text = members(get(f"{uci}/228/sms+spam+collection.zip"), "SMSSpamCollection$").popitem()[1]
    lines = [line.split("\t", 1) for line in text.splitlines() if "\t" in line]
    return counted([text for _, text in lines], np.array([1 if kind == "spam" else -1 for kind, _ in lines]), min_df=2)


def promoters(get: Open) -> Arrays:
    """Promoters of E. coli: strings of 57 bases."""
    text = members(get(f"{uci}/67/molecular+biology+promoter+gene+sequences.zip"), r"promoters\.data$").popitem()[1]
    lines = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    return {"strings__txt": packed(each[2] for each in lines), "y": np.array([each[0] == "+" for each in lines], int)}


def splice(name: str, keep: slice) -> Callable[[Open], Arrays]:
    """Acceptor sites of C. elegans, the central 200 bases as codes: all sites, and 20,000 other places."""

    def read(get: Open) -> Arrays:
        text = bz2.decompress(get(f"{shogun}/{name}")).decode()
        entries = [entry.split("\n", 1) for entry in text.split(">")[1:]][keep]
        y = np.array([1 if re.search(r"label=\+?1", head) else -1 for head, _ in entries])
        others = np.random.default_rng(0).permutation(np.flatnonzero(y < 0))[:20_000]
        chosen = np.sort(np.concatenate([np.flatnonzero(y > 0), others]))
        codes = np.array([_bases(entries[i][1]) for i in chosen], np.uint8)
        return {"codes": codes, "y": y[chosen].astype(np.int8)}

    return read


def _bases(text: str) -> list[int]:
    letters = text.replace("\n", "").strip().upper()
    middle = len(letters) // 2
    return [max("ACGT".find(letter), -1) % 5 for letter in letters[max(middle - 100, 0) : middle + 100]]


def of_graphs(name: str) -> Callable[[Open], Arrays]:
    """A set of graphs in the format of TU Dortmund: edges, the graph of each node, labels of graphs and nodes."""

    def read(get: Open) -> Arrays:
        files = members(get(f"{graphs}/{name}.zip"), r"_(A|graph_indicator|graph_labels|node_labels)\.txt$")
        part = {
            re.search(r"_(A|graph_indicator|graph_labels|node_labels)\.txt$", key)[1]: np.array(
                [[int(float(cell)) for cell in line.split(",")] for line in text.splitlines() if line.strip()]
            )
            for key, text in files.items()
        }
        edges, of_node = part["A"].T - 1, part["graph_indicator"][:, 0] - 1
        starts = np.searchsorted(of_node, np.arange(of_node.max() + 2))
        y = np.unique(part["graph_labels"][:, 0], return_inverse=True)[1]
        once = edges[:, edges[0] < edges[1]]
        return {"node_labels": part["node_labels"][:, 0], "graph_ptr": starts, "edges": once, "y": y}

    return read


def of_series(name: str) -> Callable[[Open], Arrays]:
    """A set of time series with its official parts, in the format .ts: values, a colon, the class."""

    def read(get: Open) -> Arrays:
        archive, X, y, split = get(f"{series}/{name}.zip"), [], [], []
        for part, word in enumerate(("TRAIN", "TEST")):
            for line in members(archive, rf"_{word}\.ts$").popitem()[1].splitlines():
                if line.strip() and line[0] not in "#@":
                    values, _, label = line.rpartition(":")
                    X.append([float(value) for value in values.split(",")])
                    y.append(label.strip())
                    split.append(part)
        return {"X": np.float32(X), "y": np.unique(y, return_inverse=True)[1], "split": np.int8(split)}

    return read


def covtype(_: Open) -> Arrays:
    """Covertype, by scikit-learn."""
    found = fetch_covtype()
    return {"X": found.data.astype(np.int16), "y": found.target.astype(np.int8)}


def connections(get: Open) -> Arrays:
    """KDD Cup 1999: a tenth of the training part by scikit-learn, and the corrected test part."""
    train = fetch_kddcup99(percent10=True)
    text = gzip.decompress(get("https://kdd.ics.uci.edu/databases/kddcup99/corrected.gz")).decode()
    lines = list(csv.reader(text.splitlines()))
    rows = np.vstack([_words(train.data), np.array([line[:-1] for line in lines], object)])
    labels = [_word(label).rstrip(".") for label in [*train.target, *(line[-1] for line in lines)]]
    named = [1, 2, 3]
    numbers = np.delete(rows, named, axis=1).astype(np.float32)
    n_train = len(train.target)
    kinds = OneHotEncoder(handle_unknown="ignore", dtype=np.float32).fit(rows[:n_train, named])
    names, y = np.unique(labels, return_inverse=True)
    X = sp.hstack([sp.csr_matrix(numbers), kinds.transform(rows[:, named])], format="csr")
    return sparse(X, y, np.arange(len(y)) >= n_train) | {"class_names__txt": packed(names)}


def _word(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _words(table: np.ndarray) -> np.ndarray:
    return np.array([[_word(value) for value in row] for row in table], object)


def letters(get: Open) -> Arrays:
    """Letters of handwritten words, 16 x 8 pixels; the first tenth of the folds is to train on."""
    with gzip.open(io.BytesIO(get("http://ai.stanford.edu/~btaskar/ocr/letter.data.gz")), "rt") as lines:
        cells = [line.split() for line in lines]
    X = np.float32([each[6:134] for each in cells])
    split = np.array([each[5] != "0" for each in cells], np.int8)
    return {"X": X, "y": np.unique([each[1] for each in cells], return_inverse=True)[1], "split": split}


sources: dict[str, Callable[[Open], Arrays]] = {
    "movie_reviews": of_folders(f"{nltk}/movie_reviews.zip", r"/neg/.*\.txt$", r"/pos/.*\.txt$", by_line=False),
    "subjectivity": of_folders(f"{nltk}/subjectivity.zip", r"plot\.tok", r"quote\.tok", by_line=True),
    "sentence_polarity": of_folders(f"{nltk}/sentence_polarity.zip", r"\.neg$", r"\.pos$", by_line=True),
    "reuters21578": reuters,
    "rcv1_small": rcv1,
    "trec6": trec,
    "sms_spam": sms,
    "covtype": covtype,
    "kddcup99": connections,
    "mnist": of_openml(554, 60_000),
    "fashion_mnist": of_openml(40996, 60_000),
    "usps": of_openml(41082, 7291),
    "letter": of_openml(6),
    "satimage": of_openml(182),
    "shuttle": of_openml(40685),
    "isolet": of_openml(300),
    "spambase": of_openml(44),
    "ocr_letters": letters,
    "dna": of_libsvm(f"{libsvm}/multiclass/dna.scale", f"{libsvm}/multiclass/dna.scale.t", n_features=180),
    "a9a": of_libsvm(f"{libsvm}/binary/a9a", f"{libsvm}/binary/a9a.t", n_features=123),
    "w8a": of_libsvm(f"{libsvm}/binary/w8a", n_features=300),
    "promotergene": promoters,
    "splice_celegans_tr": splice("C_elegans_acc_100000.fasta.bz2", slice(None)),
    "splice_celegans_te": splice("C_elegans_acc_modsel.fasta.bz2", slice(-100_000, None)),
    **{f"graph_{name.lower()}": of_graphs(name) for name in ("MUTAG", "ENZYMES", "PROTEINS", "NCI1")},
    "graph_ptc": of_graphs("PTC_MR"),
    **{f"ucr_{name.lower()}": of_series(name) for name in ("GunPoint", "ArrowHead", "ItalyPowerDemand")},
}


def fetch(names: Iterable[str], folder: Path, get: Open = opened) -> list[str]:
    """Fetch what is not there yet; return the data sets that could not be had, with the reason."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names:
        if (folder / f"{name}.npz").exists():
            continue
        try:
            arrays = sources[name](get)
        except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
            failed.append(f"{name}: {error}")
            continue
        partial = folder / f".{name}.npz"
        np.savez_compressed(partial, **arrays)
        partial.rename(folder / f"{name}.npz")
        print(f"{name}: {len(arrays['y'])} rows", flush=True)
    return failed


def main() -> None:
    """Fetch the data sets that are named."""
    parser = argparse.ArgumentParser(prog="python -m experiments.fetch", description="Fetch data sets.")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(sources))
    parser.add_argument("--to", required=True, type=Path, metavar="folder", help="where the files go")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(sources))
    if unknown:
        parser.error(f"there is no data set {unknown[0]!r}; there are {', '.join(sources)}.")
    failed = fetch(options.names or sources, options.to)
    if failed:
        raise SystemExit("Not fetched:\n" + "\n".join(failed))


if __name__ == "__main__":
    main()
