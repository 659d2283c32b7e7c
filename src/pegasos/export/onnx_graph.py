"""The nodes of an ONNX graph, one call each; and the kernels as nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.export.formula import KernelTerm, dense_support
from pegasos.kernels import (
    RBF,
    ChiSquared,
    Exp,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Power,
    Product,
    Scaled,
    Sum,
)

opset, ir_version = 17, 8  # of ONNX 1.12: what came later is not needed

Output = tuple[str, Sequence[int | None]]


def onnx_helper() -> Any:
    """`onnx.helper`, where onnx is installed."""
    try:
        from onnx import helper
    except ImportError as error:
        raise ImportError('ONNX files are written with onnx: pip install "pegasos[onnx]".') from error
    return helper


class Graph:
    """Nodes and constants as they are added; arithmetic is in one type."""

    def __init__(self, dtype: np.dtype[Any]):
        self.dtype = dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, n_outputs: int = 1, **attributes: Any) -> str:
        """A node; returns the name of its first output."""
        return self.named(f"{operator}_{len(self.nodes)}", operator, *inputs, n_outputs=n_outputs, **attributes)

    def named(self, name: str, operator: str, *inputs: str, n_outputs: int = 1, **attributes: Any) -> str:
        """A node whose first output has this name."""
        outputs = [name, *(f"{name}_{k}" for k in range(1, n_outputs))]
        self.nodes.append(onnx_helper().make_node(operator, inputs, outputs, **attributes))
        return name

    def constant(self, array: npt.NDArray[Any]) -> str:
        """Numbers or strings of the type that they have."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def number(self, values: Any) -> str:
        """Numbers in the type of the arithmetic."""
        with np.errstate(over="ignore"):
            array = np.asarray(values, np.float64).astype(self.dtype)
        if not np.isfinite(array).all():
            raise PegasosError(f"the model has numbers that {self.dtype} cannot hold; use dtype='float64'.")
        return self.constant(array)

    def cast(self, value: str, dtype: npt.DTypeLike) -> str:
        """The same in another type."""
        return self.add("Cast", value, to=int(onnx_helper().np_dtype_to_tensor_dtype(np.dtype(dtype))))

    def sum(self, value: str, axis: int) -> str:
        """Along an axis, which stays with length 1."""
        return self.add("ReduceSum", value, self.constant(np.array([axis])), keepdims=1)

    def model(self, inputs: Sequence[Output], outputs: Sequence[Output], types: Mapping[str, int]) -> Any:
        """The whole, checked; the type of what has none of its own is that of the arithmetic."""
        import onnx

        helper = onnx_helper()
        own = helper.np_dtype_to_tensor_dtype(self.dtype)

        def described(values: Sequence[Output]) -> list[Any]:
            return [
                helper.make_tensor_value_info(
                    name, types.get(name, own), ["rows" if size is None else size for size in shape]
                )
                for name, shape in values
            ]

        graph = helper.make_graph(self.nodes, "pegasos", described(inputs), described(outputs), self.constants)
        model = helper.make_model(graph, producer_name="pegasos", opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = ir_version
        onnx.checker.check_model(model)
        return model


def kernel_values(graph: Graph, term: KernelTerm, n_features: int) -> str:
    """k(x, z_j) of every row with every support vector."""
    return _values(graph, term.kernel, dense_support(term, n_features))


def _values(graph: Graph, kernel: Kernel, support: npt.NDArray[np.float64]) -> str:
    if isinstance(kernel, Sum | Product):
        sides = (_values(graph, inner, support) for inner in (kernel.left, kernel.right))
        return graph.add("Add" if isinstance(kernel, Sum) else "Mul", *sides)
    if isinstance(kernel, Scaled):
        return graph.add("Mul", _values(graph, kernel.kernel, support), graph.number(kernel.factor))
    if isinstance(kernel, Power):
        return graph.add("Pow", _values(graph, kernel.kernel, support), graph.number(kernel.exponent))
    if isinstance(kernel, Exp):
        return graph.add("Exp", _values(graph, kernel.kernel, support))
    return _simple_values(graph, kernel, support)


def _simple_values(graph: Graph, kernel: Kernel, support: npt.NDArray[np.float64]) -> str:
    if isinstance(kernel, Linear):
        return graph.add("MatMul", "X", graph.number(support.T))
    if isinstance(kernel, Polynomial):
        products = graph.add("MatMul", "X", graph.number(kernel.gamma * support.T))
        return graph.add("Pow", graph.add("Add", products, graph.number(kernel.coef0)), graph.number(kernel.degree))
    if isinstance(kernel, RBF):
        return _radial(graph, kernel.rate, support)
    if isinstance(kernel, Laplacian | ChiSquared | Intersection):
        return _of_features(graph, kernel, support)
    raise PegasosError(f"{kernel} has no ONNX form; kernels of numbers, their sums and products have.")


def _radial(graph: Graph, rate: float, support: npt.NDArray[np.float64]) -> str:
    """exp(-rate |x - z|^2) by one product; seen from the middle of the support, little is lost to rounding."""
    centre = support.mean(axis=0)
    near = support - centre
    rows = graph.add("Sub", "X", graph.number(centre))
    squares = graph.sum(graph.add("Mul", rows, rows), 1)
    products = graph.add("MatMul", rows, graph.number(2.0 * near.T))
    lengths = graph.number(np.square(near).sum(axis=1))
    distances = graph.add("Sub", graph.add("Add", squares, lengths), products)
    return graph.add("Exp", graph.add("Mul", graph.add("Relu", distances), graph.number(-rate)))


def _of_features(graph: Graph, kernel: Kernel, support: npt.NDArray[np.float64]) -> str:
    """A term for each feature, rows x support x features at once, and their sum."""
    rows = graph.add("Unsqueeze", "X", graph.constant(np.array([1])))
    others = graph.number(support[np.newaxis])
    if isinstance(kernel, Intersection):
        terms = graph.add("Min", rows, others)
    else:
        apart = graph.add("Sub", rows, others)
        terms = graph.add("Abs", apart)
        if isinstance(kernel, ChiSquared):
            together = graph.add("Add", rows, others)
            # A bin that is empty in both counts 0, whatever it is divided by.
            some = graph.add("Where", graph.add("Greater", together, graph.number(0.0)), together, graph.number(1.0))
            terms = graph.add("Div", graph.add("Mul", apart, apart), some)
    sums = graph.add("ReduceSum", terms, graph.constant(np.array([2])), keepdims=0)
    if isinstance(kernel, Laplacian | ChiSquared):
        return graph.add("Exp", graph.add("Mul", sums, graph.number(-kernel.gamma)))
    return sums
