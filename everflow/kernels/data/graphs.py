"""Datasets as GraphDefs and back. A dataset remembers the op that made it and what went in (`origins.py`): that is written,
node for node as TensorFlow writes it, with the functions that are called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from google.protobuf.message import DecodeError, Message

from everflow.framework import attributes, dtypes, op_defs
from everflow.framework.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, UnimplementedError
from everflow.framework.functions import GraphFunction, functions_from_library, to_function_def
from everflow.framework.graph import Graph
from everflow.framework.importer import import_graph_def
from everflow.framework.tensor_values import make_tensor_proto
from everflow.kernels.data.datasets import Dataset, dataset, kept_state
from everflow.kernels.data.rewrites import inputs_first
from everflow.kernels.registry import fresh
from everflow.kernels.strings.text import scalar_string, strings
from everflow.kernels.tensors import Strings, to_numpy
from everflow.protos.attr_value_pb2 import NameAttrList
from everflow.protos.graph_pb2 import GraphDef

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.context import Session, Step
    from everflow.kernels.data.origins import Origin

_RESULT = "_Retval"


# --- writing ---------------------------------------------------------------------------------


class _Writer:
    """A GraphDef, as far as it is written."""

    def __init__(self, graph: Graph, allowed: list[str]) -> None:
        self.graph_def = GraphDef(versions=Graph().graph_def_versions)  # eager execution has functions, and no graph
        self._graph, self._allowed = graph, frozenset(allowed)
        self._names: dict[Dataset, str] = {}

    def write(self, top: Dataset) -> GraphDef:
        for made in inputs_first(top):
            self._names[made] = self._dataset(made)
        end = self.graph_def.node.add(name="dataset", op=_RESULT, input=[self._names[top]])
        end.attr["T"].type = dtypes.variant.as_datatype_enum
        end.attr["index"].i = 0
        return self.graph_def

    def _node(self, op_type: str) -> Any:
        return self.graph_def.node.add(name=f"{op_type}/_{len(self.graph_def.node)}", op=op_type)

    def _dataset(self, made: Dataset) -> str:
        origin = made.origin
        if origin is None or origin.node is None:
            kind = "dataset" if origin is None else origin.op_type
            raise FailedPreconditionError(None, None, f"A {kind} that no op of the graph made can't be written.")
        if origin.op_type == "NonSerializableDataset":
            raise UnimplementedError(None, None, "A dataset that says it is not serializable can't be written.")
        inputs = [self._input(origin, value, dtype) for value, dtype in zip(origin.values(), origin.node.input_dtypes)]
        node = self._node(origin.node.type)
        node.input.extend(inputs)
        for attr in op_defs.get(origin.node.type).attrs:
            value = origin.node.attribute(attr.name)
            node.attr[attr.name].CopyFrom(attributes.to_proto(value))
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, NameAttrList):
                    self._function(part.name)
        return node.name

    def _input(self, origin: Origin, value: Any, dtype: DType) -> str:
        if isinstance(value, Dataset):
            return self._names[value]
        if not isinstance(value, (torch.Tensor, np.ndarray)):
            problem = f"{origin.op_type} takes a {type(value).__name__}, which can't be written into a graph."
            raise FailedPreconditionError(None, None, problem)
        array = to_numpy(value, dtype) if isinstance(value, torch.Tensor) else value
        node = self._node("Const")
        node.attr["dtype"].type = dtype.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(make_tensor_proto(array, dtype=dtype, shape=array.shape))
        return node.name

    def _function(self, name: str) -> None:
        """Write a function and those that it calls."""
        written = {function.signature.name for function in self.graph_def.library.function}
        function: Any = self._graph._functions.get(name)
        if name in written or function is None:
            return
        if (kind := kept_state(self._graph, name, self._allowed)) is not None:
            raise FailedPreconditionError(None, None, f"{kind} is stateful.")
        self.graph_def.library.function.append(function.definition)
        for node in function.definition.node_def:
            self._function(node.op)
            for called in _called(node):
                self._function(called.name)


def _called(message: Message) -> Iterator[NameAttrList]:
    """The names of functions anywhere in a message."""
    if isinstance(message, NameAttrList):
        yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            inner = [v for v in value.values() if isinstance(v, Message)]
        else:
            inner = [value] if isinstance(value, Message) else list(value)
        for part in inner:
            yield from _called(part)


@fresh("DatasetToGraph")
def dataset_to_graph(input_dataset: Dataset, *, stateful_whitelist: list[str], session: Session) -> Strings:
    written = _Writer(session.graph, stateful_whitelist).write(input_dataset)
    return strings([written.SerializeToString(deterministic=True)], ())


# --- reading ---------------------------------------------------------------------------------


def _renamed(graph_def: GraphDef, suffix: str) -> None:
    """Give functions names of their own: the graph that reads them may have others of the same names."""
    names = {function.signature.name for function in graph_def.library.function}
    for function in graph_def.library.function:
        function.signature.name += suffix
        for node in function.node_def:
            node.op += suffix if node.op in names else ""
    for gradient in graph_def.library.gradient:
        gradient.function_name += suffix
        gradient.gradient_func += suffix
    for called in _called(graph_def):
        called.name += suffix if called.name in names else ""


def _read(data: bytes, suffix: str) -> GraphFunction:
    """A function without arguments that makes the dataset of a GraphDef."""
    try:
        graph_def = GraphDef.FromString(data)
    except DecodeError:
        raise InvalidArgumentError(None, None, "Could not parse GraphDef") from None
    results = [node.input[0] for node in graph_def.node if node.op == _RESULT and node.input]
    if not results:
        raise NotFoundError(None, None, "FetchOutputs node : not found")
    kept = [node for node in graph_def.node if node.op != _RESULT]
    del graph_def.node[:]
    graph_def.node.extend(kept)
    _renamed(graph_def, suffix)
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
        made = graph.get_tensor_by_name(results[-1] if ":" in results[-1] else f"{results[-1]}:0")
    definition = to_function_def(graph, f"dataset{suffix}", [], [made])
    return GraphFunction(definition, {f.name: f for f in functions_from_library(graph_def.library)})


@dataset("DatasetFromGraph")
def dataset_from_graph(graph_def: Strings, *, session: Session, step: Step) -> Dataset:
    data = scalar_string(graph_def, "graph_def")
    suffix = f"_{hashlib.sha1(data).hexdigest()[:16]}"
    known = session.graph._functions
    if f"dataset{suffix}" not in known:
        function = _read(data, suffix)
        for each in [*function._library.values(), function]:
            known.setdefault(each.name, each)
    (made,) = session.function(f"dataset{suffix}")(step=step)
    return made
