"""A function of one element drawn for many elements at once, with the bits that each would have alone.

Input pipelines call it so where they can: nothing that rounds, or draws random numbers, in another order. Elements are
often records and text, for which loops have no rules; they are here.
"""

from __future__ import annotations

from typing import NamedTuple

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.functions import Body, body_of
from everflow.framework.scopes import name_scope
from everflow.ops import array
from everflow.ops.parallel_for import array_rules, images, math_rules, ragged  # noqa: F401  They register what ops become.
from everflow.ops.parallel_for.vectorizer import Inputs, Vectorizer, rules_of, same, stacked

# What is computed for each value alone, and rounded as the processor does it.
_MOVING = """
    BroadcastTo ConcatV2 ExpandDims GatherV2 Identity IdentityN OneHot Pack Pad Rank Reshape SelectV2 Shape Size Slice Split SplitV Squeeze
    StopGradient StridedSlice Tile Transpose Unpack ZerosLike
"""
_COMPUTING = """
    Abs Add AddV2 BitwiseAnd BitwiseOr BitwiseXor Cast Ceil Div DivNoNan Equal Floor FloorDiv FloorMod Greater GreaterEqual Invert IsFinite
    IsInf IsNan LeftShift Less LessEqual LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul MulNoNan Neg NotEqual RealDiv Relu Relu6
    RightShift Rint Round Sign Sqrt Square SquaredDifference Sub TruncateDiv TruncateMod
"""
# The order in which these go through their values makes no difference, or makes one in floats only.
_REDUCING_ANY, _REDUCING_INTEGERS = "All Any Max Min", "Prod Sum"
# Each string, or value, for itself; whatever else goes in is the same for all.
_EACH = """
    AsString DecodeBase64 DecodeRaw EncodeBase64 RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace StringLength
    StringLower StringStrip StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper Substr UnicodeScript
    UnicodeTranscode
"""


def _each(inputs: Inputs):
    others = [inputs.same(i) for i in range(1, len(inputs))]
    return stacked(inputs.op_like([inputs.stacked(0), *others]).outputs[0])


def _join(inputs: Inputs):
    return stacked(inputs.op_like(inputs.all_stacked()).outputs[0])


def _find(inputs: Inputs):
    found = inputs.op_like([inputs.same(0), inputs.stacked(1), inputs.same(2)])
    return stacked(found.outputs[0])


def _csv(inputs: Inputs):
    defaults = [inputs.same(i) for i in range(1, len(inputs))]
    return [stacked(t) for t in inputs.op_like([inputs.stacked(0), *defaults]).outputs]


def _example(inputs: Inputs):
    shapes = inputs.attrs["dense_shapes"]
    if inputs.attrs["num_sparse"] or not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError("Examples with lists of any length have no one shape")
    none = array.constant([], "string")
    made = raw.ParseExample(
        serialized=inputs.stacked(0),
        names=none,
        sparse_keys=[],
        dense_keys=[array.constant(key) for key in inputs.attrs["dense_keys"]],
        dense_defaults=[inputs.same(i) for i in range(1, len(inputs))],
        sparse_types=[],
        dense_shapes=shapes,
    )
    return [stacked(t) for t in made.dense_values]


def _integer_reduction(inputs: Inputs):
    if inputs.tensor(0).dtype.is_floating or inputs.tensor(0).dtype.is_complex:
        raise ValueError("Sums of floats depend on their order")
    return math_rules._reduction(inputs)


def _same(inputs: Inputs):
    return same(inputs.op_like([inputs.same(i) for i in range(len(inputs))]).outputs[0])


_OBJECTS = (dtypes.resource, dtypes.variant)  # nothing that could be stacked
_RULES = rules_of((_MOVING + _COMPUTING + _REDUCING_ANY).split())
_RULES |= dict.fromkeys(_REDUCING_INTEGERS.split(), _integer_reduction)
_RULES |= dict.fromkeys(_EACH.split(), _each)
_RULES |= {
    "StringJoin": _join,
    "LookupTableFindV2": _find,
    "LookupTableSizeV2": _same,
    "DecodeCSV": _csv,
    "ParseSingleExample": _example,
    "StringSplit": ragged.split,
    "StringSplitV2": ragged.split,
    "Where": ragged.where,
}
_RULES_WITH_IMAGES = _RULES | images.RULES
_RULES = {op_type: ragged.with_lists(op_type, rule) for op_type, rule in _RULES.items()}
_RULES_WITH_IMAGES = {
    op_type: images.with_images(op_type, ragged.with_lists(op_type, rule))
    for op_type, rule in _RULES_WITH_IMAGES.items()
}


