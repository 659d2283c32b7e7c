"""The options that are parameters of the estimators."""

import argparse

import pytest

from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.cli._parameters import TASKS, add_parameter_options, model_of, parameters_of


def parsed(*words):
    parser = argparse.ArgumentParser()
    add_parameter_options(parser)
    return model_of(parser.parse_args(words))


@pytest.mark.parametrize("kind", [kind for machines in TASKS.values() for kind in machines])
def test_every_parameter_but_two_has_an_option_with_help(kind):
    parser = argparse.ArgumentParser()
    add_parameter_options(parser)
    helps = {action.dest: action.help for action in parser._actions}
    assert set(kind().get_params()) - {"warm_start", "verbose"} == set(parameters_of(kind)) <= set(helps)
    assert all(helps[name] for name in parameters_of(kind))


def test_no_option_gives_the_defaults():
    assert parsed().get_params() == PegasosClassifier().get_params()


def test_values_have_the_types_of_the_parameters():
    model = parsed(
        *("--lam", "1e-3", "--max-iter", "7", "--tol", "none", "--batch-size", "all", "--average", "tail"),
        *("--no-fit-intercept", "--class-weight", "1=5,b=0.5", "--random-state", "3", "--time-budget", "9"),
    )
    expected = {"lam": 1e-3, "max_iter": 7, "tol": None, "batch_size": "all", "average": "tail"}
    expected |= {"fit_intercept": False, "class_weight": {1.0: 5.0, "b": 0.5}, "random_state": 3, "time_budget": 9.0}
    assert {name: model.get_params()[name] for name in expected} == expected
    assert isinstance(model.max_iter, int)
    assert parsed("--batch-size", "16").batch_size == 16
    assert parsed("--average", "none").average is None
    assert parsed("--class-weight", "balanced").class_weight == "balanced"


def test_a_kernel_makes_a_kernel_machine():
    model = parsed("--kernel", "poly", "--gamma", "auto", "--degree", "2", "--C", "10", "--solver", "decomposition")
    assert isinstance(model, KernelPegasosClassifier)
    assert (model.kernel, model.gamma, model.degree, model.C) == ("poly", "auto", 2, 10.0)
