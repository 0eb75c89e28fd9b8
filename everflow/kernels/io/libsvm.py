"""Lines of LibSVM's files: `tf.contrib.libsvm`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.registry import fresh
from everflow.kernels.tensors import from_numpy

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.tensors import Strings


@fresh("DecodeLibsvm")
def decode_libsvm(
    input: Strings, *, num_features: int, dtype: DType, label_dtype: DType
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    labels, places, values = [], [], []
    for line, text in zip(np.ndindex(input.shape), input.reshape(-1).tolist()):
        label, *features = text.split() or [None]
        if label is None:
            raise InvalidArgumentError(None, None, f"Line {list(line)} is {text!r}: a label is missing")
        labels.append(_number(label, label_dtype, f"the label of line {list(line)}"))
        for feature in features:
            place, colon, value = feature.partition(b":")
            if not (colon and place.isdigit()):
                raise InvalidArgumentError(None, None, f"{feature!r} in line {list(line)} is no feature: index:value")
            places.append((*line, int(place)))
            values.append(_number(value, dtype, f"{feature!r} in line {list(line)}"))
    return (
        from_numpy(np.array(labels, label_dtype.as_numpy_dtype).reshape(input.shape)),
        torch.tensor(places, dtype=torch.int64).reshape(-1, input.ndim + 1),
        from_numpy(np.array(values, dtype.as_numpy_dtype)),
        torch.tensor([*input.shape, num_features], dtype=torch.int64),
    )


def _number(text: bytes, dtype: DType, where: str) -> float | int:
    try:
        return int(text) if dtype.is_integer else float(text)
    except ValueError:
        raise InvalidArgumentError(None, None, f"{text!r} is no {dtype.name}: {where}") from None
