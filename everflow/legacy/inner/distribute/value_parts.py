"""Names that programs take from inside TensorFlow's module `python.distribute.values`, besides the values themselves."""

from __future__ import annotations

import collections
from typing import Any

from everflow.distribute import context
from everflow.distribute.device_maps import full_device
from everflow.distribute.reduce_ops import ReduceOp
from everflow.distribute.values import DistributedVariable, Mirrored, regroup
from everflow.framework.conversion import internal_convert_to_tensor, register_tensor_conversion_function
from everflow.framework.scopes import device as device_scope
from everflow.ops.control_flow.grouping import group as group_ops
from everflow.ops.variables.options import VariableAggregation
from everflow.ops.variables.variable import Variable

DistributedVarOp = collections.namedtuple("DistributedVarOp", "name graph traceback type")


def is_distributed_variable(v: Any) -> bool:
    """Whether a variable has copies."""
    return isinstance(v, DistributedVariable)


def _devices_match(d1: str, d2: str) -> bool:
    return full_device(d1) == full_device(d2)


def update_regroup(extended: Any, device_map: Any, updates: Any, group: bool) -> Any:
    """Updates of a variable's copies as one: an operation where they are to be grouped, else a value with parts."""
    joined = regroup(device_map, updates, Mirrored)
    if not group:
        return joined
    return group_ops(*(part for part in extended._local_results(joined) if part is not None))


# --- checks ---------------------------------------------------------------------------------------


def validate_colocate_distributed_variable(v: Any, extended: Any) -> None:
    """Raise unless it is a variable with copies that a strategy made."""
    if not isinstance(v, DistributedVariable):
        raise ValueError(
            f"colocate_vars_with takes a variable that has copies, made in the strategy's scope, not {v!r}"
        )
    validate_colocate(v, extended)


def validate_colocate(v: Any, extended: Any) -> None:
    """Raise unless a strategy made a variable."""
    strategy = getattr(v, "distribute_strategy", None)
    if strategy is None:
        raise ValueError(f"colocate_vars_with takes a variable made in the strategy's scope, not {v!r}")
    _validate_colocate_extended(v, extended)


def _validate_colocate_extended(v: Any, extended: Any) -> None:
    if v.distribute_strategy.extended is not extended:
        raise ValueError(f"{v!r} was made in the scope of another strategy, {v.distribute_strategy}")


def _assert_strategy(strategy: Any) -> None:
    if not context.has_strategy():
        raise RuntimeError(f"This is for the scope of {strategy}, and no strategy is in force")
    if context.get_strategy() is not strategy:
        raise RuntimeError(f"This is for the scope of {strategy}; in force is {context.get_strategy()}")


def _assert_replica_context(strategy: Any) -> None:
    replica = context.get_replica_context()
    if replica is None:
        raise RuntimeError("This is for replica functions; see `experimental_run_v2`")
    if replica.strategy is not strategy:
        raise RuntimeError(f"This is for replicas of {strategy}; being drawn is one of {replica.strategy}")


# --- writes ---------------------------------------------------------------------------------------


def _assign_on_device(device: str, variable: Any, tensor: Any) -> Any:
    with device_scope(device):
        return variable.assign(tensor)


def _assign_add_on_device(device: str, variable: Any, tensor: Any) -> Any:
    with device_scope(device):
        return variable.assign_add(tensor)


def _assign_sub_on_device(device: str, variable: Any, tensor: Any) -> Any:
    with device_scope(device):
        return variable.assign_sub(tensor)


def _apply_aggregation(strategy: Any, value: Any, aggregation: VariableAggregation, destinations: Any) -> Any:
    if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        return strategy.extended.broadcast_to(strategy.experimental_local_results(value)[0], destinations)
    return strategy.extended.reduce_to(ReduceOp.from_variable_aggregation(aggregation), value, destinations)


class AggregatingVariable(Variable):
    """One variable that several replicas write to: what they write is put together first."""

    def __init__(self, strategy: Any, v: Any, aggregation: VariableAggregation) -> None:
        self._strategy, self._v, self._aggregation = strategy, v, aggregation
        v._aggregating_container = lambda: self

    distribute_strategy = property(lambda self: self._strategy)
    aggregation = property(lambda self: self._aggregation)

    def get(self) -> Any:
        """The variable."""
        return self._v

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_v" not in vars(self):
            raise AttributeError(name)
        return getattr(self._v, name)

    def _write(self, method: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        frame = context.current()
        if frame.replica_context is None or frame.strategy is not self._strategy or not context.has_strategy():
            return getattr(self._v, method)(value, *args, **kwargs)
        if self._aggregation is VariableAggregation.NONE:
            raise ValueError(
                f"A replica can update {self.name} only if the variable was made with an `aggregation` other than NONE"
            )

        def merge(strategy: Any, value: Any, *others: Any, **named: Any) -> Any:
            total = _apply_aggregation(strategy, value, self._aggregation, self._v)
            return strategy.extended.update(
                self._v, lambda v, x: getattr(v, method)(x, *others, **named), args=(total,)
            )

        return frame.replica_context.merge_call(merge, args=(value, *args), kwargs=kwargs)

    def assign(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Write what all replicas have."""
        return self._write("assign", value, *args, **kwargs)

    def assign_add(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Add what all replicas have."""
        return self._write("assign_add", value, *args, **kwargs)

    def assign_sub(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """Subtract what all replicas have."""
        return self._write("assign_sub", value, *args, **kwargs)

    def __repr__(self) -> str:
        return repr(self._v)


# What Variable itself has, and this asks of the variable it stands for.
_ASKED = "name dtype shape op graph device initializer initial_value trainable handle constraint synchronization _shared_name _unique_id"
for _name in _ASKED.split():
    setattr(AggregatingVariable, _name, property(lambda self, _name=_name: getattr(self._v, _name)))
for _name in "value read_value eval get_shape initialized_value numpy is_initialized _as_graph_element".split():
    setattr(
        AggregatingVariable, _name, lambda self, *args, _name=_name, **kwargs: getattr(self._v, _name)(*args, **kwargs)
    )


def _tensor_conversion_aggregate(var: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    return internal_convert_to_tensor(var.get(), dtype, name, as_ref=as_ref)


register_tensor_conversion_function(AggregatingVariable, _tensor_conversion_aggregate)
