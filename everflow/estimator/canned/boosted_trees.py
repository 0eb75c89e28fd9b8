"""Gradient boosted trees over columns: `BoostedTreesClassifier`, `BoostedTreesRegressor`, `BoostedTreesEstimator`.

Trees grow a layer at a time. A step counts a batch for the layer; when enough were counted, the layer is added.
`boosted_trees_features` has what features become, `boosted_trees_growth` how a layer is grown,
`boosted_trees_explanations` what can be asked of a trained model.
"""

from __future__ import annotations

import collections

from everflow.estimator.canned.boosted_trees_explanations import Explained
from everflow.estimator.canned.boosted_trees_features import TreeFeatures, weights_of_quantiles
from everflow.estimator.canned.boosted_trees_growth import AccumulatingGrower, Grower, branch
from everflow.estimator.canned.classification_heads import BinaryHead, binary_or_multi_class_head
from everflow.estimator.canned.head_inputs import checked_labels
from everflow.estimator.canned.regression_heads import RegressionHead
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.losses import Reduction
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.boosted_trees import QuantileAccumulator, TreeEnsemble
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.gradients.reverse import gradients
from everflow.ops.io import summaries
from everflow.ops.queues.accumulators import ConditionalAccumulator
from everflow.ops.variables.global_step import get_or_create_global_step
from everflow.ops.variables.resource import ResourceVariable
from everflow.ops.variables.variable import enable_resource_variables
from everflow.platform.signatures import constructor, parameters
from everflow.train.session_run_hook import SessionRunHook

_GROWTH = """n_trees max_depth learning_rate l1_regularization l2_regularization tree_complexity min_node_weight
    center_bias pruning_mode"""
_Options = collections.namedtuple("_Options", f"{_GROWTH} logits_dimension max_splits")
_Model = collections.namedtuple(
    "_Model",
    "head tree_features options epsilon closed_form n_batches_per_layer weight_column train_in_memory",
    defaults=[False],
)


def _boosted_trees_model_fn(features, labels, mode, model, explain):
    """The model function: trees are asked for logits, and in training they grow."""
    head, tree_features, options = model.head, model.tree_features, model.options
    with name_scope("boosted_trees") as name:
        ensemble = TreeEnsemble(name=name)
        quantiles, boundaries = None, ()
        if tree_features.numeric_columns:
            quantiles = QuantileAccumulator(model.epsilon, tree_features.num_numeric, tree_features.num_quantiles)
            boundaries = quantiles.get_bucket_boundaries()
        if mode != ModeKeys.TRAIN:
            buckets = tree_features.transform(features, boundaries)
            logits = raw.BoostedTreesPredict(ensemble.handle, buckets, logits_dimension=head.logits_dimension)
            spec = head.create_estimator_spec(
                features=features, mode=mode, labels=labels, train_op_fn=no_op, logits=logits
            )
            if explain:
                debug = raw.BoostedTreesExampleDebugOutputs(
                    ensemble.handle, buckets, logits_dimension=head.logits_dimension
                )
                spec = spec._replace(predictions={**spec.predictions, Explained.DEBUG_KEY: debug})
            return spec
        no_op()
        step = _Step(features, labels, model, ensemble, quantiles, boundaries)
        logits = step.draw()
    spec = head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=step.train_op, logits=logits
    )
    hooks = (
        *spec.training_hooks,
        _StopAtAttemptsHook(step.finalized_trees, step.attempted_layers, options.n_trees, options.max_depth),
    )
    chief_hooks = (_StartHook(step.grower.start()), *spec.training_chief_hooks)
    return spec._replace(training_hooks=hooks, training_chief_hooks=chief_hooks)


