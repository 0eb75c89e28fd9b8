"""Which built-in op of TensorFlow Lite an op becomes: tables for those that only change name and settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from everflow.formats import tflite
from everflow.lite import select_ops
from everflow.lite.custom_options import encode_attributes
from everflow.lite.net import Net
from everflow.lite.reading import PASSING, name_of


class ConverterError(Exception):
    """A graph that can't be converted to TensorFlow Lite."""


@dataclass
class Source:
    """An operation of the graph: its type, its name, names of arrays, and its attributes."""

    type: str
    name: str
    inputs: list
    outputs: list
    attrs: dict


Rule = Callable[[Net, Source], None]
RULES: dict[str, Rule] = {}


def lowering(*op_types: str):
    """Register `fn(net, source)`, which adds the operators that an op of these types becomes."""

    def register(function):
        RULES.update(dict.fromkeys(op_types, function))
        return function

    return register


def _table(text):
    """{op of TensorFlow: op of TensorFlow Lite} from pairs of words, `A=B`; `A` alone becomes A in capitals."""
    pairs = (word.partition("=") for word in text.split())
    return {name: other or name.upper() for name, _, other in pairs}


# The same inputs and outputs, no options.
_SAME = _table("""
    Abs Ceil Cos Elu Exp Floor Log LogSoftmax=LOG_SOFTMAX Neg Relu Relu6 Round Rsqrt Sigmoid=LOGISTIC Sin Sqrt Square
    Tanh ZerosLike=ZEROS_LIKE Equal NotEqual=NOT_EQUAL Less LessEqual=LESS_EQUAL Greater GreaterEqual=GREATER_EQUAL
    LogicalAnd=LOGICAL_AND LogicalOr=LOGICAL_OR LogicalNot=LOGICAL_NOT Pow FloorDiv=FLOOR_DIV FloorMod=FLOOR_MOD
    Maximum Minimum Fill Range Rank ReverseV2=REVERSE_V2 Select Slice MatrixDiag=MATRIX_DIAG
    MatrixSetDiag=MATRIX_SET_DIAG
""")
# The same inputs and outputs, options without fields.
_EMPTY = _table("""
    AddN=ADD_N SquaredDifference=SQUARED_DIFFERENCE GatherNd=GATHER_ND Pad PadV2 Tile TopKV2=TOPK_V2 Transpose Where
    SpaceToBatchND=SPACE_TO_BATCH_ND BatchToSpaceND=BATCH_TO_SPACE_ND
""")
_FUSABLE = _table("Add AddV2=ADD BiasAdd=ADD Sub Mul RealDiv=DIV Div")
_REDUCTIONS = _table("Sum Mean Prod=REDUCE_PROD Max=REDUCE_MAX Min=REDUCE_MIN Any=REDUCE_ANY")


def _code(dtype) -> int:
    return tflite.type_code(dtype.as_numpy_dtype)


def _pool(a):
    check_format(a)
    padding = tflite.PADDINGS.index(a["padding"].decode())
    height, width = a["ksize"][1:3]
    window = {"filter_height": height, "filter_width": width}
    return {**strides(a), "padding": padding, **window, "fused_activation_function": 0}


def strides(a) -> dict:
    """The strides of a window, of which TensorFlow Lite has two."""
    return {"stride_h": int(a["strides"][1]), "stride_w": int(a["strides"][2])}


def check_format(a) -> None:
    """ConverterError for images whose channels come first."""
    if a.get("data_format", b"NHWC") != b"NHWC":
        raise ConverterError(f"Only the data format NHWC can be converted, not {a['data_format'].decode()}")


