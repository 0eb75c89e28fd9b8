"""Plain ops between Keras's layers: each becomes a layer, so that `tf.nn.relu(dense(x))` can be part of a model."""

from __future__ import annotations

from google.protobuf import json_format

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph
from everflow.keras import backend as K
from everflow.keras.backend.state import get_graph
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.call_context import call_context
from everflow.ops.array.constants import constant
from everflow.protos.node_def_pb2 import NodeDef

_PREFIX = "tf_op_layer_"


def needs_history(inputs, constants_too=False):
    """Whether some of the tensors were made by plain ops of tensors that come from `Input`, or of none at all."""
    if call_context.in_call:
        return False
    unknown = [
        t for t in nest.flatten(inputs) if isinstance(t, Tensor) and not t.is_eager and not hasattr(t, "_keras_history")
    ]
    return bool(unknown) and (constants_too or _come_from_keras(unknown))


def _come_from_keras(tensors):
    seen, waiting = set(), list(tensors)
    while waiting:
        tensor = waiting.pop()
        if hasattr(tensor, "_keras_history"):
            return True
        if tensor.op not in seen:
            seen.add(tensor.op)
            waiting.extend(tensor.op.inputs)
    return False


def give_history(tensors):
    """Wrap the ops that made these tensors, back to the last layers, into layers."""
    with get_graph().as_default():
        for tensor in nest.flatten(tensors):
            if isinstance(tensor, Tensor) and not hasattr(tensor, "_keras_history"):
                _wrap(tensor.op)


def _value_of(tensor):
    """What a tensor is that depends on no input: computed, or when executing eagerly taken from outside."""
    if getattr(tensor.graph, "takes_eager_ops", False):
        outside = {inner: outer for outer, inner in tensor.graph._captures.items()}
        if tensor in outside or tensor.op.type == "Const":
            return outside[tensor].numpy() if tensor in outside else tensor.op.attrs["value"].array
    return K.function([], tensor)([])


def _wrap(op):
    inputs, constants = [], {}
    for index, tensor in enumerate(op.inputs):
        if hasattr(tensor, "_keras_history") or _come_from_keras([tensor]):
            inputs.append(tensor)
        else:
            # What doesn't come from `Input` is a constant of the new layer, with the value it has now.
            constants[index] = _value_of(tensor)
    give_history(inputs)
    layer = TensorFlowOpLayer(op.node_def, op.name, constants)
    layer._connect(inputs, list(op.outputs), {})


class TensorFlowOpLayer(Layer):
    """A layer that makes one op; `constants` are the inputs that don't come from layers, by position."""

    def __init__(self, node_def, name, constants=None, trainable=True, dtype=None):
        super().__init__(name=_PREFIX + name, trainable=trainable, dtype=dtype)
        self.node_def = json_format.ParseDict(node_def, NodeDef()) if isinstance(node_def, dict) else node_def
        # JSON has only text as keys.
        self.constants = {int(index): value for index, value in (constants or {}).items()}
        self.built = True

    def call(self, inputs):
        node = self.node_def
        tensors = list(nest.flatten(inputs))
        for index, value in sorted(self.constants.items()):
            tensors.insert(index, constant(value, name=node.input[index]))
        op = get_default_graph().create_op(node.op, tensors, name=node.name, attrs=dict(node.attr))
        return op.outputs[0] if len(op.outputs) == 1 else list(op.outputs)

    def get_config(self):
        own = {"node_def": json_format.MessageToDict(self.node_def), "constants": self.constants}
        return {**super().get_config(), "name": self.name.removeprefix(_PREFIX), **own}
