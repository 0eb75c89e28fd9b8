"""`K.rnn`: a step function over the time axis, unrolled or as a loop, with steps that a mask leaves out."""

from __future__ import annotations

from everflow.framework import dtypes, nest
from everflow.framework.operation import Tensor
from everflow.keras.backend.shaping import expand_dims, reverse
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.loops import while_loop
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.platform.signatures import takes


@takes(
    """step_function, inputs, initial_states, go_backwards=False, mask=None, constants=None, unroll=False,
    input_length=None, time_major=False, zero_output_for_mask=False"""
)
def rnn(step_function, inputs, initial_states, mask, constants, unroll, input_length, time_major, **how):
    """Call `step_function(input, states)`, which gives (output, new states), for each time step.

    Where the mask is false, states stay as they were and the output is that of the step before.

    Args:
        step_function: The function.
        inputs: The sequences: [samples, time, ...], or a structure of such.
        initial_states: The list of first states.
        go_backwards: Whether the sequence is read from its end.
        mask: Which steps count: [samples, time].
        constants: Tensors that are added to the states of each step.
        unroll: Whether the graph has each step for itself.
        input_length: How many steps there are, or how many of each sequence count.
        time_major: Whether the first axis is time, not the batch.
        zero_output_for_mask: Whether the output is zero where the mask is false.

    Returns:
        The last output, all outputs (samples, time, ...) and the last states.

    Raises:
        ValueError: If the mask or lengths don't fit.

    Example:
        >>> step = lambda x, states: (states[0] + x, [states[0] + x])
        >>> last, outputs, states = tf.keras.backend.rnn(step, tf.ones([1, 3, 1]), [tf.zeros([1, 1])])
        >>> sess.run(last)
        array([[3.]], dtype=float32)
    """
    if not time_major:
        inputs = nest.map_structure(_swap_batch_and_time, inputs)
    flat_inputs = nest.flatten(inputs)
    time_steps, batch = flat_inputs[0].shape.as_list()[:2] if flat_inputs[0].shape.ndims else (None, None)
    time_steps_tensor = array.shape(flat_inputs[0])[0]
    for one in flat_inputs:
        one.shape.with_rank_at_least(3)
    mask = None if mask is None else _prepared(mask, time_major)
    constants = () if constants is None else tuple(constants)
    if unroll:
        if time_steps is None:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        unrolled = _Unrolled(step_function, inputs, tuple(initial_states), constants, mask, **how)
        last_output, outputs, new_states = unrolled.run(time_steps)
    else:
        loop = _Loop(step_function, inputs, initial_states, constants, mask, **how)
        last_output, outputs, new_states = loop.run(time_steps_tensor, input_length)

    def with_known_shape(output):
        if isinstance(output, Tensor):
            output.set_shape([time_steps, batch, *output.shape.as_list()[2:]])
        return output

    outputs = nest.map_structure(with_known_shape, outputs)
    if not time_major:
        outputs = nest.map_structure(_swap_batch_and_time, outputs)
    return last_output, outputs, new_states


def _prepared(mask, time_major):
    """A mask of truth values with time first, and with a last axis for features."""
    if mask.dtype != dtypes.bool:
        mask = math.cast(mask, dtypes.bool)
    if len(mask.shape) == 2:
        mask = expand_dims(mask)
    return mask if time_major else _swap_batch_and_time(mask)


def _swap_batch_and_time(tensor):
    return array.transpose(tensor, [1, 0, *range(2, len(tensor.shape))])


def _spread(mask, like, fixed=1):
    """A mask repeated along the axes after the first `fixed` ones, so that it has the shape of a tensor."""
    for _ in range(len(like.shape) - len(mask.shape)):
        mask = array.expand_dims(mask, -1)
    return array.tile(mask, [1] * fixed + like.shape.as_list()[fixed:])


class _Steps:
    def __init__(self, step, inputs, states, constants, mask, go_backwards, zero_output_for_mask):
        self.step, self.inputs, self.states, self.constants = step, inputs, states, constants
        self.mask, self.go_backwards, self.zero_output_for_mask = mask, go_backwards, zero_output_for_mask


