"""Op types that only other machines run."""

import pytest

import everflow as tf
from everflow import kernels
from everflow.framework import op_defs
from everflow.framework import raw_ops as raw
from everflow.kernels.elsewhere import machine_of


def test_the_error_says_what_is_needed():
    with tf.Graph().as_default(), tf.Session() as session:
        node = raw.TPUOrdinalSelector()
        with pytest.raises(tf.errors.InvalidArgumentError, match="needs a TPU"):
            session.run(node)


def test_nothing_with_a_kernel_is_said_to_be_elsewhere():
    there = set(kernels.names())
    assert machine_of("MatMul") is None
    assert sum(machine_of(name) is not None for name in op_defs.names() if name not in there) >= 60
