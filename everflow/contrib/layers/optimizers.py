"""`optimize_loss`: gradients, their clipping, noise and scaling, the update, and summaries of it all in one call."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_collection
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import with_dependencies
from everflow.ops.io import summaries as summary
from everflow.ops.math import clip
from everflow.ops.random import distributions as random
from everflow.ops.variables import initializers
from everflow.ops.variables.global_step import assert_global_step, get_global_step
from everflow.ops.variables.scope import get_variable, variable_scope
from everflow.ops.variables.variable import trainable_variables
from everflow.train import (
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    Optimizer,
    RMSPropOptimizer,
)
from everflow.train.moving_averages import assign_moving_average

OPTIMIZER_CLS_NAMES = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": lambda learning_rate: MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]


def optimize_loss(loss, global_step, learning_rate, optimizer, gradient_noise_scale=None, gradient_multipliers=None, clip_gradients=None,
                  learning_rate_decay_fn=None, update_ops=None, variables=None, name=None, summaries=None,
                  colocate_gradients_with_ops=False, increment_global_step=True):  # fmt: skip
    """A tensor of the loss which, when run, also takes one training step.

    Args:
        loss: The loss, a scalar.
        global_step: The variable that counts steps.
        learning_rate: How far a step goes, or None where the optimizer knows it.
        optimizer: A name (`SGD`, `Adam`, …), a class, an object, or a function from a learning rate to one.
        gradient_noise_scale: How much noise is added to gradients.
        gradient_multipliers: Factors of gradients, by variable.
        clip_gradients: The greatest global norm, or a function of gradients and variables that gives such pairs.
        learning_rate_decay_fn: A function of rate and step that gives the rate.
        update_ops: Operations to run before; those of `UPDATE_OPS` if None.
        variables: The variables to train; all if None.
        name: The name scope of its operations.
        summaries: Which summaries are made.
        colocate_gradients_with_ops: Whether gradients go to the devices of the operations they are of.
        increment_global_step: Whether the step is counted.

    Returns:
        A scalar.

    Raises:
        ValueError: If an argument isn't possible.

    Example:
        >>> w, count = tf.Variable(1.0), tf.train.get_or_create_global_step()
        >>> step = tf.contrib.layers.optimize_loss(tf.square(w), count, 0.1, "SGD")
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step), sess.run(w)
        (np.float32(1.0), np.float32(0.8))
    """
    loss = convert_to_tensor(loss)
    if loss.get_shape().ndims not in (None, 0):
        raise ValueError(f"Expected scalar shape for {loss.name}, saw shape: {loss.get_shape()}.")
    if global_step is None:
        global_step = get_global_step()
    else:
        assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        # What a batch updates, moving averages above all, comes before the step.
        update_ops = set(get_collection(GraphKeys.UPDATE_OPS)) if update_ops is None else update_ops
        if update_ops:
            loss = with_dependencies(list(update_ops), loss)
        rate = _learning_rate(learning_rate, learning_rate_decay_fn, global_step)
        summaries = ["loss", "learning_rate", "global_gradient_norm"] if summaries is None else summaries
        for wanted in summaries:
            if wanted not in OPTIMIZER_SUMMARIES:
                raise ValueError(f"There is no summary {wanted!r}; there are {', '.join(OPTIMIZER_SUMMARIES)}.")
        if learning_rate is not None and learning_rate_decay_fn is not None and "learning_rate" in summaries:
            summary.scalar("learning_rate", rate)
        opt = _optimizer(optimizer, rate)
        variables = trainable_variables() if variables is None else variables
        gradients = opt.compute_gradients(loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            gradients = _with_noise(gradients, gradient_noise_scale)
        if gradient_multipliers is not None:
            gradients = _multiplied(gradients, gradient_multipliers)
        if "global_gradient_norm" in summaries or "gradient_norm" in summaries:
            summary.scalar("global_norm/gradient_norm", clip.global_norm([g for g, _ in gradients]))
        if clip_gradients is not None:
            gradients = _clipped(gradients, clip_gradients)
        if "loss" in summaries:
            summary.scalar("loss", loss)
        _summarize(gradients, summaries, clipped=clip_gradients is not None)
        step = opt.apply_gradients(gradients, global_step=global_step if increment_global_step else None, name="train")
        return with_dependencies([step], loss)


def _learning_rate(given, decay, global_step):
    if given is None:
        return None
    if isinstance(given, Tensor) and given.get_shape().ndims == 0:
        rate = given
    elif isinstance(given, float):
        if given < 0.0:
            raise ValueError("Invalid learning_rate %s.", given)
        rate = get_variable("learning_rate", [], trainable=False, initializer=initializers.constant_initializer(given))
    else:
        raise ValueError(f"learning_rate must be a float or a scalar tensor, not {given!r}")
    if decay is not None:
        if global_step is None:
            raise ValueError("learning_rate_decay_fn needs a global_step: make one with tf.train.create_global_step()")
        rate = decay(rate, global_step)
    return rate


def _optimizer(given, rate):
    if isinstance(given, Optimizer):
        return given
    by_name = isinstance(given, str)
    if by_name or (isinstance(given, type) and issubclass(given, Optimizer)):
        if rate is None:
            raise ValueError(f"Learning rate is None; the optimizer {given!r} is made with one.")
        if by_name and given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(f"Optimizer name {given!r} is not one of {', '.join(OPTIMIZER_CLS_NAMES)}.")
        return (OPTIMIZER_CLS_NAMES[given] if by_name else given)(learning_rate=rate)
    made = given
    if callable(given):
        made = given(rate) if rate is not None else given()
    if not isinstance(made, Optimizer):
        wanted = "a name, a subclass of Optimizer, an Optimizer, or a function that returns one"
        raise ValueError(f"Unrecognized optimizer {made!r}: {wanted} is wanted.")
    return made


def _values(gradient):
    return gradient.values if isinstance(gradient, IndexedSlices) else gradient


def _summarize(gradients, wanted, clipped):
    for gradient, variable in gradients:
        if gradient is None:
            continue
        tag = variable.name.replace(":", "_")
        if "gradients" in wanted:
            summary.histogram("gradients/" + tag, _values(gradient))
        if "gradient_norm" in wanted:
            summary.scalar("gradient_norm/" + tag, clip.global_norm([_values(gradient)]))
    if clipped and ("global_gradient_norm" in wanted or "gradient_norm" in wanted):
        summary.scalar("global_norm/clipped_gradient_norm", clip.global_norm([g for g, _ in gradients]))


def _clipped(gradients, how):
    """Gradients scaled down to a global norm, or as a function does it."""
    if callable(how):
        return how(gradients)
    if not isinstance(how, float):
        raise ValueError(f"clip_gradients must be a float or a function, not {how!r}")
    values, variables = zip(*gradients)
    return list(zip(clip.clip_by_global_norm(values, how)[0], variables))


def _with_noise(gradients, scale):
    """Each gradient plus noise of this size."""
    noisy = []
    for gradient, variable in gradients:
        if gradient is not None:
            dense = gradient.dense_shape if isinstance(gradient, IndexedSlices) else gradient.get_shape()
            noise = random.truncated_normal(dense) * scale
            gradient = gradient + noise
        noisy.append((gradient, variable))
    return noisy


def _multiplied(gradients, multipliers):
    """Gradients scaled by what is given for their variables, or for their names."""
    result = []
    for gradient, variable in gradients:
        factor = multipliers.get(variable if variable in multipliers else variable.name)
        if isinstance(gradient, Tensor) and factor is not None:
            factor = math.cast(factor, gradient.dtype)
        result.append((gradient if factor is None else _times(gradient, factor), variable))
    return result


def _times(gradient, factor):
    """A gradient of any kind scaled; None, where a variable has none, stays."""
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor


def _largest_normal_norm(norm, std_factor, decay, global_step, epsilon, name):
    """(a bound on the gradient's norm from how its logarithm was distributed so far, that logarithm's mean)."""
    with variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = math.log(norm + epsilon)

        def averaged(label, value, rate):
            zeros = initializers.zeros_initializer()
            average = get_variable(label, value.get_shape(), value.dtype, initializer=zeros, trainable=False)
            return assign_moving_average(average, value, rate, zero_debias=False)

        # The first steps count more, until there are enough of them.
        if global_step is not None:
            n = math.cast(global_step, dtypes.float32)
            decay = math.minimum(decay, n / (n + 1.0))
        mean = averaged("mean", log_norm, decay)
        square_mean = averaged("sq_mean", math.square(log_norm), decay)
        variance = square_mean - math.square(mean)
        deviation = math.sqrt(math.maximum(epsilon, variance))
        return math.exp(mean + std_factor * deviation), mean


def adaptive_clipping_fn(
    std_factor=2.0, decay=0.95, static_max_norm=None, global_step=None, report_summary=False, epsilon=1e-8, name=None
):
    """A function for `clip_gradients` that scales gradients down which are much larger than they used to be."""

    def gradient_clipping(grads_and_vars):
        grads_and_vars = list(grads_and_vars)
        norm = clip.global_norm([gradient for gradient, _ in grads_and_vars])
        bound, log_mean = _largest_normal_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            summary.scalar("global_norm/adaptive_max_gradient_norm", bound)
        factor = array.where(norm < bound, array.ones_like(norm), math.exp(log_mean) / norm)
        if static_max_norm is not None:
            factor = math.minimum(static_max_norm / norm, factor)
        return [(_times(gradient, factor), variable) for gradient, variable in grads_and_vars]

    return gradient_clipping
