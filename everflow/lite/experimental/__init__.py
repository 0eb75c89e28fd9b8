"""tf.lite.experimental: hints for the converter, delegates, and which ops it knows."""

from __future__ import annotations

import collections
import ctypes

from everflow.lite.experimental import nn as nn
from everflow.lite.lowering import RULES, load_rules
from everflow.lite.op_hints import convert_op_hints_to_stubs as convert_op_hints_to_stubs

SupportedOp = collections.namedtuple("SupportedOp", ["op"])


def get_potentially_supported_ops():
    """The op types of TensorFlow that can be converted, some of them only in certain uses: a list of `SupportedOp`."""
    load_rules()
    return [SupportedOp(op) for op in sorted(RULES)]


def load_delegate(library, options=None):
    """Load a delegate: native code for TensorFlow Lite's own interpreter, which this one can't call.

    A library that isn't there is an OSError, as ever; one that is there NotImplementedError.
    """
    ctypes.PyDLL(library)
    raise NotImplementedError(f"{library} is native code for TensorFlow Lite's own interpreter, not for this one.")
