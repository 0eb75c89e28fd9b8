"""Names that programs take from inside TensorFlow's module `layers.utils`."""

from everflow.ops.control_flow.conditionals import smart_constant_value as constant_value

__all__ = ["constant_value"]
