"""Assertions about values: comparisons that must hold, monotony, and numbers that must be finite.

An assertion that can be decided while building raises at once; others become ops that raise when run.
"""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.operation import Tensor
from everflow.framework.scopes import (
    colocate_with,
    control_dependencies,
    executing_eagerly,
    get_default_graph,
    name_scope,
)
from everflow.framework.static_values import constant_value
from everflow.ops import array
from everflow.ops.array import constants
from everflow.ops.array.basic import either
from everflow.ops.array.ragged_rows import takes_ragged
from everflow.ops.control_flow import Assert, cond
from everflow.ops.control_flow.grouping import group, with_dependencies
from everflow.ops.math import elementwise, reductions

NUMERIC_TYPES = frozenset(
    [
        *(dtypes.float32, dtypes.float64, dtypes.complex64),
        *(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8),
        *(dtypes.qint8, dtypes.quint8, dtypes.qint32),
    ]
)


def is_numeric_tensor(tensor):
    """Whether this is a tensor of numbers: neither bools nor strings.

    Args:
        tensor: Any object.

    Returns:
        A bool.

    Example:
        >>> tf.is_numeric_tensor(tf.constant(1.0)), tf.is_numeric_tensor(tf.constant("a"))
        (True, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype.base_dtype in NUMERIC_TYPES


def _assert_all(condition, static_condition, operands, data, summarize):
    """Assert that a condition holds everywhere; raise where the operands are constants for which it doesn't."""
    condition = reductions.reduce_all(condition)
    values = [constant_value(x) for x in operands]
    if all(v is not None for v in values) and not np.all(static_condition(*values)):
        raise InvalidArgumentError(None, None, "\n".join(_shown(item) for item in data))
    return Assert(condition, data, summarize=summarize)


def _named(name, tensor):
    """How a message calls an argument."""
    return name if tensor.is_eager else f"{name} ({tensor.name})"


def _shown(item):
    if not isinstance(item, Tensor):
        return str(item)
    value = constant_value(item)
    return item.name if value is None else str(value)


def _comparison(x, y, data, summarize, message, op_type, sign, compare):
    x = convert_to_tensor(x, name="x")
    y = convert_to_tensor(y, name="y")
    if data is None:
        data = [
            f"Condition x {sign} y did not hold element-wise:",
            f"{_named('x', x)} = ",
            x,
            f"{_named('y', y)} = ",
            y,
        ]
    if message is not None:
        data = [message, *list(data)]
    return _assert_all(getattr(raw, op_type)(x, y), compare, (x, y), data, summarize)


def assert_equal(x, y, data=None, summarize=None, message=None, name=None):
    """Assert that x == y holds for every element.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks, for `tf.control_dependencies`.

    Raises:
        InvalidArgumentError: If it is false: at once where the values are known, else when the operation runs.

    Example:
        >>> x = tf.constant([1, 2])
        >>> with tf.control_dependencies([tf.assert_equal(x, [1, 2])]):
        ...     y = tf.reduce_sum(x)
        >>> sess.run(y)
        np.int32(3)
    """
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return raw.NoOp(name=name)
    with name_scope(name, "assert_equal", [x, y, data]):
        return _comparison(x, y, data, summarize, message, "Equal", "==", np.equal)


def assert_none_equal(x, y, data=None, summarize=None, message=None, name=None):
    """Assert that x != y holds for every element.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks, for `tf.control_dependencies`.

    Raises:
        InvalidArgumentError: If it is false: at once where the values are known, else when the operation runs.

    Example:
        >>> sess.run(tf.assert_none_equal([1, 2], [2, 1]))
    """
    with name_scope(name, "assert_none_equal", [x, y, data]):
        return _comparison(x, y, data, summarize, message, "NotEqual", "!=", np.not_equal)


def assert_less(x, y, data=None, summarize=None, message=None, name=None):
    """Assert that x < y holds for every element.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks, for `tf.control_dependencies`.

    Raises:
        InvalidArgumentError: If it is false: at once where the values are known, else when the operation runs.

    Example:
        >>> sess.run(tf.assert_less([0, 0], [1, 1]))
    """
    with name_scope(name, "assert_less", [x, y, data]):
        return _comparison(x, y, data, summarize, message, "Less", "<", np.less)


