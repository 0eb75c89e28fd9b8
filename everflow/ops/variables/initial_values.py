"""Initial values that depend on other variables: rebuilt so that they don't read what isn't initialized yet."""

from __future__ import annotations

from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.walking import has_cycle, inputs_first

# Ops whose value is right without a guard.
_LEFT_ALONE = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If")
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


def check_outside_control_flow(initial_value, name):
    """ValueError where an initial value was made inside a loop or branch, and so has no value outside."""
    if initial_value.op._get_control_flow_context() is not None:
        raise ValueError(
            f"The initial value of variable {name} is a tensor from inside a loop or a branch, which has no value outside of it; "
            "give a function that makes the value (a lambda)."
        )


def check_outside_functions(initial_value):
    """ValueError where an initial value was drawn in a function's body, and so has no value outside."""
    if isinstance(initial_value, Tensor) and not initial_value.is_eager and initial_value.graph.building_function:
        raise ValueError(
            "Tensor-typed variable initializers must come from tf.init_scope() or a callable inside of a function: "
            f"{initial_value} has a value only when the function runs; use `lambda: ...`"
        )


def guarded(name, initial_value):
    """The initial value, with each variable it depends on replaced by that variable's `initialized_value()`."""
    if not isinstance(initial_value, Tensor):
        raise TypeError(f"initial_value needs to be a Tensor: {initial_value}")
    if has_cycle(initial_value.op, lambda op: [*(t.op for t in op.inputs), *op.control_inputs]):
        return initial_value
    made: dict = {}  # operation → what stands for it
    for op in inputs_first(initial_value.op, _inputs_to_guard):
        made[op] = _guarded_op(name, op, made)
    return made[initial_value.op].outputs[initial_value.value_index]


def _inputs_to_guard(op):
    return [] if op.type in _LEFT_ALONE or op.type in _VARIABLES else [t.op for t in op.inputs]


def _guarded_op(name, op, made):
    if op.type in _LEFT_ALONE:
        return op
    if op.type in _VARIABLES:
        value = _initialized_value_of(op)
        return op if value is None else value.op
    inputs = [made[t.op].outputs[t.value_index] for t in op.inputs]
    if all(new is old for new, old in zip(inputs, op.inputs, strict=True)):
        return op
    op_type = "Switch" if op.type == "RefSwitch" else op.type
    # The name ends in the scope's slash, and so is taken as it is.
    new_name = f"{op.name}_{name}".replace(":", "_")
    return op.graph.create_op(
        op_type, inputs, [t.dtype.base_dtype for t in op.outputs], name=new_name, attrs=dict(op.attrs)
    )


def _initialized_value_of(op):
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in op.graph.get_collection(key):
            if variable.name in (op.name, f"{op.name}:0"):
                return variable.initialized_value()
    return None
