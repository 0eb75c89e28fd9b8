"""Variables of models: made on devices and in collections, found by scope, name or pattern, and restored."""

from __future__ import annotations

import functools
import itertools
import re

from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.devices import DeviceSpec
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import add_to_collection, colocate_with, get_collection, get_collection_ref
from everflow.framework.scopes import device as device_scope
from everflow.framework.shapes import TensorShape
from everflow.ops.variables import scope as scopes
from everflow.ops.variables.global_step import assert_global_step as _assert_global_step
from everflow.ops.variables.global_step import create_global_step as _create_global_step
from everflow.ops.variables.global_step import get_global_step as _get_global_step
from everflow.ops.variables.global_step import get_or_create_global_step as _get_or_create_global_step
from everflow.ops.variables.partitioned import PartitionedVariable
from everflow.ops.variables.variable import Variable, VariableAggregation, VariableSynchronization
from everflow.platform.deprecation import deprecated
from everflow.platform.signatures import optional, takes

# --- the global step -------------------------------------------------------------------------


def _moved(name):
    return deprecated(None, f"Please switch to tf.train.{name}")


@_moved("assert_global_step")
def assert_global_step(global_step_tensor):
    """TypeError where it is not a scalar of an integer type."""
    _assert_global_step(global_step_tensor)


