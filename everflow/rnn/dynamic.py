"""`dynamic_rnn` and its kin: a cell run over time by a loop, with sequences of any length."""

from __future__ import annotations

import contextlib
import functools

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import colocate_with, control_dependencies, get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value
from everflow.keras.engine.base_layer import Layer
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import Assert, cond, while_loop
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.ops.variables import scope as scopes
from everflow.platform.signatures import takes
from everflow.rnn.cells import RNNCell
from everflow.rnn.shapes import concat
from everflow.rnn.wrappers import assert_like_rnncell

_OF_LOOPS = "parallel_iterations=None, swap_memory=False, time_major=False, scope=None"


def should_cache():
    """Whether variables are read once: not inside a loop, whose iterations may change them."""
    context = get_default_graph()._get_control_flow_context()
    return context is None or context.GetWhileContext() is None


@contextlib.contextmanager
def rnn_scope(scope):
    """The variable scope of a network: variables are read once for all steps where that is right."""
    with scopes.variable_scope(scope or "rnn") as varscope:
        if should_cache() and varscope.caching_device is None:
            varscope.set_caching_device(lambda op: op.device)
        yield varscope


def first_state(cell, initial_state, batch_size, dtype):
    """The state that a network begins with: the one given, or the cell's own for a batch."""
    if initial_state is not None:
        return initial_state
    if not dtype:
        raise ValueError("A state of zeros needs a dtype: pass `dtype` or `initial_state`")
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def check_lengths(sequence_length):
    """ValueError where lengths of sequences are no vector."""
    if sequence_length.shape.rank not in (None, 1):
        raise ValueError(
            f"sequence_length must be a vector with one length for each example, not {sequence_length.shape}"
        )


def _check_batch_and_time(x):
    if x.shape.rank < 2:
        raise ValueError(
            f"Inputs have dimensions for batch and time, so {x.name} should have rank at least 2; its shape is {x.shape}"
        )


def transpose_batch_time(x):
    """A tensor with its first two dimensions exchanged."""
    shape = x.shape
    if shape.rank is None:
        raise TypeError(f"The rank of {x.name} must be known")
    _check_batch_and_time(x)
    result = array.transpose(x, array.concat(([1, 0], math.range(2, array.rank(x))), axis=0))
    result.set_shape(TensorShape([shape[1], shape[0]]).concatenate(shape[2:]))
    return result


def batch_size_of(flat_input):
    """The batch size of time-major inputs: a number where one of them shows it."""
    for tensor in flat_input:
        if tensor.shape.rank is None:
            continue
        _check_batch_and_time(tensor)
        if tensor.shape.size(1) is not None:
            return tensor.shape.size(1)
    return array.shape(flat_input[0])[1]


def state_dtype(explicit, state):
    """The dtype of outputs: the one given, or that of the state, which must have only one."""
    if explicit is not None:
        return explicit
    if nest.is_sequence(state):
        found = {t.dtype for t in nest.flatten(state)}
        if not found:
            raise ValueError("Unable to infer dtype from empty state.")
        if len(found) > 1:
            raise ValueError(
                f"The tensors of the state have different types, and one is needed: {sorted(t.name for t in found)}"
            )
        return found.pop()
    return state.dtype


def _old_where(over, old, new):
    """The old value for sequences that are over; what is no batch is new for all."""
    if isinstance(old, TensorArray) or old.shape.rank == 0:
        return new
    with colocate_with(new):
        return array.where(over, old, new)


