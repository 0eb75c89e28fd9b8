"""Normalizing flows: bijectors of vectors whose shift and scale a network computes from the components before."""

from __future__ import annotations

import numpy as np

from everflow import layers
from everflow.contrib.distributions.bijectors.bijector import Bijector
from everflow.contrib.distributions.bijectors.composed import ConditionalBijector
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import while_loop
from everflow.ops.math.clip import clip_by_value
from everflow.ops.nn import activations as nn
from everflow.ops.nn.normalization import moments
from everflow.ops.variables.initializers import glorot_normal_initializer
from everflow.ops.variables.template import make_template


def _known_depth(x, error=NotImplementedError):
    """The size of the last dimension, for which networks are made."""
    depth = x.shape.with_rank_at_least(1).size(-1)
    if depth is None:
        raise error(f"The rightmost dimension must be known to draw the graph: {x.name} is of shape {x.shape}")
    return depth


class MaskedAutoregressiveFlow(ConditionalBijector):
    """`y[i] = x[i] * exp(log_scale(y[:i])) + shift(y[:i])`: forward calls the network once for each component.

    >>> flow = MaskedAutoregressiveFlow(masked_autoregressive_default_template(hidden_layers=[512, 512]))
    >>> maf = TransformedDistribution(Normal(0.0, 1.0), bijector=flow, event_shape=[2])
    """

    def __init__(
        self, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, unroll_loop=False, name=None
    ):
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        settings = {"is_constant_jacobian": is_constant_jacobian, "validate_args": validate_args}
        super().__init__(forward_min_event_ndims=1, **settings, name=name or "masked_autoregressive_flow")

    def _step(self, x, y, condition):
        shift, log_scale = self._shift_and_log_scale_fn(y, **condition)
        if log_scale is not None:
            x = x * math.exp(log_scale)
        return x if shift is None else x + shift

    def _forward(self, x, **condition_kwargs):
        if self._unroll_loop:
            size = _known_depth(x, ValueError)
            y = array.zeros_like(x, name="y0")
            for _ in range(size):
                y = self._step(x, y, condition_kwargs)
            return y
        size = array.shape(x)[-1]
        y0 = array.zeros_like(x, name="y0")
        # Called once before the loop, so that variables are made outside it.
        self._shift_and_log_scale_fn(y0, **condition_kwargs)
        known = x.shape.size(-1) if x.shape.ndims else None

        def step(i, y):
            y = self._step(x, y, condition_kwargs)
            return i + 1, y

        _, y = while_loop(lambda i, _: i < size, step, (0, y0), maximum_iterations=size if known is None else known)
        return y

    def _inverse(self, y, **condition_kwargs):
        shift, log_scale = self._shift_and_log_scale_fn(y, **condition_kwargs)
        x = y
        if shift is not None:
            x = x - shift
        return x if log_scale is None else x * math.exp(-log_scale)

    def _inverse_log_det_jacobian(self, y, **condition_kwargs):
        _, log_scale = self._shift_and_log_scale_fn(y, **condition_kwargs)
        if log_scale is None:
            return convert_to_tensor(0.0, dtype=y.dtype, name="ildj")
        return -math.reduce_sum(log_scale, axis=-1)


def _mask(num_blocks, n_in, n_out, exclusive):
    """1 where an output may see an input: those of its block and before, or before only."""
    mask = np.zeros([n_out, n_in], dtype=np.float32)
    wide_in, wide_out = n_in // num_blocks, n_out // num_blocks
    for block in range(num_blocks):
        begin = (block + 1) * wide_out if exclusive else block * wide_out
        mask[begin:, block * wide_in : (block + 1) * wide_in] = 1
    return mask


