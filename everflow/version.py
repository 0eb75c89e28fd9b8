"""Versions: Everflow's own, and those of TensorFlow 1.15.5 that programs read from `tf.version`."""

EVERFLOW_VERSION = "0.1.0"

VERSION = "1.15.5"
GIT_VERSION = "everflow-" + EVERFLOW_VERSION
COMPILER_VERSION = "none"
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
