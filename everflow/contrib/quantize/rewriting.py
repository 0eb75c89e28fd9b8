"""The public functions: fold batch normalization into weights, then quantize weights and activations."""

from __future__ import annotations

import functools

from everflow.contrib.quantize.fake_quant import quantization_step
from everflow.contrib.quantize.fold_batch_norms import fold_batch_norms
from everflow.contrib.quantize.insertion import insert_fake_quantization
from everflow.framework.scopes import get_default_graph


def _rewrite(is_training, input_graph, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay, scope):
    graph = get_default_graph() if input_graph is None else input_graph
    step = functools.cache(quantization_step)
    with graph.as_default():
        fold_batch_norms(graph, step, freeze_bn_delay)
        insert_fake_quantization(graph, is_training, weight_bits, activation_bits, symmetric, quant_delay, scope, step)


def create_training_graph(input_graph=None, quant_delay=0):
    """Rewrite a training graph in place, before gradients are drawn. Quantization begins after `quant_delay` steps.

    >>> loss = build_model()
    >>> tf.contrib.quantize.create_training_graph(quant_delay=2000000)
    >>> train_op = optimizer.minimize(loss)
    """
    experimental_create_training_graph(input_graph, quant_delay=quant_delay)


def create_eval_graph(input_graph=None):
    """Rewrite a graph for evaluation or export in place: it uses the ranges that training found."""
    experimental_create_eval_graph(input_graph)


def experimental_create_training_graph(
    input_graph=None, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=0, freeze_bn_delay=None, scope=None
):
    """`create_training_graph` with other numbers of bits, ranges around zero, or only below a name scope.

    After `freeze_bn_delay` steps normalization uses its moving averages, which don't move any more.
    """
    _rewrite(True, input_graph, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay, scope)


def experimental_create_eval_graph(
    input_graph=None, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=None, scope=None
):
    """`create_eval_graph` with other numbers of bits, ranges around zero, or only below a name scope."""
    _rewrite(False, input_graph, weight_bits, activation_bits, symmetric, quant_delay, None, scope)
