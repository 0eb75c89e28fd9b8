"""The `checkpoint` file of a folder: which checkpoints are there, and which is the newest."""

from __future__ import annotations

import os
import time

from google.protobuf import text_format

from everflow.formats.bundle import index_name
from everflow.platform import file_io, logging
from everflow.platform.signatures import takes
from everflow.protos.checkpoint_state_pb2 import CheckpointState
from everflow.protos.saver_pb2 import SaverDef

_TIMES = "all_model_checkpoint_timestamps=None, last_preserved_timestamp=None"


def _state_path(folder, latest_filename=None):
    return os.path.join(folder, "checkpoint" if latest_filename is None else latest_filename)


@takes(f"save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, {_TIMES}")
def generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths, **times):
    """A CheckpointState; where `save_dir` is relative, its paths are made relative to it.

    Args:
        save_dir: The folder.
        model_checkpoint_path: The newest checkpoint.
        all_model_checkpoint_paths: All of them, the oldest first.
        all_model_checkpoint_timestamps: When each of them was written, in seconds.
        last_preserved_timestamp: When the last one was written that is kept for ever.

    Returns:
        A CheckpointState.

    Raises:
        ValueError: If there are not as many times as paths.

    Example:
        >>> tf.train.generate_checkpoint_state_proto("folder", "folder/model-1").model_checkpoint_path
        'model-1'
    """
    paths = [] if all_model_checkpoint_paths is None else list(all_model_checkpoint_paths)
    if not paths or paths[-1] != model_checkpoint_path:
        logging.info("%s is added to all_model_checkpoint_paths, which did not name it last.", model_checkpoint_path)
        paths.append(model_checkpoint_path)
    timestamps = times["all_model_checkpoint_timestamps"]
    if timestamps and len(timestamps) != len(paths):
        raise ValueError(
            f"Timestamps, one for each, must match checkpoint paths: these are {paths}, timestamps {timestamps}"
        )
    if not os.path.isabs(save_dir):
        # The folder can be moved as a whole.
        paths = [p if os.path.isabs(p) else os.path.relpath(p, save_dir) for p in paths]
        if not os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, save_dir)
    return _state(model_checkpoint_path, paths, **times)


def _state(path, paths, all_model_checkpoint_timestamps, last_preserved_timestamp):
    return CheckpointState(
        model_checkpoint_path=path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps or [],
        last_preserved_timestamp=last_preserved_timestamp,
    )


@takes(f"save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None, {_TIMES}")
def update_checkpoint_state(**given):
    """Write the state file of a folder, aside and renamed, so that it is always whole.

    Args:
        save_dir: The folder.
        model_checkpoint_path: The newest checkpoint.
        all_model_checkpoint_paths: All of them, the oldest first.
        latest_filename: The name of the state file; `checkpoint` if None.
        all_model_checkpoint_timestamps: When each of them was written, in seconds.
        last_preserved_timestamp: When the last one was written that is kept for ever.

    Returns:
        None.

    Raises:
        RuntimeError: If a checkpoint has the name of the state file.

    Example:
        >>> tf.gfile.MakeDirs("folder")
        >>> tf.train.update_checkpoint_state("folder", "folder/model-1")
        >>> tf.train.get_checkpoint_state("folder").model_checkpoint_path
        'folder/model-1'
    """
    write_state(**given)


@takes(
    f"""save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
    save_relative_paths=False, {_TIMES}"""
)
def write_state(
    save_dir, model_checkpoint_path, all_model_checkpoint_paths, latest_filename, save_relative_paths, **times
):
    """As `update_checkpoint_state`; with `save_relative_paths` also where the folder's name is absolute."""
    path = _state_path(save_dir, latest_filename)
    if save_relative_paths:
        if os.path.isabs(model_checkpoint_path):
            model_checkpoint_path = os.path.relpath(model_checkpoint_path, save_dir)
        paths = [os.path.relpath(p, save_dir) if os.path.isabs(p) else p for p in all_model_checkpoint_paths or []]
        state = _state(_inside(model_checkpoint_path, save_dir), [_inside(p, save_dir) for p in paths], **times)
    else:
        state = generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths, **times)
    if path == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path {model_checkpoint_path!r} conflicts with the file that notes the newest checkpoint: take another name"
        )
    file_io.atomic_write_string_to_file(path, text_format.MessageToString(state))


