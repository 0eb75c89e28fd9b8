"""Values made of several tensors: `IndexedSlices` and `SparseTensor`, and the forms they are fetched in."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope, require_session
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import constant_value_as_shape
from everflow.framework.type_specs import TensorSpec, TypeSpec

if TYPE_CHECKING:
    from everflow.framework.hints import DTypeLike, FeedDict, SessionLike, ShapeLike, TensorLike
    from everflow.framework.operation import Operation

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class OfSeveral:
    """What values of several tensors have in common: their type tells what they are made of."""

    _type_spec: Any
    graph: Any

    def _to_components(self) -> Any:
        return self._type_spec._to_components(self)

    @classmethod
    def _from_components(cls, components: Sequence[Any], metadata: TypeSpec) -> Any:
        return metadata._from_components(components)

    def _component_metadata(self) -> TypeSpec:
        return self._type_spec

    def _consumers(self) -> list[Operation]:
        return list(dict.fromkeys(op for part in self._to_components() for op in part.consumers()))

    @property
    def _is_graph_tensor(self) -> bool:
        return not any(part.is_eager for part in self._to_components())


class SparseTensorSpec(TypeSpec):
    """The type of a SparseTensor: shape and dtype.

    Args:
        shape: The lengths of the axes.
        dtype: The type of the elements.

    Example:
        >>> tf.SparseTensorSpec([None, 3], tf.float32)
        SparseTensorSpec(TensorShape([Dimension(None), Dimension(3)]), tf.float32)
    """

    def __init__(self, shape: ShapeLike = None, dtype: DTypeLike = dtypes.float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value: SparseTensor | SparseTensorValue) -> SparseTensorSpec:
        """The type of a SparseTensor or SparseTensorValue."""
        return cls(
            value.shape if isinstance(value, SparseTensor) else np.asarray(value.dense_shape).tolist(),
            np.asarray(value.values).dtype if isinstance(value, SparseTensorValue) else value.dtype,
        )

    value_type = property(lambda self: SparseTensor)
    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a SparseTensor or SparseTensorValue of this type could stand for the other, or be it."""
        is_value = isinstance(spec_or_value, SparseTensorValue)
        return super().is_compatible_with(self.from_value(spec_or_value) if is_value else spec_or_value)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._dtype)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value: SparseTensor | SparseTensorValue) -> list[Tensor]:
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components: Sequence[Any]) -> SparseTensor | SparseTensorValue:
        if all(isinstance(c, Tensor) for c in components):
            return SparseTensor(*components)
        return SparseTensorValue(*components)


