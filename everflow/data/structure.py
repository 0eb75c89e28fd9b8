"""The structure of a dataset's elements: nests of tuples and dicts of specs, and how values go in and out of the flat
tensors that ops pass.

Lists are not nests here: they are converted to tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor, SparseTensorSpec, SparseTensorValue
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.nest import is_attrs, parts_of, rebuilt
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec, TypeSpec
from everflow.ops.ragged.spec import RaggedTensorSpec
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from everflow.ops.ragged.value import RaggedTensorValue
from everflow.ops.sparse import serialize as sparse_serialize
from everflow.ops.tensor_arrays.spec import TensorArraySpec
from everflow.ops.tensor_arrays.tensor_array import TensorArray


def is_nested(value) -> bool:
    """Whether a value is a nest here: a tuple, named tuple, mapping or object of an attrs class."""
    if isinstance(value, (tuple, Mapping)):
        return not isinstance(value, (SparseTensorValue, TensorShape))
    return is_attrs(value)


def flatten(nest) -> list:
    """The leaves of a nest in order; dicts by their sorted keys."""
    if not is_nested(nest):
        return [nest]
    return [leaf for value in parts_of(nest) for leaf in flatten(value)]


def map_nest(function: Callable, *nests):
    """A nest of what `function` gives for the leaves, taken together, of nests of the same structure."""
    first = nests[0]
    if not is_nested(first):
        return function(*nests)
    return rebuilt(first, [map_nest(function, *values) for values in zip(*(parts_of(n) for n in nests), strict=True)])


def pack_as(nest, leaves):
    """A nest like another one, with other leaves."""
    leaves = iter(leaves)
    return map_nest(lambda _: next(leaves), nest)


def same_structure(a, b) -> None:
    """Raise where two nests are not of the same structure."""
    if is_nested(a) != is_nested(b):
        raise ValueError(f"{a} and {b} don't have the same nested structure")
    if not is_nested(a):
        return
    if isinstance(a, Mapping) != isinstance(b, Mapping) or hasattr(a, "_fields") != hasattr(b, "_fields"):
        raise TypeError(f"{type(a)} and {type(b)} are different kinds of containers")
    if isinstance(a, Mapping) and set(a) != set(b):
        raise ValueError(f"The two dictionaries don't have the same set of keys: {list(a)} and {list(b)}")
    if is_attrs(a) != is_attrs(b):
        raise TypeError(f"{type(a)} and {type(b)} are different kinds of containers")
    ours, others = parts_of(a), parts_of(b)
    if len(ours) != len(others):
        raise ValueError(f"One structure has {len(ours)} elements, the other one {len(others)}")
    for x, y in zip(ours, others):
        same_structure(x, y)


class VariantSpec(TypeSpec):
    """The type of a leaf that is passed as one variant tensor: a dataset or an optional."""

    variant_shape: TensorShape = TensorShape([])

    def from_variant(self, tensor):
        """The leaf that a tensor stands for."""
        raise NotImplementedError

    _component_specs = property(lambda self: TensorSpec(self.variant_shape, dtypes.variant))

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        return self.from_variant(components)


class VariantValue:
    """A leaf that is passed as one variant tensor; `_type_spec` is its VariantSpec."""

    _variant_tensor: Tensor
    _type_spec: VariantSpec


class NestedVariant(VariantValue):
    """Several of such leaves, as one tensor of variants."""

    def __init__(self, variant_tensor, spec):
        self._variant_tensor, self._type_spec = variant_tensor, spec

    @staticmethod
    def of(values):
        """Lists, which may be nested, of leaves of one type."""
        parts = [NestedVariant.of(v) if isinstance(v, list) else v for v in values]
        if not all(isinstance(part, VariantValue) for part in parts):
            raise TypeError(f"A list of datasets has nothing else in it: {values}")
        specs = [part._type_spec for part in parts]
        if any(spec != specs[0] for spec in specs):
            raise ValueError(f"Datasets in a list have elements of one type, not of {specs}")
        stacked = raw.Pack(values=[part._variant_tensor for part in parts], axis=0)
        return NestedVariant(stacked, batch(specs[0], len(parts)))


def is_list_of_variants(value) -> bool:
    """Whether a leaf is a list of datasets."""
    while isinstance(value, list) and value:
        value = value[0]
    return isinstance(value, VariantValue)


def spec_of(value):
    """The spec of a leaf; Python values are converted to find it."""
    if isinstance(value, VariantValue):
        return value._type_spec
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        value = SparseTensor.from_value(value)
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, (RaggedTensor, RaggedTensorValue)):
        return RaggedTensorSpec.from_value(value)
    if isinstance(value, TensorArray):
        return TensorArraySpec.from_value(value)
    if is_list_of_variants(value):
        return NestedVariant.of(value)._type_spec
    if not isinstance(value, Tensor):
        value = convert_to_tensor(value)
    return TensorSpec(value.shape, value.dtype.base_dtype)


def is_composite(value) -> bool:
    """Whether a leaf is passed as something else than one tensor."""
    return isinstance(
        value, (VariantValue, SparseTensor, SparseTensorValue, RaggedTensor, RaggedTensorValue, TensorArray)
    )


def normalize(element):
    """An element whose leaves are tensors, sparse or ragged tensors or datasets."""
    with name_scope("normalize_element"):
        leaves = flatten(element)
        made = []
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, SparseTensorValue):
                spec_of(leaf)  # its type is asked first, by tensors of its own
                leaf = SparseTensor.from_value(leaf)
            elif isinstance(leaf, RaggedTensorValue):
                leaf = as_ragged_or_tensor(leaf)
            elif is_list_of_variants(leaf):
                leaf = leaf if isinstance(leaf, VariantValue) else NestedVariant.of(leaf)
            elif not is_composite(leaf):
                leaf = convert_to_tensor(leaf, name=f"component_{i}")
            made.append(leaf)
    return pack_as(element, made)


# --- specs and the flat tensors ----------------------------------------------------------------


def flat_types(spec) -> list:
    """The dtypes of the flat tensors of an element."""
    return [s.dtype if type(s) is TensorSpec else dtypes.variant for s in flatten(spec)]


def flat_shapes(spec) -> list:
    """The static shapes of the flat tensors of an element."""
    return [s.shape if type(s) is TensorSpec else getattr(s, "variant_shape", TensorShape(None)) for s in flatten(spec)]


def attributes(spec) -> dict[str, list]:
    """The types and shapes of an element as the attributes that ops have for them."""
    return {"output_types": flat_types(spec), "output_shapes": flat_shapes(spec)}


def to_tensors(spec, element) -> list[Tensor]:
    """The flat tensors of an element."""
    return [_to_tensor(s, v) for s, v in zip(flatten(spec), flatten(element), strict=True)]


def _to_tensor(spec, value):
    if isinstance(spec, TensorSpec):
        return value
    if isinstance(spec, SparseTensorSpec):
        return sparse_serialize.serialize_sparse(value, out_type=dtypes.variant)
    if isinstance(spec, RaggedTensorSpec):
        return _ragged_to_variant(value, batched=False)
    if isinstance(spec, TensorArraySpec):
        return spec._to_components(value)[0]
    return value._variant_tensor


def _ragged_to_variant(value, batched):
    with name_scope(None, "RaggedToVariant", [value]):
        return raw.RaggedTensorToVariant(
            rt_nested_splits=value.nested_row_splits, rt_dense_values=value.flat_values, batched_input=batched
        )


def to_batched_tensors(spec, element) -> list[Tensor]:
    """The flat tensors of an element that is to be cut along its first axis."""
    return [_to_batched(s, v) for s, v in zip(flatten(spec), flatten(element), strict=True)]


def _to_batched(spec, value):
    if isinstance(spec, SparseTensorSpec):
        return sparse_serialize.serialize_many_sparse(value, out_type=dtypes.variant)
    if isinstance(spec, RaggedTensorSpec):
        return _ragged_to_variant(value, batched=True)
    if isinstance(spec, VariantSpec):
        unbatch(spec)
        return value._variant_tensor
    return value


def from_tensors(spec, tensors):
    """An element made of flat tensors."""
    return pack_as(spec, [_from_tensor(s, t) for s, t in zip(flatten(spec), tensors, strict=True)])


def _from_tensor(spec, tensor):
    if isinstance(spec, TensorSpec):
        return tensor
    if isinstance(spec, SparseTensorSpec):
        return sparse_serialize.deserialize_sparse(tensor, spec.dtype, spec.shape.rank)
    if isinstance(spec, RaggedTensorSpec):
        ranks = {"input_ragged_rank": -1, "output_ragged_rank": spec._ragged_rank}
        types = {"Tvalues": spec._dtype, "Tsplits": spec._row_splits_dtype}
        with name_scope(None, "RaggedFromVariant", [tensor]):
            parts = raw.RaggedTensorFromVariant(encoded_ragged=tensor, **ranks, **types)
        splits, result = list(parts[0]), parts[1]
        if spec._shape.rank is not None:
            outer = TensorShape([None]) if spec._ragged_rank else TensorShape([])
            result.set_shape(outer.concatenate(spec._shape[spec._ragged_rank + 1 :]))
            rows = spec._shape.as_list()[0] if splits else None
            if rows is not None:
                splits[0].set_shape([rows + 1])
        for split in reversed(splits):
            result = RaggedTensor(result, split, internal=True)
        return result
    if isinstance(spec, TensorArraySpec):
        return spec._from_components([tensor])
    return spec.from_variant(tensor)


def is_scalar(spec, dtype) -> bool:
    """Whether a spec is that of one scalar of this dtype, as far as known."""
    return isinstance(spec, TensorSpec) and spec.is_compatible_with(TensorSpec([], dtype))


def batch(spec, size):
    """The specs of a batch of elements; `size` is an int or None."""
    return map_nest(lambda s: _reshaped(s, lambda shape: TensorShape([size]).concatenate(shape), 1), spec)


def unbatch(spec):
    """The specs of the rows of an element."""

    def rows(shape):
        if shape.rank == 0:
            raise ValueError("unbatch() takes tensors apart along their first dimension, and a scalar has none")
        return shape[1:] if shape.rank is not None else shape

    return map_nest(lambda s: _reshaped(s, rows, -1), spec)


def _reshaped(spec, change, ranks):
    if isinstance(spec, TensorSpec):
        return TensorSpec(change(spec.shape), spec.dtype)
    if isinstance(spec, SparseTensorSpec):
        return SparseTensorSpec(change(spec.shape), spec.dtype)
    if isinstance(spec, RaggedTensorSpec):
        return RaggedTensorSpec(change(spec._shape), spec._dtype, spec._ragged_rank + ranks, spec._row_splits_dtype)
    if isinstance(spec, VariantSpec) and hasattr(spec, "reshaped"):
        return spec.reshaped(change(spec.variant_shape))
    raise AttributeError(f"Elements of the type {spec} can't be batched")  # TensorFlow's type: it misses a method


def joined(a, b):
    """The specs that both fit."""
    return map_nest(lambda x, y: x.most_specific_compatible_type(y), a, b)


# --- the older form: three nests ---------------------------------------------------------------


def legacy_types(spec):
    """A nest of dtypes."""
    return map_nest(lambda s: s if isinstance(s, VariantSpec) else s._dtype, spec)


def legacy_shapes(spec):
    """A nest of shapes."""
    return map_nest(_legacy_shape, spec)


def _legacy_shape(spec):
    """The shape of a leaf; that of a TensorArray also has, before an element's, the two answers of its type."""
    if isinstance(spec, TensorArraySpec):
        answers = [None if answer is None else int(answer) for answer in (spec._dynamic_size, spec._infer_shape)]
        return TensorShape(answers).concatenate(spec._element_shape)
    return spec if isinstance(spec, VariantSpec) else spec._shape


