"""TensorFlow's `saved_model.load`: there, `load` gives objects."""

from __future__ import annotations

from everflow.saved_model.object_loading import LoadedResource as _RestoredResource
from everflow.saved_model.object_loading import load_v2 as load

__all__ = ["_RestoredResource", "load"]
