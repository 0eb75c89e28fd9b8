"""Names that programs take from inside TensorFlow's modules of SavedModels: functions to and from messages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from everflow.framework.functions import functions_from_library
from everflow.framework.type_specs import TensorSpec
from everflow.ops.functions.bodies import unique_name
from everflow.protos import function_pb2, node_def_pb2, saved_object_graph_pb2
from everflow.saved_model.function_protos import bare_function_proto as serialize_bare_concrete_function
from everflow.saved_model.function_protos import concrete_function_proto
from everflow.saved_model.function_protos import function_proto as serialize_function
from everflow.saved_model.graph_loading import load_graph
from everflow.saved_model.object_loading import LoadedConcreteFunction, ObjectLoader, renamed
from everflow.saved_model.object_loading import LoadedFunction as RestoredFunction
from everflow.saved_model.structured_values import decode

__all__ = [
    "RestoredFunction",
    "fix_node_def",
    "load_function_def_library",
    "load_internal",
    "recreate_function",
    "serialize_bare_concrete_function",
    "serialize_concrete_function",
    "serialize_function",
    "setup_bare_concrete_function",
]


def serialize_concrete_function(
    concrete_function: Any, node_ids: Mapping[Any, int], coder: Any = None
) -> saved_object_graph_pb2.SavedConcreteFunction:
    """What a trace takes, gives and captures, as a message; `node_ids` has the numbers of captured tensors.

    KeyError for a captured tensor without a number.
    """

    def number_of(tensor: Any) -> int:
        if tensor not in node_ids:
            raise KeyError(f"{concrete_function.name.decode()} uses {tensor!s}, which has no number in the file")
        return node_ids[tensor]

    return concrete_function_proto(concrete_function, number_of)


def fix_node_def(
    node_def: node_def_pb2.NodeDef, functions: Mapping[str, Any], shared_name_suffix: str, debug_name: str
) -> None:
    """Let a node call functions by the names that `functions` gives them, and own resources under names of its own."""
    names = {old: function.name.decode() for old, function in functions.items()}
    renamed(node_def, names, shared_name_suffix)


def load_function_def_library(
    library: function_pb2.FunctionDefLibrary, load_shared_name_suffix: str | None = None
) -> dict[str, LoadedConcreteFunction]:
    """{name in the library: a trace}, under names that no other function has; they take what they capture last."""
    suffix = f"_load_{unique_name('library')}" if load_shared_name_suffix is None else load_shared_name_suffix
    copy = function_pb2.FunctionDefLibrary()
    copy.CopyFrom(library)
    names = {
        f.signature.name: unique_name(f"__inference_{_clean_function_name(f.signature.name)}") for f in copy.function
    }
    for definition in copy.function:
        definition.signature.name = names[definition.signature.name]
        for node in definition.node_def:
            renamed(node, names, suffix)
    made = {f.name: f for f in functions_from_library(copy)}
    return {old: _bare(made[new]) for old, new in names.items()}


def _bare(function: Any) -> LoadedConcreteFunction:
    """A function of which nothing but its definition is known: all its arguments are tensors."""
    inputs, outputs = function.body_tensors()
    names = [arg.name for arg in function.definition.signature.input_arg]
    arguments = tuple(TensorSpec(t.shape, t.dtype, name) for t, name in zip(inputs, names, strict=True))
    results = [TensorSpec(t.shape, t.dtype.base_dtype) for t in outputs]
    return LoadedConcreteFunction(function, [], (arguments, {}), results, names)


def recreate_function(
    saved_function: saved_object_graph_pb2.SavedFunction, concrete_functions: Mapping[str, Any]
) -> RestoredFunction:
    """The `tf.function` of a message, with traces by name."""
    spec = saved_function.function_spec
    traces = [concrete_functions[name] for name in saved_function.concrete_functions]
    return RestoredFunction(decode(spec.fullargspec), spec.is_method, decode(spec.input_signature), traces)


def setup_bare_concrete_function(
    saved_bare_concrete_function: saved_object_graph_pb2.SavedBareConcreteFunction,
    concrete_functions: Mapping[str, Any],
) -> Any:
    """The trace of a message, which takes its arguments by the names given there."""
    found = concrete_functions[saved_bare_concrete_function.concrete_function_name]
    found._argument_names = list(saved_bare_concrete_function.argument_keywords)
    found._num_positional_args = saved_bare_concrete_function.allowed_positional_arguments
    return found


def load_internal(export_dir: Any, tags: Any = None, loader_cls: type[ObjectLoader] = ObjectLoader) -> Any:
    """The object of a SavedModel, made by a loader of that class."""
    loader = loader_cls(export_dir, tags)
    return loader.load() if loader.meta.HasField("object_graph_def") else load_graph(export_dir, loader.meta)


def _clean_function_name(name: str) -> str:
    """What a function was called in Python.

    >>> _clean_function_name("__inference_f_12")
    'f'
    """
    found = re.fullmatch(r"__inference_(.*)_\d+", name)
    return found.group(1) if found else name
