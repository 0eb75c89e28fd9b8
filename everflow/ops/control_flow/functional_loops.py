"""`tf.while_loop` as a `While` op that calls functions for its condition and body, and its gradient.

The gradient is a loop that runs backwards: what it needs of each iteration, the forward loop pushes onto lists.
"""

from __future__ import annotations

import functools

import numpy as np

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import call_attr
from everflow.framework.registry import gradient
from everflow.framework.scopes import control_dependencies, get_default_graph, name_scope
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.contexts import mark_for_lowering
from everflow.ops.control_flow.loops import check_invariant
from everflow.ops.control_flow.switches import output_all_intermediates
from everflow.ops.functions.bodies import (
    WhileBodyFuncGraph,
    WhileCondFuncGraph,
    add_placeholder,
    as_stored,
    define,
    finished,
    grow,
    intermediates_of,
    is_kept,
    returned,
    stateful_ops,
    unique_name,
)
from everflow.ops.functions.gradients import Backward, given
from everflow.ops.gradients.reverse import is_trainable, zeros_for
from everflow.ops.tensor_arrays.flows import flow_of, with_flows_of


def functional_loop(cond, body, loop_vars, shapes, parallel_iterations, name, maximum_iterations, same_structure):
    """The last loop variables as outputs of a `While`; `shapes(tensors)` gives the shapes they keep. Gradients flow
    through it in any case.
    """
    flat = nest.flatten(list(loop_vars), expand_composites=True)
    tensors = [convert_to_tensor(flow_of(x)) for x in flat]
    with name_scope(name, "while") as scope:
        outputs = _draw_loop(
            cond, body, loop_vars, flat, tensors, shapes(tensors), parallel_iterations, scope, maximum_iterations
        )
    final = nest.pack_sequence_as(loop_vars, with_flows_of(flat, outputs), expand_composites=True)
    return final if same_structure or len(outputs) != 1 else nest.flatten(final)[0]


_KINDS = {"cond": WhileCondFuncGraph, "body": WhileBodyFuncGraph}


def _draw_loop(cond, body, loop_vars, flat, tensors, invariants, parallel_iterations, scope, maximum_iterations):
    """Draw condition and body, and the `While` that calls them; returns its outputs for the loop variables."""
    graph = get_default_graph()
    limit = (
        constant(-1, dtypes.int32, name="maximum_iterations")
        if maximum_iterations is None
        else convert_to_tensor(maximum_iterations, dtypes.int32, name="maximum_iterations")
    )
    counter = constant(0, limit.dtype, name="loop_counter")
    started = [counter, limit, *tensors]
    flat_name = scope.replace("/", "_")

    def draw(which):
        drawn = _KINDS[which](unique_name(flat_name + which), graph)
        drawn.belong_to(graph)
        with drawn.as_default():
            inputs = [drawn.add_input(t.dtype, t.op.name, []) for t in (counter, limit)]
            for tensor, shape in zip(tensors, invariants):
                inputs.append(drawn.add_input(tensor.dtype.base_dtype, "placeholder", shape))
                inputs[-1]._handle_data = tensor._handle_data
        return drawn, inputs

    def packed(inputs):
        return nest.pack_sequence_as(loop_vars, with_flows_of(flat, inputs[2:]), expand_composites=True)

    test, test_inputs = draw("cond")
    with test.as_default():
        condition = cond(*packed(test_inputs))
        one = nest.flatten(condition)
        if len(one) != 1 or one[0] is None:
            raise AssertionError(f"cond must return one bool tensor, but returned {condition}")
        condition = convert_to_tensor(condition)
        if maximum_iterations is not None:
            condition = raw.LogicalAnd(x=test_inputs[0] < test_inputs[1], y=condition)
        if not test.orders_state:
            test.control_outputs = stateful_ops(test)
        [condition] = finished(test, [condition])
    again, inputs = draw("body")
    for tensor in test._captures:
        again.capture(tensor)
    with again.as_default():
        result = body(*packed(inputs))
        result = list(result) if nest.is_sequence_or_composite(result) else [result]
        if any(value is None for value in nest.flatten(result)):
            raise AssertionError("body must return a value for each loop variable, but returned None for one")
        nest.assert_same_structure(list(packed(inputs)), result, expand_composites=True)
        results = [convert_to_tensor(flow_of(x)) for x in nest.flatten(result, expand_composites=True)]
        for start, shape, after in zip(tensors, invariants, results):
            if start.dtype.base_dtype != after.dtype.base_dtype:
                raise TypeError(
                    f"{start.name} enters the loop with type {start.dtype!s}, and leaves its body as {after.dtype!s}: cast it"
                )
            check_invariant(start, shape, after)
        outputs = [inputs[0] + 1, inputs[1], *results]
        if not again.orders_state:
            again.control_outputs = stateful_ops(again)
        outputs = finished(again, outputs)
    captured = list(dict.fromkeys([*test._captures, *again._captures]))
    stand_ins = [again.capture(t) for t in captured]
    test_stand_ins = [test.capture(t) for t in captured]
    functions = (
        define(test.body(test_inputs + test_stand_ins, [condition]), test.name, graph),
        define(again.body(inputs + stand_ins, outputs + stand_ins), again.name, graph),
    )
    kept = [counter.shape, limit.shape, *invariants, *(t.shape for t in captured)]
    with control_dependencies([*test.control_captures, *again.control_captures]):
        op = _build_while([*started, *captured], functions, kept, parallel_iterations, scope)
    _count_outputs(op)
    if output_all_intermediates():
        drawn = functions[1].body()
        invariant = {x for x, y in zip(drawn.inputs, drawn.outputs) if x is y}
        pushed = [t for t in (*drawn.inputs[1:], *intermediates_of(drawn), *drawn.outputs) if t not in invariant]
        _keep(op, *functions, drawn, [t for t in dict.fromkeys(pushed) if is_kept(t)], graph)
    return [array.identity(t) for t in op.outputs][2 : 2 + len(tensors)]


