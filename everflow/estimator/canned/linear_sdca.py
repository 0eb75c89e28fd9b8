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
from everflow.platform.signatures import takes
from everflow.train.sdca_model import SETTINGS, SdcaModel, SdcaOptimizer, SparseFeatureColumn, UpdateWeights
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


class LinearSDCA(SdcaOptimizer):
    """An optimizer for linear estimators: it needs no learning rate, and a feature that tells examples apart.

    >>> optimizer = tf.estimator.experimental.LinearSDCA(example_id_column="id", symmetric_l2_regularization=2.0)
    >>> tf.estimator.LinearClassifier(feature_columns, optimizer=optimizer)
    """

    _model_class = _EstimatorModel

    @takes({**SETTINGS, "adaptive": False})
    def __init__(self, **settings):
        super().__init__(settings)
        logging.warning(
            "For LinearSDCA a good symmetric_l2_regularization is about the mean L2 norm of the training examples, "
            "which is more than for other optimizers."
        )

    def get_train_step(
        self, state_manager, weight_column_name, loss_type, feature_columns, features, targets, bias_var, global_step
    ):
        """An SDCA model of the columns, and an op that makes a step."""
        count = array.shape(targets)[0]
        cache = FeatureTransformationCache(features)
        sparse, dense = [], []
        for column in sorted_columns(feature_columns):
            weights = state_manager.get_variable(column, "weights")
            if isinstance(column, CategoricalColumn):
                sparse.append((_each_id_once(*column.get_sparse_tensors(cache, state_manager)), weights))
                continue
            if column.variable_shape.ndims != 1:
                raise ValueError(
                    f"LinearSDCA takes dense columns of rank 1; {type(column).__name__} has rank "
                    f"{column.variable_shape.ndims}"
                )
            dense.append((column.get_dense_tensor(cache, state_manager), weights))
        dense.append((array.ones([count, 1]), bias_var))
        weighted = bool(weight_column_name)
        importance = array.reshape(features[weight_column_name], shape=[-1]) if weighted else array.ones([count])
        labels = math.to_float(array.reshape(targets, shape=[-1]))
        ids = features[self._settings["example_id_column"]]
        return self._train_step(sparse, dense, importance, labels, ids, loss_type, global_step)


def _each_id_once(ids, weights):
    """A sparse feature without ids below zero, and with each id once for an example: weights are added up."""
    weights = array.ones([array.shape(ids.indices)[0]], dtypes.float32) if weights is None else weights.values
    entries = array.reshape(ids.indices[:, 0], [-1]), math.to_int64(array.reshape(ids.values, [-1]))
    kept = math.greater_equal(entries[1], 0)
    features, examples, weights = (boolean_mask(part, kept) for part in (*entries[::-1], weights))
    # A number for each pair of example and id.
    count = math.reduce_max(features) + 1
    pairs, place = array.unique(count * examples + features)
    example_of = unsorted_segment_min(examples, place, array.shape(pairs)[0])
    feature_of = pairs - count * example_of
    return _Features(
        example_of, feature_of, array.reshape(unsorted_segment_sum(weights, place, array.shape(pairs)[0]), [-1])
    )


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
        model.layer._state_manager,
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
    hook = UpdateWeights()
    hook.model, hook.train_op = sdca_model, train_op
    return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, hook))
