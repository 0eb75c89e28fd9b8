"""Ops about the process itself: what ends it, and the fact that TensorFlow's tutorial on ops tells."""

from __future__ import annotations

import logging
import os

from everflow.kernels.registry import acting, safe
from everflow.kernels.strings.text import strings
from everflow.kernels.tensors import Strings


@acting("Abort")
def abort(*, error_msg: str, exit_without_error: bool) -> None:
    """End the process at once: with success, or as a crash does."""
    logging.getLogger("tensorflow").error("Abort: %s", error_msg)
    if exit_without_error:
        os._exit(0)
    os.abort()


@safe("Fact")
def fact() -> Strings:
    return strings([b"0! == 1"], ())
