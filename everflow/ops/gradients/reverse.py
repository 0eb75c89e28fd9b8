"""`tf.gradients`: walk the graph backwards from ys to xs, calling each op type's gradient function.

The walk is a queue of ops whose outputs' gradients are all there; it fixes the order in which gradient nodes are made,
and so their names. Loops and conditionals keep state of their own, in `control_flow.gradient_loops`.
"""

from __future__ import annotations

import contextlib
import enum
from collections import defaultdict, deque

from everflow.framework import attributes, dtypes, registry
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_n_to_tensor_or_indexed_slices
from everflow.framework.functions import FuncGraph, call_attr
from everflow.framework.operation import Tensor
from everflow.framework.scopes import colocate_with, device, executing_eagerly, get_default_graph, name_scope
from everflow.ops import array
from everflow.ops.array import constants
from everflow.ops.control_flow import gradient_loops
from everflow.ops.control_flow.grouping import tuple as gated_tuple
from everflow.ops.math.binary import accumulate_n
from everflow.ops.sparse import indexed_slices
from everflow.ops.variables.handles import handle_data, variable_shape

_TRAINABLE = frozenset(
    (
        dtypes.float16,
        dtypes.float32,
        dtypes.float64,
        dtypes.bfloat16,
        dtypes.complex64,
        dtypes.complex128,
        dtypes.resource,
        dtypes.variant,
    )
)


class AggregationMethod:
    """How several gradients of one tensor are added up.

    `ADD_N` (the default) waits for all; `EXPERIMENTAL_TREE` and `EXPERIMENTAL_ACCUMULATE_N` add them as they come.

    Example:
        >>> x = tf.constant(3.0)
        >>> dx, = tf.gradients(x * x + x, x, aggregation_method=tf.AggregationMethod.ADD_N)
        >>> sess.run(dx)
        np.float32(7.0)
    """

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients(enum.Enum):
    """What `tf.gradients` gives for an x that no y depends on.

    Example:
        >>> x, y = tf.constant(1.0), tf.constant(2.0)
        >>> sess.run(tf.gradients(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))
        [np.float32(0.0)]
    """

    NONE = "none"
    ZERO = "zero"


def gradients(
    ys,
    xs,
    grad_ys=None,
    name="gradients",
    colocate_gradients_with_ops=False,
    gate_gradients=False,
    aggregation_method=None,
    stop_gradients=None,
    unconnected_gradients=UnconnectedGradients.NONE,
):
    """The derivatives of the sum of `ys` with respect to each x of `xs`.

    Args:
        ys: A tensor, or list of tensors, to differentiate.
        xs: A tensor or variable, or a list of them, to differentiate by.
        grad_ys: The gradients to start from, one for each y; ones if None.
        name: The name of the operation in the graph.
        colocate_gradients_with_ops: Whether gradients go to the devices of the operations they are of.
        gate_gradients: Whether all gradients of an operation wait for each other.
        aggregation_method: How several gradients of one tensor are added up: a value of `tf.AggregationMethod`.
        stop_gradients: Tensors to treat as constants.
        unconnected_gradients: What is given for an x that no y depends on: `tf.UnconnectedGradients.NONE` or `ZERO`.

    Returns:
        A list with a tensor, IndexedSlices or None for each x.

    Raises:
        LookupError: If an operation on the way has no gradient function.
        RuntimeError: When executing eagerly: there, use `tf.GradientTape`.
        ValueError: If `grad_ys` are not as many as `ys`, or don't fit them.

    Example:
        >>> x = tf.constant(3.0)
        >>> dy_dx, = tf.gradients(x * x, x)
        >>> sess.run(dy_dx)
        np.float32(6.0)
    """
    if executing_eagerly():
        raise RuntimeError(
            "tf.gradients is not supported when executing eagerly, as there is no graph to walk: use tf.GradientTape"
        )
    try:
        unconnected_gradients = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    graph = get_default_graph()
    ys, xs = _as_list(ys), _as_list(xs)
    stop_gradients = [] if stop_gradients is None else _as_list(stop_gradients)
    if grad_ys is None:
        grad_ys = [None] * len(ys)
    else:
        grad_ys = _as_list(grad_ys)
    with name_scope(name, "gradients", list(ys) + list(xs) + list(stop_gradients) + list(grad_ys)) as scope:
        walk = _Walk(graph, scope, colocate_gradients_with_ops, gate_gradients, aggregation_method)
        ys = convert_n_to_tensor_or_indexed_slices(ys, name="y")
        xs = convert_n_to_tensor_or_indexed_slices([_differentiated(x) for x in xs], name="x", as_ref=True)
        stops = [_differentiated(s) for s in stop_gradients]
        stop_gradients = convert_n_to_tensor_or_indexed_slices(stops, name="s", as_ref=True)
        grad_ys = walk.initial_gradients(grad_ys, ys)
        walk.run(ys, xs, grad_ys, stop_gradients)
    if walk.loops is not None:
        walk.loops.PostProcessing()
    return [walk.result(x, unconnected_gradients) for x in xs]


