"""The schema of .tflite files, version 3: its tables, op codes and types, by their numbers; reading and writing models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from everflow.formats import flatbuffers

if TYPE_CHECKING:
    from types import SimpleNamespace

IDENTIFIER = b"TFL3"
VERSION = 3

SCHEMA = flatbuffers.Schema("""
Model: version uint, operator_codes [OperatorCode], subgraphs [SubGraph], description string, buffers [Buffer], metadata_buffer [int],
    metadata [Metadata]
Metadata: name string, buffer uint
OperatorCode: builtin_code byte, custom_code string, version int=1
SubGraph: tensors [Tensor], inputs [int], outputs [int], operators [Operator], name string
Tensor: shape [int], type byte, buffer uint, name string, quantization QuantizationParameters, is_variable bool
QuantizationParameters: min [float], max [float], scale [float], zero_point [long], details union QuantizationDetails, quantized_dimension
    int
CustomQuantization: custom [ubyte]
Operator: opcode_index uint, inputs [int], outputs [int], builtin_options union BuiltinOptions, custom_options [ubyte],
    custom_options_format byte, mutating_variable_inputs [bool], intermediates [int]
Buffer: data [ubyte]
QuantizationDetails = CustomQuantization
BuiltinOptions = Conv2DOptions DepthwiseConv2DOptions ConcatEmbeddingsOptions LSHProjectionOptions Pool2DOptions SVDFOptions RNNOptions
    FullyConnectedOptions SoftmaxOptions ConcatenationOptions AddOptions L2NormOptions LocalResponseNormalizationOptions LSTMOptions
    ResizeBilinearOptions CallOptions ReshapeOptions SkipGramOptions SpaceToDepthOptions EmbeddingLookupSparseOptions MulOptions
    PadOptions GatherOptions BatchToSpaceNDOptions SpaceToBatchNDOptions TransposeOptions ReducerOptions SubOptions DivOptions
    SqueezeOptions SequenceRNNOptions StridedSliceOptions ExpOptions TopKV2Options SplitOptions LogSoftmaxOptions CastOptions
    DequantizeOptions MaximumMinimumOptions ArgMaxOptions LessOptions NegOptions PadV2Options GreaterOptions GreaterEqualOptions
    LessEqualOptions SelectOptions SliceOptions TransposeConvOptions SparseToDenseOptions TileOptions ExpandDimsOptions EqualOptions
    NotEqualOptions ShapeOptions PowOptions ArgMinOptions FakeQuantOptions PackOptions LogicalOrOptions OneHotOptions LogicalAndOptions
    LogicalNotOptions UnpackOptions FloorDivOptions SquareOptions ZerosLikeOptions FillOptions BidirectionalSequenceLSTMOptions
    BidirectionalSequenceRNNOptions UnidirectionalSequenceLSTMOptions FloorModOptions RangeOptions ResizeNearestNeighborOptions
    LeakyReluOptions SquaredDifferenceOptions MirrorPadOptions AbsOptions SplitVOptions UniqueOptions ReverseV2Options AddNOptions
    GatherNdOptions CosOptions WhereOptions RankOptions ReverseSequenceOptions MatrixDiagOptions QuantizeOptions MatrixSetDiagOptions
    HardSwishOptions IfOptions WhileOptions DepthToSpaceOptions NonMaxSuppressionV4Options NonMaxSuppressionV5Options ScatterNdOptions
Conv2DOptions: padding byte, stride_w int, stride_h int, fused_activation_function byte, dilation_w_factor int=1, dilation_h_factor int=1
DepthwiseConv2DOptions: padding byte, stride_w int, stride_h int, depth_multiplier int, fused_activation_function byte, dilation_w_factor
    int=1, dilation_h_factor int=1
