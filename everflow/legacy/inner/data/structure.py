"""tensorflow.python.data.util.structure: specs of elements, and the flat tensors that datasets pass.

The conversions are those of `everflow.data.structure`, with the checks and names of the older module.
"""

from everflow.data import structure
from everflow.data.optional import OptionalSpec
from everflow.data.structure import from_legacy, map_nest
from everflow.framework.composites import SparseTensorSpec as _SparseTensorSpec
from everflow.framework.conversion import convert_to_tensor
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
            raise TypeError(f"Could not build a TypeSpec for {value} with type {type(value).__name__}: {e}") from e

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
            raise TypeError(f"Could not build a structure for output class {kind}")
        return from_legacy(dtype, shape, kind)

    leaves = structure.flatten(output_classes)
    parts = zip(structure.flatten(output_types), structure.shapes_up_to(output_classes, output_shapes), leaves)
    return structure.pack_as(output_classes, [made(*each) for each in parts])


def get_flat_tensor_specs(element_spec):
    """The specs of the flat tensors of an element."""
    pairs = zip(structure.flat_shapes(element_spec), structure.flat_types(element_spec), strict=True)
    return [TensorSpec(shape, dtype) for shape, dtype in pairs]


def get_flat_tensor_shapes(element_spec):
    """The shapes of the flat tensors of an element."""
    return structure.flat_shapes(element_spec)


def get_flat_tensor_types(element_spec):
    """The types of the flat tensors of an element."""
    return structure.flat_types(element_spec)


def to_tensor_list(element_spec, element):
    """The flat tensors of an element."""
    return structure.to_tensors(element_spec, _checked(element_spec, element))


def to_batched_tensor_list(element_spec, element):
    """The flat tensors of an element that is to be cut along its first axis."""
    element = _checked(element_spec, element)
    for spec, value in zip(structure.flatten(element_spec), structure.flatten(element), strict=True):
        if isinstance(spec, TensorArraySpec | OptionalSpec):
            raise AttributeError(f"A {type(spec).__name__} has no rows")
        if isinstance(spec, TensorSpec) and value.shape.rank == 0:
            raise ValueError(f"{value} is a scalar, which has no rows")
    return structure.to_batched_tensors(element_spec, element)


def _checked(element_spec, element):
    """An element with tensors for leaves, which fit their specs."""
    structure.same_structure(element_spec, element)

    def leaf(spec, value):
        if isinstance(spec, TensorSpec) and not structure.is_composite(value) and not isinstance(value, Tensor):
            value = convert_to_tensor(value)
        elif isinstance(value, structure.SparseTensorValue):
            value = structure.SparseTensor.from_value(value)
        own = structure.spec_of(value)
        if isinstance(spec, TensorSpec) and not spec.is_compatible_with(own):
            raise ValueError(f"{value} is not what {spec} says")
        if type(own) is not type(spec):  # TensorFlow looks no closer at what isn't one tensor
            kind = TypeError if isinstance(spec, _SparseTensorSpec | TensorArraySpec) else AttributeError
            raise kind(f"{value} is not what {spec} says")
        return value

    return map_nest(leaf, element_spec, element)


def from_tensor_list(element_spec, tensor_list):
    """An element made of flat tensors, which have to fit."""
    specs = get_flat_tensor_specs(element_spec)
    if len(specs) != len(tensor_list):
        raise ValueError(f"Expected {len(specs)} tensors but got {len(tensor_list)}.")
    for i, (spec, tensor) in enumerate(zip(specs, tensor_list, strict=True)):
        if not spec.is_compatible_with(tensor):
            raise ValueError(f"Tensor {i}, {tensor}, is not what {spec} says")
    return from_compatible_tensor_list(element_spec, tensor_list)


def from_compatible_tensor_list(element_spec, tensor_list):
    """An element made of flat tensors, whose shapes are set."""
    for spec, tensor in zip(get_flat_tensor_specs(element_spec), tensor_list, strict=True):
        tensor.set_shape(spec.shape)
    return structure.from_tensors(element_spec, tensor_list)


def _TensorStructure(dtype, shape):
    return TensorSpec(shape, dtype)


def _SparseTensorStructure(dtype, shape):
    return _SparseTensorSpec(shape, dtype)


def _RaggedTensorStructure(dtype, shape, ragged_rank):
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def _TensorArrayStructure(dtype, element_shape, dynamic_size, infer_shape):
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
