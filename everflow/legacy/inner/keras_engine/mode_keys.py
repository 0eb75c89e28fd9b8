"""`tensorflow.python.keras.utils.mode_keys`: what a model is run for."""

from __future__ import annotations

from everflow.estimator.mode_keys import ModeKeys as _EstimatorModeKeys


class ModeKeys:
    """What a Keras model is run for."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"


EstimatorModeKeys = _EstimatorModeKeys


def is_predict(mode: str) -> bool:
    """Whether it is to predict."""
    return mode in (ModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


def is_eval(mode: str) -> bool:
    """Whether it is tested."""
    return mode in (ModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_train(mode: str) -> bool:
    """Whether it is trained."""
    return mode == ModeKeys.TRAIN
