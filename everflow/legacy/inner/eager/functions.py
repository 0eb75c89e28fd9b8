"""Names that programs take from inside TensorFlow's modules `python.eager.backprop`, `context` and `function`."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.eager.differentiation import gradients_function
from everflow.contrib.eager.differentiation import implicit_gradients as implicit_grad
from everflow.contrib.eager.differentiation import implicit_value_and_gradients as implicit_val_and_grad
from everflow.contrib.eager.differentiation import value_and_gradients_function as val_and_grad_function
from everflow.contrib.eager.execution import execution_mode, num_gpus, set_execution_mode
from everflow.contrib.eager.execution import list_devices as devices
from everflow.eager.mode import eager_mode, graph_mode
from everflow.framework.scopes import executing_eagerly as in_eager_mode
from everflow.framework.scopes import get_default_graph
from everflow.ops.functions.concrete import ConcreteFunction
from everflow.ops.functions.traced import Function, UnliftedFunction, defun, defun_with_attributes


def register(func, *args, **kwargs):
    """Let the graph that is drawn now call a `defun` for these arguments, and not call it: tools put the call there."""
    if not isinstance(func, UnliftedFunction):
        raise ValueError(f"register() takes what defun() made, not {type(func)}")
    concrete = func.get_concrete_function(*args, **kwargs)
    concrete.add_to_graph(get_default_graph())
    return concrete
