"""Stochastic dual coordinate ascent as ops: `tf.train.sdca_optimizer` and what belongs to it."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import shape_rule
from everflow.framework.shapes import TensorShape


def sdca_optimizer(
    sparse_example_indices,
    sparse_feature_indices,
    sparse_feature_values,
    dense_features,
    example_weights,
    example_labels,
    sparse_indices,
    sparse_weights,
    dense_weights,
    example_state_data,
    loss_type,
    l1,
    l2,
    num_loss_partitions,
    num_inner_iterations,
    adaptative=True,
    name=None,
):
    """The new state of examples, and what to add to the weights of sparse and of dense features."""
    arguments = dict(locals())
    return raw.SdcaOptimizer(**arguments)


def sdca_fprint(input, name=None):
    """Fingerprints of strings, [n, 2]: keys of examples in tables."""
    return raw.SdcaFprint(input=input, name=name)


def sdca_shrink_l1(weights, l1, l2, name=None):
    """An op that moves weights, variables, towards zero by l1 / l2."""
    return raw.SdcaShrinkL1(weights=weights, l1=l1, l2=l2, name=name)


@shape_rule("SdcaFprint")
def _pairs(op):
    shape = op.inputs[0].shape.with_rank(1)
    return TensorShape([shape.dims[0], 2])


@shape_rule("SdcaOptimizer", "SdcaOptimizerV2")
def _states_and_deltas(op):
    sparse, dense = op.attrs["num_sparse_features"], op.attrs["num_dense_features"]
    weights = [tensor.shape for tensor in op.inputs[-1 - sparse - dense : -1]]
    return [TensorShape([None, 4]), *weights]
