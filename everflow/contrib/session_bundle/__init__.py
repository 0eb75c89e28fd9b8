"""tf.contrib.session_bundle: exports for serving before there were SavedModels: a meta graph with signatures, variables.

Its parts are modules: `exporter`, `gc` (which exports to keep), `constants`, `manifest_pb2`.
"""

from everflow.contrib.session_bundle import constants, exporter, gc
from everflow.protos import manifest_pb2

__all__ = ["constants", "exporter", "gc", "manifest_pb2"]
