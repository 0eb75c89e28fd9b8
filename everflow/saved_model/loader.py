"""Reading SavedModels: the meta graph of some tags, its variables and assets, into a session."""

from __future__ import annotations

import os

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from everflow.framework.scopes import get_default_graph
from everflow.ops.variables.variable import _all_saveable_objects, prepend_name_scope
from everflow.platform import file_io, logging
from everflow.protos.meta_graph_pb2 import AssetFileDef
from everflow.protos.saved_model_pb2 import SavedModel
from everflow.saved_model import constants
from everflow.saved_model.signature_def_utils import load_op_from_signature_def
from everflow.train.importing import import_meta_graph_with_elements
from everflow.train.saver import Saver


def parse_saved_model(export_dir):
    """The SavedModel proto of a folder; IOError where there is none or it can't be read."""
    # Exporting gives paths as bytes, and programs hand them on.
    export_dir = os.fsdecode(export_dir)
    binary = os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PB)
    text = os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PBTXT)
    model = SavedModel()
    if file_io.file_exists(binary):
        try:
            model.ParseFromString(file_io.read_file_to_string(binary, binary_mode=True))
        except DecodeError as e:
            raise OSError(f"Cannot parse file {binary}: {e}.") from e
        return model
    if file_io.file_exists(text):
        try:
            text_format.Parse(file_io.read_file_to_string(text), model)
        except text_format.ParseError as e:
            raise OSError(f"Cannot parse file {text}: {e}.") from e
        return model
    raise OSError(
        f"SavedModel file does not exist at: {export_dir}/{{{constants.SAVED_MODEL_FILENAME_PBTXT}|{constants.SAVED_MODEL_FILENAME_PB}}}"
    )


def maybe_saved_model_directory(export_dir):
    """Whether a folder holds a SavedModel's file.

    Args:
        export_dir: The folder of the SavedModel.

    Returns:
        A bool.

    Example:
        >>> tf.saved_model.contains_saved_model("missing")
        False
    """
    return any(
        file_io.file_exists(os.path.join(os.fsdecode(export_dir), name))
        for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT)
    )


contains_saved_model = maybe_saved_model_directory


def get_asset_tensors(export_dir, meta_graph_def, import_scope=None):
    """{tensor name: path} of the files that a meta graph takes along."""
    folder = os.path.join(os.fsdecode(export_dir), constants.ASSETS_DIRECTORY)
    found = {}
    definitions = list(meta_graph_def.asset_file_def)
    if not definitions and constants.ASSETS_KEY in meta_graph_def.collection_def:
        # Of TensorFlow's message type or ours: the bytes are the same.
        packed = meta_graph_def.collection_def[constants.ASSETS_KEY].any_list.value
        definitions = [AssetFileDef.FromString(message.value) for message in packed]
    for definition in definitions:
        name = definition.tensor_info.name
        found[prepend_name_scope(name, import_scope)] = os.path.join(folder, _plain_name(definition.filename))
    return found


def _plain_name(name):
    """A file name as it is; one that would lead out of the assets folder is refused."""
    if os.path.isabs(name) or ".." in name.split("/"):
        raise ValueError(f"The SavedModel names an asset outside of its folder: {name!r}")
    return name


