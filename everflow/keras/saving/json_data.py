"""What JSON doesn't know, as something it knows."""

from __future__ import annotations

import numpy as np

from everflow.framework.dtypes import DType
from everflow.framework.shapes import Dimension, TensorShape


def default(thing):
    """For `json.dumps(..., default=)`: objects with a config, arrays, functions, types and shapes."""
    if hasattr(thing, "get_config"):
        return {"class_name": type(thing).__name__, "config": thing.get_config()}
    if isinstance(thing, np.ndarray):
        return thing.tolist()
    if isinstance(thing, np.generic):
        return thing.item()
    if isinstance(thing, DType):
        return thing.name
    if isinstance(thing, TensorShape):
        return thing.as_list() if thing.rank is not None else None
    if isinstance(thing, Dimension):
        return thing.value
    if isinstance(thing, bytes):
        return thing.decode("utf-8", "replace")
    if callable(thing) or isinstance(thing, type):
        return thing.__name__
    raise TypeError(f"Not JSON Serializable: {thing}")
