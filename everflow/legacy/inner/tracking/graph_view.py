"""tensorflow.python.training.tracking.graph_view: the objects that hang on a root, as checkpoints see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everflow.framework import dtypes
from everflow.framework.scopes import device
from everflow.legacy.inner.tracking.base import NoRestoreSaveable
from everflow.ops.array.constants import constant
from everflow.ops.variables.saveables import SaveableObject
from everflow.ops.variables.trackable import TrackableReference
from everflow.protos.trackable_object_graph_pb2 import TrackableObjectGraph
from everflow.train.tracking import OBJECT_GRAPH_KEY, ObjectTree, children_of, escape


class ObjectGraphView:
    """What hangs on a root, and what of it is saved. Subclasses may say otherwise in `list_dependencies`."""

    def __init__(self, root: Any, saveables_cache: Mapping | None = None) -> None:
        self._root = root
        self._saveables_cache = saveables_cache

    root = property(lambda self: self._root)
    saveables_cache = property(lambda self: self._saveables_cache, doc="What was given to keep saveables in, or None.")

    def list_dependencies(self, obj: Any) -> list[TrackableReference]:
        """What hangs on an object, with names."""
        return [TrackableReference(*child) for child in children_of(obj)]

    def branches(self, obj: Any) -> list[tuple[str, Any]]:
        """`list_dependencies`, as the tree asks for it."""
        return [(name, child) for name, child in self.list_dependencies(obj)]

    def _tree(self) -> ObjectTree:
        return ObjectTree(self._root, self.branches)

    def list_objects(self) -> list[Any]:
        """All objects, nearest first; slots of optimizers come last."""
        return self._tree().objects

    def objects_ids_and_slot_variables(self) -> tuple[list[Any], dict[int, int], dict[int, list]]:
        """(all objects, {object's id(): its number}, {an optimizer's id(): (variable, slot name, slot) …})."""
        tree = self._tree()
        numbers = {id(thing): number for number, thing in enumerate(tree.objects)}
        slots: dict[int, list] = {}
        for optimizer, variable, name, slot in tree.slots:
            held = (tree.objects[variable], name, tree.objects[slot])
            slots.setdefault(id(tree.objects[optimizer]), []).append(held)
        return tree.objects, numbers, slots

    def serialize_object_graph(self) -> tuple[list[SaveableObject], TrackableObjectGraph, None]:
        """(what is to be saved, the message about the objects, None: nothing has to be fed)."""
        tree = self._tree()
        return [saveable for _, _, _, saveable, _ in tree.saveables()], tree.proto(), None

    def frozen_saveable_objects(self, object_map: Mapping | None = None, to_graph: Any = None) -> list[SaveableObject]:
        """What is to be saved, with the message about the objects as it is now; of a graph that objects were copied to
        by `object_map`.
        """
        tree = self._tree() if object_map is None else _Mapped(self, object_map).tree
        with device("/cpu:0"):
            text = constant(tree.proto().SerializeToString(), dtype=dtypes.string)
        saveables = [saveable for _, _, _, saveable, _ in tree.saveables()]
        return [*saveables, NoRestoreSaveable(text, OBJECT_GRAPH_KEY, dtypes.string)]


class _Mapped:
    """A view with objects replaced by those that a mapping leads to."""

    def __init__(self, view: ObjectGraphView, object_map: Mapping) -> None:
        def branches(thing: Any) -> list[tuple[str, Any]]:
            return [(name, object_map.get(child, child)) for name, child in view.branches(thing)]

        self.tree = ObjectTree(view.root, branches)


def _escape_local_name(name: str) -> str:
    return escape(name)


def _object_prefix_from_path(path_to_root: list[TrackableReference]) -> str:
    """The beginning of the keys of an object that this path leads to.

    >>> _object_prefix_from_path([TrackableReference("a/x", None), TrackableReference("b", None)])
    'a.Sx/b'
    """
    return "/".join(escape(step.name) for step in path_to_root)
