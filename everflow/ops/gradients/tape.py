"""`tf.GradientTape`: remembers the operations that depend on what it watches, and goes back through them.

A tape calls the same gradient functions as `tf.gradients`, in the reverse of the order in which the operations were
made. It works on values and in graphs, where it adds the nodes of the gradients.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import Counter, defaultdict, deque

from everflow.framework import dtypes, nest, tapes
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_default_graph
from everflow.ops import array
from everflow.ops.gradients.reverse import UnconnectedGradients, gradient_function, is_trainable, zeros_for
from everflow.ops.sparse import indexed_slices
from everflow.ops.variables.variable import Variable
from everflow.platform import logging

_derivatives = itertools.count(1)
_LOOPS = ("While", "StatelessWhile")
# Of branches and loops that are drawn as nodes of the graph around: what they decide is known to that graph only.
_CONTROL_FLOW = frozenset("Switch Merge Enter Exit NextIteration LoopCond RefSwitch RefMerge RefEnter RefExit".split())


class Recording:
    """Operations in the order in which they were made, and the tensors that they make from what is watched."""

    def __init__(self, watch_accessed_variables):
        self._watches_variables = watch_accessed_variables
        self.ops: list = []
        # By identity; the tensors are held, so that no other gets the same.
        self.watched: dict[int, Tensor] = {}
        self.variables: dict[int, Variable] = {}

    def watch(self, tensor):
        self.watched[id(tensor)] = tensor

    def watches(self, tensor):
        return id(tensor) in self.watched

    def watch_variable(self, variable):
        self.variables.setdefault(id(variable), variable)
        self.watch(source_of(variable))
        # Read in a branch or a loop, it is also what goes into the op outside that holds that.
        graph = get_default_graph()
        while graph.building_function and graph.outer_graph is not None and hasattr(variable, "handle"):
            graph = graph.outer_graph
            self.watch(graph.capture(variable.handle) if graph.building_function else variable.handle)

    def variable_accessed(self, variable):
        if self._watches_variables and variable.trainable:
            self.watch_variable(variable)

    def record(self, op):
        watched = self.watched
        if any(id(t) in watched for t in op.inputs):
            self.ops.append(op)
            for tensor in op.outputs:
                if is_trainable(tensor):
                    watched[id(tensor)] = tensor


class GradientTape:
    """Records operations, to differentiate them afterwards.

    Trainable variables are watched when they are read; tensors, from `watch` on. After one `gradient` a tape is used up
    unless it is `persistent`.

    Args:
        persistent: Whether `gradient` can be called more than once.
        watch_accessed_variables: Whether trainable variables are watched when they are read.

    Example:
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> sess.run(tape.gradient(y, x))
        np.float32(6.0)
    """

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._recording = None
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._listening = False

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *exc):
        if self._listening:
            self._stop()

    def _start(self):
        if self._listening:
            raise ValueError("Tape is already recording.")
        if self._recording is None:
            self._recording = Recording(self._watch_accessed_variables)
        tapes.push(self._recording)
        self._listening = True

    def _stop(self):
        if not self._listening:
            raise ValueError("Tape is not recording.")
        tapes.remove(self._recording)
        self._listening = False

    _push_tape, _pop_tape = _start, _stop  # as tests call them

    def watch(self, tensor):
        """Remember what is made from this tensor (or these) from now on."""
        for t in nest.flatten(tensor, expand_composites=True):
            if not isinstance(t, (Tensor, Variable)):
                raise ValueError(f"A tape watches tensors and variables, not {type(t)}")
            if not t.dtype.is_floating and not t.dtype.is_complex:
                logging.log_first_n(
                    logging.WARN, "A watched tensor of dtype %r gets no gradient: it must be floating", 5, t.dtype
                )
            if isinstance(t, Variable) and hasattr(t, "handle"):
                self._recording.watch_variable(t)
            else:
                self._recording.watch(source_of(t))

    @contextlib.contextmanager
    def stop_recording(self):
        """A context in which this tape remembers nothing."""
        if self._recording is None:
            raise RuntimeError(
                "stop_recording() is for a tape that records; this one hasn't been entered, or has given its recording away"
            )
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self):
        """Forget everything remembered, and what was watched."""
        self._stop()
        self._recording = None
        self._start()

    def watched_variables(self):
        """The variables it watches, in the order in which they were made."""
        if self._recording is None:
            return ()
        return tuple(
            sorted(
                self._recording.variables.values(), key=lambda v: v.handle._id if v.handle.is_eager else v.handle.op._id
            )
        )

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """The derivatives of `target` (a sum, where it is many) with respect to each of `sources`, in their structure."""
        recording = self._recorded("gradient")
        unconnected_gradients = _unconnected(unconnected_gradients)
        targets = []
        for t in nest.flatten(target, expand_composites=True):
            if not t.dtype.is_floating and not t.dtype.is_complex:
                logging.vlog(logging.WARN, "A target of dtype %r has no gradient: it must be floating", t.dtype)
            targets.append(self._read(t, recording))
        flat_sources = nest.flatten(sources)
        for t in flat_sources:
            if not isinstance(t, (Tensor, Variable)) and not hasattr(t, "_type_spec"):
                raise ValueError(f"Sources of a gradient are tensors and variables, not {type(t)}")
        if output_gradients is not None:
            output_gradients = [None if g is None else convert_to_tensor(g) for g in nest.flatten(output_gradients)]
        seeds = output_gradients or [None] * len(targets)
        found = _backward(
            recording, targets, [_recorded_source(recording, s) for s in flat_sources], seeds, unconnected_gradients
        )
        return nest.pack_sequence_as(sources, found)

    def jacobian(
        self,
        target,
        sources,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """The derivatives of each element of `target` with respect to each of `sources`: shapes are the target's, then
        the source's.

        Elements are differentiated one after the other; the last two arguments, on how to run several at a time, change
        nothing.
        """
        recording = self._recorded("jacobian")
        unconnected_gradients = _unconnected(unconnected_gradients)
        flat_sources = [source_of(s) for s in nest.flatten(sources)]
        shape = _known_shape(target, "jacobian")
        rows = [
            _backward(recording, [target], flat_sources, [array.reshape(seed, shape)], unconnected_gradients)
            for seed in _unit_vectors(shape.num_elements(), target.dtype)
        ]
        found = [_stacked(parts, shape, 0) for parts in zip(*rows, strict=True)] if rows else [None] * len(flat_sources)
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(
        self,
        target,
        source,
        unconnected_gradients=UnconnectedGradients.NONE,
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        """The Jacobian of each entry of a batch: `target` [b, y…] and `source` [b, x…] give [b, y…, x…], which are zeros
        where one doesn't depend on the other.
        """
        shape = _known_shape(target, "batch_jacobian")
        if shape.rank < 2 or source.shape.rank is None or source.shape.rank < 2:
            raise ValueError(
                f"A batch Jacobian wants a batch of at least vectors; got {target.shape} by {source.shape}"
            )
        if not shape[:1].is_compatible_with(source.shape[:1]):
            raise ValueError(
                f"The target, of shape {target.shape}, and the source, of {source.shape}, must be batches of one size"
            )
        recording = self._recorded("batch_jacobian")
        unconnected_gradients = _unconnected(unconnected_gradients)
        ones = array.ones([shape.as_list()[0], 1], target.dtype)
        rows = [
            _backward(
                recording, [target], [source_of(source)], [array.reshape(ones * seed, shape)], unconnected_gradients
            )[0]
            for seed in _unit_vectors(shape[1:].num_elements(), target.dtype)
        ]
        if any(row is None for row in rows):
            return array.zeros(array.concat([array.shape(target), array.shape(source)[1:]], 0), target.dtype)
        return _stacked(rows, shape, 1)

    @staticmethod
    def _read(target, recording):
        """A target as a tensor; the read of a variable goes on the tape, since it may be a source as well."""
        if not hasattr(target, "handle") or recording in tapes.active():
            return convert_to_tensor(target)
        tapes.push(recording)
        try:
            return convert_to_tensor(target)
        finally:
            tapes.remove(recording)

    def _recorded(self, asked):
        """What was recorded; a tape that isn't persistent gives it away."""
        if self._recording is None:
            raise RuntimeError(
                f"GradientTape.{asked} can only be called once: what was recorded is gone then, unless persistent=True"
            )
        recording = self._recording
        if self._listening:
            if self._persistent:
                logging.log_first_n(
                    logging.WARN,
                    "GradientTape.%s was called inside the context of a persistent tape, which then remembers the gradient's "
                    "own operations, too; call it after the `with`, unless higher derivatives are wanted.",
                    1,
                    asked,
                )
            else:
                self._stop()
        if not self._persistent:
            self._recording = None
        return recording