def rnn_step(
    time,
    sequence_length,
    min_sequence_length,
    max_sequence_length,
    zero_output,
    state,
    call_cell,
    state_size,
    skip_conditionals=False,
):
    """One step where sequences that are over give zeros and keep their state: (output, new state)."""
    flat_state, flat_zero = nest.flatten(state), nest.flatten(zero_output)
    over = math.greater_equal(time, sequence_length) if skip_conditionals else time >= sequence_length

    def copied(new_output, new_state):
        return [_old_where(over, old, new) for old, new in zip(flat_zero + flat_state, new_output + new_state)]

    def computed():
        new_output, new_state = call_cell()
        nest.assert_same_structure(zero_output, new_output)
        nest.assert_same_structure(state, new_state)
        return nest.flatten(new_output), nest.flatten(new_state)

    def maybe_copied():
        new_output, new_state = computed()
        # While the shortest sequence goes on there is nothing to copy.
        return cond(time < min_sequence_length, lambda: new_output + new_state, lambda: copied(new_output, new_state))

    if skip_conditionals:
        result = copied(*computed())
    else:
        result = cond(time >= max_sequence_length, lambda: flat_zero + flat_state, maybe_copied)
    if len(result) != len(flat_zero) + len(flat_state):
        raise ValueError(f"{len(flat_zero)} outputs and {len(flat_state)} states became {len(result)} tensors")
    output, new_state = result[: len(flat_zero)], result[len(flat_zero) :]
    for tensor, before in zip(output + new_state, flat_zero + flat_state):
        if isinstance(tensor, Tensor):
            tensor.set_shape(before.shape)
    return nest.pack_sequence_as(zero_output, output), nest.pack_sequence_as(state, new_state)


def step_of(cell):
    """The function of (inputs, state) that a cell is: Keras's keep even a state of one tensor in a list."""
    if isinstance(cell, RNNCell) or not isinstance(cell, Layer) or hasattr(cell, "zero_state"):
        return cell

    def step(inputs, state):
        output, new_state = cell(inputs, state if nest.is_sequence(state) else [state])
        return output, new_state[0] if len(new_state) == 1 else new_state

    return step


@takes(f"cell, inputs, sequence_length=None, initial_state=None, dtype=None, {_OF_LOOPS}")
def dynamic_rnn(
    cell, inputs, sequence_length, initial_state, dtype, parallel_iterations, swap_memory, time_major, scope
):
    """(outputs, final state) of a cell run over `inputs` [batch, time, …]; past its length a sequence gives zeros.

    Args:
        cell: The cell to run at each step.
        inputs: The sequences: [batch, time, …], or a structure of such.
        sequence_length: The length of each sequence of the batch; what comes after is zero.
        initial_state: The state to begin with; zeros if None.
        dtype: The type of the state, where none is given.
        parallel_iterations: How many rounds may be under way at the same time; 32 if None.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        time_major: Whether the first axis is time, not the batch.
        scope: The variable scope to be in.

    Returns:
        The outputs [batch, time, units], and the last state.

    Raises:
        TypeError: If `cell` is no RNNCell.
        ValueError: If the inputs' last dimension isn't known, or neither state nor dtype is given.

    Example:
        >>> cell = tf.nn.rnn_cell.LSTMCell(4)
        >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 5, 3]), sequence_length=[5, 2], dtype=tf.float32)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(outputs).shape, sess.run(outputs)[1, 4]
        ((2, 5, 4), array([0., 0., 0., 0.], dtype=float32))
    """
    how = {"parallel_iterations": parallel_iterations, "swap_memory": swap_memory, "time_major": time_major}
    assert_like_rnncell("cell", cell)
    return run_over_time(cell, inputs, sequence_length, initial_state, dtype, scope=scope, **how)


def run_over_time(
    cell,
    inputs,
    sequence_length,
    initial_state,
    dtype,
    parallel_iterations,
    swap_memory,
    time_major,
    scope,
    mark_inputs=lambda x: x,
    mark_outputs=lambda x: x,
):
    """`dynamic_rnn`, with functions that all inputs and outputs of the loop, time-major, go through."""
    with rnn_scope(scope):
        flat_input = nest.flatten(inputs)
        if not time_major:
            flat_input = [convert_to_tensor(x) for x in flat_input]
            flat_input = [transpose_batch_time(x) for x in flat_input]
        flat_input = [mark_inputs(x) for x in flat_input]
        if sequence_length is not None:
            sequence_length = math.cast(sequence_length, dtypes.int32)
            check_lengths(sequence_length)
            sequence_length = array.identity(sequence_length, name="sequence_length")
        batch_size = batch_size_of(flat_input)
        state = first_state(cell, initial_state, batch_size, dtype)
        if sequence_length is not None:
            with control_dependencies([_assert_has_shape(sequence_length, [batch_size])]):
                sequence_length = array.identity(sequence_length, name="CheckSeqLen")
        inputs = nest.pack_sequence_as(inputs, flat_input)
        options = {"parallel_iterations": parallel_iterations or 32, "swap_memory": swap_memory}
        outputs, final_state = _loop(cell, inputs, state, sequence_length, dtype, **options)
        outputs = nest.map_structure(mark_outputs, outputs)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, final_state


