"""Values whose kind the file names: parameters of estimators and kernels, and the items that a kernel compares.

Numbers, words and lists are JSON. Everything else is a JSON object with the name of a kind from one table; a name that
is not in the table is rejected, and nothing in a file can add to the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.persistence.specs import Reader, Writer, require

_WORD = "is"  # the key that names the kind


class Kind(NamedTuple):
    """One kind of value: what belongs to it, how it is written, and how it is read."""

    includes: Callable[[Any], bool]
    pack: Callable[[Any, str, Writer], Mapping[str, Any]]
    unpack: Callable[[Mapping[str, Any], str, Reader], Any]


class Anything:
    """A value of any of the kinds in the table."""

    def __init__(self) -> None:
        self.kinds: dict[str, Kind] = {}

    def pack(self, value: Any, what: str, out: Writer) -> Any:
        """Plain values unchanged, others with the name of their kind."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        for word, kind in self.kinds.items():
            if kind.includes(value):
                return {_WORD: word, **kind.pack(value, what, out)}
        if type(value) is list:
            return [self.pack(each, f"{what}_{number}", out) for number, each in enumerate(value)]
        raise PegasosError(
            f"{what} is {_described(value)}, which a model file cannot hold; {_remedy(value)}, or keep the model with "
            "joblib or skops."
        )

    def unpack(self, stored: Any, what: str, source: Reader) -> Any:
        """Unpack a value."""
        if stored is None or isinstance(stored, bool | int | float | str):
            return stored
        if isinstance(stored, list):
            return [self.unpack(each, f"{what}_{number}", source) for number, each in enumerate(stored)]
        word = stored.get(_WORD)
        if not isinstance(word, str) or word not in self.kinds:
            raise PegasosError(f"{what} is of a kind that this version of pegasos does not support, {word!r}")
        return self.kinds[word].unpack(stored, what, source)


anything = Anything()


class Shared:
    """A value that several attributes may share: it is stored once, and restored as one object.

    Only whole attributes are shared, never parts of them: with nested lists, a short file could create objects larger
    than any memory.
    """

    def pack(self, value: Any, what: str, out: Writer) -> Any:
        """The value, or the number of the shared one."""
        number = out.number_of(value)
        if number is not None:
            return {_WORD: "same", "number": number}
        packed = anything.pack(value, what, out)
        if not (value is None or isinstance(value, bool | int | float | str)):
            out.remember(value)
        return packed

    def unpack(self, stored: Any, what: str, source: Reader) -> Any:
        """The value, or an earlier one."""
        if isinstance(stored, dict) and stored.get(_WORD) == "same":
            number = stored.get("number")
            require(type(number) is int and 0 <= number < len(source.seen), what, "something that came before")
            return source.seen[int(stored["number"])]
        value = anything.unpack(stored, what, source)
        if not (value is None or isinstance(value, bool | int | float | str)):
            source.seen.append(value)
        return value


def _described(value: Any) -> str:
    name = getattr(value, "__name__", None)
    if isinstance(value, type):
        return f"the class {name}"
    return f"a function of your own, {name}" if callable(value) and name else f"a {type(value).__name__}"


def _remedy(value: Any) -> str:
    if callable(value):
        return (
            "it holds data, never code: make a kernel of those of pegasos.kernels or compute its matrix "
            "(kernel='precomputed'), and name a score by its word"
        )
    return "give it in plain numbers, words, arrays and lists, or set it to None before saving"


def _tuple_of(stored: Mapping[str, Any], what: str, source: Reader) -> tuple[Any, ...]:
    require(isinstance(stored.get("items"), list), what, "a tuple")
    return tuple(anything.unpack(each, f"{what}_{number}", source) for number, each in enumerate(stored["items"]))


def _pack_dict(value: dict[Any, Any], what: str, out: Writer) -> dict[str, Any]:
    pairs = [
        [anything.pack(key, f"{what}_key", out), anything.pack(each, f"{what}_{key}", out)]
        for key, each in value.items()
    ]
    return {"pairs": pairs}


def _dict_of(stored: Mapping[str, Any], what: str, source: Reader) -> dict[Any, Any]:
    pairs = stored.get("pairs")
    require(isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs), what, "pairs")
    return {anything.unpack(key, what, source): anything.unpack(each, what, source) for key, each in pairs or []}


_scalars = {np.dtype(word).name: np.dtype(word).type for word in ("?", *"bhilqBHILQ", *"efd")} | {"str": np.str_}


def _scalar_of(stored: Mapping[str, Any], what: str, source: Reader) -> Any:
    word, value = stored.get("dtype"), stored.get("value")
    require(isinstance(word, str) and word in _scalars and isinstance(value, bool | int | float | str), what, "a value")
    return _scalars[str(word)](value)


def _array_of(stored: Mapping[str, Any], what: str, source: Reader) -> npt.NDArray[Any]:
    array = source.array(stored.get("array"), what)
    if array.dtype.kind == "U":
        source.spend(what, array.nbytes)
        array.tolist()  # raises ValueError for an invalid character
    return array


def _pack_objects(value: npt.NDArray[Any], what: str, out: Writer) -> dict[str, Any]:
    return {"items": anything.pack(value.tolist(), what, out)}


