"""What `Checkpoint.restore` returns: objects that know how the tree of objects here matches the tree in the file."""

from __future__ import annotations

from everflow.framework.scopes import executing_eagerly, get_default_session
from everflow.ops.control_flow.grouping import group
from everflow.ops.variables.variable import Variable
from everflow.runtime.session import Session
from everflow.train.checkpoint_reader import list_variables
from everflow.train.restoration import object_paths
from everflow.train.saver import Saver
from everflow.train.tracking import ObjectTree, children_of

_make_session = Session


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

    def __init__(self, root, restoration):
        self._root, self._restoration = root, restoration

    def assert_consumed(self):
        """Raise AssertionError unless all that is in the file has an object here, and the other way round."""
        restoration, nodes = self._restoration, self._restoration.proto.nodes
        matched, paths = restoration.match(), object_paths(restoration.proto)
        for node_id, node in enumerate(nodes):
            if node_id not in matched:
                raise AssertionError(f"Unresolved object in checkpoint {paths.get(node_id, node_id)}: {node}")
        restored = {key for _, key, _, _ in restoration.attributes()}
        for node_id, node in enumerate(nodes):
            unused = [a.name for a in node.attributes if not a.optional_restore and a.checkpoint_key not in restored]
            if unused:
                raise AssertionError(
                    f"Unused attributes in these objects (the checkpoint has them, and nothing here takes them): "
                    f"{paths.get(node_id, node_id)} ({matched[node_id]}): {unused}"
                )
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self):
        """Raise AssertionError if something here is not in the file."""
        matched = {id(thing) for thing in self._restoration.match().values()}
        unused = [t for t in ObjectTree(self._root).objects if id(t) not in matched and not _is_empty_group(t)]
        if unused:
            raise AssertionError(
                f"Python objects not bound to checkpointed values: {unused}. Has the program changed since they were saved?"
            )
        return self

    def assert_nontrivial_match(self):
        """Raise AssertionError if nothing but the root itself matches."""
        if len(self._restoration.match()) <= 1:
            raise AssertionError(f"Nothing except the root object is in the checkpoint {self._restoration.path}")
        return self

    def expect_partial(self):
        """Say that parts of the file may stay unused: nothing is logged about them."""
        self._restoration.is_partial_expected = True
        return self

    def run_restore_ops(self, session=None):
        """Restore, in a session; nothing is left to do when executing eagerly."""
        if executing_eagerly():
            return
        session, restoration = session_for(session), self._restoration
        restoration.in_session = {id(thing) for _, _, thing, _ in restoration.attributes()}
        with session.graph.as_default():
            ops = restoration.restore_ops()
        if ops:
            session.run(ops, {restoration.nodes.prefix: restoration.path})

    def restore_what_came(self, session):
        """Restore, in a session, objects that came after `run_restore_ops`."""
        self._restoration.restore_what_came(session)

    def initialize_or_restore(self, session=None):
        """Initialize what the checkpoint lacks, and restore the rest; executing eagerly, nothing is left to do."""
        if executing_eagerly():
            return
        session = session_for(session)
        restored = {id(thing) for _, _, thing, _ in self._restoration.attributes()}
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
