"""Initializers of convolution kernels that keep the norm of what they are applied to (Xiao et al., arXiv:1806.05393)."""

from __future__ import annotations

import itertools

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.ops.array.basic import expand_dims, zeros
from everflow.ops.array.joining import stack
from everflow.ops.array.layout import matrix_transpose
from everflow.ops.linalg.decompositions import eye
from everflow.ops.math import cast, matmul
from everflow.ops.random.distributions import random_normal
from everflow.ops.variables.initializers import TypedInitializer, floating_dtype


class _Orthogonal(TypedInitializer):
    """What all of them need: orthogonal matrices from one seed that moves on with each draw."""

    _settings = ("gain", "seed")

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self._keep(floating_dtype(dtype), gain=gain, seed=seed)

    def _normal(self, shape):
        values = random_normal(shape, dtype=self.dtype, seed=self.seed)
        if self.seed is not None:
            self.seed += 1
        return values

    def _orthogonal_matrix(self, size):
        q, r = raw.Qr(self._normal([size, size]), full_matrices=False)
        return raw.Mul(q, raw.Sign(raw.DiagPart(r)), name="mul")

    def _scaled(self, kernel, dtype):
        return raw.Mul(kernel, cast(self.gain, dtype), name="mul")


def _check_filters(shape):
    if shape[-2] > shape[-1]:
        raise ValueError(
            f"A filter that keeps norms can't have more input channels, {shape[-2]}, than output channels, {shape[-1]}"
        )


class ConvolutionDeltaOrthogonal(_Orthogonal):
    """An orthogonal matrix in the middle of the window, zeros around it."""

    def __call__(self, shape, dtype=None, partition_info=None):
        if not 3 <= len(shape) <= 5:
            raise ValueError(f"A convolution's filter has three to five dimensions; got the shape {shape}")
        _check_filters(shape)
        q, r = raw.Qr(
            random_normal([shape[-1], shape[-1]], dtype=self.dtype if dtype is None else dtype, seed=self.seed),
            full_matrices=False,
        )
        q = raw.Mul(q, raw.Sign(raw.DiagPart(r)), name="mul")[: shape[-2], :]
        q = self._scaled(q, self.dtype if dtype is None else dtype)
        middle = [[(size - 1) // 2 for size in shape[:-2]]]
        return raw.ScatterNd(middle, expand_dims(q, 0), list(shape))


class ConvolutionOrthogonal(_Orthogonal):
    """A kernel that is orthogonal as a whole, as a convolution of kernels of window 2.

    A kernel in the making is a dictionary from places in the window to matrices.
    """

    _rank = 0
    _dimensions = ""

    def __call__(self, shape, dtype=None, partition_info=None):
        if dtype is None:
            dtype = self.dtype
        if len(shape) != self._rank + 2:
            raise ValueError(f"The tensor to initialize must be {self._dimensions}")
        _check_filters(shape)
        if len(set(shape[: self._rank])) > 1:
            raise ValueError("Kernel sizes must be equal.")
        return self._scaled(self._kernel(shape[0], shape[-2], shape[-1]), dtype)

    def _kernel(self, window, inputs, outputs):
        base = self._orthogonal_matrix(outputs)[0:inputs, :]
        if window == 1:
            for _ in range(self._rank):
                base = expand_dims(base, 0)
            return base
        kernel = self._block(outputs)
        for size in range(2, window):
            kernel = self._convolved(kernel, self._block(outputs), size, outputs)
        places = itertools.product(range(window), repeat=self._rank)
        return self._stacked({place: matmul(base, kernel[place]) for place in places}, window, ())

    def _projection(self, size):
        """The projection onto some of the columns of an orthogonal matrix."""
        q = self._orthogonal_matrix(size)
        kept = cast(raw.Greater(self._normal([size]), 0.0), self.dtype)
        columns = raw.Mul(q, kept)
        return matmul(columns, matrix_transpose(columns))

    def _block(self, size):
        """An orthogonal kernel of window 2: products of projections and their complements."""
        projections = [self._projection(size) for _ in range(self._rank)]
        return self._products(projections, eye(size, dtype=self.dtype))

    def _products(self, projections, identity):
        raise NotImplementedError

    def _convolved(self, kernel, block, size, channels):
        """Two kernels after each other, as one whose window is larger by one."""
        result = {}
        for place in itertools.product(range(size + 1), repeat=self._rank):
            total = zeros([channels, channels], self.dtype)
            for first in itertools.product(*(range(min(p + 1, size)) for p in place)):
                second = tuple(p - f for p, f in zip(place, first))
                if max(second) < 2:
                    total = total + matmul(kernel[first], block[second])
            result[place] = total
        return result

    def _stacked(self, kernel, window, place):
        if len(place) == self._rank:
            return kernel[place]
        return stack([self._stacked(kernel, window, (*place, i)) for i in range(window)])


class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    """An orthogonal kernel of one-dimensional convolution."""

    _rank = 1
    _dimensions = "three-dimensional"

    def _products(self, projections, identity):
        return {(0,): projections[0], (1,): identity - projections[0]}


class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    """An orthogonal kernel of two-dimensional convolution."""

    _rank = 2
    _dimensions = "four-dimensional"

    def _products(self, projections, identity):
        p, q = projections
        return {
            (0, 0): matmul(p, q),
            (0, 1): matmul(p, identity - q),
            (1, 0): matmul(identity - p, q),
            (1, 1): matmul(identity - p, identity - q),
        }


class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    """An orthogonal kernel of three-dimensional convolution."""

    _rank = 3
    _dimensions = "five-dimensional"

    def _products(self, projections, identity):
        blocks = {}
        for place in itertools.product(range(2), repeat=3):
            first, second, third = (i * p + (1 - i) * (identity - p) for i, p in zip(place, projections))
            blocks[place] = matmul(matmul(first, second), third)
        return blocks


convolutional_delta_orthogonal = ConvolutionDeltaOrthogonal
convolutional_orthogonal_1d = ConvolutionOrthogonal1D
convolutional_orthogonal_2d = ConvolutionOrthogonal2D
convolutional_orthogonal_3d = ConvolutionOrthogonal3D
