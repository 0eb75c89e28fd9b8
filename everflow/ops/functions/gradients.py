"""Gradients through calls of functions: a backward function, fed by what the forward function kept for it."""

from __future__ import annotations

import contextlib
import contextvars
import weakref

from everflow.framework import nest, tapes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import body_of, call_attr
from everflow.framework.registry import gradient
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.ops import array
from everflow.ops.functions import collection
from everflow.ops.functions.bodies import BodyGraph, define, grow, returned, unique_name
from everflow.ops.functions.nesting import room_for_a_body
from everflow.ops.gradients.reverse import gradients, is_trainable


class Backward:
    """The derivative of a body: `graph` takes gradients of its outputs, and by capture whatever it needs of the body."""

    def __init__(self, body, grads, name, graph_class=BodyGraph, keep_slices=False, all_inputs=True):
        """`grads`: for each output of the body its gradient outside, or None. `keep_slices`: gradients that are slices
        stay so. `all_inputs`: integers and flags have one, too, where a branch inside gives zeros for them.
        """
        self.graph = graph = graph_class(name, body.graph)
        graph._functions.update(body.graph._functions)
        graph.gradient_source = _gradient_source()
        with room_for_a_body(), graph.as_default():
            pairs = [(y, graph.take_gradient(g)) for y, g in zip(body.outputs, grads) if g is not None]
            xs = [x for x in body.inputs if all_inputs or is_trainable(x)]
            found = gradients([y for y, _ in pairs], xs, [g for _, g in pairs]) if pairs and xs else [None] * len(xs)
            by_input = dict(zip(xs, found))
            # For each input of the body: the gradient in `graph`, or None.
            self.results = [self._result(by_input.get(x), keep_slices) for x in body.inputs]

    def _result(self, found, keep_slices):
        if found is None:
            return None
        if keep_slices and isinstance(found, IndexedSlices):
            parts = (found.values, found.indices, found.dense_shape)
            return IndexedSlices(*(None if part is None else self.graph.capture(part) for part in parts))
        return self.graph.capture(convert_to_tensor(found))

    def flat_results(self):
        """The tensors that the gradients are made of, as results of the function."""
        with self.graph.as_default():
            flat = nest.flatten(self.results, expand_composites=True)
            return returned(self.graph, [tensor for tensor in flat if tensor is not None])

    def pack(self, tensors):
        """The gradients, from what the function gave."""
        given = iter(tensors)
        flat = [None if part is None else next(given) for part in nest.flatten(self.results, expand_composites=True)]
        return nest.pack_sequence_as(self.results, flat, expand_composites=True)


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
    if op.graph.executes:
        raise LookupError(
            "A function called through its raw op has no gradient when executing eagerly; call the tf.function itself."
        )
    graph = get_default_graph()
    function = op.graph._get_function(op.attrs["f"].name)
    grads = given(op, grads)
    if _multiplies(function, op.graph) and not any(
        t.dtype.base_dtype.name in ("resource", "variant") for t in op.inputs
    ):
        return _grad_by_inputs(op, function, grads)
    parts = _Parts(function, grads)
    if not parts.results:
        return [None] * len(op.inputs)
    forward, made = parts.define([op.graph, graph], [graph])
    kept = [t.dtype.base_dtype for t in forward.body().outputs]
    saved = grow(op, parts.kept, f=call_attr(forward.name), Tout=kept)
    values = [g for g in grads if g is not None] + saved
    return parts.backward.pack(call(made, values, parts.results))


class _Parts:
    """The two functions that differentiating one in a graph takes: the function with what it keeps, and its derivative."""

    def __init__(self, function, grads):
        self._body = function.body()
        name = function.name.removeprefix("__inference_").removeprefix("__forward_").rpartition("_")[0]
        self._name = name or function.name
        self._backward_name = unique_name(f"__backward_{self._name}")
        self.backward = backward = Backward(self._body, grads, self._backward_name, keep_slices=True)
        self.kept = list(backward.graph._captures)
        self.results = backward.flat_results()

    def define(self, forward_graphs, backward_graphs):
        """(forward, backward), each of which says in an attribute how the other is called."""
        graph = self.backward.graph
        forward = define(self._body, unique_name(f"__forward_{self._name}"), *forward_graphs, keeping=self.kept)
        body = graph.body([*graph.inputs, *graph._captures.values()], self.results)
        backward = define(body, unique_name(f"__inference_{self._backward_name}"), *backward_graphs)
        forward.definition.attr["backward_function_name"].s = backward.name.encode()
        backward.definition.attr["forward_function_name"].s = forward.name.encode()
        return forward, backward