def _known_shape(target, asked):
    if not target.shape.is_fully_defined():
        raise ValueError(f"{asked} needs a target whose shape is known, not {target.shape}")
    return target.shape


def _unit_vectors(size, dtype):
    return array.unstack(array.one_hot(list(range(size)), size, dtype=dtype)) if size else []


def _stacked(parts, target_shape, batch_dims):
    """Gradients of single elements as one tensor; None where they are None."""
    if any(part is None for part in parts):
        return None
    parts = [convert_to_tensor(part) for part in parts]
    return array.reshape(array.stack(parts, axis=batch_dims), target_shape.concatenate(parts[0].shape[batch_dims:]))


def _unconnected(value):
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}") from None


def source_of(x):
    """The tensor that stands for a variable or a tensor in the graph that is drawn now: a function's body has its own."""
    tensor = x.handle if isinstance(x, Variable) and hasattr(x, "handle") else x
    graph = get_default_graph()
    if isinstance(tensor, Tensor) and graph.building_function and not tensor.is_in(graph):
        return graph.capture(tensor)
    return tensor


def _recorded_source(recording, x):
    """`source_of` as a tape heard of it: a function's tape may be asked inside of a branch of that function."""
    tensor = x.handle if isinstance(x, Variable) and hasattr(x, "handle") else x
    graph = get_default_graph()
    while isinstance(tensor, Tensor) and graph.building_function:
        inside = tensor if tensor.is_in(graph) else graph._captures.get(tensor)
        if inside is not None and id(inside) in recording.watched:
            return inside
        graph = graph.outer_graph
    return source_of(x)


