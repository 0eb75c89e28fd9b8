"""How a step grows an ensemble: statistics of splits are summed, over batches or at once, and the best are added."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import control_dependencies, name_scope
from everflow.ops import array, math
from everflow.ops.boosted_trees import update_ensemble
from everflow.ops.control_flow.functional_branches import functional_cond
from everflow.ops.control_flow.grouping import group, no_op
from everflow.ops.queues.accumulators import ConditionalAccumulator


def branch(pred, true_fn, false_fn, name=None):
    """`tf.cond` as an op that calls a function for each branch, whatever the graph draws otherwise."""
    with name_scope(name, "cond", [pred]) as scope:
        return functional_cond(convert_to_tensor(pred), true_fn, false_fn, scope)


class Grower:
    """Grows a layer from the statistics of one batch; `Accumulating` from those of several."""

    def __init__(self, ensemble, stamp_token, last_layer_nodes_range, tree_features, options):
        self._ensemble, self._stamp, self._newest = ensemble, stamp_token, last_layer_nodes_range
        self._groups = tree_features.groups
        self._options = options

    def center_bias(self, center_bias_needed, gradients, hessians):
        """An op that moves the bias towards what it should be."""
        means = [array.expand_dims(math.reduce_mean(x, 0), 0) for x in (gradients, hessians)]
        return center_bias_needed.assign(self._centered(*means))

    def grow(self, stats):
        """An op that adds a layer; `stats` has for each group the statistics of each of its features."""
        splits = [
            raw.BoostedTreesCalculateBestGainsPerFeature(
                self._newest,
                features,
                l1=self._options.l1_regularization,
                l2=self._options.l2_regularization,
                tree_complexity=self._options.tree_complexity,
                min_node_weight=self._options.min_node_weight,
                max_splits=self._options.max_splits,
            )
            for features in stats
        ]
        feature_ids = [feature for _, features in self._groups for feature in features]
        options = self._options
        return update_ensemble(
            self._ensemble, feature_ids, splits, options.max_depth, options.learning_rate, options.pruning_mode
        )

    def start(self):
        """An op that has to run before the first step."""
        return no_op()

    def _centered(self, gradients, hessians):
        regularization = self._options.l1_regularization, self._options.l2_regularization
        return raw.BoostedTreesCenterBias(self._ensemble.handle, gradients, hessians, *regularization)


class AccumulatingGrower(Grower):
    """Waits until so many batches are counted. Accumulators have a stamp: none counts for a layer that is done."""

    def __init__(
        self, ensemble, stamp_token, last_layer_nodes_range, tree_features, options, n_batches_per_layer, center_bias
    ):
        super().__init__(ensemble, stamp_token, last_layer_nodes_range, tree_features, options)
        self._batches = n_batches_per_layer
        self._starts = []
        self._accumulators = [
            self._accumulator([len(features), options.max_splits, buckets, 2], f"numeric_stats_summary_accumulator_{i}")
            for i, (buckets, features) in enumerate(self._groups)
        ]
        if center_bias:
            self._bias_accumulator = self._accumulator([2, options.logits_dimension], "bias_accumulator")

    def _accumulator(self, shape, shared_name):
        accumulator = ConditionalAccumulator(dtypes.float32, shape=shape, shared_name=shared_name)
        self._starts.append(accumulator.set_global_step(self._stamp))
        return accumulator

    def start(self):
        return group(self._starts)

    def center_bias(self, center_bias_needed, gradients, hessians):
        accumulator = self._bias_accumulator
        applied = accumulator.apply_grad(math.reduce_mean(array.stack([gradients, hessians]), axis=1), self._stamp)

        def center():
            means = array.unstack(accumulator.take_grad(1), num=2, axis=0)
            assigned = center_bias_needed.assign(self._centered(*(array.expand_dims(mean, 0) for mean in means)))
            with control_dependencies([assigned.op]):
                return branch(center_bias_needed, no_op, self._to_next_stamp)

        with control_dependencies([applied]):
            enough = math.greater_equal(accumulator.num_accumulated(), self._batches)
            return branch(enough, center, no_op, name="wait_until_n_batches_for_bias_accumulated")

    def _to_next_stamp(self):
        return group([accumulator.set_global_step(self._stamp + 1) for accumulator in self._accumulators])

    def grow(self, stats):
        applied = [
            accumulator.apply_grad(array.stack(features, axis=0), self._stamp)
            for accumulator, features in zip(self._accumulators, stats)
        ]

        def grow_layer():
            means = [array.unstack(accumulator.take_grad(1), axis=0) for accumulator in self._accumulators]
            return Grower.grow(self, means)

        with control_dependencies(applied):
            counted = math.reduce_min(
                array.stack([accumulator.num_accumulated() for accumulator in self._accumulators])
            )
            enough = math.greater_equal(counted, self._batches)
            return branch(enough, grow_layer, no_op, name="wait_until_n_batches_accumulated")