gradients_v2 = gradients


def _as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _differentiated(x):
    """What gradients are found for where a variable is given: the handle of a resource variable."""
    return x.handle if hasattr(x, "handle") and hasattr(x, "assign") else x


def is_trainable(tensor_or_dtype) -> bool:
    """Whether gradients flow through values of this type."""
    return (getattr(tensor_or_dtype, "dtype", None) or tensor_or_dtype).base_dtype in _TRAINABLE


def _can_be_zero(tensor):
    """Whether zeros can stand for a gradient that didn't come: not for handles of other things than variables."""
    return is_trainable(tensor) and (tensor.dtype != dtypes.resource or tensor._handle_data is not None)


class _Walk:
    """One call of `gradients`: the gradients found so far and how new ones are to be made."""

    def __init__(self, graph, scope, colocate, gate, aggregation_method):
        self.graph = graph
        self.scope = scope
        self.colocate = colocate
        self.gate = gate
        self.aggregation_method = aggregation_method
        # Operation → for each output, the list of gradients that came in, or their sum once the op was visited.
        self.grads: dict = {}
        self.loops = None
        self.xs: frozenset = frozenset()
        # Body of a function → {stand-in: the tensor outside}.
        self.captured: dict = {}

    def around(self, op):
        """Where the gradient nodes of `op` are made."""
        return colocate_with(op) if self.colocate else contextlib.nullcontext()

    # --- the walk ----------------------------------------------------------------------------

    def run(self, ys, xs, grad_ys, stop_gradients):
        self.xs = frozenset(xs)
        to_ops = [y.op for y in ys]
        from_ops = [x.op for x in xs]
        pending = self.count_pending(to_ops, from_ops)
        for y, grad_y in zip(ys, grad_ys, strict=True):
            self.add(y, grad_y)
        queue, queued = deque(), set()
        for op in to_ops:
            if op in pending and pending[op] == 0 and op not in queued:
                queued.add(op)
                queue.append(op)
        if self.loops is not None:
            for y in self.loops.unused_exits(pending, queued):
                if is_trainable(y):
                    self.add(y, self.loops.ZerosLikeForExit(y))
                    queue.append(y.op)
        stops = {op for op in from_ops if all(pending[t.op] <= 0 for t in self.sources(op))}
        stops.update(t.op for t in stop_gradients)
        while queue:
            op = queue.popleft()
            self.visit(op, stops)
            self.release(op, queue, pending)

    def count_pending(self, to_ops, from_ops):
        """How many gradients each op between xs and ys waits for; other ops are not in it."""
        reached = self.reached_from(from_ops)
        between, ordered, queue = set(), [], deque(to_ops)
        while queue:
            op = queue.popleft()
            if op in reached:
                reached.discard(op)
                between.add(op)
                ordered.append(op)
                queue.extend(t.op for t in self.sources(op))
        self.loops = gradient_loops.control_flow_state(ordered, between, self.colocate)
        pending = defaultdict(int, dict.fromkeys(ordered, 0))
        for op in ordered:
            for tensor in self.sources(op):
                if tensor.op in between:
                    pending[tensor.op] += 1
        return pending

    def reached_from(self, ops):
        """All ops that depend on these through values that can have gradients."""
        queue, reached = deque(ops), set()
        while queue:
            op = queue.popleft()
            if op not in reached:
                reached.add(op)
                for output in op.outputs:
                    if is_trainable(output):
                        queue.extend(output.consumers())
                        queue.extend(self.consumers_in_bodies(output))
        return reached

    def sources(self, op):
        """The inputs of an op. In the body of a function, what was captured is the tensor outside, unless gradients of
        it are asked for.
        """
        graph = op.graph
        if not isinstance(graph, FuncGraph):
            return op.inputs
        if graph not in self.captured:
            self.captured[graph] = {
                inside: tensor for tensor, inside in graph._captures.items() if inside not in self.xs
            }
        outside = self.captured[graph]
        return [outside.get(t, t) for t in op.inputs]

    def consumers_in_bodies(self, tensor):
        """Ops of the function that is drawn, and of those around it, that use a tensor of a graph further out."""
        graph = self.graph
        while isinstance(graph, FuncGraph):
            if tensor in graph._captures:
                yield from graph._captures[tensor].consumers()
            graph = graph.outer_graph

    def visit(self, op, stops):
        """Find the gradients of an op's inputs from those of its outputs."""
        with self.around(op):
            loops = self.loops
            if loops is not None:
                loops.EnterGradWhileContext(op, before=True)
            out_grads = self.aggregated(op)
            if loops is not None:
                loops.ExitGradWhileContext(op, before=True)
            function = None
            if any(g is not None for g in out_grads):
                function = self.stopped_function(op) if op in stops else self.gradient_function(op)
            if loops is not None:
                loops.EnterGradWhileContext(op, before=False)
            if function is not None:
                in_grads = self.differentiate(op, function, out_grads)
            else:
                in_grads = [None] * len(op.inputs)
            for tensor, grad in zip(self.sources(op), in_grads, strict=False):
                if grad is not None:
                    self.check_shape(op, tensor, grad)
                    self.add(tensor, grad)
            if loops is not None:
                loops.ExitGradWhileContext(op, before=False)

    def stopped_function(self, op):
        """What is drawn at an op where the walk stops: nothing, but for calls of functions, where TensorFlow doesn't stop."""
        calls = op.type in _CALLS or self.graph._is_function(op.type)
        return _symbolic_gradient_of_call if calls else None

    def gradient_function(self, op):
        try:
            return gradient_function(op)
        except KeyError:  # two families register one op type: no matter of this graph
            raise
        except LookupError:
            if self.graph._is_function(op.type):
                return _symbolic_gradient
            raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type})") from None

    def differentiate(self, op, function, out_grads):
        for i, grad in enumerate(out_grads):
            if grad is None and (function in _SYMBOLIC or _can_be_zero(op.outputs[i])):
                out_grads[i] = self.zeros(op, i)
        with name_scope(op.name + "_grad"):
            # Nodes made here know the op they differentiate, so that a loop's gradient finds the loop.
            with self.graph._original_op(op), self.compiled_like(op):
                in_grads = function(op, *out_grads)
            in_grads = _as_list(in_grads)
            if len(in_grads) != len(op.inputs) and op.type not in ("While", "StatelessWhile"):
                raise ValueError(
                    f"The gradient of {op.type} returned {len(in_grads)} values for the {len(op.inputs)} inputs of {op.name!r}"
                )
            if self.gate and sum(g is not None for g in in_grads) > 1:
                with device(None), colocate_with(None, ignore_existing=True):
                    in_grads = gated_tuple(in_grads)
        return in_grads

    def compiled_like(self, op):
        """A context whose nodes are marked for compilation as the op is that they differentiate."""
        if not op.attrs.get("_XlaCompile"):
            return contextlib.nullcontext()
        group = op.attrs.get("_XlaScope", b"")
        if op.attrs.get("_XlaSeparateCompiledGradients"):
            group += b"_grad_" + self.scope.rstrip("/").encode()
        return self.graph._attr_scope({"_XlaCompile": True, "_XlaScope": group})

    def zeros(self, op, index):
        if self.loops is not None:
            return self.loops.ZerosLike(op, index)
        return gradient_loops.zeros_like_outside_loop(op, index)

    @staticmethod
    def check_shape(op, tensor, grad):
        if isinstance(grad, Tensor) and tensor.dtype != dtypes.resource:
            try:
                grad.set_shape(tensor.shape)
            except ValueError:
                raise ValueError(
                    f"An input of {op.name!r} has shape {tensor.shape}, but its gradient has {grad.shape}"
                ) from None

    def release(self, op, queue, pending):
        """Count down what the sources of an op's inputs wait for, and queue those that have all."""
        loops = self.loops
        for tensor in self.sources(op):
            source = tensor.op
            pending[source] -= 1
            ready = pending[source] == 0
            if loops is not None and not ready:
                ready = pending[source] > 0 and loops.IsLoopSwitch(source)
            if not ready:
                continue
            if loops is not None and loops.IsLoopExit(source):
                self.release_exit(tensor, queue)
            else:
                queue.append(source)

    def release_exit(self, tensor, queue):
        """An exit of a loop waits for its fellows: the loop is differentiated once, for all of them."""
        state = self.loops.GetGradState(tensor.op, before=False)
        state.deferred_exits.append(tensor)
        state.pending_exits_count -= 1
        if state.pending_exits_count:
            return
        found = False
        for y in state.deferred_exits:
            if self.has_gradient(y.op):
                found = True
                queue.append(y.op)
            else:
                state.unused_exits.append(y)
        for y in state.unused_exits:
            if found and is_trainable(y):
                self.add(y, self.loops.ZerosLikeForExit(y))
            queue.append(y.op)

    # --- gradients found so far --------------------------------------------------------------

    def add(self, tensor, grad):
        op = tensor.op
        found = self.grads.setdefault(op, [[] for _ in op.outputs])
        slot = found[tensor.value_index]
        if isinstance(slot, list):
            slot.append(grad)
        else:  # a loop's switch is visited before all of its gradients are there
            found[tensor.value_index] = grad

    def has_gradient(self, op):
        return any(slot is not None and slot != [] for slot in self.grads.get(op, []))

    def aggregated(self, op):
        """One gradient (or None) for each output of an op, and put back as the sum found."""
        found = self.grads.get(op)
        if found is None:
            return [None] * len(op.outputs)
        for i, slot in enumerate(found):
            if isinstance(slot, list):
                found[i] = self.sum(op, slot) if slot else None
        return list(found)

    def sum(self, op, parts):
        method = AggregationMethod.DEFAULT if self.aggregation_method is None else self.aggregation_method
        if method not in (
            AggregationMethod.ADD_N,
            AggregationMethod.EXPERIMENTAL_TREE,
            AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
        ):
            raise ValueError(f"Invalid aggregation_method specified {method}.")
        if len(parts) == 1:
            return parts[0]
        if not all(isinstance(part, Tensor) for part in parts):
            return indexed_slices.total(parts)
        if (
            method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N
            and len(parts) > 2
            and _common_shape(parts).is_fully_defined()
        ):
            return accumulate_n(parts)
        if method == AggregationMethod.ADD_N:
            return indexed_slices.add_by_device(parts)
        with name_scope(op.name + "_gradient_sum"):
            total = parts[0]
            for part in parts[1:]:
                total = indexed_slices.add_n([total, part])
        return total

    def result(self, x, unconnected_gradients):
        found = self.grads.get(x.op)
        grad = found[x.value_index] if found is not None else None
        if isinstance(grad, list):
            grad = grad[0] if len(grad) == 1 else None
        if grad is None and unconnected_gradients == UnconnectedGradients.ZERO:
            return zeros_for(x)
        return grad

    # --- where it starts ---------------------------------------------------------------------

    def initial_gradients(self, grad_ys, ys):
        if len(grad_ys) != len(ys):
            raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
        grad_ys = convert_n_to_tensor_or_indexed_slices(grad_ys, name="grad_y")
        return [self.initial_gradient(i, y, grad_y) for i, (y, grad_y) in enumerate(zip(ys, grad_ys, strict=True))]

    def initial_gradient(self, i, y, grad_y):
        with self.around(y.op):
            if grad_y is None:
                if y.dtype.is_complex:
                    raise TypeError(
                        f"The gradient of {y.name!r}, of dtype {y.dtype.name}, starts from a value that only you can give: set grad_ys"
                    )
                return raw.Fill(array.shape(y), constants.constant(1, dtype=y.dtype, name=f"grad_ys_{i}"))
            _check_given_gradient(y, grad_y)
            if not isinstance(grad_y, IndexedSlices):
                return array.identity(grad_y, name=f"grad_ys_{i}")
            return IndexedSlices(
                indices=array.identity(grad_y.indices, name=f"grad_ys_{i}_indices"),
                values=array.identity(grad_y.values, name=f"grad_ys_{i}_values"),
                dense_shape=None
                if grad_y.dense_shape is None
                else array.identity(grad_y.dense_shape, name=f"grad_ys_{i}_shape"),
            )


