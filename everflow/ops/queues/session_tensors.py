"""Tensors that stay in the session between runs: a handle is fetched, and read, fed or deleted later."""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.registry import not_differentiable, shape_rule
from everflow.framework.scopes import colocate_with, device
from everflow.ops.array.constants import placeholder
from everflow.ops.shape_rules import scalar_output


class TensorHandle:
    """What a run gives for `tf.get_session_handle`: the name under which the session keeps a tensor."""

    def __init__(self, handle, dtype, session):
        self._handle = handle.decode() if isinstance(handle, bytes) else handle
        self._dtype = dtype
        self._session = session
        self._auto_gc_enabled = True

    handle = property(lambda self: self._handle, doc="The name, a string.")

    def get_raw_handle(self):
        """The name; the tensor stays until it is deleted by `tf.delete_session_tensor`."""
        self._auto_gc_enabled = False
        return self._handle

    def eval(self):
        """The value of the tensor."""
        graph = self._session.graph
        readers = graph.__dict__.setdefault("_handle_readers", {})
        key = (self._handle.rpartition(";")[2], self._dtype)
        if key not in readers:
            with graph.as_default(), graph.control_dependencies(None):
                readers[key] = get_session_tensor(self._handle, self._dtype)
        holder, reader = readers[key]
        return self._session.run(reader, {holder: self._handle})

    to_numpy_array = eval

    def delete(self):
        """Let the session forget the tensor; TypeError where that was done, or left to the program, before."""
        if not self._auto_gc_enabled:
            raise TypeError(f"The tensor {self._handle} may be deleted already")
        self._auto_gc_enabled = False
        graph = self._session.graph
        deleters = graph.__dict__.setdefault("_handle_deleters", {})
        key = self._handle.rpartition(";")[2]
        if key not in deleters:
            with graph.as_default(), graph.control_dependencies(None):
                deleters[key] = delete_session_tensor(self._handle)
        holder, deleter = deleters[key]
        self._session.run(deleter, {holder: self._handle})

    def __str__(self):
        return self._handle


def get_session_handle(data, name=None):
    """An op that leaves `data` in the session. Running it gives a `TensorHandle`.

    Args:
        data: The tensor to keep.
        name: The name of the operation in the graph.

    Returns:
        A tensor that is fetched as a `TensorHandle`.

    Example:
        >>> handle = sess.run(tf.get_session_handle(tf.constant(2.0)))
        >>> handle.eval()
        np.float32(2.0)
    """
    data = convert_to_tensor(data)
    with colocate_with(data):
        return raw.GetSessionHandle(value=data, name=name)


def get_session_tensor(handle, dtype, name=None):
    """(placeholder for the handle, the tensor that a session keeps under it).

    Args:
        handle: The handle's text, from `TensorHandle.handle`.
        dtype: The type of the elements.
        name: The name of the operation in the graph.

    Returns:
        A placeholder and a tensor.

    Example:
        >>> handle = sess.run(tf.get_session_handle(tf.constant(2.0)))
        >>> holder, value = tf.get_session_tensor(handle.handle, tf.float32)
        >>> sess.run(value * 3.0, {holder: handle.handle})
        np.float32(6.0)
    """
    with device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, raw.GetSessionTensor(handle=holder, dtype=dtype, name=name)


def delete_session_tensor(handle, name=None):
    """(placeholder for the handle, an op that lets the session forget the tensor).

    Args:
        handle: The handle's text, from `TensorHandle.handle`.
        name: The name of the operation in the graph.

    Returns:
        A placeholder and an operation.

    Example:
        >>> handle = sess.run(tf.get_session_handle(tf.constant(2.0)))
        >>> holder, delete = tf.delete_session_tensor(handle.handle)
        >>> sess.run(delete, {holder: handle.handle})
    """
    with device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, raw.DeleteSessionTensor(handle=holder, name=name)


def _device_of(handle) -> str:
    text = handle.decode() if isinstance(handle, bytes) else str(handle)
    return text.rpartition(";")[2]


shape_rule("GetSessionHandle", "GetSessionHandleV2")(scalar_output)
not_differentiable("GetSessionHandle", "GetSessionHandleV2", "GetSessionTensor", "DeleteSessionTensor")
