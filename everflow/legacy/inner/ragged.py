"""Names that programs take from inside TensorFlow's modules of ragged tensors."""

import functools

import everflow.data.structure  # noqa: F401  gives specs their methods for batches
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.ops import array
from everflow.ops.array.sequences import int_tensor as convert_to_int_tensor
from everflow.ops.array.sequences import positive_axis as get_positive_axis
from everflow.ops.checks.values import assert_equal
from everflow.ops.ragged.conversion import ragged_from_sparse, ragged_from_tensor, ragged_to_tensor
from everflow.ops.ragged.functions import concat
from everflow.ops.ragged.indexing import getitem as ragged_tensor_getitem
from everflow.ops.ragged.places import one_hot as ragged_one_hot
from everflow.ops.ragged.reductions import segment
from everflow.ops.ragged.segments import lengths_to_splits, repeat_ranges
from everflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from everflow.ops.ragged.value import RaggedTensorValue
from everflow.ops.strings.ragged import strings_split as string_split_v2

segment_sum, segment_prod, segment_max, segment_min, segment_mean, segment_sqrt_n = (
    functools.partial(segment, kind) for kind in ("sum", "prod", "max", "min", "mean", "sqrt_n")
)


def is_ragged(value):
    """Whether a value is a ragged tensor, or what a run gives for one."""
    return isinstance(value, RaggedTensor | RaggedTensorValue)


def convert_to_tensor_or_ragged_tensor(value, dtype=None, preferred_dtype=None, name=None):
    """A RaggedTensor as it is, a RaggedTensorValue as constants, anything else as a Tensor."""
    return as_ragged_or_tensor(value, name, dtype, preferred_dtype)


def match_row_splits_dtypes(*tensors, **kwargs):
    """Tensors whose row splits have one dtype; with `return_dtype`, that and the tensors."""
    found = {t.row_splits.dtype for t in tensors if isinstance(t, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(f"The row_splits are of {found}: with_row_splits_dtype() brings them to one dtype")
    return (next(iter(found), dtypes.int64), tensors) if kwargs.get("return_dtype") else tensors


def from_tensor(tensor, lengths=None, padding=None, ragged_rank=1, row_splits_dtype=dtypes.int64, name=None):
    """`RaggedTensor.from_tensor`; what is ragged already stays."""
    if is_ragged(tensor):
        return tensor
    return ragged_from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)


def to_tensor(rt_input, default_value=None, name=None):
    """`RaggedTensor.to_tensor`; what is a tensor already stays."""
    return ragged_to_tensor(rt_input, default_value, name) if is_ragged(rt_input) else rt_input


def to_sparse(rt_input, name=None):
    """`RaggedTensor.to_sparse`."""
    return rt_input.to_sparse(name)


def from_sparse(st_input, name=None):
    """`RaggedTensor.from_sparse`."""
    return ragged_from_sparse(st_input, name, dtypes.int64)


def size(input, out_type=dtypes.int32, name=None):
    """`tf.size`, its arguments in the order that the ragged form has."""
    return array.size(input, name=name, out_type=out_type)


def gather(params, indices, validate_indices=None, axis=0, batch_dims=0, name=None):
    """`tf.gather`, its arguments in the order that the ragged form has."""
    return array.gather(params, indices, validate_indices, name, axis, batch_dims)


def gather_nd(params, indices, batch_dims=0, name=None):
    """`tf.gather_nd`, its arguments in the order that the ragged form has."""
    return array.gather_nd(params, indices, name, batch_dims)


def ragged_to_dense(rt_input, default_value=None, shape=None):
    """A dense tensor of a given shape: rows that are short are filled up, what lies outside is left out."""
    splits = list(rt_input.nested_row_splits)
    if not isinstance(shape, Tensor):
        sizes = TensorShape(shape)
        shape = array.constant(-1 if sizes.rank is None else [-1 if n is None else n for n in sizes.as_list()])
    return raw.RaggedTensorToTensor(
        shape=shape,
        values=rt_input.flat_values,
        default_value=array.zeros((), rt_input.dtype) if default_value is None else default_value,
        row_partition_tensors=splits,
        row_partition_types=["ROW_SPLITS"] * len(splits),
    )


def auto_cast_partition_dtype():
    """Whether row splits of different types are brought together by themselves: they are not."""
    return False


def assert_splits_match(nested_splits_lists):
    """Checks that lists of row splits, one list for each tensor, are the same."""
    message = "Inputs must have identical ragged splits"
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError(message)
    pairs = [pair for splits in others for pair in zip(first, splits, strict=True)]
    return [assert_equal(a, b, message=message) for a, b in pairs]


__all__ = [
    "concat",
    "convert_to_int_tensor",
    "get_positive_axis",
    "lengths_to_splits",
    "ragged_one_hot",
    "ragged_tensor_getitem",
    "repeat_ranges",
    "string_split_v2",
]
