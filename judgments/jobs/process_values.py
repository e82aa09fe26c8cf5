"""Encoding of return values between processes: JSON, followed by the bytes of arrays.

A malicious file may take over the process that reads it. If the return value were pickled, that process could run code
in the web process too. This encoding restores only values: JSON, and objects with the key ``!`` for kinds that JSON
cannot express. It creates only objects of this project's value classes, without calling a constructor: data classes,
named tuples, and classes whose ``HOLDS`` lists the attributes of their state. Rows of one class are sent as columns, so
that this is as fast as pickle.
"""

from __future__ import annotations

import io
import json
import struct
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import lru_cache, partial
from importlib import import_module
from itertools import repeat
from operator import attrgetter
from typing import IO, Any, NoReturn

from assay.core.errors import AssayError

KIND, VALUE, BLOCK = "!", "v", "b"
OURS = ("assay", "evaluation", "judgments", "pooling")
PLAIN = {type(None), bool, int, float, str}
MANY = {"tuple": tuple, "set": set, "frozenset": frozenset}
TIMES = {"datetime": datetime, "date": date}
# Length of the JSON and number of blocks; length of one block.
HEAD, SIZE = struct.Struct("<QI"), struct.Struct("<Q")


class NotRead(ValueError):
    """The content has an unknown format."""


def write(value: Any, stream: IO[bytes]) -> None:
    """Write a value."""
    blocks: list[Any] = []
    text = json.dumps(_plain(value, blocks), ensure_ascii=False, separators=(",", ":"), check_circular=False)
    content = text.encode("utf-8", "surrogatepass")
    del text
    stream.write(HEAD.pack(len(content), len(blocks)))
    stream.write(content)
    for block in blocks:
        stream.write(SIZE.pack(len(block)))
        stream.write(block)


def read(stream: IO[bytes], most: int) -> Any:
    """Read a value that `write` wrote, of at most ``most`` bytes."""
    length, many = HEAD.unpack(_exactly(stream, HEAD.size))
    left = most - length - many * SIZE.size
    content = _exactly(stream, length if left >= 0 else _refuse(most))
    blocks = []
    for _ in range(many):
        size = SIZE.unpack(_exactly(stream, SIZE.size))[0]
        left -= size
        blocks.append(_exactly(stream, size if left >= 0 else _refuse(most)))
    try:
        return _made(json.loads(content.decode("utf-8", "surrogatepass")), blocks)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, ImportError) as error:
        raise NotRead(f"{type(error).__name__}: {error}") from error


def _refuse(most: int) -> NoReturn:
    raise NotRead(f"more than {most:,} bytes")


def _exactly(stream: IO[bytes], size: int) -> bytearray:
    """Read exactly this many bytes, without reserving memory for bytes that have not arrived."""
    content = bytearray()
    while len(content) < size:
        some = stream.read(min(size - len(content), 1 << 24))
        if not some:
            raise EOFError
        content += some
    return content


def _plain(value: Any, blocks: list[Any]) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list:
        return _list(value, blocks)
    if kind is dict:
        return _dict(value, blocks)
    if kind in (tuple, set, frozenset):
        return {KIND: kind.__name__, VALUE: _list(list(value), blocks)}
    if kind in (bytes, bytearray):
        return {KIND: "bytes", BLOCK: _block(value, blocks)}
    if kind in (datetime, date):
        return {KIND: kind.__name__, VALUE: value.isoformat()}
    if isinstance(value, str) and not isinstance(value, Enum):
        return str(value)
    if isinstance(value, AssayError):
        return {KIND: "error", "of": _name(kind), VALUE: [_plain([*value.args], blocks), _plain(vars(value), blocks)]}
    if isinstance(value, Enum) and _is_ours(kind):
        return {KIND: "member", "of": _name(kind), VALUE: value.name}
    if _names(kind):
        return {KIND: "row", "of": _name(kind), VALUE: [_plain(getattr(value, name), blocks) for name in _names(kind)]}
    return _array(value, blocks)


def _list(values: list[Any], blocks: list[Any]) -> Any:
    kinds = set(map(type, values))
    if kinds <= PLAIN:
        return values
    if len(kinds) == 1 and len(values) > 1 and len(names := _names(kind := kinds.pop())) > 1:
        columns = map(list, zip(*map(attrgetter(*names), values), strict=True))
        return {KIND: "rows", "of": _name(kind), VALUE: [_list(column, blocks) for column in columns]}
    return [_plain(one, blocks) for one in values]


def _dict(value: dict[Any, Any], blocks: list[Any]) -> Any:
    if KIND not in value and set(map(type, value)) <= {str}:
        return value if set(map(type, value.values())) <= PLAIN else {k: _plain(v, blocks) for k, v in value.items()}
    return {KIND: "dict", VALUE: [_list([*value], blocks), _list([*value.values()], blocks)]}


