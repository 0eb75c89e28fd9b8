"""Names that programs take from inside TensorFlow's `keras.backend`: devices, layouts, normalization in its three forms,
and what Keras keeps of graphs and sessions.
"""

# ruff: noqa: F401  Names handed on are a purpose of this file.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.devices import DeviceSpec
from everflow.framework.operation import Tensor
from everflow.framework.scopes import default_graphs, get_default_graph
from everflow.keras.backend import nn, state
from everflow.keras.backend.arithmetic import constant_to_tensor as _constant_to_tensor
from everflow.keras.backend.convolution import _channels_last
from everflow.keras.backend.convolution import _padding as _preprocess_padding
from everflow.keras.backend.state import _initialized as _initialize_variables
from everflow.keras.backend.state import _session_config as get_default_session_config
from everflow.keras.backend.state import session_without_initializing as _get_session
from everflow.keras.utils.for_layers import is_symbolic_tensor as _is_symbolic_tensor
from everflow.ops import array
from everflow.ops.nn.normalization import batch_normalization, moments
from everflow.ops.variables.variable import Variable
from everflow.runtime.devices import gpu_count

_normalize = nn.normalize_batch_in_training


# --- devices and layouts --------------------------------------------------------------------------


class _TfDeviceCaptureOp:
    """A stand-in for an operation, which tells the device that it would be drawn for."""

    def __init__(self) -> None:
        self.device: str | None = None

    def _set_device(self, device: Any) -> None:
        self._set_device_from_string(device.to_string() if hasattr(device, "to_string") else device)

    def _set_device_from_string(self, device_str: str) -> None:
        self.device = device_str


def _get_current_tf_device() -> DeviceSpec:
    """The device that operations are drawn for now; without a type where none was said."""
    op = _TfDeviceCaptureOp()
    get_default_graph()._apply_device_functions(op)
    return DeviceSpec.from_string(op.device or "")


def _is_current_explicit_device(device_type: str) -> bool:
    """Whether operations are drawn for a device of a kind that the program named."""
    kind = device_type.upper()
    if kind not in ("CPU", "GPU"):
        raise ValueError(f"`device_type` is CPU or GPU, not {device_type!r}")
    return _get_current_tf_device().device_type == kind


def _get_available_gpus() -> list[str]:
    """The names of the GPUs of this process."""
    return [f"/device:GPU:{number}" for number in range(gpu_count())]


def _has_nchw_support() -> bool:
    """Whether operations drawn now may have channels before rows and columns: on GPUs, unless the CPU is asked for."""
    return bool(_get_available_gpus()) and not _is_current_explicit_device("CPU")


def _preprocess_conv1d_input(x: Any, data_format: str) -> tuple[Any, str]:
    """Inputs and their layout as convolutions take them."""
    return _channels_last(x, data_format, 1)


def _preprocess_conv2d_input(x: Any, data_format: str, force_transpose: bool = False) -> tuple[Any, str]:
    """Inputs and their layout as convolutions take them; channels are always last here."""
    return _channels_last(x, data_format, 2)


def _preprocess_conv3d_input(x: Any, data_format: str) -> tuple[Any, str]:
    """Inputs and their layout as convolutions take them."""
    return _channels_last(x, data_format, 3)


# --- normalization --------------------------------------------------------------------------------


def _fused_normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Any, Any, Any]:
    """(normalized images, mean, variance), by one operation."""
    return _normalize(x, gamma, beta, [0, 1, 2], epsilon)


def _regular_normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Any, Any, Any]:
    """(normalized values, mean, variance) over all axes but the last."""
    mean, variance = moments(x, reduction_axes, None, None, False)
    return batch_normalization(x, mean, variance, beta, gamma, epsilon), mean, variance


def _broadcast_normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Any, Any, Any]:
    """(normalized values, mean, variance) over any axes."""
    mean, variance = moments(x, reduction_axes, None, None, False)
    rank = x.shape.rank
    shape = array.stack([1 if axis in reduction_axes else array.shape(x)[axis] for axis in range(rank)])
    wide = [None if part is None else array.reshape(part, shape) for part in (mean, variance, beta, gamma)]
    return batch_normalization(x, *wide, epsilon), mean, variance


def _to_tensor(x: Any, dtype: Any) -> Tensor:
    """A tensor of a type."""
    return convert_to_tensor(x, dtype=dtype)


# --- graphs and what is kept of them --------------------------------------------------------------


def get_default_graph_uid_map() -> dict:
    """{(namespace, name): how often it was taken} in the default graph."""
    return state.state_of(default_graphs.drawn()).name_counts


def global_learning_phase_is_set() -> bool:
    """Whether the program fixed the learning phase for all models."""
    return state.fixed_learning_phase() is not None


def is_tpu_strategy(strategy: Any) -> bool:
    """Whether a strategy is one for TPUs."""
    return type(strategy).__name__.startswith("TPUStrategy")


def cast_variables_to_tensor(tensors: Sequence) -> list:
    """The same with the values of variables in place of them."""
    return [array.identity(x) if isinstance(x, Variable) and not isinstance(x, Tensor) else x for x in tensors]
