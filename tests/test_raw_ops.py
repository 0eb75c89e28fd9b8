"""tf.raw_ops and the generated functions, under TensorFlow's argument names."""

import pytest

import everflow as tf
from everflow.legacy import gen_ops


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


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
