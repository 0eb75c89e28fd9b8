"""Dormand and Prince's method of fifth order: steps by the estimated error, and interpolation between."""

from __future__ import annotations

import collections

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import Assert, cond, while_loop
from everflow.ops.tensor_arrays.tensor_array import TensorArray

# Butcher's tableau: where slopes are taken, from which ones, and their weights. The last is the next step's first.
_ALPHA = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_BETA = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_OF_FOURTH_ORDER = (1951 / 21600, 0.0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60)
_ERROR = tuple(fifth - fourth for fifth, fourth in zip((*_BETA[-1], 0.0), _OF_FOURTH_ORDER))
_MIDDLE = (
    6025192743 / 30085553152 / 2,
    0.0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
)
_ORDER = 5

# A step: value and slope at its end, its beginning and end, the size of the next, and the polynomial between.
_Step = collections.namedtuple("_Step", "y f t0 t1 dt coefficients")
_History = collections.namedtuple("_History", "points ratios")


def _combined(scale, weights, slopes):
    """scale * (weighted sum of slopes), leaving out what counts nothing."""
    return math.add_n([(scale * weight) * slope for weight, slope in zip(weights, slopes) if weight != 0.0])


def _runge_kutta(func, y0, f0, t0, dt):
    """(y, slope, error, slopes) after one step."""
    dt_like = math.cast(dt, y0.dtype)
    slopes = [f0]
    for alpha, beta in zip(_ALPHA, _BETA):
        y = y0 + _combined(dt_like, beta, slopes)
        slopes.append(convert_to_tensor(func(y, t0 + alpha * dt), dtype=y0.dtype))
    return y, slopes[-1], _combined(dt_like, _ERROR, slopes), slopes


def _polynomial(y0, y1, middle, f0, f1, dt):
    """Coefficients, lowest first, of the polynomial of degree four in the share of the step."""
    dt = math.cast(dt, y0.dtype)
    a = 2 * dt * (f1 - f0) - 8 * (y1 + y0) + 16 * middle
    b = dt * (5 * f0 - 3 * f1) + 18 * y0 + 14 * y1 - 32 * middle
    c = dt * (f1 - 4 * f0) - 11 * y0 - 5 * y1 + 16 * middle
    return [y0, dt * f0, c, b, a]


def _interpolated(step, t):
    share = math.cast((t - step.t0) / (step.t1 - step.t0), step.y.dtype)
    value = step.coefficients[-1]
    for coefficient in reversed(step.coefficients[:-1]):
        value = value * share + coefficient
    return value


def _error_ratio(error, rtol, atol, y0, y1):
    tolerance = atol + rtol * math.maximum(math.abs(y0), math.abs(y1))
    return math.sqrt(math.reduce_mean(math.square(math.abs(error) / tolerance)))


def _next_size(dt, ratio, safety, ifactor, dfactor):
    root = math.cast(ratio, dt.dtype) ** (1.0 / _ORDER)
    return dt / math.maximum(1.0 / ifactor, math.minimum(root / safety, 1.0 / dfactor))


