"""Mistakes that programs often make: the exception is of TensorFlow's type, and its words name what is wrong, and
where.
"""

import numpy as np
import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetches, feeds=None):
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


def ones(*shape, dtype=tf.float32):
    return tf.ones(shape, dtype)


def any_value(name="x", dtype=tf.float32):
    return tf.placeholder(dtype, name=name)


# What is wrong while a graph is drawn.
DRAWING = [
    (
        lambda: tf.constant(1.0) + tf.constant(1),
        TypeError,
        "'AddV2' op is of type int32, not float32 as its argument 'x'",
    ),
    (
        lambda: tf.matmul(ones(2, 3), ones(2, 3)),
        ValueError,
        r"are 3 and 2 for 'MatMul' .* input shapes: \[2,3\], \[2,3\]",
    ),
    (lambda: ones(2, 3) + ones(4), ValueError, r"are 3 and 4 for 'add' \(op: 'AddV2'\)"),
    (lambda: tf.concat(0, [ones(2, 3), ones(2, 3)]), ValueError, r"the order is tf.concat\(values, axis\)"),
    (lambda: tf.concat([ones(2), ones(2)], 5), ValueError, r"in the range \[-1, 1\), but got 5"),
    (lambda: tf.reshape(ones(2, 3), [4]), ValueError, r"Cannot reshape a tensor with 6 elements to \[4\]"),
    (
        lambda: tf.reduce_sum(ones(2, 3), axis=4),
        ValueError,
        "Invalid reduction dimension 4 for input with 2 dimensions",
    ),
    (lambda: tf.squeeze(ones(2, 3), axis=0), ValueError, r"Can not squeeze dim\[0\], expected a dimension of 1, got 2"),
    (lambda: tf.split(ones(5, 2), 2), ValueError, "evenly divisible by 2 but is 5"),
    (
        lambda: tf.nn.conv2d(ones(1, 8, 8, 3), ones(3, 3, 3, 8), strides=[1] * 4, padding="same"),
        ValueError,
        "'padding' of 'Conv2D' Op",
    ),
    (
        lambda: tf.nn.conv2d(ones(1, 8, 8, 3), ones(3, 3, 4, 8), strides=[1] * 4, padding="SAME"),
        ValueError,
        r"input \(3\).*filter \(4\)",
    ),
    (lambda: tf.gather(ones(3), ones(1)), TypeError, "'indices' of a 'GatherV2' op is of type float32"),
    (lambda: tf.constant([[1, 2], [3]]), ValueError, "the lists in it have different lengths"),
    (lambda: tf.constant(1.5, dtype=tf.int32), TypeError, "Expected int32, got 1.5 of type 'float'"),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(ones(2), ones(2)), ValueError, "with named arguments"),
    (lambda: bool(tf.constant(1.0) > 0), TypeError, "Greater:0 has no value until it is run.*tf.cond"),
    (lambda: list(any_value()), TypeError, "x:0 has no value until it is run"),
    (lambda: ones(3)[0, 1], ValueError, "input has only 1 dims"),
    (lambda: ones(3).set_shape([4]), ValueError, r"\(3,\) and \(4,\) are not compatible.* ones:0"),
    (lambda: np.array(ones(3)), NotImplementedError, "symbolic Tensor .* ones:0 has no value"),
    (lambda: tf.reduce_sum(ones(3), axis=0, reduction_indices=0), ValueError, "both 'reduction_indices' and 'axis'"),
    (lambda: [tf.get_variable("w", [2]) for _ in range(2)], ValueError, f"w already exists(.|\n)*{__file__}"),
    (lambda: tf.get_default_graph().get_tensor_by_name("c:0"), KeyError, "the graph has no operation 'c'"),
    (
        lambda: tf.train.GradientDescentOptimizer(0.1).minimize(lambda: 1.0),
        TypeError,
        "Can not convert a float into a Tensor",
    ),
    (lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0)), ValueError, "No variables to optimize"),
    (lambda: tf.train.Saver(), ValueError, "No variables to save"),
    (lambda: tf.constant(1.0, name="a b"), ValueError, "'a b' is not a valid node name"),
    (lambda: tf.layers.dense(any_value(), 3), ValueError, "layer dense_1 .* rank is undefined"),
    (lambda: tf.constant(1.0).eval(), ValueError, "No default session is registered"),
]

