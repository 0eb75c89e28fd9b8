"""tf.*: TensorFlow 1.15's programming model. `import everflow as tf`.

Names on `tf` itself are listed in `names.py`, namespaces `tf.X` are the modules `everflow/X`. Both are loaded when first touched: importing
everflow loads only what makes tensors behave, and never torch.
"""

from __future__ import annotations

import importlib as _importlib
import os as _os
from typing import TYPE_CHECKING as _TYPE_CHECKING

# Threads of kernels that wait for work spin only for a moment: on a machine that others use too, long spinning takes the core from
# whoever has the work. Read by the OpenMP library when torch loads it.
if "OMP_WAIT_POLICY" not in _os.environ:
    _os.environ.setdefault("GOMP_SPINCOUNT", "1000")

# What every graph needs: constants, the operators of tensors, and sessions.
import everflow.ops.array_slicing
import everflow.ops.indexed_slices
import everflow.ops.math_binary
import everflow.runtime.session  # noqa: F401
from everflow.framework.lazy_names import add_names as _add_names
from everflow.framework.lazy_names import imported_names as _imported_names
from everflow.version import (  # noqa: F401
    COMPILER_VERSION,
    CXX11_ABI_FLAG,
    GIT_VERSION,
    GRAPH_DEF_VERSION,
    GRAPH_DEF_VERSION_MIN_CONSUMER,
    GRAPH_DEF_VERSION_MIN_PRODUCER,
    MONOLITHIC_BUILD,
    VERSION,
)
from everflow.version import EVERFLOW_VERSION as _EVERFLOW_VERSION

# Names of namespaces that come from floors above them: layers over feature columns, and Estimators of Keras models.
_add_names("everflow.keras", estimator="everflow.estimator.keras_models:")
_add_names("everflow.keras.layers", DenseFeatures="everflow.feature_column.features_layers")
_add_names("everflow.keras.experimental", SequenceFeatures="everflow.feature_column.features_layers")

# Names on tf: add them to names.py, in the section of their family.
if _TYPE_CHECKING:
    from everflow.names import *  # noqa: F403

__version__ = VERSION
__git_version__ = GIT_VERSION
__compiler_version__ = COMPILER_VERSION
__cxx11_abi_flag__ = CXX11_ABI_FLAG
__monolithic_build__ = MONOLITHIC_BUILD

newaxis = None

# The tf.X namespaces: each is a module of that name in this package, loaded when first touched.
_NAMESPACES = frozenset(
    """
    app audio autograph bitwise compat config contrib data debugging distribute distributions dtypes errors estimator experimental
    feature_column flags gfile graph_util image initializers io keras layers linalg lite logging lookup losses manip math metrics nest nn
    profiler python_io quantization queue ragged random raw_ops resource_loader saved_model sets signal sparse spectral strings summary
    sysconfig test tpu train user_ops version xla
    """.split()
)
# Packages that TensorFlow's module tree has and programs reach as attributes; they exist once everflow.as_tensorflow is loaded.
_TENSORFLOW_PACKAGES = frozenset(["core", "examples", "python", "tools"])


def _names() -> dict[str, tuple[str, str]]:
    """{name on tf: (module, name in it)}, read from names.py."""
    return _imported_names(__file__.removesuffix("__init__.py") + "names.py")


def __getattr__(name: str):
    if name in _NAMESPACES:
        try:
            return _importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"{__name__}.{name}":
                raise
    elif name in _TENSORFLOW_PACKAGES:
        import sys

        if f"{__name__}.as_tensorflow" in sys.modules:
            return _importlib.import_module(f"tensorflow.{name}")
    elif name == "__all__":
        from importlib.util import find_spec

        absent = {namespace for namespace in _NAMESPACES if find_spec(f"{__name__}.{namespace}") is None}
        return [public for public in __dir__() if not public.startswith("_") and public not in absent]
    elif name in _names():
        module, original = _names()[name]
        value = getattr(_importlib.import_module(module), original)
        globals()[name] = value
        return value
    raise AttributeError(_explain_missing(name), name=name)


def _explain_missing(name: str) -> str:
    from everflow.framework.api_names import in_tensorflow

    message = f"module 'tensorflow' has no attribute {name!r}"
    return f"{message} (Everflow {_EVERFLOW_VERSION} doesn't have it yet)" if in_tensorflow(name) else message


def __dir__():
    return sorted({*globals(), *_NAMESPACES, *_names()})
