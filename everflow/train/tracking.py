"""Which objects hang on which: the tree of objects that object-based checkpoints follow, and the names of its branches.

An object is trackable if it is a variable, an optimizer, a layer, a module, an `AutoTrackable`, or a list or dict held
by one of those. Any class joins by a method `_checkpoint_children()` that lists (name, object) pairs, or by
`_gather_saveables_for_checkpoint()`, a dict of what it saves itself.
"""

from __future__ import annotations

import abc
import collections
import functools

from google.protobuf.message import DecodeError

from everflow.formats.checkpoint import open_checkpoint
from everflow.framework.errors import DataLossError
from everflow.ops.variables.auto_trackable import branches
from everflow.ops.variables.saveables import PythonStringStateSaveable, SaveableObject
from everflow.ops.variables.trackable import NotTrackable, Trackable
from everflow.ops.variables.variable import Variable
from everflow.protos.trackable_object_graph_pb2 import TrackableObjectGraph
from everflow.train.saver_graph import VARIABLE_VALUE, saveables_of

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_SLOTS, _ATTRIBUTES = ".OPTIMIZER_SLOT", ".ATTRIBUTES"


class PythonState(Trackable, abc.ABC):
    """State of a Python object that goes into checkpoints as a string, by `serialize` and `deserialize`.

    Example:
        >>> class Count(tf.train.experimental.PythonState):
        ...     value = 3
        ...     def serialize(self):
        ...         return str(self.value)
        ...     def deserialize(self, text):
        ...         self.value = int(text)
        >>> path = tf.train.Checkpoint(count=Count()).save("folder/ckpt", session=sess)
    """

    @abc.abstractmethod
    def serialize(self):
        """The state as a string."""

    @abc.abstractmethod
    def deserialize(self, string_value):
        """Take the state from a string."""

    def _gather_saveables_for_checkpoint(self):
        """What is saved: the state, as a string."""
        return {
            "py_state": functools.partial(
                PythonStringStateSaveable, state_callback=self.serialize, restore_callback=self.deserialize
            )
        }


def children_of(thing):
    """[(name, object)] that hang on an object, in the order of their coming."""
    if hasattr(thing, "_checkpoint_children"):
        return thing._checkpoint_children()
    if isinstance(thing, (list, tuple)):
        return branches(enumerate(thing))
    return branches(thing.items()) if isinstance(thing, dict) else []


def slot_of(optimizer, variable, slot_name):
    """What an optimizer keeps for a variable under a name, or None."""
    if not isinstance(variable, Variable) or not hasattr(optimizer, "get_slot"):
        return None
    try:
        return optimizer.get_slot(variable, slot_name)
    except KeyError:  # Keras has it so
        return None


def saveables_for(thing, key_prefix):
    """[(attribute name, key, SaveableObject, name in the graph)] of what an object saves itself."""
    if isinstance(thing, Variable):
        key = f"{key_prefix}{_ATTRIBUTES}/{VARIABLE_VALUE}"
        (saveable,) = saveables_of({key: thing})
        return [(VARIABLE_VALUE, key, saveable, thing._shared_name)]
    found = []
    if hasattr(thing, "_gather_saveables_for_checkpoint"):
        for name, maker in thing._gather_saveables_for_checkpoint().items():
            key = f"{key_prefix}{_ATTRIBUTES}/{escape(name)}"
            saveable = maker(name=key) if callable(maker) else maker
            if not isinstance(saveable, SaveableObject):
                (saveable,) = saveables_of({key: saveable})
            found.append((name, key, saveable, getattr(thing, "name", "")))
    return found


def escape(name):
    """A name as one part of a key."""
    return name.replace(".", "..").replace("/", ".S")


class ObjectTree:
    """The objects reachable from a root, breadth first, with the path of each and the slots that optimizers keep.

    `branches` says what hangs on an object, where a file is to hold more than checkpoints do.
    """

    def __init__(self, root, branches=children_of):
        self.objects = [root]
        self._branches = branches
        # Slots of optimizers: (optimizer's id, variable's id, slot name, slot's id).
        self.slots: list[tuple[int, int, str, int]] = []
        self._ids = {id(root): 0}
        self._paths = [""]
        self._walk()
        self._add_slots()

    def _walk(self):
        waiting = collections.deque(self.objects)
        while waiting:
            thing = waiting.popleft()
            path = self._paths[self._ids[id(thing)]]
            for name, child in self._branches(thing):
                if id(child) not in self._ids:
                    self._join(child, f"{path}{escape(name)}/")
                    waiting.append(child)

    def _join(self, thing, path):
        if isinstance(thing, NotTrackable):
            raise NotImplementedError(
                f"{thing!r}, at {path.rstrip('/')!r}, does not support saving by objects: its class says so"
            )
        self._ids[id(thing)] = len(self.objects)
        self.objects.append(thing)
        self._paths.append(path)

    def _add_slots(self):
        plain = list(self.objects)
        for optimizer_id, optimizer in enumerate(plain):
            if not hasattr(optimizer, "get_slot_names"):
                continue
            for slot_name in optimizer.get_slot_names():
                for variable_id, variable in enumerate(plain):
                    slot = slot_of(optimizer, variable, slot_name)
                    if slot is None:
                        continue
                    if id(slot) not in self._ids:
                        optimizer_path = self._paths[optimizer_id].rstrip("/")
                        self._join(slot, f"{self._paths[variable_id]}{_SLOTS}/{optimizer_path}/{escape(slot_name)}/")
                    self.slots.append((optimizer_id, variable_id, slot_name, self._ids[id(slot)]))

    def saveables(self):
        """[(object's id, attribute name, key, saveable, name in the graph)], in the order of objects."""
        found = [(i, *entry) for i, thing in enumerate(self.objects) for entry in saveables_for(thing, self._paths[i])]
        for _, _, _, saveable, full_name in found:
            saveable.full_name = full_name
        return found

    def proto(self):
        """The tree as it is written into a checkpoint."""
        made = TrackableObjectGraph()
        for thing in self.objects:
            node = made.nodes.add()
            for name, child in self._branches(thing):
                node.children.add(node_id=self._ids[id(child)], local_name=name)
        for optimizer_id, variable_id, slot_name, slot_id in self.slots:
            made.nodes[optimizer_id].slot_variables.add(
                original_variable_node_id=variable_id, slot_name=slot_name, slot_variable_node_id=slot_id
            )
        for i, name, key, saveable, full_name in self.saveables():
            held = {"name": name, "full_name": full_name, "checkpoint_key": key}
            made.nodes[i].attributes.add(**held, optional_restore=saveable.optional_restore)
        return made


def read_object_graph(reader, path) -> TrackableObjectGraph:
    """The tree of objects that a checkpoint was written from."""
    try:
        return TrackableObjectGraph.FromString(reader.read(OBJECT_GRAPH_KEY).item())
    except (DecodeError, TypeError, ValueError) as e:  # no message, or no single string
        raise DataLossError(None, None, f"{path}: the tree of objects in {OBJECT_GRAPH_KEY} can't be read") from e


def names_in_object_checkpoint(save_path):
    """{name in the graph: key} of an object-based checkpoint; None for one by names."""
    reader = open_checkpoint(save_path)
    if not reader.has(OBJECT_GRAPH_KEY):
        return None
    attributes = [a for node in read_object_graph(reader, save_path).nodes for a in node.attributes]
    return {a.full_name: a.checkpoint_key for a in attributes if a.full_name}
