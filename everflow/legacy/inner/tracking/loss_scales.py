"""Names that programs take from inside TensorFlow's `training.experimental.loss_scale`."""

from __future__ import annotations

from everflow.ops.variables.variable import Variable
from everflow.train.loss_scale import LossScale
from everflow.train.loss_scale import _all_finite as _is_all_finite
from everflow.train.loss_scale import as_loss_scale as get

__all__ = ["_is_all_finite", "get", "get_loss_scale_weights"]


def get_loss_scale_weights(loss_scale: LossScale) -> list[Variable]:
    """The variables in which a loss scale keeps what it has seen."""
    return list(loss_scale._weights.values())
