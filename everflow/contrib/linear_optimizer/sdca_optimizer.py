"""`SDCAOptimizer`: dual coordinate ascent over the columns of tf.contrib.layers, as linear estimators use it."""

from __future__ import annotations

from everflow.contrib.layers.column_inputs import transform_features
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.ops import array, math
from everflow.platform.signatures import takes
from everflow.train.sdca_model import SETTINGS, SdcaOptimizer, SparseFeatureColumn, UpdateWeights

BIAS = "tf_virtual_bias_column"


class SDCAOptimizer(SdcaOptimizer):
    """An optimizer for the linear estimators of tf.contrib.learn, which needs a feature that tells examples apart.

    >>> optimizer = tf.contrib.linear_optimizer.SDCAOptimizer(example_id_column="id", symmetric_l2_regularization=2.0)
    >>> tf.contrib.learn.LinearClassifier(feature_columns, optimizer=optimizer)
    """

    @takes(SETTINGS)
    def __init__(self, *, partitioner=None, **settings):
        super().__init__(settings)
        self.partitioner = partitioner

    def get_name(self):
        return "SDCAOptimizer"

    def get_train_step(self, columns_to_variables, weight_column_name, loss_type, features, targets, global_step):
        """(model, train op) for {column: its variables}; the column `BIAS` is the weight that every example has."""
        columns = [column for column in columns_to_variables if column != BIAS]
        known = {**transform_features(features, columns), **features}
        count = array.shape(targets)[0]
        sparse, dense = [], []
        for column in sorted(columns, key=lambda column: column.key):
            try:
                entries = column.weighted_ids(known[column])
            except NotImplementedError:  # a column of numbers
                numbers = math.to_float(column.dense_numbers(known[column]))
                dense.append((array.reshape(numbers, [count, -1]), _of_one(columns_to_variables[column])))
            else:
                sparse.append((_sparse_feature(*entries), _of_one(columns_to_variables[column])))
        if BIAS in columns_to_variables:
            dense.append((array.ones([count, 1]), _of_one(columns_to_variables[BIAS])))
        weights = features[weight_column_name] if weight_column_name else array.ones([count])
        weights = array.reshape(math.to_float(weights), [-1])
        labels = math.to_float(array.reshape(targets, [-1]))
        ids = features[self._settings["example_id_column"]]
        ids = array.reshape(ids.values if isinstance(ids, SparseTensor) else ids, [-1])
        return self._train_step(sparse, dense, weights, labels, ids, loss_type, global_step)


for _name in SETTINGS:
    setattr(SDCAOptimizer, _name, property(lambda self, name=_name: self._settings[name]))


def _of_one(variables):
    return variables[0] if isinstance(variables, list) and len(variables) == 1 else variables


def _sparse_feature(ids, id_weights):
    """Entries of sparse ids, without those below zero, sorted by example as they come."""
    examples = array.reshape(ids.indices[:, 0], [-1])
    features = math.cast(array.reshape(ids.values, [-1]), dtypes.int64)
    values = array.ones_like(features, dtypes.float32) if id_weights is None else math.to_float(id_weights.values)
    kept = math.greater_equal(features, 0)
    return SparseFeatureColumn(*(array.boolean_mask(part, kept) for part in (examples, features, values)))


class UpdateWeightsHook(UpdateWeights):
    """Brings the weights that predict up to date after each step, once it is told of which model."""

    def set_parameters(self, sdca_model, train_op):
        self.model, self.train_op = sdca_model, train_op
