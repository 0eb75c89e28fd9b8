"""Dumped tensors on disk: one folder for a run, one file for each tensor, and what is asked of them afterwards.

A file is an Event message; its path tells device, node, output, kind and time:
`_tfdbg_device_,job_.../scope/node_0_DebugIdentity_1234`.
"""

from __future__ import annotations

import collections
import glob
import json
import os
import re

import numpy as np

from everflow.debug.structure import GraphStructure
from everflow.framework.tensor_values import make_ndarray
from everflow.protos import event_pb2, graph_pb2, types_pb2

METADATA_PREFIX = "_tfdbg_"
DEVICE_PREFIX = METADATA_PREFIX + "device_"
GRAPH_PREFIX = METADATA_PREFIX + "graph_"
CORE_PREFIX = METADATA_PREFIX + "core_metadata_"
FETCHES_FILE = METADATA_PREFIX + "fetches_info_"
FEEDS_FILE = METADATA_PREFIX + "feed_keys_info_"
_FILE_NAME = re.compile(r"(?P<node>.+)_(?P<slot>\d+)_(?P<op>[A-Za-z]+)_(?P<time>\d+)$")


class InconvertibleTensorProto:
    """Stands for a tensor that is no array: an uninitialised one, or a handle."""

    def __init__(self, tensor_proto, initialized=True):
        self._tensor_proto = tensor_proto
        self.initialized = initialized

    def __str__(self):
        return ("" if self.initialized else "Uninitialized tensor:\n") + str(self._tensor_proto)


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """Raised for a tensor that wasn't dumped."""


def folder_to_device(folder):
    """The name of the device that a folder belongs to."""
    parts = folder[len(DEVICE_PREFIX) :].split(",")
    # A job's name may have underlines itself, a kind of device may not.
    return "/".join(part.replace("_", ":", 2 if part.startswith("device_") else 1) for part in parts)


def load_tensor_from_event(event):
    """The array in an Event of a dump; an InconvertibleTensorProto where there is none."""
    tensor = event.summary.value[0].tensor
    is_handle = tensor.dtype == types_pb2.DT_RESOURCE
    if is_handle or tensor.dtype == types_pb2.DT_INVALID or not _has_values(tensor):
        return InconvertibleTensorProto(tensor, initialized=is_handle)
    return make_ndarray(tensor)


def _has_values(tensor):
    """Whether there are as many values as the shape asks for: any, or none where it has no elements."""
    fields = {field.name for field, _ in tensor.ListFields()} - {"dtype", "tensor_shape", "version_number"}
    return bool(fields) or any(dim.size == 0 for dim in tensor.tensor_shape.dim)


def load_tensor_from_event_file(event_file_path):
    """The array in a file of a dump."""
    return load_tensor_from_event(_read_event(event_file_path))


def _read_event(path):
    with open(path, "rb") as f:
        return event_pb2.Event.FromString(f.read())


def has_inf_or_nan(datum, tensor):
    """A predicate for `DebugDumpDir.find`: whether a tensor has a value that isn't finite."""
    if tensor is None or isinstance(tensor, InconvertibleTensorProto):
        return False
    if np.issubdtype(tensor.dtype, np.floating) or np.issubdtype(tensor.dtype, np.complexfloating):
        return bool(np.any(np.isnan(tensor)) or np.any(np.isinf(tensor)))
    return False


