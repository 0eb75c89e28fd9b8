"""Values that can't become tensors when executing eagerly: which exception says so."""

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
