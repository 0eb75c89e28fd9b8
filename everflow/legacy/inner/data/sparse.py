"""tensorflow.python.data.util.sparse: sparse tensors among the elements of datasets."""

from everflow.data import structure
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.ops.sparse import serialize


def any_sparse(classes):
    """Whether there is a sparse tensor in a nest of classes."""
    return any(kind is SparseTensor for kind in structure.flatten(classes))


def as_dense_shapes(shapes, classes):
    """Shapes, unknown where tensors are sparse."""
    pairs = zip(structure.shapes_up_to(classes, shapes), structure.flatten(classes), strict=True)
    return structure.pack_as(classes, [TensorShape(None) if kind is SparseTensor else shape for shape, kind in pairs])


def as_dense_types(types, classes):
    """Types, variant where tensors are sparse."""
    return structure.map_nest(lambda dtype, kind: dtypes.variant if kind is SparseTensor else dtype, types, classes)


def get_classes(tensors):
    """The class of each tensor in a nest."""
    return structure.map_nest(lambda t: SparseTensor if isinstance(t, SparseTensor) else Tensor, tensors)


def serialize_sparse_tensors(tensors):
    """A nest with each sparse tensor as one of variants."""
    return structure.map_nest(_serialized(serialize.serialize_sparse), tensors)


def serialize_many_sparse_tensors(tensors):
    """A nest with the rows of each sparse tensor as variants."""
    return structure.map_nest(_serialized(serialize.serialize_many_sparse), tensors)


def _serialized(function):
    return lambda tensor: function(tensor, out_type=dtypes.variant) if isinstance(tensor, SparseTensor) else tensor


def deserialize_sparse_tensors(tensors, types, shapes, classes):
    """The opposite of `serialize_sparse_tensors`."""
    flat = zip(
        structure.flatten(tensors),
        structure.flatten(types),
        structure.shapes_up_to(classes, shapes),
        structure.flatten(classes),
        strict=True,
    )
    made = [
        serialize.deserialize_sparse(tensor, dtype, shape.rank) if kind is SparseTensor else tensor
        for tensor, dtype, shape, kind in flat
    ]
    return structure.pack_as(classes, made)