class SavedModelLoader:
    """Loads meta graphs of one SavedModel."""

    def __init__(self, export_dir):
        self._export_dir = export_dir
        self._variables_path = os.path.join(
            os.fsdecode(export_dir), constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME
        )
        self._saved_model = parse_saved_model(export_dir)

    export_dir = property(lambda self: self._export_dir)
    saved_model = property(lambda self: self._saved_model)
    variables_path = property(lambda self: self._variables_path)

    def get_meta_graph_def_from_tags(self, tags):
        """The meta graph that has just these tags; RuntimeError where there is none."""
        wanted = {tags} if isinstance(tags, str) else set(tags)
        for meta in self._saved_model.meta_graphs:
            if set(meta.meta_info_def.tags) == wanted:
                return meta
        there = [sorted(meta.meta_info_def.tags) for meta in self._saved_model.meta_graphs]
        raise RuntimeError(
            f"MetaGraphDef associated with tags {str(sorted(wanted))[1:-1]} could not be found in SavedModel. "
            f"This model has the tags {there}. To look into a SavedModel use `everflow inspect`."
        )

    def load_graph(self, graph, tags, import_scope=None, **saver_kwargs):
        """Add a meta graph to a graph: (Saver or None, return elements)."""
        meta = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            return import_meta_graph_with_elements(meta, import_scope=import_scope, **saver_kwargs)

    def restore_variables(self, sess, saver, import_scope=None):
        """Give the variables of a graph that `load_graph` made their values."""
        with sess.graph.as_default():
            if saver is None and not _all_saveable_objects(scope=import_scope):
                logging.info("There are no variables in this SavedModel, so none are restored.")
            elif isinstance(saver, Saver):
                saver.restore(sess, self._variables_path)
            else:
                raise ValueError(f"No Saver in the meta graph to restore the variables of {self._export_dir} with")

    def run_init_ops(self, sess, tags, import_scope=None):
        """Run the op that makes the model ready, with the paths of its assets fed."""
        meta = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            feeds = get_asset_tensors(self._export_dir, meta, import_scope)
            op = get_init_op(meta, import_scope)
            if op is not None:
                sess.run(op, feed_dict=feeds)

    def load(self, sess, tags, import_scope=None, **saver_kwargs):
        """Load a meta graph with variables and assets into a session; returns its MetaGraphDef."""
        meta = self.get_meta_graph_def_from_tags(tags)
        self.restore_variables(sess, self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)[0], import_scope)
        self.run_init_ops(sess, tags, import_scope)
        return meta


def get_init_op(meta_graph_def, import_scope=None):
    """The op to be run after loading: by signature, main op or, in old models, init op; None where there is none."""
    keys = constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY
    return _noted_op(meta_graph_def, constants.INIT_OP_SIGNATURE_KEY, keys, import_scope)


def get_train_op(meta_graph_def, import_scope=None):
    """The op that makes a step of training, None where the meta graph has none."""
    return _noted_op(meta_graph_def, constants.TRAIN_OP_SIGNATURE_KEY, [constants.TRAIN_OP_KEY], import_scope)


def _noted_op(meta, signature_key, collections, import_scope):
    if signature_key in meta.signature_def:
        return load_op_from_signature_def(meta.signature_def[signature_key], signature_key, import_scope)
    for key in collections:
        if key not in meta.collection_def:
            continue
        names = meta.collection_def[key].node_list.value
        if len(names) != 1:
            raise RuntimeError(f"The collection {key!r} of a SavedModel has {len(names)} ops, where one is wanted")
        return get_default_graph().as_graph_element(prepend_name_scope(names[0], import_scope))
    return None


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Load the meta graph of these tags from a SavedModel into a session; returns its MetaGraphDef.

    Args:
        sess: The session.
        tags: The words that name a graph in it, such as `serve`.
        export_dir: The folder of the SavedModel.
        import_scope: The name scope of what is imported.
        **saver_kwargs: What `tf.train.import_meta_graph` takes.

    Returns:
        A MetaGraphDef.

    Raises:
        RuntimeError: If there is no graph of these tags.

    Example:
        >>> x = tf.placeholder(tf.float32, name="x")
        >>> y = tf.multiply(x, tf.Variable(2.0), name="y")
        >>> sess.run(tf.global_variables_initializer())
        >>> tf.saved_model.simple_save(sess, "model", {"x": x}, {"y": y})
        >>> with tf.Session(graph=tf.Graph()) as session:
        ...     meta_graph = tf.saved_model.load(session, ["serve"], "model")
        ...     print(session.run("y:0", {"x:0": 3.0}))
        6.0
    """
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)
