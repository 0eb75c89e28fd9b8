"""A run that is watched: after each node it writes the outputs that RunOptions ask for, so that a run that fails leaves
what came before.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from everflow.framework import dtypes, errors
from everflow.framework.tensor_values import make_tensor_proto
from everflow.protos import event_pb2

if TYPE_CHECKING:
    from everflow.framework.hints import Element
    from everflow.framework.operation import Tensor
    from everflow.protos import debug_pb2, graph_pb2
    from everflow.runtime.hints import Value
    from everflow.runtime.plan.program import Node

_counts = {"runs": 0}


class DebugDumps:
    """Writes the dumps of one run."""

    def __init__(self, options: debug_pb2.DebugOptions) -> None:
        self._watches: dict[tuple[str, int], list[debug_pb2.DebugTensorWatch]] = {}
        self._roots: list[str] = []
        self._last = 0
        for watch in options.debug_tensor_watch_opts:
            self._watches.setdefault((watch.node_name, watch.output_slot), []).append(watch)
            for url in watch.debug_urls:
                if not url.startswith("file://"):
                    raise errors.UnimplementedError(None, None, f"Everflow dumps tensors to file:// only, not to {url}")
                if url[len("file://") :] not in self._roots:
                    self._roots.append(url[len("file://") :])
        self._global_step = options.global_step

    def record(self, node: Node, start: int, end: int, values: list[Value]) -> None:
        """Called by the emitted function after each node."""
        for slot, value in enumerate(values):
            for watch in (*self._watches.get((node.name, slot), ()), *self._watches.get(("*", -1), ())):
                array = _as_array(value, node.output_dtypes[slot])
                if array is None:
                    continue
                for debug_op in watch.debug_ops:
                    kind = debug_op.partition("(")[0]
                    if kind not in _SUMMARIES:
                        raise errors.UnimplementedError(
                            None, None, f"There is no debug op {kind!r}; there are {', '.join(_SUMMARIES)}"
                        )
                    self._write(node, slot, kind, _SUMMARIES[kind](array, node.output_dtypes[slot]), watch)

    def _now(self) -> int:
        self._last = max(self._last + 1, time.time_ns() // 1000)
        return self._last

    def _write(self, node: Node, slot: int, kind: str, array: np.ndarray, watch: debug_pb2.DebugTensorWatch) -> None:
        now = self._now()
        event = event_pb2.Event(wall_time=now)
        value = event.summary.value.add(tag=node.name, node_name=f"{node.name}:{slot}:{kind}")
        value.tensor.CopyFrom(make_tensor_proto(array))
        value.metadata.plugin_data.plugin_name = "debugger"
        about = {"device": node.device, "outputSlot": slot, "numChunks": 1, "chunkIndex": 0}
        value.metadata.plugin_data.content = json.dumps(about, separators=(",", ":")).encode()
        for url in watch.debug_urls:
            folder = os.path.join(url[len("file://") :], _device_folder(node.device))
            _write_event(event, os.path.join(folder, f"{node.name}_{slot}_{kind}_{now}"))

    def write_graphs(
        self,
        graph_defs: Iterable[graph_pb2.GraphDef],
        fetches: Sequence[Element],
        feeds: Sequence[Tensor],
    ) -> None:
        """Write what ran, beside the tensors."""
        _counts["runs"] += 1
        about = {
            "global_step": self._global_step,
            "session_run_index": _counts["runs"],
            "executor_step_index": 0,
            "input_names": [tensor.name for tensor in feeds],
            "output_names": [fetch.name for fetch in fetches if hasattr(fetch, "op")],
            "target_nodes": [fetch.name for fetch in fetches if not hasattr(fetch, "op")],
        }
        now = self._now()
        for root in self._roots:
            event = event_pb2.Event(wall_time=now)
            event.log_message.message = json.dumps(about, separators=(",", ":"))
            _write_event(event, os.path.join(root, f"_tfdbg_core_metadata_sessionrun{_counts['runs']:014d}_{now}"))
            for graph in graph_defs:
                device = next((node.device for node in graph.node if node.device), "")
                event = event_pb2.Event(wall_time=now, graph_def=graph.SerializeToString())
                _write_event(
                    event, os.path.join(root, _device_folder(device), f"_tfdbg_graph_hash{abs(hash(device))}_{now}")
                )


def _device_folder(device: str) -> str:
    return "_tfdbg_device_" + device.replace("/", ",").replace(":", "_")


def _write_event(event: event_pb2.Event, path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(event.SerializeToString())


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