def add_gradient_functions(function, graph):
    """Let a graph's nodes call what differentiating a function takes."""
    flowing = [y if is_trainable(y) else None for y in function.body().outputs]
    _Parts(function, flowing).define([graph], [graph])


def _grad_by_inputs(op, function, grads):
    """The gradient as a function of the inputs, which computes anew what it needs; nothing is kept, so nothing
    multiplies.
    """
    flowing = [array.zeros_like(y) if g is None else g for y, g in zip(op.outputs, grads)]
    found = raw.SymbolicGradient(
        input=[*op.inputs, *flowing], Tout=[t.dtype.base_dtype for t in op.inputs], f=call_attr(function.name)
    )
    return [g if is_trainable(x) else None for x, g in zip(op.inputs, found)]


def _multiplies(function, graph) -> bool:
    """Whether a function calls others that call others, each more than once: what each of these calls keeps would be
    outputs of it, and
    there are many more of them than there are nodes."""
    expanded: dict[str, int | None] = {}  # name → calls that a call of it leads to; None while those inside are counted
    stack = [function.name]
    while stack:
        name = stack[-1]
        inside = _called_in(graph._get_function(name))
        missing = [f for f in inside if f not in expanded]
        if name not in expanded and missing:
            expanded[name] = None
            stack += missing
        else:
            expanded[name] = sum(1 + (expanded[f] or 0) for f in inside)
            stack.pop()
    drawn = sum(len(_called_in(graph._get_function(name))) for name in expanded)
    return expanded[function.name] > max(MOST_KEPT, 4 * drawn)


def _called_in(function) -> list[str]:
    """The functions that a function's body calls, by name, once for each call."""
    if function is None:
        return []
    if function not in _called:
        _called[function] = [node.attr["f"].func.name for node in function.definition.node_def if node.op in _CALLS]
    return _called[function]


_called: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
# Calls inside of a function that may keep what their derivatives need.
MOST_KEPT = 64


@contextlib.contextmanager
def function_executor_type(executor_type):
    """A context whose calls of functions ask for this kind of executor; here it only travels with the graph.

    Args:
        executor_type: Its name.

    Yields:
        None.

    Example:
        >>> with tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        ...     pass
    """
    token = _executor_type.set(executor_type or "")
    try:
        yield
    finally:
        _executor_type.reset(token)


def call(function, values, like, name=None):
    """A node that calls a function; its outputs have the shapes of the body's results `like`."""
    if executing_eagerly():
        return _call_eagerly(function, values)
    return _call_node(function, values, like, name)


def _call_node(function, values, like, name=None):
    stateful = function.op_definition.is_stateful
    build = raw.StatefulPartitionedCall if stateful else raw.PartitionedCall
    options = {} if like else {"name": "PartitionedFunctionCall"}
    if name:
        options["name"] = name
    made = build(
        args=values,
        Tout=[t.dtype.base_dtype for t in like],
        f=call_attr(function.name),
        config_proto=_CONFIG,
        executor_type=_executor_type.get(),
        **options,
    )
    op = made[0].op if like else made
    for tensor, result, shape in zip(op.outputs, like, _result_shapes(function, values, like)):
        tensor.set_shape(shape)
        tensor._handle_data = result._handle_data
    return list(op.outputs) if like else op


def _result_shapes(function, values, like):
    """The shapes of a call's results. Where more is known of the arguments than when the body was drawn, it is drawn
    once more with that.
    """
    body = function.body()
    if all(_adds_nothing(value.shape, argument.shape) for value, argument in zip(values, body.inputs)):
        return [result.shape for result in like]
    shapes = [value.shape for value in values]
    again = body_of(function.definition, body.graph._functions, None, [t._handle_data for t in body.inputs], shapes)
    return [result.shape.merge_with(known.shape) for result, known in zip(like, again.outputs)]


