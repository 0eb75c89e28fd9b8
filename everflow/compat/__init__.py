"""tf.compat: text, bytes and number types; `tf.compat.v1` is the whole of tf."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

import everflow as v1
from everflow.framework.shapes import dimension_at_index, dimension_value
from everflow.platform.compat import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    forward_compatibility_horizon,
    forward_compatible,
    integral_types,
    path_to_str,
    real_types,
)


def __getattr__(name):
    if name == "v2":
        import importlib

        return importlib.import_module("everflow.compat.v2")
    raise AttributeError(f"module 'tensorflow.compat' has no attribute {name!r}")
