"""Random Fourier features (Rahimi and Recht, 2007): inner products of these features approximate the Gaussian kernel."""

from __future__ import annotations

import math as numbers

import numpy as np

from everflow.framework import dtypes
from everflow.ops import math
from everflow.ops.array.constants import constant


class InvalidShapeError(Exception):
    """Features of a shape that a mapper can't take."""


class RandomFourierFeatureMapper:
    """Maps [n, input_dim] features to sqrt(2 / output_dim) * cos(x W + b), with W and b drawn once from `seed`.

    >>> mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(784, 2000, stddev=5.0)
    >>> features = mapper.map(images)
    """

    def __init__(self, input_dim, output_dim, stddev=1.0, seed=1, name=None):
        self._input_dim, self._output_dim = input_dim, output_dim
        self._stddev, self._seed, self._name = stddev, seed, name

    name = property(lambda self: self._name or str(id(self)))
    input_dim = property(lambda self: self._input_dim)
    output_dim = property(lambda self: self._output_dim)

    def map(self, input_tensor):
        """The features [n, output_dim] of a tensor [n, input_dim]; InvalidShapeError where it has another shape."""
        shape = input_tensor.shape
        if shape.ndims != 2:
            raise InvalidShapeError(f"Features have two dimensions, [n, {self._input_dim}]; got the shape {shape}")
        if shape.as_list()[1] != self._input_dim:
            raise InvalidShapeError(f"Invalid: expected {self._input_dim} input features, got {shape.as_list()[1]}.")
        drawn = np.random.RandomState(self._seed)
        omega = constant((1.0 / self._stddev) * drawn.randn(self._input_dim, self._output_dim), dtype=dtypes.float32)
        bias = constant(drawn.uniform(0, 2 * np.pi, self._output_dim), dtype=dtypes.float32)
        factor = numbers.sqrt(2.0 / self._output_dim)
        return math.scalar_mul(factor, math.cos(math.add(math.matmul(input_tensor, omega), bias)))
