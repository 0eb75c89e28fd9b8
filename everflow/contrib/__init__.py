"""tf.contrib: a package for each of its parts, loaded when first touched."""

from __future__ import annotations

import importlib as _importlib
import pkgutil as _pkgutil

from everflow.version import EVERFLOW_VERSION as _EVERFLOW_VERSION

# The parts of TensorFlow's that are missing here.
_MISSING = frozenset(
    """batching bayesflow bigtable cloud constrained_optimization ffmpeg optimizer_v2
    periodic_resample proto quantization receptive_field recurrent reduce_slice_ops remote_fused_graph rpc solvers specs
    stat_summarizer timeseries""".split()
)


def __getattr__(name: str):
    if not name.startswith("_") and any(part.name == name for part in _pkgutil.iter_modules(__path__)):
        return _importlib.import_module(f"{__name__}.{name}")
    message = f"module 'tensorflow.contrib' has no attribute {name!r}"
    if name in _MISSING:
        message = f"{message} (Everflow {_EVERFLOW_VERSION} doesn't have it yet)"
    raise AttributeError(message, name=name)
