"""TensorFlow's `saved_model.load`: there, `load` gives objects."""

from __future__ import annotations

from everflow.legacy.inner.saved_model.functions import load_internal
from everflow.saved_model.object_loading import LoadedResource as _RestoredResource
from everflow.saved_model.object_loading import ObjectLoader as Loader
from everflow.saved_model.object_loading import load_v2 as load

__all__ = ["Loader", "_RestoredResource", "load", "load_internal"]
