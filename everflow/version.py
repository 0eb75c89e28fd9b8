"""Versions: Everflow's own, and those of TensorFlow 1.15.5 that programs read from `tf.version` and `tf` itself."""

EVERFLOW_VERSION = "0.1.0"

VERSION = "1.15.5"  # the TensorFlow whose behaviour we keep
GIT_VERSION = f"everflow-{EVERFLOW_VERSION}"
COMPILER_VERSION = "none"
CXX11_ABI_FLAG = 0
MONOLITHIC_BUILD = 0
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
