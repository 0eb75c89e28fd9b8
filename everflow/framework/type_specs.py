"""Types of values, without the values: `TypeSpec`, `TensorSpec`. Functions and datasets describe what they take with
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.framework import dtypes
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape

if TYPE_CHECKING:
    from everflow.framework.hints import DTypeLike, ShapeLike


class TypeSpec:
    """The type of a value, which may be made of several tensors.

    A subclass says what it is made of (`_component_specs`) and how to take a value apart (`_to_components`) and put it
    together (`_from_components`).

    Example:
        >>> isinstance(tf.TensorSpec([]), tf.TypeSpec)
        True
    """

    _component_specs: Any
    _to_components: Callable[[Any], Any]
    _from_components: Callable[[Any], Any]

    @property
    def value_type(self) -> type:
        """The Python type of the values."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _serialize(self) -> tuple[Any, ...]:
        """What tells two specs of this class apart, as a tuple."""
        raise NotImplementedError(f"{type(self).__name__}._serialize")

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        """The spec that `_serialize` told of."""
        return cls(*serialization)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value of this type could stand for the other, or be it."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(other) and all(_fits(a, b) for a, b in zip(self._serialize(), other._serialize()))

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The tightest spec that both fit in; ValueError where there is none."""
        if type(self) is not type(other):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        parts: list[Any] = []
        for a, b in zip(self._serialize(), other._serialize()):
            if isinstance(a, TensorShape):
                parts.append(a.most_specific_compatible_shape(b))
            elif isinstance(a, TypeSpec) and isinstance(b, TypeSpec):
                parts.append(a.most_specific_compatible_type(b))
            elif _key(a) == _key(b):
                parts.append(a)
            else:
                raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return type(self)(*parts)

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        """The types of all the tensors that a value is made of."""
        return [flat for spec in _flat(self._component_specs) for flat in spec._flat_tensor_specs]

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        """The tensors that a value is made of."""
        return list(_leaves(self._component_specs, self._to_components(value)))

    def _from_tensor_list(self, tensor_list: Sequence[Tensor]) -> Any:
        """A value of these tensors, which have to fit."""
        specs = self._flat_tensor_specs
        if len(specs) != len(tensor_list):
            raise ValueError(f"A value of {self} is made of {len(specs)} tensors, not of {len(tensor_list)}")
        for i, (spec, tensor) in enumerate(zip(specs, tensor_list)):
            if not spec.is_compatible_with(tensor):
                raise ValueError(f"Tensor {i}, {tensor}, is not what {spec} says")
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Tensor]) -> Any:
        """A value of these tensors, which are known to fit."""
        return self._from_components(_packed(self._component_specs, iter(tensor_list)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeSpec) and type(self) is type(other) and self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def _key(self) -> tuple[Any, ...]:
        return tuple(map(_key, self._serialize()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()


def _key(part: Any) -> Any:
    """A part of what tells specs apart, as something to compare and to hash."""
    if isinstance(part, TensorShape):
        return part.sizes
    if isinstance(part, np.ndarray):
        return part.dtype.str, part.shape, part.tobytes()
    if isinstance(part, (list, tuple)):
        return tuple(map(_key, part))
    if isinstance(part, dict):
        return tuple((key, _key(value)) for key, value in sorted(part.items()))
    return part


def _flat(specs: Any) -> Iterator[TypeSpec]:
    if isinstance(specs, TypeSpec):
        yield specs
    else:
        for spec in specs.values() if isinstance(specs, dict) else specs:
            yield from _flat(spec)


def _leaves(specs: Any, parts: Any) -> Iterator[Tensor]:
    """The tensors of a value's parts, in the order of their specs."""
    if isinstance(specs, TensorSpec):
        yield parts
    elif isinstance(specs, TypeSpec):
        yield from specs._to_tensor_list(parts)
    else:
        for key in specs if isinstance(specs, dict) else range(len(specs)):
            yield from _leaves(specs[key], parts[key])


