"""`StagingArea`: tensors put aside in one run and taken in a later one, so that copying overlaps with computing."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import colocate_with, get_default_graph, name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops.array.basic import identity
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.queues.queues import as_type_list, check_one_each, in_order
from everflow.ops.shape_rules import scalar_output


class BaseStagingArea:
    """What all staging areas share: components, bounds, and a name that tells the store from others."""

    _kind = "BaseStagingArea"

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, capacity=0, memory_limit=0):
        self._dtypes = as_type_list(dtypes)
        if shared_name is None:
            shared_name = get_default_graph().unique_name(self._kind)
        elif not isinstance(shared_name, str):
            raise ValueError("shared_name must be a string")
        self._name = shared_name
        check_one_each("shapes", shapes, self._dtypes)
        check_one_each("names", names, self._dtypes)
        self._shapes = [TensorShape(s) for s in shapes or [None] * len(self._dtypes)]
        self._names = names
        if capacity < 0 or memory_limit < 0:
            raise ValueError("capacity and memory_limit must not be negative")
        self._capacity, self._memory_limit = capacity, memory_limit
        with name_scope(f"{self._name}_root"):
            # The op beside which all ops of the area are placed.
            self._coloc_op = no_op()

    name = property(lambda self: self._name, doc="The name of the area.")
    dtypes = property(lambda self: self._dtypes, doc="The dtypes of the components.")
    shapes = property(lambda self: self._shapes, doc="The shapes of the components.")
    names = property(lambda self: self._names, doc="The names of the components, None where they have none.")
    capacity = property(lambda self: self._capacity, doc="How many elements fit in; 0 for any number.")
    memory_limit = property(lambda self: self._memory_limit, doc="How many bytes fit in; 0 for any number.")

    def _options(self):
        return {"shared_name": self._name, "capacity": self._capacity, "memory_limit": self._memory_limit}

    def _returned(self, tensors, places=None):
        """What was got, with shapes and names: the components at some places, or all."""
        places = range(len(self._dtypes)) if places is None else places
        for tensor, place in zip(tensors, places, strict=True):
            tensor.set_shape(self._shapes[place])
        tensors = self._brought(tensors)
        return {self._names[i]: t for i, t in zip(places, tensors, strict=True)} if self._names else tensors

    def _brought(self, tensors):
        """What was got, on the device that is in effect, which a node of its own tells as in TensorFlow."""
        if no_op().device == self._coloc_op.device:
            return tensors
        return [identity(tensor) for tensor in tensors]


class StagingArea(BaseStagingArea):
    """A first-in-first-out store of tuples of tensors without names to share it by other than its own."""

    _kind = "StagingArea"

    def put(self, values, name=None):
        """An op that puts an element in: a tensor, a list of them, or a dictionary where the components have names."""
        if isinstance(values, Tensor):
            values = [values]
        with name_scope(
            name, f"{self._name}_put", list(values.values()) if isinstance(values, dict) else values
        ) as scope:
            known = self._names and isinstance(values, dict) and set(values) <= set(self._names)
            values = in_order(values, [name for name in self._names if name in values] if known else self._names)
            # As in TensorFlow, there may be fewer: what is got then has fewer, too.
            if len(values) > len(self._dtypes):
                raise ValueError(f"Expected {len(self._dtypes)} values, got {len(values)}")
            values = [convert_to_tensor(v) for v in values]
            for value, dtype, shape in zip(values, self._dtypes, self._shapes, strict=False):
                if value.dtype.base_dtype != dtype:
                    raise ValueError(f"Datatypes do not match. '{value.dtype.name}' != '{dtype.name}'")
                value.shape.assert_is_compatible_with(shape)
            with colocate_with(self._coloc_op):
                return raw.Stage(values=values, name=scope, **self._options())

    def get(self, name=None):
        """The oldest element; waits while there is none."""
        with colocate_with(self._coloc_op):
            tensors = raw.Unstage(dtypes=self._dtypes, name=name or f"{self._name}_get", **self._options())
        return self._returned(tensors)

    def peek(self, index, name=None):
        """The element at a place, which stays inside."""
        with colocate_with(self._coloc_op):
            tensors = raw.StagePeek(index, dtypes=self._dtypes, name=name or f"{self._name}_peek", **self._options())
        return self._returned(tensors)

    def size(self, name=None):
        """How many elements are inside."""
        return raw.StageSize(dtypes=self._dtypes, name=name or f"{self._name}_size", **self._options())

    def clear(self, name=None):
        """An op that takes everything out."""
        return raw.StageClear(dtypes=self._dtypes, name=name or f"{self._name}_clear", **self._options())


shape_rule("StageSize")(scalar_output)
not_differentiable("Stage", "Unstage", "StagePeek", "StageSize", "StageClear")
