"""Names that programs take from inside tensorflow.python.ops.signal.mel_ops: the scale's numbers, and the way back."""

from __future__ import annotations

from typing import Any

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.ops import math
from everflow.ops.math.signal import _MEL_BREAK_HERTZ as _MEL_BREAK_FREQUENCY_HERTZ
from everflow.ops.math.signal import _MEL_HIGH_Q as _MEL_HIGH_FREQUENCY_Q
from everflow.ops.math.signal import _check_mel as _validate_arguments
from everflow.ops.math.signal import _hertz_to_mel

__all__ = [
    "_MEL_BREAK_FREQUENCY_HERTZ",
    "_MEL_HIGH_FREQUENCY_Q",
    "_hertz_to_mel",
    "_mel_to_hertz",
    "_validate_arguments",
]


def _mel_to_hertz(mel_values: Any, name: str | None = None) -> Tensor:
    """Frequencies of places on the mel scale."""
    with name_scope(name, "mel_to_hertz", [mel_values]):
        places = convert_to_tensor(mel_values)
        return _MEL_BREAK_FREQUENCY_HERTZ * (math.exp(places / _MEL_HIGH_FREQUENCY_Q) - 1.0)