# The built-in op, and its options from the attributes.
_WITH_OPTIONS = {
    **{op: (name, lambda a: {"fused_activation_function": 0}) for op, name in _FUSABLE.items()},
    **{op: (name, lambda a: {"keep_dims": bool(a["keep_dims"])}) for op, name in _REDUCTIONS.items()},
    "AvgPool": ("AVERAGE_POOL_2D", _pool),
    "MaxPool": ("MAX_POOL_2D", _pool),
    "ArgMax": ("ARG_MAX", lambda a: {"output_type": _code(a["output_type"])}),
    "ArgMin": ("ARG_MIN", lambda a: {"output_type": _code(a["output_type"])}),
    "Cast": ("CAST", lambda a: {"in_data_type": _code(a["SrcT"]), "out_data_type": _code(a["DstT"])}),
    "DepthToSpace": ("DEPTH_TO_SPACE", lambda a: {"block_size": int(a["block_size"])}),
    "SpaceToDepth": ("SPACE_TO_DEPTH", lambda a: {"block_size": int(a["block_size"])}),
    "LRN": (
        "LOCAL_RESPONSE_NORMALIZATION",
        lambda a: {"radius": int(a["depth_radius"]), "bias": a["bias"], "alpha": a["alpha"], "beta": a["beta"]},
    ),
    "LeakyRelu": ("LEAKY_RELU", lambda a: {"alpha": a["alpha"]}),
    "MirrorPad": ("MIRROR_PAD", lambda a: {"mode": (b"REFLECT", b"SYMMETRIC").index(a["mode"])}),
    "OneHot": ("ONE_HOT", lambda a: {"axis": int(a["axis"])}),
    "Pack": ("PACK", lambda a: {"values_count": int(a["N"]), "axis": int(a["axis"])}),
    "Unpack": ("UNPACK", lambda a: {"num": int(a["num"]), "axis": int(a["axis"])}),
    "ResizeBilinear": ("RESIZE_BILINEAR", lambda a: {"align_corners": bool(a["align_corners"])}),
    "ResizeNearestNeighbor": ("RESIZE_NEAREST_NEIGHBOR", lambda a: {"align_corners": bool(a["align_corners"])}),
    "ReverseSequence": ("REVERSE_SEQUENCE", lambda a: {"seq_dim": int(a["seq_dim"]), "batch_dim": int(a["batch_dim"])}),
    "Shape": ("SHAPE", lambda a: {"out_type": _code(a["out_type"])}),
    "Softmax": ("SOFTMAX", lambda a: {"beta": 1.0}),
    "SparseToDense": ("SPARSE_TO_DENSE", lambda a: {"validate_indices": bool(a["validate_indices"])}),
    "Split": ("SPLIT", lambda a: {"num_splits": int(a["num_split"])}),
    "SplitV": ("SPLIT_V", lambda a: {"num_splits": int(a["num_split"])}),
    "Unique": ("UNIQUE", lambda a: {"idx_out_type": _code(a["out_idx"])}),
}
# Ops that only make sure of something, or hold an order of other ops.
_NOTHING = ("NoOp", "Assert")


def _renamed(name: str, options=None) -> Rule:
    def lower(net, source):
        net.add(name, source.inputs, source.outputs, None if options is None else options(source.attrs))

    return lower


RULES.update({op: _renamed(name) for op, name in _SAME.items()})
RULES.update({op: _renamed(name, lambda a: {}) for op, name in _EMPTY.items()})
RULES.update({op: _renamed(name, options) for op, (name, options) in _WITH_OPTIONS.items()})
RULES.update({op: lambda net, source: None for op in (*_NOTHING, "Placeholder", "Const")})


@lowering(*PASSING)
def _passing(net, source):
    """A step that the rewrites take away again, or make a copy of where it leads from an input straight to an output."""
    for source_name, name in zip(source.inputs, source.outputs, strict=False):
        net.add("IDENTITY", [source_name], [name])


@lowering("Reshape")
def _reshape(net, source):
    shape = net.value(source.inputs[1])
    options = {"new_shape": None if shape is None else np.asarray(shape, np.int32)}
    net.add("RESHAPE", source.inputs, source.outputs, options)


@lowering("Squeeze", "ExpandDims")
def _other_shape(net, source):
    """Where the shape is known, these are reshapes."""
    shape = net.shape(source.outputs[0])
    if shape is None and source.type == "Squeeze":
        net.add("SQUEEZE", source.inputs, source.outputs, {"squeeze_dims": list(source.attrs["squeeze_dims"])})
    elif shape is None:
        net.add("EXPAND_DIMS", source.inputs, source.outputs)
    else:
        wanted = net.constant(f"{source.name}_shape", np.array(shape, np.int32))
        net.add("RESHAPE", [source.inputs[0], wanted], source.outputs, {"new_shape": np.array(shape, np.int32)})


@lowering("ConcatV2", "Concat")
def _concat(net, source):
    last = source.type == "ConcatV2"
    axis, *parts = [source.inputs[-1], *source.inputs[:-1]] if last else source.inputs
    value = net.value(axis)
    if value is None:
        raise ConverterError(f"The axis of {source.name} must be a constant")
    rank = len(known_shape(net, source, parts[0]))
    net.add("CONCATENATION", parts, source.outputs, {"axis": int(value) % max(rank, 1), "fused_activation_function": 0})


