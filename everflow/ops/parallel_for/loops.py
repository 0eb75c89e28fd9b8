"""`pfor`, `for_loop` and `tf.vectorized_map`: a function called for each index of a loop, whose results are stacked."""

from __future__ import annotations

import inspect

from absl import flags

from everflow.framework import dtypes, nest
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Operation
from everflow.framework.scopes import executing_eagerly, get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.control_flow.contexts import WhileContext, enclosing
from everflow.ops.control_flow.loops import while_loop
from everflow.ops.functions.traced import defun
from everflow.ops.parallel_for import array_rules, math_rules, nn_rules  # noqa: F401  They register what ops become.
from everflow.ops.parallel_for.vectorizer import NoRule, Vectorizer
from everflow.ops.tensor_arrays.tensor_array import TensorArray

# What has a body or a state of its own isn't drawn for many at once: then one iteration comes after the other.
_ONE_BY_ONE = frozenset(
    ["Exit", "PartitionedCall", "StackPushV2", "StackPopV2", "StatefulPartitionedCall"]
    + [f"TensorArray{kind}V3" for kind in ("", "Concat", "Gather", "Read", "Scatter", "Split", "Write")]
)

PFOR_CONFIG_ARG = "pfor_config"  # The argument of a body that wants one.
_FALLBACK = "op_conversion_fallback_to_while_loop"
flags.DEFINE_bool(
    _FALLBACK, False, "Whether pfor goes through its iterations one by one where an op can't be drawn for all."
)


def vectorized_map(fn, elems):
    """`fn` applied to each element of `elems` (a tensor or a structure of them) along the first dimension, in ops on all
    elements at once. Like `tf.map_fn`, and faster; but iterations can't depend on each other, and each op of `fn` has to
    be one that can be rewritten so.

    Args:
        fn: The function of an element.
        elems: The elements.

    Returns:
        The results, stacked along the first axis.

    Example:
        >>> sess.run(tf.vectorized_map(lambda x: x * x, tf.constant([1, 2, 3])))
        array([1, 4, 9], dtype=int32)
    """

    def one(index):
        return fn(nest.map_structure(lambda t: array.gather(t, index), elems))

    count = array.shape(nest.flatten(elems)[0])[0]
    return pfor(one, count)


def pfor(loop_fn, iters, parallel_iterations=None):
    """`loop_fn(i)` for each i below `iters`, drawn as ops on all iterations at once; results are stacked.

    `parallel_iterations`: at most how many at once; the rest goes through a loop.
    """

    def draw():
        return _pfor(loop_fn, iters, parallel_iterations)

    return defun(draw, autograph=False)() if executing_eagerly() else draw()


def _body(loop_fn):
    """A loop's body drawn for one iteration: its variable, what it returned, and the ops it is made of."""
    graph = get_default_graph()
    before = len(graph.get_operations())
    with name_scope("loop_body"):
        variable = array.placeholder(dtypes.int32, shape=[])
        config = PForConfig()
        made = loop_fn(variable, **{PFOR_CONFIG_ARG: config}) if _takes_config(loop_fn) else loop_fn(variable)
    return variable, _tensors_of(made), graph.get_operations()[before:], config


class PForConfig:
    """What a body asks of all iterations together: `loop_fn(i, pfor_config)` gets one."""

    def __init__(self):
        self.reductions = {}

    def reduce_concat(self, x):
        """The values of all iterations, one below the other."""
        return self._reduced(x, lambda stacked: stacked, TensorShape([None]).concatenate(x.shape))

    def reduce_mean(self, x):
        """The mean of the values of all iterations."""
        return self._reduced(x, lambda stacked: math.reduce_mean(stacked, axis=0), x.shape)

    def reduce_sum(self, x):
        """The sum of the values of all iterations."""
        return self._reduced(x, lambda stacked: math.reduce_sum(stacked, axis=0), x.shape)

    def _reduced(self, x, reduce, shape):
        """What stands in the body for a value that is known once all iterations are."""
        result = array.placeholder(x.dtype, shape)
        self.reductions[result.op] = (x, reduce)
        return result


def _takes_config(loop_fn):
    if not callable(loop_fn):
        raise ValueError(f"A loop's body must be something to call, not {loop_fn!r}")
    return PFOR_CONFIG_ARG in inspect.signature(loop_fn).parameters


def _tensors_of(made):
    kept = (type(None), Operation, SparseTensor)
    return nest.map_structure(lambda t: t if isinstance(t, kept) else convert_to_tensor(t), made)


def _types_of(made):
    return nest.map_structure(lambda t: None if t is None or isinstance(t, Operation) else t.dtype, made)


def _vectorized(body, iterations):
    variable, made, ops, config = body
    vectorizer = Vectorizer.of_loop(variable, iterations, ops, config.reductions)
    return nest.map_structure(vectorizer.convert, made)