def _assert_has_shape(x, shape):
    actual, wanted = array.shape(x), array.stack(shape)
    name = "" if x.is_eager else x.name
    return Assert(
        math.reduce_all(math.equal(actual, wanted)),
        [f"Expected shape for Tensor {name} is ", wanted, " but saw shape: ", actual],
    )


def _input_shapes(flat_input):
    """The shapes of time-major inputs, which must agree in steps and batch and be known beyond those."""
    shapes = [x.shape.with_rank_at_least(3) for x in flat_input]
    for shape in shapes:
        if not shape[2:].is_fully_defined():
            raise ValueError(
                f"Input size (depth of inputs) must be known when the graph is drawn, but the shape is {shape}"
            )
        for axis, what in enumerate(("number of time steps", "batch size")):
            if shape.size(axis) != shapes[0].size(axis):
                raise ValueError(f"All inputs must have the same {what}: {shapes[0].size(axis)} and {shape.size(axis)}")
    return shapes


def _new_array(base, size, name, element_shape, dtype):
    return TensorArray(dtype, size=size, element_shape=element_shape, tensor_array_name=base + name)


def _loop(cell, inputs, state, sequence_length, dtype, **options):
    call = step_of(cell)
    flat_input = nest.flatten(inputs)
    flat_sizes = nest.flatten(cell.output_size)
    time_steps = array.shape(flat_input[0])[0]
    batch_size = batch_size_of(flat_input)
    shapes = _input_shapes(flat_input)
    static_steps, static_batch = shapes[0].as_list()[:2]
    out_dtype = state_dtype(dtype, state)
    zeros = [array.zeros(concat(batch_size, size), out_dtype) for size in flat_sizes]
    zero_output = nest.pack_sequence_as(cell.output_size, zeros)
    longest = time_steps
    if sequence_length is not None:
        shortest, longest = math.reduce_min(sequence_length), math.reduce_max(sequence_length)
    time = constant(0, dtype=dtypes.int32, name="time")
    with name_scope("dynamic_rnn") as base:
        new_array = functools.partial(_new_array, base, time_steps)

    element_shapes = [TensorShape([static_batch]).concatenate(_as_shape(size)) for size in flat_sizes]
    output_arrays = tuple(new_array(f"output_{i}", shape, out_dtype) for i, shape in enumerate(element_shapes))
    input_arrays = tuple(new_array(f"input_{i}", x.shape[1:], x.dtype) for i, x in enumerate(flat_input))
    input_arrays = tuple(a.unstack(x) for a, x in zip(input_arrays, flat_input))

    def step(time, arrays, state):
        values = [a.read(time) for a in input_arrays]
        for value, shape in zip(values, shapes):
            value.set_shape(shape[1:])
        values = nest.pack_sequence_as(inputs, values)
        if sequence_length is not None:
            lengths = (sequence_length, shortest, longest)
            computed = functools.partial(call, values, state)
            before = zero_output, state, computed, cell.state_size
            output, new_state = rnn_step(time, *lengths, *before, skip_conditionals=True)
        else:
            output, new_state = call(values, state)
        arrays = tuple(a.write(time, o) for a, o in zip(arrays, nest.flatten(output)))
        return time + 1, arrays, new_state

    # At least one step, so that the arrays learn their shapes.
    bound = math.minimum(time_steps, math.maximum(1, longest))
    start = (time, output_arrays, state)
    _, final_arrays, final_state = while_loop(
        lambda time, *_: time < bound, step, start, maximum_iterations=time_steps, **options
    )
    outputs = [a.stack() for a in final_arrays]
    for output, size in zip(outputs, flat_sizes):
        output.set_shape(concat([static_steps, static_batch], size, static=True))
    return nest.pack_sequence_as(cell.output_size, outputs), final_state


