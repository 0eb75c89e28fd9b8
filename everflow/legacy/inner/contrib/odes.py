"""What is inside of tf.contrib.integrate: the polynomial between two steps, the size of the next step, solvers by name."""

from __future__ import annotations

from everflow.contrib.integrate.adaptive import _next_size, _polynomial
from everflow.contrib.integrate.fixed import _METHODS, _solve
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import math
from everflow.ops.control_flow import Assert

__all__ = [
    "_FixedGridIntegrator",
    "_MidpointFixedGridIntegrator",
    "_RK4FixedGridIntegrator",
    "_abs_square",
    "_interp_evaluate",
    "_interp_fit",
    "_optimal_step_size",
    "_ta_append",
]


def _interp_fit(y0, y1, y_mid, f0, f1, dt):
    """Coefficients, highest first, of the polynomial through values and slopes of a step."""
    return _polynomial(convert_to_tensor(y0), y1, y_mid, f0, f1, dt)[::-1]


def _interp_evaluate(coefficients, t0, t1, t):
    """The polynomial at a time within the step."""
    with name_scope("interp_evaluate"):
        t0, t1, t = (convert_to_tensor(time) for time in (t0, t1, t))
        within = Assert((t0 <= t) & (t <= t1), ["The time is not within the step:", t0, t, t1])
        with control_dependencies([within]):
            share = math.cast((t - t0) / (t1 - t0), coefficients[0].dtype)
        value = coefficients[0]
        for coefficient in coefficients[1:]:
            value = value * share + coefficient
        return value


def _optimal_step_size(last_step, error_ratio, safety=0.9, ifactor=10.0, dfactor=0.2, order=5, name=None):
    """The size of the next step, by how large the error of this one was."""
    with name_scope(name, "optimal_step_size", [last_step, error_ratio]):
        return _next_size(last_step, error_ratio, safety, ifactor, dfactor)


def _abs_square(x):
    """The squares of absolute values."""
    return math.square(math.real(x)) + math.square(math.imag(x)) if x.dtype.is_complex else math.square(x)


def _ta_append(tensor_array, value):
    """A TensorArray with one value more at its end."""
    return tensor_array.write(tensor_array.size(), value)


class _FixedGridIntegrator:
    """Goes from each time to the next by steps of one size."""

    _method: str

    def integrate(self, evol_func, y0, time_grid, dt_grid, steps_on_intervals):
        """The values at the times of the grid."""
        y0, time_grid = convert_to_tensor(y0), convert_to_tensor(time_grid)
        return _solve(_METHODS[self._method], evol_func, y0, time_grid, dt_grid, steps_on_intervals)


class _MidpointFixedGridIntegrator(_FixedGridIntegrator):
    _method = "midpoint"


class _RK4FixedGridIntegrator(_FixedGridIntegrator):
    _method = "rk4"