class DebugTensorDatum:
    """One dumped tensor: where it came from, and its value when asked for."""

    def __init__(self, dump_root, debug_dump_rel_path):
        folder, _, rest = debug_dump_rel_path.replace(os.sep, "/").partition("/")
        if not folder.startswith(DEVICE_PREFIX):
            raise ValueError(f"The path {debug_dump_rel_path!r} does not begin with the folder of a device")
        scope, _, base = rest.rpartition("/")
        match = _FILE_NAME.match(base)
        if match is None:
            raise ValueError(f"{base!r} is not the name of a dump: those are NODE_SLOT_DEBUGOP_TIME.")
        self._device_name = folder_to_device(folder)
        self._node_name = f"{scope}/{match['node']}" if scope else match["node"]
        self._output_slot = int(match["slot"])
        self._debug_op = match["op"]
        self._timestamp = int(match["time"])
        self._file_path = os.path.join(dump_root, debug_dump_rel_path)

    device_name = property(lambda self: self._device_name, doc="Where it was computed.")
    node_name = property(lambda self: self._node_name, doc="The node it is an output of.")
    output_slot = property(lambda self: self._output_slot, doc="Which output.")
    debug_op = property(lambda self: self._debug_op, doc="What was dumped: DebugIdentity for the value itself.")
    timestamp = property(lambda self: self._timestamp, doc="When, in microseconds since 1970.")
    extended_timestamp = property(
        lambda self: (self._timestamp, 0), doc="When, and which of those dumped at the same time."
    )
    file_path = property(lambda self: self._file_path, doc="The file.")
    tensor_name = property(lambda self: f"{self._node_name}:{self._output_slot}", doc="The tensor's name.")
    watch_key = property(
        lambda self: f"{self.tensor_name}:{self._debug_op}", doc="The tensor's name and what was dumped of it."
    )
    dump_size_bytes = property(lambda self: os.path.getsize(self._file_path), doc="The size of the file.")

    def get_tensor(self):
        """The value, read from the file."""
        return load_tensor_from_event_file(self._file_path)

    def __str__(self):
        return f"{{DebugTensorDatum ({self.device_name}) {self.tensor_name} @ {self.debug_op} @ {self.timestamp}}}"

    __repr__ = __str__


CoreMetadata = collections.namedtuple(
    "CoreMetadata",
    ["global_step", "session_run_index", "executor_step_index", "input_names", "output_names", "target_nodes"],
)


def _of_output(doc, tell):
    """A method that tells something of each dump of an output."""

    def of_output(self, node_name, output_slot, debug_op, device_name=None):
        return [tell(self, datum) for datum in self._watched(node_name, output_slot, debug_op, device_name)]

    of_output.__doc__ = doc
    return of_output


