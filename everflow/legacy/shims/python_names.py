"""What the standard library, and Pillow, had or took in the days of Python 3.7 and no longer do."""

from __future__ import annotations

import base64
import collections
import collections.abc
import fractions
import functools
import importlib.util
import inspect
import json
import math
import random
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
        raise ValueError(
            "Function has keyword-only parameters or annotations, use getfullargspec() API which can support them"
        )
    return ArgSpec(args, varargs, keywords, defaults)


def _sample_of_sets(sample):
    """`random.sample` that takes sets too."""

    @functools.wraps(sample)
    def from_any(self, population, k, **kwargs):
        return sample(
            self, tuple(population) if isinstance(population, collections.abc.Set) else population, k, **kwargs
        )

    return from_any


def _shuffle_with(shuffle):
    """`random.shuffle` that takes a function to draw with."""

    @functools.wraps(shuffle)
    def with_function(self, x, random=None):
        if random is None:
            return shuffle(self, x)
        for i in reversed(range(1, len(x))):
            j = int(random() * (i + 1))
            x[i], x[j] = x[j], x[i]

    return with_function


def _without_encoding(read):
    """`json.load` and `loads` that leave an `encoding` aside, as Python 3 always did."""

    @functools.wraps(read)
    def reading(*args, encoding=None, **kwargs):
        return read(*args, **kwargs)

    return reading


def bring_back() -> None:
    for name in _ABSTRACT.split():
        if hasattr(collections.abc, name):
            _add(collections, name, getattr(collections.abc, name))
    _add(inspect, "ArgSpec", ArgSpec)
    inspect.getargspec = getargspec  # where it is still there, it warns
    _add(time, "clock", time.process_time)
    _add(fractions, "gcd", math.gcd)
    _add(base64, "encodestring", base64.encodebytes)
    _add(base64, "decodestring", base64.decodebytes)
    _add(threading.Thread, "isAlive", threading.Thread.is_alive)
    sys.modules.setdefault("xml.etree.cElementTree", xml.etree.ElementTree)
    json.load, json.loads = _without_encoding(json.load), _without_encoding(json.loads)
    for name, wrapped in (("sample", _sample_of_sets), ("shuffle", _shuffle_with)):
        setattr(random.Random, name, wrapped(getattr(random.Random, name)))
        # The module's functions are methods of one generator.
        setattr(random, name, getattr(random._inst, name))
    if importlib.util.find_spec("PIL"):
        import PIL.Image

        _add(PIL.Image, "ANTIALIAS", PIL.Image.Resampling.LANCZOS)
        _add(PIL.Image, "LINEAR", PIL.Image.Resampling.BILINEAR)
        _add(PIL.Image, "CUBIC", PIL.Image.Resampling.BICUBIC)


def _add(owner, name: str, value) -> None:
    if not hasattr(owner, name):
        setattr(owner, name, value)
