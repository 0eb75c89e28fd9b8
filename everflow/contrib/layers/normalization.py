"""Batch normalization as contrib builds it: through `tf.layers` where it can, else fused or plain by itself."""

from __future__ import annotations

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers.model_variables import layer_variable, model_variable_getter
from everflow.contrib.layers.outputs import activated, add_variable_to_collections, channel_dimension, check_data_format, known_rank
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collections, control_dependencies
from everflow.framework.shapes import TensorShape
from everflow.layers.normalization import BatchNormalization
from everflow.ops import array, initializers
from everflow.ops.constants import constant
from everflow.ops.control_flow import smart_cond, smart_constant_value
from everflow.ops.variable_scope import get_variable_scope, variable_scope
from everflow.train.moving_averages import assign_moving_average


@add_arg_scope
def batch_norm(inputs, decay=0.999, center=True, scale=False, epsilon=0.001, activation_fn=None, param_initializers=None,
               param_regularizers=None, updates_collections=GraphKeys.UPDATE_OPS, is_training=True, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, batch_weights=None, fused=None, data_format="NHWC",
               zero_debias_moving_mean=False, scope=None, renorm=False, renorm_clipping=None, renorm_decay=0.99,
               adjustment=None):  # fmt: skip
    """Inputs at zero mean and unit variance in each channel: of the batch in training, of moving averages else.

    The averages' updates are in `updates_collections`, to be run with each training step; with None they run with the layer itself.
    """
    check_data_format(data_format, "NCHW", "NHWC")
    fused = True if fused is None else fused
    # What tf.layers' batch normalization can't do is done here; so are matrices, which it doesn't fuse.
    inputs = convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    own_fused = batch_weights is None and fused and not renorm and adjustment is None and rank in (2, 4)
    by_layer = batch_weights is None and updates_collections is GraphKeys.UPDATE_OPS and not zero_debias_moving_mean
    parameters = _Parameters(param_initializers, param_regularizers, variables_collections, trainable)
    if by_layer and not (own_fused and rank == 2):
        return _through_layer(
            inputs, decay, center, scale, epsilon, activation_fn, parameters, is_training, reuse, outputs_collections, fused, data_format,
            scope, renorm, renorm_clipping, renorm_decay, adjustment,
        )  # fmt: skip
    if renorm:
        with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse):  # uses the name up
            raise ValueError("renorm=True needs the default updates_collections, and neither batch_weights nor zero_debias_moving_mean")
    build = _fused if own_fused else _plain
    return build(
        inputs, decay, center, scale, epsilon, activation_fn, parameters, updates_collections, is_training, reuse, outputs_collections,
        batch_weights, data_format, zero_debias_moving_mean, scope,
    )  # fmt: skip


class _Parameters:
    """How beta, gamma and the moving averages are made: initial values, regularizers, collections."""

    def __init__(self, initial_values, regularizers, collections, trainable):
        self.initial_values = initial_values or {}
        self.regularizers = regularizers or {}
        self.collections = collections
        self.trainable = trainable

    def initializer(self, name):
        ones = name in ("gamma", "moving_variance")
        return self.initial_values.get(name, initializers.ones_initializer() if ones else initializers.zeros_initializer())

    def make(self, name, shape, dtype):
        """beta or gamma, or an average, which isn't trained."""
        if name.startswith("moving_"):
            return layer_variable(name, shape, dtype, self.initializer(name), self.collections, trainable=False)
        regularizer = self.regularizers.get(name)
        return layer_variable(name, shape, dtype, self.initializer(name), self.collections, self.trainable, regularizer=regularizer)

    def make_averages(self, shape, dtype):
        """The moving mean and variance; they stay whole where the scope partitions variables."""
        scope = get_variable_scope()
        partitioner = scope.partitioner
        try:
            scope.set_partitioner(None)
            return self.make("moving_mean", shape, dtype), self.make("moving_variance", shape, dtype)
        finally:
            scope.set_partitioner(partitioner)


def _through_layer(inputs, decay, center, scale, epsilon, activation_fn, parameters, is_training, reuse, outputs_collections, fused,
                   data_format, scope, renorm, renorm_clipping, renorm_decay, adjustment):  # fmt: skip
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=model_variable_getter()) as sc:
        rank = known_rank(inputs)
        layer = BatchNormalization(
            axis=1 if data_format == "NCHW" else -1,
            momentum=decay,
            epsilon=epsilon,
            center=center,
            scale=scale,
            beta_initializer=parameters.initializer("beta"),
            gamma_initializer=parameters.initializer("gamma"),
            moving_mean_initializer=parameters.initializer("moving_mean"),
            moving_variance_initializer=parameters.initializer("moving_variance"),
            beta_regularizer=parameters.regularizers.get("beta"),
            gamma_regularizer=parameters.regularizers.get("gamma"),
            trainable=parameters.trainable,
            renorm=renorm,
            renorm_clipping=renorm_clipping,
            renorm_momentum=renorm_decay,
            adjustment=adjustment,
            name=sc.name,
            _scope=sc,
            _reuse=reuse,
            fused=bool(fused) and rank == 4 and not renorm,
        )
        outputs = layer.apply(inputs, training=is_training)
        for variable, name in (
            (layer.moving_mean, "moving_mean"),
            (layer.moving_variance, "moving_variance"),
            (layer.beta, "beta"),
            (layer.gamma, "gamma"),
        ):
            if variable is not None:
                add_variable_to_collections(variable, parameters.collections, name)
        return activated(outputs, activation_fn, outputs_collections, sc)


