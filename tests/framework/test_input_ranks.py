"""Ranks of inputs, for op types whose shape rules don't look at all of them. Which are refused is TensorFlow's."""

import pytest

import everflow as tf
from everflow.framework import op_defs, registry
from everflow.framework import raw_ops as raw
from everflow.ops.nn import top_k

pytestmark = pytest.mark.usefixtures("own_graph")


def test_the_table_is_of_op_types_and_their_arguments():
    for op_type, limits in registry._input_ranks().items():
        assert len(limits) <= len(op_defs.get(op_type).inputs), op_type


def of_rank(rank, dtype=tf.float32):
    return tf.placeholder(dtype, [4] * rank)


@pytest.mark.parametrize(
    "build",
    [
        lambda: raw.ConcatV2(values=[of_rank(1), of_rank(0), of_rank(1)], axis=of_rank(0, tf.int32)),
        lambda: raw.ShardedFilename(basename=of_rank(1, tf.string), shard=0, num_shards=1),
        lambda: raw.LookupTableSizeV2(table_handle=of_rank(1, tf.resource)),
        lambda: raw.TensorArrayReadV3(
            handle=tf.placeholder(tf.resource, [2]), index=of_rank(1, tf.int32), flow_in=0.0, dtype=tf.float32
        ),
        lambda: raw.LowerBound(sorted_inputs=of_rank(1), values=of_rank(2)),
        lambda: raw.MatchingFiles(pattern=of_rank(2, tf.string)),
        lambda: raw.AdjustContrastv2(images=of_rank(2), contrast_factor=1.0),
    ],
)
def test_wrong_ranks_are_refused(build):
    with pytest.raises(ValueError, match="Shape must be|rank"):
        build()


def test_lists_of_tensors_have_one_rank_for_all():
    joined = raw.ConcatV2(values=[of_rank(1), tf.placeholder(tf.float32), of_rank(1)], axis=of_rank(0, tf.int32))
    assert joined.shape.as_list() == [None]


def test_what_only_the_run_tells_to_be_no_scalar_is_refused_then():
    vector = tf.placeholder_with_default([1], [1])
    ones = tf.ones([2, 2])
    with tf.Session() as session:
        for late in (
            tf.nn.top_k([1.0, 2.0], vector)[0],
            tf.one_hot([0], vector),
            tf.matrix_band_part(ones, vector, vector),
            raw.PadV2(input=[1], paddings=[[1, 1]], constant_values=vector),
            top_k.nth_element([1.0, 2.0], vector),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(late)
    with pytest.raises(ValueError, match="rank 0"):
        tf.nn.top_k([1.0, 2.0], [1])
