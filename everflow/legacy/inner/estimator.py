"""Names that programs take from inside TensorFlow's modules of estimators."""

from __future__ import annotations

from typing import Any

from everflow.estimator.arguments import check_model_fn as _verify_model_fn_args
from everflow.estimator.early_stopping import _stop_variable as _get_or_create_stop_var
from everflow.estimator.early_stopping import _StopWhen as _StopOnPredicateHook
from everflow.estimator.early_stopping import _StopWhenTold as _CheckForStoppingHook
from everflow.estimator.input_functions import DatasetInitializerHook as _DatasetInitializerHook
from everflow.estimator.input_functions import features_and_labels as parse_iterator_result
from everflow.estimator.tpu.spec import TPUEstimatorSpec as _TPUEstimatorSpec
from everflow.framework.errors import NotFoundError
from everflow.framework.graph_keys import GraphKeys
from everflow.train.checkpoint_reader import NewCheckpointReader
from everflow.train.checkpoint_state import latest_checkpoint
from everflow.train.session_run_hook import SessionRunHook

__all__ = [
    "AVERAGE_LOSS_METRIC_KEY",
    "LOSS_METRIC_KEY",
    "MultiHostDatasetInitializerHook",
    "_CheckForStoppingHook",
    "_DatasetInitializerHook",
    "_StopOnPredicateHook",
    "_TPUEstimatorSpec",
    "_get_or_create_stop_var",
    "parse_iterator_result",
    "_load_global_step_from_checkpoint_dir",
    "_verify_model_fn_args",
]
LOSS_METRIC_KEY = "loss"
AVERAGE_LOSS_METRIC_KEY = "average_loss"


def _load_global_step_from_checkpoint_dir(checkpoint_dir: str) -> int:
    """The step of the latest checkpoint in a folder; 0 where there is none."""
    path = latest_checkpoint(checkpoint_dir)
    if path is None:
        return 0
    try:
        return int(NewCheckpointReader(path).get_tensor(GraphKeys.GLOBAL_STEP))
    except NotFoundError:
        return 0


class MultiHostDatasetInitializerHook(SessionRunHook):
    """Runs the initializers of all hosts' datasets when a session is made."""

    def __init__(self, dataset_initializers: list) -> None:
        self._initializers = dataset_initializers

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializers)
