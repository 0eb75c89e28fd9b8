"""`tf.while_loop`: a loop built from Enter, Merge, LoopCond, Switch, NextIteration and Exit."""

from __future__ import annotations

import functools

from everflow.framework import nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor, convert_to_tensor_or_composite
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import (
    add_to_collection,
    control_dependencies,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.contexts import WhileContext, is_loop_constant_enter, switch_ref_or_tensor
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.control_flow.primitives import merge, next_iteration
from everflow.ops.control_flow.switches import draws_functions
from everflow.ops.tensor_arrays.flows import flow_of, with_flows_of


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None,
               maximum_iterations=None, return_same_structure=False):  # fmt: skip
    """Repeat `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` holds when run; returns the last loop variables.

    Args:
        cond: The function of the loop variables that returns a scalar bool tensor.
        body: The function of the loop variables that returns their next values.
        loop_vars: The first values: a tensor, or a structure of them.
        shape_invariants: The shapes that loop variables keep, where sizes change from round to round.
        parallel_iterations: How many rounds may be under way at the same time.
        back_prop: Whether gradients can be taken through it.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        name: The name of the operation in the graph.
        maximum_iterations: The most rounds.
        return_same_structure: Whether the result always has the structure of `loop_vars`; else one variable is returned
            alone.

    Returns:
        The last loop variables.

    Raises:
        TypeError: If `cond` or `body` is no function.
        ValueError: If there are no loop variables, or their types, shapes or structure change.

    Example:
        >>> total, i = tf.while_loop(lambda total, i: i < 5, lambda total, i: [total + i, i + 1], [0, 0])
        >>> sess.run([total, i])
        [np.int32(10), np.int32(5)]
    """
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if draws_functions() and not executing_eagerly():
        # Imported when needed: its gradients are built on top of this module.
        from everflow.ops.control_flow.functional_loops import functional_loop

        if shape_invariants is not None:
            nest.assert_same_structure(loop_vars, shape_invariants, expand_composites=False)
        shapes = functools.partial(flat_invariants, kept_shapes(loop_vars, shape_invariants))
        return functional_loop(
            cond, body, loop_vars, shapes, parallel_iterations, name, maximum_iterations, return_same_structure
        )
    with name_scope(name, "while", loop_vars):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        if maximum_iterations is not None:
            maximum_iterations = iteration_limit(maximum_iterations)
        if executing_eagerly():
            return _run_loop(cond, body, loop_vars, maximum_iterations, return_same_structure)
        if maximum_iterations is not None:
            alone = len(loop_vars) == 1 and not return_same_structure
            given = loop_vars
            cond, body, loop_vars = _counted(
                cond, body, loop_vars[0] if alone else loop_vars, maximum_iterations, alone
            )
            if shape_invariants is not None:
                nest.assert_same_structure(given, shape_invariants, expand_composites=False)
                shape_invariants = (TensorShape([]), shape_invariants[0] if alone else shape_invariants)
        if shape_invariants is not None:
            nest.assert_same_structure(loop_vars, shape_invariants, expand_composites=False)
        context = WhileContext(maximum_iterations, parallel_iterations, back_prop, swap_memory)
        # A nested loop is kept by the context it is nested in.
        if context.outer_context is None:
            add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result = build_loop(context, cond, body, loop_vars, shape_invariants, return_same_structure)
        return result[1] if maximum_iterations is not None else result


def iteration_limit(maximum_iterations):
    """The most rounds a loop may take, as a scalar tensor."""
    limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if limit.shape.rank != 0:
        raise ValueError(f"maximum_iterations must be a scalar, not of shape {limit.shape}")
    return limit


def _run_loop(cond, body, loop_vars, maximum_iterations, return_same_structure):
    """The loop as Python's own, when executing eagerly."""
    # With a limit, TensorFlow hands out one variable alone even where the body never ran.
    packed = maximum_iterations is not None and len(loop_vars) == 1 and not return_same_structure
    limit = None if maximum_iterations is None else int(maximum_iterations)
    done = 0
    while (limit is None or done < limit) and cond(*loop_vars):
        found = body(*loop_vars)
        if len(loop_vars) == 1 and not return_same_structure and not isinstance(found, (list, tuple)):
            packed, found = True, [found]
        nest.assert_same_structure(list(loop_vars), list(found), expand_composites=True)
        loop_vars = found
        done += 1
    loop_vars = nest.map_structure(lambda x: x if hasattr(x, "flow") else convert_to_tensor_or_composite(x), loop_vars)
    return loop_vars[0] if packed else loop_vars


