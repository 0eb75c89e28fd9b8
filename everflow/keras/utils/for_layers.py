"""What layers of programs import from inside Keras: sizes of convolutions, shapes as tuples, choices made early."""

from __future__ import annotations

import functools

from everflow.framework.operation import Tensor

# ruff: noqa: F401  Some of these are only handed on.
from everflow.framework.shapes import TensorShape
from everflow.keras.backend.config import normalize_data_format
from everflow.keras.engine import arguments
from everflow.keras.engine.arguments import deconv_output_length, op_format, output_length
from everflow.keras.engine.arguments import sizes as normalize_tuple
from everflow.ops.control_flow.conditionals import smart_cond, smart_constant_value
from everflow.ops.variables.variable import Variable


def normalize_padding(value):
    """A padding in lower case: "valid", "same" or "causal"; ValueError for anything else."""
    return arguments.padding(value, allow_causal=True)


def conv_output_length(input_length, filter_size, padding, stride, dilation=1):
    """The length of a convolution's output; with padding "full", every place that the kernel touches counts."""
    if input_length is None:
        return None
    if padding not in {"same", "valid", "full", "causal"}:
        raise AssertionError(f"No padding is called {padding!r}")
    if padding == "full":
        extent = filter_size + (filter_size - 1) * (dilation - 1)
        return (input_length + extent - 1 + stride - 1) // stride
    return output_length(input_length, filter_size, stride, padding, dilation)


def conv_input_length(output_length, filter_size, padding, stride):
    """The length of input that gives an output of this length."""
    if output_length is None:
        return None
    pads = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}
    if padding not in pads:
        raise AssertionError(f"No padding of what a convolution was given is called {padding!r}")
    pad = pads[padding]
    return (output_length - 1) * stride - 2 * pad + filter_size


def convert_data_format(data_format, ndim):
    """Keras's data format as the ops of so many axes call it."""
    if data_format not in {"channels_last", "channels_first"}:
        raise ValueError("Invalid data_format:", data_format)
    if ndim not in {3, 4, 5}:
        raise ValueError("Input rank not supported:", ndim)
    return op_format(data_format, ndim - 2)


def convert_shapes(input_shape, to_tuples=True):
    """Shapes, one or a structure of them, as tuples or as TensorShapes."""

    def is_shape(value):
        if value is None or isinstance(value, TensorShape):
            return True
        nested = (list, tuple, dict, TensorShape)
        return isinstance(value, (list, tuple)) and not any(isinstance(size, nested) for size in value)

    if is_shape(input_shape):
        shape = TensorShape(input_shape)
        return tuple(shape.as_list()) if to_tuples else shape
    if isinstance(input_shape, dict):
        return {key: convert_shapes(value, to_tuples) for key, value in input_shape.items()}
    return type(input_shape)(convert_shapes(value, to_tuples) for value in input_shape)


def shape_type_conversion(fn):
    """Decorator of `compute_output_shape` and `build`: shapes come as tuples, and results become TensorShapes."""

    @functools.wraps(fn)
    def wrapper(instance, input_shape):
        if input_shape is not None:
            input_shape = convert_shapes(input_shape, to_tuples=True)
        output_shape = fn(instance, input_shape)
        return None if output_shape is None else convert_shapes(output_shape, to_tuples=False)

    return wrapper


def is_symbolic_tensor(tensor):
    """Whether a tensor belongs to a graph rather than holding a value."""
    return isinstance(tensor, (Tensor, Variable)) and not hasattr(tensor, "numpy")
