"""One op of any type: attributes that its definition allows, and inputs of types, shapes and numbers that it may take."""

from __future__ import annotations

import functools

import numpy as np

import everflow as tf
from everflow.framework import dtypes, op_defs
from everflow.framework import raw_ops as raw
from everflow.kernels import registry

TYPES = [
    tf.float32,
    tf.float32,
    tf.float32,
    tf.int32,
    tf.float64,
    tf.int64,
    tf.bool,
    tf.uint8,
    tf.complex64,
    tf.string,
    tf.float16,
]
SHAPES = [[], [3], [1], [2, 3], [3, 3], [0, 3], [1, 3], [2, 2, 3], [1, 4, 4, 2]]
# What time, place or chance of the process decides, what only has an effect, and where attributes must fit each other.
LEFT_OUT = frozenset(
    """
    Timestamp Print PrintV2 Assert Placeholder PlaceholderV2 Const ImmutableConst _Feed NoOp ControlTrigger Abort Empty EmptyTensorList Fact
    Switch Merge Enter Exit NextIteration LoopCond RefSwitch RefMerge RefEnter RefExit RefNextIteration MatchingFiles ReadFile WriteFile
    InplaceAdd InplaceUpdate InplaceSub DebugIdentity DebugNanCount DebugNumericSummary ParallelConcat _ParallelConcatStart
    CheckNumerics GuaranteeConst SingleImageRandomDotStereograms ParseExample ParseSingleExample ParseSequenceExample AudioSpectrogram
    """.split()
)


@functools.cache
def op_types() -> list[str]:
    """The op types with kernels whose results depend on their inputs alone."""
    found = []
    for name in registry.names():
        definition = op_defs.find(name)
        if (
            definition is None
            or definition.is_stateful
            or name in LEFT_OUT
            or name.startswith("_")
            or not definition.outputs
        ):
            continue
        arguments = [*definition.inputs, *definition.outputs]
        if any(a.is_ref or a.type in (dtypes.resource, dtypes.variant) for a in arguments) or any(
            "func" in a.type for a in definition.attrs
        ):
            continue
        if definition.inputs:
            found.append(name)
    return found


def draw(p, op_type: str | None = None) -> list[tf.Tensor]:
    """The outputs of an op that is new in the program, of some type or the one given; raises ValueError or TypeError
    where what was drawn doesn't fit.
    """
    definition = op_defs.get(op_type or p.random.choice(op_types()))
    attributes = {
        attr.name: _attribute(p, attr)
        for attr in definition.attrs
        if not attr.has_default or attr.type in ("bool", "type", "list(type)")
    }
    attributes.update(
        {a.name: _attribute(p, a) for a in definition.attrs if a.has_default and a.allowed and p.random.random() < 0.5}
    )
    base = p.random.choice(SHAPES) if p.random.random() < 0.6 else list(p.values[p.pick()].shape)
    inputs = {}
    for argument in definition.inputs:
        if argument.type_list_attr:
            types = attributes[argument.type_list_attr]
            inputs[argument.name] = [_tensor(p, argument.name, dtype, base) for dtype in types]
        else:
            dtype = argument.type or attributes[argument.type_attr]
            count = attributes[argument.number_attr] if argument.number_attr else None
            made = [_tensor(p, argument.name, dtype, base) for _ in range(1 if count is None else count)]
            inputs[argument.name] = made[0] if count is None else made
    inferred = definition.inferred_attrs()
    made = getattr(raw, definition.name)(**inputs, **{k: v for k, v in attributes.items() if k not in inferred})
    op = made if isinstance(made, tf.Operation) else _first(made).op
    return list(op.outputs)


def _first(made):
    return _first(made[0]) if isinstance(made, (list, tuple)) else made


def _attribute(p, attr):
    kind = attr.type
    if kind.startswith("list("):
        item = type(attr)(attr.name, kind[5:-1], allowed=attr.allowed)
        return [
            _attribute(p, item)
            for _ in range(
                max(attr.minimum or 0, p.random.randint(1, 4) if kind == "list(int)" else p.random.randint(1, 2))
            )
        ]
    if attr.allowed:
        fit = [t for t in TYPES if t in attr.allowed] if kind == "type" else list(attr.allowed)
        return p.random.choice(fit or list(attr.allowed))
    if kind == "type":
        return p.random.choice(TYPES)
    if kind == "int":
        return max(attr.minimum or 0, p.random.choice([0, 1, 2, 3]))
    if kind == "float":
        return p.random.choice([0.0, 0.5, 1.0])
    if kind == "bool":
        return p.random.random() < 0.5
    if kind == "shape":
        return p.random.choice(SHAPES)
    if kind == "string":
        return p.random.choice(["", "a"])
    raise ValueError(f"nothing is drawn for attributes of type {kind}")


def _tensor(p, name: str, dtype, base: list[int]) -> tf.Tensor:
    """A tensor for an argument: what its name tells, else one of the program, or a constant of a shape like that of
    others.
    """
    rank = max(len(base), 1)
    told = {
        "axis": lambda: p.random.choice([0, -1, rank - 1]),
        "reduction_indices": lambda: p.random.choice([0, [0], [], list(range(rank))]),
        "dimension": lambda: p.random.choice([0, -1]),
        "dim": lambda: 0,
        "concat_dim": lambda: 0,
        "split_dim": lambda: p.random.choice([0, -1]),
        "perm": lambda: p.random.sample(range(len(base)), len(base)),
        "multiples": lambda: [p.random.choice([0, 1, 2]) for _ in base],
        "paddings": lambda: [[p.random.choice([0, 1]), p.random.choice([0, 1])] for _ in base],
        "begin": lambda: [0] * len(base),
        "end": lambda: base,
        "size": lambda: [-1] * len(base) if dtype == tf.int32 and len(base) != 4 else [2, 3],
        "strides": lambda: [1] * len(base),
        "shape": lambda: base,
        "dims": lambda: base,
        "indices": lambda: p.random.choice([0, [0, 1], [1, 0, 0]]),
        "segment_ids": lambda: sorted(p.random.choices(range(3), k=base[0] if base else 1)),
        "num_segments": lambda: 3,
        "k": lambda: 1,
        "depth": lambda: 3,
    }
    if name in told and dtype in (tf.int32, tf.int64):
        return tf.constant(np.array(told[name](), dtype.as_numpy_dtype))
    if p.random.random() < 0.4:
        fit = [t for t in p.pool if t.dtype.base_dtype == dtype and list(p.values[t].shape) == base]
        if fit:
            return p.random.choice(fit)
    shape = base if p.random.random() < 0.8 else p.random.choice(SHAPES)
    count = int(np.prod(shape))
    if dtype == tf.string:
        return tf.constant(
            np.array([p.random.choice([b"", b"a", b"1.5", b"hello world"]) for _ in range(count)], object).reshape(
                shape
            ),
            tf.string,
        )
    low = 0 if dtype.is_unsigned or dtype == tf.bool or p.random.random() < 0.5 else -3
    values = np.array([p.random.randint(low, 3) for _ in range(count)]).reshape(shape)
    if dtype in (tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32):
        return tf.bitcast(tf.constant(values, {1: tf.int8, 2: tf.int16, 4: tf.int32}[dtype.size]), dtype)
    return tf.constant(values.astype(dtype.as_numpy_dtype), dtype)
