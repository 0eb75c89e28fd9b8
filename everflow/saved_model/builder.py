"""Writing SavedModels: `saved_model.pb` with meta graphs, `variables/` with a checkpoint, `assets/` with files."""

from __future__ import annotations

import os

from google.protobuf import text_format
from google.protobuf.any_pb2 import Any

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import add_to_collection, get_collection, get_default_graph
from everflow.framework.static_values import constant_value
from everflow.ops.variables.variable import _all_saveable_objects
from everflow.platform import file_io, logging
from everflow.platform.signatures import takes
from everflow.protos.meta_graph_pb2 import AssetFileDef, TensorInfo
from everflow.protos.saved_model_pb2 import SavedModel
from everflow.saved_model import constants, signature_def_utils, tag_constants
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.saved_model.utils import get_or_create_assets_dir
from everflow.train.saver import Saver

_BY_SIGNATURE = (
    "signature_def_map=None, assets_list=None, clear_devices=False, init_op=None, train_op=None, %s saver=None"
)
_BY_COLLECTION = """signature_def_map=None, assets_collection=None, legacy_init_op=None, clear_devices=False,
    main_op=None, strip_default_attrs=False, saver=None"""


class _SavedModelBuilder:
    """Writes a SavedModel that notes its assets and ops in the meta graph itself, as TensorFlow 2 does."""

    def __init__(self, export_dir):
        self._saved_model = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._export_dir = export_dir
        if file_io.file_exists(export_dir):
            if file_io.list_directory(export_dir):
                raise AssertionError(
                    f"Export directory already exists and has files in it, {export_dir}: empty it or take another one"
                )
        else:
            file_io.recursive_create_dir(export_dir)
        self._has_saved_variables = False

    @takes("sess, tags, " + _BY_SIGNATURE % "strip_default_attrs=False,")
    def add_meta_graph_and_variables(self, sess, tags, **given):
        """Write the variables of a session, and its graph as the first meta graph."""
        self._add_first(sess, tags, **given)

    @takes("tags, " + _BY_SIGNATURE % "")
    def add_meta_graph(self, tags, **given):
        """Add the default graph as a further meta graph over the variables that are written already."""
        self._add_further(tags, **given)

    def _add_first(self, sess, tags, **given):
        if self._has_saved_variables:
            raise AssertionError(
                "Variables and assets are saved once, and they have been: further graphs come by `add_meta_graph()`"
            )
        self._add(tags, **given, sess=sess)
        self._has_saved_variables = True

    def _add_further(self, tags, **given):
        if not self._has_saved_variables:
            raise AssertionError(
                "The first graph of a SavedModel brings variables and assets: call `add_meta_graph_and_variables()` for it"
            )
        self._add(tags, **given)

    def _add(self, tags, assets_list, init_op, train_op, **given):
        meta = self._written(tags, **given)
        for key, op in ((constants.INIT_OP_SIGNATURE_KEY, init_op), (constants.TRAIN_OP_SIGNATURE_KEY, train_op)):
            if op is not None:
                meta.signature_def[key].CopyFrom(signature_def_utils.op_signature_def(op, key))
        meta.asset_file_def.extend(self._save_assets(assets_list))
        self._saved_model.meta_graphs.add().CopyFrom(meta)

    def _written(self, tags, signature_def_map, saver, sess=None, **options):
        """The default graph as a meta graph; with a session, its variables are written, too."""
        _check_signatures(signature_def_map)
        if saver is None:
            saver = Saver(_all_saveable_objects(), sharded=True, write_version=2, allow_empty=True)
        if sess is not None:
            folder = os.path.join(self._export_dir, constants.VARIABLES_DIRECTORY)
            file_io.recursive_create_dir(folder)
            # The path may be read as a pattern, so it must not hold marks that patterns give a meaning.
            saver.save(
                sess, os.path.join(folder, constants.VARIABLES_FILENAME), write_meta_graph=False, write_state=False
            )
        meta = saver.export_meta_graph(**options)
        meta.meta_info_def.tags.extend(tags)
        for key, signature in (signature_def_map or {}).items():
            meta.signature_def[key].CopyFrom(signature)
        return meta

    def _save_assets(self, tensors):
        """Copy files that constants of the graph name; returns which constant names which file, AssetFileDefs."""
        named = [(asset_path(tensor), tensor.name) for tensor in tensors or []]
        if not named:
            logging.info("No assets to save.")
        return save_assets(named, self._export_dir)

    def save(self, as_text=False):
        """Write `saved_model.pb` (or `.pbtxt`), aside and renamed; returns its path as bytes."""
        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = os.path.join(self._export_dir, name)
        model = self._saved_model
        content = text_format.MessageToString(model) if as_text else model.SerializeToString(deterministic=True)
        file_io.atomic_write_string_to_file(path, content)
        logging.info("SavedModel written to: %s", path)
        return path.encode()


