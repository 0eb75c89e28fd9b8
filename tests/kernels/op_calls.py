"""Where the sweep over all kernels gets its inputs from: fed arrays, ref variables or resource variables, and calls of
op types whose
inputs can be made up from the definition alone."""

from __future__ import annotations

import itertools

import numpy as np

import everflow as tf
from everflow.framework import dtypes, op_defs, raw_ops

_SHAPES = [(3,), (2, 3), (3, 3), (), (2, 4, 4, 3), (0, 3), (1,)]
_PREFERRED = "float32 int32 string complex64 bool float64 int64 uint8 quint8 qint32 float16 uint16".split()
# Names of arguments that are no data: their value for data of a rank.
_NAMED = {
    "axis dim dimension split_dim concat_dim": lambda rank: np.int32(0),
    "reduction_indices": lambda rank: np.zeros(min(rank, 1), np.int32),
    "perm": lambda rank: np.arange(rank, dtype=np.int32)[::-1].copy(),
    "paddings": lambda rank: np.ones((rank, 2), np.int32),
    "multiples": lambda rank: np.full(rank, 2, np.int32),
    "indices segment_ids": lambda rank: np.array([0, 1], np.int32) if rank > 1 else np.array([0, 0, 1], np.int32),
    "num_segments depth num_rows": lambda rank: np.int32(4),
    "k n": lambda rank: np.int32(1),
    "fft_length": lambda rank: np.array([2], np.int32),
}
_VALUES = {name: value for names, value in _NAMED.items() for name in names.split()}
_GUESSES = {
    "int": 2,
    "float": 0.5,
    "bool": False,
    "type": dtypes.float32,
    "list(int)": [1, 1, 1, 1],
    "string": b"SAME",
    "shape": [2, 3],
}


class Sources:
    """Inputs of one graph, all of one kind: "fed", "ref" or "resource". Strings and quantised numbers are always fed."""

    def __init__(self, kind: str = "fed"):
        self._kind = kind
        self.feeds: dict = {}
        self.variables: list = []  # (variable, its value)

    def __call__(self, array, dtype=None):
        """A tensor, or a variable, of this value."""
        array = np.asarray(array, dtype if isinstance(dtype, type) else None)
        dtype = dtypes.as_dtype(array.dtype if dtype is None else dtype)
        if self._kind == "fed" or dtype is dtypes.string or dtype.is_quantized:
            placeholder = tf.placeholder(dtype, array.shape)
            self.feeds[placeholder] = array
            return placeholder
        made = tf.Variable(array, dtype=dtype, use_resource=self._kind == "resource")
        self.variables.append((made, array))
        return made._ref() if self._kind == "ref" else made.handle if dtype is dtypes.resource else made

    def f(self, *shape):
        """Numbers between 0 and 1."""
        return self(value(dtypes.float32, shape, len(self.feeds) + len(self.variables)))

    def check_unchanged(self, session, copies: dict) -> None:
        """What was fed, and the variables, are what they were."""
        for placeholder, array in self.feeds.items():
            np.testing.assert_array_equal(array, copies[placeholder])
        for found, (_, array) in zip(session.run([v for v, _ in self.variables]), self.variables):
            np.testing.assert_array_equal(found, array)


def value(dtype, shape, seed: int = 0) -> np.ndarray:
    """An array of small positive numbers, or of short strings."""
    generator = np.random.RandomState(seed + sum(shape))
    base = dtype.base_dtype
    if base is dtypes.string:
        return np.array([b"%d" % (i % 3) for i in range(int(np.prod(shape)))] + [None], object)[:-1].reshape(shape)
    if base is dtypes.bool:
        return np.asarray(generator.rand(*shape) < 0.5)
    if base.is_floating or base.is_complex:
        return np.asarray(generator.uniform(0.1, 0.9, shape)).astype(base.as_numpy_dtype)
    kind = np.dtype(base.as_numpy_dtype)[0] if base.is_quantized else base.as_numpy_dtype
    return np.asarray(generator.randint(0, 2, shape)).astype(kind)


def _types(definition) -> list[dict]:
    """Some choices of the types that inputs decide."""
    inferred = definition.inferred_attrs()
    attrs = [a for a in definition.attrs if a.name in inferred and a.type == "type"]
    allowed = [
        [t for t in map(dtypes.as_dtype, _PREFERRED) if not a.allowed or t in a.allowed] or list(a.allowed)
        for a in attrs
    ]
    most = max(map(len, allowed), default=1)
    return [{a.name: choice[min(i, len(choice) - 1)] for a, choice in zip(attrs, allowed)} for i in range(min(most, 3))]


def calls(op_type: str):
    """Lists of calls `make(sources)` that build a node of an op type and return its outputs, one list for each choice
    of types.
    """
    definition = op_defs.get(op_type)
    needed = [a for a in definition.attrs if not a.has_default and a.name not in definition.inferred_attrs()]
    attributes = {a.name: a.allowed[0] if a.allowed else _GUESSES.get(a.type) for a in needed}
    if None in attributes.values():
        return []
    return [[_call(definition, types, shape, attributes) for shape in _SHAPES] for types in _types(definition)]


def _call(definition, types, shape, attributes):
    def make(sources):
        arguments, seed = [], itertools.count()
        for arg in definition.inputs:
            dtype = arg.type if arg.type is not None else types.get(arg.type_attr, dtypes.float32)
            known = _VALUES.get(arg.name) if dtype.is_integer else None
            if known is not None:
                made = [known(len(shape)).astype(dtype.as_numpy_dtype)]
            else:
                made = [sources(value(dtype, shape, next(seed)), dtype) for _ in range(2 if arg.is_list else 1)]
            arguments.append(made if arg.is_list else made[0])
        made = getattr(raw_ops, definition.name)(*arguments, **attributes)
        return tf.contrib.framework.nest.flatten(made)

    return make
