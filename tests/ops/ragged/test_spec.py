"""Specs of ragged tensors."""

import pytest

import everflow as tf

DEEP = [[[1], [2, 3]], [], [[4, 5]]]


pytestmark = pytest.mark.usefixtures("own_graph")


def test_specs_describe_ragged_tensors():
    spec = tf.RaggedTensorSpec.from_value(tf.ragged.constant(DEEP))
    assert spec == tf.RaggedTensorSpec([3, None, None], tf.int32, 2, tf.int64)
    assert spec.is_compatible_with(tf.RaggedTensorSpec([None, None, None], tf.int32, 2))
    assert not spec.is_compatible_with(tf.RaggedTensorSpec([3, None, None], tf.float32, 2))
