"""What a case records: `run(out)` calls `out` to show values, shapes, exceptions and graphs, which are kept as plain
JSON data.
"""

from __future__ import annotations

import base64
import tempfile
import zlib

import numpy as np

DEFAULT_TOLERANCE = (1e-5, 1e-6)
_INLINE = 48  # arrays of integers up to this size are kept readable


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def encode(value):
    """A JSON form of a fetched value that keeps dtype and shape."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, bytes):
        return {"bytes": _text(value)}
    if isinstance(value, dict):
        return {"dict": [[encode(k), encode(v)] for k, v in sorted(value.items(), key=lambda kv: str(kv[0]))]}
    if hasattr(value, "_fields"):
        return {"named": type(value).__name__, "items": [[f, encode(getattr(value, f))] for f in value._fields]}
    if isinstance(value, list | tuple):
        return {"list": [encode(v) for v in value]}
    if isinstance(value, int | float) and not isinstance(value, np.generic):
        return {"py": type(value).__name__, "value": repr(value)}
    return _encode_array(np.asarray(value))


def _encode_array(array):
    shape = list(array.shape)
    if array.dtype.kind in "OSU":
        flat = [v if isinstance(v, bytes) else str(v).encode() for v in array.ravel().tolist()]
        return {"dtype": "string", "shape": shape, "data": [_text(v) for v in flat]}
    name = str(array.dtype)
    if name == "bfloat16" or array.dtype.kind == "V":
        name, array = "bfloat16", array.astype(np.float32)
    if array.size <= _INLINE and array.dtype.kind in "biu":
        return {"dtype": name, "shape": shape, "data": array.ravel().tolist()}
    return {"dtype": name, "shape": shape, "zlib": _text(zlib.compress(np.ascontiguousarray(array).tobytes(), 9))}


def decode_array(node) -> np.ndarray:
    """The array that `encode` made `node` from."""
    if node["dtype"] == "string":
        data = [base64.b64decode(v) for v in node["data"]]
        array = np.empty(len(data), dtype=object)
        array[:] = data
        return array.reshape(node["shape"])
    dtype = np.float32 if node["dtype"] == "bfloat16" else np.dtype(node["dtype"])
    if "data" in node:
        return np.array(node["data"], dtype=dtype).reshape(node["shape"])
    return np.frombuffer(zlib.decompress(base64.b64decode(node["zlib"])), dtype=dtype).reshape(node["shape"])


def _encode_attr(attr):
    """An attribute of a node as plain data; of tensors type and shape, of functions that there is one."""
    kind = attr.WhichOneof("value")
    if kind is None:
        return None
    if kind == "tensor":
        return {"tensor": [attr.tensor.dtype, [d.size for d in attr.tensor.tensor_shape.dim]]}
    if kind == "func":
        return {"func": True}
    if kind == "shape":
        return {"shape": None if attr.shape.unknown_rank else [d.size for d in attr.shape.dim]}
    if kind == "s":
        return {"s": _text(attr.s)}
    if kind == "list":
        values = attr.list
        return {
            "list": [
                len(values.s),
                list(values.i),
                [round(f, 6) for f in values.f],
                list(values.b),
                list(values.type),
                len(values.shape),
            ]
        }
    value = getattr(attr, kind)
    return {kind: round(value, 6) if kind == "f" else value}


class Out:
    """Handed to `run(out)`. `records` is what the case showed, by name; `dir` a directory of its own."""

    def __init__(self, tf):
        self.records: dict[str, dict] = {}
        self.tf = tf
        self.dir = tempfile.mkdtemp(prefix="case-")

    def _put(self, name, kind, value, **more):
        if name in self.records:
            raise KeyError("recorded twice: " + name)
        self.records[name] = {"kind": kind, "value": value, **more}

    def __call__(self, name, value, rtol=DEFAULT_TOLERANCE[0], atol=DEFAULT_TOLERANCE[1], seeded=False):
        """A value; `seeded` says that it depends on TensorFlow's random generator."""
        tolerance = {} if (rtol, atol) == DEFAULT_TOLERANCE else {"tol": [rtol, atol]}
        self._put(name, "seeded" if seeded else "value", encode(value), **tolerance)

    def shape(self, name, tensor):
        """A tensor's static shape."""
        dims = tensor.shape.dims
        self._put(
            name, "value", None if dims is None else encode([None if d.value is None else int(d.value) for d in dims])
        )

    def raises(self, name, fn, *args, **kwargs):
        """The type of the exception that fn raises, not its words."""
        try:
            fn(*args, **kwargs)
        except Exception as e:
            self._put(name, "error", type(e).__name__)
        else:
            self._put(name, "error", None)

    def graph(self, name="graph", graph=None):
        """The graph's nodes: name, op, inputs, device, and attributes."""
        graph_def = (graph or self.tf.get_default_graph()).as_graph_def()
        nodes = [
            [
                n.name,
                n.op,
                list(n.input),
                n.device,
                {k: _encode_attr(v) for k, v in sorted(n.attr.items()) if k != "_output_shapes"},
            ]
            for n in graph_def.node
        ]
        self._put(name, "graph", nodes)
