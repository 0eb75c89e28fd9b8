"""`InfeedQueue`: tuples of tensors that hosts put into the infeeds of cores, and that computations take out."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import colocate_with, device
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops.tpu.functions import infeed_dequeue_tuple
from everflow.tpu.sharding_policy import ShardingPolicy
from everflow.tpu.system import core


class InfeedQueue:
    """The types and shapes of what is fed, and how it is cut into shards; after `freeze`, or a dequeue, they stay."""

    def __init__(
        self, number_of_tuple_elements=None, tuple_types=None, tuple_shapes=None, shard_dimensions=None, name=None
    ):
        self._frozen = False
        self._dequeued = False
        self._name = "InfeedQueue" if name is None else name
        given = (tuple_types, tuple_shapes, shard_dimensions)
        if number_of_tuple_elements is None:
            number_of_tuple_elements = next((len(x) for x in given if x is not None), None)
        if number_of_tuple_elements is None:
            raise ValueError("An InfeedQueue needs the number of elements of its tuples, or their types or shapes.")
        if number_of_tuple_elements <= 0:
            raise ValueError(
                f"The number of elements of an InfeedQueue's tuples must be positive, not {number_of_tuple_elements}."
            )
        self._tuple_types = self._tuple_shapes = None
        self._sharding_policies = [ShardingPolicy() for _ in range(number_of_tuple_elements)]
        setters = (self.set_tuple_types, self.set_tuple_shapes, self.set_shard_dimensions)
        for value, setter in zip(given, setters, strict=True):
            if value is not None:
                setter(value)

    number_of_tuple_elements = property(lambda self: len(self._sharding_policies))
    tuple_types = property(lambda self: self._tuple_types)
    tuple_shapes = property(lambda self: self._tuple_shapes)
    sharding_policies = property(lambda self: self._sharding_policies)
    shard_dimensions = property(lambda self: [policy.shard_dimension for policy in self._sharding_policies])
    number_of_shards = property(lambda self: self._sharding_policies[0].number_of_shards)

    def _check_length(self, name, values):
        if len(values) != self.number_of_tuple_elements:
            raise ValueError(
                f"{name} has {len(values)} entries; the queue's tuples have {self.number_of_tuple_elements}."
            )

    def set_tuple_types(self, tuple_types):
        """Set the type of each element."""
        self._check_length("tuple_types", tuple_types)
        types = [dtypes.as_dtype(t) for t in tuple_types]
        if self._frozen and types != self._tuple_types:
            raise ValueError(f"The InfeedQueue is frozen to the types {self._tuple_types}, and cannot have {types}.")
        self._tuple_types = types

    def set_tuple_shapes(self, tuple_shapes):
        """Set the shape of each element, that of all shards together."""
        self._check_length("tuple_shapes", tuple_shapes)
        shapes = [TensorShape(s) for s in tuple_shapes]
        if self._frozen:
            for old, new in zip(self._tuple_shapes, shapes, strict=True):
                if not old.is_compatible_with(new):
                    raise ValueError(
                        f"The InfeedQueue is frozen to the shapes {self._tuple_shapes}, and cannot have {shapes}."
                    )
        else:
            self._tuple_shapes = shapes

    def set_shard_dimensions(self, shard_dimensions):
        """Set the dimension along which each element is cut."""
        self._check_length("shard_dimensions", shard_dimensions)
        for policy, dimension in zip(self._sharding_policies, shard_dimensions, strict=True):
            policy.set_shard_dimension(dimension)

    def set_number_of_shards(self, number_of_shards):
        """Set into how many parts every element is cut."""
        for policy in self._sharding_policies:
            policy.set_number_of_shards(number_of_shards)
            policy.set_shard_dimension(policy.shard_dimension if policy.shard_dimension is not None else 0)

    def set_configuration_from_input_tensors(self, input_tensors):
        """Take types and shapes from tensors that are to be fed."""
        self._check_length("input_tensors", input_tensors)
        self.set_tuple_shapes([t.shape for t in input_tensors])
        self.set_tuple_types([t.dtype for t in input_tensors])

    def set_configuration_from_sharded_input_tensors(self, input_tensors):
        """Take types, shapes and the number of shards from the tensors of each shard."""
        if not self._frozen:
            self._tuple_shapes = None
        self.set_number_of_shards(len(input_tensors))
        for tensors in input_tensors:
            self._check_length("input_tensors", tensors)
        for tensors in input_tensors:
            self.set_tuple_types([t.dtype for t in tensors])
        columns = zip(self._sharding_policies, zip(*input_tensors, strict=True), strict=True)
        self.set_tuple_shapes([policy.get_unsharded_shape([t.shape for t in column]) for policy, column in columns])

    def freeze(self):
        """Allow no further change. Types and shapes must be known, and shards of equal size."""
        self._frozen = True
        if self._tuple_types is None:
            raise ValueError("An InfeedQueue cannot be frozen before its types are set.")
        if self._tuple_shapes is None:
            raise ValueError("An InfeedQueue cannot be frozen before its shapes are set.")
        for policy in self._sharding_policies:
            policy.freeze()
        self._sharded_shapes()

    def _sharded_shapes(self):
        return [p.get_sharded_shape(s) for p, s in zip(self._sharding_policies, self._tuple_shapes, strict=True)]

    def generate_dequeue_op(self, tpu_device=0):
        """The tensors of a tuple, taken out on a core."""
        self.freeze()
        if self._dequeued:
            raise ValueError("An InfeedQueue is dequeued in one place only.")
        self._dequeued = True
        with device(core(tpu_device)):
            return infeed_dequeue_tuple(self._tuple_types, self._sharded_shapes(), name=f"{self._name}/dequeue")

    def _enqueue(self, inputs, name_prefix, index, place=None, ordinal=-1):
        """A node that puts a shard's tensors into the infeed of a core, on the host where the first of them is."""
        name = f"{name_prefix}/{index}"
        shapes = [t.shape for t in inputs]
        if place is None:
            with colocate_with(inputs[0]):
                return raw.InfeedEnqueueTuple(inputs=inputs, shapes=shapes, device_ordinal=ordinal, name=name)
        with device(place):
            return raw.InfeedEnqueueTuple(inputs=inputs, shapes=shapes, device_ordinal=ordinal, name=name)

    def generate_enqueue_ops(self, sharded_inputs, tpu_ordinal_function=None, placement_function=None):
        """A node for each shard that feeds it."""
        self.set_configuration_from_sharded_input_tensors(sharded_inputs)
        self.freeze()
        ordinal = tpu_ordinal_function or (lambda index: -1)
        place = placement_function or (lambda index: None)
        prefix = f"{self._name}/enqueue"
        return [self._enqueue(x, prefix, i, place(i), ordinal(i)) for i, x in enumerate(sharded_inputs)]

    def split_inputs_and_generate_enqueue_ops(
        self, inputs, device_assignment=None, placement_function=None, tpu_ordinal_function=None
    ):
        """Cut tensors into shards, and a node for each that feeds it."""
        if device_assignment is None:
            ordinal, place = (lambda index: index), (lambda index: "/task:0/device:CPU:0")
        else:
            ordinal = lambda index: device_assignment.tpu_ordinal(replica=index)  # noqa: E731
            place = lambda index: device_assignment.host_device(replica=index)  # noqa: E731
        ordinal, place = tpu_ordinal_function or ordinal, placement_function or place
        self.set_configuration_from_input_tensors(inputs)
        self.freeze()
        prefix = f"{self._name}/split"
        parts = [
            self._split(x, p, f"{prefix}/{i}")
            for i, (x, p) in enumerate(zip(inputs, self._sharding_policies, strict=True))
        ]
        shards = zip(*parts, strict=True)
        return [self._enqueue(list(x), f"{self._name}/enqueue", i, place(i), ordinal(i)) for i, x in enumerate(shards)]

    @staticmethod
    def _split(tensor, policy, name):
        if policy.number_of_shards == 1:
            return [tensor]
        with colocate_with(tensor):
            return array.split(tensor, policy.number_of_shards, axis=policy.shard_dimension.value, name=name)