def _backward(recording, targets, sources, output_gradients, unconnected):
    """The gradient of each source, or None."""
    graph = get_default_graph()
    if not graph.executes and not getattr(graph, "gradient_source", None):
        # TensorArrays keep the gradients of each derivative apart; in a graph they are told whose these are.
        graph.gradient_source = f"gradients_of_tape_{next(_derivatives)}"
        try:
            return _backward(recording, targets, sources, output_gradients, unconnected)
        finally:
            graph.gradient_source = None
    grads: dict[int, list] = defaultdict(list)
    for target, grad in zip(targets, output_gradients, strict=True):
        # Text has no derivative, not even by itself.
        if id(target) in recording.watched and target.dtype.base_dtype != dtypes.string:
            grads[id(target)].append(_filled(target, array.ones, array.ones_like) if grad is None else grad)
    kept = {id(s) for s in sources}
    for op in _backwards(recording, targets):
        parts = [grads.get(id(t)) for t in op.outputs]
        if not any(parts):
            continue
        out_grads = []
        for tensor, part in zip(op.outputs, parts, strict=True):
            total = _total(part) if part else None
            out_grads.append(total)
            if id(tensor) in kept:
                grads[id(tensor)] = [total] if part else []
            else:
                grads.pop(id(tensor), None)
        inputs = op.inputs  # a loop may get more of them with its gradient
        with tapes.unasked_inputs(op, (i for i, t in enumerate(inputs) if id(t) not in recording.watched)):
            of_inputs = _input_gradients(op, out_grads)
        for tensor, grad in zip(inputs, of_inputs, strict=True):
            if grad is not None and id(tensor) in recording.watched:
                grads[id(tensor)].append(grad)
    found = []
    for source in sources:
        parts = grads.get(id(source))
        grad = _total(parts) if parts else None
        if grad is None and unconnected == UnconnectedGradients.ZERO:
            grad = zeros_for(source)
        found.append(grad)
    return found


def _backwards(recording, targets):
    """What targets come from, each operation after all that use its outputs; those that are ready first come first."""
    made_by, order = {}, {}
    for number, op in enumerate(recording.ops):
        order[id(op)] = number
        for tensor in op.outputs:
            made_by[id(tensor)] = op
    makers, uses = {}, Counter()
    reached = []
    pending = [made_by[id(t)] for t in targets if id(t) in made_by]
    while pending:
        op = pending.pop()
        if id(op) in makers:
            continue
        reached.append(op)
        makers[id(op)] = [made_by[id(t)] for t in op.inputs if id(t) in made_by]
        uses.update(map(id, makers[id(op)]))
        pending += makers[id(op)]
    ready = deque(sorted((op for op in reached if not uses[id(op)]), key=lambda op: -order[id(op)]))
    while ready:
        op = ready.popleft()
        yield op
        for maker in makers[id(op)]:
            uses[id(maker)] -= 1
            if not uses[id(maker)]:
                ready.append(maker)


def _input_gradients(op, out_grads):
    """The gradients of an operation's inputs. Its gradient function gets zeros for outputs that nothing came back for."""
    if op.type in _CONTROL_FLOW:
        raise NotImplementedError(
            f"A GradientTape can't go back through {op.name!r}, of a tf.cond or tf.while_loop of a plain graph: use tf.gradients there, or a tf.function"
        )
    function = gradient_function(op)
    if function is None:
        return [None] * len(op.inputs)
    for i, (grad, output) in enumerate(zip(out_grads, op.outputs, strict=True)):
        if grad is not None or not is_trainable(output):
            continue
        if output.dtype not in (dtypes.resource, dtypes.variant):
            out_grads[i] = _filled(output, array.zeros, array.zeros_like)
        elif op.type in _LOOPS and (output.dtype == dtypes.variant or output._handle_data is not None):
            # Variables go through a loop by their handles, arrays as lists; their gradients add up from zero.
            out_grads[i] = zeros_for(output)
    found = function(op, *out_grads)
    return list(found) if isinstance(found, (list, tuple)) else [found]


def _filled(tensor, build, build_like):
    """Ones or zeros of a tensor's shape; in a graph a constant where that is known."""
    if tensor.is_eager:
        return build_like(tensor)
    shape = tensor.shape
    return build(shape if shape.is_fully_defined() else array.shape(tensor), tensor.dtype.base_dtype)


def _total(parts):
    if len(parts) == 1:
        return parts[0]
    if any(isinstance(part, IndexedSlices) for part in parts):
        return indexed_slices.total(parts)
    return indexed_slices.add_n(parts)
