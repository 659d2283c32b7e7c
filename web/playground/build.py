"""Compile the core to WebAssembly and put the page together: ``make playground``.

The page is one file that needs neither a server nor the network. The same sources and the same compiler give the same
bytes.
"""

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = ROOT / "src" / "pegasos" / "playground" / "index.html"
SCRIPTS = ("engine.js", "data.js", "plane.js", "chart.js", "python.js", "page.js")
FLAGS = (
    "-target", "wasm32-wasi", "-mexec-model=reactor", "-std=c++20", "-Os", "-msimd128", "-fno-exceptions", "-fno-rtti",
    "-fno-math-errno", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-psabi", "-Wl,--strip-all",
    "-D_LIBCPP_VERBOSE_ABORT(...)=__builtin_trap()",
)  # fmt: skip


def compile_core() -> bytes:
    """The loops and what the page calls, as one module."""
    sources = ["cpp/playground/run.cpp", "cpp/playground/exports.cpp"]
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "playground.wasm"
        command = [sys.executable, "-m", "ziglang", "c++", *FLAGS, "-Icpp/core", *sources, "-o", str(module)]
        subprocess.run(command, cwd=ROOT, check=True)
        return module.read_bytes()


def page_of(module: bytes) -> str:
    """The page with its style, its scripts and the module inside."""
    page = (HERE / "page.html").read_text(encoding="utf-8")
    parts = {
        "/*STYLE*/": (HERE / "style.css").read_text(encoding="utf-8"),
        "/*SCRIPT*/": "".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
        "/*WASM*/": base64.b64encode(module).decode(),
    }
    for mark, text in parts.items():
        page = page.replace(mark, text)
    return page


def main() -> None:
    """Write the page, or to the file that is named."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page_of(compile_core()), encoding="utf-8", newline="\n")
    print(f"{target}: {target.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
