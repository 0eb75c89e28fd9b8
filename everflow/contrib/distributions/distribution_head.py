"""`DistributionHead` of tf.contrib.learn: logits are a distribution's parameters, fit by maximum likelihood."""

from __future__ import annotations

from everflow.contrib.learn.heads import RegressionHead
from everflow.contrib.learn.model_ops import PredictionKey
from everflow.framework import dtypes
from everflow.framework.scopes import name_scope
from everflow.ops import array, math


class DistributionHead(RegressionHead):
    """Regression by the distribution that `make_distribution_fn` makes of logits."""

    def __init__(
        self, make_distribution_fn, label_dimension, logits_dimension, label_name, weight_column_name, head_name
    ):
        super().__init__(logits_dimension or label_dimension, label_name, weight_column_name, head_name)
        self._make_distribution_fn = make_distribution_fn
        self._distributions = {}

    distributions = property(lambda self: self._distributions, doc="All distributions that were made, by their logits.")

    def distribution(self, logits, name=None):
        """The distribution that these logits are the parameters of; made once."""
        with name_scope(name, "distribution", [logits]):
            if logits not in self._distributions:
                self._distributions[logits] = self._make_distribution_fn(logits)
            return self._distributions[logits]

    def _predictions(self, logits):
        return {PredictionKey.SCORES: self.distribution(logits).mean()}

    def _losses(self, logits, labels, name):
        distribution = self.distribution(logits)
        # One label a row, as the distribution is expected to have one event a row.
        labels = math.cast(labels, dtypes.float32)
        labels = array.reshape(labels, array.concat([[-1], distribution.event_shape_tensor()], 0))
        return -distribution.log_prob(labels)
