"""What tests of array functions share: the same function of a tensor and of a numpy array, in every type."""

import ml_dtypes
import numpy as np

import everflow as tf

A = np.arange(24).reshape(2, 3, 4)
DTYPES = "float16 float32 int8 int64 uint8 uint16 uint32 uint64 complex64 object bfloat16".split()


def run(*tensors, feed=None):
    """The value of a tensor, or the values of several."""
    with tf.Session() as session:
        values = session.run(list(tensors), feed)
    return values[0] if len(values) == 1 else values


def fed(value):
    """A tensor about which nothing is known before it runs, so that kernels do the checking."""
    return tf.placeholder_with_default(value, None)


def _typed(name):
    if name == "object":
        return np.array([b"s%d" % i for i in range(24)], object).reshape(A.shape)
    return A.astype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def check_in_every_type(function, expected):
    """`function` of A as a tensor gives what `expected` gives of it as an array, in all types the op is defined for."""
    made = {}
    for dtype in DTYPES:
        try:
            made[dtype] = function(tf.constant(_typed(dtype)))
        except TypeError as e:
            assert "must be one of" in str(e)  # the op is not defined for this type
    assert len(made) >= 6
    for dtype, value in zip(made, run(*made.values())):
        wanted = expected(_typed(dtype))
        assert value.dtype == wanted.dtype and value.shape == wanted.shape, dtype
        assert value.tolist() == wanted.tolist(), dtype
