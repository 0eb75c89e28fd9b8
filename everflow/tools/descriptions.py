"""What files hold, told to a person: checkpoints, SavedModels, graphs, TensorFlow Lite models, event files and records.

A description is a list of parts, each a text or a table of rich, which knows how wide the terminal is.
"""

from __future__ import annotations

import collections
import os
import time

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError
from rich import box
from rich.table import Table

from everflow.formats import tflite
from everflow.formats.checkpoint import open_checkpoint
from everflow.formats.records import read_records
from everflow.framework import dtypes
from everflow.framework.errors import DataLossError
from everflow.framework.graph import Graph
from everflow.framework.importer import import_graph_def
from everflow.protos.event_pb2 import Event
from everflow.protos.example_pb2 import Example
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.protos.saved_model_pb2 import SavedModel
from everflow.runtime.session import Session
from everflow.saved_model.loader import maybe_saved_model_directory, parse_saved_model
from everflow.train.checkpoint_state import checkpoint_exists, get_checkpoint_state, latest_checkpoint

_TABLE_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")


def table(rows, header):
    """Columns of text under their names; numbers to the right."""
    rows = [[str(cell) for cell in row] for row in rows]
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for i, name in enumerate(header):
        numbers = bool(rows) and all(row[i].replace(",", "").isdigit() for row in rows)
        made.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def _many(count, noun):
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _shape(sizes):
    return "[" + ", ".join("?" if n < 0 else str(n) for n in sizes) + "]"


def _bytes(count):
    for unit in ("bytes", "KB", "MB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GB"


def describe(path):
    """The parts of a description of what a path holds, whatever it is; ValueError where that is not known."""
    if os.path.isdir(path):
        if maybe_saved_model_directory(path):
            return saved_model(parse_saved_model(path), path)
        if latest_checkpoint(path):
            return checkpoints(path)
        if events := [name for name in sorted(os.listdir(path)) if ".tfevents." in name]:
            return [part for name in events for part in records(os.path.join(path, name))]
        raise ValueError(f"{path} holds no SavedModel, no checkpoint and no event file")
    name = path.removesuffix(".index").partition(".data-")[0]
    if checkpoint_exists(name) and (not os.path.isfile(path) or name != path or _ends_with_magic(path)):
        return checkpoint(name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} does not exist")
    if _is_lite_model(path):
        return lite_model(path)
    message = read_graph_like(path)
    if isinstance(message, SavedModel):
        return saved_model(message, path)
    if isinstance(message, MetaGraphDef):
        return meta_graph(message, path)
    if isinstance(message, GraphDef):
        return graph(message, path)
    return records(path)


def _ends_with_magic(path):
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 8))
        return file.read() == _TABLE_MAGIC


def read_graph_like(path):
    """A SavedModel, MetaGraphDef or GraphDef, binary or text, by what makes sense of the file; None where nothing does."""
    with open(path, "rb") as file:
        data = file.read()
    for kind, graphs in (
        (MetaGraphDef, lambda m: [m.graph_def]),
        (SavedModel, lambda m: [g.graph_def for g in m.meta_graphs]),
        (GraphDef, lambda m: [m]),
    ):
        message = kind()
        try:
            if path.endswith("txt"):
                text_format.Parse(data.decode(), message)
            else:
                message.ParseFromString(data)
        except (DecodeError, text_format.ParseError, UnicodeDecodeError):
            continue
        found = graphs(message)
        nodes = [node for g in found for node in g.node]
        if nodes and all(node.name and node.op for node in nodes):
            return message
    return None


def checkpoints(folder):
    """The checkpoints that a folder's state file names, and the newest in full."""
    state = get_checkpoint_state(folder)
    lines = [f"{_many(len(state.all_model_checkpoint_paths), 'checkpoint')} in {folder}:"]
    lines += [
        f"  {path}{'' if checkpoint_exists(path) else '  (files are missing)'}"
        for path in state.all_model_checkpoint_paths
    ]
    return ["\n".join(lines), *checkpoint(latest_checkpoint(folder))]


def checkpoint(prefix):
    """Names, types and shapes of a checkpoint's tensors."""
    reader = open_checkpoint(prefix)
    rows, numbers, size = [], 0, 0
    for name in sorted(reader.names()):
        shape, dtype = reader.shape(name), reader.dtype(name)
        count = int(np.prod(shape, dtype=object))
        numbers += count
        size += count * (dtype.size if dtype is not dtypes.string else 0)
        rows.append((name, dtype.name, _shape(shape), f"{count:,}"))
    head = f"Checkpoint {prefix}: {_many(len(rows), 'tensor')}, {_many(numbers, 'value')}, {_bytes(size)}"
    return [head, table(rows, ("tensor", "type", "shape", "values"))]