def masked_dense(
    inputs, units, num_blocks=None, exclusive=False, kernel_initializer=None, reuse=None, name=None, *args, **kwargs
):
    """A dense layer whose outputs see only the inputs of their block and the blocks before."""
    inputs = convert_to_tensor(inputs, name="inputs")
    depth = _known_depth(inputs)
    mask = _mask(num_blocks, depth, units, exclusive).T
    initializer = glorot_normal_initializer() if kernel_initializer is None else kernel_initializer

    def masked_initializer(shape, dtype=None, partition_info=None):
        return mask * initializer(shape, dtype, partition_info)

    with name_scope(name, "masked_dense", values=[inputs, units, num_blocks]):
        given = {"kernel_initializer": masked_initializer, "kernel_constraint": lambda x: mask * x}
        dtype = inputs.dtype.base_dtype
        layer = layers.Dense(units, *args, **given, name=name, dtype=dtype, _scope=name, _reuse=reuse, **kwargs)
        return layer.apply(inputs)


def masked_autoregressive_default_template(
    hidden_layers,
    shift_only=False,
    activation=nn.relu,
    log_scale_min_clip=-5.0,
    log_scale_max_clip=3.0,
    log_scale_clip_gradient=False,
    name=None,
    *args,
    **kwargs,
):
    """A network of masked dense layers for MaskedAutoregressiveFlow: a function of x that gives (shift, log_scale)."""
    name = name or "masked_autoregressive_default_template"
    clip = clip_by_value if log_scale_clip_gradient else _clip_keeping_gradient

    def shift_and_log_scale(x):
        x = convert_to_tensor(x, name="x")
        depth = _known_depth(x)
        static = x.shape
        shape = static if static.is_fully_defined() else array.shape(x)
        if x.shape.ndims == 1:
            x = x[None, ...]
        for i, units in enumerate(hidden_layers):
            settings = {"num_blocks": depth, "exclusive": i == 0, "activation": activation}
            x = masked_dense(x, units, *args, **settings, **kwargs)
        x = masked_dense(x, (1 if shift_only else 2) * depth, *args, num_blocks=depth, activation=None, **kwargs)
        if shift_only:
            return array.reshape(x, shape=shape), None
        x = array.reshape(x, shape=array.concat([shape, [2]], 0))
        shift, log_scale = array.unstack(x, num=2, axis=-1)
        return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

    with name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):
        return make_template(name, shift_and_log_scale)


def _clip_keeping_gradient(x, low, high):
    with name_scope("clip_by_value_preserve_grad", values=[x, low, high]):
        return x + array.stop_gradient(clip_by_value(x, low, high) - x)


class RealNVP(ConditionalBijector):
    """The first `num_masked` components stay; the others are shifted and scaled by what a network makes of those."""

    def __init__(self, num_masked, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, name=None):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._input_depth = None
        settings = {"is_constant_jacobian": is_constant_jacobian, "validate_args": validate_args}
        super().__init__(forward_min_event_ndims=1, **settings, name=name or "real_nvp")

    def _untouched(self, x):
        self._learn_depth(x)
        return x[:, : self._num_masked] if x.shape.ndims == 2 else x[..., : self._num_masked]

    def _parts(self, x):
        return self._untouched(x), x[:, self._num_masked :] if x.shape.ndims == 2 else x[..., self._num_masked :]

    def _learn_depth(self, x):
        if self._input_depth is None:
            depth = _known_depth(x)
            if self._num_masked >= depth:
                raise ValueError(f"num_masked={self._num_masked} leaves nothing to map of events of size {depth}")
            self._input_depth = depth

    def _of(self, kept, condition):
        return self._shift_and_log_scale_fn(kept, self._input_depth - self._num_masked, **condition)

    def _forward(self, x, **condition_kwargs):
        kept, x1 = self._parts(x)
        shift, log_scale = self._of(kept, condition_kwargs)
        if log_scale is not None:
            x1 = x1 * math.exp(log_scale)
        if shift is not None:
            x1 = x1 + shift
        return array.concat([kept, x1], axis=-1)

    def _inverse(self, y, **condition_kwargs):
        kept, y1 = self._parts(y)
        shift, log_scale = self._of(kept, condition_kwargs)
        if shift is not None:
            y1 = y1 - shift
        if log_scale is not None:
            y1 = y1 * math.exp(-log_scale)
        return array.concat([kept, y1], axis=-1)

    def _inverse_log_det_jacobian(self, y, **condition_kwargs):
        _, log_scale = self._of(self._untouched(y), condition_kwargs)
        if log_scale is None:
            return convert_to_tensor(0.0, dtype=y.dtype, name="ildj")
        return -math.reduce_sum(log_scale, axis=-1)

    def _forward_log_det_jacobian(self, x, **condition_kwargs):
        _, log_scale = self._of(self._untouched(x), condition_kwargs)
        if log_scale is None:
            return convert_to_tensor(0.0, dtype=x.dtype, name="fldj")
        return math.reduce_sum(log_scale, axis=-1)


