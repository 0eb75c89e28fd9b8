"""tf.contrib.libsvm: lines of LibSVM's files, `label index:value ...`, as labels and sparse features."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape

__all__ = ["decode_libsvm"]


def decode_libsvm(content, num_features, dtype=None, label_dtype=None):
    """Features and labels of lines such as `1 3:0.5 7:2`.

    Args:
      content: A string tensor, a line each.
      num_features: How many features there are: the size of the last dimension.
      dtype: The type of the values; float32 where None.
      label_dtype: The type of the labels; int64 where None.

    Returns:
      A SparseTensor of the shape of `content` with `num_features` behind it, and the labels.

    Example:
      >>> from everflow.contrib import libsvm
      >>> features, labels = libsvm.decode_libsvm(["1 1:3.5 2:0.5", "2 0:1"], num_features=3)
      >>> sess.run([tf.sparse.to_dense(features), labels])
      [array([[0. , 3.5, 0.5],
             [1. , 0. , 0. ]], dtype=float32), array([1, 2])]
    """
    read = raw.DecodeLibsvm(
        input=content, num_features=num_features, dtype=dtype or dtypes.float32, label_dtype=label_dtype or dtypes.int64
    )
    return SparseTensor(read.feature_indices, read.feature_values, read.feature_shape), read.label


@shape_rule("DecodeLibsvm")
def _decode_libsvm_shape(op):
    lines = op.inputs[0].shape
    return [lines, TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


not_differentiable("DecodeLibsvm")