def legacy_classes(spec):
    """A nest of classes; a ragged tensor's spec stands for its class, which would not tell its ragged rank."""
    return map_nest(lambda s: s if isinstance(s, (VariantSpec, RaggedTensorSpec)) else s.value_type, spec)


class Elements:
    """What datasets and iterators tell of their elements, whose specs are in `_element_spec`."""

    element_spec = property(lambda self: self._element_spec)
    output_types = property(lambda self: legacy_types(self._element_spec))
    output_shapes = property(lambda self: legacy_shapes(self._element_spec))
    output_classes = property(lambda self: legacy_classes(self._element_spec))
    _flat_shapes = property(lambda self: flat_shapes(self._element_spec))
    _flat_types = property(lambda self: flat_types(self._element_spec))
    _flat_structure = property(lambda self: attributes(self._element_spec))


def from_legacy(types, shapes=None, classes=None):
    """Specs from nests of dtypes, shapes and classes; shapes may be anything that `TensorShape` takes."""
    types = map_nest(lambda t: t if isinstance(t, TypeSpec) else dtypes.as_dtype(t), types)
    leaves = flatten(types)
    shape_leaves = [TensorShape(None)] * len(leaves) if shapes is None else shapes_up_to(types, shapes)
    class_leaves = [Tensor] * len(leaves) if classes is None else flatten(classes)
    made = [_from_legacy(*parts) for parts in zip(leaves, shape_leaves, class_leaves, strict=True)]
    return pack_as(types, made)