class DebugDumpDir(GraphStructure):
    """The dumps of one run, and the graph that ran.

    >>> dump = tf_debug.DebugDumpDir("dumps/run_1234_0")
    >>> [datum.node_name for datum in dump.find(tf_debug.has_inf_or_nan)]
    """

    def __init__(self, dump_root, partition_graphs=None, validate=True):
        if not os.path.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._dump_root = dump_root
        self._folders = sorted(name for name in os.listdir(dump_root) if name.startswith(DEVICE_PREFIX))
        self._data: dict[str, list[DebugTensorDatum]] = {}
        graphs = {}
        for folder in self._folders:
            device = folder_to_device(folder)
            self._data[device] = self._load_device(folder)
            stored = glob.glob(os.path.join(glob.escape(os.path.join(dump_root, folder)), GRAPH_PREFIX + "*"))
            if stored:
                graphs[device] = graph_pb2.GraphDef.FromString(_read_event(stored[0]).graph_def)
        for graph in partition_graphs or ():
            device = next((node.device for node in graph.node if node.device), self.devices()[0])
            graphs.setdefault(device, graph)
        super().__init__(graphs)
        if validate and graphs:
            self._check_known()
            self._check_order()
        self._python_graph = None

    def _load_device(self, folder):
        top = os.path.join(self._dump_root, folder)
        found = []
        for place, _, files in os.walk(top):
            for name in files:
                if not name.startswith(METADATA_PREFIX):
                    found.append(
                        DebugTensorDatum(self._dump_root, os.path.relpath(os.path.join(place, name), self._dump_root))
                    )
        return sorted(found, key=lambda datum: datum.extended_timestamp)

    def _check_known(self):
        for device, data in self._data.items():
            known = self.names_on(device)
            for datum in data:
                if known is not None and datum.node_name not in known and not datum.node_name.startswith("_arg_"):
                    raise ValueError(
                        f"There is a dump of node {datum.node_name!r}, which the graphs of device {device} do not have."
                    )

    def _check_order(self):
        """ValueError where an output was dumped before one that it was computed of."""
        for device, data in self._data.items():
            first: dict[str, int] = {}
            for datum in data:
                first.setdefault(datum.tensor_name, datum.timestamp)
            for datum in data:
                node = datum.node_name
                # A loop's Merge takes what comes later, too.
                if datum.timestamp != first[datum.tensor_name] or not self.node_exists(node, device):
                    continue
                needed = (
                    [] if self.node_op_type(node, device) == "Merge" else self.node_inputs(node, device_name=device)
                )
                late = [name for name in needed if first.get(name if ":" in name else f"{name}:0", 0) > datum.timestamp]
                if late:
                    raise ValueError(
                        f"The dump of {node!r} is older than that of {late[0]!r}, which it was computed of."
                    )

    # What was dumped.

    @property
    def core_metadata(self):
        """The run's numbers, feeds and fetches; a list where there are several."""
        found = []
        for path in sorted(glob.glob(os.path.join(glob.escape(self._dump_root), CORE_PREFIX + "*"))):
            found.append(CoreMetadata(**json.loads(_read_event(path).log_message.message)))
        return found[0] if len(found) == 1 else found

    @property
    def dumped_tensor_data(self):
        """Every dumped tensor, in the order of time."""
        if len(self._data) == 1:
            return next(iter(self._data.values()))
        return sorted(
            (datum for data in self._data.values() for datum in data), key=lambda datum: datum.extended_timestamp
        )

    @property
    def t0(self):
        """The time of the first dump, in microseconds."""
        return self.dumped_tensor_data[0].timestamp if self.size else None

    size = property(lambda self: sum(len(data) for data in self._data.values()), doc="How many tensors were dumped.")
    run_fetches_info = property(lambda self: self._info(FETCHES_FILE), doc="What was fetched, as text.")
    run_feed_keys_info = property(lambda self: self._info(FEEDS_FILE), doc="What was fed, as text.")

    def _info(self, prefix):
        paths = glob.glob(os.path.join(glob.escape(self._dump_root), prefix + "*"))
        texts = [_read_event(path).log_message.message for path in paths]
        return texts[0] if len(texts) == 1 else texts

    def devices(self):
        """The names of the devices that ran."""
        return list(self._data)

    def debug_watch_keys(self, node_name, device_name=None):
        """What was dumped of a node: `name:slot:DebugIdentity`, ..."""
        return list(dict.fromkeys(datum.watch_key for datum in self._of(device_name) if datum.node_name == node_name))

    def watch_key_to_data(self, debug_watch_key, device_name=None):
        """The dumps of a key, in the order of time: several for a node in a loop."""
        return [datum for datum in self._of(device_name) if datum.watch_key == debug_watch_key]

    def find(self, predicate, first_n=0, device_name=None, exclude_node_names=None):
        """The dumps for which `predicate(datum, tensor)` holds, at most `first_n` of them (0: all)."""
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        found = []
        for datum in self._of(device_name) if device_name else self.dumped_tensor_data:
            if excluded is not None and excluded.match(datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if 0 < first_n <= len(found):
                    break
        return found

    get_tensors = _of_output("The values of an output, in the order of time.", lambda self, datum: datum.get_tensor())
    get_tensor_file_paths = _of_output("The files of an output.", lambda self, datum: datum.file_path)
    get_rel_timestamps = _of_output(
        "When an output was dumped, in microseconds after the first dump.",
        lambda self, datum: datum.timestamp - self.t0,
    )
    get_dump_sizes_bytes = _of_output("The sizes of an output's files.", lambda self, datum: datum.dump_size_bytes)

    def _watched(self, node_name, output_slot, debug_op, device_name):
        key = f"{node_name}:{output_slot}:{debug_op}"
        data = self.watch_key_to_data(key, device_name)
        if not data:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f"Watch key {key!r} was not dumped; of this node there are {self.debug_watch_keys(node_name, device_name)}"
            )
        return data

    def _of(self, device_name):
        if device_name is None:
            return self.dumped_tensor_data
        if device_name not in self._data:
            raise KeyError(f"Device {device_name!r} is not among those of the dump: {self.devices()}")
        return self._data[device_name]

    # Where nodes were made.

    python_graph = property(lambda self: self._python_graph, doc="The Graph that was set, or None.")

    def set_python_graph(self, python_graph):
        """Say which Graph ran, so that nodes can be traced back to lines of code."""
        self._python_graph = python_graph

    def node_traceback(self, element_name):
        """Where a node was made: (file, line, function, text) of each frame."""
        if self._python_graph is None:
            raise LookupError("Where nodes were made is known to the Python graph only: call set_python_graph first.")
        try:
            return self._python_graph.get_operation_by_name(element_name.split(":")[0]).traceback
        except KeyError:
            raise KeyError(f"Cannot find node {element_name!r} in Python graph") from None
