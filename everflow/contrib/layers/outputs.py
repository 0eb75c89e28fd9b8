"""Outputs of layers by name: collections of them, their aliases, and shapes with a known rank or size."""

from __future__ import annotations

import collections

from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import add_to_collection, add_to_collections, get_collection, get_collection_ref
from everflow.framework.shapes import TensorShape, dimension_value
from everflow.framework.static_values import constant_value as known
from everflow.ops.control_flow import smart_cond  # noqa: F401  a name of slim.utils as well
from everflow.ops.variables.variable import Variable

NamedOutputs = collections.namedtuple("NamedOutputs", ["name", "outputs"])


def collect_named_outputs(collections, alias, outputs):
    """Put a tensor into collections under an alias; returns it."""
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


def activated(outputs, activation_fn, outputs_collections, scope):
    """What comes last in a layer: its activation, if it has one, and its place in collections."""
    outputs = outputs if activation_fn is None else activation_fn(outputs)
    return collect_named_outputs(outputs_collections, scope.name, outputs)


def known_rank(inputs):
    """The rank of inputs; ValueError where it is unknown."""
    if inputs.shape.rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    return inputs.shape.rank


def append_tensor_alias(tensor, alias):
    """Give a tensor a further name; returns it."""
    alias = alias[:-1] if alias.endswith("/") else alias
    tensor.aliases = [*getattr(tensor, "aliases", []), alias]
    return tensor


def gather_tensors_aliases(tensors):
    """All aliases of tensors, in order."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def get_tensor_aliases(tensor):
    """The aliases of a tensor; where it has none, its own name."""
    found = getattr(tensor, "aliases", None)
    if found:
        return found
    name = tensor.op.name
    return [name[:-2] if name.endswith(":0") else name]


def convert_collection_to_dict(collection, clear_collection=False):
    """{alias: tensor} of a collection, in order."""
    tensors = get_collection(collection)
    found = collections.OrderedDict((alias, tensor) for tensor in tensors for alias in get_tensor_aliases(tensor))
    if clear_collection:
        get_collection_ref(collection).clear()
    return found


def constant_value(value_or_tensor_or_var, dtype=None):
    """The value of something known while building, else None."""
    if value_or_tensor_or_var is None:
        raise ValueError("constant_value takes a value, a tensor or a variable: it was given None")
    if isinstance(value_or_tensor_or_var, (Tensor, Variable)):
        if dtype and value_or_tensor_or_var.dtype != dtype:
            raise ValueError(f"It has the wrong type {value_or_tensor_or_var.dtype} instead of {dtype}")
        return None if isinstance(value_or_tensor_or_var, Variable) else known(value_or_tensor_or_var)
    return value_or_tensor_or_var


def static_cond(pred, fn1, fn2):
    """What one of two functions returns, for a predicate known while building."""
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable, not {function!r}")
    return fn1() if pred else fn2()


def last_dimension(shape, min_rank=1):
    """The last size of a shape; ValueError where it is unknown."""
    return _known_dimension(shape, -1, min_rank)


def channel_dimension(shape, data_format, min_rank=1):
    """The number of channels of a shape; ValueError where it is unknown."""
    return _known_dimension(shape, 1 if data_format == "NCHW" else -1, min_rank)


def _known_dimension(shape, axis, min_rank):
    size = dimension_value(shape[axis]) if shape.rank is not None and shape.rank >= min_rank else None
    if size is None:
        raise ValueError(f"The shape {shape} must have {min_rank} dimensions or more, and a known dimension {axis}")
    return size


def check_data_format(data_format, *allowed):
    """Raise ValueError for a data format that is none of those that a layer knows."""
    if data_format not in allowed:
        raise ValueError(f"data_format must be {' or '.join(allowed)}, not {data_format!r}")


def two_element_tuple(int_or_tuple):
    """A size as a pair: of one number, or as given."""
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    if isinstance(int_or_tuple, TensorShape) and len(int_or_tuple) == 2:
        return int_or_tuple.size(0), int_or_tuple.size(1)
    raise ValueError(f"A size in two dimensions is an int or two of them, not {int_or_tuple!r}")


def n_positive_integers(n, value):
    """`value`, one number or `n` of them, as `n` numbers above zero."""
    if n < 1:
        raise ValueError("n must be a positive integer")
    try:
        single = int(value)
    except (TypeError, ValueError):
        try:
            values = tuple(int(getattr(v, "value", v)) for v in value)
        except (TypeError, ValueError):
            values = ()
        if len(values) != n:
            raise ValueError(f"Expected sequence of {n} positive integers, but received {value!r}") from None
    else:
        values = (single,) * n
    for item in values:
        if item < 1:
            raise ValueError(f"expected positive integer, but received {item}")
    return values


def add_variable_to_collections(variable, collections_set, collections_name):
    """Put a variable (or its parts) into collections: a list, or a dict by the kind of variable."""
    found = collections_set.get(collections_name) if isinstance(collections_set, dict) else collections_set
    for collection in list(found) if found is not None else []:
        if collection == GraphKeys.GLOBAL_VARIABLES:
            continue  # it is there already
        for part in variable if hasattr(variable, "as_tensor") and hasattr(variable, "_variable_list") else [variable]:
            add_to_collection(collection, part)


def get_variable_collections(variables_collections, name):
    """The collections of a kind of variable, from a list or a dict."""
    return variables_collections.get(name) if isinstance(variables_collections, dict) else variables_collections
