"""`keras.layers.kernelized` and `keras.utils.kernelized_utils`: random features that stand for kernels, and the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import TensorShape
from everflow.keras import initializers
from everflow.keras.constraints import NonNeg
from everflow.keras.engine.base_layer import Layer
from everflow.keras.engine.input_spec import InputSpec
from everflow.ops import array, math
from everflow.ops.nn.activations import bias_add
from everflow.ops.variables import initializers as init_ops

_SUPPORTED_RBF_KERNEL_TYPES = ["gaussian", "laplacian"]


class RandomFourierFeatures(Layer):
    """Cosines of random projections, whose products come near a kernel of the inputs (Rahimi and Recht, 2007)."""

    def __init__(self, output_dim, kernel_initializer="gaussian", scale=None, trainable=False, name=None, **kwargs):
        if output_dim <= 0:
            raise ValueError(f"`output_dim` is a positive number, not {output_dim}.")
        if isinstance(kernel_initializer, str) and kernel_initializer.lower() not in _SUPPORTED_RBF_KERNEL_TYPES:
            raise ValueError(
                f"`kernel_initializer` is an initializer or one of {_SUPPORTED_RBF_KERNEL_TYPES}, not {kernel_initializer!r}."
            )
        if scale is not None and scale <= 0.0:
            raise ValueError(f"`scale` is a positive number, not {scale}.")
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.output_dim, self.scale = output_dim, scale
        is_named = isinstance(kernel_initializer, str)
        self.kernel_initializer = kernel_initializer if is_named else initializers.get(kernel_initializer)

    def build(self, input_shape: Any) -> None:
        """Draw the projections."""
        shape = TensorShape(input_shape)
        if shape.rank != 2:
            raise ValueError(f"{self.name} takes matrices, not inputs of shape {shape}.")
        depth = shape.size(1)
        if depth is None:
            raise ValueError(f"{self.name} needs to know the last dimension of its inputs, which have shape {shape}.")
        self.input_spec = InputSpec(ndim=2, axes={1: depth})
        size = (depth, self.output_dim)
        features = _get_random_features_initializer(self.kernel_initializer, size)
        unscaled = self.add_weight("unscaled_random_features", size, "float32", features, trainable=False)
        phases = init_ops.RandomUniform(minval=0.0, maxval=2 * np.pi)
        self.bias = self.add_weight("random_features_bias", (self.output_dim,), "float32", phases, trainable=False)
        if self.scale is None:
            self.scale = _get_default_scale(self.kernel_initializer, depth)
        start = init_ops.Constant(self.scale)
        scale = self.add_weight("random_features_scale", (1,), "float32", start, trainable=True, constraint=NonNeg())
        self.kernel = (1.0 / scale) * unscaled
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        """The features."""
        inputs = raw.Cast(convert_to_tensor(inputs, dtype=self.dtype), DstT="float32")
        return math.cos(bias_add(raw.MatMul(inputs, self.kernel), self.bias))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """As many columns as there are features."""
        shape = TensorShape(input_shape).with_rank(2)
        if shape.size(1) is None:
            raise ValueError(f"The last dimension of inputs must be known; they have shape {shape}.")
        return shape[:-1].concatenate(self.output_dim)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        kernel = self.kernel_initializer
        written = kernel if isinstance(kernel, str) else initializers.serialize(kernel)
        own = {"output_dim": self.output_dim, "kernel_initializer": written, "scale": self.scale}
        return {**Layer.get_config(self), **own}


def _get_random_features_initializer(initializer: Any, shape: tuple[int, int]) -> Any:
    """What draws projections: normal numbers for a Gaussian kernel, Cauchy's for one of Laplace."""
    if not isinstance(initializer, str):
        return initializers.get(initializer)
    if initializer.lower() == "gaussian":
        return init_ops.RandomNormal(stddev=1.0)
    return init_ops.Constant(np.tan(np.pi * (np.random.random_sample(shape) - 0.5)))


def _get_default_scale(initializer: Any, input_dim: int) -> float:
    is_gaussian = isinstance(initializer, str) and initializer.lower() == "gaussian"
    return np.sqrt(input_dim / 2.0) if is_gaussian else 1.0


# --- the kernels -------------------------------------------------------------------------------


def _to_matrix(u: Any) -> Any:
    """A vector as a matrix of one row."""
    u = convert_to_tensor(u)
    if u.shape.rank not in (1, 2):
        raise ValueError(f"A kernel is of vectors or of the rows of matrices, not of shape {u.shape}.")
    return array.expand_dims(u, 0) if u.shape.rank == 1 else u


def _differences(x: Any, y: Any) -> Any:
    """Each row of one matrix less each of another."""
    x, y = _align_matrices(x, y)
    return x - y


def _align_matrices(x: Any, y: Any) -> tuple[Any, Any]:
    """Two matrices with a further axis each, so that all rows of one meet all rows of the other."""
    x, y = _to_matrix(x), _to_matrix(y)
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"A kernel is of vectors of one length, not of {x.shape[1]} and {y.shape[1]}.")
    wide_x = array.tile(array.expand_dims(x, 1), [1, array.shape(y)[0], 1])
    return wide_x, array.tile(array.expand_dims(y, 0), [array.shape(x)[0], 1, 1])


def inner_product(u: Any, v: Any) -> Any:
    """The products of all rows of one matrix with those of another."""
    return math.matmul(_to_matrix(u), _to_matrix(v), transpose_b=True)


def exact_gaussian_kernel(x: Any, y: Any, stddev: float) -> Any:
    """exp(-|x - y|² / (2 stddev²)) of all rows."""
    return math.exp(-math.reduce_sum(math.square(_differences(x, y)), axis=2) / (2.0 * stddev * stddev))


def exact_laplacian_kernel(x: Any, y: Any, stddev: float) -> Any:
    """exp(-|x - y|₁ / stddev) of all rows."""
    return math.exp(-math.reduce_sum(math.abs(_differences(x, y)), axis=2) / stddev)