class Many(NamedTuple):
    """A function for many elements: its body, and which of its results are lists, each two outputs of the body: all
    values behind each other, and how many there are of each element.
    """

    body: Body
    lists: tuple[bool, ...]


def for_many(function, captured: int, lists: tuple[bool, ...] = ()) -> Many | None:
    """A graph function with its inputs but the last `captured`, and all outputs, along a further first dimension; None
    where that can't be drawn. `lists` says which inputs come as lists, two feeds each.
    """
    inputs, _ = function.body_tensors()
    if any(t.shape.rank != 1 for t, is_list in zip(inputs, lists) if is_list):
        return None
    return _drawn(own_body(function), captured, lists or (False,) * len(inputs), None, _RULES)


def for_so_many(body: Body, captured: int, count: int) -> Body | None:
    """The same of a body, for as many elements as are said, and with images, which take long for each: they may be of
    different sizes, and sums of floats are rounded in an order of their own.
    """
    made = _drawn(body, captured, (False,) * len(body.inputs), count, _RULES_WITH_IMAGES)
    return None if made is None or any(made.lists) else made.body


def own_body(function) -> Body:
    """The body of a graph function, drawn once more: it may be changed."""
    inputs, _ = function.body_tensors()
    handles, shapes = [t._handle_data for t in inputs], [t.shape for t in inputs]
    return body_of(function.definition, function._library, handle_data=handles, shapes=shapes)


def _drawn(body: Body, captured: int, lists: tuple[bool, ...], count: int | None, rules: dict) -> Many | None:
    elements = len(body.inputs) - captured
    whole = all(t.shape.rank is not None and t.dtype not in _OBJECTS for t in body.inputs[:elements])
    if not elements or not whole:
        return None
    ops = body.graph.get_operations()
    if any(op.type == "NextIteration" for op in ops):
        return None  # a loop drawn as tokens, as a Defun has it: what a result is made of has no beginning
    if any(t.dtype.is_complex for op in ops for t in op.outputs):
        return None  # their arithmetic rounds otherwise where one thread's share of many values ends
    with body.graph.as_default(), name_scope("many"):
        many = [_given(t, is_list, count) for t, is_list in zip(body.inputs[:elements], lists)]
        length = array.shape(getattr(many[0], "lengths", many[0].tensor))[0]
        vectorizer = Vectorizer(length, ops, dict(zip(body.inputs, many)), rules)
        try:
            outputs = [vectorizer.value_of(t) for t in body.outputs]
            outputs = [images.whole(v) if isinstance(v, images.Images) else v for v in outputs]
            controls = [vectorizer.convert(op) for op in body.controls]
        except (ValueError, TypeError):  # an op without a rule, or one whose rule wants something else
            return None
        if any(isinstance(v, ragged.Absent) or getattr(v, "rank", 1) != 1 for v in outputs):
            return None
        results = [t for v in outputs for t in _taken(vectorizer, v)]
    feeds = [t for v in many for t in ([v.tensor, v.lengths] if isinstance(v, ragged.Ragged) else [v.tensor])]
    made = Body(body.graph, [*feeds, *body.inputs[elements:]], results, controls)
    return Many(made, tuple(isinstance(v, ragged.Ragged) for v in outputs))


def _given(tensor, is_list: bool, count: int | None):
    """What stands for an input."""
    if is_list:
        return ragged.Ragged(array.placeholder(tensor.dtype, [None]), array.placeholder(dtypes.int64, [None]))
    return stacked(array.placeholder(tensor.dtype, [count, *tensor.shape.as_list()]))


def _taken(vectorizer: Vectorizer, value) -> list:
    """The tensors of a result."""
    if isinstance(value, ragged.Ragged):
        return [value.tensor, value.lengths]
    return [value.tensor if value.stacked else vectorizer.repeated(value.tensor)]
