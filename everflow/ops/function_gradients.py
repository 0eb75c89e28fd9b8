"""Gradients through calls of functions: a backward function, fed by what the forward function kept for it."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import call_attr
from everflow.framework.registry import gradient
from everflow.framework.scopes import get_default_graph
from everflow.ops import array
from everflow.ops.function_bodies import BodyGraph, define, grow, unique_name
from everflow.ops.gradients import gradients, is_trainable


class Backward:
    """The derivative of a body: `graph` takes gradients of its outputs, and by capture whatever it needs of the body."""

    def __init__(self, body, grads, name, graph_class=BodyGraph):
        """`grads`: for each output of the body its gradient outside, or None."""
        self.graph = graph = graph_class(name, body.graph)
        graph._functions.update(body.graph._functions)
        graph.gradient_source = _gradient_source()
        with graph.as_default():
            pairs = [(y, graph.add_input(g.dtype, "placeholder", g.shape)) for y, g in zip(body.outputs, grads) if g is not None]
            xs = [x for x in body.inputs if is_trainable(x)]
            found = gradients([y for y, _ in pairs], xs, [g for _, g in pairs]) if pairs and xs else [None] * len(xs)
            by_input = dict(zip(xs, found))
            # For each input of the body: the gradient as a tensor of `graph`, or None.
            self.results = [None if by_input.get(x) is None else graph.capture(convert_to_tensor(by_input[x])) for x in body.inputs]


def _gradient_source():
    """The name of the `tf.gradients` call that is being drawn, outside of all functions."""
    graph = get_default_graph()
    parts = graph.get_name_scope().split("/")
    inside = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    return getattr(graph, "gradient_source", None) or ("/".join(parts[: inside[-1] + 1]) if inside else None)


def given(op, grads):
    """The gradients that flow into an op's outputs as tensors, None where nothing can."""
    return [
        None if g is None or not is_trainable(y) else convert_to_tensor(g)
        for y, g in zip(op.outputs, list(grads) + [None] * len(op.outputs))
    ]


@gradient("PartitionedCall", "StatefulPartitionedCall")
def _call_grad(op, *grads):
    graph = get_default_graph()
    function = op.graph._get_function(op.attrs["f"].name)
    body = function.body()
    grads = given(op, grads)
    base = function.name.removeprefix("__inference_").removeprefix("__forward_").rpartition("_")[0] or function.name
    backward = Backward(body, grads, f"__backward_{base}")
    kept = list(backward.graph.captures)
    with backward.graph.as_default():
        results = [array.identity(g) for g in backward.results if g is not None]
    if not results:
        return [None] * len(op.inputs)
    forward = define(body._replace(outputs=[*body.outputs, *kept]), unique_name(f"__forward_{base}"), op.graph, graph)
    saved = grow(op, kept, f=call_attr(forward.name), Tout=[t.dtype.base_dtype for t in [*body.outputs, *kept]])
    inputs = [*backward.graph.inputs, *backward.graph.captures.values()]
    made = define(backward.graph.body(inputs, results), unique_name(f"__inference___backward_{base}"), graph)
    values = [g for g in grads if g is not None] + saved
    outputs = iter(call(made, values, results))
    return [None if g is None else next(outputs) for g in backward.results]


def call(function, values, like, name=None):
    """A node that calls a function; its outputs have the shapes of the body's results `like`."""
    stateful = function.op_definition.is_stateful
    build = raw.StatefulPartitionedCall if stateful else raw.PartitionedCall
    options = {} if like else {"name": "PartitionedFunctionCall"}
    if name:
        options["name"] = name
    made = build(args=values, Tout=[t.dtype.base_dtype for t in like], f=call_attr(function.name), config_proto=_CONFIG, **options)
    op = made[0].op if like else get_default_graph().get_operations()[-1]
    for tensor, result in zip(op.outputs, like):
        tensor.set_shape(result.shape)
        tensor._handle_data = result._handle_data
    return list(op.outputs) if like else op


# The options that TensorFlow on a machine without accelerators writes into each call.
_CONFIG = b"\n\x07\n\x03GPU\x10\x00\n\x07\n\x03CPU\x10\x012\x02J\x008\x01"