def real_nvp_default_template(hidden_layers, shift_only=False, activation=nn.relu, name=None, *args, **kwargs):
    """A network of dense layers for RealNVP: a function of x and the size of its outputs that gives (shift, log_scale)."""
    name = name or "real_nvp_default_template"

    def shift_and_log_scale(x, output_units):
        x = convert_to_tensor(x, name="x")
        rank_one = x.shape.ndims == 1
        if rank_one:
            x = x[None, ...]
        for units in hidden_layers:
            x = layers.dense(inputs=x, units=units, activation=activation, *args, **kwargs)  # noqa: B026
        units = (1 if shift_only else 2) * output_units
        x = layers.dense(*args, inputs=x, units=units, activation=None, **kwargs)
        if rank_one:
            x = x[0]
        return (x, None) if shift_only else tuple(array.split(x, 2, axis=-1))

    with name_scope(name):
        return make_template(name, shift_and_log_scale)


class BatchNormalization(Bijector):
    """Batch normalization as a bijector: `inverse` normalizes, `forward` undoes it with the moving averages."""

    def __init__(self, batchnorm_layer=None, training=True, validate_args=False, name="batch_normalization"):
        default = {"trainable": True, "gamma_constraint": lambda x: nn.relu(x) + 1e-6, "gamma_regularizer": None}
        self.batchnorm = batchnorm_layer or layers.BatchNormalization(**default)
        if not isinstance(self.batchnorm, layers.BatchNormalization):
            raise ValueError(f"batchnorm_layer must be a tf.layers.BatchNormalization, not {batchnorm_layer!r}")
        self._training = training
        axes = self.batchnorm.axis
        normalized = len(axes) if isinstance(axes, (list, tuple)) else 1
        super().__init__(forward_min_event_ndims=normalized, validate_args=validate_args, name=name)

    def _axes(self, x):
        ndims = x.shape.ndims
        axes = self.batchnorm.axis
        kept = [a % ndims for a in (axes if isinstance(axes, (list, tuple)) else [axes])]
        return [i for i in range(ndims) if i not in kept], kept

    def _forward(self, y):
        if not self.batchnorm.built:
            self.batchnorm.build(y.shape)
        norm = self.batchnorm
        with name_scope("undo_batchnorm", values=[y]):
            rescale = math.sqrt(self._around(norm.moving_variance, y) + norm.epsilon)
            if norm.gamma is not None:
                rescale = rescale / self._around(norm.gamma, y)
            scaled = y * rescale
            mean = self._around(norm.moving_mean, y)
            return scaled + (mean if norm.beta is None else mean - self._around(norm.beta, y) * rescale)

    def _around(self, value, y):
        """A variable of the layer in a shape that goes with `y`: as it is for a last axis."""
        _, kept = self._axes(y)
        if kept == [y.shape.ndims - 1]:
            return value
        return array.reshape(value, [y.shape.size(i) if i in kept else 1 for i in range(y.shape.ndims)])

    def _inverse(self, y):
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x):
        return -self._inverse_log_det_jacobian(x, use_saved_statistics=True)

    def _inverse_log_det_jacobian(self, y, use_saved_statistics=False):
        if not self.batchnorm.built:
            self.batchnorm.build(y.shape)
        axes, _ = self._axes(y)
        if use_saved_statistics or not self._training:
            log_variance = math.log(self.batchnorm.moving_variance + self.batchnorm.epsilon)
        else:
            log_variance = math.log(moments(y, axes)[1] + self.batchnorm.epsilon)
        log_gamma = 0.0
        if self.batchnorm.gamma is not None:
            log_gamma = math.reduce_sum(math.log(self.batchnorm.gamma))
        return log_gamma - 0.5 * math.reduce_sum(log_variance)
