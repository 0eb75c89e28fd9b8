"""What layers' ops become for all iterations at once."""

import pytest

import everflow as tf
from tests.ops.parallel_for.agreement import MATRICES, check_agreement

FUNCTIONS = [
    (lambda a: tf.nn.softmax(tf.reshape(a, [4])), MATRICES),
    (lambda a: tf.nn.bias_add(a, [1.0, 2.0]), MATRICES),
]


@pytest.mark.parametrize("known_size", [True, False])
@pytest.mark.parametrize(("fn", "elements"), FUNCTIONS)
def test_what_map_fn_computes(fn, elements, known_size):
    check_agreement(fn, elements, known_size)
