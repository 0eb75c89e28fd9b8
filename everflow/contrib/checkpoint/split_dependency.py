"""Values that are saved under several objects, but computed and restored together."""

from __future__ import annotations

from everflow.framework.scopes import device as on_device
from everflow.ops.control_flow.grouping import no_op
from everflow.ops.variables.saveables import SaveableObject, SaveSpec
from everflow.ops.variables.trackable import Trackable
from everflow.train.tracking import VARIABLE_VALUE


class _Parts:
    """What all parts of one value share: how they are made for saving, and what has come of them when restoring."""

    def __init__(self, names, fill, consume, device):
        self._names, self._fill, self._consume = tuple(names), fill, consume
        self.device = device
        self._to_save, self._restored = {}, {}

    def to_save(self, name):
        """The tensor of a part; all parts are made when the first is asked for, and again for the next saving."""
        if not self._to_save:
            with on_device(None), on_device(self.device):
                self._fill(self._to_save)
        elif name not in self._to_save:
            left = sorted(self._to_save)
            raise AssertionError(f"Parts of one value are saved together: {name!r} is asked for, and {left} are left")
        return self._to_save.pop(name)

    def restore(self, name, tensor):
        """An op that restores all parts, when the last of them has come; before that, one that does nothing."""
        self._restored[name] = tensor
        if len(self._restored) < len(self._names):
            return no_op()
        together, self._restored = self._restored, {}
        with on_device(self.device):
            return self._consume(together)


class _PartSaveable(SaveableObject):
    """One part in one place of a checkpoint."""

    def __init__(self, parts, part, dtype, name):
        self._parts, self._part = parts, part
        spec = SaveSpec(lambda: parts.to_save(part), "", name, dtype=dtype, device=parts.device)
        super().__init__(None, [spec], name)

    device = property(lambda self: self._parts.device)

    def restore(self, restored_tensors, restored_shapes):
        return self._parts.restore(self._part, restored_tensors[0])


class _Part(Trackable):
    """An object that stands for one part."""

    def __init__(self, parts, name, dtype):
        self._parts, self._part, self._dtype = parts, name, dtype

    def _gather_saveables_for_checkpoint(self):
        return {VARIABLE_VALUE: lambda name: _PartSaveable(self._parts, self._part, self._dtype, name)}


def split_dependency(component_names, component_dtypes, fill_save_buffer_fn, consume_restore_buffer_fn, device):
    """Objects for the parts of a value: each can hang somewhere else, yet all are made, and restored, by one function.

    Args:
        component_names: The names of the parts.
        component_dtypes: Their types.
        fill_save_buffer_fn: Called with an empty dict when saving: puts a tensor for each name into it.
        consume_restore_buffer_fn: Called with a dict of the restored tensors: gives an op that restores the value.
        device: The device of all that.

    Returns:
        A dict with an object for each name.

    Example:
        >>> v = tf.Variable([1.0, 2.0])
        >>> def fill(parts):
        ...     parts["first"], parts["second"] = v[:1], v[1:]
        >>> def consume(parts):
        ...     return v.assign(tf.concat([parts["first"], parts["second"]], 0)).op
        >>> both = ("first", "second")
        >>> halves = tf.contrib.checkpoint.split_dependency(both, [tf.float32] * 2, fill, consume, device="")
        >>> sess.run(v.initializer)
        >>> path = tf.train.Checkpoint(**halves).save("folder/ckpt", session=sess)
        >>> tf.train.load_variable(path, "second/.ATTRIBUTES/VARIABLE_VALUE")
        array([2.], dtype=float32)
    """
    parts = _Parts(component_names, fill_save_buffer_fn, consume_restore_buffer_fn, device)
    return {name: _Part(parts, name, dtype) for name, dtype in zip(component_names, component_dtypes)}
