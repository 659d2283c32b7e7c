"""Work under a limit of memory that is raised step by step: it ends well, or with a MemoryError, and goes on after.

    python -m tests.faults.memory "one against the rest"

The limit is one of addresses (RLIMIT_AS): the next array, the next std::vector or the stack of the next thread may be
the one that is refused.
"""

import argparse
import json
import resource
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError, archive
from pegasos.data import convert, read_svmlight
from pegasos.kernels import Subsequence

_steps = [0, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 128]  # pages of 64 KB, then the same of 1 MB
_no_thread = "can't start new thread"  # what Python says of the same cause


def addresses():
    """The bytes of addresses in use."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def kinds(folder):
    """Name to work that needs some megabytes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(40_000, 20))
    y = (X[:, 0] + random.normal(size=len(X)) > 0).astype(int)
    many = 2 * y + (X[:, 1] > 0)
    sparse = sp.random_array((20_000, 3_000), density=0.002, format="csr", rng=random)
    texts = ["".join(letters) for letters in random.choice(list("abc"), size=(300, 200))]
    text = folder / "rows.svm"
    text.write_text("".join(f"{label} 1:{a:.3f} 7:{b:.3f}\n" for label, (a, b) in zip(y, X[:, :2], strict=True)))
    model = PegasosClassifier(lam=1e-3, random_state=0).fit(X, many)
    machine = KernelPegasosClassifier(lam=1e-2, random_state=0).fit(X[:1500], y[:1500])
    archive.write(folder / "numbers.zip", "numbers", {}, {"x": X})
    convert(text, folder / "rows.cache")
    return {
        "fit": lambda: PegasosClassifier(lam=1e-6, n_jobs=2, random_state=0).fit(X, y),
        "fit of CSR": lambda: PegasosClassifier(lam=1e-4, n_jobs=2, random_state=0).fit(sparse, y[:20_000]),
        "one against the rest": lambda: PegasosClassifier(lam=1e-3, n_jobs=2, random_state=0).fit(X, many),
        "all classes at once": lambda: PegasosClassifier(
            lam=1e-3, multi_class="crammer_singer", random_state=0, tol=0.1
        ).fit(X, many),
        "kernel": lambda: KernelPegasosClassifier(lam=1e-2, random_state=0).fit(X[:1500], y[:1500]),
        "strings": lambda: Subsequence(3).block(texts, texts),
        "predict": lambda: model.predict(X),
        "predict of a kernel": lambda: machine.predict(X[:3000]),
        "svmlight text": lambda: read_svmlight(text, n_jobs=2),
        "source": lambda: PegasosClassifier(lam=1e-3, random_state=0).fit_source(folder / "rows.cache", memory="50M"),
        "archive": lambda: archive.read(folder / "numbers.zip", "numbers"),
        "writing": lambda: archive.write(folder / "again.zip", "numbers", {}, {"x": X[:, ::-1]}),
    }


def under_limits(work):
    """Do the work under each limit and once more without any; how it ended, counted."""
    work()  # what stays for good: threads of BLAS, caches of modules
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    outcomes = []
    for unit in (1 << 16, 1 << 20):
        for step in _steps:
            resource.setrlimit(resource.RLIMIT_AS, (addresses() + step * unit, hard))
            try:
                work()
                outcomes.append("done")
            except MemoryError:
                outcomes.append("MemoryError")
            except PegasosError as error:
                outcomes.append(f"PegasosError: {error}"[:60])
            except RuntimeError as error:
                if _no_thread not in str(error):
                    raise
                outcomes.append("no thread")
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    work()
    return Counter(outcomes)


def main():
    """Print the outcomes as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind")
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(under_limits(kinds(Path(folder))[parser.parse_args().kind])))


if __name__ == "__main__":
    main()
