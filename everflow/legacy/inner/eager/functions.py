"""Names that programs take from inside TensorFlow's modules `python.eager.backprop`, `context` and `function`."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.eager.differentiation import gradients_function
from everflow.contrib.eager.differentiation import implicit_gradients as implicit_grad
from everflow.contrib.eager.differentiation import implicit_value_and_gradients as implicit_val_and_grad
from everflow.contrib.eager.differentiation import value_and_gradients_function as val_and_grad_function
from everflow.contrib.eager.execution import execution_mode, num_gpus, set_execution_mode
from everflow.contrib.eager.execution import list_devices as devices
from everflow.eager.mode import eager_mode, graph_mode
from everflow.framework import nest
from everflow.framework.scopes import executing_eagerly as in_eager_mode
from everflow.framework.scopes import get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.ops.functions import traced
from everflow.ops.functions.argument_specs import FunctionSpec, validate_signature
from everflow.ops.functions.caches import CacheKey, FunctionCache
from everflow.ops.functions.concrete import ConcreteFunction
from everflow.ops.functions.traced import UnliftedFunction, defun, defun_with_attributes
from everflow.ops.functions.traced import UnliftedFunction as Function
from everflow.ops.variables.resource import ResourceVariable as UnliftedInitializerVariable

# What a function and its derivative say of each other.
FORWARD_FUNCTION_ATTRIBUTE_NAME = "forward_function_name"
BACKWARD_FUNCTION_ATTRIBUTE_NAME = "backward_function_name"


def __getattr__(name):
    if name == "RUN_FUNCTIONS_EAGERLY":  # run_functions_eagerly() sets it
        return traced._as_python[0]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def common_shape(x, y):
    """The shape of both where they are of one rank, with sizes left open in which they differ."""
    if x.rank != y.rank or x.rank is None:
        return TensorShape(None)
    return TensorShape([a if a == b else None for a, b in zip(x.as_list(), y.as_list(), strict=True)])


def is_same_structure(structure1, structure2, check_values=False):
    """Whether two nests have one structure, and if asked for the same values."""
    try:
        nest.assert_same_structure(structure1, structure2, expand_composites=True)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(structure1, True), nest.flatten(structure2, True), strict=True)
    return not check_values or all(type(a) is type(b) and a == b for a, b in pairs)


def register(func, *args, **kwargs):
    """Let the graph that is drawn now call a `defun` for these arguments, and not call it: tools put the call there."""
    if not isinstance(func, UnliftedFunction):
        raise ValueError(f"register() takes what defun() made, not {type(func)}")
    before = len(func._function_cache.all_values())
    concrete = func.get_concrete_function(*args, **kwargs)
    concrete.add_to_graph(get_default_graph())
    if len(func._function_cache.all_values()) > before:
        concrete.add_gradient_functions_to_graph(get_default_graph())
    return concrete
