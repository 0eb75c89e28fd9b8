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
    return draws_functions()


def draws_functions():
    """Whether `cond` and `while_loop` draw functional ops here: where asked for, and in bodies of traced functions."""
    return _enabled or getattr(get_default_graph(), "draws_functions", False)


_outputs_all_intermediates: bool | None = None


def set_output_all_intermediates(state):
    """Have branches and loops that are drawn as functions give all they compute, so that derivatives find it there.

    Otherwise an op is made to give what a derivative needs when that is drawn, which a session that has run the op
    already can't see.

    Args:
        state: Whether; None leaves it to TensorFlow's default, which is not to.

    Returns:
        None.

    Example:
        >>> tf.experimental.output_all_intermediates(True)
        >>> tf.enable_control_flow_v2()
        >>> x = tf.placeholder(tf.float32, [])
        >>> y = tf.cond(x > 0.0, lambda: tf.sin(x) * x, lambda: x)
        >>> len(y.op.inputs[0].op.outputs)
        2
        >>> tf.disable_control_flow_v2()
        >>> tf.experimental.output_all_intermediates(None)
    """
    global _outputs_all_intermediates
    _outputs_all_intermediates = state


def output_all_intermediates():
    """Whether branches and loops always give what their derivatives may need: not unless a program asks for it."""
    return bool(_outputs_all_intermediates)
