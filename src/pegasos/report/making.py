"""From a fitted model and rows to a page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from pegasos.errors import PegasosError
from pegasos.files import atomically
from pegasos.report.outcome import walk
from pegasos.report.page import render
from pegasos.report.subject import subject_of

_NOTEBOOK_HEIGHT = 640


@dataclass(frozen=True, repr=False)
class Report:
    """An HTML page about a model; a notebook displays it in a frame.

    Attributes
    ----------
    title : str
    html : str
        The whole page.

    Examples
    --------
    >>> from pegasos import PegasosClassifier, report
    >>> model = PegasosClassifier(lam=0.1, random_state=0).fit([[0.0], [1.0]], [0, 1])
    >>> page = report.make(model, [[0.1], [0.9]], [0, 1], title="Two points")
    >>> page.title, page.html.startswith("<!")
    ('Two points', True)
    """

    title: str
    html: str

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, atomically, and return its path."""
        goal = check_path(path)
        with atomically(goal) as file:
            file.write(self.html.encode("utf-8", "replace"))  # names of files may be no text
        return goal

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html) / 1000:.0f} kB)"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" width="100%" '
            f'height="{_NOTEBOOK_HEIGHT}"></iframe>'
        )


def make(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    title: str | None = None,
    trained_on: str | None = None,
    feature_names: Any = None,
) -> Report:
    """Make an HTML page about a fitted model and its results on the given data.

    Parameters
    ----------
    estimator : fitted certified classifier, regressor or one-class model, AutoPegasos or AutoPegasosRegressor
        Or a Pipeline that ends in one of them; X is then what the pipeline takes.
    X : data, as in `predict`
        Preferably held-out data; the page says whether it is the training data.
    y : array of shape (n_rows,), or (n_rows, n_targets); optional for a one-class model
        The classes or targets. For a one-class model, 1 for samples that belong and -1 for the others.
    title : str, optional
    trained_on : str, optional
        A description of the training data.
    feature_names : list of str, optional
        Names of the columns that the model itself receives; by default those of the fit or of the pipeline.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from pegasos import PegasosClassifier, report
    >>> data = load_breast_cancer()
    >>> model = PegasosClassifier(lam=1e-3, random_state=0).fit(scale(data.data), data.target)
    >>> page = report.make(model, scale(data.data), data.target, feature_names=data.feature_names)
    >>> "of the best possible" in page.html
    True
    """
    subject = subject_of(estimator, X, y, title=title, trained_on=trained_on, feature_names=feature_names)
    return Report(subject.title, render(subject, walk(subject)))


def write(
    estimator: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    trained_on: str | None = None,
    feature_names: Any = None,
) -> Path:
    """Write the page of `make` to a file, and return its path.

    Parameters
    ----------
    estimator, X, y, title, trained_on, feature_names
        As in `make`.
    path : path
        The file to write, such as "report.html".

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos import PegasosClassifier, report
    >>> model = PegasosClassifier(lam=0.1, random_state=0).fit([[0.0], [1.0]], [0, 1])
    >>> path = report.write(model, [[0.1], [0.9]], [0, 1], pathlib.Path(tempfile.mkdtemp()) / "report.html")
    >>> path.name
    'report.html'
    """
    check_path(path)  # before the work
    return make(estimator, X, y, title=title, trained_on=trained_on, feature_names=feature_names).write(path)


def check_path(path: Any) -> Path:
    """Return the path if a page can be written there; raise an error otherwise.

    Parameters
    ----------
    path : path
        The file to write.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos import report
    >>> report.check_path(pathlib.Path(tempfile.mkdtemp()) / "report.html").name
    'report.html'
    """
    if not isinstance(path, str | os.PathLike):
        raise PegasosError(f"path must name a file, such as 'report.html', got {path!r}.")
    goal = Path(path)
    if goal.is_dir():
        raise PegasosError(f"{goal} is a folder; give the name of a file in it, such as {goal / 'report.html'}.")
    if not goal.parent.is_dir():
        raise PegasosError(f"the folder of {goal} does not exist; make it first.")
    return goal
