"""Resources that a graph must create before it runs (other than variables): what registers and what initializes them."""

from __future__ import annotations

import collections

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, device, get_collection, name_scope
from everflow.ops.array import boolean_mask, stack
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.math import logical_not

_Resource = collections.namedtuple("_Resource", ["handle", "create", "is_initialized"])


def register_resource(handle, create_op, is_initialized_op, is_shared=True):
    """Have a resource created with the others: shared ones with global variables, others with local ones."""
    add_to_collection(
        GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES, _Resource(handle, create_op, is_initialized_op)
    )


def shared_resources():
    """The resources that are created with global variables."""
    return get_collection(GraphKeys.RESOURCES)


def local_resources():
    """The resources that are created with local variables."""
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list, name="init"):
    """An op that creates resources."""
    if resource_list:
        return group(*[r.create for r in resource_list], name=name)
    return no_op(name=name)


def report_uninitialized_resources(resource_list=None, name="report_uninitialized_resources"):
    """The names of those resources that don't exist yet, as a string tensor."""
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    with name_scope(name), device("/cpu:0"):
        if not resource_list:
            return constant([], dtype=dtypes.string)
        missing = logical_not(stack([r.is_initialized for r in resource_list]))
        return boolean_mask(constant([r.handle.name for r in resource_list]), missing)
