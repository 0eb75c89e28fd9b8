"""Batch normalization as contrib builds it: through `tf.layers` where it can, else fused or plain by itself."""

from __future__ import annotations

import functools
import types

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers.model_variables import layer_variable, model_variable_getter
from everflow.contrib.layers.outputs import (
    activated,
    add_variable_to_collections,
    channel_dimension,
    check_data_format,
    known_rank,
)
from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collections, control_dependencies
from everflow.framework.shapes import TensorShape
from everflow.layers.normalization import BatchNormalization
from everflow.ops import array
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import smart_cond, smart_constant_value
from everflow.ops.variables import initializers
from everflow.ops.variables.scope import get_variable_scope, variable_scope
from everflow.train.moving_averages import assign_moving_average


@add_arg_scope
def batch_norm(inputs, decay=0.999, center=True, scale=False, epsilon=0.001, activation_fn=None, param_initializers=None,
               param_regularizers=None, updates_collections=GraphKeys.UPDATE_OPS, is_training=True, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, batch_weights=None, fused=None, data_format="NHWC",
               zero_debias_moving_mean=False, scope=None, renorm=False, renorm_clipping=None, renorm_decay=0.99,
               adjustment=None):  # fmt: skip
    """Inputs at zero mean and unit variance in each channel: of the batch in training, of moving averages else.

    Updates of the averages are in `updates_collections`, for each training step; with None the layer runs them.

    Args:
        inputs: The tensor to work on.
        decay: How slowly the moving averages forget.
        center: Whether an offset is added.
        scale: Whether the result is multiplied by a scale.
        epsilon: A small number that keeps a division from being one by zero.
        activation_fn: The function applied to the result; None leaves it as it is.
        param_initializers: What offset, scale and averages start as, by name.
        param_regularizers: Regularizers of offset and scale, by name.
        updates_collections: The collection of the operations that update the averages; None has the layer run them.
        is_training: Whether this is training: a bool, or a tensor.
        reuse: Whether variables that are there are used again: True, None to do as the scope around, or
            `tf.AUTO_REUSE`.
        variables_collections: The collections variables are added to; a list, or lists by variable.
        outputs_collections: The collection the result is added to.
        trainable: Whether the variables are among those that optimizers train.
        batch_weights: How much each example counts.
        fused: Whether one op does it; chosen if None.
        data_format: Where channels are: last in `NHWC` and its like, second in `NCHW`.
        zero_debias_moving_mean: Whether the moving mean is corrected for starting at zero.
        scope: The variable scope.
        renorm: Whether batch renormalization is used.
        renorm_clipping: The bounds of its corrections.
        renorm_decay: How slowly its averages forget.
        adjustment: A function of the shape that gives a scale and an offset, for training.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If arguments don't go together.

    Example:
        >>> y = tf.contrib.layers.batch_norm(tf.ones([4, 3]), is_training=True)
        >>> len(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        2
    """
    call = _BatchNorm(**locals())
    check_data_format(data_format, "NCHW", "NHWC")
    # What tf.layers' batch normalization can't do is done here; so are matrices, which it doesn't fuse.
    call.fused = True if fused is None else fused
    call.inputs = convert_to_tensor(inputs)
    rank = call.inputs.shape.rank
    own_fused = batch_weights is None and call.fused and not renorm and adjustment is None and rank in (2, 4)
    by_layer = batch_weights is None and updates_collections is GraphKeys.UPDATE_OPS and not zero_debias_moving_mean
    if by_layer and not (own_fused and rank == 2):
        return call.through_layer()
    if renorm:
        with variable_scope(scope, "BatchNorm", [call.inputs], reuse=reuse):  # uses the name up
            raise ValueError(
                "renorm=True goes with neither batch_weights, zero_debias_moving_mean nor other updates_collections"
            )
    return call.by_fused_op() if own_fused else call.plain()