def _inside(path, folder):
    """A path as seen from the folder it is in."""
    return os.path.relpath(path, folder) if folder and path.startswith(folder + os.sep) else path


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of a folder, its paths made whole again; None where there is none.

    Args:
        checkpoint_dir: The folder of the checkpoints.
        latest_filename: The name of the state file; `checkpoint` if None.

    Returns:
        A CheckpointState, or None.

    Raises:
        ValueError: If the file holds something else.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "folder/model", global_step=7)
        >>> tf.train.get_checkpoint_state("folder").model_checkpoint_path
        'folder/model-7'
    """
    path = _state_path(checkpoint_dir, latest_filename)
    if not file_io.file_exists(path):
        return None
    try:
        state = text_format.Parse(file_io.read_file_to_string(path), CheckpointState())
    except text_format.ParseError as e:
        logging.warning("%s: %s", path, e)
        logging.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError("Invalid checkpoint state loaded from " + checkpoint_dir)
    if not os.path.isabs(state.model_checkpoint_path):
        state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    for i, held in enumerate(state.all_model_checkpoint_paths):
        if not os.path.isabs(held):
            state.all_model_checkpoint_paths[i] = os.path.join(checkpoint_dir, held)
    return state


def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint, of either version, of this name.

    Args:
        checkpoint_prefix: The checkpoint's name.

    Returns:
        A bool.

    Example:
        >>> tf.train.checkpoint_exists("./model")
        False
    """
    return bool(_files_of(checkpoint_prefix))


def _files_of(prefix):
    """The index file of a checkpoint, or the files of one in the old format."""
    return file_io.get_matching_files(index_name(prefix)) or file_io.get_matching_files(prefix)


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The newest checkpoint of a folder, by its state file; None where there is none.

    Args:
        checkpoint_dir: The folder of the checkpoints.
        latest_filename: The name of the state file; `checkpoint` if None.

    Returns:
        The checkpoint's path, or None.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "folder/model", global_step=7)
        >>> tf.train.latest_checkpoint("folder")
        'folder/model-7'
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not state.model_checkpoint_path:
        return None
    if checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    logging.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def get_checkpoint_mtimes(checkpoint_prefixes):
    """When each of these checkpoints was written, of those that are there, in seconds.

    Args:
        checkpoint_prefixes: The checkpoints' names.

    Returns:
        A list of numbers.

    Example:
        >>> tf.train.get_checkpoint_mtimes(["./missing"])
        []
    """
    return [file_io.stat(found[0]).mtime_nsec / 1e9 for found in map(_files_of, checkpoint_prefixes) if found]


def meta_graph_filename(checkpoint_filename, meta_graph_suffix="meta"):
    """The name of the meta graph that belongs to a checkpoint."""
    head, dash, _ = checkpoint_filename.rpartition("-?????-of-")
    return f"{head if dash else checkpoint_filename}.{meta_graph_suffix}"


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=SaverDef.V2, meta_graph_suffix="meta"):
    """Delete the files of a checkpoint and its meta graph; an old one is a file, or a pattern of several.

    Args:
        checkpoint_prefix: The checkpoint's name.
        checkpoint_format_version: `tf.train.SaverDef.V2` or `V1`.
        meta_graph_suffix: What the meta graph's name ends with.

    Returns:
        None.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "./model")
        >>> tf.train.remove_checkpoint(path)
        >>> tf.train.checkpoint_exists(path)
        False
    """
    if checkpoint_format_version == SaverDef.V2:
        data = [index_name(checkpoint_prefix), checkpoint_prefix + ".data-?????-of-?????"]
    else:
        data = [checkpoint_prefix]
    for pattern in (meta_graph_filename(checkpoint_prefix, meta_graph_suffix), *data):
        for path in file_io.get_matching_files(pattern):
            if not file_io.is_directory(path):
                file_io.delete_file(path)


class CheckpointHistory:
    """The checkpoints that a Saver has written, oldest first, with their times; says which to delete."""

    def __init__(self, max_to_keep, keep_every_n_hours):
        self.max_to_keep = max_to_keep
        self.seconds = 3600.0 * keep_every_n_hours
        self.next_to_keep = time.time() + self.seconds
        self.held: list[tuple[str, float]] = []
        self.to_delete: list[tuple[str, float]] = []

    def record(self, path):
        """Note a checkpoint as the newest."""
        if not self.max_to_keep:
            return
        self.held = [entry for entry in self.held if entry[0] != path]
        self.held.append((path, time.time()))
        if len(self.held) > self.max_to_keep:
            self.to_delete.append(self.held.pop(0))

    def expired(self):
        """Checkpoints to delete now; one in so many hours is kept for good."""
        found = []
        for path, when in self.to_delete:
            if when > self.next_to_keep:
                self.next_to_keep += self.seconds
            else:
                found.append(path)
        self.to_delete = []
        return found
