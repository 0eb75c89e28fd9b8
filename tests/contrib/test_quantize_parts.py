"""What tf.contrib.quantize is made of, for programs that rewrite graphs themselves."""

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.contrib.quantize.python import common, graph_matcher, input_to_ops, quant_ops


def _steps(build, **settings):
    """(results, ranges) of three steps."""
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3])
        y = build(x, **settings)
        sess.run(tf.global_variables_initializer())
        return [(sess.run(y, {x: [row]}), *sess.run(tf.global_variables())) for row in ROWS]


ROWS = ([-1.0, 2.0, 0.3], [-4.0, 1.0, 0.9], [1.0, 2.0, 3.0])


def test_a_range_that_stays():
    (first, *_), *_ = _steps(quant_ops.FixedQuantize)
    np.testing.assert_allclose(first[0], [-0.9882355, 2.0235295, 0.28235292], rtol=1e-6)


def test_the_range_of_the_last_step():
    steps = _steps(quant_ops.LastValueQuantize)
    assert [(low, high) for _, low, high in steps] == [(-1.0, 2.0), (-4.0, 1.0), (0.0, 3.0)]
    steps = _steps(quant_ops.LastValueQuantize, symmetric=True, narrow_range=True, num_bits=4)
    assert [(low, high) for _, low, high in steps] == [(-2.0, 2.0), (-4.0, 4.0), (-3.0, 3.0)]
    steps = _steps(quant_ops.LastValueQuantize, per_channel=True)
    assert steps[1][1].tolist() == [-4.0, 0.0, 0.0]
    (rounded, low, high), *_ = _steps(quant_ops.LastValueQuantize, is_training=False)
    assert (low, high) == (-6.0, 6.0)
    np.testing.assert_allclose(rounded[0], [-0.9882355, 1.9764705, 0.28235292], rtol=1e-6)


def test_a_moving_average_of_ranges():
    steps = _steps(quant_ops.MovingAvgQuantize, ema_decay=0.5)
    np.testing.assert_allclose([step[1] for step in steps], [-1.0, -3.0, -1.2857143], rtol=1e-6)
    with tf.Graph().as_default():
        quant_ops.MovingAvgQuantize(tf.ones([1, 3]))
        names = [v.op.name for v in tf.get_collection("moving_average_variables")]
        assert names == ["MovingAvgQuantize/min", "MovingAvgQuantize/max"]


def test_questions_about_graphs():
    with tf.Graph().as_default() as graph:
        step = common.CreateOrGetQuantizationStep()
        assert step is common.CreateOrGetQuantizationStep() and step.name == "fake_quantization_step/Identity:0"
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        c, d = tf.add(a, a, name="c"), tf.negative(a, name="l/Relu")
        users = input_to_ops.InputToOps(graph)
        assert users.ConsumerOperations(a.op) == {c.op, d.op} and not users.ConsumerOperations(d.op)
        assert common.RerouteTensor(b, a, can_modify=[c.op]) == 2
        assert list(c.op.inputs) == [b, b] and list(d.op.inputs) == [a]
        assert common.GetEndpointActivationOp(graph, "l") is d.op
        assert common.GetEndpointActivationOp(graph, "other") is None
        tf.identity(a, name="conv/BatchNorm/batchnorm/mul")
        assert common.BatchNormGroups(graph) == ["conv/"]
        assert common.DropStringPrefix("abcd", "ab") == "cd"


def test_patterns():
    pattern = graph_matcher.OpTypePattern
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 2])
        product = tf.matmul(x, tf.identity(tf.ones([2, 2])))
        tf.nn.relu(tf.nn.bias_add(product, [1.0, 2.0]))
        inner = pattern("MatMul", name="product", inputs=["*", pattern("*", name="weights")])
        outer = pattern("Relu|Relu6", inputs=[pattern("BiasAdd", inputs=[inner, "*"])])
        (found,) = graph_matcher.GraphMatcher(outer).match_graph(graph)
        assert found.get_op("product") is product.op and found.get_tensor(inner) is product
        assert found.get_op("weights").type == "Identity" and found.get_op("other") is None
        turned = [pattern("Identity"), pattern("Placeholder")]
        assert graph_matcher.GraphMatcher(pattern("MatMul", inputs=turned)).match_op(product.op) is None
        either = pattern("MatMul", inputs=turned, ordered_inputs=False)
        assert graph_matcher.GraphMatcher(either).match_op(product.op) is not None
        one_of = graph_matcher.OneofPattern([pattern("Add"), pattern("Relu")])
        assert len(list(graph_matcher.GraphMatcher(one_of).match_graph(graph))) == 1
        with pytest.raises(ValueError, match="any order"):
            pattern("MatMul", inputs=["*"] * 3, ordered_inputs=False)
        with pytest.raises(ValueError, match="'product'"):
            found.add(inner, product.op, product)
