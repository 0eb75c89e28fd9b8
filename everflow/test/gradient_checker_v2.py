"""tf.compat.v2.test's gradient check: of a function rather than of tensors, drawn in a graph or executed eagerly."""

from __future__ import annotations

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, get_default_session
from everflow.ops.array.constants import placeholder
from everflow.ops.gradients.tape import GradientTape
from everflow.test import gradient_checker


def compute_gradient(f, x, delta=1e-3):
    """(Jacobians from gradients, Jacobians from differences) of `f(*x)`, one of each for every argument in the list x.

    >>> theoretical, numerical = tf.compat.v2.test.compute_gradient(tf.square, [[1.0, 2.0]])
    """
    if not isinstance(x, list):
        raise ValueError(f"`x` must be a list, with a Tensor for each argument of `f`; it is a {type(x)}.")
    values = [_array(value) for value in x]
    for i, value in enumerate(values):
        dtype = dtypes.as_dtype(value.dtype)
        if dtype not in (*gradient_checker.FLOATS, dtypes.complex64, dtypes.complex128):
            raise AssertionError(
                f"There is no gradient for {dtype.name} of argument {i}: only floats and complex numbers have one."
            )
    return zip(*(_eager_pairs if executing_eagerly() else _graph_pairs)(f, values, delta), strict=True)


def max_error(grad1, grad2):
    """The largest difference between two lists of Jacobians."""
    return max((float(np.abs(a - b).max()) for a, b in zip(grad1, grad2, strict=True) if a.size and b.size), default=0)


def _array(value):
    if isinstance(value, Tensor):
        value = value.numpy() if executing_eagerly() else get_default_session().run(value)
    return np.ascontiguousarray(value if isinstance(value, (np.ndarray, np.generic)) else np.asarray(value, np.float32))


def _graph_pairs(f, values, delta):
    xs = [placeholder(dtypes.as_dtype(value.dtype), value.shape) for value in values]
    y = convert_to_tensor(f(*xs))
    y_shape = get_default_session().run(y, dict(zip(xs, values, strict=True))).shape
    return gradient_checker.compute_gradient(
        xs, [value.shape for value in values], y, y_shape, x_init_value=values, delta=delta
    )


def _eager_pairs(f, values, delta):
    xs = [convert_to_tensor(value) for value in values]
    for i, (x, value) in enumerate(zip(xs, values, strict=True)):

        def push(changed, i=i):
            return f(*xs[:i], convert_to_tensor(changed), *xs[i + 1 :]).numpy()

        with GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(*xs)

        def pull(grad, tape=tape, y=y, x=x):
            found = tape.gradient(y, x, output_gradients=convert_to_tensor(grad))
            assert found is not None, f"there is no gradient with respect to argument {x}"
            return convert_to_tensor(found).numpy()

        yield (
            gradient_checker.theoretical_jacobian(value, y.shape.as_list(), y.dtype.as_numpy_dtype, pull),
            gradient_checker.numerical_jacobian(value, delta, push),
        )
