"""Linear estimators of tf.contrib.learn that dual coordinate ascent trains."""

from __future__ import annotations

from everflow.contrib.learn.class_heads import multi_class_head
from everflow.contrib.learn.heads import regression_head
from everflow.contrib.learn.linear import _Linear
from everflow.contrib.learn.predictors import TellsClasses, TellsScores
from everflow.contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer
from everflow.platform.signatures import optional, takes

_SDCA = optional(
    """weight_column_name model_dir l1_regularization l2_regularization num_loss_partitions config
    feature_engineering_fn partitioner""",
    l1_regularization=0.0,
    l2_regularization=1.0,
)


class _SDCAEstimator(_Linear):
    """A linear model with a head, and SDCA."""

    @takes(_SDCA)
    def __init__(self, head, example_id_column, feature_columns, **given):
        optimizer = SDCAOptimizer(
            example_id_column,
            num_loss_partitions=given["num_loss_partitions"] or 1,
            symmetric_l1_regularization=given["l1_regularization"],
            symmetric_l2_regularization=given["l2_regularization"],
            partitioner=given["partitioner"],
        )
        passed = {name: given[name] for name in ("model_dir", "config", "feature_engineering_fn")}
        super().__init__(head, feature_columns, optimizer=optimizer, **passed)


class SDCALogisticClassifier(TellsClasses, _SDCAEstimator):
    """Logistic regression over columns."""

    @takes(_SDCA)
    def __init__(self, example_id_column, feature_columns, **given):
        head = multi_class_head(2, weight_column_name=given["weight_column_name"])
        super().__init__(head, example_id_column, feature_columns, **given)


class SDCALinearRegressor(TellsScores, _SDCAEstimator):
    """Linear regression over columns."""

    @takes(_SDCA)
    def __init__(self, example_id_column, feature_columns, **given):
        head = regression_head(weight_column_name=given["weight_column_name"])
        super().__init__(head, example_id_column, feature_columns, **given)
