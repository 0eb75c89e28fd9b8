"""`MapStagingArea`: tensors put aside under keys, whole or component by component, and taken by key or in turn."""

from __future__ import annotations

from everflow.framework import dtypes as types
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import colocate_with, name_scope
from everflow.ops.queues.staging import BaseStagingArea
from everflow.ops.shape_rules import scalar_output

_KINDS = "Stage", "Peek", "Unstage", "UnstageNoKey", "Size", "IncompleteSize", "Clear"


class MapStagingArea(BaseStagingArea):
    """A store of tuples of tensors by key. With `ordered` the least key comes first where none is asked for."""

    _kind = "MapStagingArea"

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, ordered=False, capacity=0, memory_limit=0):
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._prefix = "OrderedMap" if ordered else "Map"

    def _op(self, kind, *args, name):
        build = getattr(raw, f"{self._prefix}{kind}")
        return build(*args, dtypes=self._dtypes, name=name, **self._options())

    def _places(self, indices):
        """Which components are meant: numbers, or names where components have them; all without any."""
        if indices is None:
            return list(range(len(self._dtypes)))
        return [self._names.index(i) if isinstance(i, str) else i for i in indices]

    def put(self, key, vals, indices=None, name=None):
        """An op that puts components under a key: by name in a dictionary, or a list with the indices of each."""
        given = list(vals.values()) if isinstance(vals, dict) else vals
        with name_scope(name, f"{self._name}_put", given) as scope:
            places, values = self._components(vals, indices)
            with colocate_with(self._coloc_op):
                return self._op("Stage", key, convert_to_tensor(places, types.int32, "indices"), values, name=scope)

    def _components(self, vals, indices):
        if self._names and not isinstance(vals, dict):
            raise ValueError("The components of this staging area have names: give a dictionary")
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("The components of this staging area have no names: give a list")
            chosen = {name: vals[name] for name in self._names if name in vals}
            if len(chosen) != len(vals):
                raise ValueError(f"The components are called {self._names}; got {sorted(vals)}")
            places, vals = [self._names.index(name) for name in chosen], list(chosen.values())
        elif indices is None:
            raise ValueError("Tensors in a list need `indices` that say which components they are; or pass a dict")
        else:
            places = list(indices)
            if len(places) != len(vals):
                raise ValueError(f"There are {len(places)} indices for {len(vals)} values")
        values = [convert_to_tensor(v) for v in vals]
        for place, value in zip(places, values, strict=True):
            if value.dtype.base_dtype != self._dtypes[place]:
                raise ValueError(f"Component {place} is of {self._dtypes[place].name}, not {value.dtype.name}")
            value.shape.assert_is_compatible_with(self._shapes[place])
        return places, values

    def get(self, key=None, indices=None, name=None):
        """(key, components) of an element, which waits until there is one: that of a key, or any."""
        kind = "get_nokey" if key is None else "get"
        places = self._places(indices)
        chosen_types = [self._dtypes[i] for i in places]
        with colocate_with(self._coloc_op), name_scope(name, f"{self._name}_{kind}") as scope:
            wanted = convert_to_tensor(places, types.int32, "indices")
            if key is None:
                key, tensors = self._taken("UnstageNoKey", wanted, types=chosen_types, name=scope)
            else:
                tensors = self._taken("Unstage", key, wanted, types=chosen_types, name=scope)
        if kind == "get_nokey":
            (key,) = self._brought([key])
        return key, self._returned(tensors, places)

    def _taken(self, kind, *args, types, name):
        build = getattr(raw, f"{self._prefix}{kind}")
        return build(*args, dtypes=types, name=name, **self._options())

    def peek(self, key, indices=None, name=None):
        """Components of the element of a key, which stays inside."""
        places = self._places(indices)
        with colocate_with(self._coloc_op), name_scope(name, f"{self._name}_pop") as scope:
            wanted = convert_to_tensor(places, types.int32, "indices")
            chosen_types = [self._dtypes[i] for i in places]
            tensors = self._taken("Peek", key, wanted, types=chosen_types, name=scope)
        return self._returned(tensors, places)

    def size(self, name=None):
        """How many elements are whole."""
        return self._op("Size", name=name or f"{self._name}_size")

    def incomplete_size(self, name=None):
        """How many elements lack components."""
        return self._op("IncompleteSize", name=name or f"{self._name}_incomplete_size")

    def clear(self, name=None):
        """An op that takes everything out."""
        return self._op("Clear", name=name or f"{self._name}_clear")


for _prefix in ("Map", "OrderedMap"):
    shape_rule(f"{_prefix}Size", f"{_prefix}IncompleteSize")(scalar_output)
    not_differentiable(*(f"{_prefix}{kind}" for kind in _KINDS))
