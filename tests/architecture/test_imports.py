"""`import pegasos` is light, and its surface is the documented one."""

import subprocess
import sys

import pegasos

HEAVY = ["matplotlib", "pandas", "polars", "dask", "pyarrow", "optuna", "rich", "clarabel"]


def test_importing_pegasos_loads_nothing_optional():
    script = f"import sys, pegasos; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    assert pegasos.__all__ == sorted(pegasos.__all__)
    for name in pegasos.__all__:
        assert getattr(pegasos, name).__doc__
