"""Names of the modules of Keras's layers, losses and optimizers that only paths of TensorFlow's tree lead to."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework.composites import SparseTensor
from everflow.framework.shapes import TensorShape
from everflow.keras.layers.convolutional import Conv2DTranspose, Conv3DTranspose
from everflow.keras.layers.normalization import BatchNormalization
from everflow.keras.losses import sparse_categorical_crossentropy
from everflow.keras.optimizers.adaptive import RMSprop
from everflow.keras.optimizers.optimizer import Optimizer, _var_key
from everflow.legacy.inner.keras_utils import conv_kernel_mask
from everflow.losses import sparse_softmax_cross_entropy
from everflow.ops import array, math
from everflow.ops.sparse.functions import sparse_tensor_dense_matmul

Deconv2D = Deconvolution2D = Conv2DTranspose
Deconv3D = Deconvolution3D = Conv3DTranspose
BatchNormalizationBase = BatchNormalization
RMSProp = RMSprop
LABEL_DTYPES_FOR_LOSSES = {sparse_softmax_cross_entropy: "int32", sparse_categorical_crossentropy: "int32"}


def _get_slot_key_from_var(var: Any, slot_name: str) -> str:
    """What an optimizer keeps a slot of a variable under."""
    return f"{_var_key(var)}/{slot_name}"


class RestoredOptimizer(Optimizer):
    """An optimizer that a file gave back: its variables, without what it does with them."""

    def __init__(self) -> None:
        super().__init__("RestoredOptimizer")

    def get_config(self) -> dict:
        """What it was made with isn't known."""
        raise NotImplementedError("An optimizer that was restored from a file doesn't know what it was made with.")


# --- locally connected layers ---------------------------------------------------------------------


def get_locallyconnected_mask(
    input_shape: tuple, kernel_shape: tuple, strides: tuple, padding: str, data_format: str
) -> np.ndarray:
    """Which places of the input each place of the output sees, with axes of length one for the channels."""
    mask = conv_kernel_mask(input_shape, kernel_shape, strides, padding)
    axis = {"channels_first": (0, len(input_shape)), "channels_last": (len(input_shape), mask.ndim)}.get(data_format)
    if axis is None:
        raise ValueError(f"`data_format` is 'channels_first' or 'channels_last', not {data_format!r}.")
    return np.expand_dims(np.expand_dims(mask, axis[1]), axis[0])


def make_2d(tensor: Any, split_dim: int) -> Any:
    """A matrix: the axes before `split_dim` as its rows, the others as its columns."""
    shape = array.shape(tensor)
    return array.reshape(tensor, (math.reduce_prod(shape[:split_dim]), math.reduce_prod(shape[split_dim:])))


def local_conv_matmul(inputs: Any, kernel: Any, kernel_mask: Any, output_shape: Any) -> Any:
    """A locally connected layer as a product with a matrix, most of which is masked away."""
    sizes = TensorShape(output_shape).as_list()
    matrix = make_2d(kernel_mask * kernel, split_dim=len(kernel.shape) // 2)
    outputs = math.matmul(array.reshape(inputs, (array.shape(inputs)[0], -1)), matrix, b_is_sparse=True)
    return array.reshape(outputs, [array.shape(outputs)[0], *sizes[1:]])


def local_conv_sparse_matmul(inputs: Any, kernel: Any, kernel_idxs: Any, kernel_shape: Any, output_shape: Any) -> Any:
    """A locally connected layer as a product with the entries of that matrix that aren't."""
    sizes = TensorShape(output_shape).as_list()
    flat = array.reshape(inputs, (array.shape(inputs)[0], -1))
    matrix = SparseTensor(indices=kernel_idxs, values=kernel, dense_shape=kernel_shape)
    outputs = array.transpose(sparse_tensor_dense_matmul(matrix, flat, adjoint_b=True))
    return array.reshape(outputs, [array.shape(outputs)[0], *sizes[1:]])
