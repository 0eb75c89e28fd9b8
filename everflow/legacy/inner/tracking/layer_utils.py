"""Names that programs take from inside TensorFlow's `training.tracking.layer_utils`: weights of what holds layers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from everflow.keras.engine.tracked_attributes import is_layer
from everflow.ops.variables.variable import Variable

__all__ = [
    "filter_empty_layer_containers",
    "gather_non_trainable_weights",
    "gather_trainable_weights",
    "has_weights",
    "is_layer",
]


def has_weights(obj: Any) -> bool:
    """Whether something has weights, as layers and what holds them do."""
    return hasattr(obj, "trainable_weights") and hasattr(obj, "non_trainable_weights")


def filter_empty_layer_containers(layer_list: Iterable[Any]) -> list:
    """The layers of a list, with those in containers in their containers' place, each once."""
    found: dict[int, Any] = {}
    waiting = list(reversed(list(layer_list)))
    while waiting:
        thing = waiting.pop()
        if is_layer(thing):
            found.setdefault(id(thing), thing)
        elif id(thing) not in found:
            waiting += reversed(getattr(thing, "layers", []))
    return list(found.values())


def gather_trainable_weights(trainable: bool, sub_layers: Iterable[Any], extra_variables: Iterable[Variable]) -> list:
    """The trainable ones among the weights of layers and further variables; none where `trainable` is false."""
    if not trainable:
        return []
    own = [v for v in extra_variables if v.trainable]
    return own + [w for layer in sub_layers for w in layer.trainable_weights]


def gather_non_trainable_weights(
    trainable: bool, sub_layers: Iterable[Any], extra_variables: Iterable[Variable]
) -> list:
    """The other weights of layers and further variables; all of them where `trainable` is false."""
    layers, extra = list(sub_layers), list(extra_variables)
    fixed = [v for v in extra if not v.trainable] + [w for layer in layers for w in layer.non_trainable_weights]
    if trainable:
        return fixed
    return [v for v in extra if v.trainable] + [w for layer in layers for w in layer.trainable_weights] + fixed