def _moved_averages(mean, variance, moving_mean, moving_variance, decay, zero_debias):
    return (
        assign_moving_average(moving_mean, mean, decay, zero_debias=zero_debias),
        assign_moving_average(moving_variance, variance, decay, zero_debias=False),
    )


def _fused(inputs, decay, center, scale, epsilon, activation_fn, parameters, updates_collections, is_training, reuse, outputs_collections,
           batch_weights, data_format, zero_debias, scope):  # fmt: skip
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
        original = inputs
        rank = inputs.get_shape().ndims
        dtype = dtypes.float32 if inputs.dtype in (dtypes.float16, dtypes.bfloat16) else inputs.dtype.base_dtype
        channels = channel_dimension(inputs.get_shape(), data_format)
        if rank == 2:
            inputs = array.reshape(inputs, [-1, 1, 1, channels] if data_format == "NHWC" else [-1, channels, 1, 1])
        shape = TensorShape([channels])
        beta = parameters.make("beta", shape, dtype) if center else constant(0.0, dtype=dtype, shape=shape)
        gamma = parameters.make("gamma", shape, dtype) if scale else constant(1.0, dtype=dtype, shape=shape)
        moving_mean, moving_variance = parameters.make_averages(shape, dtype)
        options = {"epsilon": epsilon, "data_format": data_format}
        outputs, mean, variance = smart_cond(
            is_training,
            lambda: nn.fused_batch_norm(inputs, gamma, beta, is_training=True, **options),
            lambda: nn.fused_batch_norm(inputs, gamma, beta, mean=moving_mean, variance=moving_variance, is_training=False, **options),
        )
        known = smart_constant_value(is_training)
        if known is None or known:

            def update():
                return _moved_averages(mean, variance, moving_mean, moving_variance, decay, zero_debias)

            if updates_collections is None:

                def with_updates():
                    with control_dependencies(update()):
                        return array.identity(outputs)

                outputs = smart_cond(is_training, with_updates, lambda: outputs)
            else:
                for moved in smart_cond(is_training, update, lambda: (moving_mean, moving_variance)):
                    add_to_collections(updates_collections, moved)
        outputs.set_shape(inputs.get_shape())
        if rank == 2:
            outputs = array.reshape(outputs, array.shape(original))
        return activated(outputs, activation_fn, outputs_collections, sc)


def _plain(inputs, decay, center, scale, epsilon, activation_fn, parameters, updates_collections, is_training, reuse, outputs_collections,
           batch_weights, data_format, zero_debias, scope):  # fmt: skip
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=model_variable_getter()) as sc:
        shape, rank = inputs.get_shape(), known_rank(inputs)
        dtype = inputs.dtype.base_dtype
        if batch_weights is not None:
            batch_weights = convert_to_tensor(batch_weights)
            shape[0:1].assert_is_compatible_with(batch_weights.get_shape())
            batch_weights = array.reshape(batch_weights, [-1] + [1] * (rank - 1))
        first = data_format == "NCHW"
        axes = [0, *range(2, rank)] if first else list(range(rank - 1))
        params_shape = shape[1:2] if first else shape[-1:]
        broadcast_shape = [1, shape[1].value] + [1] * (rank - 2) if first else None
        if not params_shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {params_shape}.")
        beta = parameters.make("beta", params_shape, dtype) if center else None
        gamma = parameters.make("gamma", params_shape, dtype) if scale else None
        # Entering the scope again takes the name "batchnorm", as in TensorFlow's graphs.
        with variable_scope(get_variable_scope()):
            moving_mean, moving_variance = parameters.make_averages(params_shape, dtype)
        known = smart_constant_value(is_training)
        if known is not None and not known:
            mean, variance = moving_mean, moving_variance
        else:
            mean, variance = _batch_moments(inputs, axes, batch_weights, keep_dims=first)
            if first:
                mean, variance = array.reshape(mean, [-1]), array.reshape(variance, [-1])
            mean, variance = _with_averages(
                mean, variance, moving_mean, moving_variance, decay, zero_debias, updates_collections, is_training
            )
        if first:
            mean, variance = array.reshape(mean, broadcast_shape), array.reshape(variance, broadcast_shape)
            beta = None if beta is None else array.reshape(beta, broadcast_shape)
            gamma = None if gamma is None else array.reshape(gamma, broadcast_shape)
        outputs = nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(shape)
        return activated(outputs, activation_fn, outputs_collections, sc)


def _batch_moments(inputs, axes, batch_weights, keep_dims):
    if batch_weights is None:
        return nn.moments(inputs, axes, keep_dims=keep_dims)
    return nn.weighted_moments(inputs, axes, batch_weights, keep_dims=keep_dims)


def _with_averages(mean, variance, moving_mean, moving_variance, decay, zero_debias, updates_collections, is_training):
    """(mean, variance) to normalize with, after the updates of the moving averages were made or collected."""

    def update():
        return _moved_averages(mean, variance, moving_mean, moving_variance, decay, zero_debias)

    if updates_collections is None:

        def with_updates():
            with control_dependencies(update()):
                return array.identity(mean), array.identity(variance)

        return smart_cond(is_training, with_updates, lambda: (moving_mean, moving_variance))

    for moved in smart_cond(is_training, update, lambda: (moving_mean, moving_variance)):
        add_to_collections(updates_collections, moved)
    return smart_cond(is_training, lambda: (mean, variance), lambda: (moving_mean, moving_variance))
