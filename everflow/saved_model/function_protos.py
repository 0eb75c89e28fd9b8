"""Functions as the file's graph of objects holds them: their traces by name, how Python calls them, what they capture."""

from __future__ import annotations

import collections
import functools
import inspect

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph
from everflow.framework.type_specs import TensorSpec
from everflow.ops.functions.concrete import ConcreteFunction
from everflow.ops.functions.traced import Function
from everflow.protos.saved_object_graph_pb2 import SavedBareConcreteFunction, SavedConcreteFunction, SavedFunction
from everflow.saved_model.structured_values import encode

_ArgSpec = collections.namedtuple(
    "FullArgSpec", ["args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults", "annotations"]
)


def concrete_functions(thing):
    """The traces that a saved function stands for."""
    if isinstance(thing, ConcreteFunction):
        return [thing]
    if not isinstance(thing, Function):
        return []
    if thing.input_signature is not None:
        return [thing.get_concrete_function()]
    return [
        trace for trace in thing._traces.get(get_default_graph(), {}).values() if isinstance(trace, ConcreteFunction)
    ]


def function_proto(function) -> SavedFunction:
    """A `tf.function`: the traces it has, and its arguments."""
    saved = SavedFunction(concrete_functions=[c.name.decode() for c in concrete_functions(function)])
    saved.function_spec.is_method = _is_method(function)
    saved.function_spec.fullargspec.CopyFrom(encode(_argument_spec(function)))
    saved.function_spec.input_signature.CopyFrom(encode(function.input_signature))
    return saved


def bare_function_proto(concrete) -> SavedBareConcreteFunction:
    """A trace that is saved by itself: its arguments by name."""
    return SavedBareConcreteFunction(
        concrete_function_name=concrete.name.decode(),
        argument_keywords=concrete._arg_keywords,
        allowed_positional_arguments=concrete._num_positional_args,
    )


def concrete_function_proto(concrete, number_of) -> SavedConcreteFunction:
    """What a trace takes, gives and captures; `number_of(tensor)` is the number of the object that a captured tensor
    belongs to.
    """
    saved = SavedConcreteFunction(bound_inputs=[number_of(t) for t in concrete.captured_inputs])
    names = iter(concrete._argument_names)
    arguments = nest.map_structure(
        lambda x: TensorSpec(x.shape, x.dtype, x.name or next(names)) if isinstance(x, TensorSpec) else x,
        concrete.structured_input_signature,
    )
    saved.canonicalized_input_signature.CopyFrom(encode(arguments))
    saved.output_signature.CopyFrom(encode(_output_specs(concrete.structured_outputs)))
    return saved


def _output_specs(structure, path=""):
    """Results as TensorSpecs that are named by the way to them."""

    def inside(name):
        return f"{path}/{name}" if path else str(name)

    if isinstance(structure, (Tensor, TensorSpec)):
        return TensorSpec(structure.shape, structure.dtype.base_dtype, path)
    if isinstance(structure, dict):
        return {key: _output_specs(value, inside(key)) for key, value in structure.items()}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(
            *[_output_specs(v, inside(k)) for k, v in zip(structure._fields, structure, strict=True)]
        )
    if isinstance(structure, (list, tuple)):
        return type(structure)([_output_specs(value, inside(i)) for i, value in enumerate(structure)])
    if nest.is_sequence_or_composite(structure):  # a ragged or sparse tensor, or what stands for one
        return getattr(structure, "_type_spec", structure)
    return None


def _is_method(function):
    return hasattr(function, "_converted_from") or getattr(function.python_function, "is_method", False)


def _argument_spec(function):
    """The arguments as Python has them; of a `functools.partial`, what is left to be given by position."""
    parameters = list(function._signature.parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    named = {
        kind: next((p.name for p in parameters if p.kind is kind), None)
        for kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    }
    is_partial = isinstance(function.python_function, functools.partial)
    defaults = [p.default for p in positional if p.default is not p.empty]
    keyword_defaults = {} if is_partial else {p.name: p.default for p in keywords if p.default is not p.empty}
    return _ArgSpec(
        args=(["self"] if _is_method(function) else []) + [p.name for p in positional],
        varargs=named[inspect.Parameter.VAR_POSITIONAL],
        varkw=named[inspect.Parameter.VAR_KEYWORD],
        defaults=(defaults if is_partial else tuple(defaults)) or None,
        kwonlyargs=[] if is_partial else [p.name for p in keywords],
        kwonlydefaults=keyword_defaults or ({} if is_partial and keywords else None),
        annotations={},
    )