class _Step:
    """The graph of a training step."""

    def __init__(self, features, labels, model, ensemble, quantiles, boundaries):
        self._features, self._labels, self._model = features, labels, model
        self._head, self._tree_features, self._options = model.head, model.tree_features, model.options
        self._ensemble, self._quantiles, self._boundaries = ensemble, quantiles, boundaries
        self._cache = self._cached = None

    def draw(self):
        """The logits of the batch, with what its op will need."""
        self._boundaries_ready = _flag(self._quantiles is None, "are_boundaries_ready")
        if self._model.train_in_memory:
            batch_size = array.shape(self._labels)[0]
            self._buckets, self._cached = self._remembered_buckets(batch_size)
            self._cache = _Cache(batch_size, self._head.logits_dimension)
            tree_ids, node_ids, logits = self._cache.variables
        else:
            self._buckets = self._tree_features.transform(self._features, self._boundaries)
            tree_ids, node_ids, logits = _nothing_cached(array.shape(self._labels)[0], self._head.logits_dimension)
        with control_dependencies([no_op()]):
            stamp, num_trees, self.finalized_trees, self.attempted_layers, newest = self._ensemble.get_states()
            partial, self._tree_ids, self._node_ids = raw.BoostedTreesTrainingPredict(
                self._ensemble.handle, tree_ids, node_ids, self._buckets, logits_dimension=self._head.logits_dimension
            )
        self._logits = logits + partial
        common = self._ensemble, stamp, newest, self._tree_features, self._options
        if self._model.train_in_memory:
            self.grower = Grower(*common)
        else:
            self.grower = AccumulatingGrower(*common, self._model.n_batches_per_layer, self._options.center_bias)
        self._stamp = stamp
        summaries.scalar("ensemble/num_trees", num_trees)
        summaries.scalar("ensemble/num_finalized_trees", self.finalized_trees)
        summaries.scalar("ensemble/num_attempted_layers", self.attempted_layers)
        self._center_bias_needed = _flag(self._options.center_bias, "center_bias_needed")
        column = self._model.weight_column
        self._weights = constant([1.0]) if column is None else weights_of_quantiles(self._features, column)
        return self._logits

    def _remembered_buckets(self, batch_size):
        """(the features' buckets, an op that remembers them). They are remembered while the boundaries aren't ready."""
        count = len(self._tree_features.names)
        cached = [
            ResourceVariable(array.zeros([batch_size], dtype=dtypes.int32), name=f"cached_feature_{i}", trainable=False)
            for i in range(count)
        ]
        are_cached = _flag(False, "are_features_cached")

        def transform():
            return self._tree_features.transform(self._features, self._boundaries)

        def recall():
            return branch(are_cached, from_memory, remember)

        def from_memory():
            done = no_op()
            return [variable.value() for variable in cached], done

        def remember():
            buckets = transform()
            assigned = [variable.assign(bucket) for variable, bucket in zip(cached, buckets)]
            with control_dependencies([x.op for x in assigned]):
                done = are_cached.assign(True)
            return assigned, done

        return branch(self._boundaries_ready, lambda: (transform(), no_op()), recall)

    def train_op(self, loss):
        """The op of the step: grows trees, or counts for the boundaries of buckets while there are none."""
        if self._quantiles is None:
            return self._grow(loss)
        grown = branch(self._boundaries_ready, lambda: self._grow(loss), self._update_quantiles)
        if self._cached is not None:
            # Within the function the op that remembers buckets is out of reach: the call waits for it.
            grown.op.inputs[0].op._add_control_input(self._cached.op)
        return grown

    def _grow(self, loss):
        done = []
        if self._cache is not None:
            done = [self._update_cache()] if self._quantiles is not None else [self._cached, self._update_cache()]
        if self._model.closed_form is None:
            first = gradients(loss, self._logits, name="Gradients")[0]
            second = gradients(first, self._logits, name="Hessians")[0]
        else:
            first, second = self._model.closed_form(self._logits, self._labels)
        stats = [
            [
                array.squeeze(
                    raw.BoostedTreesMakeStatsSummary(
                        self._node_ids,
                        first,
                        second,
                        [self._buckets[feature]],
                        max_splits=self._options.max_splits,
                        num_buckets=buckets,
                    ),
                    axis=0,
                )
                for feature in features
            ]
            for buckets, features in self._tree_features.groups
        ]
        if self._options.center_bias:
            grown = branch(
                self._center_bias_needed,
                lambda: self.grower.center_bias(self._center_bias_needed, first, second),
                lambda: self.grower.grow(stats),
            )
        else:
            grown = self.grower.grow(stats)
        with control_dependencies([grown]):
            stepped = get_or_create_global_step().assign_add(1)
        return group(*done, grown, stepped, name="grow_op")

    def _update_cache(self):
        """While the bias moves, what was cached would be wrong."""
        return branch(
            self._center_bias_needed, no_op, lambda: self._cache.insert(self._tree_ids, self._node_ids, self._logits)
        )

    def _update_quantiles(self):
        with name_scope("UpdateQuantile"):
            added = self._quantiles.add_summaries(self._tree_features.numbers(self._features), self._weights)
            if self._model.train_in_memory:
                with control_dependencies([added]), control_dependencies([self._quantiles.flush()]):
                    return self._boundaries_ready.assign(True).op
            accumulator = ConditionalAccumulator(dtypes.float32, shape=[], shared_name="quantile_summary_accum")
            started = accumulator.set_global_step(self._stamp)
            counted = accumulator.apply_grad(0.0, self._stamp)

            def make_boundaries():
                return group(accumulator.take_grad(1), self._quantiles.flush(), self._boundaries_ready.assign(True).op)

            with control_dependencies([group(added, started, counted)]):
                enough = math.greater_equal(accumulator.num_accumulated(), self._model.n_batches_per_layer)
                return branch(enough, make_boundaries, no_op, name="wait_until_quaniles_accumulated")


