"""What `Checkpoint.restore` returns: objects that know how the tree of objects here matches the tree in the file."""

from __future__ import annotations

import itertools

from everflow.framework import attachments
from everflow.framework.scopes import executing_eagerly, get_default_graph, get_default_session
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables.saveables import PythonStateSaveable
from everflow.ops.variables.variable import Variable
from everflow.runtime.session import Session
from everflow.train.checkpoint_reader import list_variables
from everflow.train.saver import Saver
from everflow.train.tracking import ObjectTree, children_of, slot_of

_make_session = Session
_numbers = itertools.count(1)  # of statuses: where two wait for an object, it is the later one's


def register_session_provider(make):
    """Let what has a session of its own, as Keras has, give it where a program has no default one."""
    global _make_session
    _make_session = make


def session_for(session):
    """The session given, the default one, Keras's where it is in use, or a new one for the default graph."""
    return session or get_default_session() or _make_session()


def _initializers(objects):
    found = [v.initializer for v in objects if isinstance(v, Variable)]
    others = [thing for thing in objects if not isinstance(thing, Variable)]
    found += [thing.initializer for thing in others if getattr(thing, "initializer", None) is not None]
    return found


class CheckpointLoadStatus:
    """Of a checkpoint with a tree of objects."""

    def __init__(self, root, path, proto, reader, restore_ops):
        self._root, self._path, self._proto, self._reader, self._restore_ops = root, path, proto, reader, restore_ops
        self._known: set[int] = set()
        self._in_session: set[int] = set()  # what `run_restore_ops` restored
        self._number = next(_numbers)
        self._makes_slots = False
        self.is_complete = False

    def joined(self, owner):
        """Restore what came with something new on an object, when executing eagerly."""
        if id(owner) in self._known and executing_eagerly():
            self.restore_ops()

    def _match(self):
        """{id in the file: object here}; the first way to an object decides."""
        matched, waiting = {0: self._root}, [0]
        while waiting:
            node_id = waiting.pop(0)
            here = dict(children_of(matched[node_id]))
            look_up = getattr(
                matched[node_id], "_lookup_dependency", here.get
            )  # an object may make what it is asked for
            for child in self._proto.nodes[node_id].children:
                if child.node_id in matched:
                    continue
                found = here.get(child.local_name)
                found = look_up(child.local_name) if found is None else found
                if found is not None:
                    matched[child.node_id] = found
                    waiting.append(child.node_id)
        for node_id, optimizer in list(matched.items()):
            for slot in self._proto.nodes[node_id].slot_variables:
                found = slot_of(optimizer, matched.get(slot.original_variable_node_id), slot.slot_name)
                if found is not None:
                    matched[slot.slot_variable_node_id] = found
        return matched

    def _attributes(self):
        """[(id, key, object, saveable)] for what is both here and in the file."""
        matched = self._match()  # may make objects, which the tree then has
        tree = ObjectTree(self._root)
        here = {(id(tree.objects[i]), name): saveable for i, name, _, saveable, _ in tree.saveables()}
        return [
            (node_id, attribute.checkpoint_key, thing, here[id(thing), attribute.name])
            for node_id, thing in matched.items()
            for attribute in self._proto.nodes[node_id].attributes
            if (id(thing), attribute.name) in here
        ]

    def _make_slots(self):
        """Make slots that the file has for optimizers and variables that are here, where the optimizer has none yet."""
        matched = self._match()
        for node_id, optimizer in matched.items():
            for slot in self._proto.nodes[node_id].slot_variables:
                variable = matched.get(slot.original_variable_node_id)
                attributes = self._proto.nodes[slot.slot_variable_node_id].attributes
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
        slot_ids = {s.slot_variable_node_id for node in self._proto.nodes for s in node.slot_variables}
        self._known = {id(thing) for thing in self._match().values()}
        if len(self._known) == len(self._proto.nodes):
            self.is_complete = True
            attachments.stop(self)
        wanted = [a for a in self._attributes() if not isinstance(a[3], PythonStateSaveable)]
        if executing_eagerly():
            wanted = [a for a in wanted if getattr(a[2], "_restored_by", 0) <= self._number]
            for _, _, thing, _ in wanted:
                object.__setattr__(thing, "_restored_by", self._number)  # no attribute that checkpoints could follow
        return self._restore_ops.ops_for(wanted, slot_ids)

    def restore_python_state(self):
        """Give Python objects their state: it needs no session."""
        for _, key, _, saveable in self._attributes():
            if isinstance(saveable, PythonStateSaveable):
                saveable.python_restore([self._reader.read(key).item()])

    def assert_consumed(self):
        """Raise AssertionError unless all that is in the file has an object here, and the other way round."""
        matched = self._match()
        paths = self._paths()
        for node_id, node in enumerate(self._proto.nodes):
            if node_id not in matched:
                raise AssertionError(f"Unresolved object in checkpoint {paths.get(node_id, node_id)}: {node}")
        restored = {key for _, key, _, _ in self._attributes()}
        for node_id, node in enumerate(self._proto.nodes):
            unused = [a.name for a in node.attributes if not a.optional_restore and a.checkpoint_key not in restored]
            if unused:
                raise AssertionError(
                    f"Unused attributes in these objects (the checkpoint has them, and nothing here takes them): "
                    f"{paths.get(node_id, node_id)} ({matched[node_id]}): {unused}"
                )
        return self.assert_existing_objects_matched()

    def _paths(self):
        paths, waiting = {0: "(root)"}, [0]
        while waiting:
            node_id = waiting.pop(0)
            for child in self._proto.nodes[node_id].children:
                if child.node_id not in paths:
                    paths[child.node_id] = f"{paths[node_id]}.{child.local_name}"
                    waiting.append(child.node_id)
        return paths

    def assert_existing_objects_matched(self):
        """Raise AssertionError if something here is not in the file."""
        matched = {id(thing) for thing in self._match().values()}
        unused = [t for t in ObjectTree(self._root).objects if id(t) not in matched and not _is_empty_group(t)]
        if unused:
            raise AssertionError(
                f"Python objects not bound to checkpointed values: {unused}. Has the program changed since they were saved?"
            )
        return self

    def assert_nontrivial_match(self):
        """Raise AssertionError if nothing but the root itself matches."""
        if len(self._match()) <= 1:
            raise AssertionError(f"Nothing except the root object is in the checkpoint {self._path}")
        return self

    def expect_partial(self):
        """Say that parts of the file may stay unused; nothing is logged about them anyway."""
        return self

    def run_restore_ops(self, session=None):
        """Restore, in a session; nothing is left to do when executing eagerly."""
        if executing_eagerly():
            return
        session = session_for(session)
        self._in_session = {id(thing) for _, _, thing, _ in self._attributes()}
        with session.graph.as_default():
            ops = self.restore_ops()
        if ops:
            session.run(ops, {self._restore_ops.prefix: self._path})

    def restore_what_came(self, session):
        """Restore, in a session, objects that came after `run_restore_ops`; those before may have changed since."""
        came = [a for a in self._attributes() if id(a[2]) not in self._in_session]
        slot_ids = {s.slot_variable_node_id for node in self._proto.nodes for s in node.slot_variables}
        with session.graph.as_default():
            ops = self._restore_ops.ops_for(came, slot_ids)
        if ops:
            session.run(ops, {self._restore_ops.prefix: self._path})

    def initialize_or_restore(self, session=None):
        """Initialize what the checkpoint lacks, and restore the rest; executing eagerly, nothing is left to do."""
        if executing_eagerly():
            return
        session = session_for(session)
        restored = {id(thing) for _, _, thing, _ in self._attributes()}
        fresh = _initializers([t for t in ObjectTree(self._root).objects if id(t) not in restored])
        if fresh:
            session.run(group(*fresh))
        self.run_restore_ops(session)