ConcatEmbeddingsOptions: num_channels int, num_columns_per_channel [int], embedding_dim_per_channel [int]
LSHProjectionOptions: type byte
Pool2DOptions: padding byte, stride_w int, stride_h int, filter_width int, filter_height int, fused_activation_function byte
SVDFOptions: rank int, fused_activation_function byte
RNNOptions: fused_activation_function byte
FullyConnectedOptions: fused_activation_function byte, weights_format byte, keep_num_dims bool
SoftmaxOptions: beta float
ConcatenationOptions: axis int, fused_activation_function byte
AddOptions: fused_activation_function byte
L2NormOptions: fused_activation_function byte
LocalResponseNormalizationOptions: radius int, bias float, alpha float, beta float
LSTMOptions: fused_activation_function byte, cell_clip float, proj_clip float, kernel_type byte
ResizeBilinearOptions: new_height int, new_width int, align_corners bool
CallOptions: subgraph uint
ReshapeOptions: new_shape [int]
SkipGramOptions: ngram_size int, max_skip_size int, include_all_ngrams bool
SpaceToDepthOptions: block_size int
EmbeddingLookupSparseOptions: combiner byte
MulOptions: fused_activation_function byte
PadOptions:
GatherOptions: axis int
BatchToSpaceNDOptions:
SpaceToBatchNDOptions:
TransposeOptions:
ReducerOptions: keep_dims bool
SubOptions: fused_activation_function byte
DivOptions: fused_activation_function byte
SqueezeOptions: squeeze_dims [int]
SequenceRNNOptions: time_major bool, fused_activation_function byte
StridedSliceOptions: begin_mask int, end_mask int, ellipsis_mask int, new_axis_mask int, shrink_axis_mask int
ExpOptions:
TopKV2Options:
SplitOptions: num_splits int
LogSoftmaxOptions:
CastOptions: in_data_type byte, out_data_type byte
DequantizeOptions:
MaximumMinimumOptions:
ArgMaxOptions: output_type byte
LessOptions:
NegOptions:
PadV2Options:
GreaterOptions:
GreaterEqualOptions:
LessEqualOptions:
SelectOptions:
SliceOptions:
TransposeConvOptions: padding byte, stride_w int, stride_h int
SparseToDenseOptions: validate_indices bool
TileOptions:
ExpandDimsOptions:
EqualOptions:
NotEqualOptions:
ShapeOptions: out_type byte
PowOptions:
ArgMinOptions: output_type byte
FakeQuantOptions: min float, max float, num_bits int, narrow_range bool
PackOptions: values_count int, axis int
LogicalOrOptions:
OneHotOptions: axis int
LogicalAndOptions:
LogicalNotOptions:
UnpackOptions: num int, axis int
FloorDivOptions:
SquareOptions:
ZerosLikeOptions:
FillOptions:
BidirectionalSequenceLSTMOptions: fused_activation_function byte, cell_clip float, proj_clip float, merge_outputs bool, time_major bool=1
BidirectionalSequenceRNNOptions: time_major bool, fused_activation_function byte, merge_outputs bool
UnidirectionalSequenceLSTMOptions: fused_activation_function byte, cell_clip float, proj_clip float, time_major bool
FloorModOptions:
RangeOptions:
ResizeNearestNeighborOptions: align_corners bool
LeakyReluOptions: alpha float
SquaredDifferenceOptions:
MirrorPadOptions: mode byte
AbsOptions:
SplitVOptions: num_splits int
UniqueOptions: idx_out_type byte=2
ReverseV2Options:
AddNOptions:
GatherNdOptions:
CosOptions:
WhereOptions:
RankOptions:
ReverseSequenceOptions: seq_dim int, batch_dim int
MatrixDiagOptions:
QuantizeOptions:
MatrixSetDiagOptions:
HardSwishOptions:
IfOptions: then_subgraph_index int, else_subgraph_index int
WhileOptions: cond_subgraph_index int, body_subgraph_index int
DepthToSpaceOptions: block_size int
NonMaxSuppressionV4Options:
NonMaxSuppressionV5Options:
ScatterNdOptions:
""")  # fmt: skip

# The built-in ops in the order of their codes.
BUILTINS = """
ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP
L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE
RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD
UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM
STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX
MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG
SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN
FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V
UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE
NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND
""".split()
CODES = {name: code for code, name in enumerate(BUILTINS)}
# numpy's types in the order of TensorType; strings are kept as bytes objects.
TYPES = tuple(np.dtype(t) for t in ("f4", "f2", "i4", "u1", "i8", "O", "?", "i2", "c8", "i1"))
TYPE_NAMES = "FLOAT32 FLOAT16 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8".split()
# Options whose table isn't named after the op.
_OPTIONS = {
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), "Pool2DOptions"),
    **dict.fromkeys(("SUM", "MEAN", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY"), "ReducerOptions"),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), "MaximumMinimumOptions"),
    "L2_NORMALIZATION": "L2NormOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
}
_OPTIONS_BY_NAME = {table.lower(): table for table in SCHEMA.unions["BuiltinOptions"]}
ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT")
PADDINGS = ("SAME", "VALID")


def options_table(op: str) -> str | None:
    """The name of the table that holds an op's options, None for an op that never has any."""
    return _OPTIONS.get(op) or _OPTIONS_BY_NAME.get(op.replace("_", "").lower() + "options")


