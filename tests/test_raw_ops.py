"""tf.raw_ops and the generated functions, under TensorFlow's argument names."""

import inspect

import pytest

import everflow as tf
from everflow.framework import op_defs, raw_ops
from everflow.legacy import gen_ops


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


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


def test_generated_functions_take_positions_too():
    product = gen_ops.mat_mul([[1.0]], [[2.0]], False, True, "product")
    assert product.op.name == "product" and product.op.get_attr("transpose_b")
    assert gen_ops._squeeze([[1]], [0]).shape.as_list() == [1]


@pytest.mark.parametrize(
    "op_type, name",
    [
        ("RGBToHSV", "rgb_to_hsv"),
        ("Conv2DBackpropInput", "conv2d_backprop_input"),
        ("BatchMatMulV2", "batch_mat_mul_v2"),
        ("LRN", "lrn"),
    ],
)
def test_snake_case(op_type, name):
    assert gen_ops.snake_case(op_type) == name
