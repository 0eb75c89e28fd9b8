"""Elements and the flat tensors that ops pass, with the checks of those who come from outside: a nest of specs, or one
spec, is asked for them.
"""

from __future__ import annotations

from everflow.data import structure
from everflow.framework.composites import SparseTensorSpec
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.type_specs import TensorSpec
from everflow.ops.ragged.spec import RaggedTensorSpec
from everflow.ops.tensor_arrays.spec import TensorArraySpec


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
        if not hasattr(spec, "_unbatch"):
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
            kind = TypeError if isinstance(spec, SparseTensorSpec | TensorArraySpec) else AttributeError
            raise kind(f"{value} is not what {spec} says")
        return value

    return structure.map_nest(leaf, element_spec, element)


def _as_many(element_spec, tensor_list):
    """The specs of the flat tensors of an element, of which there have to be as many as tensors."""
    specs = get_flat_tensor_specs(element_spec)
    if len(specs) != len(tensor_list):
        raise ValueError(f"An element has {len(specs)} tensors, not {len(tensor_list)}")
    return specs


def from_tensor_list(element_spec, tensor_list):
    """An element made of flat tensors, which have to fit."""
    specs = _as_many(element_spec, tensor_list)
    for i, (spec, tensor) in enumerate(zip(specs, tensor_list, strict=True)):
        if not spec.is_compatible_with(tensor):
            raise ValueError(f"Tensor {i}, {tensor}, is not what {spec} says")
    return from_compatible_tensor_list(element_spec, tensor_list)


def from_compatible_tensor_list(element_spec, tensor_list):
    """An element made of flat tensors, whose shapes are set."""
    specs = _as_many(element_spec, tensor_list)
    for spec, tensor in zip(specs, tensor_list, strict=True):
        tensor.set_shape(spec.shape)
    return structure.from_tensors(element_spec, tensor_list)


# What a spec itself is asked.
for _kind in (TensorSpec, SparseTensorSpec, RaggedTensorSpec, TensorArraySpec, structure.VariantSpec):
    _kind._to_tensor_list = to_tensor_list
    _kind._to_batched_tensor_list = to_batched_tensor_list
    _kind._from_tensor_list = from_tensor_list
    _kind._from_compatible_tensor_list = from_compatible_tensor_list
