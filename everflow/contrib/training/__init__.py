"""tf.contrib.training: hyperparameters, training and evaluation loops, placement of variables, resampling."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.contrib.training.bucketing import bucket, bucket_by_sequence_length
from everflow.contrib.training.checkpoints import checkpoints_iterator, get_or_create_eval_step, wait_for_new_checkpoint
from everflow.contrib.training.hparams import HParams, parse_values
from everflow.contrib.training.placement import GreedyLoadBalancingStrategy, RandomStrategy, byte_size_load_fn
from everflow.contrib.training.rejection import rejection_sample
from everflow.contrib.training.resampling import resample_at_rate, weighted_resample
from everflow.contrib.training.steps import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)

_EVALUATION = ("StopAfterNEvalsHook", "SummaryAtEndHook", "evaluate_once", "evaluate_repeatedly")


def __getattr__(name):
    # Evaluation needs sessions with hooks; hyperparameters should not wait for those to load.
    if name in _EVALUATION:
        from everflow.contrib.training import evaluation

        return getattr(evaluation, name)
    raise AttributeError(f"module 'tensorflow.contrib.training' has no attribute {name!r}", name=name)