def _as_shape(size):
    """A cell's output size as a shape, also where it is a tensor."""
    if isinstance(size, Tensor):
        known = constant_value(size)
        return TensorShape(None if known is None else known.tolist())
    return TensorShape(size)


@takes(
    f"""cell_fw, cell_bw, inputs, sequence_length=None, initial_state_fw=None, initial_state_bw=None, dtype=None,
    {_OF_LOOPS}"""
)
def bidirectional_dynamic_rnn(cell_fw, cell_bw, inputs, initial_state_fw, initial_state_bw, scope, **shared):
    """((outputs forwards, outputs backwards), (final states)) of two cells, one run from the end of each sequence.

    Args:
        cell_fw: The cell that goes forwards.
        cell_bw: The cell that goes backwards.
        inputs: The sequences: [batch, time, …].
        sequence_length: The length of each sequence of the batch; what comes after is zero.
        initial_state_fw: The state to begin with, forwards; zeros if None.
        initial_state_bw: The state to begin with, backwards; zeros if None.
        dtype: The type of the states, where none are given.
        parallel_iterations: How many rounds may be under way at the same time; 32 if None.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        time_major: Whether the first axis is time, not the batch.
        scope: The variable scope to be in.

    Returns:
        A pair of outputs and a pair of states.

    Raises:
        TypeError: If a cell is no RNNCell.

    Example:
        >>> cells = [tf.nn.rnn_cell.GRUCell(4) for _ in range(2)]
        >>> (forwards, backwards), states = tf.nn.bidirectional_dynamic_rnn(*cells, tf.ones([2, 5, 3]), dtype=tf.float32)
        >>> forwards.shape.as_list(), states[0].shape.as_list()
        ([2, 5, 4], [2, 4])
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    with scopes.variable_scope(scope or "bidirectional_rnn"):
        with scopes.variable_scope("fw") as fw_scope:
            output_fw, state_fw = dynamic_rnn(cell_fw, inputs, initial_state=initial_state_fw, scope=fw_scope, **shared)
        time_axis, batch_axis = (0, 1) if shared["time_major"] else (1, 0)
        lengths = shared["sequence_length"]

        def reversed_(x):
            if lengths is not None:
                return array.reverse_sequence(input=x, seq_lengths=lengths, seq_axis=time_axis, batch_axis=batch_axis)
            return array.reverse(x, axis=[time_axis])

        with scopes.variable_scope("bw") as bw_scope:
            backwards = nest.map_structure(reversed_, inputs)
            output_bw, state_bw = dynamic_rnn(
                cell_bw, backwards, initial_state=initial_state_bw, scope=bw_scope, **shared
            )
    output_bw = nest.map_structure(reversed_, output_bw)
    return (output_fw, output_bw), (state_fw, state_bw)


def raw_rnn(cell, loop_fn, parallel_iterations=None, swap_memory=False, scope=None):
    """(TensorArray of outputs, final state, loop state) of a cell whose inputs and end `loop_fn` decides.

    Args:
        cell: The cell to run at each step.
        loop_fn: `loop_fn(time, cell_output, cell_state, loop_state)`; it returns whether each sequence is finished, the
            next input, the next state, what to emit, and the next loop state.
        parallel_iterations: How many rounds may be under way at the same time; 32 if None.
        swap_memory: Whether values kept for the gradient may move to the host's memory; memory is the host's already.
        scope: The variable scope to be in.

    Returns:
        A TensorArray, the last state and the last loop state.

    Raises:
        TypeError: If `cell` is no RNNCell, or `loop_fn` no function.

    Example:
        >>> cell = tf.nn.rnn_cell.GRUCell(4)
        >>> def loop_fn(time, output, state, loop_state):
        ...     state = cell.zero_state(2, tf.float32) if output is None else state
        ...     return time >= [3, 3], tf.ones([2, 1]), state, output, None
        >>> outputs, state, _ = tf.nn.raw_rnn(cell, loop_fn)
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(outputs.stack()).shape
        (3, 2, 4)
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    parallel_iterations = parallel_iterations or 32
    with rnn_scope(scope):
        time = constant(0, dtype=dtypes.int32)
        finished, next_input, initial_state, emit_structure, initial_loop_state = loop_fn(time, None, None, None)
        flat_input = nest.flatten(next_input)
        loop_state = initial_loop_state if initial_loop_state is not None else constant(0, dtype=dtypes.int32)
        static_batch = _static_batch(flat_input)
        batch_size = static_batch if static_batch is not None else array.shape(flat_input[0])[0]
        nest.assert_same_structure(initial_state, cell.state_size)
        state = initial_state
        flat_state = [convert_to_tensor(s) if not isinstance(s, TensorArray) else s for s in nest.flatten(state)]
        state = nest.pack_sequence_as(state, flat_state)
        emit_arrays, zero_emit = _emitted(cell, emit_structure, flat_state[0].dtype, static_batch, batch_size)

        def body(time, finished, current_input, arrays, state, loop_state):
            next_output, cell_state = cell(current_input, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, next_output)
            next_time = time + 1
            next_finished, next_input, next_state, emit, next_loop_state = loop_fn(
                next_time, next_output, cell_state, loop_state
            )
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(current_input, next_input)
            nest.assert_same_structure(arrays, emit)
            if next_loop_state is None:
                next_loop_state = loop_state
            kept = functools.partial(_old_where, finished)
            emit = nest.map_structure(kept, zero_emit, emit)
            next_state = nest.map_structure(kept, state, next_state)
            arrays = nest.map_structure(lambda a, e: a.write(time, e), arrays, emit)
            return next_time, math.logical_or(finished, next_finished), next_input, arrays, next_state, next_loop_state

        begin = [time, finished, next_input, emit_arrays, state, loop_state]
        options = {"parallel_iterations": parallel_iterations, "swap_memory": swap_memory}
        result = while_loop(
            lambda _, finished, *__: math.logical_not(math.reduce_all(finished)), body, begin, **options
        )
        arrays, final_state, final_loop_state = result[-3:]
        return arrays, final_state, None if initial_loop_state is None else final_loop_state


