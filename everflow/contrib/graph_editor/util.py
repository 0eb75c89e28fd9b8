"""What tf.contrib.graph_editor has inside of its module `util`: lists, trees, and elements of one graph in another."""

from __future__ import annotations

from everflow.contrib.graph_editor import elements
from everflow.contrib.graph_editor.elements import (  # noqa: F401  Its own, too.
    ControlOutputs,
    ListView,
    get_consuming_ops,
    get_generating_ops,
    get_tensors,
    make_list_of_op,
    make_list_of_t,
    make_placeholder_from_dtype_and_shape,
    make_placeholder_from_tensor,
    placeholder_name,
    scope_finalize,
    unique,
)
from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Operation, Tensor


def concatenate_unique(la, lb):
    """The first list, with what the second has besides at its end."""
    la.extend(item for item in unique(lb) if item not in la)
    return la


def is_iterable(obj):
    """Whether one can go through it; a string, which one can, counts as well."""
    try:
        iter(obj)
    except Exception:  # what an object does when it is asked is its own affair
        return False
    return True


def flatten_tree(tree, leaves=None):
    """The leaves of nested structures; put at the end of the list `leaves` where it is given."""
    leaves = [] if leaves is None else leaves
    leaves.extend(elements.flatten_tree(list(tree) if isinstance(tree, ListView) else tree))
    return leaves


def transform_tree(tree, fn, iterable_type=tuple):
    """The same structure with each leaf replaced; what one can go through and isn't a list is of `iterable_type`."""

    def below(node):
        return transform_tree(node, fn, iterable_type)

    if isinstance(tree, dict):
        return type(tree)((key, below(value)) for key, value in tree.items())
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*map(below, tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(below, tree))
    if is_iterable(tree) and not isinstance(tree, (str, bytes, Tensor)):
        return iterable_type(map(below, tree))
    return fn(tree)


def check_graphs(*args):
    """ValueError unless all are of one graph, but for those that have none."""
    graphs = unique([graph for item in args if (graph := getattr(item, "graph", item)) is not None])
    if len(graphs) > 1:
        raise ValueError(f"Argument [{len(args) - 1}]: the graphs are not the same")


def get_unique_graph(tops, check_types=None, none_if_empty=False):
    """The graph of operations and tensors."""
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    kinds = (Operation, Tensor) if check_types is None else check_types
    for top in tops:
        elements.check_type(top, *(kinds if isinstance(kinds, (list, tuple)) else [kinds]))
    return None if none_if_empty and not tops else elements.unique_graph(list(tops))


def scope_dirname(scope):
    """What is before the last slash of a scope, and the slash."""
    folder, slash, _ = scope.rpartition("/")
    return folder + slash


def scope_basename(scope):
    """What is after the last slash of a scope."""
    return scope.rpartition("/")[2]


def get_predefined_collection_names():
    """The names of the collections that TensorFlow fills."""
    return [getattr(GraphKeys, key) for key in dir(GraphKeys) if not key.startswith("_") and key.isupper()]


def find_corresponding_elem(target, dst_graph, dst_scope="", src_scope=""):
    """The operation or tensor of another graph, below another scope, that has the same name."""
    name = target.name
    scopes = [f"{scope}/" if scope and not scope.endswith("/") else scope for scope in (src_scope, dst_scope)]
    if not name.startswith(scopes[0]):
        raise ValueError(f"{name} does not start with {scopes[0]}")
    name = scopes[1] + name[len(scopes[0]) :]
    elements.check_type(target, Tensor, Operation)
    return dst_graph.as_graph_element(name)


def find_corresponding(targets, dst_graph, dst_scope="", src_scope=""):
    """The same for each leaf of a structure."""
    return transform_tree(targets, lambda target: find_corresponding_elem(target, dst_graph, dst_scope, src_scope))
