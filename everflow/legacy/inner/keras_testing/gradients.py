"""`keras.mixed_precision.experimental.test_util`: functions whose gradients are looked at, or spoilt, on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.framework import nest
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math
from everflow.ops.checks.values import assert_equal
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.gradients.custom import custom_gradient


def create_identity_with_grad_check_fn(expected_gradient: Any, expected_dtype: Any = None) -> Callable:
    """The identity, whose gradients must be these when they come back, and of this type."""

    def identity_with_grad_check(x: Any) -> Any:
        @custom_gradient
        def checked(x: Any) -> tuple:
            def grad(dx: Any) -> Any:
                if expected_dtype and dx.dtype != expected_dtype:
                    raise AssertionError(f"The gradient is of {dx.dtype}, and not of {expected_dtype}")
                with control_dependencies([assert_equal(dx, math.cast(expected_gradient, dx.dtype))]):
                    return array.identity(dx)

            return array.identity(x), grad

        return nest.map_structure(checked, x)

    return identity_with_grad_check


def create_identity_with_nan_gradients_fn(have_nan_gradients: Any) -> Callable:
    """The identity, whose gradients are not numbers where a tensor is true."""

    @custom_gradient
    def identity_with_nan_gradients(x: Any) -> tuple:
        def grad(dx: Any) -> Any:
            return cond(have_nan_gradients, lambda: dx * float("NaN"), lambda: dx)

        return array.identity(x), grad

    return identity_with_nan_gradients
