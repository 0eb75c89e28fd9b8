"""Shapes of XLA's own operations."""

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.protos.xla_data_pb2 import DotDimensionNumbers


def test_shapes():
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.float32, [4, 5])
        numbers = DotDimensionNumbers(lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[0])
        dot = raw.XlaDot(lhs=x, rhs=y, dimension_numbers=numbers.SerializeToString(), precision_config="")
        assert dot.shape.as_list() == [3, 5]
        assert raw.XlaEinsum(a=x, b=y, equation="ab,bc->ca").shape.as_list() == [5, 3]
        assert raw.XlaSort(input=x).shape.as_list() == [3, 4]
        assert raw.XlaDynamicUpdateSlice(input=x, update=y, indices=[0, 0]).shape.as_list() == [3, 4]
        assert raw.XlaReplicaId().shape.as_list() == []