def odeint(func, y0, t, rtol=1e-6, atol=1e-12, method=None, options=None, full_output=False, name=None):
    """y at each of the times `t`, for dy/dt = func(y, t) and y = y0 at t[0].

    `method` is "dopri5", the only one; its `options` are first_step, safety, ifactor, dfactor and max_num_steps. With
    `full_output` a dict tells of the steps that were tried.

    >>> y = tf.contrib.integrate.odeint(lambda y, t: -y, tf.constant(1.0), [0.0, 1.0, 2.0])
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if options is None:
        options = {}
    elif method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = convert_to_tensor(y0, name="y0")
        if not (y0.dtype.is_floating or y0.dtype.is_complex):
            raise TypeError(f"`y0` must be real or complex floating point, not {y0.dtype.name}")
        if not y0.shape.is_fully_defined():
            raise ValueError("`y0` must have a fully defined shape")
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        if not t.dtype.is_floating:
            raise TypeError("`t` must have a floating point dtype")
        error_type = y0.dtype.real_dtype
        rtol = convert_to_tensor(rtol, dtype=error_type, name="rtol")
        atol = convert_to_tensor(atol, dtype=error_type, name="atol")
        return _solve(func, y0, t, rtol, atol, full_output, scope, **options)


class _Solver:
    """Steps whose size follows the error of the last one."""

    def __init__(self, func, rtol, atol, time_type, first_step=None, safety=0.9, ifactor=10.0, dfactor=0.2,
                 max_num_steps=1000):  # fmt: skip
        if max_num_steps < 1:
            raise ValueError("max_num_steps must be at least 1")
        self._func, self._rtol, self._atol, self._max_num_steps = func, rtol, atol, max_num_steps
        first_step = 1.0 if first_step is None else first_step
        self.first_step = convert_to_tensor(first_step, dtype=time_type, name="first_step")
        self._factors = [convert_to_tensor(x, dtype=time_type) for x in (safety, ifactor, dfactor)]

    def until(self, time, step, history):
        """(step that ends at a time or after it, history)."""

        def before(step, history, count):
            return time > step.t1

        start = step, history, 0
        return while_loop(before, self._checked, start, name="interpolate_loop", parallel_iterations=1)[:2]

    def _checked(self, step, history, count):
        too_many = Assert(count < self._max_num_steps, ["max_num_steps exceeded"])
        too_small = Assert(step.t1 + step.dt > step.t1, ["underflow in dt", step.dt])
        with control_dependencies([too_many, too_small]):
            step = step._replace(y=array.identity(step.y), dt=array.identity(step.dt))
            return self._tried(step, history, count)

    def _tried(self, step, history, count):
        """The next step where the error allows it, else the same one again, to be tried in another size."""
        y1, f1, error, slopes = _runge_kutta(self._func, step.y, step.f, step.t1, step.dt)
        ratio = _error_ratio(error, self._rtol, self._atol, step.y, y1)
        accepted = ratio <= 1
        t1 = step.t1 + step.dt

        def moved():
            middle = step.y + _combined(math.cast(step.dt, y1.dtype), _MIDDLE, slopes)
            return [y1, f1, step.t1, t1, *_polynomial(step.y, y1, middle, step.f, f1, step.dt)]

        kept = step.y, step.f, step.t0, step.t1, *step.coefficients
        y, f, start, end, *coefficients = cond(accepted, moved, lambda: [array.identity(x) for x in kept])
        following = _Step(y, f, start, end, _next_size(step.dt, ratio, *self._factors), coefficients)
        points, ratios = history
        history = _History(points.write(points.size(), t1), ratios.write(ratios.size(), ratio))
        return following, history, count + 1


def _solve(func, y0, t, rtol, atol, full_output, name, **options):
    solver = _Solver(func, rtol, atol, t.dtype, **options)
    increasing = Assert(math.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])

    def one_output(solution, step, history, i):
        step, history = solver.until(t[i], step, history)
        return solution.write(i, _interpolated(step, t[i])), step, history, i + 1

    with control_dependencies([increasing]):
        number = array.size(t)
        f0 = convert_to_tensor(func(y0, t[0]), dtype=y0.dtype, name="f0")
    step = _Step(y0, f0, t[0], t[0], solver.first_step, [y0] * 5)
    growing = {"size": 0, "dynamic_size": True, "clear_after_read": False}
    history = _History(*(TensorArray(dtype, **growing) for dtype in (t.dtype, rtol.dtype)))
    solution = TensorArray(y0.dtype, number).write(0, y0)
    solution, step, history, _ = while_loop(
        lambda solution, step, history, i: i < number,
        one_output,
        (solution, step, history, 1),
        name="time_loop",
        parallel_iterations=1,
    )
    y = solution.stack(name=name)
    y.set_shape(t.shape.concatenate(y0.shape))
    if not full_output:
        return y
    points = history.points.stack()
    counted = {"num_func_evals": 6 * array.size(points) + 1, "integrate_points": points}
    return y, {**counted, "error_ratio": history.ratios.stack()}
