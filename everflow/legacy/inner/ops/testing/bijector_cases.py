"""tensorflow.python.ops.distributions.bijector_test_util: assertions that a bijector is one, from samples of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework.scopes import get_default_session
from everflow.ops import math
from everflow.ops.random.distributions import random_uniform


def assert_finite(array: Any) -> None:
    """Assert that all numbers are finite."""
    if not np.isfinite(array).all():
        raise AssertionError(f"array was not all finite. {array[:15]}")


def assert_strictly_increasing(array: Any) -> None:
    """Assert that each number is above the one before."""
    np.testing.assert_array_less(0.0, np.diff(array))


def assert_strictly_decreasing(array: Any) -> None:
    """Assert that each number is below the one before."""
    np.testing.assert_array_less(np.diff(array), 0.0)


def assert_strictly_monotonic(array: Any) -> None:
    """Assert that numbers go up all the way, or down all the way, as the first and the last of them say."""
    (assert_strictly_increasing if array[0] < array[-1] else assert_strictly_decreasing)(array)


def assert_scalar_congruency(
    bijector: Any, lower_x: float, upper_x: float, n: int = int(10e3), rtol: float = 0.01, sess: Any = None
) -> None:
    """Assert that a bijector of scalars is monotonic between two numbers, that its inverse is, and that its Jacobian is the
    derivative: draws along x, each weighted by it, must fill the range of y.
    """
    if bijector.forward_min_event_ndims != 0:
        raise ValueError(
            f"{bijector.name} must be one of scalars; it wants {bijector.forward_min_event_ndims} dimensions"
        )
    sess = sess or get_default_session()
    grid = np.linspace(lower_x, upper_x, num=10).astype(np.float32)
    across = sess.run(bijector.forward(grid))
    assert_strictly_monotonic(across)
    np.testing.assert_allclose(sess.run(bijector.inverse(across)), grid, rtol=1e-4, atol=1e-4)

    lower_y, upper_y = sorted(sess.run(bijector.forward(np.array([lower_x, upper_x], np.float32))))
    for bounds, to, jacobian, image in (
        ((lower_x, upper_x), bijector.forward, bijector.forward_log_det_jacobian, (lower_y, upper_y)),
        ((lower_y, upper_y), bijector.inverse, bijector.inverse_log_det_jacobian, (lower_x, upper_x)),
    ):
        draws = random_uniform([n], *map(float, bounds), seed=42)
        moved, volume = sess.run([to(draws), math.reduce_mean(math.exp(jacobian(draws, event_ndims=0)))])
        if not ((image[0] <= moved) & (moved <= image[1])).all():
            raise AssertionError(f"{bijector.name} leads from {bounds} out of {image}")
        np.testing.assert_allclose(volume * (bounds[1] - bounds[0]), image[1] - image[0], rtol=rtol)


def assert_bijective_and_finite(
    bijector: Any, x: Any, y: Any, event_ndims: int, atol: float = 0, rtol: float = 1e-5, sess: Any = None
) -> None:
    """Assert that a bijector and its inverse undo each other at points x and y, with finite Jacobians that cancel."""
    sess = sess or get_default_session()
    forward, inverse = bijector.forward(x), bijector.inverse(y)
    values = sess.run(
        {
            "back to x": bijector.inverse(forward),
            "back to y": bijector.forward(inverse),
            "forward": forward,
            "inverse": inverse,
            "ildj of y": bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims),
            "fldj of its x": bijector.forward_log_det_jacobian(inverse, event_ndims=event_ndims),
            "fldj of x": bijector.forward_log_det_jacobian(x, event_ndims=event_ndims),
            "ildj of its y": bijector.inverse_log_det_jacobian(forward, event_ndims=event_ndims),
        }
    )
    for value in values.values():
        assert_finite(value)
    np.testing.assert_allclose(values["back to x"], x, atol=atol, rtol=rtol)
    np.testing.assert_allclose(values["back to y"], y, atol=atol, rtol=rtol)
    np.testing.assert_allclose(values["ildj of y"], -values["fldj of its x"], atol=atol, rtol=rtol)
    np.testing.assert_allclose(values["fldj of x"], -values["ildj of its y"], atol=atol, rtol=rtol)
