"""tf.raw_ops: a function for each op type, under TensorFlow's argument names."""

import inspect

import pytest

import everflow as tf
from everflow.framework import op_defs, raw_ops

pytestmark = pytest.mark.usefixtures("own_graph")


def test_no_name_of_the_module_hides_an_op():
    known = {name: vars(raw_ops)[name] for name in op_defs.names() if name in vars(raw_ops)}
    assert not [name for name, value in known.items() if getattr(value, "__module__", None) != raw_ops.__name__]
    assert raw_ops.Any([True], [0]).op.type == "Any"


def test_arguments_by_name():
    total = tf.raw_ops.Sum(input=[1], axis=[0])
    assert total.op.type == "Sum"
    with pytest.raises(TypeError):
        tf.raw_ops.Sum([1], [0])
    with pytest.raises(TypeError):
        tf.raw_ops.Sum(input=[1], reduction_indices=[0])
    assert list(inspect.signature(tf.raw_ops.SplitV).parameters) == [
        "value",
        "size_splits",
        "axis",
        "num_split",
        "name",
    ]
    with pytest.raises(AttributeError):
        tf.raw_ops.NoSuchOp  # noqa: B018
