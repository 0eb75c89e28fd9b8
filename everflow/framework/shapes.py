"""Static shapes: `Dimension` and `TensorShape` with TensorFlow 1.x semantics, where anything may be unknown."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from everflow.protos import tensor_shape_pb2

if TYPE_CHECKING:
    from everflow.framework.hints import ShapeLike


# Whether what a TensorShape holds are numbers, as in TensorFlow 2, or Dimensions.
_plain_sizes = False


def enable_v2_tensorshape() -> None:
    """Let `shape[i]` and iteration over a TensorShape give ints and Nones, as in TensorFlow 2.

    Returns:
        None.

    Example:
        >>> tf.enable_v2_tensorshape()
        >>> tf.TensorShape([2, 3])[0]
        2
        >>> tf.disable_v2_tensorshape()
    """
    global _plain_sizes
    _plain_sizes = True


def disable_v2_tensorshape() -> None:
    """Let `shape[i]` and iteration over a TensorShape give Dimensions, as in TensorFlow 1.

    Returns:
        None.

    Example:
        >>> tf.disable_v2_tensorshape()
        >>> tf.TensorShape([2, 3])[0]
        Dimension(2)
    """
    global _plain_sizes
    _plain_sizes = False


class Dimension:
    """One side of a shape: a size, or unknown (None).

    Args:
        value: The size, or None for one that isn't known.

    Example:
        >>> tf.Dimension(3) + tf.Dimension(4)
        Dimension(7)
        >>> tf.Dimension(3) + tf.Dimension(None)
        Dimension(None)
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        if value is None or type(value) is int and value >= 0:
            self._value = value
        elif isinstance(value, Dimension):
            self._value = value._value
        elif hasattr(value, "enum_name"):  # a DType converts to int, and is never a size
            raise TypeError(f"Cannot convert {value} to Dimension")
        else:
            self._value = int(value)
            if not isinstance(value, (str, bytes)) and self._value != value:
                raise ValueError(f"Ambiguous dimension: {value}")
            if self._value < 0:
                raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]  # Python itself raises the TypeError for an unknown size

    __long__ = __index__ = __int__

    # As in TensorFlow 1.15: equality with an unknown size is None, so there is no hash that fits it.
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, operator.ne)

    def _compare(self, other: Any, test: Callable[[int, int], bool]) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return None
        return test(self._value, other._value)

    def __lt__(self, other: Any) -> bool | None:
        return self._order(other, operator.lt)

    def __le__(self, other: Any) -> bool | None:
        return self._order(other, operator.le)

    def __gt__(self, other: Any) -> bool | None:
        return self._order(other, operator.gt)

    def __ge__(self, other: Any) -> bool | None:
        return self._order(other, operator.ge)

    def _order(self, other: Any, test: Callable[[int, int], bool]) -> bool | None:
        other = as_dimension(other)
        if self._value is None or other._value is None:
            return None
        return test(self._value, other._value)

    def _arithmetic(self, other: Any, function: Callable[[int, int], int]) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(function(self._value, other._value))

    def __add__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.add)

    def __radd__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.add)

    def __sub__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.sub)

    def __rsub__(self, other: Any) -> Dimension:
        return self._arithmetic(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.mul)

    def __rmul__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.mul)

    def __floordiv__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Dimension:
        return self._arithmetic(other, lambda a, b: b // a)

    def __div__(self, other: Any) -> Dimension:
        return self // other

    def __truediv__(self, other: Any) -> NoReturn:
        raise TypeError(
            f"A Dimension can't be divided by a {type(other).__name__} with /: sizes are whole numbers, use //"
        )

    def __rtruediv__(self, other: Any) -> NoReturn:
        raise TypeError(
            f"A {type(other).__name__} can't be divided by a Dimension with /: sizes are whole numbers, use //"
        )

    def __mod__(self, other: Any) -> Dimension:
        return self._arithmetic(other, operator.mod)

    def __rmod__(self, other: Any) -> Dimension:
        return self._arithmetic(other, lambda a, b: b % a)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self._value,)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether the two could be the same size."""
        other = as_dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """What is known of the size from both; ValueError where they contradict."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)


def as_dimension(value: Any) -> Dimension:
    """A Dimension from a number, None or a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension: Dimension | int | None) -> int | None:
    """The size as a Python int or None, from a Dimension or a number.

    Args:
        dimension: A Dimension, a number or None.

    Returns:
        A number or None.

    Example:
        >>> tf.dimension_value(tf.TensorShape([2, 3])[1])
        3
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


