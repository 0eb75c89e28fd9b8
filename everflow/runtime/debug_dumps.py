"""A run that is watched: after each node it writes the outputs that RunOptions ask for, so that a run that fails leaves
what came before. They go into a folder (`file://`) or to a debugger that listens (`grpc://`).
"""

from __future__ import annotations

import collections
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from everflow.framework import dtypes, errors
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import make_tensor_proto
from everflow.protos import event_pb2, resource_handle_pb2, tensor_pb2
from everflow.runtime import debug_streams
from everflow.runtime.tracing import NOT_THERE

if TYPE_CHECKING:
    from everflow.framework.hints import Element
    from everflow.framework.operation import Tensor
    from everflow.protos import debug_pb2, graph_pb2
    from everflow.runtime.hints import Value
    from everflow.runtime.plan.program import Node

_counts = {"runs": 0}
_ANY = ("*", -1)  # a watch on whatever has none of its own
_CHUNK = 4_096_000  # bytes of a tensor that one message to a debugger takes


class _Sink(Protocol):
    """Where dumps go."""

    def about(self, device: str, graph: graph_pb2.GraphDef, now: int) -> None: ...
    def started(self, facts: dict[str, object], now: int) -> None: ...
    def tensor(self, output: Output, kind: str, gated: bool, tensor: tensor_pb2.TensorProto, now: int) -> None: ...
    def close(self) -> None: ...


class Output(NamedTuple):
    """An output of a node, which dumps are named after."""

    node: str
    slot: int
    device: str


