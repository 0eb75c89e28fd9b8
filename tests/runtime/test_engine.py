"""The engine of eager execution by itself, as servers use it for their clients."""

import gc
from types import SimpleNamespace

import pytest
import torch

from everflow.framework import dtypes, errors, op_defs
from everflow.framework.shapes import TensorShape
from everflow.runtime.engine import Engine, while_held


def _operand(value, dtype=dtypes.float32):
    return SimpleNamespace(_value=value, _dtype=dtype)


def _variable(engine, name):
    attrs = {"dtype": dtypes.float32, "shape": TensorShape([]), "container": b"", "shared_name": name}
    (handle,) = engine.bound(op_defs.get("VarHandleOp"), attrs, [], [dtypes.resource]).run([])
    return _operand(handle, dtypes.resource)


def test_an_operation_is_bound_once_for_calls_alike():
    engine = Engine()
    x = _operand(torch.tensor([1.0, -2.0]))
    first, again = (engine.bound(op_defs.get("Abs"), {"T": dtypes.float32}, [x], [dtypes.float32]) for _ in range(2))
    assert first is again
    assert first.run([x])[0].tolist() == [1.0, 2.0]


def test_errors_name_the_op_type():
    engine = Engine()
    a = _operand(torch.ones(2, 3))
    attrs = {"T": dtypes.float32, "transpose_a": False, "transpose_b": False}
    with pytest.raises(errors.InvalidArgumentError, match=r"\[Op:MatMul\]"):
        engine.bound(op_defs.get("MatMul"), attrs, [a, a], [dtypes.float32]).run([a, a])


def test_engines_of_a_task_share_resources_as_long_as_somebody_holds_them():
    shared = while_held()
    names = ["/job:worker/replica:0/task:0/device:CPU:0"]
    one, other = Engine(names, shared), Engine(names, shared)
    handle = _variable(one, b"v")
    assert _variable(other, b"v")._value is handle._value
    (held,) = shared._containers.values()
    assert list(held.values()) == [handle._value]
    del handle
    gc.collect()
    assert not held
