"""Fitted models of scikit-learn from those of this library, and the other way round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from pegasos.errors import PegasosError
from pegasos.export.formula import Aim, Formula, KernelTerm, check_vectors, formula_of
from pegasos.export.importing import estimator_of
from pegasos.export.pairs import by_class, by_pair
from pegasos.fitting.probability import Calibration
from pegasos.kernels import RBF, Kernel, Linear, Polynomial, Precomputed
from pegasos.tasks import OneClass, Regression


def to_sklearn(model: Any) -> Any:
    """Convert a model into a fitted scikit-learn estimator with the same decision values.

    Parameters
    ----------
    model : fitted classifier of pegasos

    Returns
    -------
    LinearSVC, SVC, or OneVsRestClassifier of SVC
        LinearSVC for a linear model (SVC if it is one-vs-one), SVC for a kernel model with two classes or one-vs-one,
        and OneVsRestClassifier for one-vs-rest with a kernel. A kernel that scikit-learn lacks is called as a function,
        and needs pegasos. Probabilities are kept where SVC supports them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import KernelPegasosClassifier
    >>> from pegasos.export import to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelPegasosClassifier(gamma=0.5, C=1.0, multi_class="ovo").fit(X, y)
    >>> same = to_sklearn(model)
    >>> type(same).__name__, bool((same.predict(X) == model.predict(X)).all())
    ('SVC', True)
    """
    formula = formula_of(model)
    coef = None if formula.terms else formula.linear_coef()
    if coef is not None and (formula.multi_class != "ovo" or formula.n_classes == 2):
        return _linear_svc(formula, coef, int(getattr(model, "n_iter_", 0)))
    term = KernelTerm(Linear(), coef, np.eye(len(coef))) if coef is not None else formula.only_term("scikit-learn")
    if not isinstance(term.kernel, Precomputed):
        check_vectors(term.kernel)
    if formula.is_pairwise:
        return _svc(formula, term)
    several = OneVsRestClassifier(SVC(**_svc_parameters(term.kernel)))
    several.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(formula.classes)
    several.estimators_ = [_svc(*_against_the_rest(formula, term, k)) for k in range(formula.n_classes)]
    if not hasattr(several, "classes_"):  # a property before 1.9
        several.classes_ = formula.classes
    several.n_features_in_ = formula.n_features
    return several


def _linear_svc(formula: Formula, coef: Any, n_iter: int) -> LinearSVC:
    aim = formula.aim
    joint = formula.multi_class == "crammer_singer" and formula.n_classes > 2
    svc = LinearSVC(
        C=_finite_c(aim),
        loss=aim.loss,
        multi_class="crammer_singer" if joint else "ovr",
        fit_intercept=aim.intercept != "none",
        intercept_scaling=aim.intercept_scaling,
    )
    svc.classes_, svc.coef_, svc.intercept_ = formula.classes, coef, formula.intercept
    return _with_features(svc, formula, n_iter)


def _with_features(svc: Any, formula: Formula, n_iter: Any) -> Any:
    svc.n_features_in_, svc.n_iter_ = formula.n_features, n_iter
    if formula.feature_names is not None:
        svc.feature_names_in_ = formula.feature_names
    return svc


def _finite_c(aim: Aim) -> float:
    return float(aim.C) if aim.C is not None and np.inf > aim.C else 1.0


def _svc_parameters(kernel: Kernel) -> dict[str, Any]:
    if isinstance(kernel, Linear):
        return {"kernel": "linear"}
    if isinstance(kernel, RBF):
        return {"kernel": "rbf", "gamma": kernel.rate}
    if isinstance(kernel, Polynomial):
        return {"kernel": "poly", "degree": kernel.degree, "gamma": kernel.gamma, "coef0": kernel.coef0}
    return {"kernel": "precomputed"} if isinstance(kernel, Precomputed) else {"kernel": kernel.block}


def _against_the_rest(formula: Formula, term: KernelTerm, k: int) -> tuple[Formula, KernelTerm]:
    """The problem of one class as that of two, 0 and 1."""
    alone = replace(
        formula, classes=np.array([0, 1]), intercept=formula.intercept[k : k + 1], calibration=None, feature_names=None
    )
    return alone, replace(term, dual_coef=term.dual_coef[k : k + 1])


def _svc(formula: Formula, term: KernelTerm) -> SVC:
    """The attributes that a fit of scikit-learn 1.6 to 1.9 leaves: coefficients class by class."""
    parameters = _svc_parameters(term.kernel)
    # Where votes tie, the sums of the scores decide here; in scikit-learn only with break_ties=True.
    svc = SVC(C=_finite_c(formula.aim), break_ties=formula.n_classes > 2, **parameters)
    places = by_class(-term.dual_coef, formula.n_classes)
    is_given = isinstance(term.kernel, Precomputed)
    support = np.empty((0, 0)) if is_given else term.support[places.numbers]
    svc._sparse = bool(sp.issparse(support)) and not callable(svc.kernel)
    svc._gamma = float(parameters.get("gamma", 0.0))
    svc.support_ = np.asarray(term.support[places.numbers] if is_given else np.arange(len(places.numbers)), np.int32)
    svc._n_support = places.n_support.astype(np.int32)
    svc.class_weight_ = np.ones(formula.n_classes)
    svc.classes_, svc.fit_status_ = formula.classes, 0
    svc.shape_fit_ = (formula.n_features if is_given else len(places.numbers), formula.n_features)
    svc._intercept_ = -formula.intercept
    svc._dual_coef_ = np.ascontiguousarray(places.dual_coef)
    if callable(svc.kernel):
        svc._BaseLibSVM__Xfit, svc.support_vectors_ = support, np.empty((0, 0))
    else:
        svc.support_vectors_ = _for_libsvm(support)
    if svc._sparse:
        svc._dual_coef_ = _full_csr(svc._dual_coef_)
    # With two classes scikit-learn shows the sign that is positive for the second, and stores the other.
    sign = -1.0 if formula.n_classes == 2 else 1.0
    svc.dual_coef_, svc.intercept_ = sign * svc._dual_coef_, sign * svc._intercept_
    svc._num_iter = np.zeros(len(formula.intercept), np.int32)
    _hand_over_probabilities(svc, formula.sigmoids)
    return _with_features(svc, formula, svc._num_iter)


def _hand_over_probabilities(svc: SVC, calibration: Calibration | None) -> None:
    if calibration is None:
        svc._probA = svc._probB = np.empty(0)
        svc._effective_probability = False
        return
    svc.probability = svc._effective_probability = True
    svc._probA, svc._probB = np.ascontiguousarray(-calibration.slopes), np.ascontiguousarray(calibration.shifts)


def _for_libsvm(support: Any) -> Any:
    """Rows in double, whose numbers have 32 bits."""
    if not sp.issparse(support):
        return np.ascontiguousarray(support, np.float64)
    rows = sp.csr_matrix(support, dtype=np.float64)
    rows.sort_indices()
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows


def _full_csr(matrix: Any) -> sp.csr_matrix:
    """Every entry written out, zeros too, in the order that LIBSVM reads them."""
    n_rows, n = matrix.shape
    return sp.csr_matrix((matrix.ravel(), np.tile(np.arange(n), n_rows), n * np.arange(n_rows + 1)), matrix.shape)


def from_sklearn(model: Any) -> Any:
    """Convert a model fitted by scikit-learn into an estimator with the same decision values.

    Parameters
    ----------
    model : fitted LinearSVC, SGDClassifier, SVC, NuSVC, LinearSVR, SVR, NuSVR or OneClassSVM
        Linear models with the hinge or the squared hinge and the L2 penalty.
        Kernel models with a linear, polynomial, RBF or precomputed kernel.

    Returns
    -------
    PegasosClassifier, PegasosRegressor, or a kernel classifier, regressor or one-class model
        With the lam or C of the model; ``certify(X, y)`` says how good it is, for the loss of the model. One-class
        models are not certified: their scores are in another unit.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.preprocessing import scale
    >>> from pegasos.export import from_sklearn
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SGDClassifier(alpha=0.01, random_state=0).fit(scale(X), y)
    >>> 0.0 < from_sklearn(model).certify(scale(X), y).relative_gap < 0.2
    True
    """
    kind = next((each for each in _readers if isinstance(model, each)), None)
    if kind is None:
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        known = ", ".join(each.__name__ for each in _readers)
        raise PegasosError(f"only {known} are read from scikit-learn, got {name}.")
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise PegasosError(f"this {type(model).__name__} is not fitted; fit it before it is read.") from error
    formula = _readers[kind](model)
    formula = replace(formula, feature_names=getattr(model, "feature_names_in_", None))
    return estimator_of(formula, f"a {type(model).__name__} of scikit-learn")


def _loss(model: Any) -> str:
    """The loss of a linear model; one with another loss or penalty would be certified for a problem it never solved."""
    if model.loss not in ("hinge", "squared_hinge"):
        raise PegasosError(f"models with loss={model.loss!r} are not read, only those with 'hinge' or 'squared_hinge'.")
    if model.penalty != "l2":
        raise PegasosError(f"models with penalty={model.penalty!r} are not read, only those with 'l2'.")
    return str(model.loss)


def _linear_formula(model: Any) -> Formula:
    if isinstance(model, SGDClassifier):
        kind = "free" if model.fit_intercept else "none"
        aim, multi_class = Aim(lam=float(model.alpha), intercept=kind, class_weight=model.class_weight), "ovr"
        aim = replace(aim, loss=_loss(model))
    else:
        kind = "regularised" if model.fit_intercept else "none"
        aim = Aim(C=model.C, intercept=kind, intercept_scaling=model.intercept_scaling, class_weight=model.class_weight)
        multi_class = model.multi_class
        aim = aim if multi_class == "crammer_singer" else replace(aim, loss=_loss(model))
    coef = np.array(model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_, np.float64)
    intercept = np.array(np.broadcast_to(model.intercept_, len(coef)), np.float64)
    return Formula(model.classes_, multi_class, coef.shape[1], intercept, coef, aim=aim)


def _svc_formula(model: Any) -> Formula:
    dual_coef = model._dual_coef_
    dual_coef = np.asarray(dual_coef.toarray() if sp.issparse(dual_coef) else dual_coef, np.float64)
    kernel = _kernel_of(model)
    support = model.support_.astype(np.intp) if isinstance(kernel, Precomputed) else model.support_vectors_
    term = KernelTerm(kernel, support, -by_pair(dual_coef, model._n_support.astype(np.intp)))
    has_probabilities = len(getattr(model, "_probA", ())) > 0
    return Formula(
        classes=model.classes_,
        multi_class="ovo",
        n_features=model.n_features_in_,
        intercept=-np.asarray(model._intercept_, np.float64),
        terms=(term,),
        calibration=Calibration(-model._probA, model._probB) if has_probabilities else None,
        aim=Aim(C=None if isinstance(model, NuSVC) else model.C, intercept="free", class_weight=model.class_weight),
    )


def _kernel_of(model: Any) -> Kernel:
    if model.kernel == "linear":
        return Linear()
    if model.kernel == "precomputed":
        return Precomputed()
    if model.kernel == "rbf":
        return RBF(float(model._gamma))
    if model.kernel == "poly":
        return Polynomial(int(model.degree), float(model._gamma), float(model.coef0))
    raise PegasosError(
        f"pegasos reads linear, poly, rbf and precomputed kernels of {type(model).__name__}, got {model.kernel!r}."
    )


def _linear_svr_formula(model: LinearSVR) -> Formula:
    kind = "regularised" if model.fit_intercept else "none"
    shape = {"epsilon": float(model.epsilon)}
    aim = Aim(C=model.C, intercept=kind, intercept_scaling=model.intercept_scaling, loss=model.loss, shape=shape)
    coef = np.array(model.coef_, np.float64, ndmin=2)
    intercept = np.array(np.broadcast_to(model.intercept_, 1), np.float64)
    return Formula(np.empty(0), Regression.name, coef.shape[1], intercept, coef, aim=aim)


def _numbers_formula(model: Any) -> Formula:
    """SVR, NuSVR and OneClassSVM: one score, dual_coef_ @ K + intercept_."""
    kernel = _kernel_of(model)
    dual_coef = model._dual_coef_
    dual_coef = np.asarray(dual_coef.toarray() if sp.issparse(dual_coef) else dual_coef, np.float64)
    support = model.support_.astype(np.intp) if isinstance(kernel, Precomputed) else model.support_vectors_
    if isinstance(model, OneClassSVM):
        task, aim = OneClass.name, Aim(intercept="free", shape={"nu": float(model.nu)})
    else:
        key = "nu" if isinstance(model, NuSVR) else "epsilon"
        shape = {key: float(getattr(model, key))}
        task, aim = Regression.name, Aim(C=model.C, intercept="free", loss="epsilon_insensitive", shape=shape)
    return Formula(
        classes=np.empty(0),
        multi_class=task,
        n_features=model.n_features_in_,
        intercept=np.asarray(model._intercept_, np.float64),
        terms=(KernelTerm(kernel, support, dual_coef),),
        aim=aim,
    )


_readers: dict[type, Callable[[Any], Formula]] = {
    LinearSVC: _linear_formula,
    SGDClassifier: _linear_formula,
    SVC: _svc_formula,
    NuSVC: _svc_formula,
    LinearSVR: _linear_svr_formula,
    SVR: _numbers_formula,
    NuSVR: _numbers_formula,
    OneClassSVM: _numbers_formula,
}
