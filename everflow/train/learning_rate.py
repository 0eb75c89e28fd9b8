"""Learning rates that change with the step: decays, restarts, steps.

Each is a tensor; in eager mode a function without arguments, which optimizers call at each step.
"""

from __future__ import annotations

import functools
import math as python_math

from everflow.framework import dtypes, nest
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import executing_eagerly, name_scope
from everflow.ops import math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import case, cond
from everflow.ops.random.distributions import random_normal
from everflow.platform.signatures import standing_for


def _schedule(function):
    """Let a schedule be computed at once in a graph, and at each call in eager mode."""

    @standing_for(function)
    def schedule(*args, **kwargs):
        if executing_eagerly():
            return functools.partial(function, *args, **kwargs)
        return function(*args, **kwargs)

    return schedule


def _decays(learning_rate, global_step, decay_steps, decay_rate, staircase):
    """The rate to begin with and how it decays, of one type, and how many decays there have been."""
    initial = convert_to_tensor(learning_rate, name="initial_learning_rate")
    decay_steps, decay_rate = _cast(initial.dtype, decay_steps, decay_rate)
    decays = math.cast(global_step, initial.dtype) / decay_steps
    return initial, decay_rate, math.floor(decays) if staircase else decays


@_schedule
def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """`learning_rate * decay_rate ** (global_step / decay_steps)`; with `staircase` the quotient is rounded down.

    Args:
        learning_rate: The rate at the first step.
        global_step: The variable, or number, that counts steps.
        decay_steps: How many steps the decay takes, or one unit of it.
        decay_rate: The factor for each unit of decay.
        staircase: Whether the rate changes only when a unit is full.
        name: The name of the operation in the graph.

    Returns:
        A scalar tensor; when executing eagerly, a function without arguments that gives it.

    Raises:
        ValueError: If `global_step` is None.

    Example:
        >>> sess.run(tf.train.exponential_decay(0.1, 1500, 1000, 0.5, staircase=True))
        np.float32(0.05)
    """
    with name_scope(name, "ExponentialDecay", [learning_rate, global_step, decay_steps, decay_rate]) as name:
        initial, decay_rate, p = _decays(learning_rate, global_step, decay_steps, decay_rate, staircase)
        return math.multiply(initial, math.pow(decay_rate, p), name=name)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`.

    Args:
        learning_rate: The rate at the first step.
        global_step: The variable, or number, that counts steps.
        decay_steps: How many steps the decay takes, or one unit of it.
        decay_rate: The factor for each unit of decay.
        staircase: Whether the rate changes only when a unit is full.
        name: The name of the operation in the graph.

    Returns:
        A scalar tensor; when executing eagerly, a function without arguments that gives it.

    Raises:
        ValueError: If `global_step` is None.

    Example:
        >>> sess.run(tf.train.natural_exp_decay(0.1, 1000, 1000, 1.0))
        np.float32(0.036787946)
    """
    return exponential_decay(
        learning_rate, global_step, decay_steps, math.exp(math.negative(decay_rate)), staircase=staircase, name=name
    )


@_schedule
def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`.

    Args:
        learning_rate: The rate at the first step.
        global_step: The variable, or number, that counts steps.
        decay_steps: How many steps the decay takes, or one unit of it.
        decay_rate: The factor for each unit of decay.
        staircase: Whether the rate changes only when a unit is full.
        name: The name of the operation in the graph.

    Returns:
        A scalar tensor; when executing eagerly, a function without arguments that gives it.

    Raises:
        ValueError: If `global_step` is None.

    Example:
        >>> sess.run(tf.train.inverse_time_decay(0.1, 1000, 1000, 1.0))
        np.float32(0.05)
    """
    with name_scope(name, "InverseTimeDecay", [learning_rate, global_step, decay_rate]) as name:
        initial, decay_rate, p = _decays(learning_rate, global_step, decay_steps, decay_rate, staircase)
        one = math.cast(constant(1), initial.dtype)
        return math.divide(initial, math.add(one, math.multiply(decay_rate, p)), name=name)


@_schedule
def polynomial_decay(
    learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None
):
    """From `learning_rate` to `end_learning_rate` in `decay_steps`, along a power; with `cycle`, in ever longer rounds.

    Args:
        learning_rate: The rate at the first step.
        global_step: The variable, or number, that counts steps.
        decay_steps: How many steps the decay takes, or one unit of it.
        end_learning_rate: The rate at the end.
        power: The power.
        cycle: Whether it starts again, in ever longer rounds.
        name: The name of the operation in the graph.

    Returns:
        A scalar tensor; when executing eagerly, a function without arguments that gives it.

    Raises:
        ValueError: If `global_step` is None.

    Example:
        >>> sess.run(tf.train.polynomial_decay(0.1, 50, 100, end_learning_rate=0.0))
        np.float32(0.05)
    """
    with name_scope(
        name, "PolynomialDecay", [learning_rate, global_step, decay_steps, end_learning_rate, power]
    ) as name:
        initial = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = initial.dtype
        end_learning_rate, power = _cast(dtype, end_learning_rate, power)
        step = math.cast(global_step, dtype)
        steps = math.cast(decay_steps, dtype)
        if cycle:
            rounds = cond(math.equal(step, 0), lambda: 1.0, lambda: math.ceil(step / decay_steps))
            steps = math.multiply(steps, rounds)
        else:
            step = math.minimum(step, decay_steps)
        p = math.divide(step, steps)
        return math.add(
            math.multiply(initial - end_learning_rate, math.pow(1 - p, power)), end_learning_rate, name=name
        )


@_schedule
def piecewise_constant(x, boundaries, values, name=None):
    """`values[0]` up to `boundaries[0]`, then `values[1]`, and so on; one value more than boundaries.

    Args:
        x: The number, most often the global step.
        boundaries: The numbers at which the value changes, ascending.
        values: The values.
        name: The name of the operation in the graph.

    Returns:
        A scalar tensor; when executing eagerly, a function without arguments that gives it.

    Raises:
        ValueError: If there isn't one value more than boundaries, or types differ.

    Example:
        >>> step = tf.placeholder(tf.int32, [])
        >>> rate = tf.train.piecewise_constant(step, [100, 200], [1.0, 0.5, 0.1])
        >>> [float(sess.run(rate, {step: n})) for n in (100, 101)]
        [1.0, 0.5]
    """
    boundaries = [convert_to_tensor(b) for b in nest.flatten(boundaries)]
    values = [convert_to_tensor(v) for v in nest.flatten(values)]
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            f"The length of boundaries should be 1 less: there are {len(boundaries)} between {len(values)} values"
        )
    x_converted = convert_to_tensor(x)
    for i, b in enumerate(boundaries):
        if b.dtype.base_dtype != x_converted.dtype.base_dtype:
            # Integers given in Python are int32, the global step is int64.
            if b.dtype.base_dtype == dtypes.int32 and x_converted.dtype.base_dtype == dtypes.int64:
                boundaries[i] = math.cast(b, x_converted.dtype.base_dtype)
            else:
                raise ValueError(
                    f"Boundaries are compared with x and have the same dtype, {x_converted.dtype.base_dtype!r}, "
                    f"not {b.dtype.base_dtype!r}"
                )
    for v in values[1:]:
        if v.dtype.base_dtype != values[0].dtype.base_dtype:
            raise ValueError(
                f"Values all have the same dtype, not {values[0].dtype.base_dtype!r} and {v.dtype.base_dtype!r}"
            )
    with name_scope(name, "PiecewiseConstant", [x_converted, boundaries, values, name]):
        pairs = [(x_converted <= boundaries[0], lambda: values[0]), (x_converted > boundaries[-1], lambda: values[-1])]
        for low, high, v in zip(boundaries[:-1], boundaries[1:], values[1:-1], strict=True):
            pairs.append(((x_converted > low) & (x_converted <= high), lambda v=v: v))
        # One of them always holds; `case` wants a default all the same.
        return case(pairs, lambda: values[0], exclusive=True)


piecewise_constant_decay = piecewise_constant


@_schedule
def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    """Half a cosine from `learning_rate` to `alpha` of it in `decay_steps`.

    Args:
        learning_rate: The rate at the first step.
        global_step: The variable, or number, that counts steps.
        decay_steps: How many steps the decay takes, or one unit of it.
        alpha: The part of the learning rate that is left at the end.
        name: The name of the operation in the graph.

    Returns:
        A scalar tensor; when executing eagerly, a function without arguments that gives it.

    Raises:
        ValueError: If `global_step` is None.

    Example:
        >>> sess.run(tf.train.cosine_decay(0.1, 50, decay_steps=100))
        np.float32(0.049999997)
    """
    with name_scope(name, "CosineDecay", [learning_rate, global_step]):
        initial = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = initial.dtype
        decay_steps = math.cast(decay_steps, dtype)
        step = math.minimum(math.cast(global_step, dtype), decay_steps)
        decayed = (1 - alpha) * _half_cosine(step / decay_steps) + alpha
        return math.multiply(initial, decayed)


def _cast(dtype, *values):
    """All numbers of a schedule in the learning rate's type."""
    return [math.cast(value, dtype) for value in values]


