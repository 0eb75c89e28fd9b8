"""Every gradient that the tables of tests/ops have, by a tape on values and through a traced function: the same as in a
graph.
"""

import numpy as np
import pytest

import everflow as tf
from tests.ops.array.test_gradients import TABLE
from tests.ops.linalg.test_gradients import GRADIENTS
from tests.ops.math.test_gradients import CASES as MATH
from tests.ops.nn.test_gradients import CASES as NN


def _points(shapes):
    random = np.random.RandomState(7)
    return [random.uniform(0.5, 2.0, shape) for shape in shapes]


FUNCTIONS = {
    **{f"array {name}": (function, _points(shapes)) for name, (function, *shapes) in TABLE.items()},
    **{f"math {name}": (function, values) for name, function, values in MATH},
    **{f"nn {name}": row for name, row in NN.items()},
    **{f"linalg {name}": (function, values) for name, function, values in GRADIENTS},
}


def _loss(y):
    return tf.reduce_sum(
        tf.reshape(y, [-1]) * tf.cos(tf.range(1.0, 1.0 + tf.cast(tf.size(y), tf.float64), dtype=tf.float64))
    )


def _by_tape(function, values):
    inputs = [tf.constant(v) for v in values]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = function(*inputs)
        loss = _loss(y)
    return [y.numpy(), *(tf.convert_to_tensor(g).numpy() for g in tape.gradient(loss, inputs))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tape_and_graph_agree(name):
    function, values = FUNCTIONS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.constant(v) for v in values]
        y = function(*inputs)
        wanted = session.run([y, *(tf.convert_to_tensor(g) for g in tf.gradients(_loss(y), inputs))])
    for found in (_by_tape(function, values), _by_tape(tf.function(lambda *xs: function(*xs)), values)):
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
