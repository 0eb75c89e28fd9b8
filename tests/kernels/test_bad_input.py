"""Every op type with a kernel, fed inputs that mostly don't fit: it computes, is refused while building, or raises an
OpError that
names the op. Anything else, such as a bare torch error, is a bug."""

import random
import zlib

import numpy as np
import pytest

import everflow as tf
from everflow import kernels
from everflow.framework import dtypes, op_defs
from tests.kernels.old_graphs import old_graph

# State, files, blocking, other processes: not for random input.
_LEFT_OUT = (
    "Queue",
    "Barrier",
    "Reader",
    "File",
    "Save",
    "Restore",
    "Checkpoint",
    "Stage",
    "Iterator",
    "Dataset",
    "PyFunc",
    "Print",
    "Abort",
    "Accumulator",
)
_SHAPES = [(), (0,), (1,), (3,), (2, 3), (3, 3), (0, 2), (1, 2, 3), (2, 4, 4, 1), (1, 3, 3, 2), (2, 1, 2, 2, 1)]


def _plain(definition):
    if definition.is_stateful or any(word in definition.name for word in _LEFT_OUT):
        return False
    special = {dtypes.resource, dtypes.variant}
    args = definition.inputs + definition.outputs
    return not any(a.is_ref or a.type in special for a in args) and not any(
        a.type in ("func", "list(func)") for a in definition.attrs
    )


def _op_types():
    found = [op_defs.find(name) for name in kernels.names()]
    return [d.name for d in found if d is not None and d.inputs and _plain(d)]


def _attr_value(attr, rng):
    kind = attr.type
    if attr.allowed:
        return rng.choice(attr.allowed)
    if kind == "type":
        return rng.choice([dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string, dtypes.bool])
    if kind == "int":
        return max(attr.minimum or -1, rng.choice([-1, 0, 1, 2, 3]))
    if kind == "float":
        return rng.choice([-1.0, 0.0, 0.5, 2.0])
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "string":
        return rng.choice([b"", b"NHWC", b"a"])
    if kind == "shape":
        return rng.choice([None, [], [2], [None, 3]])
    if kind == "list(int)":
        return rng.choice([[], [1], [1, 1], [1, 1, 1, 1], [1, 2, 2, 1], [0, -1, 1, 1]])
    if kind == "list(float)":
        return rng.choice([[], [0.5, 1.0]])
    if kind == "list(string)":
        return rng.choice([[], [b"a"]])
    if kind == "list(shape)":
        return rng.choice([[], [[1]]])
    if kind == "list(type)":
        return [dtypes.float32]
    return None


def _array(dtype, rng, numpy_rng):
    shape = rng.choice(_SHAPES)
    base = dtype.base_dtype
    if base is dtypes.string:
        return np.array(
            [rng.choice([b"", b"1", b"abc", b"\xff"]) for _ in range(int(np.prod(shape)))], dtype=object
        ).reshape(shape)
    if base is dtypes.bool:
        return numpy_rng.rand(*shape) < 0.5
    values = numpy_rng.randint(-2, 5, shape)
    if base.is_floating or base.is_complex:
        values = values * rng.choice([1.0, 0.5, 1e30]) if rng.random() < 0.9 else np.full(shape, np.nan)
    if base.is_quantized:
        return np.asarray(values).astype(np.dtype(base.as_numpy_dtype)[0])
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(base.as_numpy_dtype)


def _try(op_type, seed):
    rng = random.Random(seed)
    numpy_rng = np.random.RandomState(seed % 2**32)
    definition = op_defs.get(op_type)
    inferred = definition.inferred_attrs()
    attrs = {}
    for attr in definition.attrs:
        if attr.name in inferred and attr.type == "type":
            choices = [
                t
                for t in (attr.allowed or (dtypes.float32, dtypes.int32, dtypes.string))
                if not t.is_quantized or rng.random() < 0.2
            ]
            attrs[attr.name] = rng.choice(choices or list(attr.allowed))
        elif attr.name not in inferred and (not attr.has_default or rng.random() < 0.3):
            value = _attr_value(attr, rng)
            if value is not None:
                attrs[attr.name] = value
    keywords = {k: v for k, v in attrs.items() if k not in inferred}
    feeds = {}

    def tensor(dtype):
        placeholder = tf.placeholder(dtype)
        feeds[placeholder] = _array(dtype, rng, numpy_rng)
        return placeholder

    with old_graph().as_default(), np.errstate(all="ignore"):
        for arg in definition.inputs:
            dtype = arg.type if arg.type is not None else attrs.get(arg.type_attr, dtypes.float32)
            if arg.number_attr:
                keywords[arg.name] = [tensor(dtype) for _ in range(rng.choice([1, 2]))]
            elif arg.type_list_attr:
                keywords[arg.name] = [
                    tensor(rng.choice([dtypes.float32, dtypes.int32])) for _ in range(rng.choice([1, 2]))
                ]
            else:
                keywords[arg.name] = tensor(dtype)
        try:
            made = getattr(tf.raw_ops, op_type)(**keywords)
        except (ValueError, TypeError):
            return  # refused while building
        with tf.Session() as sess:
            try:
                sess.run(made, feeds)
            except tf.errors.OpError as e:
                assert not isinstance(e, tf.errors.UnimplementedError) or "No OpKernel" not in e.message
                assert e.op is not None, f"{op_type}: the error does not say which op failed: {e.message}"


@pytest.mark.parametrize("op_type", _op_types())
def test_input_that_does_not_fit_raises_what_tensorflow_raises(op_type):
    for attempt in range(6):
        _try(op_type, zlib.crc32(op_type.encode()) + attempt)
