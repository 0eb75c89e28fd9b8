"""The area under the curve that true and false predictions draw as the threshold moves."""

from __future__ import annotations

import enum

from everflow.keras import backend as K
from everflow.keras.metrics.confusion import _Counts
from everflow.ops import array, math


class _Named(enum.Enum):
    @classmethod
    def from_str(cls, key):
        """The member that the program names."""
        if isinstance(key, cls):
            return key
        for member in cls:
            if key in (member.value, member.value.lower(), member.value.capitalize(), member.name.lower()):
                return member
        raise ValueError(f"{key!r} is no {cls.__name__}: these are {[member.value for member in cls]}")


class AUCCurve(_Named):
    """What an area lies under."""

    ROC = "ROC"
    PR = "PR"


class AUCSummationMethod(_Named):
    """How an area is summed up."""

    INTERPOLATION = "interpolation"
    MAJORING = "majoring"
    MINORING = "minoring"


class AUC(_Counts):
    """The area under the ROC curve, or the one of precision over recall (PR).

    Args:
        num_thresholds: How many thresholds the curve is taken at.
        curve: `ROC` or `PR`.
        summation_method: `interpolation`, `minoring` or `majoring`.
        name: The name it has in logs.
        dtype: The type in which it is counted.
        thresholds: The thresholds; `num_thresholds` of them, evenly spread, if None.

    Example:
        >>> metric = tf.keras.metrics.AUC(num_thresholds=3)
        >>> update = metric.update_state([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.3, 0.9])
        >>> _ = sess.run([v.initializer for v in metric.variables])
        >>> _ = sess.run(update)
        >>> sess.run(metric.result())
        np.float32(0.75)
    """

    def __init__(
        self, num_thresholds=200, curve="ROC", summation_method="interpolation", name=None, dtype=None, thresholds=None
    ):
        curve, summation_method = AUCCurve.from_str(curve), AUCSummationMethod.from_str(summation_method)
        if thresholds is not None:
            num_thresholds = len(thresholds) + 2
            thresholds = sorted(thresholds)
        else:
            if num_thresholds <= 1:
                raise ValueError("`num_thresholds` must be > 1.")
            thresholds = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        super().__init__(name=name, dtype=dtype)
        self.num_thresholds = num_thresholds
        # A little beyond 0 and 1, so that predictions of exactly those count.
        self.thresholds = [0.0 - K.epsilon(), *thresholds, 1.0 + K.epsilon()]
        self.curve = curve
        self.summation_method = summation_method
        self._add_counts("true_positives", "true_negatives", "false_positives", "false_negatives")

    def interpolate_pr_auc(self):
        """Between two thresholds, precision is interpolated by the counts, not along a straight line."""
        last = self.num_thresholds - 1
        new_true = self.true_positives[:last] - self.true_positives[1:]
        positive = self.true_positives + self.false_positives
        new_positive = positive[:last] - positive[1:]
        slope = math.div_no_nan(new_true, math.maximum(new_positive, 0), name="prec_slope")
        intercept = self.true_positives[1:] - math.multiply(slope, positive[1:])
        ratio = array.where(
            math.logical_and(positive[:last] > 0, positive[1:] > 0),
            math.div_no_nan(positive[:last], math.maximum(positive[1:], 0), name="recall_relative_ratio"),
            array.ones_like(positive[1:]),
        )
        increments = math.div_no_nan(
            slope * (new_true + intercept * math.log(ratio)),
            math.maximum(self.true_positives[1:] + self.false_negatives[1:], 0),
            name="pr_auc_increment",
        )
        return math.reduce_sum(increments, name="interpolate_pr_auc")

    def result(self):
        if self.curve is AUCCurve.PR and self.summation_method is AUCSummationMethod.INTERPOLATION:
            return self.interpolate_pr_auc()
        recall = math.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        if self.curve is AUCCurve.ROC:
            x, y = math.div_no_nan(self.false_positives, self.false_positives + self.true_negatives), recall
        else:
            x, y = recall, math.div_no_nan(self.true_positives, self.true_positives + self.false_positives)
        last = self.num_thresholds - 1
        if self.summation_method is AUCSummationMethod.INTERPOLATION:
            heights = (y[:last] + y[1:]) / 2.0
        elif self.summation_method is AUCSummationMethod.MINORING:
            heights = math.minimum(y[:last], y[1:])
        else:
            heights = math.maximum(y[:last], y[1:])
        return math.reduce_sum(math.multiply(x[:last] - x[1:], heights), name=self.name)

    def get_config(self):
        own = {"num_thresholds": self.num_thresholds, "curve": self.curve.value}
        own |= {"summation_method": self.summation_method.value, "thresholds": self.thresholds[1:-1]}
        return {**super().get_config(), **own}
