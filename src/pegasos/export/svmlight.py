"""Model files of SVM-Light, https://www.cs.cornell.edu/people/tj/svm_light.

Eleven lines of a value, ``#`` and what it is, then one line per support vector: alpha_j y_j, and its entries as
index:value, numbered from 1. The score is sum_j alpha_j y_j k(z_j, x) - b, and positive for the label +1. A regression
file has the same lines and does not say so.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.export.formula import Aim, Formula, KernelTerm, Numbers
from pegasos.export.importing import check_aim, estimator_of
from pegasos.export.text import ModelText, Path, shown
from pegasos.kernels import RBF, Kernel, Linear, Polynomial

BEGINNING = "SVM-light"
_HEADER = 11  # lines


def from_svmlight(
    path: Path, *, C: float | None = None, lam: float | None = None, n_features: int | None = None
) -> KernelPegasosClassifier:
    r"""Read a model file of SVM-Light: an estimator of the classes -1 and 1 with the same scores.

    Parameters
    ----------
    path : path
        A file of ``svm_learn`` with a linear, polynomial or RBF kernel.
    C, lam : float, optional
        The regularization of the fit, which the file does not contain and ``certify(X, y)`` needs. Give one of the two.
    n_features : int, optional
        The number of features of the data to predict; by default the highest feature index in the file.

    Returns
    -------
    KernelPegasosClassifier
        With a free intercept, as in SVM-Light.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from pegasos.export import from_svmlight
    >>> lines = ["SVM-light Version V6.20", "0 # kernel type", "3 # kernel parameter -d", "1 # kernel parameter -g",
    ...          "1 # kernel parameter -s", "1 # kernel parameter -r", "empty# kernel parameter -u",
    ...          "2 # highest feature index", "4 # number of training documents",
    ...          "3 # number of support vectors plus 1", "0.5 # threshold b", "1 1:2 #", "-1 2:1 #"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model"
    ...     _ = path.write_text("\n".join(lines) + "\n")
    ...     model = from_svmlight(path)
    >>> model.decision_function([[1.0, 1.0]])  # 2 - 1 - 0.5
    array([0.5])
    """
    check_aim(lam, C)
    text = ModelText.read(path)
    if not text.lines[0].startswith(BEGINNING):
        raise text.fault(1, f"expected {BEGINNING} and its version, got {shown(text.lines[0])}")
    if len(text.lines) < _HEADER:
        raise text.fault(len(text.lines), f"the file ends before its {_HEADER} first lines do")
    kernel = _kernel(text)
    told, total = _count(text, 8), _count(text, 10) - 1
    if total < 0:
        raise text.fault(10, "the number of support vectors plus 1 must be at least 1, got 0")
    width = told if n_features is None else n_features
    if width < told:
        raise PegasosError(f"{text.name} has {told} features, more than n_features={n_features}.")
    coefficients, support = _support(text, total, max(width, 1))
    formula = Formula(
        classes=np.array([-1, 1]),
        multi_class="ovo",
        n_features=max(width, 1),
        intercept=-np.array([_number(text, 11)]),
        terms=(KernelTerm(kernel, support, coefficients[None, :]),),
        aim=Aim(lam, C, "free"),
    )
    found: KernelPegasosClassifier = estimator_of(formula, "an SVM-Light file")
    return found


def _value(text: ModelText, line: int) -> str:
    return text.lines[line - 1].partition("#")[0].strip()


def _number(text: ModelText, line: int) -> float:
    return text.numbers(line, [_value(text, line)])[0]


def _count(text: ModelText, line: int) -> int:
    (number,) = text.whole_numbers(line, [_value(text, line)])
    if number < 0:
        raise text.fault(line, f"expected a number of at least 0, got {number}")
    return number


def _kernel(text: ModelText) -> Kernel:
    kind = _count(text, 2)
    try:
        if kind == 0:
            return Linear()
        if kind == 1:
            return Polynomial(_count(text, 3), _number(text, 5), _number(text, 6))
        if kind == 2:
            return RBF(_number(text, 4))
    except PegasosError as error:
        raise text.fault(2, str(error).rstrip(".")) from error
    raise text.fault(2, f"pegasos has no kernel of type {kind}; expected 0 (linear), 1 (polynomial) or 2 (RBF)")


def _support(text: ModelText, total: int, width: int) -> tuple[Numbers, sp.csr_array]:
    """Coefficients and entries, line by line."""
    lines = text.lines[_HEADER : _HEADER + total]
    if len(lines) != total:
        raise text.fault(len(text.lines), f"expected {total} support vectors, got {len(lines)}")
    coefficients: list[float] = []
    indices: list[int] = []
    values: list[float] = []
    starts = [0]
    for number, line in enumerate(lines, _HEADER + 1):
        words = line.partition("#")[0].split()
        if not words:
            raise text.fault(number, "expected a support vector, got a blank line")
        coefficients += text.numbers(number, words[:1])
        pairs = [word.partition(":") for word in words[1:]]
        mine = text.whole_numbers(number, [index for index, _, _ in pairs])
        if any(a >= b for a, b in pairwise([0, *mine])) or max(mine, default=0) > width:
            raise text.fault(number, f"indices must rise from 1 to at most {width}")
        indices += mine
        values += text.numbers(number, [value for _, _, value in pairs])
        starts.append(len(indices))
    text.check_end(_HEADER + total)
    entries = np.array(values, np.float64), np.array(indices, np.int64) - 1, np.array(starts)
    return np.array(coefficients, np.float64), sp.csr_array(entries, (total, width))
