"""Switches between TensorFlow 1's behaviour, which is the default, and 2's: one by one, or all at once."""

from __future__ import annotations

from everflow.eager import version_mark
from everflow.eager.mode import disable_eager_execution, enable_eager_execution
from everflow.framework.shapes import disable_v2_tensorshape, enable_v2_tensorshape
from everflow.ops.control_flow.switches import disable_control_flow_v2, enable_control_flow_v2
from everflow.ops.math.equality import disable_tensor_equality, enable_tensor_equality
from everflow.ops.variables.variable import disable_resource_variables, enable_resource_variables


def enable_v2_behavior() -> None:
    """Be TensorFlow 2: eager execution, resource variables, functional control flow, plain sizes in shapes, and `==` on
    tensors by their values. Call it at the start of the program; names stay those of TensorFlow 1.

    Returns:
        None.

    Example:
        >>> tf.enable_v2_behavior()
        >>> tf.constant([1, 2]) == tf.constant([1, 3])
        <tf.Tensor: id=2, shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    enable_eager_execution()
    version_mark.enable()
    enable_v2_tensorshape()
    enable_resource_variables()
    enable_tensor_equality()
    enable_control_flow_v2()


def disable_v2_behavior() -> None:
    """Be TensorFlow 1 in everything: programs written for both call this.

    Returns:
        None.

    Example:
        >>> tf.disable_v2_behavior()
        >>> tf.executing_eagerly()
        False
    """
    disable_eager_execution()
    version_mark.disable()
    disable_v2_tensorshape()
    disable_resource_variables()
    disable_tensor_equality()
    disable_control_flow_v2()
