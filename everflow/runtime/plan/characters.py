"""A rule for text that is taken apart: code points that are encoded again one by one, as `tf.strings.unicode_split` draws
it, are characters, and those can be cut out of the text.
"""

from __future__ import annotations

from everflow.runtime.plan.patterns import Match, Rule, const, op, value
from everflow.runtime.plan.program import Node, internal

_ENCODING = "errors output_encoding replacement_char"
_DECODING = "input_encoding replace_control_characters"
CHARACTERS = internal("_UnicodeCharacters", "input", attributes=f"{_DECODING} {_ENCODING}")


def _characters(m: Match) -> Node | None:
    """Bounds 0, 1, 2, ... up to the number of code points: each row is one of them."""
    decoded, output = m.points
    if decoded.type not in ("UnicodeDecode", "UnicodeDecodeWithOffsets") or output != 1:
        return None
    is_same_rule = all(decoded.attribute(name) == m.root.attribute(name) for name in ("errors", "replacement_char"))
    if not is_same_rule or not _counts_points(m) or decoded.block is not m.root.block:
        return None
    if m.context.aliases.changes_between(decoded.inputs, decoded, m.root):
        return None
    attributes = {name: decoded.attribute(name) for name in _DECODING.split()}
    attributes |= {name: m.root.attribute(name) for name in _ENCODING.split()}
    return m.node(CHARACTERS, [decoded.inputs[0]], **attributes)


def _counts_points(m: Match) -> bool:
    """Whether bounds are the whole numbers up to the first size of the column of code points."""
    wanted = {"axis": (-1, 1), "start": (0,), "one": (1,), "step": (1,), "first": (0,), "behind": (1,), "stride": (1,)}
    is_counting = all(m.value(name).reshape(-1).tolist() in [[v] for v in values] for name, values in wanted.items())
    masks = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 1}
    return is_counting and all(m.size[0].attribute(name) == mask for name, mask in masks.items())


_column = op("ExpandDims", value("points"), const("axis"))
_size = op("StridedSlice", op("Shape", _column), const("first"), const("behind"), const("stride"), name="size")
_bounds = op("Range", const("start"), op("AddV2", _size, const("one"), commutes=True), const("step"))

CHARACTER_RULES = [
    Rule("characters", "remapping", op("UnicodeEncode", op("Reshape", _column, value("shape")), _bounds), _characters)
]
