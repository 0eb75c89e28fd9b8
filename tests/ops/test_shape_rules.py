"""Rules of shape that op types of many families share."""

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")
R = tf.raw_ops


def x(*shape):
    return tf.placeholder(tf.float32, shape)


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (lambda: R.Rank(input=x(2, None)), []),
        (lambda: R.FIFOQueueV2(component_types=[tf.float32]), []),
        (lambda: R.FIFOQueue(component_types=[tf.float32]), [2]),
        (lambda: R.ReadFile(filename="f"), []),
        (lambda: R.MatchingFiles(pattern="*"), [None]),
        (lambda: R.Relu(features=x(2, None)), [2, None]),
        (lambda: R.ReluGrad(gradients=x(2, None), features=x(None, 3)), [2, 3]),
        (lambda: R.VariableV2(shape=[2, None], dtype=tf.float32), [2, None]),
    ],
)
def test_shapes(build, shape):
    assert build().shape.as_list() == shape


def test_what_is_like_both_inputs_needs_them_to_fit():
    with pytest.raises(ValueError):
        R.ReluGrad(gradients=x(2), features=x(3))


def test_scalars_behind_the_first_input_are_scalars():
    with pytest.raises(ValueError):
        R.FakeQuantWithMinMaxVars(inputs=x(2), min=x(1), max=x())
