"""What a traced function takes: its Python arguments, the kinds that an input signature allows, and calls in one form."""

from __future__ import annotations

import functools
import inspect
import itertools
import weakref

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.type_specs import TensorSpec, TypeSpec

# Arguments that a trace may keep: they hold on to nothing.
_PLAIN = (int, float, complex, bool, str, bytes, type(None), dtypes.DType, TypeSpec)


class UnknownArgument:
    """Stands in a signature for an argument that is no tensor and can't be written down."""


def described(value):
    """What a signature says of an argument that is no tensor."""
    if isinstance(value, _PLAIN):
        return value
    return getattr(value, "_type_spec", None) or UnknownArgument()


def told_apart(value):
    """What tells an argument that is no tensor apart from others; the argument lives no longer for it."""
    if isinstance(value, dtypes.DType):
        return "dtype", value  # which equals its number
    if isinstance(value, _PLAIN):
        return value
    try:
        return weakref.ref(value)
    except TypeError:  # of a kind that can't be referred to so
        return value


class FunctionSpec:
    """The arguments of a Python function, and the input signature it was given."""

    def __init__(self, fullargspec, is_method, args_to_prepend, kwargs_to_include, input_signature):
        self._fullargspec = fullargspec
        self._is_method = is_method
        self._args_to_prepend = tuple(args_to_prepend)
        self._kwargs_to_include = dict(kwargs_to_include)
        self._input_signature = None if input_signature is None else tuple(input_signature)
        if input_signature is not None:
            validate_signature(input_signature)

    @staticmethod
    def from_function_and_signature(python_function, input_signature, is_method=None):
        """That of a function; what a `functools.partial` gives is no argument any more."""
        spec = inspect.getfullargspec(
            python_function.func if isinstance(python_function, functools.partial) else python_function
        )
        is_method = inspect.ismethod(python_function) if is_method is None else is_method
        if not isinstance(python_function, functools.partial):
            return FunctionSpec(spec, is_method, (), {}, input_signature)
        given = python_function.keywords
        left = list(itertools.takewhile(lambda name: name not in given, spec.args[len(python_function.args) :]))
        defaults = dict(zip(reversed(spec.args), reversed(spec.defaults or ()), strict=False))
        kept = [defaults[name] for name in left if name in defaults] or None
        by_name = {} if given or spec.kwonlyargs else None  # what only a name can give is left to Python
        spec = inspect.FullArgSpec(left, spec.varargs, spec.varkw, kept, [], by_name, {})
        return FunctionSpec(spec, is_method, (), {}, input_signature)

    fullargspec = property(lambda self: self._fullargspec)
    is_method = property(lambda self: self._is_method)
    args_to_prepend = property(lambda self: self._args_to_prepend)
    kwargs_to_include = property(lambda self: self._kwargs_to_include)
    input_signature = property(lambda self: self._input_signature)
    vararg_name = property(lambda self: self._fullargspec.varargs)
    arg_names = property(lambda self: self._fullargspec.args[1:] if self._is_method else self._fullargspec.args)

    @property
    def flat_input_signature(self):
        """The specs of the input signature in a row; None where there is no signature."""
        return None if self._input_signature is None else tuple(nest.flatten(self._input_signature, True))

    def canonicalize_function_inputs(self, *args, **kwargs):
        """(args, kwargs) of a call in the one form that all calls of its kind have: what has a place comes by position,
        defaults are filled in, and with a signature all values are tensors that fit it.
        """
        args = (*self._args_to_prepend, *args)
        kwargs = dict(kwargs, **self._kwargs_to_include)
        names, defaults = self.arg_names, self._fullargspec.defaults or ()
        by_default = dict(zip(reversed(names), reversed(defaults), strict=False))
        placed = list(args)
        for name in names[len(args) :]:
            if name in kwargs:
                placed.append(kwargs.pop(name))
            elif name in by_default and self._input_signature is None:
                placed.append(by_default[name])
            elif self._input_signature is None:
                raise AssertionError(f"The argument {name!r} is missing: {names} are wanted, {args} are given")
        if self._input_signature is None:
            return tuple(placed), kwargs
        if kwargs or len(placed) > len(self._input_signature):
            raise TypeError(
                f"An input_signature of {len(self._input_signature)} is given: there is no place in it for more arguments than those"
            )
        return fitted_to_signature(tuple(placed), self._input_signature), {}


def fitted_to_signature(values, signature):
    """Values as tensors of the kinds that an input signature names."""
    try:
        nest.assert_shallow_structure(signature, values, check_types=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"The structure of the arguments {values} is not that of {signature}: {error}") from None
    made = []
    for value, spec in zip(nest.flatten_up_to(signature, values), nest.flatten(signature), strict=True):
        if isinstance(spec, TensorSpec) and not isinstance(value, Tensor):
            value = convert_to_tensor(value, preferred_dtype=spec.dtype)
        if not spec.is_compatible_with(value):
            raise ValueError(f"Python inputs incompatible with input_signature: {value} is not {spec}")
        made.append(value)
    return nest.pack_sequence_as(signature, made)


def validate_signature(signature):
    """TypeError where something in a nest of specs is none."""
    wrong = [spec for spec in nest.flatten(signature) if not isinstance(spec, TypeSpec)]
    if wrong:
        raise TypeError(f"Invalid input_signature {signature}: {wrong[0]!r} is no TensorSpec")


def composite_spec(value):
    """The type of a value that is made of several tensors; None of anything else."""
    if isinstance(value, (Tensor, TensorSpec)) or not nest.is_sequence_or_composite(value):
        return None
    return getattr(value, "_type_spec", value)
