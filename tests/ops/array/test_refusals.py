"""Values that can't become tensors when executing eagerly: which exception says so."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode


@pytest.mark.parametrize(
    "value, dtype, error, said",
    [
        ("a", tf.float32, TypeError, "EagerTensor of dtype float"),
        ([1.5], tf.int32, TypeError, "EagerTensor of dtype int32"),
        ({"a": 1}, None, ValueError, "unsupported type"),
        ([object()], None, ValueError, "unsupported type"),
        ([2**70], None, ValueError, "out-of-range integer"),
        ([[1], [2, 3]], None, ValueError, "non-rectangular"),
        ([1, "a"], None, ValueError, "mixed types"),
    ],
)
def test_what_is_refused(value, dtype, error, said):
    with eager_mode(), pytest.raises(error, match=said):
        tf.constant(value, dtype)


@pytest.mark.parametrize(
    "value, dtype, error",
    [
        ("text", "float32", TypeError),
        ([1.5], "int32", TypeError),
        ([1, True], "string", TypeError),
        ([True, 1], "string", ValueError),
        ([1, "a"], "float32", ValueError),
        ([[1], [1, 2]], "string", ValueError),
        (2**70, "bool", ValueError),
        (np.array([1]), "string", ValueError),
        (object(), "float32", ValueError),
    ],
)
def test_a_type_asked_for_is_what_is_wrong_with_one_array_only(value, dtype, error):
    with eager_mode(), pytest.raises(error):
        tf.convert_to_tensor(value, tf.as_dtype(dtype))
