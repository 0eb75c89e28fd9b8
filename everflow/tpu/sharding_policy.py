"""`ShardingPolicy`: how a tensor is cut into shards, as a number of parts along one dimension."""

from __future__ import annotations

from everflow.framework.shapes import Dimension, TensorShape, as_dimension

# What a policy has to say, with what holds where nothing is said.
_DEFAULTS = {"number_of_shards": 1, "shard_dimension": Dimension(0)}


class ShardingPolicy:
    """A number of shards and a dimension, each None until it is set; frozen, they stay as they are."""

    def __init__(self):
        self._said = {}
        self._frozen = False

    number_of_shards = property(lambda self: self._said.get("number_of_shards"))
    shard_dimension = property(lambda self: self._said.get("shard_dimension"))

    def __str__(self):
        if len(self._said) < len(_DEFAULTS):
            return "ShardingPolicy(unset)"
        return f"ShardingPolicy({self.number_of_shards} shards dimension {self.shard_dimension})"

    def _say(self, name, value):
        if not self._frozen:
            self._said[name] = value
        elif self._said[name] != value:
            raise ValueError(f"A policy that is frozen to {name} {self._said[name]} cannot have {value}.")

    def set_number_of_shards(self, number_of_shards):
        """Set the number of parts."""
        if not self._frozen and number_of_shards <= 0:
            raise ValueError(f"The number of shards must be positive, not {number_of_shards}.")
        self._say("number_of_shards", number_of_shards)

    def set_shard_dimension(self, shard_dimension):
        """Set the dimension that is cut."""
        self._say("shard_dimension", as_dimension(shard_dimension))

    def merge(self, other):
        """Take over what another policy has set."""
        for name, value in other._said.items():
            self._say(name, value)

    def freeze(self):
        """Set what is not set to one shard along the first dimension, and allow no further change."""
        self._said = {**_DEFAULTS, **self._said}
        self._frozen = True

    def get_sharded_shape(self, shape, shard_index=None):
        """The shape of a shard of a tensor."""
        count = self.number_of_shards
        if len(self._said) < len(_DEFAULTS):
            return None
        if shard_index is not None and not 0 <= shard_index < count:
            raise ValueError(f"shard_index {shard_index} is not in [0, {count}).")
        return self._resized(TensorShape(shape), self._part_of)

    def get_unsharded_shape(self, shapes):
        """The shape of a tensor whose shards have these shapes."""
        self.freeze()
        if len(shapes) != self.number_of_shards:
            raise ValueError(f"{len(shapes)} shapes were given for {self.number_of_shards} shards.")
        shapes = [TensorShape(shape) for shape in shapes]
        whole = [self._resized(shape, self._all_of) for shape in shapes]
        if any(shape.as_list() != shapes[0].as_list() for shape in shapes[1:]):
            raise ValueError(f"{shapes} are not shards of one tensor along dimension {self.shard_dimension}.")
        return whole[0]

    def _part_of(self, size, shape):
        """The size of a shard along the dimension that is cut."""
        if size is None:
            raise ValueError(f"The size of dimension {self.shard_dimension} of {shape} must be known to be sharded.")
        part, rest = divmod(size, self.number_of_shards)
        if rest:
            cut = f"into {self.number_of_shards} along dimension {self.shard_dimension}"
            raise ValueError(f"{shape} cannot be cut {cut}.")
        return part

    def _all_of(self, size, shape):
        """The size of all shards of this one's shape together."""
        return None if size is None else size * self.number_of_shards

    def _resized(self, shape, new_size):
        """A shape with another size along the dimension that is cut; as it is where nothing is."""
        if self.number_of_shards == 1:
            return shape
        if shape.dims is None:
            raise ValueError("A shape of unknown rank cannot be sharded.")
        axis = self.shard_dimension.value
        if axis >= len(shape.dims):
            raise ValueError(f"{shape} has no dimension {axis} to be sharded along.")
        sizes = [dimension.value for dimension in shape.dims]
        sizes[axis] = new_size(sizes[axis], shape)
        return TensorShape(sizes)
