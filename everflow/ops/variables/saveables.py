"""What a Saver can save besides plain variables: objects that name their tensors and know how to take them back."""

from __future__ import annotations

import abc

from everflow.framework import dtypes
from everflow.framework.scopes import device
from everflow.ops.array.constants import constant
from everflow.ops.control_flow.grouping import no_op


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


class NoRestoreSaveable(SaveableObject):
    """A tensor that is saved and not restored."""

    def __init__(self, tensor, name, dtype=None, device=None):
        super().__init__(tensor, [SaveSpec(tensor, "", name, dtype, device)], name)

    def restore(self, restored_tensors, restored_shapes):
        return no_op()


class PythonStateSaveable(SaveableObject, abc.ABC):
    """State of a Python object, which a graph doesn't hold: it is fed when saving, or taken as it is now."""

    @abc.abstractmethod
    def feed_dict_additions(self):
        """{tensor: value} to be fed when a graph saves it."""

    @abc.abstractmethod
    def freeze(self):
        """The same to be saved, with the state as it is now."""


class PythonStringStateSaveable(PythonStateSaveable):
    """A string that `state_callback` gives when it is saved, and that `restore_callback` gets back."""

    def __init__(self, name, state_callback, restore_callback=None):
        self._state, self._taken_back = state_callback, restore_callback
        self._made = None
        super().__init__(None, [SaveSpec(self._tensor, "", name, dtypes.string, "/cpu:0")], name)

    def _tensor(self):
        # Made when it is asked for: the tree of objects is looked at more often than it is saved.
        if self._made is None:
            with device("/cpu:0"):
                self._made = constant("", dtype=dtypes.string)
        return self._made

    @property
    def optional_restore(self):
        return self._taken_back is None

    def feed_dict_additions(self):
        return {self._tensor(): self._state()}

    def freeze(self):
        def state():
            with device("/cpu:0"):
                return constant(self._state(), dtype=dtypes.string)

        return NoRestoreSaveable(state, self.name, dtypes.string, "/cpu:0")

    def python_restore(self, restored_strings):
        """Hand back the one string that was saved."""
        if self._taken_back is not None:
            (restored,) = restored_strings
            self._taken_back(restored)

    def restore(self, restored_tensors, restored_shapes):
        return no_op()
