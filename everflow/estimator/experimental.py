"""tf.estimator.experimental: early stopping, evaluation while training, and parts to build estimators from."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.estimator.canned.dnn import dnn_logit_fn_builder
from everflow.estimator.canned.kmeans import KMeans
from everflow.estimator.canned.linear import linear_logit_fn_builder
from everflow.estimator.canned.linear_sdca import LinearSDCA
from everflow.estimator.canned.logit_functions import call_logit_fn
from everflow.estimator.early_stopping import (
    make_early_stopping_hook,
    make_stop_at_checkpoint_step_hook,
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from everflow.estimator.export.receivers import build_raw_supervised_input_receiver_fn
from everflow.estimator.in_memory_evaluation import InMemoryEvaluatorHook
