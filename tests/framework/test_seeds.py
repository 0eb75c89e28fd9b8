"""The two seeds of a random op, from those of the graph and of the op."""

import pytest

import everflow as tf
from everflow.framework import seeds


@pytest.mark.parametrize(
    ("of_graph", "of_op", "both"),
    [
        (None, None, (None, None)),
        (None, 5, (87654321, 5)),
        (7, None, (7, 1)),  # one op came before
        (7, 5, (7, 5)),
        (0, 0, (0, 2**31 - 1)),  # two zeros would mean "choose"
        (2**31 - 1, 0, (0, 2**31 - 1)),
        (-1, 3, (2**31 - 2, 3)),
        (2**31, 2**31 + 5, (1, 6)),
    ],
)
def test_rules(of_graph, of_op, both):
    with tf.Graph().as_default():
        tf.set_random_seed(of_graph)
        tf.no_op()
        assert seeds.get_seed(of_op) == both == tf.get_seed(of_op)


def test_ops_get_what_the_rules_say():
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        op = tf.random_uniform([], seed=3).op
        while op.type != "RandomUniform":
            op = op.inputs[0].op
        assert (op.get_attr("seed"), op.get_attr("seed2")) == (7, 3)
