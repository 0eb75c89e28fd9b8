"""Fourier and cosine transforms: build functions, shape rules and gradients."""

from __future__ import annotations

import math as python_math

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import gradient, shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape, dimension_value
from everflow.framework.static_values import constant_value, constant_value_as_shape
from everflow.ops import array, math
from everflow.ops.array.constants import constant

# Complex transforms


_COMPLEX = """{doc}

Args:
    input: Complex numbers.
    name: The name of the operation in the graph.

Returns:
    A tensor of the same shape.

Example:
    >>> sess.run(tf.{name}({at}))
    {gives}
"""


def _complex_transform(op_type, doc, *, at, gives):
    make = getattr(raw, op_type)

    def transform(input, name=None):
        return make(input=input, name=name)

    transform.__name__ = transform.__qualname__ = name = op_type.lower()
    transform.__doc__ = _COMPLEX.format(doc=doc, name=name, at=at, gives=gives)
    return transform


fft = _complex_transform(
    "FFT",
    "The discrete Fourier transform over the last dimension.",
    at="[1 + 0j, 2]",
    gives="array([ 3.+0.j, -1.+0.j], dtype=complex64)",
)
ifft = _complex_transform(
    "IFFT",
    "The inverse discrete Fourier transform over the last dimension.",
    at="[1 + 0j, 2]",
    gives="array([ 1.5+0.j, -0.5+0.j], dtype=complex64)",
)
fft2d = _complex_transform(
    "FFT2D",
    "The discrete Fourier transform over the last two dimensions.",
    at="[[1 + 0j, 2]]",
    gives="array([[ 3.+0.j, -1.+0.j]], dtype=complex64)",
)
ifft2d = _complex_transform(
    "IFFT2D",
    "The inverse discrete Fourier transform over the last two dimensions.",
    at="[[1 + 0j, 2]]",
    gives="array([[ 1.5+0.j, -0.5+0.j]], dtype=complex64)",
)
fft3d = _complex_transform(
    "FFT3D",
    "The discrete Fourier transform over the last three dimensions.",
    at="[[[1 + 0j, 2]]]",
    gives="array([[[ 3.+0.j, -1.+0.j]]], dtype=complex64)",
)
ifft3d = _complex_transform(
    "IFFT3D",
    "The inverse discrete Fourier transform over the last three dimensions.",
    at="[[[1 + 0j, 2]]]",
    gives="array([[[ 1.5+0.j, -0.5+0.j]]], dtype=complex64)",
)


# Real transforms: the input is cut or padded to `fft_length`, which the ops themselves only cut to.


_REAL = """{doc}

Args:
    input_tensor: {numbers}.
    fft_length: The length along each of these dimensions, to which the signal is cut or padded; its own if None.
    name: The name of the operation in the graph.

Returns:
    {others}.

Example:
    >>> sess.run(tf.signal.{scope}({at}))
    {gives}
"""
_KINDS = ("Real numbers", "Complex numbers")


def _real_transform(op_type, rank, doc, *, at, gives):
    make, scope = getattr(raw, op_type), op_type.lower()
    inverse = scope.startswith("i")

    def transform(input_tensor, fft_length=None, name=None):
        with name_scope(name, scope, [input_tensor, fft_length]) as name:
            input_tensor = convert_to_tensor(input_tensor, dtypes.complex64 if inverse else dtypes.float32)
            input_tensor.shape.with_rank_at_least(rank)
            if fft_length is None:
                fft_length = _inverse_length(input_tensor, rank) if inverse else _last_sizes(input_tensor, rank)
            else:
                fft_length = convert_to_tensor(fft_length, dtypes.int32)
            input_tensor = _padded_to(input_tensor, rank, fft_length, inverse)
            return make(input=input_tensor, fft_length=fft_length, name=name)

    transform.__name__ = transform.__qualname__ = scope
    numbers, others = reversed(_KINDS) if inverse else _KINDS
    transform.__doc__ = _REAL.format(doc=doc, numbers=numbers, others=others, scope=scope, at=at, gives=gives)
    return transform


def _last_sizes(x, rank):
    """The sizes of the last dimensions: a constant where they are known."""
    sizes = x.shape[-rank:]
    if sizes.is_fully_defined():
        return constant(sizes.as_list(), dtypes.int32)
    return array.shape(x)[-rank:]


