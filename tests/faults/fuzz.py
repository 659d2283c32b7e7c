"""Files that are broken, or made to mislead, before every reader: each gives rows or a PegasosError, nothing else.

    python -m tests.faults.fuzz cache --seconds 600

Inputs come from atheris where it is installed, led by which lines are reached; elsewhere they are random.
Where a file has checksums, a target breaks what is within and puts the checksums right: a reader that believes nothing
must not believe those either.
"""

import argparse
import inspect
import io
import json
import random
import sys
import tempfile
import time
import warnings
import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from pegasos import PegasosClassifier, PegasosError, archive
from pegasos.data import ArraySource, arrays, cache, delimited, open_source, parsing, read
from pegasos.solvers import block_checkpoint
from tests.reference import svmlight as slow

_ODD = [-1, 0, 1, 3, 255, 2**31 - 1, 2**31, 2**32, 2**62, 2**63, 2**64, 10**30, -(2**63), 1e308, float("nan"), 0.5]
_ODD += ["", "x", "<f8", "float16", "csr", None, True, [], {}, [1], {"a": 1}]
_words = {  # of texts, so that they are nearly right
    "svmlight": b"1 1:2\n|-1 |+1 |qid:3 | 2:0.5|3:-1e300 |1e-400|nan|inf|#|\r\n|\n|0:1 |4294967297:1|:| |7".split(b"|"),
    "csv": b'a,b,c\n1,2,3\n|"|,|;|\n|1|2.5|,-3|nan|\t|1e999|\xef\xbb\xbf|\x00|x|-|a,b'.split(b"|"),
}


class Draw:
    """Decisions, one after the other, from the bytes of an input; zeros when they are used up."""

    def __init__(self, data):
        self._data, self._at = data, 0

    def number(self, n):
        """A number from 0 to n - 1."""
        width = 1 if n <= 256 else 4
        piece = self._data[self._at : self._at + width]
        self._at += width
        return int.from_bytes(piece, "little") % n

    def one_of(self, choices):
        """One of them."""
        return choices[self.number(len(choices))]

    def text(self, words):
        """Text from the remaining bytes: unchanged, or a word for most of them."""
        is_raw, rest = self.number(4) == 0, self._data[self._at :]
        return rest if is_raw else b"".join(words[byte % len(words)] if byte < 224 else bytes([byte]) for byte in rest)


def broken_bytes(draw, whole):
    """The same with some bytes changed, inserted or cut off."""
    raw = bytearray(whole)
    for _ in range(draw.number(8)):
        at = draw.number(max(len(raw), 1))
        match draw.number(4):
            case 0:
                raw[at : at + 1] = bytes([draw.number(256)])
            case 1:
                raw[at:at] = bytes([draw.number(256)]) * draw.number(20)
            case 2:
                del raw[at : at + draw.number(40)]
            case _:
                del raw[at:]
    return bytes(raw)


def broken_value(draw, value):
    """The same JSON with one of its leaves, or branches, something odd."""
    if isinstance(value, dict) and value and draw.number(8):
        name = draw.one_of(sorted(value))
        if draw.number(12) == 0:
            return {other: value[other] for other in value if other != name}
        return {**value, name: broken_value(draw, value[name])}
    if isinstance(value, list) and value and draw.number(8):
        at = draw.number(len(value))
        return [*value[:at], broken_value(draw, value[at]), *value[at + 1 :]]
    return draw.one_of(_ODD)