class DebugDumps:
    """Writes the dumps of one run. `step` is how many runs with the same watches, feeds and fetches there were before."""

    def __init__(self, options: debug_pb2.DebugOptions, step: int = 0) -> None:
        self._watches: dict[tuple[str, int], list[debug_pb2.DebugTensorWatch]] = collections.defaultdict(list)
        self._sinks: dict[str, _Sink] = {}
        self._last = 0
        self._step = step
        self._global_step = options.global_step
        for watch in options.debug_tensor_watch_opts:
            self._watches[watch.node_name, watch.output_slot].append(watch)
            for debug_op in watch.debug_ops:
                _settings(debug_op, watch.node_name)
            for url in watch.debug_urls:
                if url not in self._sinks:
                    self._sinks[url] = _sink(url)

    def record(self, node: Node, start: int, end: int, values: list[Value]) -> None:
        """Called by the emitted function after each node."""
        for slot, value in enumerate(values):
            watches = self._watches.get((node.name, slot)) or self._watches.get(_ANY)
            output = Output(node.name, slot, node.device)
            if watches and value is not NOT_THERE:
                self._dump(output, watches, _seen(value, node.output_dtypes[slot], node, slot))

    def _dump(self, output: Output, watches: list[debug_pb2.DebugTensorWatch], seen: _Seen) -> None:
        for watch in watches:
            for debug_op in watch.debug_ops:
                kind, settings = _settings(debug_op, output.node)
                shown = _shown(kind, seen, settings, watch.tolerate_debug_op_creation_failures)
                now = self._now()
                if shown is None:
                    continue
                for url in watch.debug_urls:
                    self._sinks[url].tensor(output, kind, settings.get("gated_grpc", "").lower() == "true", shown, now)

    def record_feeds(self, feeds: Mapping[Tensor, Any], device: str) -> None:
        """Write what was fed, as outputs of the nodes that stand for it in the graphs of the run."""
        watches = self._watches.get(_ANY)
        for index, tensor in enumerate(sorted(feeds, key=lambda t: t.name)):
            if watches and tensor.dtype.base_dtype not in (dtypes.resource, dtypes.variant):
                array = np.asarray(feeds[tensor], tensor.dtype.base_dtype.as_numpy_dtype)
                name = f"_arg_{tensor.op.name}_{tensor.value_index}_{index}"
                self._dump(Output(name, 0, device), watches, _Seen(array, tensor.dtype.base_dtype))

    def _now(self) -> int:
        self._last = max(self._last + 1, time.time_ns() // 1000)
        return self._last

    def write_graphs(
        self,
        graph_defs: Iterable[graph_pb2.GraphDef],
        fetches: Sequence[Element],
        feeds: Sequence[Tensor],
    ) -> None:
        """Write what ran, beside the tensors."""
        _counts["runs"] += 1
        facts: dict[str, object] = {
            "global_step": self._global_step,
            "session_run_index": _counts["runs"],
            "executor_step_index": self._step,
            "input_names": [tensor.name for tensor in feeds],
            "output_names": [fetch.name for fetch in fetches if hasattr(fetch, "op")],
            "target_nodes": [fetch.name for fetch in fetches if not hasattr(fetch, "op")],
        }
        now = self._now()
        for sink in self._sinks.values():
            if self._step == 0:
                for graph in graph_defs:
                    sink.about(next((node.device for node in graph.node if node.device), ""), graph, now)
            sink.started(facts, now)

    def __enter__(self) -> DebugDumps:
        return self

    def __exit__(self, *exc: object) -> None:
        for sink in self._sinks.values():
            sink.close()


class _Folder:
    """Dumps as files: a folder a device, a file a tensor."""

    def __init__(self, url: str) -> None:
        self._root = url[len("file://") :]

    def about(self, device: str, graph: graph_pb2.GraphDef, now: int) -> None:
        event = event_pb2.Event(wall_time=now, graph_def=graph.SerializeToString())
        self._write(event, _device_folder(device), f"_tfdbg_graph_hash{abs(hash(device))}_{now}")

    def started(self, facts: dict[str, object], now: int) -> None:
        event = event_pb2.Event(wall_time=now)
        event.log_message.message = json.dumps(facts, separators=(",", ":"))
        self._write(event, f"_tfdbg_core_metadata_sessionrun{_counts['runs']:014d}_{now}")

    def tensor(self, output: Output, kind: str, gated: bool, tensor: tensor_pb2.TensorProto, now: int) -> None:
        for event in _tensor_events(output, kind, tensor, now, chunk=None):
            self._write(event, _device_folder(output.device), f"{output.node}_{output.slot}_{kind}_{now}")

    def close(self) -> None:
        """Every file is whole already."""

    def _write(self, event: event_pb2.Event, *path: str) -> None:
        whole = os.path.join(self._root, *path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "wb") as f:
            f.write(event.SerializeToString())


class _Debugger:
    """Dumps as events to whoever listens; what is gated goes there only once it was asked for."""

    def __init__(self, url: str) -> None:
        self._stream = debug_streams.EventStream(url)
        self._path = url.removeprefix(debug_streams.PREFIX).partition("/")[2]

    def about(self, device: str, graph: graph_pb2.GraphDef, now: int) -> None:
        self._stream.ask(event_pb2.Event(wall_time=now, graph_def=graph.SerializeToString()))

    def started(self, facts: dict[str, object], now: int) -> None:
        event = event_pb2.Event(wall_time=now)
        event.log_message.message = json.dumps({**facts, "grpc_path": self._path}, separators=(",", ":"))
        self._stream.ask(event)

    def tensor(self, output: Output, kind: str, gated: bool, tensor: tensor_pb2.TensorProto, now: int) -> None:
        key = f"{output.node}:{output.slot}:{kind}"
        if not gated or self._stream.wants(key):
            for event in _tensor_events(output, kind, tensor, now, _CHUNK):
                self._stream.send(event, key if gated else "")

    def close(self) -> None:
        self._stream.close()


def _sink(url: str) -> _Sink:
    for prefix, kind in (("file://", _Folder), (debug_streams.PREFIX, _Debugger)):
        if url.startswith(prefix):
            return kind(url)
    raise errors.UnimplementedError(None, None, f"Tensors are dumped to file:// and grpc:// addresses, not to {url}")


def _tensor_events(
    output: Output, kind: str, tensor: tensor_pb2.TensorProto, now: int, chunk: int | None
) -> Iterator[event_pb2.Event]:
    """A tensor as one event, or as several with up to `chunk` bytes each, which together are its content."""
    content = tensor.tensor_content
    size = chunk or len(content) or 1
    count = max(1, -(-len(content) // size))
    for i in range(count):
        event = event_pb2.Event(wall_time=now)
        value = event.summary.value.add(tag=output.node, node_name=f"{output.node}:{output.slot}:{kind}")
        value.tensor.CopyFrom(tensor)
        if count > 1:
            value.tensor.tensor_content = content[i * size : (i + 1) * size]
        value.metadata.plugin_data.plugin_name = "debugger"
        about = {"device": output.device, "outputSlot": output.slot, "numChunks": count, "chunkIndex": i}
        value.metadata.plugin_data.content = json.dumps(about, separators=(",", ":")).encode()
        yield event


def _device_folder(device: str) -> str:
    return "_tfdbg_device_" + device.replace("/", ",").replace(":", "_")


class _Seen(NamedTuple):
    """What an output was found to be: an array; or that nothing was assigned to it yet, in the shape it will have; or
    the handle of a resource.
    """

    array: np.ndarray | None
    dtype: dtypes.DType
    shape: Sequence[int | None] = ()
    handle: resource_handle_pb2.ResourceHandleProto | None = None


def _seen(value: Value, dtype: dtypes.DType, node: Node, slot: int) -> _Seen:
    from everflow.kernels.tensors import to_numpy  # builds on this module

    dtype = dtype.base_dtype
    if dtype == dtypes.resource:
        name = getattr(value, "name", "") or node.name
        container = getattr(value, "container", "") or "localhost"
        container = container.decode() if isinstance(container, bytes) else container
        handle = resource_handle_pb2.ResourceHandleProto(device=node.device, container=container, name=name)
        return _Seen(None, dtype, handle=handle)
    value = getattr(value, "value", value)
    if value is None or dtype == dtypes.variant:
        shape = node.op.outputs[slot].shape
        return _Seen(None, dtype, shape.as_list() if shape.is_fully_defined() else ())
    return _Seen(value if isinstance(value, np.ndarray) else to_numpy(value, dtype), dtype)


def _settings(debug_op: str, node: str) -> tuple[str, dict[str, str]]:
    """(kind, what stands in brackets behind it) as in `DebugNumericSummary(lower_bound=-1.0; mute_if_healthy=true)`."""
    kind, _, rest = debug_op.partition("(")
    if kind not in _SETTINGS:
        text = f"There is no debug op {kind!r}; there are {', '.join(_SETTINGS)}"
        raise errors.UnimplementedError(None, None, text)
    pairs = (part.partition("=") for part in rest.removesuffix(")").split(";") if part.strip())
    found = {key.strip(): value.strip() for key, _, value in pairs}
    unknown = [key for key in found if key not in _SETTINGS[kind] and key != "gated_grpc"]
    if unknown:
        text = f"{len(unknown)} attribute key(s) were not valid for debug op {kind} of {node}: {', '.join(unknown)}"
        raise errors.FailedPreconditionError(None, None, text)
    return kind, found


def _shown(kind: str, seen: _Seen, settings: dict[str, str], tolerant: bool) -> tensor_pb2.TensorProto | None:
    if kind == "DebugNumericSummary":
        if seen.dtype == dtypes.string and not tolerant:
            raise errors.FailedPreconditionError(None, None, "DebugNumericSummary takes numbers, not strings")
        return _numeric_summary(seen, settings)
    return _SUMMARIES[kind](seen)


def _identity(seen: _Seen) -> tensor_pb2.TensorProto | None:
    if seen.array is not None:
        return make_tensor_proto(seen.array)
    if seen.dtype == dtypes.variant:
        return None
    tensor = tensor_pb2.TensorProto(dtype=seen.dtype.as_datatype_enum)
    tensor.tensor_shape.CopyFrom(TensorShape(seen.shape).as_proto())
    if seen.handle is not None:
        tensor.tensor_content = seen.handle.SerializeToString()
    return tensor


def _nan_count(seen: _Seen) -> tensor_pb2.TensorProto | None:
    if seen.array is None:
        return None
    return make_tensor_proto(np.array([np.isnan(seen.array).sum() if seen.array.dtype.kind in "fc" else 0], np.int64))


def _numeric_summary(seen: _Seen, settings: Mapping[str, str]) -> tensor_pb2.TensorProto | None:
    """Whether it was assigned, how many numbers of which kind there are, their spread, and the type and shape. Numbers
    from a bound on count as infinite; what has none of these and no NaN is healthy.
    """
    if seen.dtype in (dtypes.resource, dtypes.variant, dtypes.string):
        return None
    if seen.array is None:
        counts, finite, shape = [0.0] * 8, np.zeros([0]), [dim or 0 for dim in seen.shape]
    else:
        numbers, shape = np.asarray(seen.array, np.float64).reshape(-1), list(seen.array.shape)
        low, high = float(settings.get("lower_bound", "-inf")), float(settings.get("upper_bound", "inf"))
        finite = numbers[np.isfinite(numbers)]
        inside = numbers[(numbers > low) & (numbers < high)]
        outside = [(numbers <= low).sum(), (numbers >= high).sum()]
        nans = np.isnan(numbers).sum()
        if settings.get("mute_if_healthy", "").lower() == "true" and not (nans or any(outside)):
            return None
        counts = [
            *(1.0, numbers.size, nans, outside[0]),
            *((inside < 0).sum(), (inside == 0).sum(), (inside > 0).sum(), outside[1]),
        ]
    spread = (
        [finite.min(), finite.max(), finite.mean(), finite.var()] if finite.size else [np.inf, -np.inf, np.nan, np.nan]
    )
    return make_tensor_proto(np.array([*counts, *spread, seen.dtype.as_datatype_enum, len(shape), *shape], np.float64))


_SUMMARIES: dict[str, Callable[[_Seen], tensor_pb2.TensorProto | None]] = {
    "DebugIdentity": _identity,
    "DebugNanCount": _nan_count,
}
# What may stand in brackets behind a debug op, besides whether it waits until somebody asks for it.
_SETTINGS: dict[str, tuple[str, ...]] = {
    "DebugIdentity": (),
    "DebugNanCount": (),
    "DebugNumericSummary": ("lower_bound", "upper_bound", "mute_if_healthy"),
}
