"""Clipping: by value, by norm, by the norm of many tensors together."""

from __future__ import annotations

import collections.abc

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import colocate_with, name_scope
from everflow.ops import array
from everflow.ops.array import constants
from everflow.ops.array.ragged_rows import takes_ragged
from everflow.ops.math import elementwise, reductions, sequences
from everflow.ops.shape_rules import like_first


@takes_ragged()
def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """The tensor with values below and above the bounds set to the bounds.

    Args:
        t: The tensor, or IndexedSlices.
        clip_value_min: The lower bound, which broadcasts.
        clip_value_max: The upper bound, which broadcasts.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.clip_by_value([-1.0, 0.5, 7.0], 0.0, 1.0))
        array([0. , 0.5, 1. ], dtype=float32)
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        lowered = raw.Minimum(values, clip_value_max)
        values.shape.merge_with(lowered.shape)
        clipped = raw.Maximum(lowered, clip_value_min, name=scope)
        values.shape.merge_with(clipped.shape)
        return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """The tensor scaled down so that its L2 norm (over `axes`, all by default) is at most `clip_norm`.

    Args:
        t: The tensor.
        clip_norm: The largest norm.
        axes: The axes over which the norm is taken; all if None.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.clip_by_norm([3.0, 4.0], 1.0))
        array([0.6, 0.8], dtype=float32)
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name="t")
        squared = reductions.reduce_sum(values * values, axes, keepdims=True)
        nonzero = squared > 0
        # The root's slope at zero is infinite, so zeros are replaced before it and put back after it.
        safe = array.where(nonzero, squared, array.ones_like(squared))
        norm = array.where(nonzero, raw.Sqrt(safe), squared)
        scaled = values * clip_norm
        values.shape.merge_with(scaled.shape)
        clipped = array.identity(scaled / raw.Maximum(norm, clip_norm), name=scope)
        return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


def clip_by_average_norm(t, clip_norm, name=None):
    """The tensor scaled down so that its L2 norm divided by its size is at most `clip_norm`.

    Args:
        t: The tensor.
        clip_norm: The largest average norm.
        name: The name of the operation in the graph.

    Returns:
        A tensor of the same shape.

    Example:
        >>> sess.run(tf.clip_by_average_norm([3.0, 4.0], 1.0))
        array([1.2, 1.6], dtype=float32)
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        size = elementwise.cast(array.size(t), dtypes.float32)
        inverse = raw.Rsqrt(reductions.reduce_sum(t * t, sequences.range(array.rank(t))))
        scaled = t * clip_norm
        factor = raw.Minimum(inverse * size, constants.constant(1.0) / clip_norm)
        return array.identity(scaled * factor, name=scope)


def _check_list(t_list):
    if not isinstance(t_list, collections.abc.Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence")


def _as_tensors(t_list):
    return [
        convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=f"t_{i}") if t is not None else t
        for i, t in enumerate(t_list)
    ]


def global_norm(t_list, name=None):
    """The L2 norm of all tensors of a list taken together; Nones are left out.

    Args:
        t_list: Tensors, IndexedSlices or Nones.
        name: The name of the operation in the graph.

    Returns:
        A scalar.

    Raises:
        TypeError: If `t_list` is no list.

    Example:
        >>> sess.run(tf.global_norm([[3.0], [4.0]]))
        np.float32(5.0)
    """
    _check_list(t_list)
    t_list = list(t_list)
    with name_scope(name, "global_norm", t_list):
        halves = []
        for values in _as_tensors(t_list):
            if values is not None:
                with colocate_with(values):
                    halves.append(raw.L2Loss(values))
        half = reductions.reduce_sum(array.stack(halves))
        return raw.Sqrt(half * constants.constant(2.0, dtype=half.dtype.base_dtype), name="global_norm")


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """(the tensors scaled down together so that their global norm is at most `clip_norm`, the global norm they had).

    Args:
        t_list: The tensors, IndexedSlices or Nones.
        clip_norm: The largest global norm.
        use_norm: The global norm, if it is known already.
        name: The name of the operation in the graph.

    Returns:
        A list like `t_list`, and the global norm before clipping.

    Raises:
        TypeError: If `t_list` is no list.

    Example:
        >>> clipped, norm = tf.clip_by_global_norm([[3.0], [4.0]], 1.0)
        >>> sess.run(clipped), sess.run(norm)
        ([array([0.6], dtype=float32), array([0.8], dtype=float32)], np.float32(5.0))
    """
    _check_list(t_list)
    t_list = list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as scope:
        dtype = use_norm.dtype.base_dtype
        scale_for_finite = clip_norm * raw.Minimum(1.0 / use_norm, constants.constant(1.0, dtype=dtype) / clip_norm)
        # Where the norm is infinite or NaN so are all results.
        scale = array.where(raw.IsFinite(use_norm), scale_for_finite, constants.constant(float("nan"), dtype=dtype))
        clipped = []
        for i, (given, values) in enumerate(zip(t_list, _as_tensors(t_list), strict=True)):
            if values is None:
                clipped.append(None)
                continue
            with colocate_with(values):
                result = array.identity(values * scale, name=f"{scope}_{i}")
            clipped.append(
                IndexedSlices(result, given.indices, given.dense_shape) if isinstance(given, IndexedSlices) else result
            )
    return clipped, use_norm


shape_rule("ClipByValue")(like_first)
