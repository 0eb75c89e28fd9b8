"""`tf.TensorArraySpec`."""

import numpy as np
import pytest

import everflow as tf


def test_specs():
    spec = tf.TensorArraySpec([2], tf.float32)
    assert spec == tf.TensorArraySpec([2]) and hash(spec) == hash(tf.TensorArraySpec([2]))
    assert spec.value_type is tf.TensorArray
    assert spec.is_compatible_with(tf.TensorArraySpec([None])) and not spec.is_compatible_with(
        tf.TensorArraySpec([2], tf.int32)
    )
    with pytest.raises(ValueError, match="not compatible"):
        spec.most_specific_compatible_type(tf.TensorArraySpec([3]))
    assert spec.most_specific_compatible_type(tf.TensorArraySpec([None])) == tf.TensorArraySpec([None])


def test_there_and_back():
    with tf.Graph().as_default(), tf.Session() as session:
        array = tf.TensorArray(tf.float32, size=2, element_shape=[1]).write(0, [1.0]).write(1, [2.0])
        spec = tf.TensorArraySpec.from_value(array)
        assert spec == tf.TensorArraySpec([1]) and spec.is_compatible_with(array)
        [flow] = spec._to_components(array)
        assert flow.dtype == tf.variant
        np.testing.assert_array_equal(session.run(spec._from_components([flow]).stack()), [[1.0], [2.0]])
    with pytest.raises(TypeError, match="TensorArray"):
        tf.TensorArraySpec.from_value(3)
