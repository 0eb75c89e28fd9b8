"""Methods with steps of a given size: the midpoint rule and the classical one of fourth order."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import Assert, while_loop
from everflow.ops.tensor_arrays.tensor_array import TensorArray


def _midpoint(func, y, t, dt):
    step = math.cast(dt, y.dtype)
    return y + step * func(y + func(y, t) * step / 2, t + dt / 2)


def _rk4(func, y, t, dt):
    step = math.cast(dt, y.dtype)
    k1 = func(y, t)
    half_step = t + dt / 2
    half_dt = step / 2
    k2 = func(y + k1 * half_dt, half_step)
    k3 = func(y + k2 * half_dt, half_step)
    k4 = func(y + k3 * step, t + dt)
    return y + (k1 + 2 * k2 + 2 * k3 + k4) * (step / 6)


_METHODS = {"midpoint": _midpoint, "rk4": _rk4}


def odeint_fixed(func, y0, t, dt=None, method="rk4", name=None):
    """y at each of the times `t`, by steps of at most `dt`; None: one step from each time to the next."""
    if method not in _METHODS:
        raise ValueError(f"method not supported: {method!s}")
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        y0 = convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        if dt is None:
            steps, sizes = array.ones_like(intervals), intervals
        else:
            steps = math.ceil(intervals / convert_to_tensor(dt, dtype=t.dtype, name="dt"))
            sizes = intervals / steps
        steps = math.cast(steps, dtypes.int32)
        increasing = Assert(math.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])
        with control_dependencies([increasing]), name_scope(method):
            return _solve(_METHODS[method], func, y0, t, sizes, steps)


def _solve(step, func, y0, t, sizes, steps):
    number = array.size(t)

    def one_output(solution, y, i):
        size = sizes[i - 1]
        _, y, _ = while_loop(
            lambda time, y, j: j < steps[i - 1],
            lambda time, y, j: (time + size, step(func, y, time, size), j + 1),
            (t[i - 1], y, 0),
        )
        return solution.write(i, y), y, i + 1

    solution = TensorArray(y0.dtype, number).write(0, y0)
    solution, _, _ = while_loop(lambda solution, y, i: i < number, one_output, (solution, y0, 1))
    result = solution.stack()
    result.set_shape(t.shape.concatenate(y0.shape))
    return result