def same_size(a: Dimension | int | None, b: Dimension | int | None) -> int | None:
    """What two sizes that must be equal are; None where neither is known."""
    x, y = dimension_value(a), dimension_value(b)
    if x is not None and y is not None and x != y:
        raise ValueError(f"Dimensions must be equal, but are {x} and {y}")
    return y if x is None else x


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The Dimension at a position of a shape; unknown where the rank is.

    Args:
        shape: A TensorShape.
        index: The position.

    Returns:
        A Dimension.

    Example:
        >>> tf.dimension_at_index(tf.TensorShape([2, 3]), 1)
        Dimension(3)
    """
    dims = shape.dims
    return Dimension(None) if dims is None else dims[index]


class TensorShape:
    """A shape of which the rank or single sizes may be unknown.

    Args:
        dims: The sizes, None for those not known; None alone for a shape whose rank is not known.

    Example:
        >>> tf.TensorShape([None, 3]).merge_with([2, None]).as_list()
        [2, 3]
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: ShapeLike) -> None:
        if dims is None:
            self._dims = None
        elif isinstance(dims, (bytes, str)):
            raise TypeError(f"A string is no shape; give a list of sizes or an int, not {dims!r}")
        elif isinstance(dims, tensor_shape_pb2.TensorShapeProto):
            self._dims = (
                None if dims.unknown_rank else tuple(Dimension(d.size if d.size != -1 else None) for d in dims.dim)
            )
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        else:
            try:
                sizes = iter(dims)  # type: ignore[arg-type]  # a number raises
            except TypeError:
                self._dims = (as_dimension(dims),)
            else:
                self._dims = tuple([as_dimension(d) for d in sizes])

    @property
    def dims(self) -> list[Dimension] | None:
        """The list of Dimensions, or None where the rank is unknown."""
        return None if self._dims is None else list(self._dims)

    @property
    def sizes(self) -> tuple[int | None, ...] | None:
        """A tuple of ints and Nones, or None where the rank is unknown."""
        return None if self._dims is None else tuple([d._value for d in self._dims])

    def size(self, axis: int) -> int | None:
        """The size along an axis, or None where it, or the rank, is unknown."""
        return None if self._dims is None else self._dims[axis]._value

    @property
    def rank(self) -> int | None:
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """Deprecated name of `rank`."""
        return self.rank

    def __repr__(self) -> str:
        dims = self.sizes if _plain_sizes else self._dims
        return f"TensorShape({list(dims) if dims is not None else None!r})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        words = [str(d._value if _plain_sizes else d) for d in self._dims]
        return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"

    def __bool__(self) -> bool:
        return self._dims is not None

    __nonzero__ = __bool__

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("A shape with unknown rank has no length.")
        return len(self._dims)

    def __iter__(self) -> Iterator[Any]:
        if self._dims is None:
            raise ValueError("A shape with unknown rank has no sizes to iterate over.")
        return iter([d._value for d in self._dims] if _plain_sizes else self._dims)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            dimension = Dimension(None) if self._dims is None else self._dims[key]
            return dimension._value if _plain_sizes else dimension
        if self._dims is not None:
            return TensorShape(self._dims[key])
        start = key.start if key.start is not None else 0
        stop = key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if stop is None or start < 0 or stop < 0:
            return unknown_shape()
        return unknown_shape(rank=max(stop - start, 0))

    def num_elements(self) -> int | None:
        """How many elements there are, or None where that is not known."""
        if self._dims is None:
            return None
        size = 1
        for dim in self._dims:
            if dim._value is None:
                return None
            size *= dim._value
        return size

    def merge_with(self, other: ShapeLike) -> TensorShape:
        """What is known from both; ValueError where they contradict."""
        other = as_shape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        try:
            self.assert_same_rank(other)
            return TensorShape([a.merge_with(b) for a, b in zip(self._dims, other._dims)])
        except ValueError:
            raise ValueError(f"Shapes {self} and {other} are not compatible") from None

    def __add__(self, other: ShapeLike) -> TensorShape:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike) -> TensorShape:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        return other.concatenate(self)

    def concatenate(self, other: ShapeLike) -> TensorShape:
        """This shape's sizes, then the other's."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return unknown_shape()
        return TensorShape(self._dims + other._dims)

    def assert_same_rank(self, other: ShapeLike) -> None:
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have this rank; ValueError where it has another."""
        try:
            return self.merge_with(unknown_shape(rank=rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """Whether one tensor could have both shapes."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a.is_compatible_with(b) for a, b in zip(self._dims, other._dims)
        )

    def assert_is_compatible_with(self, other: ShapeLike) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def most_specific_compatible_shape(self, other: ShapeLike) -> TensorShape:
        """The tightest shape that both fit in."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or self.rank != other.rank:
            return unknown_shape()
        return TensorShape(
            [a if a._value is not None and a._value == b._value else None for a, b in zip(self._dims, other._dims)]
        )

    def is_fully_defined(self) -> bool:
        return self._dims is not None and all(d._value is not None for d in self._dims)

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def as_list(self) -> list[int | None]:
        """A list of ints and Nones; ValueError where the rank is unknown."""
        if self._dims is None:
            raise ValueError("An unknown TensorShape has no list of sizes.")
        return [d._value for d in self._dims]

    def as_proto(self) -> tensor_shape_pb2.TensorShapeProto:
        """The shape as a TensorShapeProto."""
        if self._dims is None:
            return tensor_shape_pb2.TensorShapeProto(unknown_rank=True)
        dim = tensor_shape_pb2.TensorShapeProto.Dim
        return tensor_shape_pb2.TensorShapeProto(
            dim=[dim(size=-1 if d._value is None else d._value) for d in self._dims]
        )

    def __eq__(self, other: Any) -> bool:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        if self._dims is None or other._dims is None:
            return self._dims is other._dims
        # An unknown size equals itself only, not another unknown one: tuples compare identities first.
        return self._dims == other._dims

    def __ne__(self, other: Any) -> bool:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        if self._dims is None or other._dims is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return self._dims != other._dims

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.dims,)

    _v2_behavior = property(lambda self: _plain_sizes, doc="Whether it holds numbers rather than Dimensions.")


def as_shape(shape: ShapeLike) -> TensorShape:
    """A TensorShape from a list, number, proto, None or TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None, **kwargs: Any) -> TensorShape:
    """A shape of which nothing but perhaps the rank is known."""
    rank = kwargs.pop("ndims", rank)
    if kwargs:
        raise TypeError(f"Unknown argument: {kwargs}")
    return TensorShape(None if rank is None else [None] * rank)


def scalar() -> TensorShape:
    """The shape of a scalar."""
    return _SCALAR


def vector(length: int | None) -> TensorShape:
    """The shape of a vector of this length (None: unknown)."""
    return TensorShape([length])


def matrix(rows: int | None, columns: int | None) -> TensorShape:
    """The shape of a matrix; a side may be None."""
    return TensorShape([rows, columns])


_SCALAR = TensorShape([])


def broadcast(a: TensorShape, b: TensorShape) -> TensorShape:
    """The shape two operands of these shapes broadcast to; ValueError where they can't."""
    if a._dims == () == b._dims:
        return a
    ours, theirs = a.sizes, b.sizes
    if ours is None or theirs is None:
        return unknown_shape()
    rank = max(len(ours), len(theirs))
    sides = []
    for x, y in zip((1,) * (rank - len(ours)) + ours, (1,) * (rank - len(theirs)) + theirs):
        if x == 1:
            sides.append(y)
        elif y == 1 or x == y:
            sides.append(x)
        elif x is None or y is None:
            # A known size above 1 decides; the unknown side must be 1 or that size.
            sides.append(x if y is None else y)
        else:
            raise ValueError(f"Dimensions must be equal, but are {x} and {y}")
    return TensorShape(sides)


def broadcast_gradient_axes(x_shape: Iterable[int], y_shape: Iterable[int]) -> tuple[list[int], list[int]]:
    """For each of two known shapes, the axes of their broadcast result over which its gradient is summed.

    Those where a side is 1, whatever the other side is; none where the shapes are the same.
    """
    x_shape, y_shape = tuple(x_shape), tuple(y_shape)
    if x_shape == y_shape:
        return [], []
    rank = max(len(x_shape), len(y_shape))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (x_shape, y_shape)]
    ones_of_x, ones_of_y = ([i for i, size in enumerate(shape) if size == 1] for shape in padded)
    return ones_of_x, ones_of_y


def is_size(value: object) -> bool:
    """Whether a Python value may stand for a size: a whole number, a Dimension or None."""
    return value is None or isinstance(value, (Dimension, numbers.Integral))
