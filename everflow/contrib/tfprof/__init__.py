"""tf.contrib.tfprof: tf.profiler under its old name."""

from everflow import profiler as model_analyzer
from everflow.profiler.context import ProfileContext

__all__ = ["ProfileContext", "model_analyzer"]
