"""tf.contrib.labeled_tensor: tensors whose dimensions have names, and whose entries along them may have labels."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.contrib.labeled_tensor.axes import Axes, Axis, AxisOrderError, as_axis, axis_order_scope
from everflow.contrib.labeled_tensor.core import (
    ELEMENTWISE,
    LabeledTensor,
    align,
    check_axis_order,
    convert_to_labeled_tensor,
    define_binary_op,
    define_unary_op,
    expand_dims,
    identity,
    impose_axis_order,
    transpose,
)
from everflow.contrib.labeled_tensor.core import slice_function as slice
from everflow.contrib.labeled_tensor.input import (
    FixedLenFeature,
    batch,
    parse_example,
    parse_single_example,
    shuffle_batch,
)
from everflow.contrib.labeled_tensor.ops import (
    REDUCTIONS,
    ReshapeCoder,
    boolean_mask,
    cast,
    concat,
    constant,
    define_reduce_op,
    foldl,
    map_fn,
    matmul,
    ones_like,
    pack,
    pad,
    placeholder,
    random_crop,
    rename_axis,
    reshape,
    select,
    squeeze,
    tile,
    unpack,
    verify_tensor_all_finite,
    where,
    zeros_like,
)

globals().update(ELEMENTWISE)
globals().update(REDUCTIONS)
