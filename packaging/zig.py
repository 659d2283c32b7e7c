"""Write a C++ compiler into a folder: zig's, from PyPI, for this machine or another one.

``python packaging/zig.py build/zig`` writes ``c++``, ``ar`` and ``ranlib`` for this machine, without its special
instructions. ``python packaging/zig.py build/zig-aarch64 aarch64-linux-gnu.2.17`` compiles for another architecture and
for every Linux whose glibc is 2.17 or later, and adds ``toolchain.cmake``. The package `ziglang` must be installed.
"""

import sys
from pathlib import Path

import ziglang

TOOLS = {"c++": "c++", "ar": "ar", "ranlib": "ranlib"}


def write_tools(folder: Path, target: str | None) -> None:
    """Scripts that call zig, and what CMake must know of them."""
    zig = Path(ziglang.__file__).with_name("zig")
    folder.mkdir(parents=True, exist_ok=True)
    # Without a target, zig compiles for the processor it runs on; the instruction sets are chosen at run time instead.
    options = {"c++": f"-target {target}" if target else "-mcpu=baseline"}
    for name, tool in TOOLS.items():
        script = folder / name
        # The program itself, since `python -m ziglang` is not found within pip's isolated builds.
        script.write_text(f'#!/bin/sh\nexec "{zig}" {tool} {options.get(name, "")} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    lines = [f'set(CMAKE_{variable} "{folder / name}")' for variable, name in
             (("CXX_COMPILER", "c++"), ("AR", "ar"), ("RANLIB", "ranlib"))]  # fmt: skip
    if target:
        architecture, _, rest = target.partition("-")
        lines += [f"set(CMAKE_SYSTEM_NAME {rest.split('-')[0].capitalize()})",
                  f"set(CMAKE_SYSTEM_PROCESSOR {architecture})"]  # fmt: skip
    (folder / "toolchain.cmake").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Folder and target from the command line."""
    if not 2 <= len(sys.argv) <= 3:
        raise SystemExit("usage: python packaging/zig.py FOLDER [TARGET], for example build/zig aarch64-linux-gnu.2.17")
    write_tools(Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) == 3 else None)


if __name__ == "__main__":
    main()