def _adds_nothing(shape, known):
    return shape.rank is None or (
        known.rank is not None and all(a is None or b is not None for a, b in zip(shape.sizes, known.sizes))
    )


def _call_eagerly(function, values):
    """The results of a function. Where a tape watches, the function that is run also keeps what its derivative needs."""
    if not tapes.watch_any(values):
        return _run(function, values)
    if not hasattr(function, "eager_derivative"):
        function.eager_derivative = _EagerDerivative(function)
    derivative = function.eager_derivative
    with tapes.stop_recording():
        found = _run(derivative.forward, values)
    results, saved = found[: derivative.count], found[derivative.count :]
    tapes.record(tapes.CallRecord(values, results, lambda *grads: derivative.gradients(values, results, saved, grads)))
    return results


def _run(function, values):
    build = raw.StatefulPartitionedCall if function.op_definition.is_stateful else raw.PartitionedCall
    function.add_to_graph(get_default_graph())
    collection.note(function)
    types = [t.dtype.base_dtype for t in function.body().outputs]
    found = build(
        args=values,
        Tout=types,
        f=call_attr(function.name),
        config_proto=_CONFIG,
        executor_type=_executor_type.get(),
    )
    for tensor, like in zip(found, function.body().outputs):
        tensor._handle_data = like._handle_data
    return list(found)


class _EagerDerivative:
    """A function in the two parts that differentiating it takes: `forward` with what is kept, and `backward` on that."""

    def __init__(self, function):
        self._function, self._as_one = function, None
        body = function.body()
        self.count = len(body.outputs)
        with (
            body.graph.outer_graph.as_default()
            if body.graph.outer_graph is not None
            else get_default_graph().as_default()
        ):
            flowing = [y if is_trainable(y) else None for y in body.outputs]
            backward = Backward(body, flowing, f"__backward_{function.name}", keep_slices=True)
            kept = list(backward.graph._captures)
            results = backward.flat_results()
        self._pack = backward.pack
        self._flowing = [y is not None for y in flowing]
        self._reached = [g is not None for g in backward.results]
        self.forward = define(body, unique_name(f"__forward_{function.name}"), keeping=kept)
        inputs = [*backward.graph.inputs, *backward.graph._captures.values()]
        self._backward = define(
            backward.graph.body(inputs, results), unique_name(f"__inference___backward_{function.name}")
        )

    def gradients(self, inputs, results, saved, grads):
        values = [
            array.zeros_like(y) if g is None else convert_to_tensor(g)
            for y, g, flows in zip(results, grads, self._flowing, strict=True)
            if flows
        ]
        if not any(self._reached):
            return [None] * len(self._reached)
        if tapes.watch_any([*inputs, *values]):
            found = iter(_call_eagerly(self._whole(), [*inputs, *values]))
        else:
            return self._pack(_run(self._backward, values + saved))
        return [next(found) if reached else None for reached in self._reached]

    def _whole(self):
        """The gradients as one function of inputs and output gradients: what is differentiated where a derivative of
        these is wanted.
        """
        if self._as_one is None:
            body = self._function.body()
            graph = BodyGraph(f"__gradient_{self._function.name}", get_default_graph())
            with tapes.stop_recording(), graph.as_default():
                xs = [graph.add_input(x.dtype, "x", x.shape) for x in body.inputs]
                for x, like in zip(xs, body.inputs):
                    x._handle_data = like._handle_data
                grads = [
                    graph.add_input(y.dtype, "grad", y.shape) for y, flows in zip(body.outputs, self._flowing) if flows
                ]
                self._function.add_to_graph(graph)
                ys = [y for y, flows in zip(_call_node(self._function, xs, body.outputs), self._flowing) if flows]
                wanted = [x for x, reached in zip(xs, self._reached) if reached]
                found = returned(graph, [graph.capture(convert_to_tensor(g)) for g in gradients(ys, wanted, grads)])
            self._as_one = define(graph.body(graph.inputs, found), unique_name(graph.name))
        return self._as_one


# The options that TensorFlow on a machine without accelerators writes into each call.
_CONFIG = b"\n\x07\n\x03GPU\x10\x00\n\x07\n\x03CPU\x10\x012\x02J\x008\x01"
# The executor that the calls drawn now ask for.
_executor_type: contextvars.ContextVar[str] = contextvars.ContextVar("executor_type", default="")
