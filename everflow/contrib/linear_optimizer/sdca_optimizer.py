"""`SDCAOptimizer`: dual coordinate ascent over the columns of tf.contrib.layers, as linear estimators use it."""

from __future__ import annotations

from everflow.contrib.layers.column_inputs import transform_features
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.ops import array, math
from everflow.train.sdca_model import SdcaModel, SparseFeatureColumn
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook

BIAS = "tf_virtual_bias_column"


class SDCAOptimizer:
    """An optimizer for the linear estimators of tf.contrib.learn, which needs a feature that tells examples apart.

    >>> optimizer = tf.contrib.linear_optimizer.SDCAOptimizer(example_id_column="id", symmetric_l2_regularization=2.0)
    >>> tf.contrib.learn.LinearClassifier(feature_columns, optimizer=optimizer)
    """

    def __init__(
        self,
        example_id_column,
        num_loss_partitions=1,
        num_table_shards=None,
        symmetric_l1_regularization=0.0,
        symmetric_l2_regularization=1.0,
        adaptive=True,
        partitioner=None,
    ):
        self._example_id_column = example_id_column
        self._num_loss_partitions = num_loss_partitions
        self._num_table_shards = num_table_shards
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization
        self._adaptive = adaptive
        self._partitioner = partitioner

    example_id_column = property(lambda self: self._example_id_column)
    num_loss_partitions = property(lambda self: self._num_loss_partitions)
    num_table_shards = property(lambda self: self._num_table_shards)
    symmetric_l1_regularization = property(lambda self: self._symmetric_l1_regularization)
    symmetric_l2_regularization = property(lambda self: self._symmetric_l2_regularization)
    adaptive = property(lambda self: self._adaptive)
    partitioner = property(lambda self: self._partitioner)

    def get_name(self):
        return "SDCAOptimizer"

    def get_train_step(self, columns_to_variables, weight_column_name, loss_type, features, targets, global_step):
        """(model, train op) for {column: its variables}; the column `BIAS` is the weight that every example has."""
        columns = [column for column in columns_to_variables if column != BIAS]
        known = {**transform_features(features, columns), **features}
        count = array.shape(targets)[0]
        sparse, sparse_weights, dense, dense_weights = [], [], [], []
        for column in sorted(columns, key=lambda column: column.key):
            weights = _of_one(columns_to_variables[column])
            feature = known[column]
            try:
                ids, id_weights = column.weighted_ids(feature)
            except NotImplementedError:
                numbers = column.dense_numbers(feature)
                dense.append(array.reshape(math.to_float(numbers), [count, -1]))
                dense_weights.append(weights)
            else:
                sparse.append(_sparse_feature(ids, id_weights))
                sparse_weights.append(weights)
        if BIAS in columns_to_variables:
            dense.append(array.ones([count, 1]))
            dense_weights.append(_of_one(columns_to_variables[BIAS]))
        weights = features[weight_column_name] if weight_column_name else array.ones([count])
        ids = features[self._example_id_column]
        model = SdcaModel(
            examples={
                "sparse_features": sparse,
                "dense_features": dense,
                "example_weights": array.reshape(math.to_float(weights), [-1]),
                "example_labels": math.to_float(array.reshape(targets, [-1])),
                "example_ids": array.reshape(ids.values if isinstance(ids, SparseTensor) else ids, [-1]),
            },
            variables={"sparse_features_weights": sparse_weights, "dense_features_weights": dense_weights},
            options={
                "symmetric_l1_regularization": self._symmetric_l1_regularization,
                "symmetric_l2_regularization": self._symmetric_l2_regularization,
                "adaptive": self._adaptive,
                "num_loss_partitions": self._num_loss_partitions,
                "num_table_shards": self._num_table_shards,
                "loss_type": loss_type,
            },
        )
        return model, model.minimize(global_step=global_step)


def _of_one(variables):
    return variables[0] if isinstance(variables, list) and len(variables) == 1 else variables


def _sparse_feature(ids, id_weights):
    """Entries of sparse ids, without those below zero, sorted by example as they come."""
    examples = array.reshape(ids.indices[:, 0], [-1])
    features = math.cast(array.reshape(ids.values, [-1]), dtypes.int64)
    values = array.ones_like(features, dtypes.float32) if id_weights is None else math.to_float(id_weights.values)
    kept = math.greater_equal(features, 0)
    return SparseFeatureColumn(*(array.boolean_mask(part, kept) for part in (examples, features, values)))


class UpdateWeightsHook(SessionRunHook):
    """Brings the weights that predict up to date after each step."""

    def __init__(self):
        self._model = self._train_op = None

    def set_parameters(self, sdca_model, train_op):
        self._model, self._train_op = sdca_model, train_op

    def begin(self):
        if self._model is None:
            raise ValueError("The hook was given no SDCA model: call set_parameters first")
        self._update_op = self._model.update_weights(self._train_op)

    def before_run(self, run_context):
        return SessionRunArgs(self._update_op)
