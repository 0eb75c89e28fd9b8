"""Whether a program asks for its tensors to be traced while it runs on a TPU."""

from __future__ import annotations

import os
import re

_FLAGS = "TENSOR_TRACER_FLAGS"


class TensorTracer:
    """Traces of computations on TPUs. It is switched on by `--enable=1` in the environment's TENSOR_TRACER_FLAGS."""

    @staticmethod
    def is_enabled():
        """Whether the environment asks for traces."""
        found = re.search(r"\s*--?enable(?:=['\"]?(\w+)['\"]?)?(?=\s|$)", os.environ.get(_FLAGS, ""))
        return found is not None and (found[1] or "1").lower() in ("1", "t", "true", "y", "yes")