def _half_cosine(fraction):
    return 0.5 * (1.0 + math.cos(constant(python_math.pi) * fraction))


@_schedule
def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    """Cosine decay that starts again: each period `t_mul` times as long, from `m_mul` times the rate.

    Args:
        learning_rate: The rate at the first step.
        global_step: The variable, or number, that counts steps.
        first_decay_steps: How long the first period is.
        t_mul: How much longer each period is than the one before.
        m_mul: How the rate of each period is to that of the one before.
        alpha: The part of the learning rate that is left at the end.
        name: The name of the operation in the graph.

    Returns:
        A scalar tensor; when executing eagerly, a function without arguments that gives it.

    Raises:
        ValueError: If `global_step` is None.

    Example:
        >>> sess.run(tf.train.cosine_decay_restarts(0.1, 150, first_decay_steps=100))
        np.float32(0.08535534)
    """
    with name_scope(name, "SGDRDecay", [learning_rate, global_step]) as name:
        initial = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = initial.dtype
        first_decay_steps, alpha, t_mul, m_mul = _cast(dtype, first_decay_steps, alpha, t_mul, m_mul)
        fraction = math.cast(global_step, dtype) / first_decay_steps

        def growing():
            restart = math.floor(math.log(1.0 - fraction * (1.0 - t_mul)) / math.log(t_mul))
            before = (1.0 - t_mul**restart) / (1.0 - t_mul)
            return restart, (fraction - before) / t_mul**restart

        def equal():
            restart = math.floor(fraction)
            return restart, fraction - restart

        restart, fraction_of_period = cond(math.equal(t_mul, 1.0), equal, growing)
        scale = m_mul**restart
        cosine = 0.5 * scale * (1.0 + math.cos(constant(python_math.pi) * fraction_of_period))
        decayed = (1 - alpha) * cosine + alpha
        return math.multiply(initial, decayed, name=name)


