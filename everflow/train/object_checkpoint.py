"""`tf.train.Checkpoint`: variables saved and restored by the objects that hold them, rather than by their names."""

from __future__ import annotations

import os
import weakref

from everflow.formats.checkpoint import open_checkpoint
from everflow.framework import attachments, dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import colocate_with, device, executing_eagerly, get_default_graph, init_scope
from everflow.ops.array.constants import constant
from everflow.ops.functions.traced import Function
from everflow.ops.variables.auto_trackable import AutoTrackable
from everflow.ops.variables.saveables import NoRestoreSaveable, PythonStateSaveable
from everflow.ops.variables.trackable import is_trackable
from everflow.ops.variables.variable import Variable
from everflow.platform import file_io, logging
from everflow.train.checkpoint_state import write_state
from everflow.train.restoration import Restoration
from everflow.train.restore_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
    session_for,
)
from everflow.train.saver_graph import by_device
from everflow.train.saving.functional_saver import MultiDeviceSaver
from everflow.train.tracking import (
    OBJECT_GRAPH_KEY,
    ObjectTree,
    children_of,
    read_object_graph,
)


class _SaveOps:
    """The nodes that save one state of the tree; made again only when the tree has changed.

    What is no part of the graph (the tree, Python objects' state, the path) is fed; with `at_once`, as when executing
    eagerly and in a function, it is taken as it is now.
    """

    def __init__(self, tree, path="", at_once=False):
        self.proto = tree.proto()
        with device("/cpu:0"):
            self.graph_text = constant(self.proto.SerializeToString() if at_once else "", dtype=dtypes.string)
        saveables, self.states = [], []
        for _, _, _, saveable, _ in tree.saveables():
            if isinstance(saveable, PythonStateSaveable):
                self.states.append(saveable)
                saveable = saveable.freeze() if at_once else saveable
            saveables.append(saveable)
        saveables.append(NoRestoreSaveable(self.graph_text, OBJECT_GRAPH_KEY))
        with device("/cpu:0"):
            self.prefix = constant(path, dtype=dtypes.string)
        self.saved = MultiDeviceSaver(saveables).save_and_name(self.prefix)

    def run(self, session, path):
        feeds = {self.graph_text: self.proto.SerializeToString(), self.prefix: path}
        for state in self.states:
            feeds.update(state.feed_dict_additions())
        return session.run(self.saved, feeds).decode()


class RestoreOps:
    """The nodes that restore, one set for each graph: by key, so that restoring twice adds none."""

    def __init__(self, path="model"):
        with device("/cpu:0"):
            self.prefix = constant(path, dtype=dtypes.string)
        self._made: dict[tuple[str, int], object] = {}
        self._restored: list = []  # held, so that no other object gets the same id

    def ops_for(self, wanted, slot_ids):
        """Ops for [(object's id, key, object, saveable)]; slots are read one by one, the rest together where they are."""
        missing = [w for w in wanted if (w[1], id(w[2])) not in self._made]
        for entry in missing:
            if entry[0] in slot_ids:
                self._restore([entry])
        rest = sorted((w for w in missing if w[0] not in slot_ids), key=lambda w: w[1])
        by_saveable = {id(w[3]): w for w in rest}
        for _, saveables in by_device([w[3] for w in rest]):
            self._restore([by_saveable[id(s)] for s in saveables])
        return [self._made[key, id(thing)] for _, key, thing, _ in wanted]

    def _restore(self, entries):
        pairs = [(key, saveable, spec) for _, key, _, saveable in entries for spec in saveable.specs]
        specs = [(spec, _key_in_file(key, saveable, spec)) for key, saveable, spec in pairs]
        with device("/cpu:0"):
            names, slices = [name for _, name in specs], [s.slice_spec for s, _ in specs]
            types = [s.dtype.base_dtype for s, _ in specs]
            tensors = raw.RestoreV2(self.prefix, names, slices, dtypes=types)
        position = 0
        for _, key, thing, saveable in entries:
            mine = tensors[position : position + len(saveable.specs)]
            position += len(mine)
            self._restored.append(thing)
            with device(saveable.device):
                self._made[key, id(thing)] = saveable.restore(mine, restored_shapes=None)


def _key_in_file(key, saveable, spec):
    """The name of a tensor in the file, where its object may have another key than here: that, and the tensor's ending."""
    if spec.name.startswith(saveable.name):
        return key + spec.name.removeprefix(saveable.name)
    return key if len(saveable.specs) == 1 else spec.name


