"""Writing SavedModels: `saved_model.pb` with meta graphs, `variables/` with a checkpoint, `assets/` with files."""

from __future__ import annotations

import os

from google.protobuf import text_format
from google.protobuf.any_pb2 import Any

from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import add_to_collection, get_default_graph
from everflow.framework.static_values import constant_value
from everflow.ops.variables.variable import _all_saveable_objects
from everflow.platform import file_io, logging
from everflow.platform.signatures import takes
from everflow.protos.meta_graph_pb2 import AssetFileDef, TensorInfo
from everflow.protos.saved_model_pb2 import SavedModel
from everflow.saved_model import constants, signature_def_utils, tag_constants
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from everflow.train.saver import Saver

_OF_GRAPHS = """signature_def_map=None, assets_collection=None, legacy_init_op=None, clear_devices=False, main_op=None,
    strip_default_attrs=False, saver=None"""


class SavedModelBuilder:
    """Writes a SavedModel: variables once, with the first meta graph, then further meta graphs over the same variables.

    >>> builder = tf.saved_model.builder.SavedModelBuilder("export")
    >>> builder.add_meta_graph_and_variables(sess, [tf.saved_model.tag_constants.SERVING])
    >>> builder.save()
    """

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

    @takes(f"sess, tags, {_OF_GRAPHS}")
    def add_meta_graph_and_variables(self, sess, tags, **given):
        """Write the variables of a session, and its graph as the first meta graph."""
        if self._has_saved_variables:
            raise AssertionError(
                "Variables and assets are saved once, and they have been: further graphs come by `add_meta_graph()`"
            )
        self._add(tags, **given, sess=sess)
        self._has_saved_variables = True

    @takes(f"tags, {_OF_GRAPHS}")
    def add_meta_graph(self, tags, **given):
        """Add the default graph as a further meta graph over the variables that are written already."""
        if not self._has_saved_variables:
            raise AssertionError(
                "The first graph of a SavedModel brings variables and assets: call `add_meta_graph_and_variables()` for it"
            )
        self._add(tags, **given)

    def _add(self, tags, signature_def_map, assets_collection, main_op, legacy_init_op, saver, sess=None, **options):
        """Add the default graph; with a session, its variables are written, too."""
        main_op = main_op if main_op is not None else legacy_init_op
        _check_signatures(signature_def_map)
        self._save_assets(assets_collection)
        if main_op is not None:
            if not isinstance(main_op, Operation):
                raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
            add_to_collection(constants.MAIN_OP_KEY, main_op)
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
        self._saved_model.meta_graphs.add().CopyFrom(meta)

    def _save_assets(self, assets_collection):
        """Copy files that constants of the graph name, and note in the graph which constant names which file."""
        sources, definitions = {}, []
        for tensor in assets_collection or []:
            path = constant_value(tensor)
            if not isinstance(tensor, Tensor) or tensor.dtype != dtypes.string or path is None:
                raise ValueError(f"Invalid asset filepath tensor: {tensor}")
            path = path.item().decode()
            name = _unique_name(os.path.basename(path), path, sources)
            sources[name] = path
            definitions.append(AssetFileDef(filename=name, tensor_info=TensorInfo(name=tensor.name)))
        for definition in definitions:
            packed = Any()
            packed.Pack(definition, type_url_prefix="type.googleapis.com/")
            # Readers look for TensorFlow's own message name.
            packed.type_url = "type.googleapis.com/tensorflow.AssetFileDef"
            add_to_collection(constants.ASSETS_KEY, packed)
        if not sources:
            logging.info("No assets to save.")
            return
        folder = os.path.join(self._export_dir, constants.ASSETS_DIRECTORY)
        file_io.recursive_create_dir(folder)
        for name, path in sources.items():
            target = os.path.join(folder, name)
            if not file_io.file_exists(target):
                file_io.copy(path, target)
        logging.info("Assets written to: %s", folder)

    def save(self, as_text=False):
        """Write `saved_model.pb` (or `.pbtxt`), aside and renamed; returns its path as bytes."""
        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = os.path.join(self._export_dir, name)
        model = self._saved_model
        content = text_format.MessageToString(model) if as_text else model.SerializeToString(deterministic=True)
        file_io.atomic_write_string_to_file(path, content)
        logging.info("SavedModel written to: %s", path)
        return path.encode()


def _unique_name(name, path, taken):
    """A file's name in the assets folder: its own, with a number where another file of that name is there."""
    base, count = name, 0
    while name in taken and taken[name] != path:
        count += 1
        name = f"{base}_{count}"
    return name


def _check_signatures(signature_def_map):
    for key, signature in (signature_def_map or {}).items():
        if key == "__saved_model_init_op" or key == "__saved_model_train_op":
            raise KeyError(f"SignatureDef map key {key!r} is one that SavedModel keeps for itself: take another one")
        for info in [*signature.inputs.values(), *signature.outputs.values()]:
            if info.WhichOneof("encoding") is None:
                raise AssertionError(
                    f"A TensorInfo of signature {key!r} says neither name, coo_sparse nor composite_tensor: {info}"
                )
            if info.WhichOneof("encoding") == "composite_tensor":
                continue
            if info.dtype == 0:
                raise AssertionError(f"A TensorInfo of signature {key!r} has no dtype: {info}")


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """Write a model that servers can load: its graph, variables, and one signature of these inputs and outputs.

    >>> tf.saved_model.simple_save(sess, "export", inputs={"x": x}, outputs={"y": y})
    """
    signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature_def_utils.predict_signature_def(inputs, outputs)}
    builder = SavedModelBuilder(export_dir)
    assets = get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS)
    options = {"assets_collection": assets, "main_op": legacy_init_op, "clear_devices": True}
    builder.add_meta_graph_and_variables(session, [tag_constants.SERVING], signature_def_map=signatures, **options)
    builder.save()
