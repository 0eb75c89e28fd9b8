"""Areas under curves: from histograms, from all predictions kept, and with confidence intervals."""

from __future__ import annotations

import collections

from everflow.contrib.framework.tensors import remove_squeezable_dimensions
from everflow.contrib.metrics.statistics import streaming_concat
from everflow.distributions.location_scale import Normal
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.metrics.variables import collected
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.checks.values import assert_greater_equal, assert_less_equal
from everflow.ops.control_flow import Assert, cond
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.nn import convolution as nn_convolution
from everflow.ops.nn import top_k as nn_top_k
from everflow.ops.variables.initializers import zeros_initializer
from everflow.ops.variables.scope import get_variable, variable_scope

_TINY = 1e-7

AucData = collections.namedtuple("AucData", ["auc", "lower", "upper"])

# --- from histograms
# ----------------------------------------------------------------------------------------------------


def auc_using_histogram(boolean_labels, scores, score_range, nbins=100, collections=None, check_shape=True, name=None):
    """(area under the ROC curve, update op), from histograms of the scores of either label in `nbins` bins.

    Takes little memory, and is right up to what a bin can hide.
    """
    collections = [GraphKeys.LOCAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        scores, boolean_labels = remove_squeezable_dimensions(scores, boolean_labels)
        score_range = convert_to_tensor(score_range, name="score_range")
        if boolean_labels.dtype != dtypes.bool:
            raise ValueError(f"boolean_labels should have dtype bool, not {boolean_labels.dtype.name}")
        if check_shape:
            _assert_vectors(boolean_labels=boolean_labels, scores=scores)
        with name_scope(None, "make_auc_histograms", [boolean_labels, scores, score_range]):
            masked = array.boolean_mask(scores, boolean_labels)
            positive = math.histogram_fixed_width(masked, score_range, nbins, dtype=dtypes.int64, name="hist_true")
            masked = array.boolean_mask(scores, math.logical_not(boolean_labels))
            negative = math.histogram_fixed_width(masked, score_range, nbins, dtype=dtypes.int64, name="hist_false")
        with variable_scope(None, "hist_accumulate", [positive, negative]):
            settings = {"shape": [nbins], "dtype": dtypes.int64, "collections": collections, "trainable": False}
            names = ("hist_true_acc", "hist_false_acc")
            positives, negatives = (get_variable(x, initializer=zeros_initializer(), **settings) for x in names)
            update_op = group(positives.assign_add(positive), negatives.assign_add(negative), name="update_op")
        return _area_below_histograms(positives, negatives, nbins), update_op


def _assert_vectors(**tensors):
    with name_scope("_check_labels_and_scores", values=list(tensors.values())):
        for argument, tensor in tensors.items():
            is_vector = math.equal(1, array.rank(tensor))
            Assert(is_vector, [f"Argument {argument} should have rank 1.  Found: ", tensor.name, array.shape(tensor)])


def _area_below_histograms(positives, negatives, nbins):
    """The trapezoids under the curve that goes from the highest scores to the lowest."""
    shares = [counts / math.reduce_sum(counts) for counts in (positives, negatives)]
    rise, run = (array.reverse(share, [0], name=name) for share, name in zip(shares, ("delta_y_t", "delta_x_t")))
    rise, run = (math.cast(step, dtypes.float32) for step in (rise, run))
    height = _cumulative_sum(rise, nbins)
    first = run[0] * height[0] / 2.0
    rest = math.reduce_sum(run[1:] * (height[1:] + height[: nbins - 1]) / 2.0)
    return math.add(first, rest, name="auc")


def _cumulative_sum(values, length):
    """Running sums by a convolution with ones, as TensorFlow computes them here."""
    with name_scope(None, "strict_1d_cumsum", [values]):
        padded = array.pad(values, [[length - 1, 0]])
        ones = array.ones_like(padded)
        with name_scope(None, "strict_conv1d", [padded, ones]):
            row = array.reshape(padded, [1, -1, 1, 1])
            kernel = array.reshape(ones, [-1, 1, 1, 1])
            sums = array.reshape(nn_convolution.conv2d(row, kernel, [1, 1, 1, 1], "SAME"), [-1])
        return sums[:length]


# --- from all predictions
# -----------------------------------------------------------------------------------------------


def _flat(predictions, labels):
    predictions = array.reshape(math.cast(predictions, dtypes.float64), [-1])
    return predictions, array.reshape(math.cast(labels, dtypes.int64), [-1])


def _checked_labels(labels):
    """Assertions that labels are zeros and ones."""
    return [
        assert_greater_equal(labels, array.zeros_like(labels), message="labels must be 0 or 1, and some are below 0"),
        assert_less_equal(labels, array.ones_like(labels), message="labels must be 0 or 1, and some are above 1"),
    ]


def streaming_dynamic_auc(
    labels, predictions, curve="ROC", metrics_collections=(), updates_collections=(), name=None, weights=None
):
    """(area under the "ROC" or "PR" curve, update op), exact: every distinct prediction so far is a threshold.

    All labels and predictions are kept, so its memory grows with the data.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, not {curve!r}")
    with variable_scope(name, default_name="dynamic_auc"):
        labels.shape.assert_is_compatible_with(predictions.shape)
        predictions, labels = _flat(predictions, labels)
        with control_dependencies(_checked_labels(labels)):
            all_predictions, update_predictions = streaming_concat(predictions, name="concat_preds")
            all_labels, update_labels = streaming_concat(labels, name="concat_labels")
            updates = [update_labels, update_predictions]
            all_weights = None
            if weights is not None:
                weights = array.reshape(math.cast(weights, dtypes.float64), [-1])
                all_weights, update_weights = streaming_concat(weights, name="concat_weights")
                updates.append(update_weights)
            update_op = group(*updates)
            area = _area_of_all(all_labels, all_predictions, all_weights, curve)
        return collected(area, update_op, metrics_collections, updates_collections)


def _area_of_all(labels, predictions, weights, curve):
    size = array.size(predictions)
    if weights is None:
        weights = array.ones_like(labels, dtype=dtypes.float64)
    total = math.reduce_sum(weights)
    positive = math.reduce_sum(
        array.where(math.greater(labels, 0), weights, array.zeros_like(labels, dtype=dtypes.float64))
    )

    def area():
        by_score, order = nn_top_k.top_k(predictions, k=size)
        sorted_labels = array.gather(labels, order)
        sorted_weights = array.gather(weights, order)
        _, _, repeats = array.unique_with_counts(by_score)
        # Where each run of equal predictions ends: a threshold can't fall inside one.
        ends = array.pad(math.cumsum(repeats), paddings=[[1, 0]])

        def up_to_ends(values):
            return array.gather(array.pad(math.cumsum(values), paddings=[[1, 0]]), ends)

        def weights_where(condition):
            return array.where(condition, sorted_weights, array.zeros_like(sorted_labels, dtype=dtypes.float64))

        true_positives = up_to_ends(weights_where(math.greater(sorted_labels, 0)))
        if curve == "ROC":
            false_positives = up_to_ends(weights_where(math.less(sorted_labels, 1)))
            x = math.truediv(false_positives, total - positive)
            y = math.truediv(true_positives, positive)
        else:
            x = math.truediv(true_positives, positive)
            found = up_to_ends(sorted_weights)
            y = array.where(math.greater(ends, 0), math.truediv(true_positives, found), array.ones_like(true_positives))
        heights = math.add(y[1:], y[:-1]) / 2.0
        return math.reduce_sum(math.multiply(heights, math.abs(math.subtract(x[1:], x[:-1]))))

    one_sided = math.logical_or(math.equal(positive, 0), math.equal(positive, total))
    return cond(one_sided, lambda: constant(0, dtypes.float64), area)


# --- with confidence intervals
# ------------------------------------------------------------------------------------------


def auc_with_confidence_intervals(labels, predictions, weights=None, alpha=0.95, logit_transformation=True, metrics_collections=(),
                                  updates_collections=(), name=None):  # fmt: skip
    """(AucData(auc, lower, upper), update op): the area under the ROC curve and where it lies with probability `alpha`.

    The variance is DeLong's; `logit_transformation` takes the interval of log odds, which is between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    if weights is None:
        weights = array.ones_like(predictions)
    with variable_scope(name, default_name="auc_with_confidence_intervals", values=[labels, predictions, weights]):
        predictions.shape.assert_is_compatible_with(labels.shape)
        total_weight = math.reduce_sum(weights)
        weights = array.reshape(weights, [-1])
        predictions, labels = _flat(predictions, labels)
        with control_dependencies(_checked_labels(labels)):
            all_predictions, update_predictions = streaming_concat(predictions, name="concat_preds")
            all_labels, update_labels = streaming_concat(labels, name="concat_labels")
            all_weights, update_weights = streaming_concat(weights, name="concat_weights")
            accumulate = group(update_labels, update_predictions, update_weights)
            lowest, highest = math.equal(math.reduce_min(labels), 0), math.equal(math.reduce_max(labels), 1)
            both_labels = math.logical_and(lowest, highest)
            enough = math.greater_equal(total_weight, 1.0)
            is_valid = math.logical_and(both_labels, enough)
            update_op = cond(enough, lambda: accumulate, no_op)
            auc, lower, upper = _delong(all_labels, all_predictions, all_weights, alpha, logit_transformation)
            nothing = constant(0.0)
            data = AucData(*cond(is_valid, lambda: [auc, lower, upper], lambda: [nothing] * 3))
        return collected(data, update_op, metrics_collections, updates_collections)


def _delong(labels, predictions, weights, alpha, logit_transformation):
    """(area, lower, upper) from the share of the other class that each example is placed above."""
    size = array.size(predictions)
    total_0 = math.reduce_sum(math.cast(1 - labels, weights.dtype) * weights)
    total_1 = math.reduce_sum(math.cast(labels, weights.dtype) * weights)
    descending, order = nn_top_k.top_k(predictions, k=size)
    ascending = array.reverse(descending, axis=array.zeros(1, dtypes.int32))
    order = array.reverse(order, axis=array.zeros(1, dtypes.int32))
    labels, weights = array.gather(labels, order), array.gather(weights, order)
    placements = _placements(labels, ascending, weights)

    placements_0 = placements * math.cast(1 - labels, weights.dtype)
    weights_0 = weights * math.cast(1 - labels, weights.dtype)
    placements_1 = placements * math.cast(labels, weights.dtype)
    weights_1 = weights * math.cast(labels, weights.dtype)
    auc_0 = math.reduce_sum(weights_0 * (1.0 - placements_0)) / (total_0 + _TINY)
    auc_1 = math.reduce_sum(weights_1 * placements_1) / (total_1 + _TINY)
    area = array.where(math.less(total_0, total_1), auc_1, auc_0)
    variance_0 = math.reduce_sum(weights_0 * math.square(1.0 - placements_0 - auc_0)) / (total_0 - 1.0 + _TINY)
    variance_1 = math.reduce_sum(weights_1 * math.squared_difference(placements_1, auc_1)) / (total_1 - 1.0 + _TINY)
    deviation = math.sqrt(variance_0 / (total_0 + _TINY) + variance_1 / (total_1 + _TINY))

    quantile = Normal(0.0, 1.0).quantile((1 - alpha) / 2.0)
    if logit_transformation:
        logit = math.log(area / (1.0 - area + _TINY))
        logit_deviation = deviation / (area * (1.0 - area + _TINY))
        ends = [logit + quantile * logit_deviation, logit - quantile * logit_deviation]
        lower, upper = (1.0 / (1.0 + math.exp(-end) + _TINY) for end in ends)
    else:
        lower, upper = area + quantile * deviation, area - quantile * deviation

    def certain_at_ends(bound):
        at_end = math.logical_or(math.equal(area, array.ones_like(area)), math.equal(area, array.zeros_like(area)))
        return array.where(at_end, area, bound)

    return area, certain_at_ends(lower), certain_at_ends(upper)


def _placements(labels, ascending, weights):
    """For each example the weighted share of the other class that has lower predictions; equal ones count half."""
    _, group_of = array.unique(ascending)
    is_positive = math.cast(labels, dtypes.float32)
    is_negative = 1.0 - is_positive
    weights_1 = weights * is_positive
    weights_0 = weights * is_negative
    at_value_0 = math.segment_sum(weights_0, group_of)
    at_value_1 = math.segment_sum(weights_1, group_of)
    below_0 = math.cumsum(at_value_0, exclusive=True)
    below_1 = math.cumsum(at_value_1, exclusive=True)
    share_0 = (below_0 + at_value_0 / 2.0) / (math.reduce_sum(at_value_0) + _TINY)
    share_1 = (below_1 + at_value_1 / 2.0) / (math.reduce_sum(at_value_1) + _TINY)
    share_0, share_1 = array.gather(share_0, group_of), array.gather(share_1, group_of)
    return share_0 * is_positive + share_1 * is_negative
