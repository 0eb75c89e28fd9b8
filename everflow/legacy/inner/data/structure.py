"""tensorflow.python.data.util.structure: specs of elements, and the flat tensors that datasets pass.

The conversions are those of `everflow.data.structure`, with the checks and names of the older module.
"""

from everflow.data import structure
from everflow.data.flat_tensors import (  # noqa: F401
    from_compatible_tensor_list,
    from_tensor_list,
    get_flat_tensor_shapes,
    get_flat_tensor_specs,
    get_flat_tensor_types,
    to_batched_tensor_list,
    to_tensor_list,
)
from everflow.data.structure import from_legacy, map_nest
from everflow.framework.composites import SparseTensorSpec as _SparseTensorSpec
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.ops.ragged.spec import RaggedTensorSpec
from everflow.ops.tensor_arrays.spec import TensorArraySpec
from everflow.ops.tensor_arrays.tensor_array import TensorArray


def type_spec_from_value(element, use_fallback=True):
    """A nest of the specs of an element; TypeError where a leaf can't be one."""

    def leaf(value):
        try:
            return structure.spec_of(value)
        except (TypeError, ValueError) as e:
            raise TypeError(f"No TypeSpec describes {value}, a {type(value).__name__}: {e}") from e

    return map_nest(leaf, element)


normalize_element = structure.normalize


def are_compatible(spec1, spec2):
    """Whether two nests have one structure, with specs that fit each other."""
    try:
        structure.same_structure(spec1, spec2)
    except (TypeError, ValueError):
        return False
    pairs = zip(structure.flatten(spec1), structure.flatten(spec2), strict=True)
    return all(a.is_compatible_with(b) and b.is_compatible_with(a) for a, b in pairs)


def convert_legacy_structure(output_types, output_shapes, output_classes):
    """A nest of specs from nests of types, shapes and classes."""

    def made(dtype, shape, kind):
        if isinstance(kind, TypeSpec):
            return kind
        if isinstance(kind, type) and issubclass(kind, TensorArray):
            shape = TensorShape(shape)
            if shape.rank is None:
                return TensorArraySpec(shape, dtype, None, None)
            dynamic, inferred, *element = shape.as_list()
            return TensorArraySpec(TensorShape(element), dtype, dynamic, inferred)
        if not isinstance(kind, type) or not issubclass(kind, Tensor | structure.SparseTensor | structure.RaggedTensor):
            raise TypeError(f"Elements of a dataset can't be of class {kind}")
        return from_legacy(dtype, shape, kind)

    leaves = structure.flatten(output_classes)
    parts = zip(structure.flatten(output_types), structure.shapes_up_to(output_classes, output_shapes), leaves)
    return structure.pack_as(output_classes, [made(*each) for each in parts])


def _TensorStructure(dtype, shape):
    return TensorSpec(shape, dtype)


def _SparseTensorStructure(dtype, shape):
    return _SparseTensorSpec(shape, dtype)


def _RaggedTensorStructure(dtype, shape, ragged_rank):
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def _TensorArrayStructure(dtype, element_shape, dynamic_size, infer_shape):
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