def _counted(cond, body, loop_vars, maximum_iterations, alone):
    """The loop with a counter of iterations as its first variable; `alone` says that one variable is not in a list."""
    counter = constant(0, dtype=maximum_iterations.dtype, name="iteration_counter")
    call = (lambda function, v: function(v)) if alone else (lambda function, v: function(*v))
    return (
        lambda i, v: raw.LogicalAnd(x=i < maximum_iterations, y=call(cond, v)),
        lambda i, v: (i + 1, call(body, v)),
        (counter, loop_vars),
    )


def build_loop(context, pred, body, loop_vars, shape_invariants=None, return_same_structure=False):
    """Build the nodes of a loop in `context`; returns what comes out of its Exits, structured as the body's result."""
    flat = nest.flatten(loop_vars, expand_composites=True)
    kept = kept_shapes(loop_vars, shape_invariants)
    if any(x is None for x in flat):
        # The types are TensorFlow's.
        error = AttributeError if shape_invariants is None else TypeError
        raise error(f"A loop variable must be a tensor or what becomes one, but one of {loop_vars} is None.")
    tensors = [convert_to_tensor_or_composite(flow_of(x)) for x in flat]
    shapes = flat_invariants(kept, tensors)
    with context:
        body_result, exits = _build(context, pred, body, loop_vars, flat, tensors, shapes)
    outputs = with_flows_of(nest.flatten(body_result, expand_composites=True), exits)
    packed = nest.pack_sequence_as(body_result, outputs, expand_composites=True)
    if return_same_structure:
        return packed
    return packed[0] if len(exits) == 1 else packed


def kept_shapes(loop_vars, shape_invariants):
    """(number of tensors, the shapes they keep) of each loop variable; None where the caller leaves that to the tensor
    itself.
    """
    values = nest.flatten(loop_vars)
    given = [None] * len(values) if shape_invariants is None else _flatten_shapes(shape_invariants)
    kept = []
    for value, shape in zip(values, given):
        if isinstance(shape, TensorSpec):
            shape = shape.shape
        if shape is not None and not isinstance(shape, TensorShape):
            raise ValueError(f"shape_invariants must have a TensorShape for each loop variable; got {shape!r}")
        count = len(nest.flatten(value, expand_composites=True))
        if hasattr(value, "_kept_shapes"):
            kept.append((count, value._kept_shapes(shape)))
        else:
            kept.append((count, None if shape is None else [shape] * count))
    return kept


def flat_invariants(kept, tensors):
    """The shape that each tensor of the loop variables keeps: its own, or what the caller allows it."""
    tensors = iter(tensors)
    shapes = []
    for count, known in kept:
        own = [next(tensors).shape for _ in range(count)]
        shapes += own if known is None else known
    return shapes


def _flatten_shapes(shape_invariants):
    # A TensorShape is a sequence of dimensions to nest's eyes only where it is told so; here it is a leaf.
    if isinstance(shape_invariants, TensorShape):
        return [shape_invariants]
    if isinstance(shape_invariants, dict):
        return [s for key in sorted(shape_invariants) for s in _flatten_shapes(shape_invariants[key])]
    if isinstance(shape_invariants, (list, tuple)):
        return [s for item in shape_invariants for s in _flatten_shapes(item)]
    return [shape_invariants]


