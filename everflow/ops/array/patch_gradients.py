"""Gradients of patches: a sparse matrix says which input pixel each patch pixel came from, and multiplies the gradient.

Images take their sizes from the graph, so that they may be unknown while it is built; volumes need static sizes.
"""

from __future__ import annotations

import math as python_math

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.registry import gradient
from everflow.ops import array, math
from everflow.ops.sparse.functions import sparse_slice, sparse_tensor_dense_matmul


def _source_matrix(index_patches, target, pixels, count, dtype):
    """The matrix [input pixels, patch pixels]; its row 0 stands for padding and is cut off."""
    pairs = array.concat([array.expand_dims(index_patches, -1), array.expand_dims(target, -1)], axis=-1)
    pairs = array.reshape(pairs, (-1, 2))
    matrix = SparseTensor(pairs, array.ones([count], dtype=dtype), (pixels, count))
    return sparse_slice(matrix, (1, 0), (pixels - 1, count))


@gradient("ExtractImagePatches")
def _extract_image_patches_grad(op, grad):
    source = op.inputs[0]
    shape = array.shape(source, out_type=dtypes.int64)
    batch, height, width, channels = (shape[i] for i in range(4))
    pixels = 1 + height * width
    index = array.reshape(math.range(1, pixels, dtype=dtypes.int64), (1, height, width, 1))
    attrs = {name: op.attrs[name] for name in ("ksizes", "strides", "rates", "padding")}
    patches = raw.ExtractImagePatches(images=index, **attrs)
    _, window_rows, window_columns, _ = op.attrs["ksizes"]
    out = array.shape(op.outputs[0], out_type=dtypes.int64)
    rows, columns = out[1], out[2]
    count = rows * columns * window_rows * window_columns
    target = array.reshape(math.range(count, dtype=dtypes.int64), (1, rows, columns, window_rows * window_columns))
    matrix = _source_matrix(patches, target, pixels, count, source.dtype)
    spread = array.reshape(grad, (batch, rows, columns, window_rows, window_columns, channels))
    flat = array.reshape(array.transpose(spread, (1, 2, 3, 4, 0, 5)), (-1, batch * channels))
    summed = array.reshape(sparse_tensor_dense_matmul(matrix, flat), (height, width, batch, channels))
    return array.transpose(summed, (2, 0, 1, 3))


@gradient("ExtractVolumePatches")
def _extract_volume_patches_grad(op, grad):
    source = op.inputs[0]
    sides = source.shape.as_list()[1:4]
    shape = array.shape(source)
    batch, channels = shape[0], shape[4]
    pixels = 1 + python_math.prod(sides)
    index = array.reshape(math.range(1, pixels, dtype=dtypes.int64), (1, *sides, 1))
    attrs = {name: op.attrs[name] for name in ("ksizes", "strides", "padding")}
    patches = raw.ExtractVolumePatches(input=index, **attrs)
    windows, out_sides = op.attrs["ksizes"][1:4], op.outputs[0].shape.as_list()[1:4]
    count = python_math.prod(out_sides) * python_math.prod(windows)
    target = array.reshape(math.range(count, dtype=dtypes.int64), (1, *out_sides, python_math.prod(windows)))
    matrix = _source_matrix(patches, target, pixels, count, source.dtype)
    spread = array.reshape(grad, (batch, *out_sides, *windows, channels))
    flat = array.reshape(array.transpose(spread, (1, 2, 3, 4, 5, 6, 0, 7)), (-1, batch * channels))
    summed = array.reshape(sparse_tensor_dense_matmul(matrix, flat), (*sides, batch, channels))
    return array.transpose(summed, (3, 0, 1, 2, 4))