class IndexedSlicesSpec(TypeSpec):
    """The type of IndexedSlices: shape and dtype of the whole, and of the indices.

    Args:
        shape: The lengths of the axes.
        dtype: The type of the elements.
        indices_dtype: The type of the indices.
        dense_shape_dtype: The type of the dense shape, or None if there is none.
        indices_shape: The shape of the indices.

    Example:
        >>> tf.IndexedSlicesSpec([None, 2], tf.float32)
        IndexedSlicesSpec(TensorShape([Dimension(None), Dimension(2)]), tf.float32, tf.int64, None, TensorShape([Dimension(None)]))
    """

    def __init__(
        self,
        shape: ShapeLike = None,
        dtype: DTypeLike = dtypes.float32,
        indices_dtype: DTypeLike = dtypes.int64,
        dense_shape_dtype: DTypeLike | None = None,
        indices_shape: ShapeLike = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    value_type = property(lambda self: IndexedSlices)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape)

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        specs = [
            TensorSpec(self._indices_shape.concatenate(self._shape[1:]), self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            specs.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(specs)

    def _to_components(self, value: IndexedSlices) -> tuple[Tensor, ...]:
        return (
            (value.values, value.indices)
            if value.dense_shape is None
            else (value.values, value.indices, value.dense_shape)
        )

    def _from_components(self, components: Sequence[Tensor]) -> IndexedSlices:
        return IndexedSlices(*components)


class CompositeTensor(OfSeveral):
    """A class of values made of several tensors, for which a session asks these three."""

    def _parts(self) -> list[Tensor]:
        """The tensors it is made of."""
        raise NotImplementedError

    def _fetched(self, arrays: list[Any]) -> Any:
        """What a run returns for it, from the values of its parts."""
        raise NotImplementedError

    def _fed(self, value: Any) -> list[Any]:
        """The values of its parts, from what was fed for it."""
        raise NotImplementedError


class IndexedSlices(OfSeveral):
    """Some slices of a larger tensor: `values[i]` stands at `indices[i]` along the first dimension.

    Args:
        values: The slices.
        indices: For each slice the row it stands at.
        dense_shape: The shape of the whole tensor, if known.

    Example:
        >>> table = tf.Variable(tf.zeros([5, 2]))
        >>> gradient, = tf.gradients(tf.nn.embedding_lookup(table, [3]), table)
        >>> isinstance(gradient, tf.IndexedSlices), sess.run(gradient.indices)
        (True, array([3], dtype=int32))
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    values = property(lambda self: self._values, doc="The slices.")
    indices = property(lambda self: self._indices, doc="Where each slice stands.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape of the whole as a tensor, or None.")
    name = property(lambda self: self._values.name)
    device = property(lambda self: self._values.device)
    op = property(lambda self: self._values.op)
    dtype = property(lambda self: self._values.dtype)
    graph = property(lambda self: self._values.graph)

    def _as_graph_element(self) -> None:
        return None

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        dtype = None if self._dense_shape is None else self._dense_shape.dtype
        whole = TensorShape(None) if self._dense_shape is None else constant_value_as_shape(self._dense_shape)
        return IndexedSlicesSpec(whole, self.dtype, self._indices.dtype, dtype, self._indices.shape)

    def _shape_invariant_to_type_spec(self, shape: TensorShape) -> IndexedSlicesSpec:
        """The type of slices of a loop whose whole has this shape."""
        rows, whole = shape[:1], self._dense_shape
        kind = None if whole is None else whole.dtype
        return IndexedSlicesSpec(shape, self._values.dtype, self._indices.dtype, kind, rows)

    def _kept_shapes(self, shape: TensorShape | None) -> list[TensorShape]:
        """The shapes its tensors keep as variables of a loop; `shape` is what the values may be, where more than they
        are now.
        """
        parts = self._type_spec._to_components(self)
        if shape is None:
            return [part.shape for part in parts]
        return [
            shape,
            shape.with_rank_at_least(1)[:1] if shape.rank is not None else TensorShape([None]),
            TensorShape([shape.rank]),
        ][: len(parts)]

    def consumers(self) -> list[Operation]:
        """The operations that use one of its tensors."""
        parts = [self._values, self._indices] + ([self._dense_shape] if self._dense_shape is not None else [])
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __str__(self) -> str:
        shape = f", dense_shape={self._dense_shape!s}" if self._dense_shape is not None else ""
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    __repr__ = __str__


class SparseTensor(OfSeveral):
    """A tensor given by its non-zero elements: int64 `indices` [n, rank], `values` [n] and `dense_shape` [rank].

    Args:
        indices: Where the values stand: [n, rank], int64.
        values: The values: [n].
        dense_shape: The shape of the whole: [rank], int64.

    Example:
        >>> t = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[2, 3])
        >>> sess.run(tf.sparse_tensor_to_dense(t))
        array([[1, 0, 0],
               [0, 0, 2]], dtype=int32)
    """

    @classmethod
    def from_value(cls, sparse_tensor_value: SparseTensor | SparseTensorValue) -> SparseTensor:
        """A SparseTensor from a SparseTensorValue or a SparseTensor."""
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return SparseTensor(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            values = convert_to_tensor(values, name="values")
            dense_shape = convert_to_tensor(dense_shape, name="dense_shape", dtype=dtypes.int64)
        self._indices, self._values, self._dense_shape = indices, values, dense_shape
        indices_shape = indices.shape.with_rank(2)
        values_shape = values.shape.with_rank(1)
        dense_shape_shape = dense_shape.shape.with_rank(1)
        indices_shape.dims[0].merge_with(values_shape[0])
        indices_shape.dims[1].merge_with(dense_shape_shape[0])

    indices = property(lambda self: self._indices, doc="Where the values stand, int64 [n, rank].")
    values = property(lambda self: self._values, doc="The values, [n].")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape as an int64 tensor.")
    op = property(lambda self: self._values.op)
    dtype = property(lambda self: self._values.dtype)
    graph = property(lambda self: self._indices.graph)

    @property
    def shape(self) -> TensorShape:
        """What is known of the shape before running."""
        return constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> TensorShape:
        """What is known of the shape before running."""
        return self.shape

    def consumers(self) -> list[Operation]:
        """The operations that use one of its tensors."""
        return list(
            dict.fromkeys(op for part in (self._indices, self._values, self._dense_shape) for op in part.consumers())
        )

    def eval(self, feed_dict: FeedDict | None = None, session: SessionLike | None = None) -> SparseTensorValue:
        """Compute it in a session; returns a SparseTensorValue."""
        session = require_session(session, self.graph, "evaluate tensor", "eval")
        return SparseTensorValue(*session.run([self.indices, self.values, self.dense_shape], feed_dict))

    def _as_graph_element(self) -> None:
        return None

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self.shape, self.dtype)

    def _shape_invariant_to_type_spec(self, shape: TensorShape) -> SparseTensorSpec:
        """The type of sparse tensors of a loop whose dense shape has this shape."""
        shape = TensorShape(shape).with_rank(1)
        return SparseTensorSpec([None] * shape[0].value if shape[0].value is not None else None, self.dtype)

    def _kept_shapes(self, shape: TensorShape | None) -> list[TensorShape]:
        """The shapes its tensors keep as variables of a loop: how many values there are may change. `shape` is that of
        `dense_shape`.
        """
        shape = self._dense_shape.shape if shape is None else shape
        if shape.rank not in (None, 1):
            raise ValueError(
                f"The shape invariant of a SparseTensor is the shape of its dense_shape, one number; got {shape}"
            )
        rank = None if shape.rank is None else shape[0]
        return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]

    def __str__(self) -> str:
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    __repr__ = __str__

    @staticmethod
    def _override_operator(operator: str, func: Callable[..., Any]) -> None:
        if operator in vars(SparseTensor):
            raise ValueError(f"operator {operator} cannot be overwritten again on class {SparseTensor}.")
        setattr(SparseTensor, operator, func)


def is_sparse(x: object) -> bool:
    """Whether x is a SparseTensor or SparseTensorValue."""
    return isinstance(x, (SparseTensor, SparseTensorValue))
