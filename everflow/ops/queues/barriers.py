"""`Barrier`: collects the components of keyed elements, in any order, and gives elements that are complete."""

from __future__ import annotations

from everflow.framework import raw_ops as raw
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.shapes import TensorShape
from everflow.framework.static_values import known_value
from everflow.ops.queues.queues import as_shape_list, as_type_list
from everflow.ops.shape_rules import reference_handle, scalar_output


class Barrier:
    """A table from keys to tuples; a tuple can be taken once each of its components was inserted."""

    def __init__(self, types, shapes=None, shared_name=None, name="barrier"):
        self._types = as_type_list(types)
        self._shapes = as_shape_list(shapes)
        if self._shapes is None:
            self._shapes = [TensorShape(None) for _ in self._types]
        for i, shape in enumerate(self._shapes):
            if shape.num_elements() == 0:
                raise ValueError(f"A barrier holds nothing empty, but received shape '{shape}' at index {i}")
        # Another number of shapes than of types is refused when the barrier is made.
        self._barrier_ref = raw.Barrier(
            component_types=self._types, shapes=self._shapes, shared_name=shared_name, name=name
        )
        self._name = self._barrier_ref._op_name.split("/")[-1]

    barrier_ref = property(lambda self: self._barrier_ref, doc="The tensor that stands for the barrier in ops.")
    name = property(lambda self: self._barrier_ref._op_name, doc="The name of the barrier's op.")

    def insert_many(self, component_index, keys, values, name=None):
        """An op that gives keys their value of one component."""
        return raw.BarrierInsertMany(
            self._barrier_ref,
            keys,
            values,
            component_index=component_index,
            name=name or f"{self._name}_BarrierInsertMany",
        )

    def take_many(self, num_elements, allow_small_batch=False, timeout=None, name=None):
        """(indices, keys, values) of complete elements, those first inserted first."""
        taken = raw.BarrierTakeMany(
            self._barrier_ref,
            num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            timeout_ms=timeout,
            name=name or f"{self._name}_BarrierTakeMany",
        )
        count = None if allow_small_batch else known_value(taken.indices.op.inputs[1])
        batch = TensorShape([None if count is None else int(count)])
        taken.indices.set_shape(batch)
        taken.keys.set_shape(batch)
        for value, shape in zip(taken.values, self._shapes):
            value.set_shape(batch.concatenate(shape))
        return taken

    def close(self, cancel_pending_enqueues=False, name=None):
        """An op after which no new keys can be inserted."""
        return raw.BarrierClose(
            self._barrier_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=name or f"{self._name}_BarrierClose",
        )

    def ready_size(self, name=None):
        """How many elements are complete."""
        return raw.BarrierReadySize(self._barrier_ref, name=name or f"{self._name}_BarrierReadySize")

    def incomplete_size(self, name=None):
        """How many elements miss components."""
        return raw.BarrierIncompleteSize(self._barrier_ref, name=name or f"{self._name}_BarrierIncompleteSize")


shape_rule("Barrier")(reference_handle)
shape_rule("BarrierReadySize", "BarrierIncompleteSize")(scalar_output)


@shape_rule("BarrierInsertMany")
def _insert_shape(op):
    op.inputs[1].shape.with_rank(1)
    op.inputs[2].shape.with_rank_at_least(1)[:1].assert_is_compatible_with(op.inputs[1].shape)
    return []


not_differentiable(
    *("Barrier" + what for what in ("", "InsertMany", "TakeMany", "Close", "ReadySize", "IncompleteSize"))
)