def type_code(dtype: Any) -> int:
    """The number of a numpy type in a model."""
    dtype = np.dtype(dtype)
    if dtype not in TYPES:
        raise ValueError(f"TensorFlow Lite has no tensors of type {dtype}")
    return TYPES.index(dtype)


def read_model(data: bytes) -> SimpleNamespace:
    """The Model table of a .tflite file; FlatbufferError where it is not one, or points outside itself."""
    model = flatbuffers.read(data, SCHEMA, "Model", IDENTIFIER)
    if model.version != VERSION:
        raise flatbuffers.FlatbufferError(f"the model's version is {model.version}, only {VERSION} is understood")
    if not model.subgraphs:
        raise flatbuffers.FlatbufferError("the model has no subgraph")
    buffers, codes = model.buffers or [], model.operator_codes or []
    for graph in model.subgraphs:
        tensors = graph.tensors = graph.tensors or []
        graph.operators = graph.operators or []
        for tensor in tensors:
            if not 0 <= tensor.type < len(TYPES):
                raise flatbuffers.FlatbufferError(f"tensor {tensor.name!r} has the unknown type {tensor.type}")
            if tensor.buffer >= max(len(buffers), 1):
                raise flatbuffers.FlatbufferError(
                    f"tensor {tensor.name!r} is in buffer {tensor.buffer} of {len(buffers)}"
                )
            if tensor.shape is not None and (np.asarray(tensor.shape) < 0).any():
                raise flatbuffers.FlatbufferError(f"tensor {tensor.name!r} has the shape {list(tensor.shape)}")
        for operator in graph.operators:
            if operator.opcode_index >= len(codes):
                raise flatbuffers.FlatbufferError(f"an operator has code {operator.opcode_index} of {len(codes)}")
        _check_indices([graph.inputs, graph.outputs], 0, len(tensors))
        _check_indices([o.inputs for o in graph.operators], -1, len(tensors))  # -1: an optional input that isn't there
        _check_indices([o.outputs for o in graph.operators], 0, len(tensors))
    return model


def _check_indices(lists: Iterable[Any], least: int, count: int) -> None:
    for indices in lists:
        for index in () if indices is None else indices:
            if not least <= index < count:
                raise flatbuffers.FlatbufferError(f"a tensor's index is {index}, the model has {count}")


def write_model(model: SimpleNamespace) -> bytes:
    """The bytes of a .tflite file."""
    return flatbuffers.write(model, SCHEMA, IDENTIFIER)


def op_name(code: SimpleNamespace) -> str:
    """The name of an operator code: its built-in name, or that of the custom op."""
    if not 0 <= code.builtin_code < len(BUILTINS):
        return f"BUILTIN_{code.builtin_code}"
    name = BUILTINS[code.builtin_code]
    return code.custom_code or "" if name == "CUSTOM" else name


def pack_strings(values: np.ndarray) -> bytes:
    """Strings as a buffer holds them: how many, where each begins, where the last ends, then their bytes."""
    items = [v if isinstance(v, bytes) else str(v).encode() for v in np.asarray(values, object).ravel()]
    offsets = np.cumsum([4 * (len(items) + 2), *map(len, items)])
    return np.array([len(items), *offsets], "<i4").tobytes() + b"".join(items)


def unpack_strings(data: bytes, shape: Sequence[int]) -> np.ndarray:
    """What `pack_strings` packed, in this shape."""
    count = int(np.frombuffer(data, "<i4", 1)[0]) if len(data) >= 4 else -1
    if count < 0 or 4 * (count + 2) > len(data):
        raise flatbuffers.FlatbufferError("a buffer of strings is cut off")
    offsets = np.frombuffer(data, "<i4", count + 1, 4)
    if (np.diff(offsets) < 0).any() or offsets[0] < 4 * (count + 2) or offsets[-1] > len(data):
        raise flatbuffers.FlatbufferError("a string lies outside its buffer")
    made = np.empty(count, object)
    made[:] = [data[a:b] for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    if int(np.prod(shape)) != count:
        raise flatbuffers.FlatbufferError(f"{count} strings do not fill the shape {list(shape)}")
    return made.reshape(shape)
