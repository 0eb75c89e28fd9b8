"""tf.contrib.tfprof: tf.profiler as it was at first."""

from everflow.contrib.tfprof import model_analyzer, tfprof_logger
from everflow.profiler.context import ProfileContext

__all__ = ["ProfileContext", "model_analyzer", "tfprof_logger"]
