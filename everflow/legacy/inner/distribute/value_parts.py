"""Names that programs take from inside TensorFlow's module `python.distribute.values`, besides the values themselves."""

# ruff: noqa: F401  Names that are handed on are a purpose of this file.

from __future__ import annotations

import collections
from typing import Any

from everflow.distribute import context
from everflow.distribute.aggregating import AggregatingVariable, _apply_aggregation, _tensor_conversion_aggregate
from everflow.distribute.device_maps import full_device
from everflow.distribute.values import DistributedVariable, joined_updates
from everflow.framework.scopes import device as device_scope

DistributedVarOp = collections.namedtuple("DistributedVarOp", "name graph traceback type")


def is_distributed_variable(v: Any) -> bool:
    """Whether a variable has copies."""
    return isinstance(v, DistributedVariable)


def _devices_match(d1: str, d2: str) -> bool:
    return full_device(d1) == full_device(d2)


def update_regroup(extended: Any, device_map: Any, updates: Any, group: bool) -> Any:
    """Updates of a variable's copies as one: a value whose parts are there when all updates are, or a tuple of them."""
    return joined_updates(extended, device_map, updates, group)


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
