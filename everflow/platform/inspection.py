"""tensorflow.python.util.tf_inspect: Python's inspect, with the getargspec that it once had."""

from __future__ import annotations

import collections
import inspect
from inspect import (  # noqa: F401
    currentframe,
    getcallargs,
    getdoc,
    getfile,
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


def getfullargspec(obj):
    """The arguments of a callable, or of what its decorators decorate."""
    return inspect.getfullargspec(inspect.unwrap(obj, stop=lambda function: hasattr(function, "__signature__")))


def getargspec(obj):
    """The arguments of a callable as (args, varargs, keywords, defaults)."""
    spec = getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)
