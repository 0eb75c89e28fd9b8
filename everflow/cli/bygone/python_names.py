"""Names of the standard library that were there in Python 3.7 and have been removed since."""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import inspect
import math
import sys
import threading
import time
import xml.etree.ElementTree

_ABSTRACT = (
    "Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Hashable Iterable Iterator Generator Reversible Sized Container "
    "Callable Collection Set MutableSet Mapping MutableMapping MappingView KeysView ItemsView ValuesView Sequence MutableSequence ByteString"
)


ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def getargspec(func):
    """A function's positional parameters, for functions that have no others."""
    args, varargs, keywords, defaults, only_by_keyword, _, annotations = inspect.getfullargspec(func)
    if only_by_keyword or annotations:
        raise ValueError("Function has keyword-only parameters or annotations, use getfullargspec() API which can support them")
    return ArgSpec(args, varargs, keywords, defaults)


def bring_back() -> None:
    for name in _ABSTRACT.split():
        if hasattr(collections.abc, name):
            _add(collections, name, getattr(collections.abc, name))
    _add(inspect, "ArgSpec", ArgSpec)
    _add(inspect, "getargspec", getargspec)
    _add(time, "clock", time.process_time)
    _add(fractions, "gcd", math.gcd)
    _add(base64, "encodestring", base64.encodebytes)
    _add(base64, "decodestring", base64.decodebytes)
    _add(threading.Thread, "isAlive", threading.Thread.is_alive)
    sys.modules.setdefault("xml.etree.cElementTree", xml.etree.ElementTree)


def _add(owner, name: str, value) -> None:
    if not hasattr(owner, name):
        setattr(owner, name, value)
