"""`tensorflow.python.keras.engine.base_layer_utils`: where a layer is being called, what its tensors come from, and how its
variables are made.
"""

# ruff: noqa: F401  Names handed on are a purpose of this file.

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from everflow.framework import dtypes, nest
from everflow.framework.functions import FuncGraph
from everflow.framework.graph_scopes import reading_as
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, get_default_graph, init_scope
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras import metrics
from everflow.keras.backend.state import in_symbolic_graph
from everflow.keras.engine import call_context as calls
from everflow.keras.engine import op_layers
from everflow.keras.engine.autocasting import (
    disable_v2_dtype_behavior,
    enable_v2_dtype_behavior,
    v2_dtype_behavior_enabled,
)
from everflow.keras.engine.base_layer import _made_by, resolve_trainable
from everflow.keras.engine.call_context import CallContext
from everflow.keras.engine.network import Network
from everflow.keras.engine.topology import Topology
from everflow.ops.array.constants import placeholder
from everflow.ops.variables.variable import Variable, VariableAggregation, VariableSynchronization
from everflow.platform.signatures import takes

# --- where we are --------------------------------------------------------------------------------


def call_context() -> CallContext:
    """What is known of the layer that is being called."""
    return calls.call_context


def is_in_keras_graph() -> bool:
    """Whether ops are drawn in the graph that Keras keeps for models, where all else runs at once."""
    return in_symbolic_graph()


def is_in_tf_function() -> bool:
    """Whether a function is being traced where all else runs at once."""
    graph = get_default_graph()
    if in_symbolic_graph() or not isinstance(graph, FuncGraph):
        return False
    with init_scope():
        return executing_eagerly()


def is_in_eager_or_tf_function() -> bool:
    """Whether operations run at once, or a function of them is being traced."""
    return executing_eagerly() or is_in_tf_function()


def check_graph_consistency(tensor: Any = None, method: str = "add_loss", force_raise: bool = False) -> None:
    """RuntimeError for a tensor of a branch or loop in the graph of a model, whose loss or metric it can't be."""
    inside = (
        tensor is not None and getattr(tensor.graph, "_get_control_flow_context", None) if _is_drawn(tensor) else None
    )
    if force_raise or (
        in_symbolic_graph() and inside is not None and tensor.op._get_control_flow_context() is not None
    ):
        raise RuntimeError(
            f"`{method}` was given a tensor of a branch or loop in the graph of a model. Call it with what the branch gives, or make "
            "the layer with `dynamic=True`, for eager execution."
        )


def _is_drawn(tensor: Any) -> bool:
    return isinstance(tensor, Tensor) and not tensor.is_eager


# --- where tensors come from -----------------------------------------------------------------------


def have_all_keras_metadata(tensors: Any) -> bool:
    """Whether all tensors come from layers."""
    return all(hasattr(tensor, "_keras_history") for tensor in nest.flatten(tensors))


def needs_keras_history(tensors: Any, ignore_call_context: bool = False) -> bool:
    """Whether some tensors were made by plain ops of what comes from layers."""
    if ignore_call_context:
        with CallContext().told(None):
            return uses_keras_history(tensors) and not have_all_keras_metadata(tensors)
    return op_layers.needs_history(tensors)


def uses_keras_history(tensors: Any) -> bool:
    """Whether some tensors depend on what comes from layers."""
    return op_layers._come_from_keras([tensor for tensor in nest.flatten(tensors) if _is_drawn(tensor)])


def create_keras_history(tensors: Any) -> list:
    """Wrap the plain ops that made tensors into layers; gives those."""
    op_layers.give_history(tensors)
    return list({id(t._keras_history.layer): t._keras_history.layer for t in nest.flatten(tensors)}.values())


def mark_checked(tensors: Any) -> None:
    """Note that tensors need no history."""
    for tensor in nest.flatten(tensors):
        tensor._keras_history_checked = True


def collect_previous_mask(input_tensors: Any) -> Any:
    """The masks that came with tensors, in their structure."""
    return nest.map_structure(lambda tensor: getattr(tensor, "_keras_mask", None), input_tensors)