class SavedModelBuilder(_SavedModelBuilder):
    """Writes a SavedModel: variables once, with the first meta graph, then further meta graphs over the same variables.

    Args:
        export_dir: The folder of the SavedModel.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> builder = tf.saved_model.Builder("model")
        >>> builder.add_meta_graph_and_variables(sess, [tf.saved_model.tag_constants.SERVING])
        >>> builder.save()
        b'model/saved_model.pb'
    """

    @takes(f"sess, tags, {_BY_COLLECTION}")
    def add_meta_graph_and_variables(self, sess, tags, **given):
        """Write the variables of a session, and its graph as the first meta graph."""
        self._add_first(sess, tags, **given)

    @takes(f"tags, {_BY_COLLECTION}")
    def add_meta_graph(self, tags, **given):
        """Add the default graph as a further meta graph over the variables that are written already."""
        self._add_further(tags, **given)

    def _add(self, tags, assets_collection, main_op, legacy_init_op, **given):
        _check_signatures(given["signature_def_map"])
        for definition in self._save_assets(assets_collection):
            packed = Any()
            packed.Pack(definition, type_url_prefix="type.googleapis.com/")
            # Readers look for TensorFlow's own message name.
            packed.type_url = "type.googleapis.com/tensorflow.AssetFileDef"
            add_to_collection(constants.ASSETS_KEY, packed)
        main_op = main_op if main_op is not None else legacy_init_op
        if main_op is not None:
            _note_main_op(main_op)
        self._saved_model.meta_graphs.add().CopyFrom(self._written(tags, **given))


def _note_main_op(op):
    """Note an op as the one that makes the model ready; a graph has one."""
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if get_collection(key):
            raise ValueError(f"The graph has a main op already, in the collection {key!r}: pass `main_op` only")
    if not isinstance(op, Operation):
        raise TypeError(f"main_op needs to be an Operation: {op!r}")
    add_to_collection(constants.MAIN_OP_KEY, op)


def asset_path(tensor):
    """The path that a constant holds."""
    if not isinstance(tensor, Tensor) or tensor.dtype != dtypes.string:
        raise TypeError(f"An asset is a string tensor with the path of a file, not {tensor!r}")
    path = constant_value(tensor)
    if path is None:
        raise ValueError(f"Invalid asset filepath tensor: {tensor}")
    return path.item().decode()


def save_assets(paths_and_tensors, export_dir):
    """Copy files into a SavedModel; the AssetFileDefs that say which tensor is to name which of them."""
    sources, definitions = {}, []
    for path, tensor_name in paths_and_tensors:
        name = get_asset_filename_to_add(path, sources)
        sources[name] = path
        definitions.append(AssetFileDef(filename=name, tensor_info=TensorInfo(name=tensor_name)))
    copy_assets_to_destination_dir(sources, export_dir)
    return definitions


def copy_assets_to_destination_dir(asset_filename_map, destination_dir):
    """Copy {name in the assets folder: path} where they are not there yet."""
    if not asset_filename_map:
        return
    folder = get_or_create_assets_dir(destination_dir)
    for name, path in asset_filename_map.items():
        target = os.path.join(folder, name)
        if not file_io.file_exists(target):
            file_io.copy(path, target)
    logging.info("Assets written to: %s", folder)


def get_asset_filename_to_add(asset_filepath, asset_filename_map):
    """A file's name in the assets folder: its own, with a number where a file of that name holds something else."""
    path, taken = asset_filepath, asset_filename_map
    base = name = os.path.basename(path)
    count = 0
    while name in taken and not (taken[name] == path or file_io.filecmp(taken[name], path)):
        count += 1
        name = f"{base}_{count}"
    return name


def _check_signatures(signature_def_map):
    for key, signature in (signature_def_map or {}).items():
        if key in (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY):
            raise KeyError(f"SignatureDef map key {key!r} is one that SavedModel keeps for itself: take another one")
        for info in [*signature.inputs.values(), *signature.outputs.values()]:
            _check_tensor_info(key, info)


def _check_tensor_info(key, info):
    if info.WhichOneof("encoding") is None:
        raise AssertionError(
            f"A TensorInfo of signature {key!r} says neither name, coo_sparse nor composite_tensor: {info}"
        )
    if info.WhichOneof("encoding") == "composite_tensor":
        for component in info.composite_tensor.components:
            _check_tensor_info(key, component)
    elif info.dtype == 0:
        raise AssertionError(f"A TensorInfo of signature {key!r} has no dtype: {info}")


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """Write a model that servers can load: its graph, variables, and one signature of these inputs and outputs.

    Args:
        session: The session to run in.
        export_dir: The folder of the SavedModel.
        inputs: Tensors, or TensorInfos, by name.
        outputs: Tensors, or TensorInfos, by name.
        legacy_init_op: An operation that is run after loading.

    Returns:
        None.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> v = tf.Variable(2.0)
        >>> sess.run(v.initializer)
        >>> tf.saved_model.simple_save(sess, "model", {"x": x}, {"y": x * v})
        >>> tf.saved_model.contains_saved_model("model")
        True
    """
    signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature_def_utils.predict_signature_def(inputs, outputs)}
    builder = SavedModelBuilder(export_dir)
    assets = get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS)
    options = {"assets_collection": assets, "main_op": legacy_init_op, "clear_devices": True}
    builder.add_meta_graph_and_variables(session, [tag_constants.SERVING], signature_def_map=signatures, **options)
    builder.save()
