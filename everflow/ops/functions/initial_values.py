"""Initial values of variables that a function makes: drawn in its body, and drawn again in the graph around it, where the
variables are.
"""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import device, name_scope, outermost
from everflow.framework.walking import inputs_first
from everflow.ops.functions.bodies import BodyGraph


class UnliftableError(Exception):
    """An initial value hangs on what has no value outside of the function."""


def drawn(initial_value, dtype, name):
    """An initial value, or what a function gives that makes one, as a tensor of the body: it may use arguments."""
    if isinstance(initial_value, Tensor):
        return initial_value
    with name_scope(name or "Variable"), name_scope("Initializer"), device(None):
        value = initial_value() if callable(initial_value) else initial_value
        return convert_to_tensor(value, name="initial_value", dtype=dtype)


def leave_traces_of(variable, name):
    """As many nodes as TensorFlow leaves in the body where a variable was made: seeds that follow hang on their number."""
    with name_scope(name or "Variable"):
        raw.VarIsInitializedOp(variable.handle)
        with name_scope("cond"):
            raw.NoOp()
            raw.NoOp()


def is_random(tensor):
    """Whether something drawn in a body hangs on an op with state, as random numbers do."""
    graph = tensor.graph
    return any(
        t.op.definition.is_stateful for t in inputs_first(tensor, lambda t: t.op.inputs if t.graph is graph else ())
    )


def lifted(tensor, target=None):
    """An initial value drawn in a body, drawn again in another graph: the one around it by default. Where that executes
    eagerly, arguments have the values of the call that is being traced.
    """
    if tensor.is_eager or not isinstance(tensor.graph, BodyGraph):
        return tensor
    graph = tensor.graph
    outer = {inside: outside for outside, inside in graph._captures.items()}
    around, target = outermost(graph), target or outermost(graph)
    if around.executes:
        outer.update(graph.first_arguments)
    arguments = set(graph.inputs)

    def inputs_of(t):
        if t in arguments and t not in outer:
            raise UnliftableError(
                f"The initial value of a variable made in a function can't depend on the function's argument {t.op.name}."
            )
        return [] if t in outer else t.op.inputs

    made, copies = {}, {}
    for t in inputs_first(tensor, inputs_of):
        if t in outer:
            copies[t] = lifted(outer[t])
            if isinstance(target, BodyGraph):
                copies[t] = target.capture(copies[t])
            continue
        if t.op not in made:
            with target.as_default(), target.control_dependencies(None):
                dtypes, inputs = [o.dtype for o in t.op.outputs], [copies[x] for x in t.op.inputs]
                made[t.op] = target.add_op(t.op.definition, inputs, dtypes, dict(t.op.attrs), t.op.name)
        copies[t] = made[t.op].outputs[t.value_index]
    return copies[tensor]
