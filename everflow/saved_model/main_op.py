"""Ops that make a loaded model ready: local variables and tables initialized."""

from __future__ import annotations

from everflow.framework.scopes import control_dependencies, get_default_graph
from everflow.ops.control_flow.grouping import group
from everflow.ops.lookup.static import tables_initializer
from everflow.ops.variables.variable import global_variables_initializer, local_variables_initializer


def main_op():
    """An op that initializes all variables and tables.

    Returns:
        An operation.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(tf.saved_model.main_op.main_op())
        >>> sess.run(v)
        np.float32(1.0)
    """
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


def main_op_with_restore(restore_op_name):
    """An op that initializes all, then restores variables with the op of this name.

    Args:
        restore_op_name: The name of the operation that restores.

    Returns:
        An operation.

    Example:
        >>> v = tf.Variable(1.0)
        >>> restore = tf.no_op(name="restore")
        >>> sess.run(tf.saved_model.main_op_with_restore("restore"))
    """
    with control_dependencies([main_op()]):
        restore = get_default_graph().get_operation_by_name(restore_op_name)
        return group(restore)
