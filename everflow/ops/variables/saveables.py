"""What a Saver can save besides plain variables: objects that name their tensors and know how to take them back."""

from __future__ import annotations


class SaveSpec:
    """One tensor to save: which, which slice of a whole it is, and under which name. A callable is asked for it when
    saving.
    """

    def __init__(self, tensor, slice_spec, name, dtype=None, device=None):
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor):
            if dtype is None or device is None:
                raise AssertionError(
                    "A SaveSpec that is given a function for its tensor needs to be told its dtype and device"
                )
            self.dtype, self.device = dtype, device
        else:
            self.dtype = tensor.dtype
            self.device = tensor.device if device is None else device

    @property
    def tensor(self):
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """A thing of one or several tensors that is saved and restored as a whole."""

    def __init__(self, op, specs, name):
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def optional_restore(self):
        """Whether a checkpoint may lack it."""
        return False

    device = property(lambda self: self.specs[0].device, doc="The device of its tensors.")

    def restore(self, restored_tensors, restored_shapes):
        """An op that gives it the values read from a checkpoint."""
        raise ValueError("Calling an abstract method.")
