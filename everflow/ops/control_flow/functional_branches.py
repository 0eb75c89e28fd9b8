"""`tf.cond` as an `If` op that calls a function for each branch, and its gradient."""

from __future__ import annotations

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.functions import call_attr
from everflow.framework.operation import Operation
from everflow.framework.registry import gradient
from everflow.framework.scopes import control_dependencies, get_default_graph
from everflow.ops import array
from everflow.ops.constants import constant
from everflow.ops.function_bodies import BodyGraph, add_placeholder, define, grow, order_stateful_ops, unique_name
from everflow.ops.function_gradients import Backward, given
from everflow.ops.gradients import zeros_for
from everflow.ops.tensor_array import flow_of, with_flows_of


def functional_cond(pred, true_fn, false_fn, scope):
    """What the chosen branch returns, as outputs of an `If`; `scope` is its name with a slash."""
    true, false = _Branch(true_fn, scope, "true"), _Branch(false_fn, scope, "false")
    nest.assert_same_structure(true.structure, false.structure, expand_composites=True)
    for t, f in zip(true.outputs, false.outputs):
        if t.dtype.base_dtype != f.dtype.base_dtype:
            raise TypeError(f"true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure: {t}, {f}")
    captured = list(dict.fromkeys([*true.graph.captures, *false.graph.captures]))
    functions = [branch.define(captured) for branch in (true, false)]
    shapes = [t.shape.most_specific_compatible_shape(f.shape) for t, f in zip(true.outputs, false.outputs)]
    op = _build_if(pred, captured, functions, true.outputs, shapes, scope)
    if not true.outputs:
        return op
    outputs = [array.identity(t) for t in op.outputs]
    flat = nest.flatten(true.original, expand_composites=True)
    return nest.pack_sequence_as(true.original, with_flows_of(flat, outputs), expand_composites=True)


class _Branch:
    """One branch: its body, and what its function returned."""

    def __init__(self, function, scope, which):
        self.name = unique_name(f"{scope}{which}".replace("/", "_"))
        self.graph = graph = BodyGraph(self.name, get_default_graph())
        with graph.as_default():
            self.original = function()
            if self.original is None:
                raise ValueError(f"{which}_fn must have a return value.")
            flat = nest.flatten(self.original, expand_composites=True)
            # Where there are only ops, nothing is returned: a call runs them.
            if all(isinstance(x, Operation) for x in flat):
                self.structure, self.outputs, only = [], [], flat
            else:
                self.outputs = [self.result(x) for x in flat]
                self.structure, only = nest.pack_sequence_as(self.original, self.outputs, expand_composites=True), []
            graph.controls = list(dict.fromkeys([*order_stateful_ops(graph), *only]))

    def result(self, value):
        if isinstance(value, Operation):
            with control_dependencies([value]):
                return constant(True)
        return self.graph.capture(convert_to_tensor(flow_of(value)))

    def define(self, captured):
        inputs = [self.graph.captures[t] if t in self.graph.captures else add_placeholder(self.graph, t) for t in captured]
        return define(self.graph.body(inputs, self.outputs), self.name, self.graph.outer_graph)


def _build_if(pred, values, functions, like, shapes, name=None):
    build = raw.If if any(f.op_definition.is_stateful for f in functions) else raw.StatelessIf
    made = build(
        cond=pred,
        input=list(values),
        Tout=[t.dtype.base_dtype for t in like],
        then_branch=call_attr(functions[0].name),
        else_branch=call_attr(functions[1].name),
        output_shapes=shapes,
        name=name,
    )
    op = made[0].op if like else get_default_graph().get_operations()[-1]
    op.attrs["_lower_using_switch_merge"] = True
    for tensor, result, shape in zip(op.outputs, like, shapes):
        tensor.set_shape(shape)
        tensor._handle_data = result._handle_data
    return op


@gradient("If", "StatelessIf")
def _if_grad(op, *grads):
    graph = get_default_graph()
    grads = given(op, grads)
    branches = [op.graph._get_function(op.attrs[key].name) for key in ("then_branch", "else_branch")]
    bodies = [f.body() for f in branches]
    backwards = [Backward(body, grads, f"{f.name}_grad") for f, body in zip(branches, bodies)]
    wanted = [any(b.results[i] is not None for b in backwards) for i in range(len(op.inputs) - 1)]
    if not any(wanted):
        return [None] * len(op.inputs)
    for body, backward in zip(bodies, backwards):
        with backward.graph.as_default():
            backward.results = [
                array.identity(zeros_for(x) if g is None else g) for x, g, want in zip(body.inputs, backward.results, wanted) if want
            ]
    outside = _kept(op, branches, bodies, backwards, graph)
    values = list(dict.fromkeys(t for held in outside for t in held))
    functions = []
    for backward, held in zip(backwards, outside):
        back = backward.graph
        inputs = list(back.inputs) + [held[t] if t in held else add_placeholder(back, t) for t in values]
        back.controls = order_stateful_ops(back)
        functions.append(define(back.body(inputs, backward.results), unique_name(back.name), graph, op.graph))
    like = backwards[0].results
    shapes = [a.shape.most_specific_compatible_shape(b.shape) for a, b in zip(like, backwards[1].results)]
    made = _build_if(op.inputs[0], [g for g in grads if g is not None] + values, functions, like, shapes)
    outputs = iter([array.identity(t) for t in made.outputs])
    return [None] + [next(outputs) if want else None for want in wanted]


def _kept(op, branches, bodies, backwards, graph):
    """For each branch {value outside: its placeholder in the backward body}. What is computed in a branch becomes an output of the If."""
    kept = [[t for t in back.graph.captures if t not in body.inputs] for body, back in zip(bodies, backwards)]
    extra = [[], []]
    for mine, tensors in enumerate(kept):
        for tensor in tensors:
            other = 1 - mine
            with bodies[other].graph.as_default(), control_dependencies(None):
                stand_in = raw.FakeParam(dtype=tensor.dtype.base_dtype, shape=tensor.shape)
            extra[mine].append(tensor)
            extra[other].append(stand_in)
    saved = []
    if extra[0]:
        names = []
        for function, body, more in zip(branches, bodies, extra):
            made = define(body._replace(outputs=[*body.outputs, *more]), unique_name(f"{function.name}_rewritten"), op.graph, graph)
            names.append(call_attr(made.name))
        like = [a if a.op.type != "FakeParam" else b for a, b in zip(*extra)]
        saved = grow(
            op,
            like,
            then_branch=names[0],
            else_branch=names[1],
            Tout=[*op.attrs["Tout"], *(t.dtype.base_dtype for t in like)],
            output_shapes=[*op.attrs["output_shapes"], *(t.shape for t in like)],
        )
    held = []
    for mine, (body, back) in enumerate(zip(bodies, backwards)):
        start = 0 if mine == 0 else len(kept[0])
        position = {t: start + i for i, t in enumerate(kept[mine])}
        captures = back.graph.captures.items()
        held.append({op.inputs[1 + body.inputs.index(t)] if t in body.inputs else saved[position[t]]: inside for t, inside in captures})
    return held