@lowering("Gather", "GatherV2")
def _gather(net, source):
    axis = net.value(source.inputs[2]) if len(source.inputs) > 2 else 0
    if axis is None:
        raise ConverterError(f"The axis of {source.name} must be a constant")
    if source.attrs.get("batch_dims", 0):
        raise ConverterError(f"{source.name} gathers by batches, which TensorFlow Lite can't")
    net.add("GATHER", source.inputs[:2], source.outputs, {"axis": int(axis)})


@lowering("TopK")
def _top_k(net, source):
    k = net.constant(f"{source.name}/k", np.array(source.attrs["k"], np.int32))
    net.add("TOPK_V2", [source.inputs[0], k], source.outputs, {})


@lowering("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars")
def _fake_quant(net, source):
    a = source.attrs
    if source.type.endswith("Vars"):
        low, high = (net.value(name) for name in source.inputs[1:3])
        if low is None or high is None:
            raise ConverterError(f"The range of {source.name} must be constant. Is it a frozen graph for evaluation?")
    else:
        low, high = a["min"], a["max"]
    options = {"min": float(low), "max": float(high), "num_bits": int(a["num_bits"])}
    options["narrow_range"] = bool(a["narrow_range"])
    value = net.value(source.inputs[0])
    if value is None:
        net.add("FAKE_QUANT", source.inputs[:1], source.outputs, options)
    else:
        array = net.arrays[source.outputs[0]]
        array.value, array.range = fake_quantized(value, options), (options["min"], options["max"])
        array.narrow = options["narrow_range"]


def fake_quantized(value, options):
    """What FAKE_QUANT makes of a value: the nearest of the reals that integers of so many bits can stand for."""
    least, most = (1 if options["narrow_range"] else 0), (1 << options["num_bits"]) - 1
    scale = (options["max"] - options["min"]) / (most - least)
    zero = np.clip(np.floor(least - options["min"] / scale + 0.5), least, most)
    steps = np.clip(np.floor(value / scale + zero + 0.5), least, most)
    return ((steps - zero) * scale).astype(np.float32)


def lower_graph(reading, builtins: bool = True, select: bool = False) -> Net:
    """A net of built-in ops, and custom ones for the rest: with `select` TensorFlow's, without `builtins` all."""
    from everflow.lite.hinted import collapse  # builds on this module

    load_rules()
    net = Net(inputs=list(reading.inputs), outputs=list(reading.outputs))
    for name, value in reading.constants.items():
        net.constant(name, value)
    all_known = all(op.type in RULES or op in reading.passing for op in reading.operations)
    for op in reading.operations:
        if op.type == "Placeholder" and op.name not in reading.inputs:
            raise ConverterError(f"Placeholder {op.name} should be specified by input_arrays: outputs need its value.")
        for tensor in op.outputs:
            shape = tuple(tensor.shape.as_list()) if tensor.shape.is_fully_defined() else None
            net.array(name_of(tensor), tensor.dtype.as_numpy_dtype, shape)
        if op in reading.passing:
            tensor, output = reading.passing[op]
            net.add("IDENTITY", [reading.name_of_input(tensor)], [name_of(output)])
            continue
        inputs, outputs = [reading.name_of_input(t) for t in op.inputs], [name_of(t) for t in op.outputs]
        source = Source(op.type, op.name, inputs, outputs, op.attrs)
        if not ((builtins or op.type in (*PASSING, "Placeholder")) and _lowered(net, source, all_known)):
            node = net.add(select_ops.PREFIX + op.type if select else op.type, source.inputs, source.outputs)
            node.is_custom, node.custom = True, select_ops.encode(op, source) if select else encode_attributes(op.attrs)
    collapse(net, reading.operations)
    return net


def _lowered(net, source, all_known: bool) -> bool:
    """Whether a rule took an op; around ops without a rule others may lack what theirs need, and don't count."""
    if source.type not in RULES:
        return False
    try:
        RULES[source.type](net, source)
    except ConverterError:
        if all_known:
            raise
        return False
    return True


def known_shape(net, source, name) -> tuple[int, ...]:
    """The shape of an array, which a rule needs."""
    shape = net.shape(name)
    if shape is None:
        raise ConverterError(f"The shape of {name} must be known to convert {source.name} ({source.type})")
    return shape


def load_rules() -> None:
    """Have the rules of other modules in the table."""
    import everflow.lite.lowering_layers  # noqa: F401