def _flag(value, name):
    return ResourceVariable(value, name=name, trainable=False)


def _nothing_cached(batch_size, logits_dimension):
    """(trees, nodes, logits) of examples that no tree has seen."""
    return (
        array.zeros([batch_size], dtype=dtypes.int32),
        -1 * array.ones([batch_size], dtype=dtypes.int32),
        array.zeros([batch_size, logits_dimension]),
    )


class _Cache:
    """Where each example was left, and its logits there, when all examples are in one batch."""

    def __init__(self, batch_size, logits_dimension):
        values = {
            "tree_ids_cache": lambda: array.zeros([batch_size], dtype=dtypes.int32),
            "node_ids_cache": lambda: -1 * array.ones([batch_size], dtype=dtypes.int32),
            "logits_cache": lambda: array.zeros([batch_size, logits_dimension]),
        }
        self.variables = [ResourceVariable(value(), name=name, trainable=False) for name, value in values.items()]

    def insert(self, *values):
        return group(
            [variable.assign(value).op for variable, value in zip(self.variables, values)], name="cache_insert"
        )


class _StopAtAttemptsHook(SessionRunHook):
    """Ends training when there are enough trees, or too many layers were tried in vain."""

    def __init__(self, finalized_trees, attempted_layers, n_trees, max_depth):
        self._wanted = [finalized_trees, attempted_layers]
        self._n_trees, self._max_attempts = n_trees, 2 * n_trees * max_depth

    def after_run(self, run_context, run_values):
        trees, attempts = run_context.session.run(self._wanted)
        if trees >= self._n_trees or attempts > self._max_attempts:
            run_context.request_stop()


class _StartHook(SessionRunHook):
    """Runs an op when a session was made."""

    def __init__(self, op):
        self._op = op

    def after_create_session(self, session, coord):
        session.run(self._op)


def _binary_gradients(logits, labels):
    """(first, second derivative) of the mean logistic loss."""
    probabilities = math.reciprocal(math.exp(-logits) + 1.0)
    normalizer = math.reciprocal(math.cast(array.size(probabilities), dtypes.float32))
    labels = checked_labels(math.cast(labels, dtypes.float32), logits, 1)
    first = (probabilities - labels) * normalizer
    return first, probabilities * (1.0 - probabilities) * normalizer


class _BoostedTreesBase(Explained, Estimator):
    """What all three share."""

    def _set_up(self, feature_columns, head, model_dir, config, quantile_sketch_epsilon, closed_form=None, **settings):
        growth = {name: settings.pop(name) for name in _GROWTH.split()}
        if growth["pruning_mode"] == "none" and growth["tree_complexity"] > 0:
            raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
        tree_features = TreeFeatures(feature_columns, round(1.0 / quantile_sketch_epsilon))
        options = _Options(**growth, logits_dimension=head.logits_dimension, max_splits=(1 << growth["max_depth"]) - 1)
        model = _Model(head, tree_features, options, quantile_sketch_epsilon, closed_form, **settings)

        def model_fn(features, labels, mode):
            return _boosted_trees_model_fn(features, labels, mode, model, self._explains)

        # Functions can change no other variables. As in TensorFlow, the program has them from now on.
        enable_resource_variables()
        Explained.__init__(
            self, tree_features.names, options.center_bias, gives_probabilities=isinstance(head, BinaryHead)
        )
        Estimator.__init__(self, model_fn=model_fn, model_dir=model_dir, config=config)


# The default of an argument that mustn't be None.
ONE_LOGIT = object()


_PARAMETERS = parameters(
    """feature_columns, n_batches_per_layer, head, model_dir=None, n_classes=ONE_LOGIT, label_dimension=ONE_LOGIT,
    weight_column=None, label_vocabulary=None, n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0,
    l2_regularization=0.0, tree_complexity=0.0, min_node_weight=0.0, config=None, center_bias=False,
    pruning_mode="none", quantile_sketch_epsilon=0.01, train_in_memory=False""",
    ONE_LOGIT=ONE_LOGIT,
)


def _takes_all_but(*names):
    """Decorator of a constructor: it takes the parameters of boosted trees, but for some."""
    taken = {name: default for name, default in _PARAMETERS.items() if name not in names}
    return lambda body: constructor(taken, body)


