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


def test_arguments_come_in_the_order_of_definitions_and_the_name_last():
    assert raw_ops.MatMul([[1.0]], [[2.0]], False, True, "product").op.name == "product"
    with pytest.raises(TypeError, match="takes at most 4 arguments"):
        raw_ops.MatMul([[1.0]], [[2.0]], False, True, "product", 3)
    with pytest.raises(TypeError, match="multiple values for argument 'a'"):
        raw_ops.MatMul([[1.0]], a=[[2.0]])


def test_names_that_are_pythons_own_words_get_an_underscore():
    argument = op_defs.ArgDef("lambda", type=tf.float32)
    build = raw_ops.make_function(op_defs.OpDef("OfOnesOwn", (argument,), (argument,)))
    assert list(inspect.signature(build).parameters) == ["lambda_", "name"]
    assert build(lambda_=1.0).op.inputs[0].op.name == "OfOnesOwn/lambda"


def test_a_function_is_made_once_and_every_op_type_is_listed():
    assert raw_ops.Neg is raw_ops.Neg
    assert set(op_defs.names()) <= set(dir(raw_ops))
    with pytest.raises(AttributeError, match="'NoSuchOp'"):
        raw_ops.NoSuchOp  # noqa: B018
