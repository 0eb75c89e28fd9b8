"""Normalization that needs no batch: over layers, instances, groups of channels, or one dimension."""

from __future__ import annotations

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers.model_variables import COLLECTED, layer_variable
from everflow.contrib.layers.outputs import activated, check_data_format, known_rank
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.variables import initializers
from everflow.ops.variables.scope import variable_scope
from everflow.platform.signatures import takes


def _parameter(name, shape, dtype, initial_values, given):
    """beta, which starts at zero, or gamma, which starts at one."""
    default = initializers.zeros_initializer() if name == "beta" else initializers.ones_initializer()
    start = (initial_values or {}).get(name, default)
    return layer_variable(name, shape, dtype, start, given["variables_collections"], given["trainable"])


@add_arg_scope
@takes(COLLECTED)
def layer_norm(
    inputs, center=True, scale=True, activation_fn=None, *, begin_norm_axis=1, begin_params_axis=-1, scope=None, **given
):
    """Each example at zero mean and unit variance over the dimensions from `begin_norm_axis` on; Ba et al. (2016).

    Args:
        inputs: The tensor to work on.
        center: Whether an offset is added.
        scale: Whether the result is multiplied by a scale.
        activation_fn: The function applied to the result; None leaves it as it is.
        reuse: Whether variables that are there are used again: True, None to do as the scope around, or
            `tf.AUTO_REUSE`.
        variables_collections: The collections variables are added to; a list, or lists by variable.
        outputs_collections: The collection the result is added to.
        trainable: Whether the variables are among those that optimizers train.
        begin_norm_axis: The first dimension that is normalized.
        begin_params_axis: The first dimension of offset and scale.
        scope: The variable scope.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: If a dimension isn't known, or axes don't fit.

    Example:
        >>> y = tf.contrib.layers.layer_norm(tf.constant([[1.0, 3.0]]))
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(y)
        array([[-1.,  1.]], dtype=float32)
    """
    with variable_scope(scope, "LayerNorm", [inputs], reuse=given["reuse"]) as sc:
        inputs = convert_to_tensor(inputs)
        shape, rank = inputs.shape, known_rank(inputs)
        dtype = inputs.dtype.base_dtype
        if begin_norm_axis < 0:
            begin_norm_axis = rank + begin_norm_axis
        if begin_params_axis >= rank or begin_norm_axis >= rank:
            given = f"begin_norm_axis={begin_norm_axis} and begin_params_axis={begin_params_axis}"
            raise ValueError(f"{inputs.name} has {rank} dimensions, {given} must be among them")
        params_shape = shape[begin_params_axis:]
        if not params_shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: {shape}")
        beta = _parameter("beta", params_shape, dtype, None, given) if center else None
        gamma = _parameter("gamma", params_shape, dtype, None, given) if scale else None
        mean, variance = nn.moments(inputs, list(range(begin_norm_axis, rank)), keep_dims=True)
        # Half precision would round the small number away.
        epsilon = 1e-12 if dtype != dtypes.float16 else 1e-3
        outputs = nn.batch_normalization(inputs, mean, variance, offset=beta, scale=gamma, variance_epsilon=epsilon)
        outputs.set_shape(shape)
        return activated(outputs, activation_fn, given["outputs_collections"], sc)


@add_arg_scope
@takes({**COLLECTED, "data_format": "NHWC", "scope": None})
def instance_norm(inputs, center=True, scale=True, epsilon=1e-6, activation_fn=None, param_initializers=None, **given):
    """Each channel of each example at zero mean and unit variance; Ulyanov et al. (2016)."""
    inputs = convert_to_tensor(inputs)
    shape, rank = inputs.shape, known_rank(inputs)
    check_data_format(given["data_format"], "NCHW", "NHWC")
    with variable_scope(given["scope"], "InstanceNorm", [inputs], reuse=given["reuse"]) as sc:
        first = given["data_format"] == "NCHW"
        axis = 1 if first else rank - 1
        channels = shape.size(axis)
        if channels is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {TensorShape([None])}.")
        dtype = inputs.dtype.base_dtype

        def parameter(name):
            made = _parameter(name, TensorShape([channels]), dtype, param_initializers, given)
            return array.reshape(made, [1, channels] + [1] * (rank - 2)) if first else made

        beta = parameter("beta") if center else None
        gamma = parameter("gamma") if scale else None
        mean, variance = nn.moments(inputs, [i for i in range(1, rank) if i != axis], keep_dims=True)
        outputs = nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs.set_shape(shape)
        return activated(outputs, activation_fn, given["outputs_collections"], sc)


