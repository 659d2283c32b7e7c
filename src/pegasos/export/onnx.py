"""Models as ONNX graphs, of operators that every runtime has (ai.onnx, opset 17).

Input ``X`` (rows, features). Outputs ``label``; ``scores``, the decision values; and, where the model has them,
``probabilities``. A regressor has the output ``prediction``. How good the model is proved to be is in the
metadata of the file.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from pegasos.errors import PegasosError
from pegasos.export.formula import Formula, formula_of, formula_of_numbers, predicts_numbers
from pegasos.export.onnx_graph import Graph, Output, kernel_values, onnx_helper
from pegasos.export.onnx_pipeline import with_steps
from pegasos.export.text import Path, write_bytes
from pegasos.tasks import pairs_of

_LARGEST_FILE = 2**31 - 1  # bytes of a protocol buffer
_LEAST_PROBABILITY = 1e-7  # of a pair


def to_onnx(
    model: Any, path: Path | None = None, *, dtype: Any = np.float32, example: Any = None, locale: str = "C.UTF-8"
) -> Any:
    """Write a model as an ONNX file, which predicts without Python.

    Parameters
    ----------
    model : fitted classifier, regressor or one-class model of pegasos, or a pipeline or search that ends in one
        Linear models, and kernels on numeric vectors, including their sums and products; online learners; every
        ``multi_class``; probabilities; a prior that is linear or a pegasos model. The other steps of a pipeline
        (scalers, encoders, imputers, ColumnTransformer, TfidfVectorizer, ...) need skl2onnx.
    path : path, optional
        The file, written atomically.
    dtype : float32 or float64, default=float32
        The type of ``X``, of the arithmetic and of the scores. In single precision, scores differ in their last digits,
        and a sample on the boundary may change its class.
    example : frame, array or list of texts, optional
        A few samples in the form that the pipeline reads, if its input is not a numeric matrix. Each column of a frame
        becomes an input of shape (rows, 1) with the column's name; texts become an input ``X`` of shape (rows,).
    locale : str, default="C.UTF-8"
        The locale in which a pipeline lowercases text. The machine that predicts must have it.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.export import to_onnx
    >>> proto = to_onnx(PegasosClassifier(lam=0.1, random_state=0).fit([[0.0], [1.0]], [0, 1]))
    >>> [output.name for output in proto.graph.output]
    ['label', 'scores']
    """
    onnx_helper()
    narrow = np.dtype(dtype)
    if narrow not in (np.float32, np.float64):
        raise PegasosError(f"dtype must be float32 or float64, got {dtype!r}.")
    model = getattr(model, "best_estimator_", model)
    pipeline = model if isinstance(model, Pipeline) else None
    proto = _graph_of(model if pipeline is None else pipeline.steps[-1][1], narrow)
    if pipeline is not None and len(pipeline.steps) > 1:
        proto = with_steps(proto, pipeline, example, narrow, locale)
    if proto.ByteSize() > _LARGEST_FILE:
        raise PegasosError(f"an ONNX file holds 2 GB, and the model has {proto.ByteSize() / 2**30:.1f}; use to_json.")
    if path is not None:
        write_bytes(path, proto.SerializeToString())
    return proto


def _graph_of(model: Any, dtype: np.dtype[Any]) -> Any:
    """The graph of a machine, from rows of numbers on."""
    helper = onnx_helper()
    graph = Graph(dtype)
    if predicts_numbers(model):
        formula = formula_of_numbers(model)
        outputs, types = _numbers(graph, formula, is_matrix=getattr(model.fitted_.task, "is_matrix", False))
    else:
        formula = formula_of(model)
        outputs, types = _classes(graph, formula)
    proto = graph.model([("X", [None, formula.n_features])], outputs, types)
    helper.set_model_props(proto, _facts(formula))
    return proto


def _numbers(graph: Graph, formula: Formula, *, is_matrix: bool) -> tuple[list[Output], dict[str, int]]:
    """The predictions of a regressor; the scores of one class, and on which side of its edge they are."""
    scores = _scores(graph, formula)
    if is_matrix:
        return [(graph.named("prediction", "Identity", scores), [None, len(formula.intercept)])], {}
    alone = graph.add("Squeeze", scores, graph.constant(np.array([1])))
    if formula.multi_class != "one_class":
        return [(graph.named("prediction", "Identity", alone), [None])], {}
    is_inside = graph.cast(graph.add("Less", alone, graph.number(0.0)), np.int64)
    sides = graph.constant(np.array([1, -1]))
    outputs: list[Output] = [
        (graph.named("label", "Gather", sides, is_inside), [None]),
        (graph.named("scores", "Identity", alone), [None]),
    ]
    return outputs, {"label": onnx_helper().np_dtype_to_tensor_dtype(np.dtype(np.int64))}


def _classes(graph: Graph, formula: Formula) -> tuple[list[Output], dict[str, int]]:
    """The label, the decision values and, where the model has them, the probabilities."""
    problems = _scores(graph, formula)
    decisions, winners = _decide(graph, problems, formula)
    rows = None
    outputs: list[Output] = [
        (graph.named("label", "Gather", graph.constant(_labels(formula.classes)), winners), [rows]),
        (graph.named("scores", "Identity", decisions), [rows] if formula.n_classes == 2 else [rows, formula.n_classes]),
    ]
    if formula.sigmoids is not None:
        found = _probabilities(graph, problems, formula)
        outputs.append((graph.named("probabilities", "Identity", found), [rows, formula.n_classes]))
    return outputs, {"label": onnx_helper().np_dtype_to_tensor_dtype(_label_type(formula))}


def _labels(classes: npt.NDArray[Any]) -> npt.NDArray[Any]:
    kind = classes.dtype.kind
    if kind in "iu":
        return classes.astype(np.int64)
    if kind in "fb":
        return classes
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    raise PegasosError(f"labels of ONNX are strings or numbers, got {classes.tolist()[0]!r}; encode y first.")


def _label_type(formula: Formula) -> np.dtype[Any]:
    return np.dtype(_labels(formula.classes).dtype)


def _facts(formula: Formula) -> dict[str, str]:
    facts = {"written_by": f"pegasos {version('pegasos')}", "multi_class": formula.multi_class}
    proof = formula.certificate
    if proof is not None:
        numbers = {"primal": proof.primal, "dual": proof.dual, "gap": proof.gap, "relative_gap": proof.relative_gap}
        facts |= {key: repr(float(value)) for key, value in numbers.items()} | {"certificate": str(proof)}
    return facts


def _scores(graph: Graph, formula: Formula) -> str:
    """The scores, with one column per problem."""
    coef = formula.linear_coef()
    if coef is not None:
        return graph.add("Add", graph.add("MatMul", "X", graph.number(coef.T)), graph.number(formula.intercept))
    parts = [] if formula.coef is None else [graph.add("MatMul", "X", graph.number(formula.coef.T))]
    for term in formula.terms:
        values = kernel_values(graph, term, formula.n_features)
        parts.append(graph.add("MatMul", values, graph.number(term.dual_coef.T)))
    total = graph.number(formula.intercept)
    for part in parts:
        total = graph.add("Add", part, total)
    return total


def _decide(graph: Graph, scores: str, formula: Formula) -> tuple[str, str]:
    """The decision values, and the number of the class."""
    if formula.n_classes == 2:
        decisions = graph.add("Squeeze", scores, graph.constant(np.array([1])))
        return decisions, graph.cast(graph.add("Greater", decisions, graph.number(0.0)), np.int64)
    decisions = _votes(graph, scores, formula.n_classes) if formula.multi_class == "ovo" else scores
    return decisions, graph.add("ArgMax", decisions, axis=1, keepdims=0)


def _votes(graph: Graph, scores: str, n_classes: int) -> str:
    """Votes; where they tie, the sums of the scores decide, squeezed to less than a third of a vote."""
    first, second = _membership(n_classes)
    is_second = graph.cast(graph.add("Greater", scores, graph.number(0.0)), graph.dtype)
    is_first = graph.add("Sub", graph.number(1.0), is_second)
    votes = graph.add(
        "Add",
        graph.add("MatMul", is_second, graph.number(second)),
        graph.add("MatMul", is_first, graph.number(first)),
    )
    sums = graph.add("MatMul", scores, graph.number(second - first))
    scale = graph.add("Mul", graph.add("Add", graph.add("Abs", sums), graph.number(1.0)), graph.number(3.0))
    return graph.add("Add", votes, graph.add("Div", sums, scale))


def _membership(n_classes: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Which class is the first of each pair, and which the second."""
    pairs = np.array(pairs_of(n_classes))
    return np.eye(n_classes)[pairs[:, 0]], np.eye(n_classes)[pairs[:, 1]]


