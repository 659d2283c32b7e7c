"""Pipelines as ONNX graphs: scikit-learn's steps by skl2onnx, the machine at the end by `onnx.py`, joined into one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pegasos.errors import PegasosError
from pegasos.export.onnx_graph import ir_version, onnx_helper, opset

_OPSETS = {"": opset, "ai.onnx.ml": 3}  # of ONNX 1.12; encoders and scalers are in the second domain
_OF_STEPS = "steps_"  # in front of the names within the part of skl2onnx


def with_steps(machine: Any, pipeline: Pipeline, example: Any, dtype: np.dtype[Any], locale: str) -> Any:
    """The graph of the machine behind those of the steps before it; the metadata are the machine's."""
    from onnx import checker, compose

    head = _converted(pipeline[:-1], example, dtype, locale)
    (features,) = [output.name for output in head.graph.output]
    inputs = {each.name for each in head.graph.input}
    head = compose.add_prefix(head, _OF_STEPS, rename_inputs=False, rename_outputs=False)
    if features in inputs:
        raise PegasosError("the steps of the pipeline change nothing; give to_onnx the machine alone.")
    # The rows of the machine are what the steps make of theirs, and may not have the name of their input.
    machine = compose.add_prefix(machine, "machine_", rename_outputs=False)
    head.ir_version = machine.ir_version = ir_version
    facts = {entry.key: entry.value for entry in machine.metadata_props}
    # skl2onnx writes the operators of the opset asked for, and then states the lowest one that has all of them.
    versions = {each.domain: each.version for proto in (head, machine) for each in proto.opset_import} | _OPSETS
    del head.metadata_props[:], machine.metadata_props[:]
    for proto in (head, machine):
        del proto.opset_import[:]
        for domain, version in versions.items():
            proto.opset_import.add(domain=domain, version=version)
    joined = compose.merge_models(head, machine, io_map=[(features, "machine_X")], name="pegasos")
    for key, value in facts.items():
        joined.metadata_props.add(key=key, value=value)
    joined.producer_name = "pegasos"
    checker.check_model(joined)
    return joined


def _converted(steps: Pipeline, example: Any, dtype: np.dtype[Any], locale: str) -> Any:
    try:
        from skl2onnx import convert_sklearn
    except ImportError as error:
        raise ImportError(
            'the steps of a pipeline become ONNX by skl2onnx: pip install "pegasos[onnx]", or give to_onnx '
            "the last step alone."
        ) from error
    types = _input_types(steps, example, dtype)
    try:
        proto = convert_sklearn(steps, initial_types=types, target_opset=_OPSETS)
    except (RuntimeError, NotImplementedError) as error:
        raise PegasosError(f"skl2onnx has no form for the steps of the pipeline: {error}") from error
    for node in proto.graph.node:
        if node.op_type == "StringNormalizer":
            others = [attribute for attribute in node.attribute if attribute.name != "locale"]
            del node.attribute[:]
            node.attribute.extend([*others, onnx_helper().make_attribute("locale", locale)])
    return proto


def _input_types(steps: Pipeline, example: Any, dtype: np.dtype[Any]) -> list[tuple[str, Any]]:
    """One input for each column of a frame, otherwise X."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType

    numbers = FloatTensorType if dtype == np.float32 else DoubleTensorType
    if hasattr(example, "columns"):
        return [
            (str(name), (numbers if _holds_numbers(example[name]) else StringTensorType)([None, 1]))
            for name in example.columns
        ]
    n_features = getattr(steps, "n_features_in_", None)
    if example is None and n_features is None:
        raise PegasosError("to_onnx needs an example of what the pipeline reads: give example=X[:10].")
    if example is None or np.asarray(example).ndim == 2:
        n_features = n_features or np.asarray(example).shape[1]
        return [("X", numbers([None, n_features]))]
    return [("X", StringTensorType([None]))]


def _holds_numbers(column: Any) -> bool:
    return np.asarray(column).dtype.kind in "biuf"