# What is wrong when a graph is run: the message has the op's name as well, and the line of this file that made it.
RUNNING = [
    (lambda: run(tf.Variable(1.0, name="w")), tf.errors.FailedPreconditionError, "uninitialized value w", "w"),
    (lambda: run(any_value() * 2.0), tf.errors.InvalidArgumentError, "must feed a value for placeholder tensor 'x'", "x"),
    (lambda: run(tf.add(any_value(), ones(4), name="sum"), {"x:0": np.ones([2, 3])}), tf.errors.InvalidArgumentError,
     r"\[2,3\] vs. \[4\]", "sum"),
    (lambda: run(tf.reshape(any_value(), [4, 2], name="r"), {"x:0": [1, 2, 3]}), tf.errors.InvalidArgumentError,
     "a tensor with 3 values, but the requested shape has 8", "r"),
    (lambda: run(tf.reshape(any_value(), any_value("s", tf.int32), name="r"), {"x:0": [1, 2, 3], "s:0": [4, 2]}),
     tf.errors.InvalidArgumentError, "a tensor with 3 values, but the requested shape has 8", "r"),
    (lambda: run(tf.gather(ones(3), any_value(dtype=tf.int32), name="g"), {"x:0": [7]}), tf.errors.InvalidArgumentError,
     r"indices\[0\] = 7 is not in \[0, 3\)", "g"),
    (lambda: run(tf.read_file("/not/there", name="f")), tf.errors.NotFoundError, "/not/there", "f"),
    (lambda: run(tf.py_func(lambda: 1 / 0, [], tf.float32, name="p")), tf.errors.UnknownError, "ZeroDivisionError", "p"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "error", "words"), DRAWING)
def test_mistakes_of_drawing(mistake, error, words):
    with pytest.raises(error, match=words):
        mistake()


@pytest.mark.parametrize(("mistake", "error", "words", "name"), RUNNING)
def test_mistakes_of_running(mistake, error, words, name):
    with pytest.raises(error, match=words) as caught:
        mistake()
    assert caught.value.op.name == name
    assert f"[[node {name} (defined at {__file__}:" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "error", "words"),
    [
        ("x:0", np.ones([3, 3]), ValueError, r"shape \(3, 3\) for Tensor 'x:0', which has shape '\(\?, 2\)'"),
        (
            "x:0",
            [[1, 2], [3]],
            ValueError,
            "a value of <class 'list'> for Tensor 'x:0', which has type 'float32': .*sequence",
        ),
        (
            "x:0",
            [["one", 2]],
            ValueError,
            "for Tensor 'x:0', which has type 'float32': could not convert string to float: 'one'",
        ),
        ("x:0", {}, TypeError, "a value of <class 'dict'> for Tensor 'x:0'"),
        ("x", [[1, 2]], TypeError, "'x' is the name of an Operation"),
        ("y:0", 1.0, TypeError, "the graph has no operation 'y'"),
    ],
)
def test_mistakes_of_feeding(key, value, error, words):
    tf.placeholder(tf.float32, [None, 2], name="x")
    with pytest.raises(error, match=words):
        run("x:0", {key: value})


@pytest.mark.parametrize(
    ("fetch", "error", "words"),
    [
        (None, TypeError, "None"),
        (1.5, TypeError, "1.5"),
        ("y:0", ValueError, "'y'"),
        ("x:3", ValueError, "has only 1 outputs"),
    ],
)
def test_mistakes_of_fetching(fetch, error, words):
    any_value()
    with pytest.raises(error, match=words):
        run([fetch])


def test_a_closed_session():
    sess = tf.Session()
    sess.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        sess.run(tf.constant(1.0))
