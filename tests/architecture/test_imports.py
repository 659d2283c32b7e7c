"""`import pegasos` is light, and its surface is the documented one."""

import subprocess
import sys

import pytest

import pegasos

HEAVY = ["matplotlib", "pandas", "polars", "dask", "pyarrow", "optuna", "rich", "clarabel", "onnx"]


def loaded_after(imports):
    script = f"import sys\n{imports}\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_pegasos_loads_nothing_optional_beyond_what_scikit_learn_does():
    of_scikit_learn = "import sklearn.base\ntry:\n    import sklearn.callback\nexcept ImportError:\n    pass"
    assert loaded_after("import pegasos") <= loaded_after(of_scikit_learn)


def test_the_package_alone_and_the_help_of_the_command_need_no_numpy():
    script = (
        "import sys, pegasos, pegasos.cli\n"
        "try:\n    pegasos.cli.main(['--help'])\nexcept SystemExit:\n    sys.exit('numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)


def test_importing_the_exports_loads_no_format_of_others():
    assert "onnx" not in loaded_after("import pegasos.export")


def test_every_public_name_is_there():
    assert pegasos.__all__ == sorted(pegasos.__all__) == sorted(pegasos._homes)
    assert {*pegasos.__all__, "kernels", "data"} <= {*dir(pegasos)}
    assert pegasos.kernels.RBF(gamma=1.0).gamma == 1.0
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        pegasos.nonsense  # noqa: B018
    for name in pegasos.__all__:
        assert getattr(pegasos, name).__doc__