def assert_less_equal(x, y, data=None, summarize=None, message=None, name=None):
    """Assert that x <= y holds for every element.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks, for `tf.control_dependencies`.

    Raises:
        InvalidArgumentError: If it is false: at once where the values are known, else when the operation runs.

    Example:
        >>> sess.run(tf.assert_less_equal([1, 0], [1, 1]))
    """
    with name_scope(name, "assert_less_equal", [x, y, data]):
        return _comparison(x, y, data, summarize, message, "LessEqual", "<=", np.less_equal)


def assert_greater(x, y, data=None, summarize=None, message=None, name=None):
    """Assert that x > y holds for every element.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks, for `tf.control_dependencies`.

    Raises:
        InvalidArgumentError: If it is false: at once where the values are known, else when the operation runs.

    Example:
        >>> sess.run(tf.assert_greater([2, 3], [1, 1]))
    """
    with name_scope(name, "assert_greater", [x, y, data]):
        return _comparison(x, y, data, summarize, message, "Greater", ">", np.greater)


def assert_greater_equal(x, y, data=None, summarize=None, message=None, name=None):
    """Assert that x >= y holds for every element.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks, for `tf.control_dependencies`.

    Raises:
        InvalidArgumentError: If it is false: at once where the values are known, else when the operation runs.

    Example:
        >>> sess.run(tf.assert_greater_equal([1, 3], [1, 1]))
    """
    with name_scope(name, "assert_greater_equal", [x, y, data]):
        return _comparison(x, y, data, summarize, message, "GreaterEqual", ">=", np.greater_equal)


def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    """Assert that |x - y| < atol + rtol * |y| holds for every element. The tolerances default to ten of the type's
    steps at 1.

    Args:
        x: A tensor, or what can be made one.
        y: A tensor, or what can be made one.
        rtol: How far they may differ for each unit of `y`.
        atol: How far they may differ in any case.
        data: What is shown when it fails: a list of tensors; `x` and `y` if None.
        summarize: How many entries of each tensor to show.
        message: Text to put before what the error says.
        name: The name of the operations.

    Returns:
        The operation that checks, for `tf.control_dependencies`.

    Raises:
        InvalidArgumentError: If it is false: at once where the values are known, else when the operation runs.

    Example:
        >>> sess.run(tf.assert_near([1.0], [1.0000001]))
    """
    message = message or ""
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        step = np.finfo(x.dtype.as_numpy_dtype).eps if x.dtype != dtypes.bfloat16 else 2.0**-7
        rtol = convert_to_tensor(10 * step if rtol is None else rtol, name="rtol", dtype=x.dtype.real_dtype.base_dtype)
        atol = convert_to_tensor(10 * step if atol is None else atol, name="atol", dtype=x.dtype.real_dtype.base_dtype)
        if data is None:
            data = [
                message,
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"{_named('x', x)} = ",
                x,
                f"{_named('y', y)} = ",
                y,
            ]
        tolerance = atol + rtol * elementwise.abs(y)
        difference = elementwise.abs(x - y)
        return Assert(reductions.reduce_all(raw.Less(difference, tolerance)), data, summarize=summarize)


_AGAINST_ZERO = """Assert that x {sign} 0 holds for every element.

Args:
    x: A tensor, or what can be made one.
    data: What is shown when it fails: a list of tensors; `x` if None.
    summarize: How many entries of each tensor to show.
    message: Text to put before what the error says.
    name: The name of the operations.

Returns:
    The operation that checks, for `tf.control_dependencies`.

Raises:
    InvalidArgumentError: If it is false: at once where the values are known, else when the operation runs.

Example:
    >>> sess.run(tf.{name}({at}))
"""


