"""JSON encoding of cached values, so that reading the cache never runs code.

Django pickles cached values by default: an attacker who can write to Redis could run code in every web process and
worker. This encoding restores only values: JSON, and objects with the key ``!`` for kinds that JSON cannot express.
Arrays are bytes with a type and a shape. Objects of classes of this project get their attributes back without calling
any of their methods.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from datetime import date, datetime
from enum import Enum
from functools import lru_cache
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.utils.safestring import SafeString

KIND, VALUE = "!", "v"
OURS = ("assay", "evaluation", "judgments", "pooling")


class NoCode:
    """A serializer for Django's Redis cache."""

    def dumps(self, value: Any) -> bytes | int:
        """Return the value as JSON; an integer unchanged, so that Redis can increment it."""
        if type(value) is int:
            return value
        return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

    def loads(self, data: bytes | int) -> Any:
        """Return the cached value; None for content from another source or version."""
        try:
            text = data.decode("utf-8", "surrogatepass") if isinstance(data, bytes) else str(data)
            return json.loads(text, object_hook=_read)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None


class InMemory(LocMemCache):
    """An in-process cache with the same encoding, so that tests fail for values that Redis could not store."""

    def set(self, key: Any, value: Any, *args: Any, **kwargs: Any) -> None:
        super().set(key, NoCode().dumps(value), *args, **kwargs)

    def add(self, key: Any, value: Any, *args: Any, **kwargs: Any) -> bool:
        return bool(super().add(key, NoCode().dumps(value), *args, **kwargs))

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        content = super().get(key, None, version)
        return default if content is None else NoCode().loads(content)


def _plain(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [_plain(one) for one in value]
    if kind is dict:
        if KIND not in value and all(type(key) is str for key in value):
            return {key: _plain(one) for key, one in value.items()}
        return {KIND: "dict", VALUE: [[_plain(key), _plain(one)] for key, one in value.items()]}
    if kind in (tuple, set, frozenset):
        return {KIND: kind.__name__, VALUE: [_plain(one) for one in value]}
    if kind is bytes:
        return {KIND: "bytes", VALUE: base64.b64encode(value).decode()}
    if kind is SafeString:
        return {KIND: "safe", VALUE: str(value)}
    if kind in (datetime, date):
        return {KIND: kind.__name__, VALUE: value.isoformat()}
    if kind.__module__.partition(".")[0] in OURS:
        return _ours(value)
    return _of_numpy(value)


def _ours(value: Any) -> dict[str, Any]:
    """Encode an object of this project: a member of an enumeration, a named tuple, or its attributes."""
    kind = type(value)
    named = f"{kind.__module__}:{kind.__qualname__}"
    if isinstance(value, Enum):
        return {KIND: named, VALUE: _plain(value.value)}
    if isinstance(value, tuple):
        return {KIND: named, VALUE: [_plain(one) for one in value]}
    if isinstance(value, str | int | float):
        raise TypeError(f"{kind} cannot be cached")
    state = object.__getstate__(value)
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    return {KIND: named, VALUE: _plain({**(attributes or {}), **(slots or {})})}


def _of_numpy(value: Any) -> Any:
    numpy = sys.modules.get("numpy")  # a process that never used numpy may not have imported it
    if numpy is not None and isinstance(value, numpy.generic) and not isinstance(value, numpy.void):
        return _plain(value.item())
    if numpy is not None and type(value) is numpy.ndarray and value.dtype.kind in "biufcSU":
        flat = numpy.ascontiguousarray(value)
        content = base64.b64encode(flat.tobytes()).decode()
        return {KIND: "array", "type": flat.dtype.str, "shape": list(value.shape), VALUE: content}
    raise TypeError(f"{type(value)} cannot be cached")


def _read(node: dict[str, Any]) -> Any:
    """Return the value of a JSON object; nested objects are decoded already."""
    if KIND not in node:
        return node
    kind, value = node[KIND], node[VALUE]
    if kind == "array":
        import numpy

        type_ = numpy.dtype(node["type"])
        if type_.kind not in "biufcSU":
            raise ValueError(kind)
        return numpy.frombuffer(base64.b64decode(value), type_).reshape(node["shape"]).copy()
    if kind in READERS:
        return READERS[kind](value)
    class_ = _class(kind)
    if issubclass(class_, Enum):
        return class_(value)
    if issubclass(class_, tuple):
        return tuple.__new__(class_, value)
    made = object.__new__(class_)
    for name, one in value.items():
        object.__setattr__(made, name, one)
    if missing := set(getattr(class_, "__dataclass_fields__", ())) - set(value):
        raise ValueError(f"{kind} without {missing}")  # stored by another version
    return made


READERS: dict[str, Callable[[Any], Any]] = {
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "bytes": base64.b64decode,
    "safe": SafeString,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
}


@lru_cache(maxsize=256)
def _class(named: str) -> type:
    """Return the class of this project with this name."""
    module, _, name = named.partition(":")
    if module.partition(".")[0] not in OURS or not name.isidentifier():
        raise ValueError(named)
    # Never import a module that cached content names. If it is not imported yet, the value is computed again.
    class_ = getattr(sys.modules.get(module), name)
    if not isinstance(class_, type) or class_.__module__ != module:
        raise ValueError(named)
    return class_
