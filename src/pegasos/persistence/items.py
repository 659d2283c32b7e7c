"""What kernels compare, and the kernels themselves, as values of a model file."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import kernels
from pegasos.errors import PegasosError
from pegasos.kernels.base import Kernel
from pegasos.persistence.specs import Reader, Writer, require
from pegasos.persistence.values import Kind, anything

# Some kernels take time and memory in proportion to their integer parameters; a larger one indicates an attack.
_LARGEST_PARAMETER = 10_000
_NO_DATA = (Kernel, kernels.TokenKernel, kernels.FunctionKernel)
known_kernels: dict[str, type[Kernel]] = {
    name: member
    for name, member in vars(kernels).items()
    if isinstance(member, type) and issubclass(member, Kernel) and member not in _NO_DATA
}


def _pack_kernel(value: Kernel, what: str, out: Writer) -> dict[str, Any]:
    name = type(value).__name__
    if known_kernels.get(name) is not type(value):
        function = getattr(value, "function", None)
        whose = getattr(function, "__name__", type(function).__name__) if function is not None else name
        raise PegasosError(
            f"{what} has a kernel of your own, {whose}, and a model file holds data, never code; make the kernel of "
            "those of pegasos.kernels, compute its matrix and use kernel='precomputed', or keep the model with joblib."
        )
    given = value.get_params(deep=False)
    for parameter, each in given.items():
        _check_size(f"{parameter} of {name}", each)
    return {"name": name, "parameters": {key: anything.pack(each, f"{what}_{key}", out) for key, each in given.items()}}


def _kernel_of(stored: Mapping[str, Any], what: str, source: Reader) -> Kernel:
    name, given = stored.get("name"), stored.get("parameters")
    if not isinstance(name, str) or name not in known_kernels or not isinstance(given, dict):
        raise PegasosError(f"{what} is not a kernel of this version of pegasos, {name!r}")
    parameters = {key: anything.unpack(each, f"{what}_{key}", source) for key, each in given.items()}
    for parameter, each in parameters.items():
        _check_size(f"{parameter} of {name}", each)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user was warned when the original was created
        return known_kernels[name](**parameters)


def _check_size(what: str, value: Any) -> None:
    if isinstance(value, int | np.integer) and value > _LARGEST_PARAMETER:
        raise PegasosError(f"{what} is {value}, and a model file holds whole numbers of kernels up to 10000 only.")


def _pack_texts(value: list[Any], what: str, out: Writer) -> dict[str, Any]:
    """Concatenate into one array."""
    are_bytes = isinstance(value[0], bytes)
    encoded = value if are_bytes else [each.encode("utf-8", "surrogatepass") for each in value]
    letters = np.frombuffer(b"".join(encoded), np.uint8)
    starts = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {"bytes": are_bytes, "letters": out.array(what, letters), "starts": out.array(f"{what}_starts", starts)}


def _texts_of(stored: Mapping[str, Any], what: str, source: Reader) -> list[Any]:
    letters, starts = source.array(stored.get("letters"), what), source.array(stored.get("starts"), what)
    require(letters.dtype == np.uint8 and letters.ndim == 1, what, "a text")
    source.spend(what, letters.nbytes + starts.nbytes)
    raw = letters.tobytes()
    found = [raw[begin:end] for begin, end in _ranges(starts, len(raw), what)]
    return found if stored.get("bytes") is True else [each.decode("utf-8", "surrogatepass") for each in found]


def _pack_series(value: list[npt.NDArray[Any]], what: str, out: Writer) -> dict[str, Any]:
    starts = np.cumsum([0, *map(len, value)], dtype=np.int64)
    return {"values": out.array(what, np.concatenate(value)), "starts": out.array(f"{what}_starts", starts)}


def _series_of(stored: Mapping[str, Any], what: str, source: Reader) -> list[npt.NDArray[Any]]:
    values, starts = source.array(stored.get("values"), what), source.array(stored.get("starts"), what)
    require(values.ndim >= 1, what, "a list of series")
    source.spend(what, starts.nbytes)
    return [values[begin:end] for begin, end in _ranges(starts, len(values), what)]


def _ranges(starts: npt.NDArray[Any], length: int, what: str) -> Any:
    is_list = starts.dtype == np.int64 and starts.ndim == 1 and len(starts) > 0
    require(is_list, what, "a list of places")
    in_order = starts[0] == 0 and starts[-1] == length and bool((np.diff(starts) >= 0).all())
    require(in_order, what, "cut in order")
    places = starts.tolist()
    return pairwise(places)


def _are_texts(value: Any) -> bool:
    if type(value) is not list or not value or type(value[0]) not in (str, bytes):
        return False
    return all(type(each) is type(value[0]) for each in value)


def _are_series(value: Any) -> bool:
    if type(value) is not list or not value or type(value[0]) is not np.ndarray:
        return False
    form = value[0].dtype, value[0].shape[1:]
    are_alike = all(type(each) is np.ndarray and each.ndim and (each.dtype, each.shape[1:]) == form for each in value)
    return are_alike and form[0].kind in "biuf"


def _is_of(value: Any, module: str, *names: str) -> bool:
    """Whether its class belongs to a library that need not be installed."""
    library = sys.modules.get(module)
    return library is not None and any(type(value) is getattr(library, name, None) for name in names)


def _library_of(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def _library(name: Any, what: str, known: tuple[str, ...]) -> Any:
    """The known library that a value came from."""
    require(isinstance(name, str) and name in known, what, f"of {' or '.join(known)}")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PegasosError(f"{what} was saved from {name}, which is not installed here: pip install {name}") from error


def _pack_graph(value: Any, what: str, out: Writer) -> dict[str, Any]:
    nodes = [(node, dict(attributes)) for node, attributes in value.nodes(data=True)]
    return {"nodes": anything.pack(nodes, what, out), "edges": anything.pack(list(value.edges()), what, out)}


def _graph_of(stored: Mapping[str, Any], what: str, source: Reader) -> Any:
    graph = _library("networkx", what, ("networkx",)).Graph()
    nodes = anything.unpack(stored.get("nodes"), what, source)
    require(all(isinstance(node, tuple) and len(node) == 2 for node in nodes), what, "a graph")
    graph.add_nodes_from(nodes)
    edges = anything.unpack(stored.get("edges"), what, source)
    require(all(isinstance(edge, tuple) and len(edge) == 2 for edge in edges), what, "a graph")
    graph.add_edges_from(edges)
    require(graph.number_of_nodes() == len(nodes), what, "a graph whose edges join its nodes")
    return graph


def _column(values: Any) -> Any:
    """Numbers as an array, anything else as a list."""
    array = values.to_numpy()
    return array if array.dtype.kind in "biuf" else values.tolist() if hasattr(values, "tolist") else values.to_list()


def _pack_frame(value: Any, what: str, out: Writer) -> dict[str, Any]:
    columns = [[name, _column(value[name])] for name in value.columns]
    return {"library": _library_of(value), "columns": anything.pack(columns, what, out)}


def _frame_of(stored: Mapping[str, Any], what: str, source: Reader) -> Any:
    columns = anything.unpack(stored.get("columns"), what, source)
    require(isinstance(columns, list), what, "a list of columns")
    require(all(isinstance(column, list) and len(column) == 2 for column in columns), what, "a list of columns")
    require(len({len(values) for _, values in columns}) <= 1, what, "a frame with columns of one length")
    source.spend(what, sum(getattr(values, "nbytes", 0) for _, values in columns))
    return _library(stored.get("library"), what, ("pandas", "polars")).DataFrame(dict(columns))


def _column_of(stored: Mapping[str, Any], what: str, source: Reader) -> Any:
    values = anything.unpack(stored.get("values"), what, source)
    require(isinstance(values, list | np.ndarray), what, "a column")
    source.spend(what, getattr(values, "nbytes", 0))
    return _library(stored.get("library"), what, ("pandas", "polars")).Series(values)


anything.kinds |= {
    "kernel": Kind(lambda value: isinstance(value, Kernel), _pack_kernel, _kernel_of),
    "texts": Kind(_are_texts, _pack_texts, _texts_of),
    "series": Kind(_are_series, _pack_series, _series_of),
    "graph": Kind(lambda value: _is_of(value, "networkx", "Graph"), _pack_graph, _graph_of),
    "frame": Kind(
        lambda value: _is_of(value, "pandas", "DataFrame") or _is_of(value, "polars", "DataFrame"),
        _pack_frame,
        _frame_of,
    ),
    "column": Kind(
        lambda value: _is_of(value, "pandas", "Series") or _is_of(value, "polars", "Series"),
        lambda value, what, out: {"library": _library_of(value), "values": anything.pack(_column(value), what, out)},
        _column_of,
    ),
}