def _from_legacy(dtype, shape, kind):
    if isinstance(dtype, TypeSpec):
        return dtype
    if isinstance(kind, TypeSpec):
        return kind
    if isinstance(kind, type) and issubclass(kind, SparseTensor):
        return SparseTensorSpec(shape, dtype)
    if isinstance(kind, type) and issubclass(kind, RaggedTensor):
        return RaggedTensorSpec(shape, dtype)
    return TensorSpec(shape, dtype)


def shapes_up_to(nest, shapes) -> list:
    """The shapes that go with the leaves of a nest; a tuple at a leaf is one shape."""
    return [shape if isinstance(shape, TypeSpec) else TensorShape(shape) for shape in up_to(nest, shapes)]


def up_to(nest, values) -> list:
    """What goes with each leaf of a nest; lists and tuples below a leaf are left as they are."""
    if not is_nested(nest):
        return [values]
    if isinstance(nest, Mapping):
        if not isinstance(values, Mapping) or set(nest) != set(values):
            raise ValueError(f"{values} doesn't have the structure of the elements, {nest}")
        return [leaf for key in sorted(nest) for leaf in up_to(nest[key], values[key])]
    if is_attrs(values) != is_attrs(nest) or not is_nested(values):  # a list is one shape, or one value
        raise TypeError(f"{values} doesn't have the structure of the elements, {nest}")
    below, given = parts_of(nest), parts_of(values)
    if len(given) != len(below):
        raise ValueError(f"{values} doesn't have the structure of the elements, {nest}")
    return [leaf for n, v in zip(below, given) for leaf in up_to(n, v)]


# What specs themselves are asked by programs that know the insides of datasets.
for _kind in (TensorSpec, SparseTensorSpec, RaggedTensorSpec, TensorArraySpec, VariantSpec):
    _kind._to_legacy_output_types = legacy_types
    _kind._to_legacy_output_shapes = legacy_shapes
    _kind._to_legacy_output_classes = legacy_classes
for _kind in (TensorSpec, SparseTensorSpec, RaggedTensorSpec):
    _kind._batch, _kind._unbatch = batch, unbatch
    _kind._flat_tensor_specs = property(lambda self: [TensorSpec(flat_shapes(self)[0], flat_types(self)[0])])
    _kind._to_tensor_list, _kind._to_batched_tensor_list = to_tensors, to_batched_tensors
    _kind._from_compatible_tensor_list = from_tensors