def _inverse_length(x, rank):
    """The length that gives an even last dimension back: 2 (n - 1)."""
    sizes = x.shape[-rank:]
    if sizes.is_fully_defined():
        sizes = sizes.as_list()
        if sizes[-1] > 0:
            sizes[-1] = max(0, 2 * (sizes[-1] - 1))
        return constant(sizes, dtypes.int32)
    sizes = array.unstack(array.shape(x)[-rank:])
    sizes[-1] = math.maximum(0, 2 * (sizes[-1] - 1))
    return array.stack(sizes)


def _padded_to(x, rank, fft_length, inverse):
    """Zeros at the end of the last dimensions up to `fft_length`; the input itself where it is known to be long enough."""
    fits = fft_length.shape.rank == 1 and fft_length.shape.size(0) == rank  # else the operation refuses it
    wanted = constant_value_as_shape(fft_length) if fits else TensorShape(None)
    if not fits and fft_length.is_eager:
        return x
    if wanted.is_fully_defined() and x.shape.rank is not None and x.shape[-rank:].is_fully_defined():
        wanted = wanted.as_list()
        if inverse:
            wanted[-1] = wanted[-1] // 2 + 1
        have = x.shape[-rank:].as_list()
        extra = [max(w - h, 0) for w, h in zip(wanted, have)]
        if not any(extra):
            return x
        return array.pad(x, [[0, 0]] * (x.shape.rank - rank) + [[0, n] for n in extra])
    input_rank = array.rank(x)
    have = array.shape(x)[-rank:]
    outer = math.maximum(0, input_rank - rank)
    zeros = array.zeros([outer], dtype=have.dtype)
    if inverse:
        fft_length = array.concat([fft_length[:-1], fft_length[-1:] // 2 + 1], 0)
    extra = array.concat([zeros, math.maximum(0, fft_length - have)], 0)
    return array.pad(x, array.stack([array.zeros_like(extra), extra], axis=1))


rfft = _real_transform(
    "RFFT",
    1,
    "The Fourier transform of a real signal over the last dimension: the first half of it.",
    at="[1.0, 2.0, 3.0]",
    gives="array([ 6. +0.j       , -1.5+0.8660254j], dtype=complex64)",
)
rfft2d = _real_transform(
    "RFFT2D",
    2,
    "The Fourier transform of a real signal over the last two dimensions.",
    at="[[1.0, 2.0]]",
    gives="array([[ 3.+0.j, -1.+0.j]], dtype=complex64)",
)
rfft3d = _real_transform(
    "RFFT3D",
    3,
    "The Fourier transform of a real signal over the last three dimensions.",
    at="[[[1.0, 2.0]]]",
    gives="array([[[ 3.+0.j, -1.+0.j]]], dtype=complex64)",
)
irfft = _real_transform(
    "IRFFT",
    1,
    "The real signal of which `rfft` gives the input, over the last dimension.",
    at="[6.0, 0.0]",
    gives="array([3., 3.], dtype=float32)",
)
irfft2d = _real_transform(
    "IRFFT2D",
    2,
    "The real signal of which `rfft2d` gives the input.",
    at="[[3.0, -1.0]]",
    gives="array([[1., 2.]], dtype=float32)",
)
irfft3d = _real_transform(
    "IRFFT3D",
    3,
    "The real signal of which `rfft3d` gives the input.",
    at="[[[3.0, -1.0]]]",
    gives="array([[[1., 2.]]], dtype=float32)",
)


def fftshift(x, axes=None, name=None):
    """Move the zero frequency to the middle of `axes` (all of them by default).

    Args:
        x: A tensor, or what can be made one.
        axes: The axes; all if None.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.signal.fftshift([0, 1, 2, -2, -1]))
        array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return _shift(x, axes, name, "fftshift", lambda size: int(size // 2))


def ifftshift(x, axes=None, name=None):
    """Undo `fftshift`.

    Args:
        x: A tensor, or what can be made one.
        axes: The axes; all if None.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.signal.ifftshift([0, 1, 2, -2, -1]))
        array([ 2, -2, -1,  0,  1], dtype=int32)
    """
    return _shift(x, axes, name, "ifftshift", lambda size: -int(size // 2))


def _shift(x, axes, name, scope, distance):
    with name_scope(name, scope) as name:
        x = convert_to_tensor(x)
        if axes is None:
            axes = tuple(range(x.shape.ndims))
            shift = [distance(size) for size in x.shape]
        elif isinstance(axes, int):
            shift = distance(x.shape[axes])
        else:
            shift = [distance(x.shape[axis]) for axis in axes]
        return array.roll(x, shift, axes, name)


# Cosine transforms


def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The discrete cosine transform of type I, II or III over the last dimension, cut or padded to `n`.

    Args:
        input: Real signals.
        type: Which transform: 1, 2, 3.
        n: The length that signals are cut or padded to; their own if None.
        axis: The axis, which must be the last.
        norm: `ortho` for orthonormal transforms; None for none.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If type, axis or norm isn't known.

    Example:
        >>> sess.run(tf.signal.dct([1.0, 2.0, 3.0], norm="ortho"))
        array([ 3.4641016e+00, -1.4142134e+00,  4.8666987e-08], dtype=float32)
    """
    _check_dct(input, type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        input = convert_to_tensor(input, dtype=dtypes.float32)
        size = dimension_value(input.shape[-1]) or array.shape(input)[-1]
        if n is not None:
            if n <= size:
                input = input[..., 0:n]
            else:
                paddings = [[0, 0]] * (len(input.shape) - 1) + [[0, n - size]]
                input = array.pad(input, constant(paddings))
        size = dimension_value(input.shape[-1]) or array.shape(input)[-1]
        size_float = math.cast(size, dtypes.float32)
        return _DCT[type](input, size, size_float, norm)


def _dct_1(x, size, size_float, norm):
    mirrored = array.concat([x, x[..., -2:0:-1]], axis=-1)
    return math.real(rfft(mirrored))


def _dct_2(x, size, size_float, norm):
    angle = -math.range(size_float) * python_math.pi * 0.5 / size_float
    scale = 2.0 * math.exp(math.complex(0.0, angle))
    result = math.real(rfft(x, fft_length=[2 * size])[..., :size] * scale)
    if norm == "ortho":
        first = 0.5 * math.rsqrt(size_float)
        others = first * math.sqrt(2.0)
        weights = array.pad(array.expand_dims(first, 0), [[0, size - 1]], constant_values=others)
        result = result * weights
    return result


def _dct_3(x, size, size_float, norm):
    if norm == "ortho":
        first = math.sqrt(size_float)
        others = first * math.sqrt(0.5)
        weights = array.pad(array.expand_dims(first, 0), [[0, size - 1]], constant_values=others)
        x = x * weights
    else:
        x = x * size_float
    scale = 2.0 * math.exp(math.complex(0.0, math.range(size_float) * python_math.pi * 0.5 / size_float))
    return irfft(scale * math.complex(x, 0.0), fft_length=[2 * size])[..., :size]


_DCT = {1: _dct_1, 2: _dct_2, 3: _dct_3}


def _check_dct(x, type, n, axis, norm):
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError(f"n must be positive, or None for the whole dimension, not {n}")
    if type not in _DCT:
        raise ValueError(f"The DCT comes in types 1, 2 and 3, not {type!r}")
    if type == 1:
        if norm == "ortho":
            raise ValueError("A DCT of type 1 can't be normalized; leave out norm='ortho'")
        size = getattr(x, "shape", [None])[-1] if hasattr(x, "shape") and len(x.shape) else None
        if size is not None and dimension_value(size) is not None and dimension_value(size) < 2:
            raise ValueError("A DCT of type 1 needs at least two values in the last dimension")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of `dct` of a type, up to scale: types II and III are each other's inverse, type I its own.

    Args:
        input: Real signals.
        type: Which transform: 1, 2, 3.
        n: The length that signals are cut or padded to; their own if None.
        axis: The axis, which must be the last.
        norm: `ortho` for orthonormal transforms; None for none.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If type, axis or norm isn't known.

    Example:
        >>> sess.run(tf.signal.idct([1.0, 2.0, 3.0], norm="ortho"))
        array([ 3.2163086 , -1.8721392 ,  0.38788164], dtype=float32)
    """
    _check_dct(input, type, n, axis, norm)
    return dct(input, type={1: 1, 2: 3, 3: 2}[type], n=n, axis=axis, norm=norm, name=name)


# Shape rules


def _at_least(shape, rank):
    if shape.rank is not None and shape.rank < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {shape.rank}")
    return shape


def _transform_shape(rank):
    def rule(op):
        return _at_least(op.inputs[0].shape, rank)

    return rule


def _real_transform_shape(rank, forward):
    """The last dimensions are those of `fft_length`, the very last of a spectrum half of it and one."""

    def rule(op):
        source, length = op.inputs
        shape = _at_least(source.shape, rank)
        if length.shape.rank not in (None, 1):
            raise ValueError(f"Shape must be rank 1 but is rank {length.shape.rank}")
        if length.shape.rank == 1 and length.shape.size(0) not in (None, rank):
            raise ValueError(f"Dimension must be {rank} but is {length.shape.size(0)}")
        if shape.rank is None:
            return None
        value = constant_value(length)
        last = [None] * rank if value is None else [int(n) for n in value]
        if forward and last[-1] is not None:
            last[-1] = last[-1] // 2 + 1 if last[-1] else 0
        return TensorShape([*shape[: shape.rank - rank], *last])

    return rule


for _rank, _suffix in ((1, ""), (2, "2D"), (3, "3D")):
    shape_rule(*(prefix + _suffix for prefix in ("FFT", "IFFT", "BatchFFT", "BatchIFFT")))(_transform_shape(_rank))
    shape_rule("RFFT" + _suffix)(_real_transform_shape(_rank, True))
    shape_rule("IRFFT" + _suffix)(_real_transform_shape(_rank, False))


# Gradients


def _size_of_last(x, rank):
    return math.reduce_prod(array.shape(x)[-rank:])


def _fft_grad(inverse, rank):
    def grad_function(op, grad):
        size = math.cast(_size_of_last(grad, rank), grad.dtype)
        return inverse(grad) * size

    return grad_function


def _ifft_grad(forward, rank):
    def grad_function(op, grad):
        size = math.cast(1.0 / math.cast(_size_of_last(grad, rank), grad.dtype.real_dtype), grad.dtype)
        return forward(grad) * size

    return grad_function


for _suffix, _rank, _forward, _inverse in (("", 1, fft, ifft), ("2D", 2, fft2d, ifft2d), ("3D", 3, fft3d, ifft3d)):
    gradient("FFT" + _suffix)(_fft_grad(_inverse, _rank))
    gradient("IFFT" + _suffix)(_ifft_grad(_forward, _rank))


def _rfft_grad(rank, inverse):
    """Half of the inverse transform, which counts the first (and, for even lengths, the last) bin in full: they are
    added alone.
    """

    def grad_function(op, grad):
        length = op.inputs[1]
        shape = array.shape(op.inputs[0])
        is_even = math.cast(1 - (length[-1] % 2), dtypes.complex64)

        def alternating(count):
            return math.cast(1 - 2 * (math.range(0, count, 1) % 2), dtypes.complex64)

        if rank == 1:
            first = grad[..., 0:1]
            last = is_even * grad[..., -1:]
            extra = first + last * alternating(shape[-1])
        else:
            first = grad[..., 0:1]
            size = shape[-2]
            index = array.tile(array.expand_dims(math.range(0, size), 0), [size, 1])
            exponent = math.cast(index * array.transpose(index), dtypes.complex64)
            matrix = math.exp(np.complex64(-2j * np.pi) * exponent / math.cast(size, dtypes.complex64))
            ones = array.ones([array.rank(first) - 2], dtype=dtypes.int32)
            matrix = array.reshape(matrix, array.concat([ones, array.shape(matrix)], 0))
            matrix = array.tile(matrix, array.concat([array.shape(first)[:-2], [1, 1]], 0))
            extra_first = math.matmul(matrix, math.conj(first))
            extra_last = math.matmul(matrix, math.conj(grad[..., -1:]))
            count = shape[-1]
            ones = array.ones([array.rank(extra_last) - 1], dtype=dtypes.int32)
            repeated = array.tile(extra_last, array.concat([ones, [count]], 0))
            extra = extra_first + is_even * (repeated * alternating(count))
        size = math.cast(_size_of_last(op.inputs[0], rank), dtypes.float32)
        the_inverse = inverse(grad, length)
        return 0.5 * (the_inverse * size + math.real(extra)), None

    return grad_function


def _irfft_grad(rank, forward):
    """The forward transform, with the bins that stand for two counted twice."""

    def grad_function(op, grad):
        length = op.inputs[1]
        is_odd = math.floormod(length[-1], 2)
        bins = array.shape(op.inputs[0])[-1]
        twice = 2.0 * array.ones([bins - 2 + is_odd])
        mask = array.concat([[1.0], twice, array.ones([1 - is_odd])], 0)
        size = math.reciprocal(math.cast(_size_of_last(grad, rank), dtypes.float32))
        the_forward = forward(grad, length)
        return the_forward * math.cast(size * mask, dtypes.complex64), None

    return grad_function


gradient("RFFT")(_rfft_grad(1, irfft))
gradient("RFFT2D")(_rfft_grad(2, irfft2d))
gradient("IRFFT")(_irfft_grad(1, rfft))
gradient("IRFFT2D")(_irfft_grad(2, rfft2d))
