"""Names that programs take from inside TensorFlow's modules of estimators."""

from __future__ import annotations

from everflow.estimator.arguments import check_model_fn as _verify_model_fn_args
from everflow.estimator.tpu.spec import TPUEstimatorSpec as _TPUEstimatorSpec
from everflow.framework.errors import NotFoundError
from everflow.framework.graph_keys import GraphKeys
from everflow.train.checkpoint_reader import NewCheckpointReader
from everflow.train.checkpoint_state import latest_checkpoint

__all__ = [
    "AVERAGE_LOSS_METRIC_KEY",
    "LOSS_METRIC_KEY",
    "_TPUEstimatorSpec",
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
