"""tensorflow.python.ops.script_ops: Python functions as ops, by their inner names."""

from everflow.eager.py_function import py_function as eager_py_func

__all__ = ["eager_py_func"]