class _Unrolled(_Steps):
    """The steps one after the other in the graph."""

    def _slices(self):
        """The input of each step."""
        flat = [array.unstack(one) for one in nest.flatten(self.inputs)]
        if self.go_backwards:
            flat = [one[::-1] for one in flat]
        return [nest.pack_sequence_as(self.inputs, [one[time] for one in flat]) for time in range(len(flat[0]))]

    def run(self, time_steps):
        if self.mask is None:
            return self._without_mask(time_steps)
        return self._with_mask(time_steps)

    def _without_mask(self, time_steps):
        states, outputs = self.states, []
        for now in self._slices():
            output, states = self.step(now, tuple(states) + self.constants)
            outputs.append(output)
        return outputs[-1], array.stack(outputs), states

    def _with_mask(self, time_steps):
        slices = self._slices()
        masks = array.unstack(self.mask)
        if self.go_backwards:
            masks.reverse()
        states, outputs, before = self.states, [], None
        for now, mask in zip(slices, masks):
            output, new_states = self.step(now, tuple(states) + self.constants)
            wide_mask = _spread(mask, output)
            before = array.zeros_like(output) if before is None else before
            output = array.where(wide_mask, output, before)
            flat_states, flat_new = nest.flatten(states), nest.flatten(new_states)
            flat_final = [array.where(_spread(mask, old), new, old) for new, old in zip(flat_new, flat_states)]
            states = nest.pack_sequence_as(states, flat_final)
            outputs.append(output)
            before = output
        last_output, result = outputs[-1], array.stack(outputs)
        if self.zero_output_for_mask:
            last_output = array.where(_spread(masks[-1], last_output), last_output, array.zeros_like(last_output))
            result = array.where(_spread(self.mask, result, fixed=2), result, array.zeros_like(result))
        return last_output, result, states


class _Loop(_Steps):
    """The steps as a while loop over TensorArrays."""

    def run(self, count, maximum_iterations):
        flat_inputs = nest.flatten(self.inputs)
        arrays = tuple(
            TensorArray(dtype=one.dtype, size=count, tensor_array_name=f"input_ta_{i}")
            for i, one in enumerate(flat_inputs)
        )
        self.input_arrays = tuple(
            one.unstack(values) if not self.go_backwards else one.unstack(reverse(values, 0))
            for one, values in zip(arrays, flat_inputs)
        )
        # A step outside the loop tells what the outputs look like.
        first = nest.pack_sequence_as(self.inputs, [one[0] for one in flat_inputs])
        self.example, _ = self.step(first, tuple(self.states) + self.constants)
        flat_example = nest.flatten(self.example)
        outputs = tuple(
            TensorArray(dtype=one.dtype, size=count, element_shape=one.shape, tensor_array_name=f"output_ta_{i}")
            for i, one in enumerate(flat_example)
        )
        time = constant(0, dtype="int32", name="time")
        states = tuple(self.states)
        options = {"parallel_iterations": 32, "swap_memory": True, "maximum_iterations": maximum_iterations}
        options["cond"] = lambda time, *_: time < count
        if self.mask is None:
            _, arrays, *new_states = while_loop(body=self._body, loop_vars=(time, outputs, *states), **options)
        else:
            masks = reverse(self.mask, 0) if self.go_backwards else self.mask
            self.mask_array = TensorArray(dtype=dtypes.bool, size=count, tensor_array_name="mask_ta").unstack(masks)
            self.zero_outputs = tuple(array.zeros_like(one) for one in flat_example)
            _, arrays, _, *new_states = while_loop(
                body=self._masked_body, loop_vars=(time, outputs, self.zero_outputs, *states), **options
            )
        stacked = tuple(one.stack() for one in arrays)
        last = tuple(one[-1] for one in stacked)
        pack = nest.pack_sequence_as
        return pack(self.example, last), pack(self.example, stacked), tuple(new_states)

    def _read(self, time):
        return nest.pack_sequence_as(self.inputs, [one.read(time) for one in self.input_arrays])

    def _advance(self, now, states):
        """Outputs and new states of a step, both flat; states keep the shapes that they had."""
        output, new_states = self.step(now, tuple(states) + self.constants)
        return nest.flatten(output), nest.flatten(new_states)

    @staticmethod
    def _keep_shapes(flat_states, flat_new):
        for state, new_state in zip(flat_states, flat_new):
            if isinstance(new_state, Tensor):
                new_state.set_shape(state.shape)

    def _body(self, time, arrays, *states):
        flat_output, flat_new = self._advance(self._read(time), states)
        self._keep_shapes(nest.flatten(states), flat_new)
        arrays = tuple(one.write(time, output) for one, output in zip(arrays, flat_output))
        new_states = nest.pack_sequence_as(self.states, flat_new)
        return (time + 1, arrays, *tuple(new_states))

    def _masked_body(self, time, arrays, before, *states):
        now = self._read(time)
        mask = self.mask_array.read(time)
        flat_output, flat_new = self._advance(now, states)
        instead = self.zero_outputs if self.zero_output_for_mask else before
        masks = tuple(_spread(mask, output) for output in flat_output)
        flat_output = tuple(array.where(m, output, other) for m, output, other in zip(masks, flat_output, instead))
        flat_states = nest.flatten(states)
        self._keep_shapes(flat_states, flat_new)
        masks = tuple(_spread(mask, state) for state in flat_states)
        flat_final = [array.where(m, new, old) for m, new, old in zip(masks, flat_new, flat_states)]
        new_states = nest.pack_sequence_as(self.states, flat_final)
        arrays = tuple(one.write(time, output) for one, output in zip(arrays, flat_output))
        return (time + 1, arrays, flat_output, *tuple(new_states))
