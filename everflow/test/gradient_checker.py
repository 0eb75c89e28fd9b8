"""Gradients held against numbers: `compute_gradient` gives a Jacobian from tf.gradients and one from small steps."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.scopes import get_default_session
from everflow.ops.array.constants import placeholder
from everflow.ops.gradients.reverse import gradients

FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def _parts(array):
    """The real numbers that an array is made of, in one row; a view."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype) if np.iscomplexobj(flat) else flat


def _check(tensor, shape, name):
    if tensor.dtype.base_dtype not in (*FLOATS, dtypes.complex64, dtypes.complex128):
        raise AssertionError(f"{name} has dtype {tensor.dtype!r}, which has no gradient")
    return [int(d) for d in shape]


def _start_value(x, shape):
    values = np.random.random_sample(shape)
    if x.dtype.is_complex:
        values = values + 1j * np.random.random_sample(shape)
    return values.astype(x.dtype.base_dtype.as_numpy_dtype)


def theoretical_jacobian(x_value, y_shape, y_type, pull):
    """One row for each real number in x, one column for each in y; `pull` gives the gradient of x for one of y."""
    grad = np.zeros(y_shape, y_type)
    columns = []
    for i in range(_parts(grad).size):
        _parts(grad)[:] = 0
        _parts(grad)[i] = 1
        found = pull(grad)
        if hasattr(found, "indices"):
            dense = np.zeros_like(x_value)
            np.add.at(dense, found.indices, found.values)
            found = dense
        columns.append(_parts(np.ascontiguousarray(found)).copy())
    return np.stack(columns, axis=1) if columns else np.zeros((_parts(x_value).size, 0), x_value.real.dtype)


def numerical_jacobian(x_value, delta, push):
    """The same from small steps to both sides; `push` gives y for a value of x."""
    value = x_value.copy()
    rows = []
    for i in range(_parts(value).size):
        before = _parts(value)[i]
        sides = []
        for step in (delta, -delta):
            _parts(value)[i] = before + step
            sides.append(_parts(np.ascontiguousarray(push(value))).copy())
        _parts(value)[i] = before
        rows.append((sides[0] - sides[1]) / (2 * delta))
    return np.stack(rows).astype(x_value.real.dtype) if rows else np.zeros((0, 0), x_value.real.dtype)


def _both(x, x_value, y, y_shape, delta, session, feed):
    dy = placeholder(y.dtype.base_dtype, y_shape)
    (dx,) = gradients(y, x, grad_ys=dy)
    assert dx is not None, f"there is no gradient of {y} with respect to {x}"
    y_type = y.dtype.base_dtype.as_numpy_dtype
    return (
        theoretical_jacobian(x_value, y_shape, y_type, lambda grad: session.run(dx, {**feed, x: x_value, dy: grad})),
        numerical_jacobian(x_value, delta, lambda value: session.run(y, {**feed, x: value})),
    )


def compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None):
    """(Jacobian from tf.gradients, Jacobian from differences) of y with respect to x; a list of pairs for a list.

    Entry [i, j] tells how number j of y moves with number i of x; a complex number counts as two. Needs a default
    session.

    Args:
        x: A tensor, or a list of them.
        x_shape: The shape of x, or a list of shapes.
        y: The tensor.
        y_shape: The shape of y.
        x_init_value: The value of x; random if None.
        delta: How far x is moved.
        init_targets: Operations that initialize, or None.
        extra_feed_dict: More to feed.

    Returns:
        A pair of arrays, or a list of pairs.

    Raises:
        ValueError: If shapes don't fit.

    Example:
        >>> x = tf.placeholder(tf.float32, [2])
        >>> theory, numbers = tf.test.compute_gradient(x, [2], 3.0 * x, [2], x_init_value=np.ones(2, np.float32))
        >>> theory
        array([[3., 0.],
               [0., 3.]], dtype=float32)
    """
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session: use it inside `with tf.Session():`")
    feed = dict(extra_feed_dict or {})
    if init_targets is not None:
        session.run(init_targets if not isinstance(init_targets, list | tuple) else list(init_targets))
    many = isinstance(x, list)
    xs, shapes = (x, x_shape) if many else ([x], [x_shape])
    values = x_init_value if many and x_init_value is not None else [x_init_value] * len(xs)
    y_shape = _check(y, y_shape, "y")
    arrays = []
    for tensor, shape, value in zip(xs, shapes, values, strict=True):
        shape = _check(tensor, shape, "x")
        if value is None:
            value = _start_value(tensor, shape)
        assert list(np.shape(value)) == shape, f"x_init_value has shape {np.shape(value)}, wanted {shape}"
        arrays.append(np.array(value, tensor.dtype.base_dtype.as_numpy_dtype, order="C"))
    results = []
    for tensor, value in zip(xs, arrays, strict=True):
        others = {**feed, **{t: v for t, v in zip(xs, arrays, strict=True) if t is not tensor}}
        results.append(_both(tensor, value, y, y_shape, delta, session, others))
    return results if many else results[0]


def compute_gradient_error(
    x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None
):
    """The largest difference between the two Jacobians of `compute_gradient`.

    Args:
        x: A tensor, or a list of them.
        x_shape: The shape of x, or a list of shapes.
        y: The tensor.
        y_shape: The shape of y.
        x_init_value: The value of x; random if None.
        delta: How far x is moved.
        init_targets: Operations that initialize, or None.
        extra_feed_dict: More to feed.

    Returns:
        A number.

    Example:
        >>> x = tf.placeholder(tf.float32, [2])
        >>> bool(tf.test.compute_gradient_error(x, [2], 3.0 * x, [2]) < 0.1)
        True
    """
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    pairs = found if isinstance(found, list) else [found]
    return max((float(np.abs(a - b).max()) for a, b in pairs if a.size and b.size), default=0.0)
