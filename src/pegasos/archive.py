"""Numbers and arrays in one file: a zip of one JSON and of npy arrays, never a pickle.

The JSON contains the format, the kind of the content, the version that wrote it, the values, and for each array its
type, its shape and a digest. Nothing in a file is trusted: no memory is allocated before the sizes that the file claims
agree with its own length, and no name in it is ever used as a path.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.errors import PegasosError
from pegasos.files import atomically

format_number = 1
_CONTENTS = "contents.json"
_name = re.compile(r"[a-z][a-z0-9_]*")
_LARGEST_JSON = 64 << 20  # bytes; parsed, it takes about ten times as much
_PIECE_BYTES = 1 << 24  # bytes read or digested at a time

Arrays = dict[str, npt.NDArray[Any]]


class Archive(NamedTuple):
    """The content of a file, and the version of the library that wrote it."""

    values: dict[str, Any]
    arrays: Arrays
    version: str


def write(path: str | os.PathLike[str], kind: str, values: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write JSON values and arrays of numbers or strings; the file appears complete or not at all."""
    given = {name: np.ascontiguousarray(array).reshape(np.shape(array)) for name, array in arrays.items()}
    for name, array in given.items():
        if not _name.fullmatch(name) or not _is_plain(array.dtype):
            raise PegasosError(f"an archive holds numbers and strings under plain names, got {name!r}: {array.dtype}.")
    contents = {
        "format": format_number,
        "kind": kind,
        "version": version("pegasos"),
        "values": dict(values),
        "arrays": {name: _description(array) for name, array in given.items()},
    }
    text = json.dumps(contents)
    if len(text) > _LARGEST_JSON:
        raise PegasosError(f"{path} was not written: its values take {len(text)} bytes, more than {_LARGEST_JSON}.")
    try:
        with atomically(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_CONTENTS, text)
            for name, array in given.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
    except OSError as error:
        reason = error.strerror or error
        raise PegasosError(f"{path} could not be written: {reason}; an existing file is unchanged.") from error


def read(path: str | os.PathLike[str], kind: str) -> Archive:
    """Read a file of this kind; every defect raises `PegasosError`, a missing file FileNotFoundError."""
    try:
        # reading anything else might never end
        if stat.S_IFMT(os.stat(path).st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
            raise _BrokenError("it is not a file but a device, a pipe or a socket")
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            members = _checked_members(archive, os.fstat(file.fileno()).st_size)
            contents = _checked_contents(archive.read(members.pop(_CONTENTS)), kind)
            described = contents["arrays"]
            if sorted(members) != sorted(f"{name}.npy" for name in described):
                raise _BrokenError("its arrays differ from those that it names")
            arrays = {name: _array(archive, members[f"{name}.npy"], described[name]) for name in described}
            return Archive(contents["values"], arrays, contents["version"])
    except FileNotFoundError:
        raise
    except _BrokenError as error:
        raise PegasosError(f"{path} cannot be used: {error}.") from error
    except OSError as error:
        raise PegasosError(f"{path} could not be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, RecursionError) as error:
        raise PegasosError(f"{path} is not a complete archive of pegasos: {error}.") from error


class _BrokenError(Exception):
    """Why a file cannot be used."""


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.itemsize > 0 and dtype.kind in "biufUS" and dtype.fields is None and dtype.subdtype is None


def _description(array: npt.NDArray[Any]) -> dict[str, Any]:
    return {"dtype": array.dtype.str, "shape": list(array.shape), "digest": _digest(array)}


def _digest(array: npt.NDArray[Any]) -> str:
    digest, raw = hashlib.blake2b(digest_size=16), array.reshape(-1).view(np.uint8)
    for begin in range(0, len(raw), _PIECE_BYTES):
        digest.update(raw[begin : begin + _PIECE_BYTES].data)
    return digest.hexdigest()


def _checked_members(archive: zipfile.ZipFile, length: int) -> dict[str, zipfile.ZipInfo]:
    """The members of the archive, whose sizes are possible in a file of this length."""
    members = {info.filename: info for info in archive.infolist()}
    if len(members) != len(archive.infolist()) or _CONTENTS not in members:
        raise _BrokenError("it is not an archive of pegasos")
    for info in members.values():
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1:
            raise _BrokenError(f"{info.filename!r} in it is packed, which archives of pegasos are not")
    if sum(info.file_size for info in members.values()) > length:
        raise _BrokenError("it claims to hold more than its own length")
    if members[_CONTENTS].file_size > _LARGEST_JSON:
        raise _BrokenError("its table of contents is too long")
    return members


def _checked_contents(text: bytes, kind: str) -> dict[str, Any]:
    contents = json.loads(text)
    if not isinstance(contents, dict) or type(contents.get("format")) is not int:
        raise _BrokenError("it is not an archive of pegasos")
    if contents["format"] != format_number:
        raise _BrokenError(f"it has format {contents['format']}, and this version of pegasos reads {format_number}")
    if contents.get("kind") != kind:
        raise _BrokenError(f"it holds a {contents.get('kind')!r}, not a {kind!r}")
    if not all(isinstance(contents.get(name), dict) for name in ("values", "arrays")):
        raise _BrokenError("its table of contents is not complete")
    if not isinstance(contents.get("version"), str):
        raise _BrokenError("it does not say which version wrote it")
    return contents


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, described: Any) -> npt.NDArray[Any]:
    with archive.open(info) as member:
        shape, dtype = _header(member)
        n_bytes = math.prod(shape) * dtype.itemsize
        # Allocate only now that the file is known to contain the data.
        if n_bytes != info.file_size - member.tell():
            raise _BrokenError(f"{info.filename!r} in it does not have the size that it claims")
        array = np.empty(shape, dtype)
        _fill(member, array)
    if _description(array) != described:
        raise _BrokenError(f"{info.filename!r} in it is not what was written")
    return array


def _header(member: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    reader = readers.get(np.lib.format.read_magic(member))
    if reader is None:
        raise _BrokenError("an array in it has a format that pegasos does not write")
    try:
        shape, is_fortran, dtype = reader(member)
    # Python's parser also raises these for a header that is nested too deeply
    except (MemoryError, SystemError) as error:
        raise _BrokenError("an array in it has a header for which there is not enough memory") from error
    except Exception as error:  # numpy parses the header as Python, and passes on any error of Python's parser
        raise _BrokenError("an array in it has a header that says neither its type nor its shape") from error
    if is_fortran or not _is_plain(dtype) or any(length < 0 for length in shape):
        raise _BrokenError(f"an array in it has a type that pegasos does not write, {dtype}")
    return shape, dtype


def _fill(member: IO[bytes], array: npt.NDArray[Any]) -> None:
    raw = array.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(raw):
        got = member.read(min(_PIECE_BYTES, len(raw) - done))
        if not got:
            raise _BrokenError("it ends in the middle of an array")
        raw[done : done + len(got)] = got
        done += len(got)
