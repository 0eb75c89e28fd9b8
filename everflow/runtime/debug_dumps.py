"""A run that is watched: after each node it writes the outputs that RunOptions ask for, so that a run that fails leaves
what came before. They go into a folder (`file://`) or to a debugger that listens (`grpc://`).
"""

from __future__ import annotations

import collections
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from everflow.framework import dtypes, errors
from everflow.framework.tensor_values import make_tensor_proto
from everflow.protos import event_pb2
from everflow.runtime import debug_streams

if TYPE_CHECKING:
    from everflow.framework.hints import Element
    from everflow.framework.operation import Tensor
    from everflow.protos import debug_pb2, graph_pb2
    from everflow.runtime.hints import Value
    from everflow.runtime.plan.program import Node

_counts = {"runs": 0}
_GATED = "gated_grpc=true"
_CHUNK = 4_096_000  # bytes of a tensor that one message to a debugger takes


class _Sink(Protocol):
    """Where dumps go."""

    def about(self, device: str, graph: graph_pb2.GraphDef, now: int) -> None: ...
    def started(self, facts: dict[str, object], now: int) -> None: ...
    def tensor(self, node: Node, slot: int, kind: str, gated: bool, array: np.ndarray, now: int) -> None: ...
    def close(self) -> None: ...


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
            for url in watch.debug_urls:
                if url not in self._sinks:
                    self._sinks[url] = _sink(url)

    def record(self, node: Node, start: int, end: int, values: list[Value]) -> None:
        """Called by the emitted function after each node."""
        for slot, value in enumerate(values):
            for watch in (*self._watches.get((node.name, slot), ()), *self._watches.get(("*", -1), ())):
                array = _as_array(value, node.output_dtypes[slot])
                if array is None:
                    continue
                for debug_op in watch.debug_ops:
                    kind, _, settings = debug_op.partition("(")
                    if kind not in _SUMMARIES:
                        raise errors.UnimplementedError(
                            None, None, f"There is no debug op {kind!r}; there are {', '.join(_SUMMARIES)}"
                        )
                    shown, now = _SUMMARIES[kind](array, node.output_dtypes[slot]), self._now()
                    for url in watch.debug_urls:
                        self._sinks[url].tensor(node, slot, kind, _GATED in settings.lower(), shown, now)

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

    def tensor(self, node: Node, slot: int, kind: str, gated: bool, array: np.ndarray, now: int) -> None:
        for event in _tensor_events(node, slot, kind, array, now, chunk=None):
            self._write(event, _device_folder(node.device), f"{node.name}_{slot}_{kind}_{now}")

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

    def tensor(self, node: Node, slot: int, kind: str, gated: bool, array: np.ndarray, now: int) -> None:
        key = f"{node.name}:{slot}:{kind}"
        if not gated or self._stream.wants(key):
            for event in _tensor_events(node, slot, kind, array, now, _CHUNK):
                self._stream.send(event, key if gated else "")

    def close(self) -> None:
        self._stream.close()


def _sink(url: str) -> _Sink:
    for prefix, kind in (("file://", _Folder), (debug_streams.PREFIX, _Debugger)):
        if url.startswith(prefix):
            return kind(url)
    raise errors.UnimplementedError(None, None, f"Tensors are dumped to file:// and grpc:// addresses, not to {url}")


def _tensor_events(
    node: Node, slot: int, kind: str, array: np.ndarray, now: int, chunk: int | None
) -> Iterator[event_pb2.Event]:
    """A tensor as one event, or as several with up to `chunk` bytes each, which together are its content."""
    tensor = make_tensor_proto(array)
    content = tensor.tensor_content
    size = chunk or len(content) or 1
    count = max(1, -(-len(content) // size))
    for i in range(count):
        event = event_pb2.Event(wall_time=now)
        value = event.summary.value.add(tag=node.name, node_name=f"{node.name}:{slot}:{kind}")
        if count > 1:
            tensor.tensor_content = content[i * size : (i + 1) * size]
        value.tensor.CopyFrom(tensor)
        value.metadata.plugin_data.plugin_name = "debugger"
        about = {"device": node.device, "outputSlot": slot, "numChunks": count, "chunkIndex": i}
        value.metadata.plugin_data.content = json.dumps(about, separators=(",", ":")).encode()
        yield event


def _device_folder(device: str) -> str:
    return "_tfdbg_device_" + device.replace("/", ",").replace(":", "_")


def _as_array(value: Value, dtype: dtypes.DType) -> np.ndarray | None:
    """The array behind a kernel's value; None for handles and what was never set."""
    from everflow.kernels.tensors import to_numpy  # builds on this module

    value = getattr(value, "value", value)
    if value is None or dtype.base_dtype in (dtypes.resource, dtypes.variant):
        return None
    return value if isinstance(value, np.ndarray) else to_numpy(value, dtype.base_dtype)


def _numeric_summary(array: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    numbers = np.asarray(array, np.float64).reshape(-1)
    finite = numbers[np.isfinite(numbers)]
    counts = [
        *(1.0, numbers.size, np.isnan(numbers).sum(), np.isneginf(numbers).sum()),
        *((finite < 0).sum(), (finite == 0).sum(), (finite > 0).sum(), np.isposinf(numbers).sum()),
    ]
    spread = (
        [finite.min(), finite.max(), finite.mean(), finite.var()] if finite.size else [np.inf, -np.inf, np.nan, np.nan]
    )
    return np.array([*counts, *spread, dtype.base_dtype.as_datatype_enum, array.ndim, *array.shape], np.float64)


_SUMMARIES = {
    "DebugIdentity": lambda array, dtype: array,
    "DebugNanCount": lambda array, dtype: np.int64(np.isnan(array).sum() if array.dtype.kind in "fc" else 0),
    "DebugNumericSummary": _numeric_summary,
}
