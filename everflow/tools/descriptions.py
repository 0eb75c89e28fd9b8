"""What files hold, told to a person: checkpoints, SavedModels, graphs, TensorFlow Lite models, event files and records.

A description is a list of parts, each a text or a table.
"""

from __future__ import annotations

import collections
import os

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import DecodeError

from everflow.formats import tflite
from everflow.formats.checkpoint import open_checkpoint
from everflow.framework import dtypes
from everflow.framework.graph import Graph
from everflow.framework.importer import import_graph_def
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.meta_graph_pb2 import MetaGraphDef
from everflow.protos.saved_model_pb2 import SavedModel
from everflow.runtime.session import Session
from everflow.saved_model.loader import maybe_saved_model_directory, parse_saved_model
from everflow.tools.parts import in_bytes, many, table
from everflow.tools.record_descriptions import logs, records
from everflow.train.checkpoint_state import checkpoint_exists, get_checkpoint_state, latest_checkpoint

_TABLE_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")


def _shape(sizes):
    return "[" + ", ".join("?" if n < 0 else str(n) for n in sizes) + "]"


def describe(path):
    """The parts of a description of what a path holds, whatever it is; ValueError where that is not known."""
    if os.path.isdir(path):
        return folder(path)
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


def folder(path):
    """A SavedModel, versions of one, or checkpoints and logs, as training leaves them behind."""
    if maybe_saved_model_directory(path):
        return saved_model(parse_saved_model(path), path)
    versions = sorted((int(name) for name in os.listdir(path) if name.isdigit()), reverse=True)
    versions = [v for v in versions if maybe_saved_model_directory(os.path.join(path, str(v)))]
    if versions:
        newest = os.path.join(path, str(versions[0]))
        head = f"{many(len(versions), 'version')} in {path}: {', '.join(map(str, versions))}; the newest:"
        return [head, *saved_model(parse_saved_model(newest), newest)]
    parts = checkpoints(path) + logs(path)
    if not parts:
        raise ValueError(f"{path} holds neither a SavedModel, nor a checkpoint, nor event files")
    return parts


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


def checkpoints(path):
    """The checkpoints that a folder's state file names, or else those that lie there, and the newest in full."""
    newest = latest_checkpoint(path)
    if newest:
        names = list(get_checkpoint_state(path).all_model_checkpoint_paths)
    else:
        found = [os.path.join(path, name) for name in os.listdir(path) if name.endswith(".index")]
        names = [name.removesuffix(".index") for name in sorted(found, key=os.path.getmtime)]
        if not names:
            return []
        newest = names[-1]
    lines = [f"{many(len(names), 'checkpoint')} in {path}:"]
    lines += [f"  {name}{'' if checkpoint_exists(name) else '  (files are missing)'}" for name in names]
    return ["\n".join(lines), *checkpoint(newest)]


def checkpoint(prefix):
    """Names, types and shapes of a checkpoint's tensors."""
    reader = open_checkpoint(prefix)
    rows, numbers, size = [], 0, 0
    for name in sorted(reader.names()):
        shape, dtype = reader.shape(name), reader.dtype(name)
        count = int(np.prod(shape, dtype=object))
        numbers += count
        size += count * (dtype.size if dtype is not dtypes.string else 0)
        rows.append((name, dtype.name, _shape(shape), count))
    head = f"Checkpoint {prefix}: {many(len(rows), 'tensor')}, {many(numbers, 'value')}, {in_bytes(size)}"
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
        f"{name}: {many(len(graph_def.node), 'node')}, {many(len(variables), 'variable')}, {in_bytes(constants)} of constants, "
        f"{many(len(graph_def.library.function), 'function')}"
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
    return table(collections.Counter(things).most_common(), header)


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
        f"TensorFlow Lite model {path}: {many(len(part.operators), 'operator')}, {many(len(part.tensors), 'tensor')}, {in_bytes(len(data))}"
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
    parts = [f"SavedModel {path}: {many(len(message.meta_graphs), 'meta graph')}"]
    for held in message.meta_graphs:
        parts.append(f"tags: {', '.join(held.meta_info_def.tags)}")
        parts += _meta_graph_parts(held)
    variables = os.path.join(path if os.path.isdir(path) else os.path.dirname(path), "variables", "variables")
    if checkpoint_exists(variables):
        parts += checkpoint(variables)
    return parts


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
