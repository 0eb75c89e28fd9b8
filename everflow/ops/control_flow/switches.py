"""Whether branches and loops are drawn as functional ops or as Switch and Merge."""

from __future__ import annotations

from everflow.framework.scopes import get_default_graph

_enabled = False


def enable_control_flow_v2():
    """From now on `cond` and `while_loop` draw `If` and `While` ops that call functions.

    Returns:
        None.

    Example:
        >>> tf.enable_control_flow_v2()
        >>> tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0).op.inputs[0].op.type
        'StatelessIf'
        >>> tf.disable_control_flow_v2()
    """
    global _enabled
    _enabled = True


def disable_control_flow_v2():
    """From now on `cond` and `while_loop` draw Switch and Merge, as they do unless told otherwise.

    Returns:
        None.

    Example:
        >>> tf.disable_control_flow_v2()
        >>> tf.control_flow_v2_enabled()
        False
    """
    global _enabled
    _enabled = False


def control_flow_v2_enabled():
    """Whether `cond` and `while_loop` draw functional ops.

    Returns:
        A bool.

    Example:
        >>> tf.control_flow_v2_enabled()
        False
    """
    return _enabled


def draws_functions():
    """Whether `cond` and `while_loop` draw functional ops here: where asked for, and in bodies of traced functions."""
    return _enabled or getattr(get_default_graph(), "draws_functions", False)
