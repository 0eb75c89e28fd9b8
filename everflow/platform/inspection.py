"""tensorflow.python.util.tf_inspect: Python's inspect, with the getargspec that it once had."""

from __future__ import annotations

import collections
import inspect
from inspect import (  # noqa: F401
    currentframe,
    getcallargs,
    getdoc,
    getfile,
    getfullargspec,
    getmembers,
    getmodule,
    getmro,
    getsource,
    getsourcefile,
    getsourcelines,
    isbuiltin,
    isclass,
    isframe,
    isfunction,
    isgenerator,
    isgeneratorfunction,
    ismethod,
    ismodule,
    isroutine,
    stack,
)

ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def getargspec(obj):
    """The arguments of a callable as (args, varargs, keywords, defaults)."""
    spec = inspect.getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)
