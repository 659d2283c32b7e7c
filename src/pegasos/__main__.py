"""``python -m pegasos`` is the command ``pegasos``."""

import sys

from pegasos.cli import main

if __name__ == "__main__":
    sys.exit(main())