def _reaches_into_loops(ops):
    """Whether a body took the gradient of a loop outside of it: then it drew ops inside of that loop."""
    drawn, here = set(ops), _loop_around(get_default_graph()._get_control_flow_context())
    contexts = {_loop_around(op._control_flow_context) for op in ops} - {None, here}
    return any(context.GetControlPivot().op not in drawn for context in contexts)


def _loop_around(context):
    return enclosing(context, lambda c: isinstance(c, WhileContext))


def _check_stacks(ops):
    drawn = set(ops)
    for op in ops:
        if op.type == "StackPushV2" and op.inputs[0].op not in drawn:
            raise ValueError(
                f"{op.name} pushes to a stack that is outside of pfor: which iteration comes first isn't known"
            )


def _pops_from_outside(op, ops):
    return op.type == "StackPopV2" and op.inputs[0].op not in ops


def _unrolled(loop_fn, iterations):
    """Each iteration drawn for itself: no loop can be around the gradient of one that is outside of it."""
    made = [_tensors_of(loop_fn(array.constant(i))) for i in range(iterations)]
    return nest.map_structure(lambda *each: None if each[0] is None else array.stack(each), *made)


def _pfor(loop_fn, iters, parallel_iterations):
    body = _body(loop_fn)
    iters = convert_to_tensor(iters)
    known = constant_value(iters)
    if known is not None and known > 0 and _reaches_into_loops(body[2]):
        return _unrolled(loop_fn, int(known))
    _check_stacks(body[2])
    if any(op.type in _ONE_BY_ONE and not _pops_from_outside(op, body[2]) for op in body[2]):
        return for_loop(loop_fn, _types_of(body[1]), iters, parallel_iterations)
    if parallel_iterations is None:
        try:
            with name_scope("pfor"):
                return _vectorized(body, iters if known is None else known)
        except NoRule:
            if not flags.FLAGS[_FALLBACK].value:
                raise
            return for_loop(loop_fn, _types_of(body[1]), iters)
    if parallel_iterations < 1:
        raise ValueError(
            f"parallel_iterations must be a positive integer, or None for all at once, not {parallel_iterations}"
        )
    if parallel_iterations == 1:
        raise ValueError("Found parallel_iterations == 1. Use for_loop instead.")
    if body[3].reductions:
        raise ValueError("Reductions over iterations want all of them at once: leave parallel_iterations out.")
    tiles = iters // parallel_iterations
    rest = iters % parallel_iterations

    def tile(j):
        start = j * parallel_iterations + rest
        return pfor(lambda i: loop_fn(i + start), parallel_iterations)

    with name_scope("pfor_untiled"):
        first = _vectorized(body, rest)
    with name_scope("pfor_tiled"):
        later = for_loop(tile, _types_of(body[1]), tiles, 1)
        later = nest.map_structure(lambda t: None if t is None else _joined_dimensions(t), later)
    if known is not None and known % parallel_iterations == 0:
        return later
    with name_scope("pfor"):
        firsts, laters = nest.flatten(first), nest.flatten(later)
        flat = cond(
            math.equal(rest, 0),
            lambda: laters,
            lambda: [None if b is None else array.concat([a, b], axis=0) for a, b in zip(firsts, laters, strict=True)],
        )
        return nest.pack_sequence_as(later, flat if isinstance(flat, (list, tuple)) else [flat])


def _joined_dimensions(tensor):
    """The first two dimensions as one."""
    shape = array.shape(tensor)
    return array.reshape(tensor, array.concat([[shape[0] * shape[1]], shape[2:]], axis=0))


def for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None):
    """`loop_fn(i)` for each i below `iters` in a `while_loop`; results are stacked.

    `loop_fn_dtypes` has the structure of what `loop_fn` returns; what it returns None for is None in the result.
    """
    types = nest.flatten(loop_fn_dtypes)
    if not types:
        raise ValueError("loop_fn_dtypes has no type: a loop without results does nothing")
    start = [TensorArray(t, iters) for t in types if t is not None]
    empty = {position for position, t in enumerate(types) if t is None}

    def turn(i, *arrays):
        outputs = nest.flatten(loop_fn(i))
        if len(outputs) != len(types):
            raise ValueError(f"Expected {len(types)} outputs as in loop_fn_dtypes, got {len(outputs)}.")
        empty.update(position for position, output in enumerate(outputs) if output is None)
        given = iter(arrays)
        written = [(o, next(given)) for o, t in zip(outputs, types, strict=True) if t is not None]
        arrays = [a if o is None else a.write(i, array.expand_dims(o, 0)) for o, a in written]
        return (i + 1, *arrays)

    options = {} if parallel_iterations is None else {"parallel_iterations": parallel_iterations}
    _, *filled = while_loop(lambda i, *_: i < iters, turn, [0, *start], **options)
    rest = iter(filled)
    joined = [None if t is None else next(rest) for t in types]
    joined = [None if position in empty else a.concat() for position, a in enumerate(joined)]
    return nest.pack_sequence_as(loop_fn_dtypes, joined)
