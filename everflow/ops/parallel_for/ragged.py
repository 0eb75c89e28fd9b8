"""Lists of different lengths, one for each of many elements: all values behind each other, and how many there are of each.

Splitting text and finding places makes them; whatever is computed for each value alone keeps them.
"""

from __future__ import annotations

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.ops import array, math
from everflow.ops.parallel_for.vectorizer import Inputs, stacked


class Ragged:
    """What stands for a list in each element, of numbers or (`rank` 2) of vectors; `ids` has the element of each value,
    in order.
    """

    stacked = True

    def __init__(self, tensor, lengths, ids=None, rank=1):
        self.tensor, self.lengths, self.ids, self.rank = tensor, lengths, ids, rank


class Absent:
    """What stands for a tensor that has no form for many elements; nobody may use it."""

    stacked = True

    def __init__(self, tensor):
        self.tensor = tensor


def with_lists(op_type, rule):
    """A rule that goes by the lists among its inputs, where there are any."""

    def by_kind(inputs: Inputs):
        if any(isinstance(v, Absent) for v in inputs.values):
            raise ValueError(f"An input of {op_type} has no form for many elements")
        if any(isinstance(v, Ragged) for v in inputs.values):
            if op_type not in _LISTS:
                raise ValueError(f"{op_type} takes no lists of different lengths")
            made = _LISTS[op_type](inputs)
        else:
            made = rule(inputs)
        return [made] if isinstance(made, Ragged) else made

    return by_kind


def _each_value(inputs: Inputs):
    """What is computed for each value alone; all that differs between elements is a list of the same lengths."""
    lists = [v for v in inputs.values if isinstance(v, Ragged)]
    for value in inputs.values:
        if isinstance(value, Ragged):
            fits = value.lengths is lists[0].lengths
        else:
            fits = not value.stacked and (value.tensor.shape.rank == 0 or value.tensor.dtype == dtypes.resource)
        if not fits:
            raise ValueError("Lists of other lengths")
    made = inputs.op_like(v.tensor for v in inputs.values).outputs[0]
    return Ragged(made, lists[0].lengths, lists[0].ids, lists[0].rank)


def _size(inputs: Inputs):
    if inputs.values[0].rank != 1:
        raise ValueError("Lists of vectors")
    return stacked(math.cast(inputs.values[0].lengths, inputs.attrs["out_type"]))


def _shape(inputs: Inputs):
    return stacked(array.expand_dims(_size(inputs).tensor, 1))


def _least(inputs: Inputs):
    """The least of all values of an element's list; that of none is the largest number there is."""
    whole, axes = inputs.values[0], inputs.same(1)
    if whole.ids is None or axes.shape.num_elements() != whole.rank or inputs.attrs["keep_dims"]:
        raise ValueError("Not the least of a whole list")
    flat = array.reshape(whole.tensor, [-1])  # one number for each place
    return stacked(raw.UnsortedSegmentMin(data=flat, segment_ids=whole.ids, num_segments=inputs.length[0]))


def where(inputs: Inputs):
    """The places in a vector of each element at which it is true."""
    condition = inputs.stacked(0)
    if condition.shape.rank != 2 or condition.dtype != dtypes.bool:
        raise ValueError("Places in something else than a vector")
    places = raw.Where(input=condition)
    lengths = math.reduce_sum(math.cast(condition, dtypes.int64), 1)
    return Ragged(places[:, 1:], lengths, places[:, 0], rank=2)


def split(inputs: Inputs):
    """The pieces of one string of each element."""
    text = inputs.stacked(0)
    if text.shape.rank != 2 or text.shape.size(1) != 1:
        raise ValueError("More than one string to split")
    made = inputs.op_like([array.reshape(text, [-1]), inputs.same(1)])
    indices, values, shape = made.outputs
    ids = indices[:, 0]
    ones = array.ones_like(ids)
    lengths = raw.UnsortedSegmentSum(data=ones, segment_ids=ids, num_segments=inputs.length[0])
    return [Absent(indices), Ragged(values, lengths, ids), Absent(shape)]


_LISTS = {"Size": _size, "Shape": _shape, "Min": _least}
_LISTS |= dict.fromkeys(
    """
    Abs Add AddV2 AsString Cast Div Equal Floor FloorDiv FloorMod Greater GreaterEqual Identity Less LessEqual LogicalAnd LogicalNot LogicalOr
    LookupTableFindV2 Maximum Minimum Mul Neg NotEqual RealDiv RegexReplace SelectV2 Select StaticRegexReplace StringJoin StringLength
    StringLower StringStrip StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper Sub
    """.split(),
    _each_value,
)
