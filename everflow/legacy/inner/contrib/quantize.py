"""The two passes of tf.contrib.quantize, as its inner modules name them."""

from __future__ import annotations

import functools

from everflow.contrib.quantize.fake_quant import quantization_step
from everflow.contrib.quantize.fold_batch_norms import fold_batch_norms
from everflow.contrib.quantize.insertion import insert_fake_quantization
from everflow.framework.graph_keys import GraphKeys

__all__ = ["FoldBatchNorms", "Quantize", "_FollowedByFakeQuant", "_GetOperationByNameDontThrow"]

_FAKE = ("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
_PASSED = ("Identity", "Reshape", "Transpose")


def FoldBatchNorms(graph, is_training, freeze_batch_norm_delay=None):
    """Fold normalization of batches into the weights before it."""
    with graph.as_default():
        fold_batch_norms(graph, functools.cache(quantization_step), freeze_batch_norm_delay)


def Quantize(
    graph,
    is_training,
    weight_bits=8,
    activation_bits=8,
    symmetric=False,
    ema_decay=0.999,
    quant_delay=None,
    vars_collection=GraphKeys.GLOBAL_VARIABLES,
    scope=None,
):
    """Let weights and activations pass through what rounds them."""
    step = functools.cache(quantization_step)
    with graph.as_default():
        insert_fake_quantization(graph, is_training, weight_bits, activation_bits, symmetric, quant_delay, scope, step)


def _FollowedByFakeQuant(tensor):
    """Whether a tensor is rounded by all that take it, or by one that does so after it was reshaped."""
    waiting, seen = [tensor], set()
    while waiting:
        for consumer in waiting.pop().consumers():
            if consumer.type in _FAKE:
                return True
            if consumer.type in _PASSED and consumer not in seen:
                seen.add(consumer)
                waiting.extend(consumer.outputs)
    return False


def _GetOperationByNameDontThrow(graph, name):
    """An operation of a graph, or None."""
    try:
        return graph.get_operation_by_name(name)
    except KeyError:
        return None
