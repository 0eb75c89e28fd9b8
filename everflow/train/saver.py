"""`tf.train.Saver`: saves variables to checkpoints and restores them."""

from __future__ import annotations

import contextlib
import numbers
import os
import threading

from everflow.framework import errors
from everflow.framework.forking import renewed
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import executing_eagerly, get_default_graph, register_proto_function
from everflow.ops.io import meta_graph
from everflow.ops.variables.global_step import global_step as step_in
from everflow.ops.variables.variable import _all_saveable_objects, prepend_name_scope
from everflow.platform import file_io, logging
from everflow.platform.compat import as_text
from everflow.platform.signatures import takes
from everflow.protos.saver_pb2 import SaverDef
from everflow.train.checkpoint_state import (
    CheckpointHistory,
    checkpoint_exists,
    get_checkpoint_mtimes,
    meta_graph_filename,
    remove_checkpoint,
    write_state,
)
from everflow.train.saver_graph import BulkSaverBuilder, named, saveables_of
from everflow.train.tracking import names_in_object_checkpoint


def _check_folder(folder, save_path):
    """Saving makes a folder of the last level only, and none where a file is."""
    if not folder or "://" in folder or file_io.is_directory(folder):
        return
    if file_io.file_exists(folder) or not file_io.is_directory(os.path.dirname(folder) or "."):
        raise ValueError(f"Parent directory of {save_path} doesn't exist: make {folder} first")


def _renamed(saver_def, rename):
    """A SaverDef with other names for the nodes it uses."""
    made = SaverDef()
    made.CopyFrom(saver_def)
    for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
        setattr(made, field, rename(getattr(made, field)))
    return made


