"""Batch normalization, with its fused form, renormalization and virtual batches; layer normalization."""

from __future__ import annotations

import contextlib

from everflow.framework import dtypes, strategy_context
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import colocate_with, control_dependencies, name_scope
from everflow.framework.shapes import TensorShape
from everflow.keras import backend as K
from everflow.keras.engine.input_spec import InputSpec
from everflow.keras.layers.configured import SameShape, takes, weight_of
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import smart_cond, smart_constant_value
from everflow.ops.nn import activations as nn
from everflow.ops.nn import normalization as nn_normalization
from everflow.ops.variables import assign as state
from everflow.ops.variables.variable import VariableAggregation, VariableSynchronization

# Arguments that configurations of batch normalization hold only where they are used, or never.
_NOT_IN_CONFIGS = ("renorm", "renorm_clipping", "renorm_momentum", "fused", "virtual_batch_size", "adjustment")


def _composed(scale, offset, then_scale, then_offset):
    """The scale and offset of two linear transforms after each other; None stands for none."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    if then_offset is not None:
        offset += then_offset
    return scale, offset


def _assigned(assign, variable, value):
    with colocate_with(variable.op):
        return assign(variable, value)


class BatchNormalization(SameShape):
    """Inputs scaled to zero mean and unit variance: of the batch while training, moving averages else.

    The averages are updated by the layer's `updates`, which `fit` runs with each step.

    Args:
        axis: The axis of channels.
        momentum: How slowly the moving averages forget.
        epsilon: A small number that keeps a division from being one by zero.
        center: Whether an offset is added.
        scale: Whether the result is multiplied by a scale.
        beta_initializer: What the offset starts as.
        gamma_initializer: What the scale starts as.
        moving_mean_initializer: What the moving mean starts as.
        moving_variance_initializer: What the moving variance starts as.
        beta_regularizer: A function of the offset whose result is added to the losses.
        gamma_regularizer: A function of the scale whose result is added to the losses.
        beta_constraint: A function that gives the offset back as it may be.
        gamma_constraint: A function that gives the scale back as it may be.
        renorm: Whether batch renormalization is used.
        renorm_clipping: The bounds of its corrections: `rmin`, `rmax`, `dmax`.
        renorm_momentum: How slowly its averages forget.
        fused: Whether one op does it; chosen if None.
        trainable: Whether the variables are among those that optimizers train.
        virtual_batch_size: The size of the parts of a batch that are normalized by themselves.
        adjustment: A function of the shape that gives a scale and an offset, for training.
        name: The layer's name; made from its class if None.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> layer = tf.keras.layers.BatchNormalization()
        >>> layer(tf.ones([2, 3])).shape.as_list(), len(layer.weights)
        ([2, 3], 4)
    """

    @takes(
        """axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros",
        gamma_initializer="ones", moving_mean_initializer="zeros", moving_variance_initializer="ones",
        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, renorm=False,
        renorm_clipping=None, renorm_momentum=0.99, fused=None, trainable=True, virtual_batch_size=None,
        adjustment=None, name=None"""
    )
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        axis = given["axis"]
        if not isinstance(axis, (int, list)):
            raise TypeError(f"`axis` is an int or list of ints, not {axis!r}.")
        self._keep_given(given, leaving_out=_NOT_IN_CONFIGS, axis=list(axis) if isinstance(axis, list) else axis)
        for name in ("renorm", "virtual_batch_size", "adjustment"):
            setattr(self, name, given[name])
        self.fused = self._wanted_form(given["fused"])
        if self.renorm:
            clipping = given["renorm_clipping"] or {}
            if set(clipping) - {"rmax", "rmin", "dmax"}:
                raise ValueError(f"renorm_clipping {clipping} contains keys not in ['rmax', 'rmin', 'dmax']")
            self.renorm_clipping, self.renorm_momentum = clipping, given["renorm_momentum"]

    # Whether a layer that isn't trainable computes as for inference; TensorFlow 2's does.
    _USE_V2_BEHAVIOR = False

    def _wanted_form(self, fused):
        """Whether the fused form is to be used where it can be."""
        return True if fused is None else fused

    def _fused_can_be_used(self):
        plain = not self.renorm and self.virtual_batch_size is None and self.adjustment is None
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        return plain and axes in ([1], [3], [-1], [-3])

    def _can_be_fused(self, rank):
        return rank == 4 and self._fused_can_be_used()

    def _get_training_value(self, training=None):
        return K.learning_phase() if training is None else training

    def get_config(self):
        config = super().get_config()
        if self.renorm:
            config.update({name: getattr(self, name) for name in ("renorm", "renorm_clipping", "renorm_momentum")})
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config

    def build(self, input_shape):
        shape = TensorShape(input_shape)
        if shape.rank is None:
            raise ValueError("Input has undefined rank:", shape)
        rank = shape.rank
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        self.axis = [rank + a if a < 0 else a for a in axes]
        if any(not 0 <= a < rank for a in self.axis):
            raise ValueError(f"Invalid axis: {axes}")
        if len(set(self.axis)) != len(self.axis):
            raise ValueError(f"Duplicate axis: {self.axis}")
        self._check_virtual_batches()
        if self.fused in (None, True):
            self.fused = self._can_be_fused(rank)
        if self.fused:
            self._data_format = "NCHW" if self.axis == [1] else "NHWC"
        sides = {axis: shape.size(axis) for axis in self.axis}
        if None in sides.values():
            raise ValueError(f"Input has undefined `axis` dimension. Input shape: {shape}")
        self.input_spec = InputSpec(ndim=rank, axes=sides)
        if len(self.axis) == 1 and self.virtual_batch_size is None:
            param_shape = (sides[self.axis[0]],)
        else:
            param_shape = [sides.get(i, 1) for i in range(rank)]
            if self.virtual_batch_size is not None:
                # A dimension for the virtual batches is put in at the front.
                param_shape.insert(1, 1)
                self.axis = [axis + 1 for axis in self.axis]
        self._make_variables(param_shape)
        self.built = True

    def _check_virtual_batches(self):
        if self.virtual_batch_size is None:
            return
        for is_wrong, why in (
            (self.virtual_batch_size <= 0, "it is a positive number that divides the size of batches"),
            (0 in self.axis, "axis 0 is the batch and can't be among those that are normalized"),
            (self.adjustment is not None, "`adjustment` can't be used along with it"),
        ):
            if is_wrong:
                raise ValueError(f"virtual_batch_size={self.virtual_batch_size} can't be in {self.name}: {why}.")

    @property
    def _param_dtype(self):
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        return dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype

    # Variables stay of their own type, also where a policy has others cast.
    _as_they_are = property(lambda self: {"experimental_autocast": False} if self._casts_variables else {})

    def _make_variables(self, shape):
        dtype = self._param_dtype
        self.gamma = self.beta = None
        if self.scale:
            self.gamma = weight_of(self, "gamma", shape, dtype=dtype, **self._as_they_are)
        elif self.fused:
            self._gamma_const = constant(1.0, dtype=dtype, shape=shape)
        if self.center:
            self.beta = weight_of(self, "beta", shape, dtype=dtype, **self._as_they_are)
        elif self.fused:
            self._beta_const = constant(0.0, dtype=dtype, shape=shape)
        with self._whole_variables():
            self._make_averages(shape, dtype)

    def _whole_variables(self):
        """A context in which variables are whole, also where a scope partitions them."""
        return contextlib.nullcontext()

    def _make_averages(self, shape, dtype):
        def average(name, initializer):
            of_replicas = {"synchronization": VariableSynchronization.ON_READ, "aggregation": VariableAggregation.MEAN}
            return self.add_weight(name, shape, dtype, initializer, trainable=False, **of_replicas, **self._as_they_are)

        self.moving_mean = average("moving_mean", self.moving_mean_initializer)
        self.moving_variance = average("moving_variance", self.moving_variance_initializer)
        if self.renorm:
            # A standard deviation starts as the root of what the variance starts with.
            root = lambda *args, **kwargs: math.sqrt(self.moving_variance_initializer(*args, **kwargs))  # noqa: E731
            with colocate_with(self.moving_variance):
                self.moving_stddev = average("moving_stddev", root)
            with colocate_with(self.moving_mean):
                self.renorm_mean = average("renorm_mean", self.moving_mean_initializer)
            with colocate_with(self.moving_variance):
                self.renorm_stddev = average("renorm_stddev", root)

    @staticmethod
    def _assign_moving_average(variable, value, momentum):
        with name_scope("AssignMovingAvg") as scope, colocate_with(variable.op):
            decay = convert_to_tensor(1.0 - momentum, name="decay")
            if decay.dtype != variable.dtype.base_dtype:
                decay = math.cast(decay, variable.dtype.base_dtype)
            delta = (variable - math.cast(value, variable.dtype.base_dtype)) * decay
            frame = strategy_context.current()
            copies = getattr(variable, "values", ())
            if len(copies) < 2 or frame is not None and frame.replica_context is not None:
                return state.assign_sub(variable, delta, name=scope)
        # Drawn for all replicas at once: their copies move alike.
        with control_dependencies([_assigned(state.assign_sub, copy, delta) for copy in copies]):
            return copies[0].read_value()

    def call(self, inputs, training=None):
        training = self._get_training_value(training)
        if self.virtual_batch_size is not None:
            return self._with_virtual_batches(inputs, training)
        if self.fused:
            return self._fused(inputs, training)
        return self._normalized(inputs, training)

    def _with_virtual_batches(self, inputs, training):
        # Rows i, i + n, i + 2n, … are one of the n batches.
        shape = inputs.shape.as_list()
        if None in shape[1:]:
            back = array.shape(inputs)
            wanted = array.concat([[self.virtual_batch_size, -1], back[1:]], 0)
        else:
            back = [-1, *shape[1:]]
            wanted = [self.virtual_batch_size, -1, *shape[1:]]
        outputs = array.reshape(self._normalized(array.reshape(inputs, wanted), training), back)
        outputs.set_shape(shape)
        return outputs

    def _fused(self, inputs, training):
        beta = self.beta if self.center else self._beta_const
        gamma = self.gamma if self.scale else self._gamma_const
        options = {"epsilon": self.epsilon, "data_format": self._data_format}
        averages = {"mean": self.moving_mean, "variance": self.moving_variance, "is_training": False}
        output, mean, variance = smart_cond(
            training,
            lambda: nn_normalization.fused_batch_norm(inputs, gamma, beta, **options),
            lambda: nn_normalization.fused_batch_norm(inputs, gamma, beta, **averages, **options),
        )
        known = smart_constant_value(training)
        if known is None:
            momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = convert_to_tensor(self.momentum)
        if known or known is None:
            self.add_update(lambda: self._assign_moving_average(self.moving_mean, mean, momentum))
            self.add_update(lambda: self._assign_moving_average(self.moving_variance, variance, momentum))
        return output

    def _normalized(self, inputs, training):
        shape = inputs.shape
        rank = shape.rank
        reduction_axes = [i for i in range(rank) if i not in self.axis]
        if self.virtual_batch_size is not None:
            del reduction_axes[1]
        broadcast_shape = [1] * rank
        broadcast_shape[self.axis[0]] = shape.size(self.axis[0])

        def broadcast(v):
            if v is not None and len(v.shape) != rank and reduction_axes != list(range(rank - 1)):
                return array.reshape(v, broadcast_shape)
            return v

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        known = smart_constant_value(training)
        if known is not None and not known:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment is not None:
                adjust_scale, adjust_bias = self.adjustment(array.shape(inputs))
                adjust_scale = smart_cond(training, lambda: adjust_scale, lambda: array.ones_like(adjust_scale))
                adjust_bias = smart_cond(training, lambda: adjust_bias, lambda: array.zeros_like(adjust_bias))
                scale, offset = _composed(adjust_scale, adjust_bias, scale, offset)
            keep_dims = self.virtual_batch_size is not None or len(self.axis) > 1
            batch_mean, batch_variance = nn_normalization.moments(
                math.cast(inputs, self._param_dtype), reduction_axes, keep_dims=keep_dims
            )
            mean = smart_cond(training, lambda: batch_mean, lambda: self._value_of(self.moving_mean))
            variance = smart_cond(training, lambda: batch_variance, lambda: self._value_of(self.moving_variance))
            new_mean, new_variance = mean, variance
            if self.virtual_batch_size is not None:
                new_mean = math.reduce_mean(mean, axis=1, keepdims=True)
                new_variance = math.reduce_mean(variance, axis=1, keepdims=True)
            if self.renorm:
                r, d, new_mean, new_variance = self._renormalized(new_mean, new_variance, training)
                r = broadcast(array.stop_gradient(r, name="renorm_r"))
                d = broadcast(array.stop_gradient(d, name="renorm_d"))
                scale, offset = _composed(r, d, scale, offset)
            self._add_average_updates(new_mean, new_variance, training)
        mean, variance = math.cast(mean, inputs.dtype), math.cast(variance, inputs.dtype)
        offset = None if offset is None else math.cast(offset, inputs.dtype)
        scale = None if scale is None else math.cast(scale, inputs.dtype)
        outputs = nn_normalization.batch_normalization(
            inputs, broadcast(mean), broadcast(variance), offset, scale, self.epsilon
        )
        outputs.set_shape(shape)
        return outputs

    @staticmethod
    def _value_of(variable):
        is_plain = hasattr(variable, "value") and not hasattr(variable, "handle")
        return variable.value() if is_plain else convert_to_tensor(variable)

    def _add_average_updates(self, new_mean, new_variance, training):
        def move_mean():
            return self._assign_moving_average(self.moving_mean, new_mean, self.momentum)

        def move_variance():
            if not self.renorm:
                return self._assign_moving_average(self.moving_variance, new_variance, self.momentum)
            # The deviation is what is averaged; the variance follows from it.
            deviation = self._assign_moving_average(
                self.moving_stddev, math.sqrt(new_variance + self.epsilon), self.momentum
            )
            variance = nn.relu(deviation * deviation - self.epsilon)
            with name_scope("AssignNewValue") as scope, colocate_with(self.moving_variance.op):
                return state.assign(self.moving_variance, variance, name=scope)

        self.add_update(lambda: smart_cond(training, move_mean, lambda: self.moving_mean))
        self.add_update(lambda: smart_cond(training, move_variance, lambda: self.moving_variance))

    def _renormalized(self, mean, variance, training):
        """(r, d, mean, variance): corrections towards the moving averages, and what the averages are updated with."""
        deviation = math.sqrt(variance + self.epsilon)
        moving_mean = self.renorm_mean
        moving_deviation = math.maximum(self.renorm_stddev, math.sqrt(self.epsilon))
        r = deviation / moving_deviation
        d = (mean - moving_mean) / moving_deviation
        # The corrections use the averages as they were before this step.
        with control_dependencies([r, d]):
            mean, deviation = array.identity(mean), array.identity(deviation)
        low, high, limit = (self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        if low is not None:
            r = math.maximum(r, low)
        if high is not None:
            r = math.minimum(r, high)
        if limit is not None:
            d = math.minimum(math.maximum(d, -limit), limit)
        r = smart_cond(training, lambda: r, lambda: array.ones_like(r))
        d = smart_cond(training, lambda: d, lambda: array.zeros_like(d))

        def update(variable, value):
            value = array.identity(value)
            return smart_cond(
                training,
                lambda: self._assign_moving_average(variable, value, self.renorm_momentum),
                lambda: array.identity(variable),
            )

        updates = [update(self.renorm_mean, mean), update(self.renorm_stddev, deviation)]
        with control_dependencies(updates):
            return r, d, array.identity(mean), array.identity(variance)


class LayerNormalization(SameShape):
    """Each example scaled to zero mean and unit variance by itself, over the given axes.

    Args:
        axis: The axis or axes.
        epsilon: A small number that keeps a division from being one by zero.
        center: Whether an offset is added.
        scale: Whether the result is multiplied by a scale.
        beta_initializer: What the offset starts as.
        gamma_initializer: What the scale starts as.
        beta_regularizer: A function of the offset whose result is added to the losses.
        gamma_regularizer: A function of the scale whose result is added to the losses.
        beta_constraint: A function that gives the offset back as it may be.
        gamma_constraint: A function that gives the scale back as it may be.
        trainable: Whether the variables are among those that optimizers train.
        name: The layer's name; made from its class if None.
        **kwargs: What every layer takes: `name`, `dtype`, `trainable`, `input_shape` and the like.

    Example:
        >>> y = tf.keras.layers.LayerNormalization()(tf.constant([[1.0, 3.0]]))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(y)
        array([[-0.9995004,  0.9995005]], dtype=float32)
    """

    @takes(
        """axis=-1, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, trainable=True,
        name=None"""
    )
    def __init__(self, given, **kwargs):
        super().__init__(**kwargs)
        axis = given["axis"]
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(f"`axis` is an int or a list of ints, not {axis!r}.")
        self._keep_given(given, axis=axis if isinstance(axis, int) else list(axis))

    def build(self, input_shape):
        rank = len(input_shape)
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        self.axis = [axis + rank if axis < 0 else axis for axis in axes]
        for axis in self.axis:
            if axis < 0 or axis >= rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(self.axis) != len(set(self.axis)):
            raise ValueError(f"Duplicate axis: {tuple(self.axis)}")
        shape = [getattr(input_shape[axis], "value", input_shape[axis]) for axis in self.axis]
        # Inputs aren't cast to the type that a policy computes in, so weights aren't, either.
        as_they_are = {"experimental_autocast": False} if self._casts_variables else {}
        self.gamma = weight_of(self, "gamma", shape, **as_they_are) if self.scale else None
        self.beta = weight_of(self, "beta", shape, **as_they_are) if self.center else None

    def call(self, inputs):
        rank = inputs.shape.rank
        mean, variance = nn_normalization.moments(inputs, self.axis, keep_dims=True)
        broadcast_shape = [1] * rank
        for axis in self.axis:
            broadcast_shape[axis] = inputs.shape.dims[axis].value

        def broadcast(v):
            if v is not None and len(v.shape) != rank and self.axis != [rank - 1]:
                return array.reshape(v, broadcast_shape)
            return v

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        outputs = nn_normalization.batch_normalization(
            inputs, mean, variance, offset=offset, scale=scale, variance_epsilon=self.epsilon
        )
        outputs.set_shape(inputs.shape)
        return outputs