def _checked_axes(inputs, channels_axis, reduction_axes):
    """The axis of channels and those of space counted from the front; all of known size."""
    rank = inputs.shape.rank
    axis, *reduced = [a + rank if a < 0 else a for a in (channels_axis, *reduction_axes)]
    if axis >= rank or any(a > rank for a in reduced):
        raise ValueError(f"Axis is out of bounds: {inputs.name} has {rank} dimensions.")
    for a in (axis, *reduced):
        if inputs.shape.size(a) is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {a}.")
    if axis in reduced:
        raise ValueError(f"Axis {axis} is in reduction_axes and is channels_axis, too; these are reduced anyway.")
    return axis, reduced


@add_arg_scope
@takes({**COLLECTED, "scope": None, "mean_close_to_zero": False})
def group_norm(
    inputs,
    groups=32,
    channels_axis=-1,
    reduction_axes=(-3, -2),
    center=True,
    scale=True,
    epsilon=1e-6,
    activation_fn=None,
    param_initializers=None,
    **given,
):
    """Groups of channels of each example at zero mean and unit variance; Wu and He (2018)."""
    inputs = convert_to_tensor(inputs)
    rank = known_rank(inputs)
    axis, reduced = _checked_axes(inputs, channels_axis, reduction_axes)
    dynamic = array.shape(inputs)
    sizes = [dynamic[i] if d.value is None else d.value for i, d in enumerate(inputs.shape.dims)]
    channels = inputs.shape.size(axis)
    if channels % groups != 0:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    inside = channels // groups
    # The channels become two dimensions, groups and what is in each; dimensions after them move on by one.
    moments_axes = [axis + 1, *(a if a < axis else a + 1 for a in reduced)]
    grouped_shape = [*sizes[:axis], groups, inside, *sizes[axis + 1 :]]
    static = inputs.shape
    params_shape = [1] * (rank + 1)
    params_shape[axis], params_shape[axis + 1] = groups, inside
    inputs = array.reshape(inputs, grouped_shape)
    with variable_scope(given["scope"], "GroupNorm", [inputs], reuse=given["reuse"]) as sc:
        dtype = inputs.dtype.base_dtype

        def parameter(name):
            made = _parameter(name, TensorShape([channels]), dtype, param_initializers, given)
            return array.reshape(made, params_shape)

        beta = parameter("beta") if center else None
        gamma = parameter("gamma") if scale else None
        if given["mean_close_to_zero"]:
            # One pass, exact enough where the mean is small.
            counts, mean_sum, variance_sum, _ = nn.sufficient_statistics(inputs, moments_axes, keep_dims=True)
            mean, variance = nn.normalize_moments(counts, mean_sum, variance_sum, shift=None)
        else:
            mean, variance = nn.moments(inputs, moments_axes, keep_dims=True)
        gain = math.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain, offset = gain * gamma, offset * gamma
        if beta is not None:
            offset = offset + beta
        outputs = array.reshape(inputs * gain + offset, sizes)
        outputs.set_shape(static)
        return activated(outputs, activation_fn, given["outputs_collections"], sc)


@add_arg_scope
def unit_norm(inputs, dim, epsilon=1e-7, scope=None):
    """Inputs divided by their length along one dimension."""
    with variable_scope(scope, "UnitNorm", [inputs]):
        if not inputs.get_shape():
            raise ValueError("The input rank must be known.")
        rank = len(inputs.get_shape().as_list())
        if dim < 0 or dim >= rank:
            raise ValueError(f"dim must be one of the {rank} dimensions of {inputs.name}, not {dim}")
        lengths = math.sqrt(epsilon + math.reduce_sum(math.square(inputs), dim, keepdims=True))
        before = [array.ones([dim], dtypes.int32)] if dim > 0 else []
        size = array.strided_slice(array.shape(inputs), [dim], [dim + 1])
        behind = [array.ones([rank - 1 - dim], dtypes.int32)] if dim < rank - 1 else []
        multiples = [*before, size, *behind]
        return math.div(inputs, array.tile(lengths, array.concat(multiples, 0)))


def poincare_normalize(x, axis=1, epsilon=1e-5, name=None):
    """Vectors drawn into the open unit ball: those longer than 1 - `epsilon` are made so long.

    Args:
      x: A tensor.
      axis: The dimension of the vectors.
      epsilon: How far from the ball's border they stay.
      name: The name of the operation.

    Returns:
      A tensor of the shape of `x`.
    """
    with name_scope(name, "poincare_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        square = math.reduce_sum(math.square(x), axis, keepdims=True)
        shorter = math.minimum((1.0 - epsilon) * math.rsqrt(square), 1.0)
        return math.multiply(x, shorter, name=name)