def broken_array(draw, array):
    """The same with odd numbers, another type or another shape."""
    match draw.number(4):
        case 0:
            types = ["f4", "f8", "i4", "i8", "u1", "u4", "U3", "S2", "?"]
            with np.errstate(invalid="ignore", over="ignore"):
                return array.astype(draw.one_of(types))
        case 1:
            return array.reshape(-1)[: draw.number(array.size + 1)]
        case 2:
            return array[..., np.newaxis]
    changed = array.copy()
    if changed.size and changed.dtype.kind in "iuf":
        raw = changed.reshape(-1).view(np.uint8)
        for _ in range(1 + draw.number(4)):
            at = draw.number(raw.size // changed.itemsize) * changed.itemsize
            raw[at : at + changed.itemsize] = draw.one_of([0, 1, 127, 128, 255])
    return changed


def all_of(source):
    """Every block, which must be what the source says that it is."""
    for k, block in enumerate(source):
        assert block.X.shape == (source.starts[k + 1] - source.starts[k], source.n_features)
        assert len(block.y) == block.X.shape[0]


def learnt(source):
    """What a fit makes of blocks that were let through: the loops read memory by what stands in them."""
    try:
        PegasosClassifier(max_iter=2, random_state=0).fit_source(source, memory="20M")
    except ValueError:  # PegasosError is one; scikit-learn raises one for labels that are not classes
        return


class Targets:
    """The readers, each given bytes; a target raises what no user should see. Files are kept in a folder."""

    def __init__(self, folder):
        self.folder = folder
        X = np.arange(12.0).reshape(4, 3) / 4.0
        self.sources = {
            "dense": ArraySource(X, np.array([0, 1, 0, 1]), block_rows=2),
            "csr": ArraySource(sp.csr_array(X), np.array(["no", "yes", "no", "yes"]), block_rows=3),
        }
        self.caches = {name: self._cache(source) for name, source in self.sources.items()}
        self.arrays = self._arrays(X)
        self.checkpoints = {solver: self._checkpoint(solver) for solver in ("auto", "dual", "pegasos")}

    def _cache(self, source):
        path = self.folder / "whole.cache"
        cache.write_cache(path, source, "nothing")
        return path.read_bytes()

    def _arrays(self, X):
        found = {}
        for name, save in {
            "X.npy": lambda file: np.save(file, X),
            "big.npy": lambda file: np.save(file, X.astype(">f4")),
            "X.npz": lambda file: np.savez(file, X=X, y=np.arange(4)),
            "packed.npz": lambda file: np.savez_compressed(file, X=X, y=np.arange(4)),
            "sparse.npz": lambda file: sp.save_npz(file, sp.csr_matrix(X), compressed=False),
        }.items():
            file = io.BytesIO()
            save(file)
            found[name] = file.getvalue()
        np.save(self.folder / "labels.npy", np.arange(4) % 2)
        return found

    def _model(self, solver):
        return PegasosClassifier(solver=solver, lam=0.01, tol=None, max_iter=4, random_state=0)

    def _checkpoint(self, solver):
        """Stored in the middle of the last epoch."""
        path = self.folder / f"whole.{solver}"
        self._model(solver).fit_source(self.sources["dense"], memory="20M", checkpoint=path, checkpoint_seconds=0)
        return archive.read(path, "checkpoint of a fit on a source")

    def svmlight(self, data):
        """Text, against the slow reading."""
        draw = Draw(data)
        options = {"n_features": draw.one_of([None, 3]), "allow_nan": bool(draw.number(2))}
        text = draw.text(_words["svmlight"])
        reading = parsing.Reading("auto", options["n_features"], np.dtype(np.float32), options["allow_nan"], 1)
        try:
            found = parsing.known_base(reading, lambda each: parsing.parse(text, each))
        except parsing.TextError:
            found = None
        try:
            labels, rows = slow.read(text, **options)
        except slow.RefusedError:
            labels = None
        assert (found is None) == (labels is None), "one of the readings refuses it"
        if found is not None:
            np.testing.assert_array_equal(found.labels, labels)
            assert np.diff(found.indptr).tolist() == [len(row) for row in rows]
        self._read("text.svm", text)

    def csv(self, data):
        """Tables as text."""
        draw = Draw(data)
        options = {"header": draw.one_of([None, True, False]), "delimiter": draw.one_of([",", ";", "\t"])}
        options["label"] = draw.one_of([None, 0, -1, "a"])
        given = {name: value for name, value in options.items() if value is not None}
        self._read("table.csv", draw.text(_words["csv"]), **given)

    def cache(self, data):
        """The binary cache, with checksums that are right."""
        draw = Draw(data)
        whole = self.caches[draw.one_of(sorted(self.caches))]
        if draw.number(8) == 0:
            return self._read("broken.cache", broken_bytes(draw, whole))
        _, _, begin, size, _ = cache._preamble.unpack_from(whole)
        blocks, directory = bytearray(whole[:begin]), json.loads(whole[begin : begin + size])
        for _ in range(draw.number(6)):
            at = cache._STEP + draw.number(begin - cache._STEP)
            blocks[at : at + 4] = draw.one_of([b"\xff" * 4, bytes(4), b"\x00\x00\x00\x80", b"\x01\x00\x00\x00"])
        if draw.number(2):
            directory = broken_value(draw, directory)
        if isinstance(directory, dict) and isinstance(directory.get("blocks"), list):
            directory["blocks"] = [self._checked(blocks, entry, directory) for entry in directory["blocks"]]
        text = json.dumps(directory).encode()
        preamble = cache._preamble.pack(cache.magic, 1, begin, len(text), zlib.crc32(text))
        head = preamble + cache._checksum.pack(zlib.crc32(preamble))
        self._read("broken.cache", head.ljust(cache._STEP, b"\0") + bytes(blocks[cache._STEP :]) + text, learns=True)
        return None

    def _checked(self, blocks, entry, directory):
        """An entry of the directory with the checksum of what it now points at."""
        try:
            n_rows, n_entries, column, begin, _ = entry
            shapes = [n_entries, n_entries, n_rows + 1, n_rows]
            types = [directory["dtype"], column, column, directory["label"]]
            if directory["layout"] == "dense":
                shapes, types = [n_rows * directory["n_features"], n_rows], [directory["dtype"], directory["label"]]
            bytes_of = [np.dtype(kind).itemsize * n for kind, n in zip(types, shapes, strict=True)]
            size = sum(-(-n // cache._STEP) * cache._STEP for n in bytes_of)
            return [n_rows, n_entries, column, begin, zlib.crc32(bytes(blocks[begin : begin + size]))]
        except (TypeError, ValueError, KeyError, MemoryError, OverflowError):
            return entry

    def arrays_of_numpy(self, data):
        """Files of npy and npz."""
        draw = Draw(data)
        name = draw.one_of(sorted(self.arrays))
        options = {"labels": self.folder / "labels.npy"} if draw.number(2) or name.endswith("npy") else {}
        raw = self.arrays[name]
        if name.endswith("npz") and draw.number(4):
            raw = self._rezipped(draw, raw)
        self._read(name, broken_bytes(draw, raw), **options)

    def _rezipped(self, draw, raw):
        """The same archive, whose members are broken and have the checksums of what they now are."""
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(raw)) as whole, zipfile.ZipFile(out, "w") as made:
            for info in whole.infolist():
                member = whole.read(info)
                made.writestr(info.filename, broken_bytes(draw, member) if draw.number(2) else member)
        return out.getvalue()

    def archive(self, data):
        """Archives, with digests that are right."""
        draw = Draw(data)
        path = self.folder / "broken.zip"
        archive.write(path, "numbers", {"a": [1, {"b": "c"}]}, {"x": np.arange(6.0), "names": np.array(["ab", "c"])})
        raw = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(raw)) as whole:
            members = {name: whole.read(name) for name in whole.namelist()}
        if draw.number(2):
            members["contents.json"] = json.dumps(broken_value(draw, json.loads(members["contents.json"]))).encode()
        if draw.number(2):
            name = draw.one_of(sorted(members))
            members[name] = broken_bytes(draw, members[name])
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as made:
            for name, member in members.items():
                made.writestr(name, member)
        path.write_bytes(broken_bytes(draw, out.getvalue()) if draw.number(2) else out.getvalue())
        try:
            archive.read(path, "numbers")
        except PegasosError:
            return

    def checkpoint(self, data):
        """Checkpoints of a fit, with digests that are right."""
        draw = Draw(data)
        solver = draw.one_of(sorted(self.checkpoints))
        values, arrays, _ = self.checkpoints[solver]
        path = self.folder / "broken.checkpoint"
        if draw.number(2):
            inner = {name: value for name, value in values.items() if name != "identity"}
            broken = broken_value(draw, inner)
            values = {**values, **broken} if isinstance(broken, dict) else {"identity": broken}
        arrays = {name: broken_array(draw, array) if draw.number(3) == 0 else array for name, array in arrays.items()}
        archive.write(path, "checkpoint of a fit on a source", values, arrays)
        model = self._model(solver)
        try:
            model.fit_source(self.sources["dense"], memory="20M", checkpoint=path, checkpoint_seconds=1e9)
        except PegasosError:
            return
        assert np.isfinite(model.certificate_.gap)
        assert model.certificate_.gap >= -1e-6 * model.certificate_.primal

    def _read(self, name, raw, *, learns=False, **options):
        path = self.folder / name
        path.write_bytes(raw)
        try:
            read(path, **options)
            source = open_source(path, **options)
            all_of(source)
        except PegasosError as error:
            if not str(error).strip().endswith("."):
                raise AssertionError("the message is not a sentence") from error
            return
        if learns:
            learnt(source)


_TARGETS = ["svmlight", "csv", "cache", "arrays_of_numpy", "archive", "checkpoint"]


def random_input(dice):
    """Bytes for a target where nobody leads."""
    return dice.randbytes(dice.randint(4, 60))


def at_random(target, name, seconds, seed):
    """Random inputs for so long; their number. The input that fails is kept in a file."""
    dice, n_inputs, begun = random.Random(seed), 0, time.monotonic()
    while time.monotonic() - begun < seconds:
        data = random_input(dice)
        try:
            target(data)
        except BaseException:
            Path(f"fuzz-{name}-{n_inputs}").write_bytes(data)
            raise
        n_inputs += 1
    return n_inputs


def main():
    """Fuzz one reader."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", choices=_TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="random inputs even where atheris is installed")
    parser.add_argument("--again", type=Path, help="the file of an input that failed")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        target = getattr(Targets(Path(folder)), asked.target)
        if asked.again:
            target(asked.again.read_bytes())
            return
        try:
            import atheris
        except ImportError:
            asked.plain = True
        if asked.plain:
            print(f"{at_random(target, asked.target, asked.seconds, asked.seed)} inputs, no finding")
            return
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        dice = random.Random(asked.seed)
        for k in range(50):
            (corpus / str(k)).write_bytes(random_input(dice))
        options = [f"-max_total_time={asked.seconds}", f"-seed={asked.seed + 1}", "-rss_limit_mb=3000", "-timeout=60"]
        for module in (archive, arrays, cache, delimited, parsing, block_checkpoint):
            for function in filter(inspect.isfunction, vars(module).values()):
                atheris.instrument_func(function)
        atheris.Setup([sys.argv[0], str(corpus), *options], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