def _emitted(cell, emitted, state_dtype, static_batch, batch_size):
    """(TensorArrays for what `raw_rnn` gives, zeros like it): as `loop_fn` first answers, or the cell's output."""
    if emitted is None:
        emitted = cell.output_size
        kinds = [(size, state_dtype) for size in nest.flatten(emitted)]
    else:
        kinds = [(e.shape if e.shape.is_fully_defined() else array.shape(e), e.dtype) for e in nest.flatten(emitted)]
    shapes = [TensorShape([static_batch]).concatenate(_as_shape(size)) for size, _ in kinds]
    arrays = [
        TensorArray(t, dynamic_size=True, element_shape=shape, size=0, name=f"rnn_output_{i}")
        for i, (shape, (_, t)) in enumerate(zip(shapes, kinds))
    ]
    zeros = [array.zeros(concat(batch_size, size), t) for size, t in kinds]
    return nest.pack_sequence_as(emitted, arrays), nest.pack_sequence_as(emitted, zeros)


def _static_batch(flat_input):
    static = flat_input[0].shape[0] if flat_input[0].shape.rank is not None else None
    batch = None if static is None else static.value
    for tensor in flat_input[1:]:
        if static is not None and tensor.shape.rank is not None:
            static = static.merge_with(tensor.shape[0])
            batch = static.value
    return batch