def _objects_of(stored: Mapping[str, Any], what: str, source: Reader) -> npt.NDArray[Any]:
    items = anything.unpack(stored.get("items"), what, source)
    require(isinstance(items, list), what, "a list of objects")
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _pack_structured(value: npt.NDArray[Any], what: str, out: Writer) -> dict[str, Any]:
    names = value.dtype.names or ()
    return {"fields": [[name, anything.pack(value[name].copy(), f"{what}_{name}", out)] for name in names]}


def _structured_of(stored: Mapping[str, Any], what: str, source: Reader) -> npt.NDArray[Any]:
    fields = stored.get("fields")
    require(isinstance(fields, list) and len(fields) > 0, what, "a list of fields")
    columns = [(str(name), np.asarray(anything.unpack(values, what, source))) for name, values in fields or []]
    source.spend(what, sum(column.nbytes for _, column in columns))
    array = np.empty(len(columns[0][1]), [(name, column.dtype, column.shape[1:]) for name, column in columns])
    for name, column in columns:
        require(len(column) == len(array), what, "fields of one length")
        array[name] = column
    return array


def _pack_sparse(value: Any, what: str, out: Writer) -> dict[str, Any]:
    parts = {name: out.array(f"{what}_{name}", getattr(value, name)) for name in ("data", "indices", "indptr")}
    return {"shape": [int(n) for n in value.shape], "matrix": isinstance(value, sp.spmatrix), **parts}


def _sparse_of(stored: Mapping[str, Any], what: str, source: Reader) -> Any:
    """CSR whose columns lie within its shape, because scipy's loops do not check again."""
    data, indices, indptr = (source.array(stored.get(name), what) for name in ("data", "indices", "indptr"))
    shape = stored.get("shape")
    is_shape = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and 0 <= n < 2**62 for n in shape)
    require(is_shape, what, "a matrix with a shape")
    n_rows, n_columns = stored["shape"]
    is_csr = data.ndim == indices.ndim == indptr.ndim == 1 and len(data) == len(indices) and len(indptr) == n_rows + 1
    require(is_csr and data.dtype.kind in "biuf", what, "a sparse matrix of numbers")
    require(indices.dtype == indptr.dtype and indices.dtype in (np.int32, np.int64), what, "a matrix with indices")
    require(indptr[0] == 0 and indptr[-1] == len(data) and bool((np.diff(indptr) >= 0).all()), what, "in order")
    within = not len(indices) or (indices.min() >= 0 and indices.max() < n_columns)
    require(bool(within), what, "a matrix whose indices lie within its shape")
    kind = sp.csr_matrix if stored.get("matrix") is True else sp.csr_array
    matrix = kind((data, indices, indptr), shape=(n_rows, n_columns))
    source.spend(what, 0 if np.may_share_memory(matrix.indptr, indptr) else indices.nbytes + indptr.nbytes)
    return matrix


def _pack_random(value: np.random.RandomState, what: str, out: Writer) -> dict[str, Any]:
    state: Any = value.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise PegasosError(f"{what} draws from {state['bit_generator']}, which a model file cannot hold; give a seed.")
    inner = state["state"]
    numbers = {"pos": int(inner["pos"]), "has_gauss": int(state["has_gauss"]), "gauss": float(state["gauss"])}
    return {"key": out.array(f"{what}_key", inner["key"]), **numbers}


def _random_of(stored: Mapping[str, Any], what: str, source: Reader) -> np.random.RandomState:
    key = source.array(stored.get("key"), what)
    pos, has_gauss, gauss = (stored.get(name) for name in ("pos", "has_gauss", "gauss"))
    # numpy addresses memory by the position.
    is_state = key.dtype == np.uint32 and key.shape == (624,) and type(pos) is int and 0 <= pos <= 624
    require(is_state and has_gauss in (0, 1) and isinstance(gauss, float), what, "the state of a generator")
    random = np.random.RandomState()
    state: Any = ("MT19937", key, pos, has_gauss, gauss)
    random.set_state(state)
    return random


def _is_array(value: Any) -> bool:
    return type(value) in (np.ndarray, np.memmap) and value.dtype.kind in "biufUS" and value.dtype.itemsize > 0


anything.kinds |= {
    "tuple": Kind(
        lambda value: type(value) is tuple,
        lambda value, what, out: {"items": [anything.pack(each, f"{what}_{k}", out) for k, each in enumerate(value)]},
        _tuple_of,
    ),
    "dict": Kind(lambda value: type(value) is dict, _pack_dict, _dict_of),
    "scalar": Kind(
        lambda value: isinstance(value, np.generic) and type(value).__name__.removesuffix("_") in (*_scalars, "bool"),
        lambda value, what, out: {"dtype": _name_of(value), "value": value.item()},
        _scalar_of,
    ),
    "array": Kind(_is_array, lambda value, what, out: {"array": out.array(what, value)}, _array_of),
    "objects": Kind(
        lambda value: isinstance(value, np.ndarray) and value.dtype == object and value.ndim == 1,
        _pack_objects,
        _objects_of,
    ),
    "records": Kind(
        lambda value: isinstance(value, np.ndarray) and value.dtype.names is not None and value.ndim == 1,
        _pack_structured,
        _structured_of,
    ),
    "csr": Kind(lambda value: sp.issparse(value) and value.format == "csr", _pack_sparse, _sparse_of),
    "random state": Kind(lambda value: isinstance(value, np.random.RandomState), _pack_random, _random_of),
}


def _name_of(value: np.generic) -> str:
    return "str" if isinstance(value, np.str_) else value.dtype.name
