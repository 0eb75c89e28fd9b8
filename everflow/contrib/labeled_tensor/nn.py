"""tf.contrib.labeled_tensor.nn: functions of tf.nn for labeled tensors. Losses take logits first."""

from __future__ import annotations

from everflow import nn as plain
from everflow.contrib.labeled_tensor.core import define_binary_op, define_unary_op


def _logits_first(loss):
    return lambda logits, labels, name=None: loss(labels=labels, logits=logits, name=name)


relu = define_unary_op("relu", plain.relu)
relu6 = define_unary_op("relu6", plain.relu6)
crelu = define_unary_op("crelu", plain.crelu)
elu = define_unary_op("elu", plain.elu)
softplus = define_unary_op("softplus", plain.softplus)
l2_loss = define_unary_op("l2_loss", plain.l2_loss)
softmax = define_unary_op("softmax", plain.softmax)
log_softmax = define_unary_op("log_softmax", plain.log_softmax)
sigmoid_cross_entropy_with_logits = define_binary_op(
    "sigmoid_cross_entropy_with_logits", _logits_first(plain.sigmoid_cross_entropy_with_logits)
)
softmax_cross_entropy_with_logits = define_binary_op(
    "softmax_cross_entropy_with_logits", _logits_first(plain.softmax_cross_entropy_with_logits)
)
sparse_softmax_cross_entropy_with_logits = define_binary_op(
    "sparse_softmax_cross_entropy_with_logits", _logits_first(plain.sparse_softmax_cross_entropy_with_logits)
)