def assert_or_get_global_step(graph=None, global_step_tensor=None):
    """The given step once it is checked to be one, else that of the graph."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


@_moved("get_global_step")
def get_global_step(graph=None):
    """The global step of a graph, or None.

    Args:
        graph: The graph to work in; the default graph if None.

    Returns:
        A variable, or None.

    Example:
        >>> tf.contrib.framework.get_global_step() is None
        True
    """
    return _get_global_step(graph)


@_moved("create_global_step")
def create_global_step(graph=None):
    """Make the global step; ValueError where there is one."""
    return _create_global_step(graph)


@_moved("get_or_create_global_step")
def get_or_create_global_step(graph=None):
    """The global step of a graph, made where there is none.

    Args:
        graph: The graph to work in; the default graph if None.

    Returns:
        A variable.

    Example:
        >>> tf.contrib.framework.get_or_create_global_step().name
        'global_step:0'
    """
    return _get_or_create_global_step(graph)


# --- making ----------------------------------------------------------------------------------


def local_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A variable of this process alone: not trained, not in checkpoints."""
    return _plain_variable(GraphKeys.LOCAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def global_variable(initial_value, validate_shape=True, name=None, use_resource=None):
    """A variable that is not trained."""
    return _plain_variable(GraphKeys.GLOBAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def _plain_variable(collection, initial_value, validate_shape, name, use_resource):
    # The variable scope decides where the caller does not.
    if use_resource is None:
        use_resource = scopes.get_variable_scope().use_resource
    settings = {"collections": [collection], "validate_shape": validate_shape, "use_resource": use_resource}
    return Variable(initial_value, trainable=False, **settings, name=name)


_VARIABLE = optional(
    """shape dtype initializer regularizer trainable collections caching_device device partitioner custom_getter
    use_resource synchronization aggregation""",
    trainable=True,
    synchronization=VariableSynchronization.AUTO,
    aggregation=VariableAggregation.NONE,
)


@add_arg_scope
@takes(_VARIABLE)
def variable(name, **given):
    """As `tf.get_variable`, on a device of its own: a device, or a function from an op to one."""
    collections = given["collections"]
    # Each collection once, however often it was given.
    given["collections"] = list(set(collections if collections is not None else [GraphKeys.GLOBAL_VARIABLES]))
    with device_scope(given.pop("device") or ""):
        return _getter(given.pop("custom_getter"))(name, **given)


def _getter(custom_getter):
    if custom_getter is None:
        return scopes.get_variable
    return functools.partial(custom_getter, reuse=scopes.get_variable_scope().reuse)


@add_arg_scope
@takes({**_VARIABLE, "dtype": dtypes.float32})
def model_variable(name, **given):
    """As `variable`, in the collection of model variables as well."""
    given["collections"] = [*(given["collections"] or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, **given)


def add_model_variable(var):
    """Put a variable among the model variables, once."""
    if not any(v is var for v in get_collection_ref(GraphKeys.MODEL_VARIABLES)):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


def zero_initializer(ref, use_locking=True, name="zero_initializer"):
    """An op that fills an uninitialised variable with zeros, without a tensor of zeros beside it."""
    if hasattr(ref, "handle"):
        return raw.ZeroVarInitializer(var=ref.handle, dtype=ref.dtype.base_dtype, shape=ref.shape, name=name)
    with colocate_with(ref):
        return raw.ZeroInitializer(ref=ref._ref() if isinstance(ref, Variable) else ref, name=name)


@shape_rule("ZeroInitializer")
def _zero_initializer_shape(op):
    return op.inputs[0].shape


@shape_rule("ZeroVarInitializer")
def _zero_var_initializer_shape(op):
    return TensorShape([])


class VariableDeviceChooser:
    """Devices for variables, parameter servers takes turns: to be given as `device`."""

    def __init__(self, num_tasks=0, job_name="ps", device_type="CPU", device_index=0, replica=None):
        anywhere = DeviceSpec(replica=replica, device_type=device_type, device_index=device_index)
        servers = [anywhere.replace(job=job_name, task=task) for task in range(num_tasks)]
        self._devices = itertools.cycle(spec.to_string() for spec in servers or [anywhere])

    def __call__(self, op):
        return next(self._devices)


# --- finding ---------------------------------------------------------------------------------


def get_variables(scope=None, suffix=None, collection=GraphKeys.GLOBAL_VARIABLES):
    """The variables of a collection whose names begin with a scope and end with a suffix."""
    if isinstance(scope, scopes.VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = (scope or "") + ".*" + (suffix if ":" in suffix else suffix + ":")
    return get_collection(collection, scope)


def _of(kind, collection):
    def get(scope=None, suffix=None):
        return get_variables(scope, suffix, collection)

    get.__name__ = get.__qualname__ = f"get_{kind}_variables"
    get.__doc__ = f"As `get_variables`, of the {kind} variables."
    return get


get_model_variables = _of("model", GraphKeys.MODEL_VARIABLES)
get_local_variables = _of("local", GraphKeys.LOCAL_VARIABLES)
get_trainable_variables = _of("trainable", GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix, scope=None):
    """Variables whose names end so."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name, scope=None):
    """Variables of this name, in whatever scope below the given one."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name):
    """The one variable whose op has this name."""
    below = {v.op.name: v for v in get_variables(scope=var_op_name)}
    if var_op_name in below:
        return below[var_op_name]
    others = f": only {', '.join(below)}" if below else ""
    raise ValueError(f"Couldn't find variable {var_op_name}{others}")


def get_variables_to_restore(include=None, exclude=None):
    """Global variables in the scopes of `include` (all, without it) and in none of `exclude`."""
    for name, given in (("include", include), ("exclude", exclude)):
        if given is not None and not isinstance(given, (list, tuple)):
            raise TypeError(f"{name} should be a list of scopes, not {given!r}")
    wanted = get_variables() if include is None else [v for scope in include for v in get_variables(scope)]
    unwanted = {v.name for scope in exclude or () for v in get_variables(scope)}
    return [v for v in wanted if v.name not in unwanted]


def filter_variables(var_list, include_patterns=None, exclude_patterns=None, reg_search=True):
    """Variables whose names match a pattern of the first list and none of the second."""
    matches = re.search if reg_search else re.match
    as_list = lambda patterns: [patterns] if isinstance(patterns, str) else patterns  # noqa: E731

    def chosen(name):
        included = include_patterns is None or any(matches(p, name) for p in as_list(include_patterns))
        return included and not any(matches(p, name) for p in as_list(exclude_patterns or []))

    return [v for v in var_list if chosen(v.name)]


def get_variable_full_name(var):
    """The name a checkpoint has a variable under: of the whole, for a part of a partitioned one."""
    if isinstance(var, PartitionedVariable):
        return var.name
    info = getattr(var, "_save_slice_info", None)
    return info.full_name if info else var.op.name