def _build_while(values, functions, shapes, parallel_iterations, name=None):
    made = raw.While(
        input=values,
        cond=call_attr(functions[0].name),
        body=call_attr(functions[1].name),
        output_shapes=shapes,
        parallel_iterations=parallel_iterations,
        name=name,
    )
    op = made[0].op
    mark_for_lowering(op)
    for tensor, value, shape in zip(op.outputs, values, shapes):
        tensor.set_shape(shape)
        tensor._handle_data = value._handle_data
    return op


def _count_outputs(op):
    """A mark of TensorFlow's: how many outputs a loop has, when it is drawn and whenever it is differentiated."""
    op.attrs["_num_original_outputs"] = len(op.outputs)


class _LoopBackward(WhileBodyFuncGraph):
    """The body of a loop's gradient: values of the forward body come from lists, one element for each iteration."""

    def __init__(self, body, name, outer_graph):
        super().__init__(name, outer_graph)
        self._invariant = {x for x, y in zip(body.inputs, body.outputs) if x is y}
        self._found = {}
        # How many iterations are done, the limit of the loop and how many there are to do.
        self.counted = [
            self.add_input(t.dtype.base_dtype, "placeholder", [])
            for t in (body.inputs[0], body.inputs[1], body.inputs[0])
        ]
        # What comes in besides gradients, in the order in which it was asked for: (tensor of the forward body, what
        # goes in, what goes out)
        self.carried = []
        # Tensors of the forward body that come from lists.
        self.lists = []

    def capture(self, tensor, consumer=None):
        if tensor.graph is self:
            return tensor
        while tensor.op.type == "Identity":
            tensor = tensor.op.inputs[0]
        if tensor in self._invariant:
            known = tensor in self._captures
            stand_in = super().capture(tensor, consumer)
            if not known:
                self.carried.append((tensor, stand_in, stand_in))
            return stand_in
        if tensor not in self._found:
            self._found[tensor] = (
                self.repeat_constant(tensor) if tensor.op.type == "Const" else self._popped(tensor, consumer)
            )
        return self._found[tensor]

    def _popped(self, tensor, consumer):
        held = self._placeholder(dtypes.variant, self._capture_name(tensor, consumer), [])
        with self.as_default(), self.control_dependencies(None):
            rest, value = raw.TensorListPopBack(
                input_handle=held, element_shape=-1, element_dtype=tensor.dtype.base_dtype
            )
        value.set_shape(tensor.shape)
        value._handle_data = tensor._handle_data
        self.lists.append(tensor)
        self.carried.append((tensor, held, rest))
        return value


def _element_shape(tensor):
    """The shape of a list's elements as its ops take it: -1 for what isn't known."""
    sizes = tensor.shape.sizes
    return np.array(-1 if sizes is None else [-1 if d is None else d for d in sizes], np.int32)