def _is_empty_group(thing):
    return isinstance(thing, (list, dict)) and not children_of(thing)


class InitializationOnlyStatus:
    """Of no checkpoint at all."""

    def __init__(self, root):
        self._root = root

    def _refuse(self):
        raise AssertionError("No checkpoint specified: save_path was None, so nothing is restored")

    assert_consumed = assert_existing_objects_matched = assert_nontrivial_match = _refuse

    def expect_partial(self):
        return self

    def run_restore_ops(self, session=None):
        raise AssertionError("No checkpoint specified: save_path was None, so there are no restore ops to run")

    def initialize_or_restore(self, session=None):
        """Initialize everything."""
        if executing_eagerly():
            return
        session_for(session).run(_initializers(ObjectTree(self._root).objects))


class NameBasedSaverStatus:
    """Of a checkpoint that a `tf.train.Saver` wrote: variables are found by their names."""

    def __init__(self, root, path):
        self._root, self._path = root, path

    def _variables(self):
        return [t for t in ObjectTree(self._root).objects if isinstance(t, Variable)]

    def assert_consumed(self):
        """AssertionError where the checkpoint lacks one of the objects' variables."""
        names = {name for name, _ in list_variables(self._path)}
        missing = [v._shared_name for v in self._variables() if v._shared_name not in names]
        if missing:
            raise AssertionError(f"{self._path}, which holds variables by their names, has none called {missing}")
        return self

    def expect_partial(self):
        return self

    assert_existing_objects_matched = assert_nontrivial_match = expect_partial

    def run_restore_ops(self, session=None):
        """Restore all variables of the objects; NotFoundError names one that is missing."""
        if executing_eagerly():
            Saver(self._variables()).restore(None, self._path)
            return
        session = session_for(session)
        with session.graph.as_default():
            Saver(self._variables()).restore(session, self._path)

    def initialize_or_restore(self, session=None):
        self.run_restore_ops(session)
