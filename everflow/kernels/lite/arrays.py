"""Ops that move, choose and arrange elements, of any type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from everflow.formats.tflite import TYPES
from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.lite.arithmetic import activate
from everflow.kernels.lite.registry import Call, lite, tensorflow_op

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.kernels.tensors import AnyTensor, Value

_SAME = {
    "FILL": "Fill", "GATHER_ND": "GatherNd", "MATRIX_DIAG": "MatrixDiag", "MATRIX_SET_DIAG": "MatrixSetDiag", "PAD": "Pad", "PADV2": "PadV2",
    "RANGE": "Range", "RANK": "Rank", "REVERSE_V2": "ReverseV2", "SCATTER_ND": "ScatterNd", "SELECT": "Select", "SLICE": "Slice", "TILE": "Tile",
    "TRANSPOSE": "Transpose", "SPACE_TO_BATCH_ND": "SpaceToBatchND", "BATCH_TO_SPACE_ND": "BatchToSpaceND",
    "EXPAND_DIMS": "ExpandDims",
}  # fmt: skip
# TensorFlow's op, and its attributes from the options.
_WITH_OPTIONS = {
    "TOPK_V2": ("TopKV2", lambda o: {"sorted": True}),
    "ONE_HOT": ("OneHot", lambda o: {"axis": o.axis}),
    "SPLIT": ("Split", lambda o: {"num_split": o.num_splits}),
    "UNPACK": ("Unpack", lambda o: {"axis": o.axis, "num": o.num}),
    "UNIQUE": ("Unique", lambda o: {"out_idx": _dtype(o.idx_out_type)}),
    "SHAPE": ("Shape", lambda o: {"out_type": _dtype(o.out_type)}),
    "MIRROR_PAD": ("MirrorPad", lambda o: {"mode": ("REFLECT", "SYMMETRIC")[o.mode]}),
    "REVERSE_SEQUENCE": ("ReverseSequence", lambda o: {"seq_dim": o.seq_dim, "batch_dim": o.batch_dim}),
    "SPARSE_TO_DENSE": ("SparseToDense", lambda o: {"validate_indices": o.validate_indices}),
    "SPACE_TO_DEPTH": ("SpaceToDepth", lambda o: {"block_size": o.block_size, "data_format": "NHWC"}),
    "DEPTH_TO_SPACE": ("DepthToSpace", lambda o: {"block_size": o.block_size, "data_format": "NHWC"}),
    "RESIZE_BILINEAR": ("ResizeBilinear", lambda o: {"align_corners": o.align_corners, "half_pixel_centers": False}),
    "RESIZE_NEAREST_NEIGHBOR": (
        "ResizeNearestNeighbor",
        lambda o: {"align_corners": o.align_corners, "half_pixel_centers": False},
    ),
    "STRIDED_SLICE": ("StridedSlice", lambda o: {k: v for k, v in vars(o).items() if k.endswith("_mask")}),
}
for _name, _op in _SAME.items():
    lite(_name)(lambda call, *inputs, _op=_op: tensorflow_op(_op, *inputs))
for _name, (_op, _attributes) in _WITH_OPTIONS.items():
    lite(_name)(lambda call, *inputs, _op=_op, _a=_attributes: tensorflow_op(_op, *inputs, **_a(call.options)))


def _dtype(code: int) -> DType:
    return dtypes.as_dtype(TYPES[code])


@lite("RESHAPE")
def reshape(call: Call, x: torch.Tensor, shape: torch.Tensor | None = None) -> torch.Tensor:
    wanted = call.options.new_shape if shape is None else np.asarray(shape).ravel()
    if wanted is None:
        raise InvalidArgumentError(None, None, "RESHAPE says no shape, neither as an input nor among its options")
    return x.reshape(tuple(int(d) for d in wanted))


@lite("SQUEEZE")
def squeeze(call: Call, x: AnyTensor) -> AnyTensor:
    dims = call.options.squeeze_dims
    return tensorflow_op("Squeeze", x, squeeze_dims=[] if dims is None else [int(d) for d in dims])


@lite("CONCATENATION")
def concatenation(call: Call, *inputs: Value) -> AnyTensor:
    axis = call.options.axis
    if isinstance(inputs[0], np.ndarray):
        return np.concatenate(inputs, axis)
    return activate(torch.cat(inputs, axis), call.options.fused_activation_function)


@lite("PACK")
def pack(call: Call, *inputs: torch.Tensor) -> torch.Tensor:
    return tensorflow_op("Pack", list(inputs), axis=call.options.axis)


@lite("SPLIT_V")
def split_v(call: Call, x: torch.Tensor, sizes: torch.Tensor, axis: torch.Tensor) -> list[torch.Tensor]:
    return tensorflow_op("SplitV", x, sizes, axis, num_split=call.options.num_splits)


@lite("GATHER")
def gather(call: Call, x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    return tensorflow_op("GatherV2", x, indices, torch.tensor(call.options.axis), batch_dims=0)


@lite("EMBEDDING_LOOKUP")
def embedding_lookup(call: Call, indices: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    return tensorflow_op("GatherV2", table, indices, torch.tensor(0), batch_dims=0)


@lite("HASHTABLE_LOOKUP")
def hashtable_lookup(
    call: Call, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows of `values` at the place of each query among the sorted keys, zeros where it isn't there; and whether it
    was there.
    """
    at = torch.searchsorted(keys, queries).clamp(max=max(len(keys) - 1, 0))
    hits = keys[at] == queries
    rows = values[at] * hits.reshape([-1] + [1] * (values.ndim - 1)).to(values.dtype)
    return rows, hits.to(torch.uint8)


@lite("WHERE")
def where(call: Call, x: torch.Tensor) -> torch.Tensor:
    found = tensorflow_op("Where", x)
    return found if call.outputs[0].dtype == np.int64 else found.to(torch.int32)
