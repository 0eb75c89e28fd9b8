"""What is known of the shapes of checkpoint ops before running."""

import pytest

import everflow as tf

raw = tf.raw_ops


def test_slices_say_what_is_read():
    whole, part = raw.RestoreV2(
        prefix="model", tensor_names=["a", "b"], shape_and_slices=["", "4 5 0,2:-"], dtypes=[tf.float32, tf.int32]
    )
    assert whole.shape.ndims is None and part.shape.as_list() == [2, 5]
    one = raw.RestoreSlice(file_pattern="model", tensor_name="a", shape_and_slice="3 -", dt=tf.float32)
    assert one.shape.as_list() == [3]


@pytest.mark.parametrize("slices", [["", ""], ["5"]])
def test_slices_that_name_nothing_are_refused(slices):
    with pytest.raises(ValueError):
        raw.RestoreV2(prefix="model", tensor_names=["a"], shape_and_slices=slices, dtypes=[tf.float32])


def test_as_many_names_as_tensors_are_saved():
    with pytest.raises(ValueError):
        raw.SaveV2(prefix="model", tensor_names=["a"], shape_and_slices=["", ""], tensors=[tf.ones([2]), tf.ones([])])


def test_names_of_shards_are_scalars():
    assert raw.ShardedFilename(basename="model", shard=0, num_shards=2).shape.as_list() == []
