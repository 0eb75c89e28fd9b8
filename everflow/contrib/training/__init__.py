"""tf.contrib.training: hyperparameters, training and evaluation loops, placement of variables, resampling."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

import importlib as _importlib

from everflow.contrib.training.bucketing import bucket, bucket_by_sequence_length
from everflow.contrib.training.hparams import HParams, parse_values
from everflow.contrib.training.placement import GreedyLoadBalancingStrategy, RandomStrategy, byte_size_load_fn
from everflow.contrib.training.rejection import rejection_sample
from everflow.contrib.training.resampling import resample_at_rate, weighted_resample
from everflow.contrib.training.sequence_batches import batch_sequences_with_states
from everflow.contrib.training.state_saver import NextQueuedSequenceBatch, SequenceQueueingStateSaver
from everflow.contrib.training.steps import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)
from everflow.contrib.training.stratified import stratified_sample
from everflow.train.eval_step import checkpoints_iterator, get_or_create_eval_step, wait_for_new_checkpoint

# Loaded when first touched: evaluation needs sessions with hooks, and hyperparameters should not wait for those.
_LATER = dict.fromkeys(
    ("StopAfterNEvalsHook", "SummaryAtEndHook", "evaluate_once", "evaluate_repeatedly"), "everflow.train.evaluation"
) | {"FeedingQueueRunner": "everflow.estimator.inputs.feeding"}


def __getattr__(name):
    if name in _LATER:
        return getattr(_importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'tensorflow.contrib.training' has no attribute {name!r}", name=name)
