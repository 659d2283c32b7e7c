"""Parameters that estimators share are declared once, and everybody who reads a signature or a docstring finds them."""

import inspect
import re

import pytest
from sklearn.base import clone

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV
from pegasos.estimators.parameters import ClassificationParameters, CommonParameters

ESTIMATORS = [PegasosClassifier, KernelPegasosClassifier, PegasosClassifierCV]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_signature_parameters_and_docstring_name_the_same(estimator):
    signature = inspect.signature(estimator)
    assert sorted(signature.parameters) == sorted(estimator().get_params(deep=False))
    section = re.search(r"Parameters\n-+\n(.*?)\n\nAttributes", inspect.getdoc(estimator), re.DOTALL)[1]
    names = [name for line in re.findall(r"^(\w[\w, ]*?)(?: : .*)?$", section, re.M) for name in line.split(", ")]
    assert sorted(names) == sorted(signature.parameters)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_only_the_first_parameter_is_positional(estimator):
    first, *others = inspect.signature(estimator).parameters.values()
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert {other.kind for other in others} == {inspect.Parameter.KEYWORD_ONLY}


def test_help_of_the_kernel_machine_has_the_text_of_the_linear_one():
    text = inspect.getdoc(KernelPegasosClassifier)
    assert "As in `PegasosClassifier`" not in text
    assert "Factor on the loss of each class" in text
    assert 'class_weight : dict, "balanced" or None, default=None' in text


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_are_declared_once(estimator):
    """An estimator may give a shared parameter another default, or make it positional; that is all."""
    own = set(vars(estimator).get("__annotations__", {}))
    shared = set(ClassificationParameters.__dataclass_fields__)
    if issubclass(estimator, ClassificationParameters):
        assert own & shared <= {"lam", "max_iter"}
    else:
        assert own & set(CommonParameters.__dataclass_fields__) <= {"max_iter"}
    assert clone(estimator(tol=0.5)).tol == 0.5


def test_what_needs_all_rows_at_once_is_not_offered_by_cross_validation():
    assert not hasattr(PegasosClassifierCV(), "partial_fit")
    assert not hasattr(PegasosClassifierCV(), "fit_source")
