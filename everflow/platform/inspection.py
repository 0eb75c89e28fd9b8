"""tensorflow.python.util.tf_inspect: Python's inspect, with the getargspec that it once had."""

from __future__ import annotations

import collections
import functools
import inspect
from inspect import currentframe, getdoc, getframeinfo, getmembers, getmro, isframe, stack  # noqa: F401

from everflow.platform.decorators import unwrap

FullArgSpec = inspect.FullArgSpec


def _of_what_is_decorated(ask):
    """A function of `inspect`, asked about what decorators decorate."""

    @functools.wraps(ask)
    def asked(obj):
        return ask(unwrap(obj)[1])

    return asked


isbuiltin, isclass, isfunction, isgenerator, isgeneratorfunction, ismethod, ismodule, isroutine = map(
    _of_what_is_decorated,
    (
        inspect.isbuiltin,
        inspect.isclass,
        inspect.isfunction,
        inspect.isgenerator,
        inspect.isgeneratorfunction,
        inspect.ismethod,
        inspect.ismodule,
        inspect.isroutine,
    ),
)
getfile, getmodule, getsource, getsourcefile, getsourcelines = map(
    _of_what_is_decorated,
    (inspect.getfile, inspect.getmodule, inspect.getsource, inspect.getsourcefile, inspect.getsourcelines),
)
ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def _stated(obj):
    """The argument list that a decorator around `obj` was made to show, where one was."""
    return next((d.decorator_argspec for d in unwrap(obj)[0] if d.decorator_argspec is not None), None)


def _callable_of(obj):
    """The function whose arguments are those of a class or of an object that can be called."""
    if inspect.isclass(obj):
        return obj.__init__
    return obj if inspect.isroutine(obj) or isinstance(obj, functools.partial) else type(obj).__call__


def getfullargspec(obj):
    """The arguments of a callable, or of what its decorators decorate."""
    if (stated := _stated(obj)) is not None:
        names = (*stated, [], None, {}) if len(stated) == 4 else stated
        return inspect.FullArgSpec(*names)
    target = unwrap(obj)[1]
    return inspect.getfullargspec(inspect.unwrap(target, stop=lambda function: hasattr(function, "__signature__")))


def getargspec(obj):
    """The arguments of a callable as (args, varargs, keywords, defaults).

    A partial's are those of its function that are still open, those it gives by name with their values as defaults;
    ValueError where an argument without a default would come after them.
    """
    if (stated := _stated(obj)) is not None:
        return stated
    target = unwrap(obj)[1]
    if isinstance(target, functools.partial):
        return _argspec_of_partial(target)
    spec = getfullargspec(_callable_of(target))
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def _argspec_of_partial(partial):
    spec = getargspec(partial.func)
    defaults = dict(zip(reversed(spec.args), reversed(spec.defaults or ()), strict=False)) | partial.keywords
    left = spec.args[len(partial.args) :]
    kept = defaults if spec.keywords else {name: value for name, value in defaults.items() if name in spec.args}
    first = next((i for i, name in enumerate(left) if name in kept), len(left))
    if lacking := [name for name in left[first:] if name not in kept]:
        raise ValueError(
            f"Arguments {lacking} of {partial} have no default, but come after one that has: (args, varargs, keywords, "
            "defaults) can't say that. Use getfullargspec."
        )
    return ArgSpec(left, spec.varargs, spec.keywords, tuple(kept[name] for name in left[first:]) or None)


def getcallargs(*func_and_positional, **named):
    """{name of an argument: its value} for a call of `func_and_positional[0]` with the rest, as far as they are known: of
    what has a name, with defaults for what isn't given; with what decorators decorate.
    """
    function, *positional = func_and_positional
    if inspect.ismethod(function):
        positional = [function.__self__, *positional]
    spec = getfullargspec(function)
    defaults = spec.defaults or ()
    found = dict(zip(spec.args[len(spec.args) - len(defaults) :], defaults, strict=True))
    return {**found, **(spec.kwonlydefaults or {}), **named, **dict(zip(spec.args, positional, strict=False))}
