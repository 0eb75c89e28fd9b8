"""tf.metrics that count at many thresholds."""

import numpy as np
import pytest

import everflow as tf

LABELS, SCORES = [1, 0, 1, 1, 0, 0], [0.9, 0.2, 0.4, 0.8, 0.35, 0.5]

pytestmark = pytest.mark.usefixtures("own_graph")


def _value(metric, *args, **kwargs):
    value, update = metric(tf.constant(LABELS), tf.constant(SCORES), *args, **kwargs)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        sess.run(update)
        return sess.run(value)


@pytest.mark.parametrize(
    ("curve", "method", "wanted"),
    [
        ("PR", "careful_interpolation", 0.90411),
        ("PR", "minoring", 0.88889),
        ("PR", "majoring", 0.91667),
        ("ROC", "trapezoidal", 0.88889),
    ],
)
def test_areas(curve, method, wanted):
    np.testing.assert_allclose(_value(tf.metrics.auc, curve=curve, summation_method=method), wanted, atol=1e-5)


def test_interpolated_precision_divides_by_what_is_not_negative():
    tf.metrics.auc(tf.constant(LABELS), tf.constant(SCORES), curve="PR", summation_method="careful_interpolation")
    slope = tf.get_default_graph().get_operation_by_name("auc/prec_slope")
    assert (slope.type, slope.inputs[1].op.type) == ("DivNoNan", "Maximum")


def test_counts_at_thresholds_are_copies_of_their_variables():
    value, _ = tf.metrics.false_negatives_at_thresholds(tf.constant(LABELS), tf.constant(SCORES), [0.5])
    assert value.name == "false_negatives/Identity:0"
    with tf.Graph().as_default():
        assert _value(tf.metrics.false_negatives_at_thresholds, [0.45, 0.85]).tolist() == [1, 2]


def test_the_last_threshold_of_specificity_lies_below_one():
    tf.metrics.specificity_at_sensitivity(tf.constant(LABELS), tf.constant(SCORES), 0.5, num_thresholds=3)
    thresholds = tf.make_ndarray(
        tf.get_default_graph().get_operation_by_name("specificity_at_sensitivity/Const").get_attr("value")
    )
    np.testing.assert_array_equal(thresholds, np.float32([-1e-7, 0.5, 1 - 1e-7]))
