"""Names that programs take from `pywrap_tensorflow`, TensorFlow's C++ side: event files, and the list of op types."""

from __future__ import annotations

import numpy as np

from everflow.formats import records
from everflow.formats.event_files import open_event_file
from everflow.framework import errors
from everflow.framework.dtypes import _INTERN
from everflow.framework.graph import Graph
from everflow.framework.operation import Tensor
from everflow.framework.static_values import known_value
from everflow.legacy.inner.registries import get_registered_ops
from everflow.platform import compat
from everflow.protos import event_pb2, op_def_pb2

# Kinds of attributes.
TF_ATTR_STRING, TF_ATTR_INT, TF_ATTR_FLOAT, TF_ATTR_BOOL, TF_ATTR_TYPE = range(5)
TF_ATTR_SHAPE, TF_ATTR_TENSOR, TF_ATTR_PLACEHOLDER, TF_ATTR_FUNC = range(5, 9)

TENSOR_HANDLE_KEY = "TensorHandle"
# Where eager operations take inputs from that are on other devices, and whether copies are kept there.
TFE_DEVICE_PLACEMENT_EXPLICIT, TFE_DEVICE_PLACEMENT_WARN, TFE_DEVICE_PLACEMENT_SILENT = range(3)
TFE_DEVICE_PLACEMENT_SILENT_FOR_INT32 = 3
TFE_MIRRORING_NONE, TFE_MIRRORING_ALL = range(2)
# The types of tensors, and what became of a call: TF_FLOAT, TF_NOT_FOUND, ...
globals().update({f"TF_{dtype.enum_name.removeprefix('DT_')}": n for n, dtype in _INTERN.items() if n < 100})
globals().update({f"TF_{name}": getattr(errors, name) for name in dir(errors) if name.isupper()})
TF_OK, TF_COMPLEX = 0, 8


class EventsWriter:
    """Writes events to a file whose name begins with a prefix."""

    def __init__(self, prefix: str | bytes) -> None:
        self._prefix, self._suffix = compat.as_str(prefix), ""
        self._path: str | None = None

    def InitWithSuffix(self, suffix: str | bytes) -> None:
        """Let the file's name end in this."""
        self._suffix = compat.as_str(suffix)

    def FileName(self) -> bytes:
        """The file that is written to, made when it is first asked for."""
        if self._path is None:
            self._path, self._file = open_event_file(self._prefix, self._suffix)
        return compat.as_bytes(self._path)

    def WriteEvent(self, event: event_pb2.Event) -> None:
        """Add an event."""
        if not isinstance(event, event_pb2.Event):
            raise TypeError(f"WriteEvent() takes an Event, not {event!r}, a {type(event).__name__}")
        self.FileName()
        self._file.write(records.encode(event.SerializeToString()))

    def Flush(self) -> None:
        """Have all events so far in the file."""
        if self._path is not None:
            self._file.flush()

    def Close(self) -> None:
        """Write what is left and close the file."""
        if self._path is not None:
            self._file.close()


def TF_GetAllOpList() -> op_def_pb2.OpList:
    """All op types."""
    return op_def_pb2.OpList(op=get_registered_ops().values())


def TF_TryEvaluateConstant_wrapper(graph: Graph, output: Tensor) -> np.ndarray | None:
    """The value of a tensor that follows from constants alone, or None."""
    return known_value(output)


def TF_GetBuffer(buffer: op_def_pb2.OpList) -> bytes:
    """The bytes of a buffer that another of these functions returned."""
    return buffer.SerializeToString()


def TFE_Py_RegisterExceptionClass(cls: type[Exception]) -> None:
    """Say what operations raise that fail; TypeError for what is no exception. Here they raise those of `tf.errors`."""
    if not (isinstance(cls, type) and issubclass(cls, Exception)):
        raise TypeError(f"A class of exceptions is wanted, not {cls!r}")