def tensor(path, name):
    """The value of one tensor of a checkpoint."""
    prefix = latest_checkpoint(path) if os.path.isdir(path) else path.removesuffix(".index")
    value = open_checkpoint(prefix or path).read(name)
    return [f"{name}: {value.dtype} {_shape(value.shape)}\n{value}"]


def graph(graph_def, path):
    """Inputs, outputs, variables and op types of a graph."""
    return _graph_parts(f"Graph {path}", graph_def)


def _graph_parts(name, graph_def):
    used = {edge.removeprefix("^").partition(":")[0] for node in graph_def.node for edge in node.input}
    inputs = [n for n in graph_def.node if n.op in ("Placeholder", "PlaceholderV2")]
    ends = [n for n in graph_def.node if n.name not in used and n.op not in ("NoOp", "Const", "Assert")]
    variables = [n for n in graph_def.node if n.op in ("Variable", "VariableV2", "VarHandleOp")]
    constants = sum(n.attr["value"].ByteSize() for n in graph_def.node if n.op == "Const")
    parts = [
        f"{name}: {_many(len(graph_def.node), 'node')}, {_many(len(variables), 'variable')}, {_bytes(constants)} of constants, "
        f"{_many(len(graph_def.library.function), 'function')}"
    ]

    def typed(nodes, kind):
        rows = [
            (n.name, dtypes.as_dtype(n.attr["dtype"].type).name, _proto_shape(n.attr["shape"].shape)) for n in nodes
        ]
        return [table(rows, (kind, "type", "shape"))] if nodes else []

    parts += typed(inputs, "input")
    if ends:
        parts.append(table([(n.name, n.op) for n in ends[:20]], ("used by nobody", "op")))
    if len(ends) > 20:
        parts.append(f"... and {len(ends) - 20} more")
    return [*parts, *typed(variables, "variable"), _counted((n.op for n in graph_def.node), ("op", "nodes"))]


def _counted(things, header):
    return table([(thing, f"{n:,}") for thing, n in collections.Counter(things).most_common()], header)


def _is_lite_model(path):
    with open(path, "rb") as file:
        return file.read(8)[4:] == tflite.IDENTIFIER


def lite_model(path):
    """Inputs, outputs and ops of a TensorFlow Lite model."""
    with open(path, "rb") as file:
        data = file.read()
    model = tflite.read_model(data)
    part = model.subgraphs[0]
    parts = [
        f"TensorFlow Lite model {path}: {_many(len(part.operators), 'operator')}, {_many(len(part.tensors), 'tensor')}, {_bytes(len(data))}"
    ]
    for name, indices in (("input", part.inputs), ("output", part.outputs)):
        rows = []
        for tensor in (part.tensors[i] for i in (() if indices is None else indices)):
            q = tensor.quantization
            scaled = q is not None and all(held is not None and len(held) for held in (q.scale, q.zero_point))
            real = f"({q.scale[0]:g}, {q.zero_point[0]})" if scaled else ""
            shape = _shape([] if tensor.shape is None else tensor.shape)
            rows.append((tensor.name, tflite.TYPE_NAMES[tensor.type].lower(), shape, real))
        parts.append(table(rows, (name, "type", "shape", "scale and zero")))
    ops = (tflite.op_name(model.operator_codes[o.opcode_index]) for o in part.operators)
    return [*parts, _counted(ops, ("op", "operators"))]


def _proto_shape(shape):
    return "?" if shape.unknown_rank else _shape([d.size for d in shape.dim])


def meta_graph(message, path):
    """A meta graph: its tags, signatures and collections, then its graph."""
    return [f"Meta graph {path}", *_meta_graph_parts(message)]