class _BatchNorm(types.SimpleNamespace):
    """A call of `batch_norm`: what it was given, the variables it makes, and the ways to build it."""

    def scope_of_variables(self, **options):
        return variable_scope(self.scope, "BatchNorm", [self.inputs], reuse=self.reuse, **options)

    def initializer(self, name):
        ones = name in ("gamma", "moving_variance")
        default = initializers.ones_initializer() if ones else initializers.zeros_initializer()
        return (self.param_initializers or {}).get(name, default)

    def regularizer(self, name):
        return (self.param_regularizers or {}).get(name)

    def make(self, name, shape, dtype):
        """beta or gamma, or an average, which isn't trained."""
        start, collections = self.initializer(name), self.variables_collections
        if name.startswith("moving_"):
            return layer_variable(name, shape, dtype, start, collections, trainable=False)
        regularizer = self.regularizer(name)
        return layer_variable(name, shape, dtype, start, collections, self.trainable, regularizer=regularizer)

    def make_averages(self, shape, dtype):
        """The moving mean and variance; they stay whole where the scope partitions variables."""
        scope = get_variable_scope()
        partitioner = scope.partitioner
        try:
            scope.set_partitioner(None)
            return self.make("moving_mean", shape, dtype), self.make("moving_variance", shape, dtype)
        finally:
            scope.set_partitioner(partitioner)

    def through_layer(self):
        with self.scope_of_variables(custom_getter=model_variable_getter()) as sc:
            rank = known_rank(self.inputs)
            same = ("epsilon", "center", "scale", "trainable", "renorm", "renorm_clipping", "adjustment")
            variables = ("beta", "gamma", "moving_mean", "moving_variance")
            layer = BatchNormalization(
                axis=1 if self.data_format == "NCHW" else -1,
                momentum=self.decay,
                renorm_momentum=self.renorm_decay,
                fused=bool(self.fused) and rank == 4 and not self.renorm,
                **{name: getattr(self, name) for name in same},
                **{f"{name}_initializer": self.initializer(name) for name in variables},
                **{f"{name}_regularizer": self.regularizer(name) for name in variables[:2]},
                **{"name": sc.name, "_scope": sc, "_reuse": self.reuse},
            )
            outputs = layer.apply(self.inputs, training=self.is_training)
            for name in ("moving_mean", "moving_variance", "beta", "gamma"):
                variable = getattr(layer, name)
                if variable is not None:
                    add_variable_to_collections(variable, self.variables_collections, name)
            return activated(outputs, self.activation_fn, self.outputs_collections, sc)

    def by_fused_op(self):
        with self.scope_of_variables() as sc:
            inputs, flat = self.inputs, self.inputs.shape.rank == 2
            dtype = dtypes.float32 if inputs.dtype in (dtypes.float16, dtypes.bfloat16) else inputs.dtype.base_dtype
            channels = channel_dimension(inputs.get_shape(), self.data_format)
            if flat:
                shape = [-1, 1, 1, channels] if self.data_format == "NHWC" else [-1, channels, 1, 1]
                inputs = array.reshape(inputs, shape)
            shape = TensorShape([channels])
            beta = self.make("beta", shape, dtype) if self.center else constant(0.0, dtype=dtype, shape=shape)
            gamma = self.make("gamma", shape, dtype) if self.scale else constant(1.0, dtype=dtype, shape=shape)
            averages = self.make_averages(shape, dtype)
            options = {"epsilon": self.epsilon, "data_format": self.data_format}
            given = dict(zip(("mean", "variance"), averages))
            outputs, *statistics = smart_cond(
                self.is_training,
                lambda: nn.fused_batch_norm(inputs, gamma, beta, is_training=True, **options),
                lambda: nn.fused_batch_norm(inputs, gamma, beta, **given, is_training=False, **options),
            )
            if self.may_train():
                outputs = self.moving(averages, statistics, outputs, outputs)
            outputs.set_shape(inputs.get_shape())
            if flat:
                outputs = array.reshape(outputs, array.shape(self.inputs))
            return activated(outputs, self.activation_fn, self.outputs_collections, sc)

    def may_train(self):
        known = smart_constant_value(self.is_training)
        return known is None or bool(known)

    def moving(self, averages, statistics, trained, otherwise):
        """Moves averages towards a batch's statistics in training: along with `trained`, or in collections."""

        def update():
            return tuple(
                assign_moving_average(average, value, self.decay, zero_debias=debias)
                for average, value, debias in zip(averages, statistics, (self.zero_debias_moving_mean, False))
            )

        def with_updates():
            with control_dependencies(update()):
                return nest.map_structure(array.identity, trained)

        if self.updates_collections is None:
            return smart_cond(self.is_training, with_updates, lambda: otherwise)
        for moved in smart_cond(self.is_training, update, lambda: averages):
            add_to_collections(self.updates_collections, moved)
        return trained

    def plain(self):
        with self.scope_of_variables(custom_getter=model_variable_getter()) as sc:
            shape, rank = self.inputs.get_shape(), known_rank(self.inputs)
            dtype = self.inputs.dtype.base_dtype
            moments = self.moments_of(shape, rank)
            first = self.data_format == "NCHW"
            params_shape = shape[1:2] if first else shape[-1:]
            if not params_shape.is_fully_defined():
                raise ValueError(f"Inputs {self.inputs.name} has undefined channels dimension {params_shape}.")
            beta = self.make("beta", params_shape, dtype) if self.center else None
            gamma = self.make("gamma", params_shape, dtype) if self.scale else None
            # Entering the scope again takes the name "batchnorm", as in TensorFlow's graphs.
            with variable_scope(get_variable_scope()):
                averages = self.make_averages(params_shape, dtype)
            mean, variance = averages
            if self.may_train():
                statistics = moments([0, *range(2, rank)] if first else list(range(rank - 1)), keep_dims=first)
                if first:
                    statistics = tuple(array.reshape(value, [-1]) for value in statistics)
                mean, variance = self.moving(averages, statistics, statistics, averages)
                if self.updates_collections is not None:
                    mean, variance = smart_cond(self.is_training, lambda: (mean, variance), lambda: averages)
            if first:
                around = [1, shape.size(1)] + [1] * (rank - 2)
                mean, variance, beta, gamma = (
                    None if value is None else array.reshape(value, around) for value in (mean, variance, beta, gamma)
                )
            outputs = nn.batch_normalization(self.inputs, mean, variance, beta, gamma, self.epsilon)
            outputs.set_shape(shape)
            return activated(outputs, self.activation_fn, self.outputs_collections, sc)

    def moments_of(self, shape, rank):
        """A function from axes to the moments of the inputs, which `batch_weights` may weigh."""
        if self.batch_weights is None:
            return functools.partial(nn.moments, self.inputs)
        weights = convert_to_tensor(self.batch_weights)
        shape[0:1].assert_is_compatible_with(weights.get_shape())
        weights = array.reshape(weights, [-1] + [1] * (rank - 1))
        return lambda axes, keep_dims: nn.weighted_moments(self.inputs, axes, weights, keep_dims=keep_dims)
