"""The same answer on every instruction set, and code of one never within reach of another."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOLVE = """
import json
from pegasos import _core
from pegasos.kernels import RBF, ChiSquared, Intersection, Laplacian, Linear, Polynomial
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.kernel_pegasos import KernelPegasos
from pegasos.solvers.pegasos import Pegasos
from tests.problems import awkward_kernel_problem, awkward_problem, in_layout

found = {"instruction set": _core.instruction_set()}
for layout in ("dense", "csr int32"):
    for solver in (Pegasos(), Pegasos(batch_size=4, projection=True), DualAscent()):
        solution = run(awkward_problem(layout), solver, Stop(tol=None, max_iter=20), seed=1)
        numbers = [solution.certificate.primal, solution.certificate.dual]
        found[f"{layout}: {solver}"] = [*numbers, *solution.weights.tolist(), *solution.alpha.tolist()]
for solver in (KernelPegasos(Pegasos(batch_size=4, projection=True)), Decomposition(1e-12)):
    stop = Stop(tol=None, max_iter=20) if solver != Decomposition(1e-12) else Stop(tol=1e-12)
    solution = run(awkward_kernel_problem(RBF(0.1)), solver, stop, seed=1)
    numbers = [solution.certificate.primal, solution.certificate.dual]
    found[f"kernel: {type(solver).__name__}"] = [*numbers, *(abs(solution.weights) > 0).tolist()]
for kernel in (Linear(), Polynomial(3, 0.1), RBF(0.1), Laplacian(0.1), ChiSquared(0.3), Intersection()):
    for layout in ("dense", "csr int32"):
        rows = in_layout(abs(awkward_problem().rows.values), layout)
        found[f"{layout}: {kernel}"] = kernel.block(rows, rows).ravel().tolist()
print(json.dumps(found))
"""


def run_with(instruction_set):
    """Solve in a process of its own; the best instruction set when None."""
    environment = {key: value for key, value in os.environ.items() if key != "PEGASOS_INSTRUCTION_SET"}
    if instruction_set is not None:
        environment["PEGASOS_INSTRUCTION_SET"] = instruction_set
    command = [sys.executable, "-c", SOLVE]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_the_baseline_and_the_best_instruction_set_agree():
    baseline, best = (json.loads(run_with(name).stdout) for name in ("baseline", None))
    assert baseline.pop("instruction set") == "baseline"
    assert best.pop("instruction set") in {"avx512", "avx2", "baseline"}
    assert len(baseline) == 20
    for case, numbers in baseline.items():
        assert best[case] == pytest.approx(numbers, rel=1e-10, abs=1e-10), case


def test_an_unknown_instruction_set_is_refused_with_a_reason():
    refused = run_with("abacus")
    assert refused.returncode != 0
    sentence = "PEGASOS_INSTRUCTION_SET is 'abacus', which this machine does not offer; unset it, or use 'baseline'."
    assert refused.stderr.rstrip().endswith(f"RuntimeError: {sentence}")


@pytest.mark.skipif(platform.machine().lower() not in {"x86_64", "amd64"}, reason="AVX2 belongs to x86-64")
@pytest.mark.skipif(sys.platform != "linux", reason="reads the symbols of an ELF object")
@pytest.mark.skipif(not (shutil.which("c++") and shutil.which("nm")), reason="needs a compiler and nm")
@pytest.mark.slow
def test_code_for_avx2_defines_nothing_outside_its_namespace(tmp_path):
    compiled = tmp_path / "loops.o"
    flags = ["-std=c++20", "-O2", "-fPIC", "-mavx2", "-mfma", "-DPEGASOS_ISA=avx2", f"-I{ROOT / 'cpp' / 'core'}"]
    subprocess.run(["c++", *flags, "-c", ROOT / "cpp/core/pegasos/loops.cpp", "-o", compiled], check=True)
    listing = subprocess.run(["nm", "--defined-only", compiled], check=True, capture_output=True, text=True).stdout
    # What the linker may share between objects: every kind of symbol that is not local.
    shared = re.findall(r"^\S+ [A-Zuvw] (\S+)$", listing, flags=re.MULTILINE)
    # A name that mentions the namespace, as a template's argument, say, belongs to this instruction set alone.
    inside = re.compile(r"_Z.*7pegasos.*4avx2|DW\.ref\.__gxx_personality_v0$")
    assert any(inside.match(symbol) and "table" in symbol for symbol in shared)
    assert [symbol for symbol in shared if not inside.match(symbol)] == []
