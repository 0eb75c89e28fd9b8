"""`Recurrent`: a function of one step, over all of them."""

from __future__ import annotations

import functools

from everflow.framework import nest
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array
from everflow.ops.control_flow.loops import while_loop
from everflow.ops.gradients.custom import custom_gradient
from everflow.ops.tensor_arrays.tensor_array import TensorArray


def Recurrent(
    theta,
    state0,
    inputs,
    cell_fn,
    cell_grad=None,
    extras=None,
    max_input_length=None,
    use_tpu=False,
    aligned_end=False,
):
    """(all states, the last one) of `state, extras = cell_fn(theta, state, input)`, begun with `state0`.

    Args:
        theta: What steps have in common, in any structure of tensors.
        state0: The state before the first step, in any structure.
        inputs: A structure of tensors whose first dimension is the steps.
        cell_fn: The step.
        cell_grad: `dtheta, dstate, dinput = cell_grad(theta, state, input, extras, dstate_after)`, where the gradient
            isn't to be found from the ops of the step.
        extras: Tensors like what `cell_fn` gives beside the state; they need not be given.
        max_input_length: How many of the steps are made; states of the others are zeros.
        use_tpu: Nothing hangs on it here.
        aligned_end: Whether those are the last steps rather than the first ones.

    >>> states, last = Recurrent(tf.constant(0.5), tf.constant(0.0), values, lambda w, s, x: (w * s + x, ()))
    """
    tensors = functools.partial(nest.map_structure, convert_to_tensor)
    theta, state0, inputs = tensors(theta), tensors(state0), tensors(inputs)
    length = array.shape(nest.flatten(inputs)[0])[0]
    count = length if max_input_length is None else convert_to_tensor(max_input_length)
    first = length - count if aligned_end else 0

    def unstacked(values):
        return TensorArray(values.dtype, size=length, element_shape=values.shape[1:]).unstack(values)

    given = [unstacked(values) for values in nest.flatten(inputs)]
    kept = [TensorArray(start.dtype, size=count, element_shape=start.shape) for start in nest.flatten(state0)]
    step = _with_gradient(cell_fn, cell_grad) if cell_grad is not None else lambda *args: cell_fn(*args)[0]

    def body(number, state, kept):
        here = nest.pack_sequence_as(inputs, [values.read(first + number) for values in given])
        state = step(theta, state, here)
        for now, before in zip(nest.flatten(state), nest.flatten(state0)):
            now.set_shape(before.shape)
        return number + 1, state, [states.write(number, now) for states, now in zip(kept, nest.flatten(state))]

    _, last, kept = while_loop(lambda number, *_: number < count, body, [0, state0, kept])

    def placed(states):
        made = states.stack()
        if max_input_length is None:
            return made
        around = [[first, length - first - count], *([0, 0] for _ in range(made.shape.rank - 1))]
        return array.pad(made, around)

    return nest.pack_sequence_as(state0, [placed(states) for states in kept]), last


def _with_gradient(cell_fn, cell_grad):
    """The state that a step gives, with a gradient of the program's own."""

    def step(theta, state, here):
        structure = theta, state, here

        @custom_gradient
        def run(*args):
            parts = nest.pack_sequence_as(structure, args)
            after, extras = cell_fn(*parts)

            def grad(*dafter):
                given = cell_grad(*parts, extras, nest.pack_sequence_as(after, dafter))
                return [
                    array.zeros_like(value) if part is None else part
                    for parts_of, whole in zip(given, parts)
                    for part, value in zip(_leaves(parts_of, whole), nest.flatten(whole))
                ]

            return nest.flatten(after), grad

        return nest.pack_sequence_as(state, run(*nest.flatten(structure)))

    return step


def _leaves(given, like):
    """The leaves of a structure; None may stand for any part."""
    return [None] * len(nest.flatten(like)) if given is None else nest.flatten(given)
