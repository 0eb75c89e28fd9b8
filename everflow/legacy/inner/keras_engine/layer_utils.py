"""Names that programs and tests take from inside TensorFlow's `keras.utils.layer_utils`, `vis_utils` and `io_utils`."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from everflow.keras.engine.network import Network
from everflow.keras.layers.wrappers import Wrapper, is_builtin_layer  # noqa: F401  a name that is served
from everflow.keras.saving.hdf5 import ask_to_proceed_with_overwrite  # noqa: F401  another

# --- layer_utils ---------------------------------------------------------------------------------


def gather_trainable_weights(trainable: bool, sub_layers: Iterable, extra_variables: Iterable) -> list[Any]:
    """The weights that training changes: those of layers, and variables besides."""
    if not trainable:
        return []
    return [w for layer in sub_layers for w in layer.trainable_weights] + [v for v in extra_variables if v.trainable]


def gather_non_trainable_weights(trainable: bool, sub_layers: Sequence, extra_variables: Sequence) -> list[Any]:
    """The weights that training leaves alone; all of them where nothing is trained."""
    fixed = [w for layer in sub_layers for w in layer.non_trainable_weights]
    if not trainable:
        trained = [w for layer in sub_layers for w in layer.trainable_weights]
        return trained + fixed + list(extra_variables)
    return fixed + [v for v in extra_variables if not v.trainable]


def convert_dense_weights_data_format(
    dense: Any, previous_feature_map_shape: Sequence[int], target_data_format: str = "channels_first"
) -> None:
    """Reorder the rows of a Dense layer behind a Flatten, for feature maps whose channels lie elsewhere now."""
    if target_data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Data is channels_last or channels_first, not {target_data_format!r}.")
    kernel, *bias = dense.get_weights()
    to_first = target_data_format == "channels_first"
    channels, rows, columns = np.roll(previous_feature_map_shape, 0 if to_first else 1)
    held = (rows, columns, channels) if to_first else (channels, rows, columns)
    order = (2, 0, 1) if to_first else (1, 2, 0)
    maps = kernel.reshape(*held, -1).transpose(*order, 3)
    dense.set_weights([maps.reshape(kernel.shape), *bias])


# --- vis_utils -----------------------------------------------------------------------------------


def check_pydot() -> bool:
    """Whether pydot is there to draw models."""
    return importlib.util.find_spec("pydot") is not None


def is_wrapped_model(layer: Any) -> bool:
    """Whether a layer wraps a model."""
    return isinstance(layer, Wrapper) and isinstance(layer.layer, Network)


def add_edge(dot: Any, src: str, dst: str) -> None:
    """An edge in a picture, where there isn't one yet."""
    if not dot.get_edge(src, dst):
        edge = importlib.import_module("pydot").Edge(src, dst)
        dot.add_edge(edge)
