"""Writes exports: the graph with its signatures, the variables and files it needs, under a numbered folder."""

from __future__ import annotations

import os

from google.protobuf.any_pb2 import Any

from everflow.contrib.session_bundle import constants, gc
from everflow.framework import dtypes
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import add_to_collection, get_default_graph, get_default_session
from everflow.framework.static_values import constant_value
from everflow.platform import file_io, logging
from everflow.platform.compat import as_bytes, as_str_any
from everflow.protos import manifest_pb2
from everflow.protos.graph_pb2 import GraphDef


def gfile_copy_callback(files_to_copy, export_dir_path):
    """Copies files, {path: name}, into the folder of an export's assets."""
    logging.info("The assets are copied to %s", export_dir_path)
    file_io.recursive_create_dir(export_dir_path)
    for path, name in files_to_copy.items():
        file_io.copy(as_bytes(path), os.path.join(as_bytes(export_dir_path), as_bytes(name)), overwrite=False)


def _binding(tensor):
    return manifest_pb2.TensorBinding(tensor_name=tensor.name)


def regression_signature(input_tensor, output_tensor):
    """Says that `output_tensor` has a number for each example in `input_tensor`."""
    signature = manifest_pb2.RegressionSignature(input=_binding(input_tensor), output=_binding(output_tensor))
    return manifest_pb2.Signature(regression_signature=signature)


def classification_signature(input_tensor, classes_tensor=None, scores_tensor=None):
    """Says which tensors have the classes and the scores of the examples in `input_tensor`."""
    signature = manifest_pb2.ClassificationSignature(input=_binding(input_tensor))
    if classes_tensor is not None:
        signature.classes.CopyFrom(_binding(classes_tensor))
    if scores_tensor is not None:
        signature.scores.CopyFrom(_binding(scores_tensor))
    return manifest_pb2.Signature(classification_signature=signature)


def generic_signature(name_tensor_map):
    """Gives tensors names: {name: tensor}."""
    named = {name: _binding(tensor) for name, tensor in name_tensor_map.items()}
    return manifest_pb2.Signature(generic_signature=manifest_pb2.GenericSignature(map=named))


def _packed(message, name):
    """A message as readers look for it: under TensorFlow's own name."""
    return Any(type_url=f"type.googleapis.com/tensorflow.{name}", value=message.SerializeToString())


class Exporter:
    """Exports a model for serving: `init` says what of it, `export` writes it, as often as wanted.

    Args:
        saver: The Saver that writes the variables.

    Example:
        >>> import tempfile
        >>> from everflow.contrib.session_bundle import exporter
        >>> with tf.Graph().as_default() as graph, tf.Session() as session:
        ...     x = tf.placeholder(tf.float32, [None])
        ...     y = x * tf.Variable(2.0)
        ...     session.run(tf.global_variables_initializer())
        ...     model = exporter.Exporter(tf.train.Saver())
        ...     model.init(graph.as_graph_def(), default_graph_signature=exporter.regression_signature(x, y))
        ...     path = model.export(tempfile.mkdtemp(), tf.constant(7), session)
        >>> path[-9:]
        b'/00000007'
    """

    def __init__(self, saver):
        self._saver = saver
        self._has_init = False
        self._assets_to_copy: dict[str, str] = {}
        self._assets_callback = None

    def init(
        self,
        graph_def=None,
        init_op=None,
        clear_devices=False,
        default_graph_signature=None,
        named_graph_signatures=None,
        assets_collection=None,
        assets_callback=gfile_copy_callback,
    ):
        """Note in collections of the default graph what an export says.

        Args:
          graph_def: The graph to serve; without one, the default graph.
          init_op: An operation to run before the first request.
          clear_devices: Whether the export's nodes have no devices.
          default_graph_signature: The signature that requests mean which name none.
          named_graph_signatures: Others, by name.
          assets_collection: Tensors with the names of files that the graph reads.
          assets_callback: What copies these files: `f({path: name}, folder)`; None copies none.
        """
        if self._has_init:
            raise RuntimeError("init was called before: an Exporter takes it once")
        if init_op is not None and not isinstance(init_op, Operation):
            raise TypeError(f"init_op must be an Operation, got {init_op!r}")
        signatures = manifest_pb2.Signatures()
        if default_graph_signature is not None:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        assets = {as_str_any(_path(tensor)): tensor for tensor in assets_collection or []}
        self._has_init = True
        if graph_def is not None or clear_devices:
            kept = GraphDef()
            kept.CopyFrom(graph_def if graph_def is not None else get_default_graph().as_graph_def())
            for node in kept.node if clear_devices else ():
                node.device = ""
            add_to_collection(constants.GRAPH_KEY, _packed(kept, "GraphDef"))
        if init_op is not None:
            add_to_collection(constants.INIT_OP_KEY, init_op)
        add_to_collection(constants.SIGNATURES_KEY, _packed(signatures, "serving.Signatures"))
        for path, tensor in assets.items():
            file = manifest_pb2.AssetFile(tensor_binding=_binding(tensor), filename=os.path.basename(path))
            add_to_collection(constants.ASSETS_KEY, _packed(file, "serving.AssetFile"))
        self._assets_to_copy = {path: os.path.basename(path) for path in assets}
        self._assets_callback = assets_callback

    def export(self, export_dir_base, global_step_tensor, sess=None, exports_to_keep=None):
        """Write an export into the folder of the step's number, which is there whole or not at all.

        Args:
          export_dir_base: The folder of all exports.
          global_step_tensor: The tensor with the number.
          sess: The session with the variables; the default one where None.
          exports_to_keep: Which exports stay: a function as `gc` has them; the others are removed.

        Returns:
          The path of the export, as bytes.
        """
        if not self._has_init:
            raise RuntimeError("Call init before export: it says what is exported")
        sess = sess or get_default_session()
        step = int(sess.run(global_step_tensor))
        folder = os.path.join(export_dir_base, constants.VERSION_FORMAT_SPECIFIER % step)
        if file_io.file_exists(folder):
            raise RuntimeError(f"There is an export in {folder} already; exports are never written over")
        unfinished = folder + "-tmp"
        file_io.recursive_create_dir(unfinished)
        prefix = os.path.join(unfinished, constants.VARIABLES_FILENAME)
        self._saver.save(sess, prefix, write_meta_graph=False)
        self._saver.export_meta_graph(os.path.join(unfinished, constants.META_GRAPH_DEF_FILENAME))
        if self._assets_callback and self._assets_to_copy:
            self._assets_callback(self._assets_to_copy, os.path.join(unfinished, constants.ASSETS_DIRECTORY))
        file_io.rename(unfinished, folder)
        if exports_to_keep:
            for path in gc.negation(exports_to_keep)(gc.get_paths(export_dir_base, _version)):
                file_io.delete_recursively(path.path)
        return as_bytes(folder)


def _path(tensor):
    """The path that a constant holds."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Assets are string tensors, got {tensor!r}")
    path = constant_value(tensor) if tensor.op.type == "Const" and tensor.dtype == dtypes.string else None
    if path is None:
        raise TypeError(f"Assets are constants with paths of files, got {tensor!r}")
    return path.item()


def _version(path):
    """The path of an export with its version, or None for other folders."""
    name = os.path.basename(path.path)
    return path._replace(export_version=int(name)) if len(name) >= 8 and name.isdigit() else None
