"""tensorflow.python.ops.script_ops: Python functions as ops, by their inner names."""

from everflow.eager.py_function import py_function as eager_py_func
from everflow.ops.functions import python as script
from everflow.ops.functions.python import py_func as py_func_common

__all__ = ["FuncRegistry", "_internal_py_func", "_py_funcs", "eager_py_func", "py_func_common"]


class FuncRegistry:
    """The Python functions that ops of this process call, by their tokens."""

    def insert(self, func):
        """A token for a function, which lives as long as the graph that is drawn now."""
        return script.register(func, None)

    def remove(self, token):
        """Forget a function."""
        script.forget(token)

    def size(self):
        """How many functions there are."""
        return script.count()


_py_funcs = FuncRegistry()


def _internal_py_func(func, inp, Tout, stateful=None, eager=False, is_grad_func=False, name=None):
    """`func` as an op, on arrays or (`eager`) on tensors; a gradient is a function like others."""
    return eager_py_func(func, inp, Tout, name) if eager else py_func_common(func, inp, Tout, stateful, name)
