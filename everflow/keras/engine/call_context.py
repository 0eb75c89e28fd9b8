"""What is known while a layer is being called: the layers around it, and whether they train."""

from __future__ import annotations

import contextlib
import threading


class CallContext(threading.local):
    """The innermost call that is going on in this thread."""

    def __init__(self):
        self.layer = self.inputs = None
        self.training = None
        self.depth = 0
        self.frozen = False  # whether this layer or one around it is not to be trained
        self.updating = True  # whether functions that layers give as updates are run

    in_call = property(lambda self: self.depth > 0)

    @contextlib.contextmanager
    def enter(self, layer, inputs, training):
        """Inside, `layer` is called on `inputs`. `training` is what it was told; for None the layers around decide."""
        saved = self.layer, self.inputs, self.training, self.frozen
        self.layer, self.inputs, self.depth = layer, inputs, self.depth + 1
        self.frozen = self.frozen or not layer.trainable
        if training is not None:
            self.training = training
        try:
            yield
        finally:
            self.depth -= 1
            self.layer, self.inputs, self.training, self.frozen = saved

    @contextlib.contextmanager
    def without_updates(self):
        """Inside, functions that layers give as updates are left alone."""
        saved, self.updating = self.updating, False
        try:
            yield
        finally:
            self.updating = saved

    @contextlib.contextmanager
    def told(self, training):
        """Inside, layers that are told nothing else of training get this."""
        saved, self.training = self.training, training
        try:
            yield
        finally:
            self.training = saved


call_context = CallContext()
