"""Shape rules that op types of many families have; a family says which of its op types: `shape_rule("Size",
"Rank")(scalar_output)`.
"""

from __future__ import annotations

from everflow.framework.shapes import scalar, vector


def scalar_output(op):
    """One number, string or handle."""
    return scalar()


def vector_output(op):
    """A vector of a length that only the run tells."""
    return vector(None)


def reference_handle(op):
    """The handle of a queue, reader or accumulator in the old form: container and name."""
    return vector(2)


def like_first(op):
    """The shape of the first input."""
    return op.inputs[0].shape


def like_second(op):
    """The shape of the second input."""
    return op.inputs[1].shape


def like_first_two(op):
    """The shape that the first two inputs have together."""
    return op.inputs[0].shape.merge_with(op.inputs[1].shape)


def like_first_of_scalars(op):
    """The shape of the first input; the others are scalars."""
    for tensor in op.inputs[1:]:
        tensor.shape.with_rank(0)
    return op.inputs[0].shape


def attribute_shape(op):
    """What the attribute `shape` says."""
    return op.attrs["shape"]