def _against_zero(default_name, sign, compare, message_shown=True, *, at):
    """An assertion that compares x with zero by another assertion, and holds `at` some values."""

    def check(x, data=None, summarize=None, message=None, name=None):
        message = message or ""
        with name_scope(name, default_name, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                data = [message] if message_shown else []
                data += [f"Condition x {sign} 0 did not hold element-wise:", f"{_named('x', x)} = ", x]
            zero = constants.constant(0, dtype=x.dtype.base_dtype)
            return compare(x, zero, data, summarize)

    check.__name__ = check.__qualname__ = default_name
    check.__doc__ = _AGAINST_ZERO.format(sign=sign, name=default_name, at=at)
    return check


assert_positive = _against_zero("assert_positive", ">", lambda x, zero, *rest: assert_less(zero, x, *rest), at="[1, 2]")
assert_negative = _against_zero(
    "assert_negative", "<", lambda x, zero, *rest: assert_less(x, zero, *rest), at="[-1, -2]"
)
assert_non_negative = _against_zero(
    "assert_non_negative", ">=", lambda x, zero, *rest: assert_less_equal(zero, x, *rest), at="[0, 2]"
)
assert_non_positive = _against_zero(
    "assert_non_positive",
    "<=",
    lambda x, zero, *rest: assert_less_equal(x, zero, *rest),
    message_shown=False,
    at="[0, -2]",
)


def _steps(x):
    """The differences between neighbours of a tensor laid flat; empty for fewer than two elements."""
    x = array.reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    too_short = raw.Less(array.size(x), 2)
    length = array.shape(x) - 1
    return cond(
        too_short,
        lambda: convert_to_tensor([], dtype=x.dtype.base_dtype),
        lambda: array.strided_slice(x, [1], [1] + length) - array.strided_slice(x, [0], length),
    )


def is_non_decreasing(x, name=None):
    """Whether each element is at least as large as the one before it.

    Args:
        x: A tensor, or what can be made one.
        name: The name of the operations.

    Returns:
        A scalar bool tensor.

    Example:
        >>> sess.run(tf.is_non_decreasing([1, 1, 2]))
        np.True_
    """
    with name_scope(name, "is_non_decreasing", [x]):
        difference = _steps(x)
        zero = convert_to_tensor(0, dtype=difference.dtype.base_dtype)
        return reductions.reduce_all(raw.LessEqual(zero, difference))


def is_strictly_increasing(x, name=None):
    """Whether each element is larger than the one before it.

    Args:
        x: A tensor, or what can be made one.
        name: The name of the operations.

    Returns:
        A scalar bool tensor.

    Example:
        >>> sess.run(tf.is_strictly_increasing([1, 1, 2]))
        np.False_
    """
    with name_scope(name, "is_strictly_increasing", [x]):
        difference = _steps(x)
        zero = convert_to_tensor(0, dtype=difference.dtype.base_dtype)
        return reductions.reduce_all(raw.Less(zero, difference))


@takes_ragged()
def check_numerics(tensor, message, name=None):
    """The tensor; InvalidArgumentError with the message when it holds NaN or infinity.

    Args:
        tensor: The floats to check.
        message: What the error says.
        name: The name of the operations.

    Returns:
        The tensor.

    Raises:
        InvalidArgumentError: When it runs, if a value is NaN or infinite.

    Example:
        >>> sess.run(tf.check_numerics(tf.log([1.0, 2.0]), "logarithms"))
        array([0.       , 0.6931472], dtype=float32)
    """
    return raw.CheckNumerics(tensor, message=message, name=name)


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """The tensor, to be had only where it holds neither NaN nor infinity.

    Args:
        t: The tensor.
        msg: What the error says.
        name: The name of the operations.
        x: Another name of `t`.
        message: Another name of `msg`.

    Returns:
        The tensor.

    Raises:
        InvalidArgumentError: When it runs, if a value is NaN or infinite.

    Example:
        >>> sess.run(tf.verify_tensor_all_finite([1.0, 2.0], "values"))
        array([1., 2.], dtype=float32)
    """
    return verify_tensor_all_finite_v2(either("x", x, "t", t), either("message", message, "msg", msg), name)


def verify_tensor_all_finite_v2(x, message, name=None):
    """`verify_tensor_all_finite` with the arguments of version 2."""
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x, name="x")
        with colocate_with(x):
            checked = raw.CheckNumerics(x, message=message)
            return with_dependencies([checked], x)


def add_check_numerics_ops():
    """An op that checks every float tensor of the graph for NaN and infinity, in the order in which they were made.

    Returns:
        An operation that groups the checks.

    Raises:
        ValueError: If the graph has operations in a `tf.cond` or `tf.while_loop`.
        RuntimeError: If operations run at once, as there is no graph then.

    Example:
        >>> y = tf.sqrt(tf.constant([4.0]))
        >>> checks = tf.add_check_numerics_ops()
        >>> sess.run([y, checks])[0]
        array([2.], dtype=float32)
    """
    if executing_eagerly():
        raise RuntimeError(
            "tf.add_check_numerics_ops() looks through a graph; use tf.debugging.check_numerics() eagerly."
        )
    checks = []
    for op in get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
                continue
            if op._get_control_flow_context() is not None:
                raise ValueError(
                    f"tf.add_check_numerics_ops() can't watch ops in a tf.cond() or tf.while_loop(), as {op.name!r} is"
                )
            with control_dependencies(checks[-1:]):
                checks.append(raw.CheckNumerics(output, message=f"{op.name}:{output.value_index}"))
    return group(*[check.op for check in checks[-1:]])
