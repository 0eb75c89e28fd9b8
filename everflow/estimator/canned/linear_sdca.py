"""`tf.estimator.experimental.LinearSDCA`: linear estimators that are trained by stochastic dual coordinate ascent."""

from __future__ import annotations

from everflow.estimator.canned.classification_heads import BinaryHead
from everflow.estimator.canned.regression_heads import RegressionHead
from everflow.estimator.mode_keys import ModeKeys
from everflow.feature_column.cache import FeatureTransformationCache
from everflow.feature_column.columns import CategoricalColumn, sorted_columns
from everflow.framework import dtypes
from everflow.ops import array, math
from everflow.ops.array.indexing import where_v2
from everflow.ops.array.sequences import boolean_mask
from everflow.ops.lookup.mutable import DenseHashTable
from everflow.ops.math.segments import unsorted_segment_min, unsorted_segment_sum
from everflow.ops.variables.assign import assign
from everflow.ops.variables.global_step import get_global_step
from everflow.platform import logging
from everflow.train.sdca_model import SdcaModel, SparseFeatureColumn
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from everflow.train.sharded_tables import ShardedMutableDenseHashTable


class _Shard(DenseHashTable):
    """A table whose entries are in checkpoints under its own name, without scopes."""

    _ops_take_names_of_scopes = True

    def _checkpoint_key(self):
        return self.name


class _Shards(ShardedMutableDenseHashTable):
    _shard_class = _Shard


class _Features(SparseFeatureColumn):
    """A sparse feature of tensors that are what they must be already."""

    def __init__(self, example_indices, feature_indices, feature_values):
        self._example_indices = example_indices
        self._feature_indices = feature_indices
        self._feature_values = feature_values


class _EstimatorModel(SdcaModel):
    """An SDCA model over resource variables, which ops of their own shrink."""

    _slot_suffix = "_unshrunk"
    _select = staticmethod(where_v2)
    _table_class = _Shards

    def _symmetric_l2_regularization(self):
        return self._options["symmetric_l2_regularization"]

    def _to_double(self, tensor):
        return math.to_double(tensor)

    def _shrink_all(self, variables):
        by = self._symmetric_l1_regularization() / self._symmetric_l2_regularization()
        if by <= 0:
            return []
        return [assign(v, math.sign(v) * math.maximum(0.0, math.abs(v) - by)).op for v in variables]


class LinearSDCA:
    """An optimizer for linear estimators: it needs no learning rate, and a feature that tells examples apart.

    >>> optimizer = tf.estimator.experimental.LinearSDCA(example_id_column="id", symmetric_l2_regularization=2.0)
    >>> tf.estimator.LinearClassifier(feature_columns, optimizer=optimizer)
    """

    def __init__(
        self,
        example_id_column,
        num_loss_partitions=1,
        num_table_shards=None,
        symmetric_l1_regularization=0.0,
        symmetric_l2_regularization=1.0,
        adaptive=False,
    ):
        self._example_id_column = example_id_column
        self._num_loss_partitions = num_loss_partitions
        self._num_table_shards = num_table_shards
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization
        self._adaptive = adaptive
        logging.warning(
            "For LinearSDCA a good symmetric_l2_regularization is about the mean L2 norm of the training examples, "
            "which is more than for other optimizers."
        )

    def _prune_and_unique_sparse_ids(self, id_weight_pair):
        """A sparse feature without ids below zero, and with each id once for an example: weights are added up."""
        ids, weights = id_weight_pair.id_tensor, id_weight_pair.weight_tensor
        if weights is None:
            weights = array.ones([array.shape(ids.indices)[0]], dtypes.float32)
        else:
            weights = weights.values
        examples = array.reshape(ids.indices[:, 0], [-1])
        flat = math.to_int64(array.reshape(ids.values, [-1]))
        known = math.greater_equal(flat, 0)
        flat, examples, weights = (boolean_mask(tensor, known) for tensor in (flat, examples, weights))
        # A number for each pair of example and id.
        count = math.reduce_max(flat) + 1
        pairs, where = array.unique(count * examples + flat)
        example_indices = unsorted_segment_min(examples, where, array.shape(pairs)[0])
        feature_indices = pairs - count * example_indices
        values = array.reshape(unsorted_segment_sum(weights, where, array.shape(pairs)[0]), [-1])
        return _Features(example_indices, feature_indices, values)

    def get_train_step(
        self, state_manager, weight_column_name, loss_type, feature_columns, features, targets, bias_var, global_step
    ):
        """An SDCA model of the columns, and an op that makes a step."""
        batch_size = array.shape(targets)[0]
        cache = FeatureTransformationCache(features)
        sparse, sparse_weights, dense, dense_weights = [], [], [], []
        for column in sorted_columns(feature_columns):
            weights = state_manager.get_variable(column, "weights")
            if isinstance(column, CategoricalColumn):
                pair = column.get_sparse_tensors(cache, state_manager)
                sparse.append(self._prune_and_unique_sparse_ids(pair))
                sparse_weights.append(weights)
            else:
                if column.variable_shape.ndims != 1:
                    raise ValueError(
                        f"LinearSDCA takes dense columns of rank 1; {type(column).__name__} has rank "
                        f"{column.variable_shape.ndims}"
                    )
                dense.append(column.get_dense_tensor(cache, state_manager))
                dense_weights.append(weights)
        dense.append(array.ones([batch_size, 1]))
        dense_weights.append(bias_var)
        if weight_column_name:
            importance = array.reshape(features[weight_column_name], shape=[-1])
        else:
            importance = array.ones([batch_size])
        model = _EstimatorModel(
            examples={
                "sparse_features": sparse,
                "dense_features": dense,
                "example_weights": importance,
                "example_labels": math.to_float(array.reshape(targets, shape=[-1])),
                "example_ids": features[self._example_id_column],
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


class UpdateWeightsHook(SessionRunHook):
    """Brings the weights that predict up to date after each step."""

    def __init__(self, sdca_model, train_op):
        self._model, self._train_op = sdca_model, train_op

    def begin(self):
        self._update_op = self._model.update_weights(self._train_op)

    def before_run(self, run_context):
        return SessionRunArgs(self._update_op)


def loss_type_of(head):
    """SDCA's name for the loss of a head; ValueError for those it can't train."""
    if isinstance(head, BinaryHead):
        return "logistic_loss"
    if isinstance(head, RegressionHead):
        if head.logits_dimension != 1:
            raise ValueError(f"LinearSDCA takes one label for each example, and not {head.logits_dimension}")
        return "squared_loss"
    raise ValueError(f"LinearSDCA tells two classes apart or predicts numbers: it can't train {type(head).__name__}")


def sdca_spec(head, features, labels, mode, model, columns, logits, optimizer):
    """The spec of a linear model that LinearSDCA trains."""
    loss_type = loss_type_of(head)
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, train_op_fn=lambda _: None, logits=logits
        )
    sdca_model, train_op = optimizer.get_train_step(
        model._state_manager,
        head._weight_column,
        loss_type,
        columns,
        features,
        labels,
        model.bias,
        get_global_step(),
    )
    spec = head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=lambda _: train_op, logits=logits
    )
    hook = UpdateWeightsHook(sdca_model, train_op)
    return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, hook))
