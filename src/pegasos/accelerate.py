"""Run scripts that import `sklearn.svm` with the estimators of `pegasos.svm`, without changing them.

    python -m pegasos.accelerate script.py [arguments]

or, in a script, before the imports from `sklearn.svm`:

>>> import pegasos
>>> with pegasos.patch_sklearn():
...     from sklearn.svm import SVC
>>> SVC.__module__
'pegasos.svm.kernel_machines'

Names that were imported before the patch do not change. Settings that pegasos does not support are trained by
scikit-learn's own class, with a message of the logger ``pegasos.svm`` at level INFO. A pickle refers to the classes of
`pegasos.svm`, and can be read with or without the patch.
"""

from __future__ import annotations

import logging
import runpy
import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Any

import sklearn.svm

from pegasos.errors import PegasosError

_USAGE = "usage: python -m pegasos.accelerate script.py [arguments]"
_log = logging.getLogger("pegasos.svm")
_before: dict[str, Any] = {}  # original objects of sklearn.svm under the replaced names


class Patch:
    """The patch, which ends with the block of a `with` statement."""

    def __enter__(self) -> Patch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        unpatch_sklearn()


def patch_sklearn(names: Iterable[str] | None = None) -> Patch:
    """Replace the estimators of `sklearn.svm` by those of `pegasos.svm`.

    Parameters
    ----------
    names : names of estimators, optional
        Which ones, such as ``["SVC"]``; by default all of them.

    Returns
    -------
    Patch
        Undone by `unpatch_sklearn`, or at the end of ``with patch_sklearn():``.

    Examples
    --------
    >>> import pegasos
    >>> with pegasos.patch_sklearn(["SVC"]):
    ...     from sklearn.svm import SVC
    >>> SVC.__module__.split(".")[0]
    'pegasos'
    """
    import pegasos.svm as ours

    known = [name for name in ours.__all__ if name != "l1_min_c"]
    chosen = known if names is None else list(names)
    for name in chosen:
        if name not in known:
            raise PegasosError(f"pegasos.svm has no estimator {name!r}; it has {', '.join(known)}.")
    for name in chosen:
        if name not in _before:
            _before[name] = getattr(sklearn.svm, name)
            setattr(sklearn.svm, name, getattr(ours, name))
    _log.info("sklearn.svm now has these classes of pegasos.svm: %s.", ", ".join(sorted(_before)))
    return Patch()


def unpatch_sklearn() -> None:
    """Restore the estimators of `sklearn.svm`.

    Examples
    --------
    >>> import pegasos
    >>> patch = pegasos.patch_sklearn()
    >>> pegasos.unpatch_sklearn()
    >>> from sklearn.svm import SVC
    >>> SVC.__module__.split(".")[0]
    'sklearn'
    """
    while _before:
        name, value = _before.popitem()
        setattr(sklearn.svm, name, value)


def main(arguments: list[str]) -> int:
    """Run a script under the patch, like ``python script.py``."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE)
        return 0 if arguments else 2
    from pegasos.accelerate import patch_sklearn as patch  # this module is __main__ when it is run

    given = sys.argv
    sys.argv = arguments
    try:
        with patch():
            runpy.run_path(arguments[0], run_name="__main__")
    finally:
        sys.argv = given
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