class ObjectSaver:
    """Writes the objects that hang on a root, and restores them."""

    def __init__(self, root, branches=children_of):
        """`root` may be a weak reference, where the root holds the saver."""
        self._root, self._branches = root, branches
        self.nodes = _Nodes()
        self._waiting: list[Restoration] = []

    @property
    def root(self):
        """The object that all others hang on."""
        return self._root() if isinstance(self._root, weakref.ref) else self._root

    def write(self, file_prefix, session=None):
        """Save to exactly this path; returns it. In a function that is a tensor: the function saves when it is called."""
        tree = ObjectTree(self.root, self._branches)
        folder = os.path.dirname(file_prefix)
        if folder:
            file_io.recursive_create_dir(folder)
        if executing_eagerly():
            return _SaveOps(tree, file_prefix, at_once=True).saved.numpy().decode()
        if get_default_graph().building_function:
            return _SaveOps(tree, file_prefix, at_once=True).saved
        session = session_for(session)
        with session.graph.as_default():
            return self.nodes.save_ops(tree).run(session, file_prefix)

    def read(self, save_path):
        """Prepare restoring from a path; the status runs it. Eagerly: restore now, and whenever an object comes."""
        reader = open_checkpoint(save_path)
        if not reader.has(OBJECT_GRAPH_KEY):
            logging.warning(
                "%s was written by a tf.train.Saver, by names of variables: an object-based restore finds them by name, "
                "and only variables that are there now.",
                save_path,
            )
            status = NameBasedSaverStatus(self.root, save_path)
            if executing_eagerly():
                status.run_restore_ops()
            return status
        restore_ops = RestoreOps(save_path) if executing_eagerly() else self.nodes.restore_ops()
        restoration = Restoration(self.root, save_path, read_object_graph(reader, save_path), reader, restore_ops)
        restoration.restore_python_state()
        restoration.restore_ops()
        self._waiting = [waiting for waiting in [*self._waiting, restoration] if not waiting.is_complete]
        if executing_eagerly() and not restoration.is_complete:
            attachments.wait(restoration)
        return CheckpointLoadStatus(self.root, restoration)


class Checkpoint(AutoTrackable):
    """A group of objects that are saved and restored together; keyword arguments are the names of the branches.

    Args:
        **kwargs: The objects by name.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> checkpoint = tf.train.Checkpoint(v=v)
        >>> path = checkpoint.save("folder/ckpt", session=sess)
        >>> sess.run(v.assign(9.0))
        np.float32(9.0)
        >>> checkpoint.restore(path).run_restore_ops(sess)
        >>> sess.run(v)
        np.float32(1.0)
    """

    def __init__(self, **kwargs):
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value) and not isinstance(value, Function):
                raise ValueError(
                    f"`Checkpoint` was expecting a trackable object (a variable, an optimizer, a layer, another Checkpoint ...), got {value}. "
                    "Lists and dicts can be set as attributes of the Checkpoint."
                )
            setattr(self, name, value)
        self._saver = ObjectSaver(weakref.ref(self))

    def _checkpoint_children(self):
        return [
            ("save_counter" if name == "_save_counter" else name, value)
            for name, value in super()._checkpoint_children()
        ]

    @property
    def save_counter(self):
        """A variable that counts calls of `save`; the number at the end of each path."""
        if not hasattr(self, "_save_counter"):
            with init_scope(), device("/cpu:0"):
                self._save_counter = Variable(
                    0, name="save_counter", dtype=dtypes.int64, trainable=False, use_resource=True
                )
        return self._save_counter

    def write(self, file_prefix, session=None):
        """Save to exactly this path, without counting; returns it."""
        return self._saver.write(file_prefix, session=session)

    def _ready_counter(self, session):
        """The count of checkpoints, with a value in the session."""
        is_new = not hasattr(self, "_save_counter")
        counter = self.save_counter
        if is_new:
            # No initializer that the program made can have reached it.
            session.run(counter.initializer)
        return counter

    def save(self, file_prefix, session=None):
        """Save to `file_prefix-N`, N counting up, and note that in the folder's `checkpoint` file; returns the path."""
        if executing_eagerly():
            number = int(self.save_counter.assign_add(1).numpy())
        else:
            session = session_for(session)
            counter = self._ready_counter(session)
            with session.graph.as_default():
                if self._saver.nodes.count_up is None:
                    with colocate_with(counter), device("/cpu:0"):
                        self._saver.nodes.count_up = counter.assign_add(1)
                number = int(session.run(self._saver.nodes.count_up))
        path = self.write(f"{file_prefix}-{number}", session=session)
        write_state(os.path.dirname(file_prefix) or ".", path, [path], save_relative_paths=True)
        return path

    def restore(self, save_path):
        """Prepare restoring: the status returned runs it, and says whether everything found its place.

        Objects that come later are looked up as well, whenever the status is asked.
        """
        if save_path is None:
            status = InitializationOnlyStatus(self)
            self.save_counter  # noqa: B018  made now, so that initializing includes it
            return status
        status = self._saver.read(save_path)
        if isinstance(status, CheckpointLoadStatus):
            self.save_counter  # noqa: B018
            if not executing_eagerly():
                status._restoration.restore_ops()
        return status


class _Nodes:
    """What has been added to the graph."""

    def __init__(self):
        self.count_up = None
        self._save = None
        self._restore = {}

    def save_ops(self, tree):
        if self._save is None or self._save.proto != tree.proto():
            self._save = _SaveOps(tree)
        return self._save

    def restore_ops(self):
        graph = get_default_graph()
        if graph not in self._restore:
            self._restore[graph] = RestoreOps()
        return self._restore[graph]
