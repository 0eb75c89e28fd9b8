"""Arguments of layers in the forms callers use: sizes as a number or a tuple, data formats, paddings."""

from __future__ import annotations

import functools

from everflow.framework.shapes import TensorShape
from everflow.keras.backend.config import normalize_data_format as data_format  # noqa: F401  one of these arguments


def sizes(value, n, name):
    """`value` as a tuple of `n` whole numbers."""
    if isinstance(value, int):
        return (value,) * n
    message = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        result = tuple(value)
    except TypeError:
        raise ValueError(message) from None
    if len(result) != n:
        raise ValueError(message)
    for item in result:
        try:
            int(item)
        except (TypeError, ValueError):
            raise ValueError(f"{message} including element {item} of type {type(item)}") from None
    return result


def shape_tuples(method):
    """Decorator of `build` and `compute_output_shape`: shapes come as tuples, and the result is a TensorShape."""

    @functools.wraps(method)
    def wrapper(instance, input_shape):
        result = method(instance, _as_tuples(input_shape))
        return result if result is None else _as_shapes(result)

    # The wrapper's own signature is what a caller sees.
    del wrapper.__wrapped__
    return wrapper


def _as_tuples(shapes):
    if isinstance(shapes, (list, tuple)) and shapes and all(isinstance(s, (list, tuple, TensorShape)) for s in shapes):
        return [_as_tuples(s) for s in shapes]
    shape = TensorShape(shapes)
    return None if shape.rank is None else tuple(shape.as_list())


def _as_shapes(result):
    if isinstance(result, (list, tuple)) and result and all(isinstance(s, (list, tuple, TensorShape)) for s in result):
        return [_as_shapes(s) for s in result]
    return TensorShape(result)


def padding(value, allow_causal=False):
    """ "same" or "valid" (for some layers also "causal"), checked."""
    if isinstance(value, (list, tuple)):
        return value
    found = value.lower()
    known = ("valid", "same", "causal") if allow_causal else ("valid", "same")
    if found not in known:
        raise ValueError(
            f'`padding` is one of {known} or a list of numbers, not {value!r}; only `Conv1D` knows "causal".'
        )
    return found


def channels(layer, input_shape):
    """The number of channels of a layer's inputs; ValueError where it isn't known."""
    shape = TensorShape(input_shape)
    found = shape.size(1 if layer.data_format == "channels_first" else -1)
    if found is None:
        raise ValueError(
            f"The channel dimension of the inputs of {layer.name} is None, and it makes weights for each channel: "
            f"their shape is {shape}. Give that dimension a size."
        )
    return found


_OP_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def op_format(value, spatial):
    """A layer's data format as the ops of so many spatial dimensions call it."""
    return _OP_FORMATS[spatial][value == "channels_first"]


def output_length(length, window, stride, padding, dilation=1):
    """How many windows fit along one dimension; None where its length is unknown."""
    if length is None:
        return None
    extent = (window - 1) * dilation + 1
    if padding in ("same", "causal"):
        return -(-length // stride)
    return (length - extent + stride) // stride


def deconv_output_length(input_length, filter_size, padding, output_padding=None, stride=0, dilation=1):
    """The length that a transposed convolution gives; works on numbers and on tensors."""
    if padding not in ("same", "valid", "full"):
        raise AssertionError(f"`padding` is 'same', 'valid' or 'full', not {padding!r}")
    if input_length is None:
        return None
    extent = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is None:
        if padding == "valid":
            return input_length * stride + max(extent - stride, 0)
        if padding == "full":
            return input_length * stride - (stride + extent - 2)
        return input_length * stride
    pad = {"same": extent // 2, "valid": 0, "full": extent - 1}[padding]
    return (input_length - 1) * stride + extent - 2 * pad + output_padding