def _linear_cosine(learning_rate, global_step, decay_steps, noise, num_periods, alpha, beta, name):
    """A line times a cosine; `noise` has the variance at the start and its decay, or nothing for a line without any."""
    initial = convert_to_tensor(learning_rate, name="initial_learning_rate")
    decay_steps, *noise, num_periods, alpha, beta = _cast(initial.dtype, decay_steps, *noise, num_periods, alpha, beta)
    step = math.minimum(math.cast(global_step, initial.dtype), decay_steps)
    line = (decay_steps - step) / decay_steps
    if noise:
        variance, variance_decay = noise
        deviation = math.sqrt(variance / math.pow(1.0 + step, variance_decay))
        line = line + random_normal(line.shape, stddev=deviation)
    fraction = step / decay_steps
    cosine = _half_cosine(2.0 * num_periods * fraction)
    return math.multiply(initial, (alpha + line) * cosine + beta, name=name)


@_schedule
def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    """A straight line times a cosine of `num_periods` periods.

    Args:
        learning_rate: The rate at the first step.
        global_step: The variable, or number, that counts steps.
        decay_steps: How many steps the decay takes, or one unit of it.
        num_periods: How many periods the cosine has.
        alpha: What is added to the line.
        beta: What is added to the product.
        name: The name of the operation in the graph.

    Returns:
        A scalar tensor; when executing eagerly, a function without arguments that gives it.

    Raises:
        ValueError: If `global_step` is None.

    Example:
        >>> sess.run(tf.train.linear_cosine_decay(0.1, 50, 100))
        np.float32(0.025099998)
    """
    with name_scope(name, "LinearCosineDecay", [learning_rate, global_step]) as name:
        return _linear_cosine(learning_rate, global_step, decay_steps, (), num_periods, alpha, beta, name)


@_schedule
def noisy_linear_cosine_decay(
    learning_rate,
    global_step,
    decay_steps,
    initial_variance=1.0,
    variance_decay=0.55,
    num_periods=0.5,
    alpha=0.0,
    beta=0.001,
    name=None,
):
    """`linear_cosine_decay` with noise on the line, whose variance falls with the step.

    Args:
        learning_rate: The rate at the first step.
        global_step: The variable, or number, that counts steps.
        decay_steps: How many steps the decay takes, or one unit of it.
        initial_variance: The variance at the first step.
        variance_decay: The power by which it falls.
        num_periods: How many periods the cosine has.
        alpha: What is added to the line.
        beta: What is added to the product.
        name: The name of the operation in the graph.

    Returns:
        A scalar tensor; when executing eagerly, a function without arguments that gives it.

    Raises:
        ValueError: If `global_step` is None.

    Example:
        >>> sess.run(tf.train.noisy_linear_cosine_decay(0.1, 100, 100, initial_variance=0.0))
        np.float32(0.000100000005)
    """
    with name_scope(name, "NoisyLinearCosineDecay", [learning_rate, global_step]) as name:
        noise = (initial_variance, variance_decay)
        return _linear_cosine(learning_rate, global_step, decay_steps, noise, num_periods, alpha, beta, name)
