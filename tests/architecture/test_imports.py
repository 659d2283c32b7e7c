"""`import pegasos` is light, and its surface is the documented one."""

import subprocess
import sys

import pegasos

HEAVY = ["matplotlib", "pandas", "polars", "dask", "pyarrow", "optuna", "rich", "clarabel", "onnx"]


def loaded_after(imports):
    script = f"import sys\n{imports}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_pegasos_loads_nothing_optional_beyond_what_scikit_learn_does():
    of_scikit_learn = "import sklearn.base\ntry:\n    import sklearn.callback\nexcept ImportError:\n    pass"
    assert loaded_after("import pegasos") <= loaded_after(of_scikit_learn)


def test_importing_the_exports_loads_no_format_of_others():
    assert "onnx" not in loaded_after("import pegasos.export")


def test_every_public_name_is_there():
    assert pegasos.__all__ == sorted(pegasos.__all__)
    for name in pegasos.__all__:
        assert getattr(pegasos, name).__doc__
