"""`ShardingPolicy`: how a tensor is cut into shards, as a number of parts along one dimension."""

from __future__ import annotations

from everflow.framework.shapes import Dimension, TensorShape, as_dimension

_DEFAULT_NUMBER_OF_SHARDS = 1
_DEFAULT_SHARD_DIMENSION = 0


class ShardingPolicy:
    """A number of shards and a dimension, each None until it is set; frozen, they stay as they are."""

    def __init__(self):
        self._number_of_shards = None
        self._shard_dimension = None
        self._frozen = False

    number_of_shards = property(lambda self: self._number_of_shards)
    shard_dimension = property(lambda self: self._shard_dimension)

    def __str__(self):
        if self._number_of_shards is None or self._shard_dimension is None:
            return "ShardingPolicy(unset)"
        return f"ShardingPolicy({self._number_of_shards} shards dimension {self._shard_dimension})"

    def set_number_of_shards(self, number_of_shards):
        """Set the number of parts."""
        if self._frozen:
            if self._number_of_shards != number_of_shards:
                raise ValueError(
                    f"A policy that is frozen to {self._number_of_shards} shards cannot have {number_of_shards}."
                )
            return
        if number_of_shards <= 0:
            raise ValueError(f"The number of shards must be positive, not {number_of_shards}.")
        self._number_of_shards = number_of_shards

    def set_shard_dimension(self, shard_dimension):
        """Set the dimension that is cut."""
        if self._frozen:
            if self._shard_dimension != shard_dimension:
                raise ValueError(
                    f"A policy that is frozen to dimension {self._shard_dimension} cannot have {shard_dimension}."
                )
            return
        self._shard_dimension = as_dimension(shard_dimension)

    def merge(self, other):
        """Take over what another policy has set."""
        if other.number_of_shards is not None:
            self.set_number_of_shards(other.number_of_shards)
        if other.shard_dimension is not None:
            self.set_shard_dimension(other.shard_dimension)

    def freeze(self):
        """Set what is not set to one shard along the first dimension, and allow no further change."""
        if not self._frozen:
            if self._number_of_shards is None:
                self.set_number_of_shards(_DEFAULT_NUMBER_OF_SHARDS)
            if self._shard_dimension is None:
                self.set_shard_dimension(_DEFAULT_SHARD_DIMENSION)
            self._frozen = True

    def get_sharded_shape(self, shape, shard_index=None):
        """The shape of a shard of a tensor."""
        if self._shard_dimension is None or self._number_of_shards is None:
            return None
        if shard_index is not None and not 0 <= shard_index < self._number_of_shards:
            raise ValueError(f"shard_index {shard_index} is not in [0, {self._number_of_shards}).")
        shape = TensorShape(shape)
        if self._number_of_shards == 1:
            return shape
        axis = self._axis_of(shape)
        size = shape.dims[axis].value
        if size is None:
            raise ValueError(f"The size of dimension {axis} of {shape} must be known for it to be sharded.")
        if size % self._number_of_shards:
            raise ValueError(f"{shape} cannot be cut into {self._number_of_shards} along dimension {axis}.")
        return self._with_size(shape, axis, size // self._number_of_shards)

    def get_unsharded_shape(self, shapes):
        """The shape of a tensor whose shards have these shapes."""
        self.freeze()
        if len(shapes) != self._number_of_shards:
            raise ValueError(f"{len(shapes)} shapes were given for {self._number_of_shards} shards.")
        shapes = [TensorShape(shape) for shape in shapes]
        if self._number_of_shards == 1:
            return shapes[0]
        axes = [self._axis_of(shape) for shape in shapes]
        if any(shape.as_list() != shapes[0].as_list() for shape in shapes[1:]):
            raise ValueError(f"{shapes} are not shards of one tensor along dimension {axes[0]}.")
        size = shapes[0].dims[axes[0]].value
        return self._with_size(shapes[0], axes[0], None if size is None else size * self._number_of_shards)

    def _axis_of(self, shape):
        if shape.dims is None:
            raise ValueError("A shape of unknown rank cannot be sharded.")
        axis = self._shard_dimension.value
        if axis >= len(shape.dims):
            raise ValueError(f"{shape} has no dimension {axis} to be sharded along.")
        return axis

    @staticmethod
    def _with_size(shape, axis, size):
        dims = list(shape.dims)
        dims[axis] = Dimension(size)
        return TensorShape(dims)