# Kinds of dtypes, within which a gradient must stay.
_KINDS = {
    "real or integer": lambda dtype: dtype.is_floating or dtype.is_integer,
    "complex": lambda dtype: dtype.is_complex,
    "variant": lambda dtype: dtype == dtypes.variant,
}


def _check_given_gradient(y, grad_y):
    kind = next((kind for kind, has in _KINDS.items() if has(y.dtype)), None)
    if kind is not None:
        fits = _KINDS[kind](grad_y.dtype)
    elif y.dtype == dtypes.resource:
        kind, fits = "a value, no resource", grad_y.dtype != dtypes.resource
    else:
        raise TypeError(f"{y} is of dtype {y.dtype.name}, which has no gradients")
    if not fits:
        raise TypeError(f"The gradient given for {y} is of dtype {grad_y.dtype.name}, but must be {kind}")


def _common_shape(tensors):
    shape = tensors[0].shape
    for tensor in tensors[1:]:
        shape = shape.merge_with(tensor.shape)
    return shape


def zeros_for(x):
    """Zeros to stand for the gradient of a tensor or of a variable's handle."""
    if x.dtype == dtypes.resource:
        return _zeros_of_variable(x)
    return array.zeros_like(x)


def _zeros_of_variable(handle):
    return array.zeros(variable_shape(handle), handle_data(handle)[1])


