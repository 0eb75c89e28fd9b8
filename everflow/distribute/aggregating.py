"""The variable of a strategy that keeps one of each, whatever the number of replicas: what replicas write to it is put
together first.
"""

from __future__ import annotations

from everflow.distribute import context
from everflow.distribute.reduce_ops import ReduceOp
from everflow.framework.conversion import internal_convert_to_tensor, register_tensor_conversion_function
from everflow.ops.variables.options import VariableAggregation
from everflow.ops.variables.variable import Variable


def _apply_aggregation(strategy, value, aggregation, destinations):
    if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        return strategy.extended.broadcast_to(strategy.experimental_local_results(value)[0], destinations)
    return strategy.extended.reduce_to(ReduceOp.from_variable_aggregation(aggregation), value, destinations)


class AggregatingVariable(Variable):
    """One variable that several replicas write to: what they write is put together first."""

    def __init__(self, strategy, v, aggregation):
        self._strategy, self._v, self._aggregation = strategy, v, aggregation
        v._distributed_container = self

    distribute_strategy = property(lambda self: self._strategy, doc="The strategy in whose scope it was made.")
    aggregation = property(lambda self: self._aggregation)

    def get(self):
        """The variable."""
        return self._v

    def __getattr__(self, name):
        if name.startswith("__") or "_v" not in vars(self):
            raise AttributeError(name)
        return getattr(self._v, name)

    def _write(self, method, value, *args, **kwargs):
        frame = context.current()
        if frame.replica_context is None or frame.strategy is not self._strategy or not context.has_strategy():
            return getattr(self._v, method)(value, *args, **kwargs)
        if self._aggregation is VariableAggregation.NONE:
            raise ValueError(
                f"A replica can update {self.name} only if the variable was made with an `aggregation` other than NONE"
            )

        def merge(strategy, value, *others, **named):
            total = _apply_aggregation(strategy, value, self._aggregation, self._v)
            return strategy.extended.update(
                self._v, lambda v, x: getattr(v, method)(x, *others, **named), args=(total,)
            )

        return frame.replica_context.merge_call(merge, args=(value, *args), kwargs=kwargs)

    def assign(self, value, *args, **kwargs):
        """Write what all replicas have."""
        return self._write("assign", value, *args, **kwargs)

    def assign_add(self, value, *args, **kwargs):
        """Add what all replicas have."""
        return self._write("assign_add", value, *args, **kwargs)

    def assign_sub(self, value, *args, **kwargs):
        """Subtract what all replicas have."""
        return self._write("assign_sub", value, *args, **kwargs)

    def __repr__(self):
        return repr(self._v)


# What Variable itself has, and this asks of the variable it stands for.
_ASKED = """
    name dtype shape op graph device initializer initial_value trainable handle constraint synchronization _shared_name _unique_id
    _save_slice_info _in_graph_mode _graph_element _handle_name _initializer_op create
"""
for _name in _ASKED.split():
    setattr(AggregatingVariable, _name, property(lambda self, _name=_name: getattr(self._v, _name)))
_METHODS = """
    value read_value eval get_shape initialized_value numpy is_initialized sparse_read gather_nd to_proto load _as_graph_element
    _dense_var_to_tensor _gather_saveables_for_checkpoint
"""
for _name in _METHODS.split():
    setattr(
        AggregatingVariable, _name, lambda self, *args, _name=_name, **kwargs: getattr(self._v, _name)(*args, **kwargs)
    )


def _tensor_conversion_aggregate(var, dtype=None, name=None, as_ref=False):
    return internal_convert_to_tensor(var.get(), dtype, name, as_ref=as_ref)


register_tensor_conversion_function(AggregatingVariable, _tensor_conversion_aggregate)