def _array(value: Any, blocks: list[Any]) -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic) and not isinstance(value, numpy.void):
        return _plain(value.item(), blocks)
    if numpy is not None and type(value) is numpy.ndarray and value.dtype.kind in "biufSU":
        flat = numpy.ascontiguousarray(value).reshape(-1)
        place = _block(flat.view(numpy.uint8).data if flat.size else b"", blocks)
        return {KIND: "array", "type": flat.dtype.str, "shape": list(value.shape), BLOCK: place}
    polars = sys.modules.get("polars")
    if polars is not None and type(value) is polars.DataFrame:
        content = io.BytesIO()
        value.write_ipc(content)
        return {KIND: "table", BLOCK: _block(content.getbuffer(), blocks)}
    raise TypeError(f"{type(value)} cannot be encoded in a result")


def _block(content: Any, blocks: list[Any]) -> int:
    blocks.append(content)
    return len(blocks) - 1


def _made(value: Any, blocks: Sequence[bytearray]) -> Any:
    """Return the value that the JSON encodes."""
    kind = type(value)
    if kind is list:
        return value if set(map(type, value)) <= PLAIN else [_made(one, blocks) for one in value]
    if kind is not dict:
        return value
    if KIND not in value:
        plain = set(map(type, value.values())) <= PLAIN
        return value if plain else {key: _made(one, blocks) for key, one in value.items()}
    kind_name = value[KIND]
    if kind_name == "bytes":
        return bytes(blocks[value[BLOCK]])
    if kind_name == "array":
        return _made_array(value, blocks)
    if kind_name == "table":
        return _made_table(blocks[value[BLOCK]])
    if kind_name in TIMES:
        return TIMES[kind_name].fromisoformat(value[VALUE])
    if kind_name in MANY:
        return MANY[kind_name](_made(value[VALUE], blocks))
    if kind_name == "member":
        return _class(value["of"], Enum)[value[VALUE]]  # type: ignore[index]
    if kind_name == "rows":
        return _made_rows(value["of"], [_shared(_made(one, blocks)) for one in value[VALUE]])
    parts = [_made(one, blocks) for one in value[VALUE]]
    if kind_name == "dict":
        return dict(zip(*parts, strict=True))
    if kind_name == "error":
        return _made_error(value["of"], *parts)
    if kind_name == "row":
        return _made_rows(value["of"], [[part] for part in parts])[0]
    raise NotRead(kind_name)


def _shared(column: list[Any]) -> list[Any]:
    """Return a column in which equal texts share one object, because ids occur in many rows."""
    if set(map(type, column)) != {str}:
        return column
    seen: dict[str, str] = {}
    return list(map(seen.setdefault, column, column))


def _made_rows(named: str, columns: list[list[Any]]) -> list[Any]:
    """Return objects of one class with these columns of values, without calling any of their methods."""
    kind = _class(named)
    names = _names(kind)
    if len(names) != len(columns) or not names or len({len(column) for column in columns}) != 1:
        raise NotRead(named)
    if issubclass(kind, tuple):
        return list(map(partial(tuple.__new__, kind), zip(*columns, strict=True)))
    made = [object.__new__(kind) for _ in columns[0]]
    for name, column in zip(names, columns, strict=True):
        deque(map(object.__setattr__, made, repeat(name), column), maxlen=0)
    return made


def _made_array(value: dict[str, Any], blocks: Sequence[bytearray]) -> Any:
    import numpy

    kind = numpy.dtype(str(value["type"]))
    if kind.kind not in "biufSU":
        raise NotRead(kind)
    return numpy.frombuffer(blocks[value[BLOCK]], kind).reshape(value["shape"])


def _made_table(content: bytearray) -> Any:
    import polars

    try:
        return polars.read_ipc(io.BytesIO(content))
    except (OSError, polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise NotRead(f"invalid table: {error}") from error


def _made_error(named: str, args: list[Any], state: dict[str, Any]) -> AssayError:
    kind = _class(named, AssayError)
    error = kind.__new__(kind, *args)
    error.args = tuple(args)
    error.__dict__.update(state)
    return error


@lru_cache(maxsize=256)
def _class(named: str, base: type = object) -> type:
    """Return the class of this project with this name, derived from the base."""
    module, _, name = named.partition(":")
    parts = module.split(".")
    if parts[0] not in OURS or not all(part.isidentifier() and part[:2] != "__" for part in [*parts, name]):
        raise NotRead(named)
    kind = getattr(import_module(module), name)
    if not isinstance(kind, type) or kind.__module__ != module or not issubclass(kind, base):
        raise NotRead(named)
    return kind


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in OURS


@lru_cache(maxsize=256)
def _names(kind: Any) -> tuple[str, ...]:
    """Return the names of the values of a plain data class; none for other classes."""
    if not _is_ours(kind):
        return ()
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    if issubclass(kind, tuple):
        return tuple(getattr(kind, "_fields", ()))
    return tuple(vars(kind).get("HOLDS", ()))
