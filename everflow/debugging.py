"""tf.debugging: assertions and checks of numbers."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.ops.checks.shapes import (
    assert_integer,
    assert_proper_iterable,
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_same_float_dtype,
    assert_scalar,
    assert_shapes,
    assert_type,
)
from everflow.ops.checks.values import (
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    check_numerics,
    is_non_decreasing,
    is_numeric_tensor,
    is_strictly_increasing,
)
from everflow.ops.checks.values import verify_tensor_all_finite as assert_all_finite
from everflow.ops.control_flow import Assert
from everflow.ops.math import is_finite, is_inf, is_nan
from everflow.runtime.process_options import PROCESS as _PROCESS


def get_log_device_placement():
    """Whether the devices that ops are put on are written to the log.

    Returns:
        A bool.

    Example:
        >>> tf.debugging.get_log_device_placement()
        False
    """
    return _PROCESS.log_placement


def set_log_device_placement(enabled):
    """Write the devices that ops are put on to the log, or stop doing so; for sessions made from now on without a
    ConfigProto.

    Args:
        enabled: Whether.

    Returns:
        None.

    Example:
        >>> tf.debugging.set_log_device_placement(False)
    """
    _PROCESS.log_placement = bool(enabled)
