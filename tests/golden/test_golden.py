"""Models that were saved once can be loaded ever after, and say what they said then."""

import json
from pathlib import Path

import numpy as np
import pytest

import pegasos

FILES = sorted(Path(__file__).parent.glob("layout-*/*.pegasos"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_golden_model_says_what_it_said(path):
    told = json.loads(path.with_suffix(".json").read_text(encoding="utf8"))
    model = pegasos.load(path)
    rows = told["rows"]
    if isinstance(rows[0], list) and isinstance(rows[0][0], float):
        rows = np.array(rows)
    elif isinstance(rows[0], list) and len(rows[0]) == 2 and isinstance(rows[0][1][0], str):
        rows = [(np.array(adjacency), labels) for adjacency, labels in rows]
    elif isinstance(rows[0], list):
        rows = [np.array(series) for series in rows]
    # Another instruction set rounds otherwise.
    exact = {"rtol": 1e-9, "atol": 1e-12}
    if "decision_function" not in told:  # numbers are predicted
        np.testing.assert_allclose(model.predict(rows), told["predict"], **exact)
        return
    decisions = np.array(told["decision_function"])
    np.testing.assert_allclose(model.decision_function(rows), decisions, **exact)
    # A score of 0 is a tie, which rounding decides.
    is_tie = np.abs(decisions) <= exact["atol"] if decisions.ndim == 1 else np.zeros(len(decisions), bool)
    assert model.predict(rows)[~is_tie].tolist() == np.array(told["predict"])[~is_tie].tolist()


def test_there_is_a_golden_model_of_every_class():
    names = {path.stem.partition("-")[2] for path in FILES}
    assert names >= {name for name in pegasos.__all__ if hasattr(getattr(pegasos, name), "save")}
    assert names >= set(pegasos.online.__all__)