def _packed(specs: Any, tensors: Iterator[Tensor]) -> Any:
    """The parts of a value from its tensors."""
    if isinstance(specs, TensorSpec):
        return next(tensors)
    if isinstance(specs, TypeSpec):
        return specs._from_compatible_tensor_list([next(tensors) for _ in specs._flat_tensor_specs])
    if isinstance(specs, dict):
        return type(specs)((key, _packed(spec, tensors)) for key, spec in specs.items())
    return type(specs)(_packed(spec, tensors) for spec in specs)


def _fits(a: Any, b: Any) -> bool:
    return a.is_compatible_with(b) if isinstance(a, (TensorShape, dtypes.DType, TypeSpec)) else a == b


class TensorSpec(TypeSpec):
    """The type of a tensor: shape, dtype and perhaps a name.

    Args:
        shape: The lengths of the axes.
        dtype: The type of the elements.
        name: A name for the tensor.

    Example:
        >>> tf.TensorSpec([None, 3], tf.float32).is_compatible_with(np.zeros([2, 3], np.float32))
        True
    """

    def __init__(self, shape: ShapeLike, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)
    value_type = property(lambda self: Tensor)

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """A TensorSpec of another one's shape and dtype."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The TensorSpec of a tensor."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"from_tensor wants a tensor, not {tensor!r}")
        return cls(tensor.shape, tensor.dtype, name or (tensor.op.name if hasattr(tensor, "op") else None))

    @property
    def is_fully_defined(self) -> bool:
        return self._shape.is_fully_defined()

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether a tensor, array or spec fits."""
        if isinstance(spec_or_tensor, TypeSpec) and not isinstance(spec_or_tensor, TensorSpec):
            return False
        other = spec_or_tensor
        if not hasattr(other, "dtype") or not hasattr(other, "shape"):
            other = np.asarray(other)
        return self._dtype.is_compatible_with(other.dtype) and self._shape.is_compatible_with(other.shape)

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The tightest spec that both fit in; it has a name where both have the same."""
        if isinstance(other, TensorSpec) and type(self) is TensorSpec and self._name != other._name:
            return TensorSpec(self._shape, self._dtype).most_specific_compatible_type(
                TensorSpec(other._shape, other._dtype)
            )
        return super().most_specific_compatible_type(other)

    @property
    def _flat_tensor_specs(self) -> list[TensorSpec]:
        return [self]

    _component_specs = property(lambda self: self)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype, self._name)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


def type_spec_from_value(value: Any) -> TypeSpec:
    """The TypeSpec of a tensor, a composite value or something that converts to a tensor."""
    spec = getattr(value, "_type_spec", None)
    if spec is not None:
        return spec
    if isinstance(value, Tensor) or hasattr(value, "_is_tensor_like"):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    for kind, converter in reversed(_converters):
        if isinstance(value, kind) and (found := converter(value)) is not None:
            return found
    array = np.asarray(value)
    if array.dtype == object and not all(isinstance(part, (str, bytes)) for part in array.flat):
        raise TypeError(f"A {type(value).__name__} has no TypeSpec: {value!r}")
    if array.dtype == np.int64 and not isinstance(value, (np.ndarray, np.generic)):
        array = array.astype(np.int32)  # what a Python number becomes
    return TensorSpec(array.shape, dtypes.as_dtype(array.dtype))


# (class, function that gives the TypeSpec of its values, or None); later ones are asked first.
_converters: list[tuple[type, Callable[[Any], TypeSpec | None]]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], TypeSpec | None], allow_subclass: bool = False
) -> None:
    """Let values of a class have a TypeSpec: `converter_fn(value)`."""

    def of_the_class(value: Any) -> TypeSpec | None:
        return converter_fn(value) if allow_subclass or type(value) is type_object else None

    _converters.append((type_object, of_the_class))
