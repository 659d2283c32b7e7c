"""Model files under a coverage-guided fuzzer.

    pip install atheris
    python -m tests.fuzz.model_files -max_total_time=600 -timeout=30 -rss_limit_mb=3000

Install the library itself, not editably: atheris does not see into the loader of an editable install. Most inputs are
changes to what a real file holds, with checksums that are right; the rest are bytes of a file. A finding is any
exception other than PegasosError, a crash, a hang, or more memory than libFuzzer allows.
"""

import contextlib
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["pegasos"]):
    import pegasos
    from tests.unit.persistence.mutations import X, packed_models, tampered, two, use

PACKED = packed_models()
FILE = Path(tempfile.mkdtemp()) / "model.pegasos"
pegasos.PegasosClassifier(lam=1e-2, random_state=0).fit(X, two).save(FILE)
WHOLE = FILE.read_bytes()


def one_input(data):
    """One input of the fuzzer."""
    source = atheris.FuzzedDataProvider(data)

    def choose(n):
        return source.ConsumeIntInRange(0, n - 1)

    if choose(8):
        model, arrays, rows, labels = PACKED[choose(len(PACKED))]
        use(*tampered(model, arrays, choose), rows, labels)
        return
    raw, place = bytearray(WHOLE), choose(len(WHOLE))
    piece = source.ConsumeBytes(64)
    raw[place : place + len(piece)] = piece
    FILE.write_bytes(raw)
    with contextlib.suppress(pegasos.PegasosError):
        pegasos.load(FILE)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
