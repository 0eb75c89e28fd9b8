"""What recurrent layers are made of, by the names of TensorFlow's modules `keras.layers.recurrent` and `recurrent_v2`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from everflow.framework import nest
from everflow.framework.dtypes import bool as bool_type
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.layers.recurrent import standardize_arguments
from everflow.keras.layers.recurrent_cells import dropout_masks, zero_state, zero_state_for
from everflow.keras.layers.recurrent_v2 import RUNTIME_CPU, RUNTIME_UNKNOWN, runtime_mark
from everflow.ops import array, math

_CPU_DEVICE_NAME, _GPU_DEVICE_NAME = "CPU", "GPU"
_DEFUN_API_NAME_ATTRIBUTE, _DEFUN_DEVICE_ATTRIBUTE = "api_implements", "api_preferred_device"
_RUNTIME_UNKNOWN, _RUNTIME_CPU, _RUNTIME_GPU = RUNTIME_UNKNOWN, RUNTIME_CPU, 2


# --- states and masks -----------------------------------------------------------------------------


def _generate_zero_filled_state(batch_size_tensor: Any, state_size: Any, dtype: Any) -> Any:
    if batch_size_tensor is None or dtype is None:
        raise ValueError(
            f"Zeros of a state need a batch size and a dtype; given were {batch_size_tensor!r} and {dtype!r}."
        )
    return zero_state(state_size, batch_size_tensor, dtype)


def _generate_zero_filled_state_for_cell(cell: Any, inputs: Any, batch_size: Any, dtype: Any) -> Any:
    return zero_state_for(cell, inputs, batch_size, dtype)


def _generate_dropout_mask(ones: Any, rate: float, training: Any = None, count: int = 1) -> Any:
    return dropout_masks(ones, rate, training, count)


def _is_multiple_state(state_size: Any) -> bool:
    return hasattr(state_size, "__len__") and not isinstance(state_size, TensorShape)


def _standardize_args(inputs: Any, initial_state: Any, constants: Any, num_constants: int | None) -> tuple:
    if isinstance(inputs, list):
        # States are given once: among the inputs, or by name.
        assert initial_state is None and constants is None
    return standardize_arguments(inputs, initial_state, constants, num_constants)


def is_sequence_right_padded(mask: Any, time_major: bool) -> Any:
    """Whether every sequence's true steps come before its false ones."""
    if time_major:
        mask = array.transpose(mask)
    steps = array.shape(mask)[1]
    lengths = math.reduce_sum(math.cast(mask, "int32"), axis=1)
    return math.reduce_all(math.equal(mask, array.sequence_mask(lengths, maxlen=steps, dtype=bool_type)))


def calculate_sequence_by_mask(mask: Any, time_major: bool) -> Any:
    """How many steps of each sequence are true."""
    return math.reduce_sum(math.cast(mask, "int32"), axis=0 if time_major else 1)


# --- whole sequences ------------------------------------------------------------------------------


def _runtime(runtime_name: int) -> Any:
    return runtime_mark(runtime_name)


def _over_time(step: Callable, states: Iterable, inputs: Any, mask: Any, time_major: bool, go_backwards: bool) -> tuple:
    last, outputs, new_states = K.rnn(
        step,
        inputs,
        list(states),
        mask=mask,
        go_backwards=go_backwards,
        input_length=nest.flatten(inputs)[0].shape.as_list()[0 if time_major else 1],
        time_major=time_major,
    )
    return (last, outputs, *new_states, runtime_mark(RUNTIME_CPU))


def standard_lstm(
    inputs: Any,
    init_h: Any,
    init_c: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    activation: Callable,
    recurrent_activation: Callable,
    mask: Any,
    time_major: bool,
    go_backwards: bool,
) -> tuple:
    """(last output, outputs, h, c, runtime) of long short-term memory over sequences."""

    def step(x: Any, states: Any) -> tuple:
        h, c = states[0], states[1]
        z = K.bias_add(K.dot(x, kernel) + K.dot(h, recurrent_kernel), bias)
        i, f, new, o = array.split(z, 4, axis=1)
        c = recurrent_activation(f) * c + recurrent_activation(i) * activation(new)
        h = recurrent_activation(o) * activation(c)
        return h, [h, c]

    return _over_time(step, (init_h, init_c), inputs, mask, time_major, go_backwards)


def standard_gru(
    inputs: Any,
    init_h: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    activation: Callable,
    recurrent_activation: Callable,
    mask: Any,
    time_major: bool,
    go_backwards: bool,
) -> tuple:
    """(last output, outputs, h, runtime) of gated recurrent units over sequences; the reset comes after the product."""
    input_bias, recurrent_bias = array.unstack(bias)

    def step(x: Any, states: Any) -> tuple:
        h = states[0]
        x_z, x_r, x_h = array.split(K.bias_add(K.dot(x, kernel), input_bias), 3, axis=1)
        h_z, h_r, h_h = array.split(K.bias_add(K.dot(h, recurrent_kernel), recurrent_bias), 3, axis=1)
        z, r = recurrent_activation(x_z + h_z), recurrent_activation(x_r + h_r)
        new = z * h + (1 - z) * activation(x_h + r * h_h)
        return new, [new]

    return _over_time(step, (init_h,), inputs, mask, time_major, go_backwards)


def lstm_with_backend_selection(
    inputs: Any,
    init_h: Any,
    init_c: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    mask: Any,
    time_major: bool,
    go_backwards: bool,
    activation: Callable,
    recurrent_activation: Callable,
) -> tuple:
    """`standard_lstm`: the processor has no other."""
    functions = (activation, recurrent_activation)
    return standard_lstm(
        inputs, init_h, init_c, kernel, recurrent_kernel, bias, *functions, mask, time_major, go_backwards
    )


def gru_with_backend_selection(
    inputs: Any,
    init_h: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    mask: Any,
    time_major: bool,
    go_backwards: bool,
    activation: Callable,
    recurrent_activation: Callable,
) -> tuple:
    """`standard_gru`: the processor has no other."""
    functions = (activation, recurrent_activation)
    return standard_gru(inputs, init_h, kernel, recurrent_kernel, bias, *functions, mask, time_major, go_backwards)