class BoostedTreesClassifier(_BoostedTreesBase):
    """Boosted trees that tell two classes apart.

    Args:
        feature_columns: The feature columns that the model sees.
        n_batches_per_layer: How many batches are looked at before a layer of the trees is grown.
        model_dir: The folder of checkpoints and event files.
        n_classes: How many classes there are: 2.
        weight_column: The feature that says how much each example counts.
        label_vocabulary: The labels as strings; None for whole numbers from 0.
        n_trees: How many trees are grown.
        max_depth: How deep a tree may be.
        learning_rate: How much each tree counts.
        l1_regularization: The cost of the absolute value of a leaf.
        l2_regularization: The cost of the square of a leaf.
        tree_complexity: The cost of each leaf more.
        min_node_weight: The least weight that a node's examples have together.
        config: A `tf.estimator.RunConfig`: where and how to run.
        center_bias: Whether the mean of the labels is predicted before the first tree.
        pruning_mode: `none`, `pre` or `post`: when branches that don't help are cut.
        quantile_sketch_epsilon: How exact the buckets of float features are.
        train_in_memory: Whether all data is kept in memory while training.

    Example:
        >>> column = tf.feature_column.numeric_column("x")
        >>> x = tf.feature_column.bucketized_column(column, [0.5])
        >>> classifier = tf.estimator.BoostedTreesClassifier([x], n_batches_per_layer=1, n_trees=1, model_dir="model")
        >>> type(classifier).__name__
        'BoostedTreesClassifier'
    """

    @_takes_all_but("head", "label_dimension")
    def __init__(self, n_classes, weight_column, label_vocabulary, **given):
        if n_classes not in (ONE_LOGIT, 2):
            raise ValueError("For now pruning is not supported with multi class.")
        head = binary_or_multi_class_head(2, weight_column, label_vocabulary, Reduction.SUM_OVER_BATCH_SIZE)
        closed_form = _binary_gradients if weight_column is None and label_vocabulary is None else None
        self._set_up(head=head, weight_column=weight_column, closed_form=closed_form, **given)


class BoostedTreesRegressor(_BoostedTreesBase):
    """Boosted trees that predict a number.

    Args:
        feature_columns: The feature columns that the model sees.
        n_batches_per_layer: How many batches are looked at before a layer of the trees is grown.
        model_dir: The folder of checkpoints and event files.
        label_dimension: How many numbers are to be predicted for each example: 1.
        weight_column: The feature that says how much each example counts.
        n_trees: How many trees are grown.
        max_depth: How deep a tree may be.
        learning_rate: How much each tree counts.
        l1_regularization: The cost of the absolute value of a leaf.
        l2_regularization: The cost of the square of a leaf.
        tree_complexity: The cost of each leaf more.
        min_node_weight: The least weight that a node's examples have together.
        config: A `tf.estimator.RunConfig`: where and how to run.
        center_bias: Whether the mean of the labels is predicted before the first tree.
        pruning_mode: `none`, `pre` or `post`: when branches that don't help are cut.
        quantile_sketch_epsilon: How exact the buckets of float features are.
        train_in_memory: Whether all data is kept in memory while training.

    Example:
        >>> x = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [0.5])
        >>> regressor = tf.estimator.BoostedTreesRegressor([x], n_batches_per_layer=1, n_trees=1, model_dir="model")
        >>> type(regressor).__name__
        'BoostedTreesRegressor'
    """

    @_takes_all_but("head", "n_classes", "label_vocabulary")
    def __init__(self, label_dimension, weight_column, **given):
        if label_dimension not in (ONE_LOGIT, 1):
            raise ValueError("For now pruning is not supported with multi-dimension regression.")
        head = RegressionHead(1, weight_column, Reduction.SUM_OVER_BATCH_SIZE)
        self._set_up(head=head, weight_column=weight_column, **given)


class BoostedTreesEstimator(_BoostedTreesBase):
    """Boosted trees for any head of one logit.

    Args:
        feature_columns: The feature columns that the model sees.
        n_batches_per_layer: How many batches are looked at before a layer of the trees is grown.
        head: What turns the model's result into predictions and a loss: a head of `tf.contrib.estimator`.
        model_dir: The folder of checkpoints and event files.
        weight_column: The feature that says how much each example counts.
        n_trees: How many trees are grown.
        max_depth: How deep a tree may be.
        learning_rate: How much each tree counts.
        l1_regularization: The cost of the absolute value of a leaf.
        l2_regularization: The cost of the square of a leaf.
        tree_complexity: The cost of each leaf more.
        min_node_weight: The least weight that a node's examples have together.
        config: A `tf.estimator.RunConfig`: where and how to run.
        center_bias: Whether the mean of the labels is predicted before the first tree.
        pruning_mode: `none`, `pre` or `post`: when branches that don't help are cut.
        quantile_sketch_epsilon: How exact the buckets of float features are.

    Example:
        >>> x = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [0.5])
        >>> head = tf.contrib.estimator.regression_head()
        >>> type(tf.estimator.BoostedTreesEstimator([x], 1, head, model_dir="model")).__name__
        'BoostedTreesEstimator'
    """

    @_takes_all_but("n_classes", "label_dimension", "label_vocabulary", "train_in_memory")
    def __init__(self, **given):
        self._set_up(**given)
