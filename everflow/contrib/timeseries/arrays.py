"""Series that programs give as numpy arrays, brought to one form."""

from __future__ import annotations

import numpy as np

from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def canonical_arrays(data, require_single_batch=True):
    """{name: array `[batch, steps, features]`} (times: `[batch, steps]`) of arrays that may lack the batch, and values the
    last dimension, too.
    """
    missing = [name for name in (_TIMES, _VALUES) if name not in data]
    if missing:
        raise ValueError(f"A series has '{_TIMES}' and '{_VALUES}'; {missing} is not among {sorted(data)}")
    features = {name: np.asarray(value) for name, value in data.items()}
    times = features[_TIMES]
    for name, value in features.items():
        if value.shape[: times.ndim] != times.shape:
            raise ValueError(
                f"Feature '{name}' has shape {value.shape}, which doesn't begin as that of the times, {times.shape}"
            )
    batched = times.ndim == 2
    most = 3 if batched else 2
    if times.ndim not in (1, 2) or features[_VALUES].ndim > most:
        raise ValueError(
            f"With times of shape {times.shape}, values have at most {most} dimensions, not shape {features[_VALUES].shape}"
        )
    if features[_VALUES].ndim == most - 1:
        features[_VALUES] = features[_VALUES][..., None]
    if not batched:
        features = {name: value[None] for name, value in features.items()}
    if require_single_batch and features[_TIMES].shape[0] != 1:
        raise ValueError(f"One series is wanted, not a batch of {features[_TIMES].shape[0]}")
    return features
