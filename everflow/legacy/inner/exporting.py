"""tensorflow.python.saved_model.model_utils: modes of estimators and of Keras, and the signatures of what a model gives
in each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from everflow.estimator.export.outputs import EvalOutput, ExportOutput, PredictOutput, TrainOutput
from everflow.estimator.mode_keys import ModeKeys as EstimatorModeKeys
from everflow.estimator.saved_model_export import signatures_of
from everflow.estimator.saved_model_export import timestamped_dir as _timestamped_dir
from everflow.saved_model import signature_constants, tag_constants

MAX_DIRECTORY_CREATION_ATTEMPTS = 10
SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_RECEIVER_DEFAULT_NAME = "input"
SINGLE_LABEL_DEFAULT_NAME = "label"
_DEFAULT = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class KerasModeKeys:
    """What Keras calls training, evaluating and predicting."""

    TRAIN, TEST, PREDICT = "train", "test", "predict"


# Each mode of Keras, and what estimators call it.
_ESTIMATORS = {
    KerasModeKeys.TRAIN: EstimatorModeKeys.TRAIN,
    KerasModeKeys.TEST: EstimatorModeKeys.EVAL,
    KerasModeKeys.PREDICT: EstimatorModeKeys.PREDICT,
}


def is_train(mode: str) -> bool:
    """Whether a mode is training."""
    return mode == KerasModeKeys.TRAIN


def is_eval(mode: str) -> bool:
    """Whether a mode is evaluating, in either's words."""
    return mode in (KerasModeKeys.TEST, EstimatorModeKeys.EVAL)


def is_predict(mode: str) -> bool:
    """Whether a mode is predicting, in either's words."""
    return mode in (KerasModeKeys.PREDICT, EstimatorModeKeys.PREDICT)


class ModeKeyMap(Mapping):
    """Values by mode, whichever way a mode is called."""

    def __init__(self, **kwargs: Any) -> None:
        self._values = {self._name(mode): value for mode, value in kwargs.items()}
        if len(self._values) < len(kwargs):
            raise ValueError(f"Two of {sorted(kwargs)} are the same mode, which has one value")

    def _name(self, mode: str) -> str:
        for keras, estimator in _ESTIMATORS.items():
            if mode in (keras, estimator):
                return keras
        raise ValueError(f"There is no mode {mode!r}: the modes are {sorted({*_ESTIMATORS, *_ESTIMATORS.values()})}")

    def __getitem__(self, mode: str) -> Any:
        return self._values[self._name(mode)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


EXPORT_TAG_MAP = ModeKeyMap(train=[tag_constants.TRAINING], test=[tag_constants.EVAL], predict=[tag_constants.SERVING])
SIGNATURE_KEY_MAP = ModeKeyMap(train="train", test="eval", predict=_DEFAULT)


def build_all_signature_defs(
    receiver_tensors: Any,
    export_outputs: Mapping[str | None, ExportOutput],
    receiver_tensors_alternatives: Mapping[str, Any] | None = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """The signatures of outputs over inputs, and over other inputs with their names before."""

    def named(tensors: Any) -> dict[str, Any]:
        return tensors if isinstance(tensors, dict) else {SINGLE_RECEIVER_DEFAULT_NAME: tensors}

    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict, not {type(export_outputs)}")
    others = receiver_tensors_alternatives or {}
    if not isinstance(others, dict):
        raise ValueError(f"receiver_tensors_alternatives must be a dict, not {type(others)}")
    alternatives = {name: named(tensors) for name, tensors in others.items()}
    return signatures_of(export_outputs, named(receiver_tensors), alternatives, serving_only)


def export_outputs_for_mode(
    mode: str, serving_export_outputs: Any = None, predictions: Any = None, loss: Any = None, metrics: Any = None
) -> dict[str, ExportOutput]:
    """What a model gives in a mode, by the key of its signature."""
    if mode not in SIGNATURE_KEY_MAP._values and mode not in _ESTIMATORS.values():
        raise ValueError(f"There is no mode {mode!r}: the modes are {sorted({*_ESTIMATORS, *_ESTIMATORS.values()})}")
    if is_predict(mode):
        return get_export_outputs(serving_export_outputs, predictions)
    kind = TrainOutput if is_train(mode) else EvalOutput
    return {SIGNATURE_KEY_MAP[mode]: kind(loss=loss, predictions=predictions, metrics=metrics)}


def get_export_outputs(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """What a model gives when it is served, with a default: the only one there is, or the predictions."""
    if export_outputs is None:
        export_outputs = {_DEFAULT: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"export_outputs must be a dict, not {export_outputs!r}")
    if not all(isinstance(each, ExportOutput) for each in export_outputs.values()):
        raise TypeError(f"Values of export_outputs must be ExportOutputs: {export_outputs!r}")
    if _DEFAULT not in export_outputs:
        if len(export_outputs) != 1:
            raise ValueError(f"Of {sorted(export_outputs)} one must be named {_DEFAULT!r}: the default")
        export_outputs = {**export_outputs, _DEFAULT: next(iter(export_outputs.values()))}
    return export_outputs


def get_timestamped_export_dir(export_dir_base: str | bytes) -> bytes:
    """A folder below another, named by the second, that isn't there yet."""
    return _timestamped_dir(export_dir_base).encode()


def get_temp_export_dir(timestamped_export_dir: str | bytes) -> bytes:
    """Where an export is written until it is whole."""
    folder, name = os.path.split(os.fsdecode(timestamped_export_dir))
    return os.path.join(folder, f"temp-{name}").encode()
