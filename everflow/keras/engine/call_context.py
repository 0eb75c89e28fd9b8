"""What is known while a layer is being called: the layers around it, and whether they train."""

from __future__ import annotations

import contextlib
import threading


class CallContext(threading.local):
    """The innermost call that is going on in this thread."""

    def __init__(self):
        self.layer = None
        self.training = None
        self.depth = 0

    @property
    def in_call(self):
        return self.depth > 0

    @contextlib.contextmanager
    def enter(self, layer, training):
        """Inside: `layer` is being called. `training` is what it was told, None if nothing; then the layers around decide."""
        saved = self.layer, self.training
        self.layer, self.depth = layer, self.depth + 1
        if training is not None:
            self.training = training
        try:
            yield
        finally:
            self.depth -= 1
            self.layer, self.training = saved


call_context = CallContext()