def _probabilities(graph: Graph, scores: str, formula: Formula) -> str:
    sigmoids, n_classes = formula.sigmoids, formula.n_classes
    assert sigmoids is not None
    if formula.multi_class == "crammer_singer" and n_classes > 2:
        scores = _lead(graph, scores)
    raised = graph.add("Mul", scores, graph.number(sigmoids.slopes))
    found = graph.add("Sigmoid", graph.add("Add", raised, graph.number(sigmoids.shifts)))
    if n_classes == 2:
        return graph.add("Concat", graph.add("Sub", graph.number(1.0), found), found, axis=1)
    if formula.multi_class == "ovo":
        return _coupled(graph, found, n_classes)
    return graph.add("Div", found, graph.sum(found, 1))


def _lead(graph: Graph, scores: str) -> str:
    """By how much each class is ahead of the best other."""
    best = graph.add("TopK", scores, graph.constant(np.array([2])), axis=1, n_outputs=2)
    first = graph.add("Slice", best, *(graph.constant(np.array([k])) for k in (0, 1, 1)))
    second = graph.add("Slice", best, *(graph.constant(np.array([k])) for k in (1, 2, 1)))
    return graph.add("Sub", scores, graph.add("Where", graph.add("Equal", scores, first), second, first))


def _coupled(graph: Graph, of_second: str, n_classes: int) -> str:
    """The p of sum 1 with the least sum over pairs of (r_ji p_i - r_ij p_j)^2, by Wu, Lin and Weng.

    With the matrix Q of that sum, Q p is the same for all classes: p is u over its sum, where (Q + 1 1') u = 1. That
    matrix is positive definite, so elimination needs no pivots. It is done in double.
    """
    low, high = graph.constant(np.array(_LEAST_PROBABILITY)), graph.constant(np.array(1.0 - _LEAST_PROBABILITY))
    second = graph.add("Clip", graph.cast(of_second, np.float64), low, high)
    first = graph.add("Sub", graph.constant(np.array(1.0)), second)
    to_first, to_second = _membership(n_classes)
    diagonal = graph.add(
        "Add",
        graph.add("MatMul", graph.add("Mul", second, second), graph.constant(to_first)),
        graph.add("MatMul", graph.add("Mul", first, first), graph.constant(to_second)),
    )
    # Rows of K + 1 numbers, the last of them the right side, one below the other in one row of the product.
    places = np.eye(n_classes * (n_classes + 1)).reshape(n_classes, n_classes + 1, -1)[:, :n_classes]
    beside = np.array([-places[i, j] - places[j, i] for i, j in pairs_of(n_classes)])
    on_diagonal = places[np.arange(n_classes), np.arange(n_classes)]
    system = graph.add(
        "Add",
        graph.add("MatMul", graph.add("Mul", first, second), graph.constant(beside)),
        graph.add("MatMul", diagonal, graph.constant(on_diagonal)),
    )
    system = graph.add("Add", system, graph.constant(np.array(1.0)))
    system = graph.add("Reshape", system, graph.constant(np.array([-1, n_classes, n_classes + 1])))
    for k in range(n_classes):
        system = _eliminated(graph, system, k, n_classes)
    last = graph.add("Slice", system, *(graph.constant(np.array([k])) for k in (n_classes, n_classes + 1, 2)))
    found = graph.add("Relu", graph.add("Squeeze", last, graph.constant(np.array([2]))))
    return graph.cast(graph.add("Div", found, graph.sum(found, 1)), graph.dtype)


def _eliminated(graph: Graph, system: str, k: int, n: int) -> str:
    """One step of Gauss and Jordan: row k over its pivot, and so much of it off every other row."""
    at, after, one, two = (graph.constant(np.array([number])) for number in (k, k + 1, 1, 2))
    row = graph.add("Slice", system, at, after, one)
    column = graph.add("Slice", system, at, after, two)
    pivot = graph.add("Slice", row, at, after, two)
    unit = graph.constant(np.eye(n)[k].reshape(1, n, 1))
    share = graph.add("Div", row, pivot)
    return graph.add("Sub", system, graph.add("Mul", graph.add("Sub", column, unit), share))
