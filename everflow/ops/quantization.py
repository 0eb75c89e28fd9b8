"""Numbers in few bits: build functions, shape rules and gradients of quantised and fake-quantised tensors."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import gradient, shape_rule
from everflow.framework.shapes import TensorShape, broadcast, unknown_shape
from everflow.ops.math.matrix import matmul_shape
from everflow.ops.shape_rules import like_first_of_scalars, like_first_two


def quantize_v2(input, min_range, max_range, T, mode="MIN_COMBINED", name=None, round_mode="HALF_AWAY_FROM_ZERO"):
    """A float tensor as integers that stand for the range, and the range as it was used.

    Args:
        input: Floats.
        min_range: The lowest number to be told.
        max_range: The highest number to be told.
        T: The quantised type, such as `tf.quint8`.
        mode: `MIN_COMBINED`, `MIN_FIRST` or `SCALED`.
        name: The name of the operation in the graph.
        round_mode: `HALF_AWAY_FROM_ZERO` or `HALF_TO_EVEN`.

    Returns:
        The quantised tensor, and the lowest and highest number of the range.

    Example:
        >>> sess.run(tf.quantize_v2([0.0, 1.0, 2.0], 0.0, 2.0, tf.quint8))[0]
        array([  0, 128, 255], dtype=uint8)
    """
    return raw.QuantizeV2(input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name)


def quantize(input, min_range, max_range, T, mode="MIN_COMBINED", round_mode="HALF_AWAY_FROM_ZERO", name=None):
    """A float tensor as integers that stand for the range, and the range as it was used.

    Args:
        input: Floats.
        min_range: The lowest number to be told.
        max_range: The highest number to be told.
        T: The quantised type, such as `tf.quint8`.
        mode: `MIN_COMBINED`, `MIN_FIRST` or `SCALED`.
        round_mode: `HALF_AWAY_FROM_ZERO` or `HALF_TO_EVEN`.
        name: The name of the operation in the graph.

    Returns:
        The quantised tensor, and the lowest and highest number of the range.

    Example:
        >>> sess.run(tf.quantize([0.0, 1.0, 2.0], 0.0, 2.0, tf.quint8))[0]
        array([  0, 128, 255], dtype=uint8)
    """
    return quantize_v2(input, min_range, max_range, T, mode=mode, name=name, round_mode=round_mode)


def dequantize(input, min_range, max_range, mode="MIN_COMBINED", name=None):
    """The floats that a quantised tensor stands for.

    Args:
        input: The quantised tensor.
        min_range: The number that the lowest value stands for.
        max_range: The number that the highest value stands for.
        mode: `MIN_COMBINED`, `MIN_FIRST` or `SCALED`.
        name: The name of the operation in the graph.

    Returns:
        A float32 tensor.

    Example:
        >>> q, low, high = tf.quantize([0.0, 1.0, 2.0], 0.0, 2.0, tf.quint8)
        >>> sess.run(tf.dequantize(q, low, high))
        array([0.       , 1.0039216, 2.       ], dtype=float32)
    """
    return raw.Dequantize(input, min_range, max_range, mode=mode, name=name)


def quantize_and_dequantize(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
):
    """Floats rounded as if they had gone through few bits.

    Args:
        input: The floats.
        input_min: The lowest number to be told.
        input_max: The highest number to be told.
        signed_input: Whether negative numbers are told.
        num_bits: How many bits there are.
        range_given: Whether the range is used; else that of the input.
        round_mode: `HALF_TO_EVEN` or `HALF_UP`.
        name: The name of the operation in the graph.
        narrow_range: Whether the lowest step is left out.

    Returns:
        Floats of the same shape.

    Example:
        >>> sess.run(tf.quantization.quantize_and_dequantize([0.1, 1.0], -1.0, 1.0, num_bits=3, range_given=True))
        array([0., 1.], dtype=float32)
    """
    return raw.QuantizeAndDequantizeV2(**locals())


def fake_quant_with_min_max_args(inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None):
    """Floats rounded to the steps of a fixed range.

    Args:
        inputs: The floats.
        min: The lowest number that can be told.
        max: The highest number that can be told.
        num_bits: How many bits the steps are counted with, 2 to 16.
        narrow_range: Whether the lowest step is left out.
        name: The name of the operation in the graph.

    Returns:
        Floats of the same shape.

    Example:
        >>> sess.run(tf.fake_quant_with_min_max_args([-10.0, 0.1, 3.0], -6.0, 6.0, num_bits=3))
        array([-6.857143 ,  0.       ,  3.4285712], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxArgs(
        inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_args_gradient(gradients, inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None):
    """The gradient of `fake_quant_with_min_max_args`.

    Args:
        gradients: The gradient that comes back from the result.
        inputs: The floats.
        min: The lowest number that can be told.
        max: The highest number that can be told.
        num_bits: How many bits the steps are counted with, 2 to 16.
        narrow_range: Whether the lowest step is left out.
        name: The name of the operation in the graph.

    Returns:
        The gradient by the inputs: zero outside of the range.

    Example:
        >>> sess.run(tf.fake_quant_with_min_max_args_gradient([1.0, 1.0], [-10.0, 0.1]))
        array([0., 1.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxArgsGradient(
        gradients, inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """Floats rounded to the steps of a range that is a tensor.

    Args:
        inputs: The floats.
        min: The lowest number that can be told.
        max: The highest number that can be told.
        num_bits: How many bits the steps are counted with, 2 to 16.
        narrow_range: Whether the lowest step is left out.
        name: The name of the operation in the graph.

    Returns:
        Floats of the same shape.

    Example:
        >>> sess.run(tf.fake_quant_with_min_max_vars([-10.0, 0.1, 3.0], -6.0, 6.0, num_bits=3))
        array([-6.857143 ,  0.       ,  3.4285712], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVars(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars_gradient(gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """The gradients of `fake_quant_with_min_max_vars` by its three inputs.

    Args:
        gradients: The gradient that comes back from the result.
        inputs: The floats.
        min: The lowest number that can be told.
        max: The highest number that can be told.
        num_bits: How many bits the steps are counted with, 2 to 16.
        narrow_range: Whether the lowest step is left out.
        name: The name of the operation in the graph.

    Returns:
        The gradients by the inputs, by `min` and by `max`.

    Example:
        >>> sess.run(tf.fake_quant_with_min_max_vars_gradient([1.0, 1.0], [-10.0, 0.1], -6.0, 6.0))[0]
        array([0., 1.], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVarsGradient(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_vars_per_channel(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """Floats rounded to the steps of a range for each element of the last dimension.

    Args:
        inputs: The floats.
        min: The lowest numbers: a vector.
        max: The highest numbers: a vector.
        num_bits: How many bits the steps are counted with, 2 to 16.
        narrow_range: Whether the lowest step is left out.
        name: The name of the operation in the graph.

    Returns:
        Floats of the same shape.

    Example:
        >>> sess.run(tf.fake_quant_with_min_max_vars_per_channel([[0.1, 0.1]], [-6.0, -1.0], [6.0, 1.0], num_bits=3))
        array([[0., 0.]], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVarsPerChannel(
        inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """The gradients of `fake_quant_with_min_max_vars_per_channel` by its three inputs.

    Args:
        gradients: The gradient that comes back from the result.
        inputs: The floats.
        min: The lowest numbers: a vector.
        max: The highest numbers: a vector.
        num_bits: How many bits the steps are counted with, 2 to 16.
        narrow_range: Whether the lowest step is left out.
        name: The name of the operation in the graph.

    Returns:
        The gradients by the inputs, by `min` and by `max`.

    Example:
        >>> sess.run(tf.fake_quant_with_min_max_vars_per_channel_gradient([[1.0, 1.0]], [[9.0, 0.1]], [-6.0, -1.0], [6.0, 1.0]))[0]
        array([[0., 1.]], dtype=float32)
    """
    return raw.FakeQuantWithMinMaxVarsPerChannelGradient(**locals())


_SCALAR = TensorShape([])


@shape_rule(
    "QuantizeV2", "QuantizeDownAndShrinkRange", "Requantize", "QuantizedRelu", "QuantizedRelu6", "QuantizedReluX"
)
def _ranged_shape(op):
    for tensor in op.inputs[1:]:
        tensor.shape.with_rank(0)
    return [op.inputs[0].shape, _SCALAR, _SCALAR]


shape_rule(
    *("QuantizeAndDequantize", "QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "Dequantize"),
    *("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars"),
)(like_first_of_scalars)
shape_rule("FakeQuantWithMinMaxArgsGradient")(like_first_two)


@shape_rule("FakeQuantWithMinMaxVarsGradient")
def _fake_quant_vars_gradient_shape(op):
    for tensor in op.inputs[2:]:
        tensor.shape.with_rank(0)
    return [op.inputs[0].shape.merge_with(op.inputs[1].shape), _SCALAR, _SCALAR]


def _channels(shape, *ranges):
    """A shape whose last side is that of the ranges, and the ranges' shape."""
    shape = shape.with_rank_at_least(1)
    last = unknown_shape(rank=1) if shape.rank is None else TensorShape([shape[-1]])
    for tensor in ranges:
        last = last.merge_with(tensor.shape.with_rank(1))
    return (shape if shape.rank is None else shape[:-1].concatenate(last)), last


@shape_rule("FakeQuantWithMinMaxVarsPerChannel")
def _fake_quant_channel_shape(op):
    _channels(op.inputs[0].shape, *op.inputs[1:])
    return op.inputs[0].shape


@shape_rule("FakeQuantWithMinMaxVarsPerChannelGradient")
def _fake_quant_channel_gradient_shape(op):
    shape, last = _channels(op.inputs[0].shape.merge_with(op.inputs[1].shape), *op.inputs[2:])
    return [shape, last, last]


@shape_rule("RequantizationRange")
def _range_shape(op):
    return [_SCALAR, _SCALAR]


@shape_rule("QuantizedAdd", "QuantizedMul")
def _quantized_binary_shape(op):
    return [broadcast(op.inputs[0].shape, op.inputs[1].shape), _SCALAR, _SCALAR]


@shape_rule("QuantizedMatMul")
def _quantized_matmul_shape(op):
    return [matmul_shape(op), _SCALAR, _SCALAR]


@gradient("QuantizeAndDequantize")
def _through_grad(op, grad):
    return grad


@gradient("QuantizeAndDequantizeV2")
def _through_v2_grad(op, grad):
    return [grad, None, None]


@gradient("QuantizeAndDequantizeV3")
def _through_v3_grad(op, grad):
    return [grad, None, None, None]


@gradient("FakeQuantWithMinMaxArgs")
def _fake_quant_args_grad(op, grad):
    return fake_quant_with_min_max_args_gradient(
        grad,
        op.inputs[0],
        min=op.attrs["min"],
        max=op.attrs["max"],
        num_bits=op.attrs["num_bits"],
        narrow_range=op.attrs["narrow_range"],
    )


@gradient("FakeQuantWithMinMaxVars")
def _fake_quant_vars_grad(op, grad):
    return fake_quant_with_min_max_vars_gradient(
        grad, *op.inputs, num_bits=op.attrs["num_bits"], narrow_range=op.attrs["narrow_range"]
    )


@gradient("FakeQuantWithMinMaxVarsPerChannel")
def _fake_quant_channel_grad(op, grad):
    return fake_quant_with_min_max_vars_per_channel_gradient(
        grad, *op.inputs, num_bits=op.attrs["num_bits"], narrow_range=op.attrs["narrow_range"]
    )
