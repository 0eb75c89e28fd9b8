"""Names that programs take from inside TensorFlow's modules of `python.util`."""

import inspect as _inspect

from everflow.framework.nest import _is_named_tuple as _is_namedtuple

__all__ = ["_inspect", "_is_namedtuple"]
