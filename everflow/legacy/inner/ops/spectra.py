"""tensorflow.python.ops.spectral_ops_test_util: which kernels tests of transforms run with. Here there is one of each."""

from __future__ import annotations

import contextlib

from everflow.framework.scopes import get_default_graph


def fft_kernel_label_map() -> contextlib.AbstractContextManager:
    """A scope in which transforms run with the kernels to test: those there are."""
    return get_default_graph()._kernel_label_map({})
