"""The nodes that ragged tensors are drawn with, as TensorFlow 1.15.5 draws them."""

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def rows():
    return tf.RaggedTensor.from_row_splits(
        tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([0, 2, 2, 4], tf.int64), validate=False
    )


def drawn_by(build):
    """The names of the nodes that a call draws."""
    given = rows()
    before = len(tf.get_default_graph().get_operations())
    build(given)
    return [op.name for op in tf.get_default_graph().get_operations()[before:]]


# The names that the plain function took before the ragged one was asked stay taken.
@pytest.mark.parametrize(
    ("build", "names"),
    [
        (tf.abs, ["Abs_1"]),
        (tf.exp, ["Exp_1"]),
        (lambda x: x + 1.0, ["y", "Add_1"]),
        (lambda x: 1.0 - x, ["Sub/x", "x", "Sub_1"]),
        (lambda x: tf.maximum(x, 2.0), ["y", "Maximum_1"]),
    ],
)
def test_element_by_element(build, names):
    assert drawn_by(build) == names


@pytest.mark.parametrize(
    ("maker", "partition", "checks"),
    [
        ("from_row_splits", [0, 3], ["assert_rank", "assert_equal_1", "assert_non_negative", "assert_equal_3"]),
        ("from_row_lengths", [1, 2], ["assert_rank", "assert_non_negative", "assert_equal_1"]),
        ("from_row_starts", [0, 1], ["assert_rank", "assert_equal_1", "assert_non_negative", "assert_less_equal"]),
        ("from_row_limits", [1, 3], ["assert_rank", "assert_non_negative", "assert_non_negative_1", "assert_equal_1"]),
    ],
)
def test_checks_of_row_partitions(maker, partition, checks):
    getattr(tf.RaggedTensor, maker)([1, 2, 3], partition)
    found = (op.name.split("/")[1] for op in tf.get_default_graph().get_operations())
    assert list(dict.fromkeys(n for n in found if n.startswith("assert"))) == [*checks, "assert_rank_at_least"]


def test_a_mean_is_two_sums():
    found = dict.fromkeys(name.split("/")[1] for name in drawn_by(lambda x: tf.reduce_mean(x, 1)))
    assert list(found) == ["RaggedReduceSum", "ones_like", "RaggedReduceSum_1", "truediv"]


def test_two_ragged_operands_are_broadcast_to_each_other():
    # As many nodes as TensorFlow 1.15.5 draws for it: each is brought to the shape of both, rows that fit too.
    names = drawn_by(lambda x: x + rows())
    assert len(names) == 511
    assert {"RaggedTensorDynamicShapeFromTensor_1/RaggedNRows/sub", "RaggedTile_1/Tile", "Add_1"} <= set(names)


# function → how many nodes TensorFlow 1.15.5 draws, and the last of them
DRAWN = {
    "x.to_tensor()": (65, "RaggedToTensor/GatherV2"),
    "x[1:]": (42, "RaggedGetItem/sub"),
    "x[::2]": (22, "RaggedGetItem/GatherV2"),
    "x[:, 1:]": (24, "RaggedGetItem/GatherV2"),
    "x[None]": (9, "RaggedGetItem/stack"),
    "x[:, None]": (10, "RaggedGetItem/range"),
    "x[..., None]": (4, "RaggedGetItem/strided_slice"),
    "tf.ragged.boolean_mask(x, [True, False, True])": (137, "RaggedMask/RaggedMask/boolean_mask/GatherV2"),
    "tf.reduce_sum(x)": (8, "RaggedReduceSum"),
    "tf.reduce_sum(x, 1)": (74, "RaggedReduceSum/UnsortedSegmentSum"),
    "tf.gather(x, [2, 0])": (3, "RaggedGather/RaggedGather"),
    "tf.concat([x, x], 0)": (18, "RaggedConcat/concat_1"),
    "tf.concat([x, x], 1)": (73, "RaggedConcat/strided_slice_3"),
    "tf.stack([x, x])": (38, "RaggedConcat/concat_2"),
    "tf.expand_dims(x, 0, name='e')": (9, "e_1/stack"),
    "tf.math.unsorted_segment_sum(x, tf.constant([0, 1, 0]), 2)": (30, "RaggedSegmentSum/UnsortedSegmentSum"),
    "tf.gather_nd(x, [[2, 1], [0, 0]])": (16, "RaggedGatherNd/RaggedGather/GatherV2"),
    "tf.squeeze(x[..., None], 2)": (
        115,
        "RaggedSqueeze/RaggedFromNestedRowSplits/RaggedFromRowSplits/control_dependency",
    ),
}


@pytest.mark.parametrize("expression", DRAWN)
def test_as_many_nodes_as_tensorflow_draws(expression):
    names = drawn_by(lambda x: eval(expression, {"tf": tf, "x": x}))
    assert (len(names), names[-1]) == DRAWN[expression]


def test_partitions_are_checked_once():
    names = drawn_by(lambda _: tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [2, 0, 2], 3))
    assert len(names) == 52 and names[-1] == "SegmentStack/RaggedFromValueRowIds/concat"
    assert "SegmentStack/assert_less/Assert/Assert" in names