def gradient_function(op):
    """The gradient function of an operation: that of its type, or the one it was built with; None where it has none."""
    if not op.inputs:
        return None
    if op._gradient_function is not None:
        return op._gradient_function
    override = op.attrs.get("_gradient_op_type")
    if override is not None:
        return registry.find_gradient(override.decode())
    return registry.find_gradient(op.type)


get_gradient_function = gradient_function


def _symbolic_gradient(op, *out_grads):
    """The gradient of a call of a graph function, left to be worked out when it runs."""
    definition = op.graph._get_function(op.type)
    custom = getattr(definition, "python_grad_func", None)
    if custom is not None:
        return custom(op, *out_grads)
    return _symbolic_gradient_of_call(op, *out_grads)


def _symbolic_gradient_of_call(op, *out_grads):
    """The same, whatever gradient the function was given in Python."""
    called = op.attrs["f"].name if op.type in _CALLS else op.type
    f = call_attr(called)
    for key, value in op.attrs.items():
        f.attr[key].CopyFrom(attributes.to_proto(value))
    # What a handle's gradient is, only the run knows.
    types = [dtypes.float32 if t.dtype == dtypes.resource else t.dtype for t in op.inputs]
    return raw.SymbolicGradient(list(op.inputs) + list(out_grads), Tout=types, f=f)


_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_SYMBOLIC = (_symbolic_gradient, _symbolic_gradient_of_call)
