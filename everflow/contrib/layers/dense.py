"""Fully connected layers and biases."""

from __future__ import annotations

import functools

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers.initializers import XAVIER
from everflow.contrib.layers.model_variables import COLLECTED, layer_variable, model_variable_getter
from everflow.contrib.layers.outputs import (
    activated,
    add_variable_to_collections,
    channel_dimension,
    check_data_format,
    last_dimension,
)
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collections
from everflow.layers.core import Dense
from everflow.ops import array, math
from everflow.ops.variables import initializers
from everflow.ops.variables.scope import get_variable, variable_scope
from everflow.platform.signatures import takes

NAMES = {"kernel": "weights", "bias": "biases"}
ZEROS = initializers.zeros_initializer()


def finished(outputs, scope, arguments):
    """What follows the linear part of a layer: normalization, activation, collection."""
    if arguments["normalizer_fn"] is not None:
        outputs = arguments["normalizer_fn"](outputs, **(arguments["normalizer_params"] or {}))
    return activated(outputs, arguments["activation_fn"], arguments["outputs_collections"], scope)


def layer_scope(default_name, inputs, arguments, names=NAMES):
    """The variable scope of a layer, in which variables of `tf.layers` have contrib's names."""
    getter = model_variable_getter(names)
    return variable_scope(arguments["scope"], default_name, [inputs], reuse=arguments["reuse"], custom_getter=getter)


def applied(layer_class, inputs, scope, arguments, kernels=("kernel",), **own):
    """What functional layers share: a `tf.layers` layer applied, its variables collected, then `finished`.

    `arguments` is what the function was called with: weights, biases, normalizer and activation. `own` is what only
    this layer takes, and `kernels` are the attributes that hold its weights.
    """
    settings = {
        "bias_initializer": arguments["biases_initializer"],
        "bias_regularizer": arguments["biases_regularizer"],
    }
    for kernel in kernels:
        part = kernel.removesuffix("_kernel")
        settings[f"{part}_initializer"] = arguments["weights_initializer"]
        settings[f"{part}_regularizer"] = arguments["weights_regularizer"]
    settings["use_bias"] = not arguments["normalizer_fn"] and bool(arguments["biases_initializer"])
    settings.update(own, activation=None, activity_regularizer=None, trainable=arguments["trainable"])
    scoped = {"name": scope.name, "_scope": scope, "_reuse": arguments["reuse"]}
    layer = layer_class(**settings, **scoped, dtype=inputs.dtype.base_dtype)
    outputs = layer.apply(inputs)
    for kernel in kernels:
        add_variable_to_collections(getattr(layer, kernel), arguments["variables_collections"], "weights")
    if layer.use_bias:
        add_variable_to_collections(layer.bias, arguments["variables_collections"], "biases")
    return finished(outputs, scope, arguments)


@add_arg_scope
def fully_connected(
    inputs,
    num_outputs,
    activation_fn=nn.relu,
    normalizer_fn=None,
    normalizer_params=None,
    weights_initializer=XAVIER,
    weights_regularizer=None,
    biases_initializer=ZEROS,
    biases_regularizer=None,
    reuse=None,
    variables_collections=None,
    outputs_collections=None,
    trainable=True,
    scope=None,
):
    """`activation_fn(inputs @ weights + biases)`; a normalizer takes the place of the biases.

    Args:
        inputs: The tensor to work on.
        num_outputs: How many numbers the result has for each example.
        activation_fn: The function applied to the result; None leaves it as it is.
        normalizer_fn: What normalizes the result, in place of a bias.
        normalizer_params: Its arguments.
        weights_initializer: What the weights start as.
        weights_regularizer: A function of the weights whose result is added to the losses.
        biases_initializer: What the bias starts as; None for no bias.
        biases_regularizer: A function of the bias whose result is added to the losses.
        reuse: Whether variables that are there are used again: True, None to do as the scope around, or
            `tf.AUTO_REUSE`.
        variables_collections: The collections variables are added to; a list, or lists by variable.
        outputs_collections: The collection the result is added to.
        trainable: Whether the variables are among those that optimizers train.
        scope: The variable scope.

    Returns:
        A tensor whose last dimension is `num_outputs`.

    Raises:
        ValueError: If `num_outputs` is no whole number.

    Example:
        >>> tf.contrib.layers.fully_connected(tf.ones([2, 3]), 10).shape.as_list()
        [2, 10]
        >>> [v.name for v in tf.trainable_variables()]
        ['fully_connected/weights:0', 'fully_connected/biases:0']
    """
    arguments = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs must be an int, not {num_outputs!r}")
    with layer_scope("fully_connected", inputs, arguments) as sc:
        return applied(Dense, convert_to_tensor(inputs), sc, arguments, units=num_outputs)


linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=nn.relu6)
elu = functools.partial(fully_connected, activation_fn=nn.elu)


@add_arg_scope
@takes({**COLLECTED, "data_format": "NHWC", "scope": None})
def bias_add(inputs, activation_fn=None, initializer=ZEROS, regularizer=None, **given):
    """`inputs` plus a bias for each channel."""
    data_format = given["data_format"]
    check_data_format(data_format, "NCHW", "NHWC")
    with variable_scope(given["scope"], "BiasAdd", [inputs], reuse=given["reuse"]) as sc:
        inputs = convert_to_tensor(inputs)
        if data_format == "NCHW" and inputs.shape.rank not in (None, 4):
            raise ValueError(f"Data format NCHW only supports 4D Tensor, {inputs.name} is of shape {inputs.shape}")
        channels = channel_dimension(inputs.get_shape(), data_format)
        dtype = inputs.dtype.base_dtype
        kept = given["variables_collections"], given["trainable"]
        biases = layer_variable("biases", [channels], dtype, initializer, *kept, regularizer=regularizer)
        outputs = nn.bias_add(inputs, biases, data_format=data_format)
        return activated(outputs, activation_fn, given["outputs_collections"], sc)


@add_arg_scope
def legacy_fully_connected(
    x,
    num_output_units,
    activation_fn=None,
    weight_init=XAVIER,
    bias_init=ZEROS,
    name=None,
    weight_collections=("weights",),
    bias_collections=("biases",),
    output_collections=("activations",),
    trainable=True,
    weight_regularizer=None,
    bias_regularizer=None,
):
    """The first form of `fully_connected`, whose variables are "weights" and "bias"."""
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        inputs, rank = last_dimension(x.shape, min_rank=2), x.shape.rank
        dtype = x.dtype.base_dtype

        def made(label, shape, init, collections, regularizer):
            keys = list(dict.fromkeys([*(collections or []), GraphKeys.GLOBAL_VARIABLES]))
            return get_variable(label, shape, dtype, init, regularizer, trainable, keys)

        weights = made("weights", [inputs, num_output_units], weight_init, weight_collections, weight_regularizer)
        flat = x if rank == 2 else array.reshape(x, [-1, inputs])
        y = math.matmul(flat, weights)
        if bias_init is not None:
            y = nn.bias_add(y, made("bias", [num_output_units], bias_init, bias_collections, bias_regularizer))
        if rank > 2:
            y = array.reshape(y, array.stack([*array.unstack(array.shape(x))[:-1], num_output_units]))
            y.set_shape([*x.shape.as_list()[:-1], num_output_units])
        result = y if activation_fn is None else activation_fn(y)
        add_to_collections([*(output_collections or ()), GraphKeys.ACTIVATIONS], result)
        return result


legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=nn.relu)
