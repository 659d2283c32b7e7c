"""Run the first Python example of the README with the installed wheel, and say on which machine."""

import platform
import re
from pathlib import Path

import pegasos
from pegasos import _core

text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
example = re.search(r"```python\n(.*?)```", text, re.DOTALL)
if example is None:
    raise SystemExit("README.md has no Python example.")
print(f"Python {platform.python_version()}, {platform.machine()}, {_core.instruction_set()}, {pegasos.__file__}")
exec(compile(example[1], "README.md", "exec"))