def generate_placeholders_from_shape(shape: Any) -> Any:
    """A placeholder of a shape, in the graph that is drawn."""
    return placeholder(K.floatx(), TensorShape(shape))


# --- layers --------------------------------------------------------------------------------------


def is_subclassed(layer: Any) -> bool:
    """Whether a layer's class is the program's own."""
    return not type(layer).__module__.startswith(("everflow.keras", "tensorflow.python.keras"))


def from_saved_model(layer: Any) -> bool:
    """Whether a layer was made of what a SavedModel holds."""
    return type(layer).__module__.startswith("everflow.keras.saving")


def default(method: Callable) -> Callable:
    """Decorator: a method that stands for the one which subclasses may write."""
    method._is_default = True  # type: ignore[attr-defined]
    return method


def training_arg_passed_to_call(argspec: Any, args: tuple, kwargs: dict) -> bool:
    """Whether a call says whether it trains."""
    given = dict(zip(argspec.args[2:], args[1:] if len(args) > len(argspec.args[2:]) else args)) | kwargs
    return given.get("training") is not None


def create_mean_metric(value: Any, name: str | None = None) -> tuple:
    """(a metric that averages, its result with a first value)."""
    metric = metrics.Mean(name=name, dtype=value.dtype)
    return metric, metric(value)


def autocast_context_manager(dtype: Any) -> contextlib.AbstractContextManager:
    """A context in which variables of floats are read as another type."""
    if dtype is None or not dtypes.as_dtype(dtype).is_floating:
        return contextlib.nullcontext()
    return reading_as(dtypes.as_dtype(dtype).name)


@takes(
    """name, shape=None, dtype=float32, initializer=None, trainable=None, caching_device=None, validate_shape=True,
    constraint=None, use_resource=None, collections=None, synchronization=AUTO, aggregation=NONE, partitioner=None""",
    float32=dtypes.float32,
    AUTO=VariableSynchronization.AUTO,
    NONE=VariableAggregation.NONE,
)
def make_variable(name, shape, dtype, initializer, trainable, use_resource, partitioner, **settings):
    """A variable as layers make them: with the initializer called for its shape."""
    initial = initializer
    if initializer is not None and callable(initializer):
        made = _made_by(initializer)

        def initial():
            return made(shape, dtype=dtype)

    settings["trainable"] = resolve_trainable(trainable, settings["synchronization"])
    settings["use_resource"] = True if use_resource is None else use_resource
    known = TensorShape(shape)
    return Variable(initial, name=name, dtype=dtype, shape=known if known.rank else None, **settings)


# --- networks ------------------------------------------------------------------------------------


def _is_hdf5_filepath(filepath: str) -> bool:
    return str(filepath).endswith((".h5", ".keras", ".hdf5"))


def _make_node_key(layer_name: str, node_index: int) -> str:
    return f"{layer_name}_ib-{node_index}"


def _should_skip_first_node(layer: Any) -> bool:
    """Whether the first node of a model stands for its own making rather than for a call."""
    return isinstance(layer, Network) and layer._is_graph_network


def _map_subgraph_network(inputs: Any, outputs: Any) -> tuple[list, list]:
    """(nodes, layers) on the way from inputs to outputs."""
    if op_layers.needs_history(outputs, constants_too=True):
        op_layers.give_history(outputs)
    found = Topology(nest.flatten(inputs), nest.flatten(outputs))
    return [node for nodes in found.nodes_by_depth.values() for node in nodes], found.layers


def _map_graph_network(inputs: Any, outputs: Any) -> tuple:
    """(keys of nodes, nodes by depth, layers in order, layers by depth) between inputs and outputs."""
    found = Topology(nest.flatten(inputs), nest.flatten(outputs))
    keys = {
        _make_node_key(layer.name, index)
        for layer in found.layers
        for index in range(len(layer._inbound_nodes))
        if found.has(layer, index)
    }
    return keys, found.nodes_by_depth, found.layers, found.layers_by_depth