def _meta_graph_parts(message):
    parts = []
    info = message.meta_info_def
    if info.tensorflow_version:
        parts.append(f"written by TensorFlow {info.tensorflow_version}")
    rows = []
    for key, signature in sorted(message.signature_def.items()):
        for kind, tensors in (("input", signature.inputs), ("output", signature.outputs)):
            for name, t in sorted(tensors.items()):
                dtype = dtypes.as_dtype(t.dtype).name if t.dtype else "?"
                rows.append((key, kind, name, dtype, _proto_shape(t.tensor_shape), t.name))
    if rows:
        parts.append(table(rows, ("signature", "", "key", "type", "shape", "tensor")))
    if message.collection_def:
        rows = []
        for name, held in sorted(message.collection_def.items()):
            kind = held.WhichOneof("kind")
            rows.append((name, kind or "empty", len(getattr(held, kind).value) if kind else 0))
        parts.append(table(rows, ("collection", "kind", "items")))
    if message.HasField("saver_def"):
        parts.append(f"saver: {message.saver_def.save_tensor_name} saves, {message.saver_def.restore_op_name} restores")
    return [*parts, *_graph_parts("graph", message.graph_def)]


def saved_model(message, path):
    """A SavedModel: each of its meta graphs, and the variables it has."""
    parts = [f"SavedModel {path}: {_many(len(message.meta_graphs), 'meta graph')}"]
    for held in message.meta_graphs:
        parts.append(f"tags: {', '.join(held.meta_info_def.tags)}")
        parts += _meta_graph_parts(held)
    variables = os.path.join(path if os.path.isdir(path) else os.path.dirname(path), "variables", "variables")
    if checkpoint_exists(variables):
        parts += checkpoint(variables)
    return parts


def records(path):
    """TFRecords: events as what they summarize, Examples as their features, others by size."""
    with open(path, "rb") as file:
        try:
            found = list(read_records(file, name=path))
        except DataLossError as e:
            raise ValueError(
                f"{path} is no checkpoint, graph, SavedModel, event file or TFRecord file ({e.message})"
            ) from e
    events = [_event(r) for r in found]
    if found and all(e is not None for e in events):
        return _events(events, path)
    return _examples(found, path)


def _event(record):
    try:
        event = Event.FromString(record)
    except DecodeError:
        return None
    return event if event.wall_time > 1e8 and event.WhichOneof("what") else None


def _events(events, path):
    tags: dict[tuple, list] = {}
    for event in events:
        if event.WhichOneof("what") == "summary":
            for value in event.summary.value:
                tags.setdefault((value.tag, value.WhichOneof("value")), []).append((event.step, value))
    rows = []
    for (tag, kind), values in sorted(tags.items()):
        last = f"{values[-1][1].simple_value:.6g}" if kind == "simple_value" else ""
        rows.append((tag, kind, f"{len(values):,}", values[0][0], values[-1][0], last))
    others = collections.Counter(e.WhichOneof("what") for e in events)
    del others["summary"]
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(events[0].wall_time))
    head = f"Event file {path}: {_many(len(events), 'event')} over {events[-1].wall_time - events[0].wall_time:.1f} s from {began}"
    parts = [head]
    if rows:
        parts.append(table(rows, ("tag", "kind", "events", "first step", "last step", "last value")))
    if others:
        parts.append(table(sorted(others.items()), ("other events", "count")))
    return parts


def _examples(found, path):
    sizes = [len(r) for r in found]
    head = f"TFRecord file {path}: {_many(len(found), 'record')}, {_bytes(sum(sizes))}"
    if not found:
        return [head]
    features: dict[str, list] = {}
    for record in found[:1000]:
        try:
            example = Example.FromString(record)
        except DecodeError:
            features = {}
            break
        for name, feature in example.features.feature.items():
            kind = feature.WhichOneof("kind")
            features.setdefault(name, []).append((kind, len(getattr(feature, kind).value) if kind else 0))
    if not features:
        return [
            head,
            f"they are no tf.train.Examples; the smallest has {min(sizes):,} bytes, the largest {max(sizes):,}",
        ]
    rows = []
    for name, seen in sorted(features.items()):
        lengths = [n for _, n in seen]
        kinds = "/".join(sorted({(kind or "empty").removesuffix("_list") for kind, _ in seen}))
        length = str(lengths[0]) if min(lengths) == max(lengths) else f"{min(lengths)} to {max(lengths)}"
        rows.append((name, kinds, length, f"{len(seen):,}"))
    return [head, table(rows, ("feature", "kind", "values", "in examples"))]


def plan(path, fetches, feeds):
    """What each stage of planning makes of a run of a graph in a file."""
    message = read_graph_like(path)
    if message is None:
        raise ValueError(f"{path} is no graph")
    if isinstance(message, SavedModel):
        message = message.meta_graphs[0]
    with Graph().as_default() as drawn, Session(graph=drawn) as sess:
        import_graph_def(message.graph_def if isinstance(message, MetaGraphDef) else message, name="")
        return [sess.explain(list(fetches), list(feeds))]
