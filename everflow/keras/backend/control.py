"""The backend's choices and loops: switches, the train and test phases, maps and folds; and gradients."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework.scopes import control_dependencies
from everflow.keras.backend.state import learning_phase
from everflow.keras.backend.values import named, ndim
from everflow.ops import array, math
from everflow.ops.control_flow import maps as functional
from everflow.ops.control_flow.conditionals import cond
from everflow.ops.gradients import reverse as gradient_ops
from everflow.ops.io.printing import print as _print
from everflow.ops.variables.variable import Variable


def switch(condition, then_expression, else_expression):
    """One expression or the other: whole for a single condition, else element by element. Both may be functions.

    Args:
        condition: A bool tensor.
        then_expression: A tensor, or a function that makes one.
        else_expression: A tensor, or a function that makes one.

    Returns:
        A tensor.

    Raises:
        ValueError: If the condition has more axes than the expressions.

    Example:
        >>> sess.run(tf.keras.backend.switch(tf.constant(True), tf.constant(1.0), tf.constant(2.0)))
        np.float32(1.0)
    """
    if condition.dtype != dtypes.bool:
        condition = math.cast(condition, "bool")
    condition_rank = ndim(condition)
    if not condition_rank:
        return cond(condition, _as_function(then_expression), _as_function(else_expression))
    if callable(then_expression):
        then_expression = then_expression()
    if callable(else_expression):
        else_expression = else_expression()
    rank = ndim(then_expression)
    if condition_rank > rank:
        raise ValueError(
            f"A switch needs a condition of no higher rank than its expressions; ndim(condition)={condition_rank}, "
            f"ndim(then_expression)={rank}."
        )
    if condition_rank > 1:
        condition = _spread(condition, then_expression, rank - condition_rank)
    return array.where(condition, then_expression, else_expression)


def _as_function(expression):
    return expression if callable(expression) else lambda: expression


def _spread(condition, expression, missing):
    """A condition repeated along the axes that only the expression has."""
    shape = array.concat([array.shape(condition), [1] * missing], axis=0)
    condition = array.reshape(condition, shape)
    wanted = array.shape(expression)
    repeats = array.where(wanted - shape > 0, wanted, array.ones_like(wanted))
    return array.tile(condition, repeats)


def in_train_phase(x, alt, training=None):
    """x while training, alt otherwise; either may be a function.

    Args:
        x: A tensor, or a function that makes one.
        alt: A tensor, or a function that makes one.
        training: Whether this is training; the learning phase if None.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.in_train_phase(tf.constant(1.0), tf.constant(2.0), training=True))
        np.float32(1.0)
    """
    if training is None:
        training = learning_phase()
    if not hasattr(training, "dtype"):
        if training == 1 or training is True:
            return x() if callable(x) else x
        if training == 0 or training is False:
            return alt() if callable(alt) else alt
    return switch(training, x, alt)


in_test_phase = named(
    "in_test_phase",
    """x while testing, alt otherwise; either may be a function.

    Args:
        x: A tensor, or a function that makes one.
        alt: A tensor, or a function that makes one.
        training: Whether this is training; the learning phase if None.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.in_test_phase(tf.constant(1.0), tf.constant(2.0), training=True))
        np.float32(2.0)
    """,
    lambda x, alt, training=None: in_train_phase(alt, x, training=training),
)
map_fn = named(
    "map_fn",
    """A function of each slice along the first axis.

    Args:
        fn: The function of a slice.
        elems: The tensor.
        name: Its name.
        dtype: The type of what it returns, where it is another one.

    Returns:
        The results, stacked along the first axis.

    Example:
        >>> sess.run(tf.keras.backend.map_fn(lambda x: x * x, tf.constant([1, 2, 3])))
        array([1, 4, 9], dtype=int32)
    """,
    lambda fn, elems, name=None, dtype=None: functional.map_fn(fn, elems, name=name, dtype=dtype),
)
foldl = named(
    "foldl",
    """Slices along the first axis combined from the left.

    Args:
        fn: The function of the value so far and a slice.
        elems: The tensor.
        initializer: The first value; a slice if None.
        name: Its name.

    Returns:
        The last value.

    Example:
        >>> sess.run(tf.keras.backend.foldl(lambda a, x: 10 * a + x, tf.constant([1, 2, 3])))
        np.int32(123)
    """,
    lambda fn, elems, initializer=None, name=None: functional.foldl(fn, elems, initializer=initializer, name=name),
)
foldr = named(
    "foldr",
    """Slices along the first axis combined from the right.

    Args:
        fn: The function of the value so far and a slice.
        elems: The tensor.
        initializer: The first value; a slice if None.
        name: Its name.

    Returns:
        The last value.

    Example:
        >>> sess.run(tf.keras.backend.foldr(lambda a, x: 10 * a + x, tf.constant([1, 2, 3])))
        np.int32(321)
    """,
    lambda fn, elems, initializer=None, name=None: functional.foldr(fn, elems, initializer=initializer, name=name),
)


def gradients(loss, variables):
    """The gradients of a loss with respect to variables.

    Args:
        loss: A scalar.
        variables: The variables.

    Returns:
        A list of tensors.

    Example:
        >>> K = tf.keras.backend
        >>> v = K.variable(3.0)
        >>> K.eval(K.gradients(v * v, [v])[0])
        np.float32(6.0)
    """
    return gradient_ops.gradients(loss, variables, colocate_gradients_with_ops=True)


def stop_gradient(variables):
    """The same values, constant for gradients.

    Args:
        variables: A tensor, or a list of them.

    Returns:
        A tensor.

    Example:
        >>> sess.run(tf.keras.backend.stop_gradient(tf.constant(1.0)))
        np.float32(1.0)
    """
    if isinstance(variables, (list, tuple)):
        return map(array.stop_gradient, variables)
    return array.stop_gradient(variables)


def print_tensor(x, message=""):
    """The same values, printed each time they are computed.

    Args:
        x: A tensor, or what can be made one.
        message: Text to put before them.

    Returns:
        The tensor.

    Example:
        >>> sess.run(tf.keras.backend.print_tensor(tf.constant(1.0), "x is "))
        x is  1
        np.float32(1.0)
    """
    if isinstance(x, Variable):
        x = array.identity(x)
    with control_dependencies([_print(message, x, output_stream=_standard_output())]):
        return array.identity(x)


def _standard_output():
    import sys

    return sys.stdout
