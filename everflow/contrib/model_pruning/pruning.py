"""When weights are pruned and how many: sparsity grows along a polynomial (Zhu and Gupta, 2017)."""

from __future__ import annotations

from everflow.contrib.model_pruning import masks
from everflow.contrib.training.hparams import HParams
from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.control_flow import cond, group, no_op
from everflow.ops.io import summaries
from everflow.ops.nn import activations as nn
from everflow.ops.nn.atrous import pool
from everflow.ops.nn.top_k import top_k
from everflow.ops.variables import assign as state
from everflow.ops.variables import initializers
from everflow.ops.variables import scope as scopes
from everflow.ops.variables.global_step import get_global_step
from everflow.platform import logging


def get_pruning_hparams():
    """The settings of `Pruning` with their defaults. Steps are global; end_pruning_step=-1 means forever."""
    return HParams(
        name="model_pruning",
        begin_pruning_step=0,
        end_pruning_step=-1,
        weight_sparsity_map=[""],
        block_dims_map=[""],
        threshold_decay=0.0,
        pruning_frequency=10,
        nbins=256,
        block_height=1,
        block_width=1,
        block_pooling_function="AVG",
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        use_tpu=False,
    )


class Pruning:
    """Updates the masks of a model while it is trained.

    >>> hparams = tf.contrib.model_pruning.get_pruning_hparams().parse("target_sparsity=0.9,end_pruning_step=10000")
    >>> update = tf.contrib.model_pruning.Pruning(hparams, global_step=global_step).conditional_mask_update_op()
    """

    def __init__(self, spec=None, global_step=None, sparsity=None):
        self._spec = spec if spec is not None else get_pruning_hparams()
        self._global_step = math.cast(get_global_step() if global_step is None else global_step, dtypes.int32)
        self._sparsity_of_name = _parsed(self._spec.weight_sparsity_map, float)
        self._block_of_name = _parsed(self._spec.block_dims_map, lambda text: [int(side) for side in text.split("x")])
        self._sparsity = self._sparsity_now() if sparsity is None else sparsity
        with scopes.variable_scope(self._spec.name, use_resource=self._spec.use_tpu):
            settings = {"trainable": False, "collections": [GraphKeys.GLOBAL_VARIABLES], "dtype": dtypes.int32}
            zeros = initializers.zeros_initializer()
            self._last_update_step = scopes.get_variable("last_mask_update_step", [], initializer=zeros, **settings)

    def print_hparams(self):
        """Log the settings."""
        logging.info(self._spec.to_json())

    def _sparsity_now(self):
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        if begin > end:
            raise ValueError(f"Sparsity can't grow from step {begin} to {end}: sparsity_function_end_step is earlier")
        with name_scope(spec.name):
            passed = math.div(math.cast(self._global_step - begin, dtypes.float32), end - begin)
            share = math.minimum(1.0, math.maximum(0.0, passed))
            power = math.pow(1 - share, spec.sparsity_function_exponent)
            left = math.multiply(spec.initial_sparsity - spec.target_sparsity, power)
            return math.add(left, spec.target_sparsity, name="sparsity")

    # --- masks

    def _threshold_of(self, values, sparsity):
        """The value that so many of the values are below."""
        count = math.cast(array.size(values), dtypes.float32)
        kept = math.cast(math.round(count * (1 - sparsity)), dtypes.int32)
        descending, _ = top_k(array.reshape(values, [-1]), k=array.size(values))
        return array.gather(descending, kept - 1)

    def _sparsity_of(self, name):
        matching = [target for key, target in self._sparsity_of_name.items() if key in name]
        if not matching:
            return self._sparsity
        return math.multiply(self._sparsity, math.div(matching[0], self._spec.target_sparsity))

    def _new_mask(self, weights, threshold, name):
        """(threshold, mask): values count by size; the threshold moves slowly where it decays."""
        with name_scope(f"{name}_pruning_ops"):
            sizes = math.abs(weights)
            found = self._threshold_of(sizes, self._sparsity_of(name))
            decay = self._spec.threshold_decay
            smooth = math.add_n([math.multiply(found, 1 - decay), math.multiply(threshold, decay)])
            return smooth, math.cast(math.greater_equal(sizes, smooth), dtypes.float32)

    def _new_block_mask(self, weights, threshold, name):
        squeezed = array.squeeze(weights)
        block = next(
            (dims for key, dims in self._block_of_name.items() if key in name),
            [self._spec.block_height, self._spec.block_width],
        )
        if squeezed.shape.ndims != 2 or block == [1, 1]:
            return self._new_mask(weights, threshold, name)
        for side, unit in zip(squeezed.shape.as_list(), block):
            if side % unit:
                raise ValueError(
                    f"The weights {name} of shape {squeezed.shape} can't be cut into blocks of {block[0]}x{block[1]}"
                )
        images = array.reshape(math.abs(squeezed), [1, *squeezed.shape.as_list(), 1])
        kind = self._spec.block_pooling_function
        pooled = pool(images, window_shape=block, pooling_type=kind, strides=block, padding="SAME")
        smooth, mask = self._new_mask(array.squeeze(pooled, axis=[0, 3]), threshold, name)
        rows = array.reshape(mask, [mask.shape.size(0), 1, mask.shape.size(1), 1])
        whole = array.tile(rows, [1, block[0], 1, block[1]])
        return smooth, array.reshape(whole, weights.shape)

    def mask_update_op(self):
        """An op that makes all masks anew."""
        with name_scope(self._spec.name):
            updates = []
            for weights, mask, threshold in zip(masks.get_weights(), masks.get_masks(), masks.get_thresholds()):
                new_threshold, new_mask = self._new_block_mask(weights, threshold, weights.op.name)
                updates.append(state.assign(threshold, new_threshold, name=f"{threshold.op.name}_assign"))
                updates.append(state.assign(mask, new_mask, name=f"{mask.op.name}_assign"))
            updates.append(state.assign(self._last_update_step, self._global_step, name="last_mask_update_step_assign"))
            return group(*updates, name="mask_update")

    def _is_due(self):
        spec = self._spec
        with name_scope(spec.name):
            begun = math.greater_equal(self._global_step, spec.begin_pruning_step)
            before_end = math.less_equal(self._global_step, spec.end_pruning_step)
            within = math.logical_and(begun, math.logical_or(before_end, math.less(spec.end_pruning_step, 0)))
            due = math.less_equal(math.add(self._last_update_step, spec.pruning_frequency), self._global_step)
            return math.logical_and(within, due)

    def conditional_mask_update_op(self):
        """`mask_update_op`, run only at the steps when it is due."""
        return cond(self._is_due(), self.mask_update_op, no_op)

    def add_pruning_summaries(self):
        """Scalar summaries of the sparsity wanted, and of sparsity and threshold of each layer."""
        with name_scope(f"{self._spec.name}_summaries"):
            summaries.scalar("sparsity", self._sparsity)
            summaries.scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(masks.get_masks(), masks.get_thresholds()):
                summaries.scalar(f"{mask.op.name}/sparsity", nn.zero_fraction(mask))
                summaries.scalar(f"{threshold.op.name}/threshold", threshold)


def _parsed(entries, convert):
    """{name: value} of entries "name:value"."""
    found = {}
    for entry in entries:
        if entry:
            name, colon, value = entry.partition(":")
            if not colon:
                raise ValueError(f"Expected an entry `name:value`, got {entry!r}")
            found[name] = convert(value)
    return found