class Saver:
    """Saves and restores variables: the default graph's, or those in `var_list`.

    Args:
        var_list: A list of variables, or a dictionary by the names they have in the file; all that can be saved if
            None.
        reshape: Whether values of other shapes, but as many elements, may be restored.
        sharded: Whether each device has files of its own.
        max_to_keep: How many checkpoints are kept; all if None or 0.
        keep_checkpoint_every_n_hours: One of so many hours is kept for ever.
        name: The name scope of its operations.
        restore_sequentially: Whether variables are restored one after another.
        saver_def: A SaverDef: its operations are in the graph already.
        builder: What draws its operations.
        defer_build: Whether its operations are drawn only when they are needed, or `build()` is called.
        allow_empty: Whether there may be no variables.
        write_version: The format: `tf.train.SaverDef.V2` or `V1`.
        pad_step_number: Whether step numbers in file names have leading zeros, so that they sort.
        save_relative_paths: Whether the state file has paths relative to its folder, which may move then.
        filename: The default name of the file in the graph.

    Raises:
        ValueError: If there are no variables, or one is of the wrong kind.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> saver = tf.train.Saver()
        >>> path = saver.save(sess, "./model", global_step=100)
        >>> sess.run(v.assign(9.0))
        np.float32(9.0)
        >>> saver.restore(sess, path)
        >>> path, sess.run(v)
        ('./model-100', np.float32(1.0))
    """

    @takes(
        """var_list=None, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0, name=None,
        restore_sequentially=False, saver_def=None, builder=None, defer_build=False, allow_empty=False,
        write_version=V2, pad_step_number=False, save_relative_paths=False, filename=None""",
        V2=SaverDef.V2,
    )
    def __init__(self, saver_def, defer_build, **settings):
        if defer_build and settings["var_list"]:
            raise ValueError("defer_build=True is for a Saver of all variables: pass no `var_list` with it")
        if saver_def is not None and not isinstance(saver_def, SaverDef):
            raise ValueError(f"`saver_def` must be a SaverDef, not {saver_def!r}")
        # One op reads all tensors at once, so `restore_sequentially` asks for nothing, in TensorFlow 1.15 either.
        self.__dict__.update({f"_{name}": value for name, value in settings.items()})
        self.saver_def = saver_def
        self._is_built = False
        self._is_empty = False
        self._saving = renewed(threading.RLock())
        # Made when a checkpoint turns out to be one by objects.
        self._object_restore_saver = None
        if not defer_build:
            self.build()
        if self.saver_def is not None:
            self._check_saver_def()
            self._write_version = self.saver_def.version
        limits = (self._max_to_keep or 0, self._keep_checkpoint_every_n_hours)
        if self.saver_def is not None:
            limits = (self.saver_def.max_to_keep, self.saver_def.keep_checkpoint_every_n_hours)
        self._history = CheckpointHistory(*limits)

    def build(self):
        """Add the nodes that save and restore; only after `defer_build=True`."""
        if self._is_built:
            return
        self._is_built = True
        if self.saver_def is None:
            if executing_eagerly() and self._var_list is None:
                raise RuntimeError(
                    "With eager execution no graph has the variables: pass those to save as `var_list`, a list or dict"
                )
            variables = _all_saveable_objects() if self._var_list is None else self._var_list
            if not variables:
                if not self._allow_empty:
                    raise ValueError("No variables to save")
                self._is_empty = True
                return
            self._var_list = variables
            if executing_eagerly():
                # There are no nodes to make: saving and restoring run at once.
                saveables_of(variables)
                return
            builder = self._builder or BulkSaverBuilder(self._write_version)
            passed_on = ("reshape", "sharded", "max_to_keep", "keep_checkpoint_every_n_hours", "name", "filename")
            self.saver_def = builder.build(
                variables,
                **{name: getattr(self, f"_{name}") for name in passed_on},
                restore_sequentially=self._restore_sequentially,
            )
        elif self._name:
            # With a definition, the name says under which scope its nodes were imported.
            self.saver_def = _renamed(self.saver_def, lambda name: prepend_name_scope(name, self._name))
        self._check_saver_def()
        self._history = CheckpointHistory(self.saver_def.max_to_keep, self.saver_def.keep_checkpoint_every_n_hours)

    def _check_saver_def(self):
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError(f"saver_def must specify the {field}, and this one does not: {self.saver_def}")

    def as_saver_def(self):
        """The SaverDef: names of the nodes it uses."""
        return self.saver_def

    def to_proto(self, export_scope=None):
        """The SaverDef, with names relative to a scope."""
        if export_scope is None:
            return self.saver_def
        used = self.saver_def.filename_tensor_name, self.saver_def.save_tensor_name
        if not all(name.startswith(export_scope) for name in used):
            return None
        cut = len(export_scope.rstrip("/")) + 1
        return _renamed(self.saver_def, lambda name: name[cut:])

    @staticmethod
    def from_proto(saver_def, import_scope=None):
        """A Saver over nodes that are in the graph already."""
        return Saver(saver_def=saver_def, name=import_scope)

    @property
    def last_checkpoints(self):
        """The checkpoints written and not yet deleted, oldest first."""
        return [path for path, _ in self._history.held]

    _last_checkpoints = property(lambda self: self._history.held, doc="(path, time) of the checkpoints kept.")
    _checkpoints_to_be_deleted = property(
        lambda self: self._history.to_delete, doc="(path, time) of those that go next."
    )
    _next_checkpoint_time = property(
        lambda self: self._history.next_to_keep, doc="Of when a checkpoint is kept for good."
    )

    def set_last_checkpoints(self, last_checkpoints):
        """Say which checkpoints there are; deprecated, without their times."""
        if not isinstance(last_checkpoints, list):
            raise AssertionError("last_checkpoints must be a list")
        self._history.held = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Say which checkpoints there are: (path, seconds) pairs, oldest first."""
        if not isinstance(last_checkpoints_with_time, list):
            raise AssertionError("last_checkpoints_with_time must be a list")
        self._history.held = last_checkpoints_with_time

    def recover_last_checkpoints(self, checkpoint_paths):
        """Take over checkpoints that an earlier process wrote, those of them that are there."""
        self.set_last_checkpoints_with_time(
            [(path, when) for path in checkpoint_paths for when in get_checkpoint_mtimes([path])]
        )

    @takes(
        """sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta", write_meta_graph=True,
        write_state=True, strip_default_attrs=False, save_debug_info=False""",
    )
    def save(self, sess, save_path, global_step, latest_filename, **options):
        """Write a checkpoint `save_path` (with `-global_step` added), note it in `checkpoint`, and return its path."""
        if not self._is_built:
            raise RuntimeError("This Saver was made with defer_build=True: call its `build()` before `save()`")
        save_path = os.fsdecode(save_path) if isinstance(save_path, bytes) else save_path
        latest_filename = "checkpoint" if latest_filename is None else latest_filename
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        # A supervisor saves from its own thread; the state file must not end up naming the older of two checkpoints.
        with self._saving:
            path = self._checkpoint_path(sess, save_path, global_step, latest_filename)
            return self._save(sess, save_path, path, latest_filename, **options)

    def _save(self, sess, save_path, path, latest_filename, write_meta_graph, meta_graph_suffix, **options):
        write_state = options.pop("write_state")
        if self._saves_at_once:
            write_meta_graph = False
        elif not hasattr(sess, "graph") or not hasattr(sess, "run"):
            raise TypeError(f"'sess' must be a Session; {sess}")
        written = None
        folder = os.path.dirname(save_path)
        _check_folder(folder, save_path)
        if not self._is_empty:
            try:
                written = self._write(sess, path)
                if write_state:
                    self._history.record(written)
                    _write_state(folder, written, self.last_checkpoints, latest_filename, self._save_relative_paths)
                    for expired in self._history.expired():
                        self._delete(expired, meta_graph_suffix)
            except (errors.FailedPreconditionError, errors.NotFoundError) as e:
                if folder and not file_io.is_directory(folder):
                    raise ValueError(f"Parent directory of {save_path} doesn't exist: make {folder} first") from e
                raise
        if write_meta_graph:
            with sess.graph.as_default():
                self.export_meta_graph(meta_graph_filename(path, meta_graph_suffix), **options)
        return written

    _saves_at_once = property(lambda self: self.saver_def is None and not self._is_empty)

    def _write(self, sess, path):
        if self._saves_at_once:
            return BulkSaverBuilder(self._write_version).save_at_once(path, self._var_list)
        written = sess.run(self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: path})
        return written.decode() if isinstance(written, bytes) else str(written)

    def _read(self, sess, path):
        if self._saves_at_once:
            BulkSaverBuilder(self._write_version).restore_at_once(path, self._var_list, self._reshape)
        else:
            sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: path})

    def _checkpoint_path(self, sess, save_path, global_step, latest_filename):
        if global_step is None:
            if os.path.basename(save_path) == latest_filename and not self._sharded:
                raise ValueError(f"'latest_filename' collides with 'save_path': '{latest_filename}' and '{save_path}'")
            return save_path
        if not isinstance(global_step, numbers.Integral):
            global_step = int(global_step.numpy() if self._saves_at_once else step_in(sess, global_step))
        return f"{save_path}-{global_step:08d}" if self._pad_step_number else f"{save_path}-{global_step}"

    def _delete(self, path, meta_graph_suffix):
        try:
            remove_checkpoint(path, self._write_version, meta_graph_suffix)
        except errors.OpError as e:
            logging.warning("Ignoring: %s", e)

    @takes(
        """filename=None, collection_list=None, as_text=False, export_scope=None, clear_devices=False,
        clear_extraneous_savers=False, strip_default_attrs=False, save_debug_info=False""",
    )
    def export_meta_graph(self, **arguments):
        """The graph, its collections and this Saver as a MetaGraphDef, written to a file where one is named."""
        graph_def = get_default_graph().as_graph_def(add_shapes=True)
        return meta_graph.export_meta_graph(graph_def=graph_def, saver_def=self.saver_def, **arguments)

    def _add_collection_def(self, meta_graph_def, key, export_scope=None):
        """Put one collection of the default graph into a MetaGraphDef."""
        meta_graph.add_collection_def(meta_graph_def, key, export_scope=export_scope)

    def restore(self, sess, save_path):
        """Give the variables the values of a checkpoint."""
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError(
                "There is no checkpoint to restore: save_path is None, as from tf.train.latest_checkpoint for a "
                "folder without any"
            )
        save_path = as_text(os.fspath(save_path))
        if not checkpoint_exists(save_path):
            raise ValueError(f"save_path is not a valid checkpoint: {save_path}")
        logging.info("Restoring parameters from %s", save_path)
        try:
            self._read(sess, save_path)
        except errors.NotFoundError as e:
            if self._restore_by_object(sess, save_path, e):
                return
            raise _explained(e, "It lacks a variable of this graph, maybe under another name") from e
        except errors.InvalidArgumentError as e:
            raise _explained(e, "It has a variable of this graph with another shape or type") from e

    def _restore_by_object(self, sess, save_path, error):
        """Restore from a `tf.train.Checkpoint`'s file, which notes the names that variables had; False for other files."""
        keys = names_in_object_checkpoint(save_path)
        if keys is None:
            return False
        logging.warning(
            "Restoring an object-based checkpoint by the names that its variables had: tf.train.Checkpoint() would find them by "
            "their objects, also after names have changed."
        )
        with contextlib.nullcontext() if self._saves_at_once else sess.graph.as_default():
            if self._object_restore_saver is None:
                variables = named(_all_saveable_objects() if self._var_list is None else self._var_list)
                if set(variables) - set(keys):
                    raise errors.NotFoundError(
                        None,
                        None,
                        f"{save_path} is an object-based checkpoint, which this Saver reads by the names that variables had.\n\n"
                        f"Existing variables not in the checkpoint: {', '.join(sorted(set(variables) - set(keys)))}\n\n"
                        f"Names in the checkpoint without a variable: {', '.join(sorted(set(keys) - set(variables)))}\n\n"
                        f"{len(set(keys) & set(variables))} names are in both. Original error:\n\n{error.message}",
                    )
                self._object_restore_saver = Saver(
                    {keys[name]: variable for name, variable in variables.items()}, reshape=self._reshape
                )
        self._object_restore_saver.restore(sess, save_path)
        return True


def _explained(error, cause):
    message = (
        f"Restoring from checkpoint failed. {cause}: has the graph changed since it was written? "
        f"tf.train.list_variables shows what it holds. Original error:\n\n{error.message}"
    )
    return type(error)(error.node_def, error.op, message)


# `save` has an argument of this name.
_write_state = write_state


register_proto_function(GraphKeys.SAVERS, proto_type=SaverDef, to_proto=Saver.to_proto, from_proto=Saver.from_proto)
