"""TensorInfos: tensors as signatures name them; and where a SavedModel keeps what."""

from __future__ import annotations

import os

from everflow.framework import nest
from everflow.framework.composites import CompositeTensor, SparseTensor
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.ops.variables.variable import prepend_name_scope
from everflow.platform import file_io
from everflow.protos.meta_graph_pb2 import TensorInfo
from everflow.protos.struct_pb2 import StructuredValue
from everflow.saved_model import constants
from everflow.saved_model.structured_values import decode, encode


def build_tensor_info(tensor):
    """The TensorInfo of a tensor, a sparse tensor or a ragged one.

    Args:
        tensor: The tensor.

    Returns:
        A TensorInfo.

    Raises:
        RuntimeError: When executing eagerly.

    Example:
        >>> tf.saved_model.build_tensor_info(tf.placeholder(tf.float32, name="x")).name
        'x:0'
    """
    if executing_eagerly():
        raise RuntimeError("build_tensor_info is of graphs: when executing eagerly, tensors have no names to note")
    return build_tensor_info_internal(tensor)


def build_tensor_info_internal(tensor):
    """The TensorInfo of a tensor of a graph, or of one made of several."""
    if isinstance(tensor, CompositeTensor) and not isinstance(tensor, SparseTensor):
        info = TensorInfo()
        info.composite_tensor.type_spec.CopyFrom(encode(tensor._type_spec).type_spec_value)
        parts = nest.flatten(tensor, expand_composites=True)
        info.composite_tensor.components.extend([build_tensor_info_internal(part) for part in parts])
        return info
    info = TensorInfo(dtype=tensor.dtype.as_datatype_enum, tensor_shape=tensor.get_shape().as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def build_tensor_info_from_op(op):
    """The TensorInfo by which a signature names an operation."""
    return TensorInfo(name=op.name, tensor_shape=TensorShape(None).as_proto())


def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The tensor of a graph that a TensorInfo names.

    Args:
        tensor_info: The TensorInfo.
        graph: The graph to work in; the default graph if None.
        import_scope: The name scope of what is imported.

    Returns:
        A tensor, a sparse tensor or a ragged one.

    Raises:
        ValueError: If its kind isn't known.

    Example:
        >>> x = tf.placeholder(tf.float32, name="x")
        >>> tf.saved_model.get_tensor_from_tensor_info(tf.saved_model.build_tensor_info(x)) is x
        True
    """
    graph = graph or get_default_graph()

    def tensor(name):
        return graph.get_tensor_by_name(prepend_name_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        held = tensor_info.coo_sparse
        return SparseTensor(
            tensor(held.indices_tensor_name), tensor(held.values_tensor_name), tensor(held.dense_shape_tensor_name)
        )
    if encoding == "composite_tensor":
        held = tensor_info.composite_tensor
        spec = decode(StructuredValue(type_spec_value=held.type_spec))
        parts = [get_tensor_from_tensor_info(part, graph, import_scope) for part in held.components]
        return nest.pack_sequence_as(spec, parts, expand_composites=True)
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def get_element_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The tensor or operation of a graph that a TensorInfo names."""
    graph = graph or get_default_graph()
    return graph.as_graph_element(prepend_name_scope(tensor_info.name, import_scope))


def get_variables_dir(export_dir):
    """The folder of a SavedModel's checkpoint."""
    return os.path.join(os.fsdecode(export_dir), constants.VARIABLES_DIRECTORY)


def get_variables_path(export_dir):
    """The name of a SavedModel's checkpoint."""
    return os.path.join(get_variables_dir(export_dir), constants.VARIABLES_FILENAME)


def get_assets_dir(export_dir):
    """The folder of a SavedModel's files."""
    return os.path.join(os.fsdecode(export_dir), constants.ASSETS_DIRECTORY)


def get_or_create_variables_dir(export_dir):
    """The folder of a SavedModel's checkpoint, made where it isn't there."""
    file_io.recursive_create_dir(get_variables_dir(export_dir))
    return get_variables_dir(export_dir)


def get_or_create_assets_dir(export_dir):
    """The folder of a SavedModel's files, made where it isn't there."""
    file_io.recursive_create_dir(get_assets_dir(export_dir))
    return get_assets_dir(export_dir)