@gradient("While", "StatelessWhile")
def _while_grad(op, *grads):
    if len(op.inputs) < 2 or not all(t.dtype.base_dtype.is_integer for t in op.inputs[:2]):
        raise LookupError(
            f"No gradient defined for '{op.name}': it doesn't count its turns, as loops of tf.while_loop do"
        )
    graph = get_default_graph()
    test, again = (op.graph._get_function(op.attrs[key].name) for key in ("cond", "body"))
    body = as_stored(again, op.inputs)
    grads = [None if _is_rest_of_counts(y) else g for y, g in zip(body.outputs, given(op, grads))]
    graph_class = functools.partial(_LoopBackward, body)
    backward = Backward(body, grads, f"{again.name}_grad", graph_class, all_inputs=False)
    back = backward.graph
    with back.as_default():
        pairs = list(zip(body.inputs, grads, backward.results))
        results = [zeros_for(x) if result is None else result for x, g, result in pairs if g is not None]
    total, limit = op.outputs[0], op.inputs[1]
    start = constant(0, total.dtype, name="grad_counter")
    with back.as_default():
        outputs = returned(back, [back.counted[0] + 1, *back.counted[1:], *results])
    # Drawing all this may have taken further values, so what is kept is known only now.
    saved = {t: op.outputs[i] for t in back.lists if (i := _list_of(t, body)) is not None}
    fresh = [t for t in back.lists if t not in saved]
    saved = dict(zip(body.inputs, op.outputs)) | saved | dict(zip(fresh, _keep(op, test, again, body, fresh, graph)))
    _count_outputs(op)
    outside = [saved[t] for t, _, _ in back.carried]
    inputs = [*back.inputs, *(t for _, t, _ in back.carried)]
    outputs += [t for _, _, t in back.carried]
    until = WhileCondFuncGraph(unique_name(f"{op.attrs['cond'].name}_grad"), graph)
    with until.as_default():
        arguments = [until.add_input(t.dtype.base_dtype, "placeholder", t.shape) for t in inputs]
        condition = array.identity(arguments[0] < arguments[2])
    functions = (
        define(until.body(arguments, [condition]), until.name, graph, op.graph),
        define(back.body(inputs, outputs), unique_name(back.name), graph, op.graph),
    )
    shapes = [t.shape for t in outputs]
    values = [start, limit, total, *(g for g in grads if g is not None), *outside]
    made = _build_while(values, functions, shapes, op.attrs["parallel_iterations"], f"{op.name}_grad")
    found = iter([array.identity(t) for t in made.outputs][3:])
    return [next(found) if g is not None else None for g in grads]


def _is_rest_of_counts(output):
    """Whether a loop's body takes a list apart whose elements have no derivative, such as the counts of an earlier loop."""
    return output.op.type == "TensorListPopBack" and not is_trainable(output.op.outputs[1])


def _list_of(tensor, body):
    """Which output of a loop's body is the list that an earlier gradient has this tensor pushed onto, or None."""
    lists = {c.outputs[0] for c in tensor.consumers() if c.type == "TensorListPushBack" and c.inputs[1] is tensor}
    return next((index for index, output in enumerate(body.outputs) if output in lists), None)


def accumulator_name(tensor):
    """What the list is called that keeps a tensor of a loop's body for gradients."""
    return f"{tensor.name.replace(':', '_')}/accumulator"


def _keep(op, test, again, body, tensors, graph):
    """Let a loop push these tensors of its body onto lists; returns the lists as outputs of the loop."""
    if not tensors:
        return []
    condition = test.body()
    started, pushed, body_inputs, test_inputs = [], [], [], []
    for tensor in tensors:
        shape = _element_shape(tensor)
        with op.graph.as_default(), control_dependencies(None):
            empty = raw.EmptyTensorList(
                element_shape=shape if shape.size else constant(shape),
                max_num_elements=op.inputs[1] if op.inputs[1].dtype.base_dtype == dtypes.int32 else -1,
                element_dtype=tensor.dtype.base_dtype,
                name=accumulator_name(tensor),
            )
        started.append(empty)
        push = body.graph.unique_name("TensorListPushBack", mark_as_used=False)
        body_inputs.append(add_placeholder(body.graph, empty, dtypes.variant, f"{push}/{empty.op.name}"))
        test_inputs.append(add_placeholder(condition.graph, empty, dtypes.variant, empty.op.name))
        with body.graph.as_default(), control_dependencies(None):
            pushed.append(raw.TensorListPushBack(input_handle=body_inputs[-1], tensor=tensor))
    condition = condition._replace(inputs=[*condition.inputs, *test_inputs])
    body = body._replace(inputs=[*body.inputs, *body_inputs], outputs=[*body.outputs, *pushed])
    functions = [define(part, f"{f.name}_rewritten", op.graph, graph) for part, f in ((condition, test), (body, again))]
    return grow(
        op,
        pushed,
        started,
        cond=call_attr(functions[0].name),
        body=call_attr(functions[1].name),
        T=[*op.attrs["T"], *(dtypes.variant for _ in pushed)],
        output_shapes=[t.shape for t in body.outputs],  # as an iteration gives them, which may tell more than before
    )
