"""Specs of ragged tensors."""

import pytest

import everflow as tf
from tests.ops.ragged.rows import DEEP, run

pytestmark = pytest.mark.usefixtures("own_graph")


def test_specs_describe_ragged_tensors():
    spec = tf.RaggedTensorSpec.from_value(tf.ragged.constant(DEEP))
    assert spec == tf.RaggedTensorSpec([3, None, None], tf.int32, 2, tf.int64)
    assert spec.is_compatible_with(tf.RaggedTensorSpec([None, None, None], tf.int32, 2))
    assert not spec.is_compatible_with(tf.RaggedTensorSpec([3, None, None], tf.float32, 2))


def test_there_and_back():
    rows = tf.ragged.constant(DEEP)
    spec = tf.RaggedTensorSpec.from_value(rows)
    parts = spec._to_components(rows)
    assert [p.shape.as_list() for p in spec._component_specs] == [[None], [4], [None]]
    assert run(spec._from_components(parts)) == DEEP
    assert spec.value_type is tf.RaggedTensor


def test_the_tightest_spec_of_two():
    three, any_ = tf.RaggedTensorSpec([3, None], tf.int32), tf.RaggedTensorSpec([None, None], tf.int32)
    assert three.most_specific_compatible_type(any_) == any_
    with pytest.raises(ValueError):
        three.most_specific_compatible_type(tf.RaggedTensorSpec([3, None], tf.float32))


def test_values_are_compatible_too():
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    assert spec.is_compatible_with(tf.ragged.constant([[1], []]))
    assert not spec.is_compatible_with(tf.ragged.constant([["a"]]))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [((None,), ValueError), (([None, None], tf.int32, 2), ValueError), (([None, None], tf.int32, 1.0), TypeError)],
)
def test_what_is_no_spec(arguments, error):
    with pytest.raises(error):
        tf.RaggedTensorSpec(*arguments)


def test_ragged_variables_of_a_loop():
    rows = tf.ragged.constant([[1], [2, 3]])
    _, doubled = tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r * 2), [0, rows])
    assert run(doubled) == [[8], [16, 24]]
