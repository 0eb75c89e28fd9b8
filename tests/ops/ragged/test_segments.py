"""Row splits and segment ids, from one to the other."""

import numpy as np
import pytest

import everflow as tf

R = tf.RaggedTensor


ROWS = [[1, 2], [], [3, 4, 5]]


DEEP = [[[1], [2, 3]], [], [[4, 5]]]


pytestmark = pytest.mark.usefixtures("own_graph")


def run(fetch, feed=None):
    with tf.Session() as session:
        value = session.run(fetch, feed)
    return value.to_list() if isinstance(value, tf.ragged.RaggedTensorValue) else np.asarray(value).tolist()


# expression → (value, static shape)
TABLE = {
    "tf.ragged.segment_ids_to_row_splits([0, 0, 2], 5)": ([0, 2, 2, 3, 3, 3], "(6,)"),
}


@pytest.mark.parametrize("expression", TABLE)
def test_values_and_static_shapes(expression):
    names = {"tf": tf, "R": R, "rows": tf.ragged.constant(ROWS), "deep": tf.ragged.constant(DEEP)}
    value, shape = TABLE[expression]
    found = eval(expression, names)
    assert run(found) == value
    assert found.shape.is_compatible_with(eval(shape.replace("?", "None").replace("<unknown>", "None")))
