"""Switches between TensorFlow 1's behaviour and 2's. Everflow is TensorFlow 1: switching 2 off is what it is anyway."""

from __future__ import annotations

from everflow.ops.control_flow.switches import disable_control_flow_v2
from everflow.ops.variables.variable import disable_resource_variables


def disable_v2_behavior():
    """Be TensorFlow 1 in everything: programs written for both call this."""
    disable_resource_variables()
    disable_control_flow_v2()


def disable_eager_execution():
    """Draw graphs and run them in sessions, as is done here anyway."""


def disable_v2_tensorshape():
    """Iterating a TensorShape gives Dimensions, as it does here anyway."""


def disable_tensor_equality():
    """Tensors are equal to themselves only, as they are here anyway."""


def _not_there(what):
    raise NotImplementedError(f"Everflow doesn't have {what} yet")


def enable_v2_behavior():
    """Be TensorFlow 2: not there."""
    _not_there("TensorFlow 2's behaviour")


def enable_v2_tensorshape():
    """Plain numbers from a TensorShape: not there; use `shape.as_list()`."""
    _not_there("TensorFlow 2's shapes")


def enable_tensor_equality():
    """Tensors compared by their values with `==`: not there; use `tf.equal`."""
    _not_there("TensorFlow 2's `==` on tensors")
