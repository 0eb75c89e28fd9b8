"""What a converted function does around its body where a feature asks for it: a name scope, and results that wait for
ops with state.
"""

from __future__ import annotations

import functools

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, get_default_graph, name_scope
from everflow.ops import array
from everflow.ops.autograph.features import Feature


def scope_name_of(name):
    """A function's name as a name scope can have it."""
    name = name.replace("<lambda>", "lambda_").replace("$", "_")
    return f"fn{name}" if name.startswith("_") else name


def surrounded(function, features):
    """The function in a name scope of its own, its results after all that it does, as far as features ask for it."""
    scoped, ordered = Feature.NAME_SCOPES in features, Feature.AUTO_CONTROL_DEPS in features
    if not scoped and not ordered:
        return function
    scope = scope_name_of(function.__name__)

    @functools.wraps(function)
    def run(*args, **kwargs):
        if executing_eagerly():
            return function(*args, **kwargs)
        with name_scope(scope if scoped else None):
            return _in_order(lambda: function(*args, **kwargs)) if ordered else function(*args, **kwargs)

    return run


def _in_order(function):
    """What a function returns; its ops with state run in the order in which they were made, and before what it returns."""
    graph = get_default_graph()
    before = len(graph.get_operations())
    result = function()
    must_run, last = {}, {}
    for op in graph.get_operations()[before:]:
        if op.type == "Merge":
            _after_branches(op, must_run)
        if not op.definition.is_stateful:
            continue
        must_run[op] = None
        for used in dict.fromkeys(t for t in op.inputs if t.dtype.name == "resource") or (
            [None] if op._control_flow_context is None else []
        ):
            earlier = last.get(used)
            if earlier is not None and earlier._control_flow_context is op._control_flow_context:
                op._add_control_input(earlier)
            last[used] = op

    def waiting(value):
        if not isinstance(value, Tensor):
            return value
        value = array.identity(value)
        for op in must_run:
            value.op._add_control_input(op)
        return value

    return nest.map_structure(waiting, result, expand_composites=True)


def _after_branches(merge, must_run):
    """Where branches meet, what has to run in one of them has run: what a branch gives waits for it."""
    for position, value in enumerate(list(merge.inputs)):
        branch = value.op._control_flow_context
        inside = [op for op in must_run if branch is not None and op._control_flow_context is branch]
        if not inside:
            continue
        with branch:
            value = array.identity(value)
        for op in inside:
            value.op._add_control_input(op)
            del must_run[op]
        merge._update_input(position, value)
        must_run[merge] = None
