"""How the objects of a program match those of a checkpoint, from `restore` until nothing waits for it any more.

Whoever holds the root may add objects that the checkpoint knows; a `Restoration` finds them. What nobody took by the
end is told in the log, for a program that changed since it saved loses state that way.
"""

from __future__ import annotations

import itertools
import weakref

from everflow.framework import attachments
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.ops.array.constants import constant
from everflow.ops.variables.saveables import PythonStateSaveable
from everflow.platform import logging
from everflow.train.tracking import ObjectTree, children_of, slot_of

_numbers = itertools.count(1)  # of restorations: where two wait for an object, it is the later one's


def object_paths(proto):
    """{number: name} of the objects of a checkpoint by the ways that lead to them, as `(root).layers.0`; slots are named
    by what they are of.
    """
    paths, waiting = {0: "(root)"}, [0]
    while waiting:
        node_id = waiting.pop(0)
        for child in proto.nodes[node_id].children:
            if child.node_id not in paths:
                paths[child.node_id] = f"{paths[node_id]}.{child.local_name}"
                waiting.append(child.node_id)
    for node_id, node in enumerate(proto.nodes):
        for slot in node.slot_variables:
            of = paths[slot.original_variable_node_id]
            paths[slot.slot_variable_node_id] = f"{paths[node_id]}'s state '{slot.slot_name}' for {of}"
    return paths


class Restoration:
    """A checkpoint with a tree of objects, and the root that it is restored to, which it doesn't keep alive."""

    def __init__(self, root, path, proto, reader, restore_ops):
        self._root_of = weakref.ref(root)
        self.path, self.proto, self._reader, self.nodes = path, proto, reader, restore_ops
        self.is_partial_expected = False
        self._found: set[int] = set()  # numbers of objects that have been here
        self._taken: set[str] = set()  # keys of what was given to them
        self._known: set[int] = set()
        self.in_session: set[int] = set()  # what `run_restore_ops` restored
        self._number = next(_numbers)
        self._makes_slots = False
        self.is_complete = False

    @property
    def root(self):
        """What it is restored to; None when that is gone."""
        return self._root_of()

    def __del__(self):
        if self.is_partial_expected:
            return
        paths = object_paths(self.proto)
        lost = [number for number in range(len(self.proto.nodes)) if number not in self._found]
        unused = [
            (number, names)
            for number in sorted(self._found)
            if (names := [a.name for a in self.proto.nodes[number].attributes if self._is_unused(a)])
        ]
        for number in lost:
            logging.warning("No object took this one of the checkpoint: %s", paths.get(number, number))
        for number, names in unused:
            logging.warning("An object did not take all that the checkpoint has for %s: %s", paths[number], names)
        if lost or unused:
            logging.warning(
                "Parts of the checkpoint were restored to nothing (see above). If that is meant, say so with "
                "checkpoint.restore(...).expect_partial(); status.assert_consumed() makes an error of it."
            )

    def _is_unused(self, attribute):
        return not attribute.optional_restore and attribute.checkpoint_key not in self._taken

    def joined(self, owner):
        """Restore what came with something new on an object, when executing eagerly."""
        if id(owner) in self._known and executing_eagerly():
            self.restore_ops()

    def match(self):
        """{id in the file: object here}; the first way to an object decides."""
        root = self.root
        matched, waiting = ({}, []) if root is None else ({0: root}, [0])
        while waiting:
            node_id = waiting.pop(0)
            here = dict(children_of(matched[node_id]))
            # An object may make what it is asked for.
            look_up = getattr(matched[node_id], "_lookup_dependency", here.get)
            for child in self.proto.nodes[node_id].children:
                if child.node_id in matched:
                    continue
                found = here.get(child.local_name)
                found = look_up(child.local_name) if found is None else found
                if found is not None:
                    matched[child.node_id] = found
                    waiting.append(child.node_id)
        for node_id, optimizer in list(matched.items()):
            for slot in self.proto.nodes[node_id].slot_variables:
                found = slot_of(optimizer, matched.get(slot.original_variable_node_id), slot.slot_name)
                if found is not None:
                    matched[slot.slot_variable_node_id] = found
        self._found.update(matched)
        return matched

    def attributes(self):
        """[(id, key, object, saveable)] for what is both here and in the file."""
        matched = self.match()  # may make objects, which the tree then has
        tree = ObjectTree(self.root)
        here = {(id(tree.objects[i]), name): saveable for i, name, _, saveable, _ in tree.saveables()}
        found = [
            (node_id, attribute.checkpoint_key, thing, here[id(thing), attribute.name])
            for node_id, thing in matched.items()
            for attribute in self.proto.nodes[node_id].attributes
            if (id(thing), attribute.name) in here
        ]
        self._taken.update(key for _, key, _, _ in found)
        return found

    def _make_slots(self):
        """Make slots that the file has for optimizers and variables that are here, where the optimizer has none yet."""
        matched = self.match()
        for node_id, optimizer in matched.items():
            for slot in self.proto.nodes[node_id].slot_variables:
                variable = matched.get(slot.original_variable_node_id)
                attributes = self.proto.nodes[slot.slot_variable_node_id].attributes
                is_missing = variable is not None and slot_of(optimizer, variable, slot.slot_name) is None
                if is_missing and hasattr(optimizer, "_take_slot") and len(attributes) == 1:
                    value = constant(self._reader.read(attributes[0].checkpoint_key))
                    optimizer._take_slot(variable, slot.slot_name, value)

    def restore_ops(self):
        """The ops that restore what is matched by now; when executing eagerly they have run."""
        # Not while a variable is being made that someone listens for: slots would be taken for it.
        if executing_eagerly() and not self._makes_slots and not get_default_graph()._variable_creator_stack:
            self._makes_slots = True
            self._make_slots()
            self._makes_slots = False
        slot_ids = {s.slot_variable_node_id for node in self.proto.nodes for s in node.slot_variables}
        self._known = {id(thing) for thing in self.match().values()}
        if len(self._known) == len(self.proto.nodes):
            self.is_complete = True
            attachments.stop(self)
        wanted = [a for a in self.attributes() if not isinstance(a[3], PythonStateSaveable)]
        if executing_eagerly():
            wanted = [a for a in wanted if getattr(a[2], "_restored_by", 0) <= self._number]
            for _, _, thing, _ in wanted:
                object.__setattr__(thing, "_restored_by", self._number)  # no attribute that checkpoints could follow
        return self.nodes.ops_for(wanted, slot_ids)

    def restore_python_state(self):
        """Give Python objects their state: it needs no session."""
        for _, key, _, saveable in self.attributes():
            if isinstance(saveable, PythonStateSaveable):
                saveable.python_restore([self._reader.read(key).item()])

    def restore_what_came(self, session):
        """Restore, in a session, objects that came after `run_restore_ops`; those before may have changed since."""
        came = [a for a in self.attributes() if id(a[2]) not in self.in_session]
        slot_ids = {s.slot_variable_node_id for node in self.proto.nodes for s in node.slot_variables}
        with session.graph.as_default():
            ops = self.nodes.ops_for(came, slot_ids)
        if ops:
            session.run(ops, {self.nodes.prefix: self.path})