def _build(context, pred, body, loop_vars, flat, tensors, shapes):
    context.initialize_values(tensors)
    outer = context.outer_context
    real = tensors if outer is None else [outer.AddValue(t) for t in tensors]
    with control_dependencies(None):
        enters = [context.enter(t, use_input_shape=False) for t in real]
        for tensor in enters:
            tensor.graph.prevent_feeding(tensor)
    pivot = _pivot_around(outer)
    if pivot is not None:
        for tensor in enters:
            if is_loop_constant_enter(tensor.op.inputs[0].op):
                tensor.op._add_control_input(pivot.op)
    _set_invariants(real, enters, shapes)
    context.fix_enter(enters)
    context._loop_enters = list(enters)
    context.initialize_values(enters)
    merges = [merge([t, t])[0] for t in enters]
    context._pivot_for_pred = merges[0]
    condition = convert_to_tensor(pred(*_as_given(loop_vars, flat, merges)))
    context._pivot = raw.LoopCond(input=condition, name="LoopCond")
    switches = [switch_ref_or_tensor(t, context._pivot) for t in merges]
    inside = [raw.RefIdentity(input=t[1]) if t[1].dtype._is_ref_dtype else raw.Identity(input=t[1]) for t in switches]
    context._pivot_for_body = inside[0]
    packed = _as_given(loop_vars, flat, inside)
    body_result = _call_body(context, body, packed)
    nest.assert_same_structure(list(packed), list(body_result), expand_composites=True)
    results = [convert_to_tensor_or_composite(flow_of(x)) for x in nest.flatten(body_result, expand_composites=True)]
    if len(merges) != len(results):
        raise ValueError(
            f"body must return a value for each of the {len(merges)} loop variables, but returns {len(results)}"
        )
    nexts = [add_back_edge(m, v) for m, v in zip(merges, results)]
    exits = [raw.RefExit(data=t[0]) if t[0].dtype._is_ref_dtype else raw.Exit(data=t[0]) for t in switches]
    context._loop_exits = exits
    for merged, following in zip(merges, nexts):
        enforce_shape_invariant(merged, following)
    context.ExitResult(exits)
    return body_result, exits


def _call_body(context, body, packed):
    graph = get_default_graph()
    before = len(graph.get_collection(GraphKeys._SUMMARY_COLLECTION))
    result = body(*packed)
    if not nest.is_sequence_or_composite(result):
        result = [result]
    # Summaries written in the body hang on its result, so that they are not left out.
    written = graph.get_collection(GraphKeys._SUMMARY_COLLECTION)[before:]
    if written:
        del graph.get_collection_ref(GraphKeys._SUMMARY_COLLECTION)[before:]
        with control_dependencies(written):
            result = nest.map_structure(lambda x: with_dependencies(written, x), result, expand_composites=True)
    return result


def _pivot_around(context):
    while context is not None:
        pivot = context.GetControlPivot()
        if pivot is not None:
            return pivot
        context = context.outer_context
    return None


def _as_given(loop_vars, flat, tensors):
    """Tensors packed like the loop variables, flows among them as TensorArrays again."""
    return nest.pack_sequence_as(loop_vars, with_flows_of(flat, tensors), expand_composites=True)


def _fits_in(shape, other):
    if other.rank is None:
        return True
    if shape.rank != other.rank:
        return False
    return all(b is None or a == b for a, b in zip(shape.sizes, other.sizes))


def _set_invariants(values, enters, shapes):
    if len(shapes) != len(enters):
        raise ValueError(f"The number of shapes ({len(shapes)}) does not match that of loop variables ({len(enters)})")
    for value, enter, shape in zip(values, enters, shapes):
        if not _fits_in(value.shape, shape):
            raise ValueError(
                f"{value.name} starts with shape {value.shape}, which its shape invariant {shape} doesn't allow"
            )
        enter.set_shape(shape)


def enforce_shape_invariant(merged, following):
    """Raise where a loop variable comes round with a shape that its start doesn't allow."""
    check_invariant(merged.op.inputs[0].op.inputs[0], merged.shape, following)


def check_invariant(start, shape, after):
    """ValueError unless what a loop variable is after a round has the shape that all rounds are promised."""
    if not _fits_in(after.shape, shape):
        raise ValueError(
            f"Input tensor '{start.name}' enters the loop with shape {shape} and comes round with {after.shape}. If it may vary, "
            "say so in tf.while_loop's `shape_invariants`, with None for sizes that change."
        )


def add_back_edge(merged, value, enforce=True):
    """Close the loop for one variable: its next value goes to the Merge's second input."""
    value = next_iteration(value)
    if enforce:
        enforce_shape_invariant(merged, value)
    merged.op._update_input(1, value)
    return value
