"""Dataset ops that graphs of other programs hold, though no function here draws them."""

import pytest

import everflow as tf

R = tf.raw_ops
NUMBERS = {"output_types": [tf.int64], "output_shapes": [tf.TensorShape(None)]}

pytestmark = pytest.mark.usefixtures("own_graph")


def drained(variant, dtype=tf.int64):
    iterator = tf.data.Iterator.from_structure(dtype, tf.TensorShape(None))
    begin = R.MakeIterator(dataset=variant, iterator=iterator._iterator_resource)
    element, got = iterator.get_next(), []
    with tf.Session() as session:
        session.run(begin)
        while True:
            try:
                got.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return [value.tolist() if hasattr(value, "tolist") else value for value in got]


def variant(dataset):
    return tf.data.experimental.to_variant(dataset)


def test_rebatching_gives_every_replica_a_part():
    batches = variant(tf.data.Dataset.range(10).batch(4))
    assert drained(R.RebatchDataset(input_dataset=batches, num_replicas=3, **NUMBERS)) == [
        [0, 1], [2, 3], [], [4, 5], [6, 7], [], [8], [9], [],
    ]  # fmt: skip


def test_a_seeded_sample():
    sample = R.SamplingDataset(input_dataset=variant(tf.data.Dataset.range(20)), rate=0.5, seed=3, seed2=4, **NUMBERS)
    assert drained(sample) == [1, 6, 8, 9, 10, 13, 15, 16, 17]


def test_files_by_patterns(tmp_path):
    (tmp_path / "folder").mkdir()
    for name in ("folder/2.txt", "folder/1.txt", "c.txt", "a.txt"):
        (tmp_path / name).touch()
    found = drained(R.MatchingFilesDataset(patterns=[f"{tmp_path}/*", f"{tmp_path}/folder/*"]), tf.string)
    assert found == [f"{tmp_path}/{name}".encode() for name in ("a.txt", "c.txt", "folder/1.txt", "folder/2.txt")]
    with pytest.raises(tf.errors.NotFoundError):
        drained(R.MatchingFilesDataset(patterns=[f"{tmp_path}/none*"]), tf.string)


def test_devices_take_elements_in_turn():
    one = {"output_types": [tf.int64], "output_shapes": [tf.TensorShape([])]}
    iterator = R.MultiDeviceIterator(devices=["/cpu:0", "/cpu:0"], shared_name="", container="", **one)
    begin = R.MultiDeviceIteratorInit(
        dataset=variant(tf.data.Dataset.range(5)), multi_device_iterator=iterator, max_buffer_size=1
    )
    incarnation = tf.placeholder(tf.int64, [])
    first, second = (
        R.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=iterator, shard_num=i, incarnation_id=incarnation, **one
        )[0]
        for i in range(2)
    )
    with tf.Session() as session:
        feed = {incarnation: session.run(begin)}
        assert [session.run(t, feed) for t in (first, first, second, first, second)] == [0, 2, 1, 4, 3]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(second, feed)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(first, {incarnation: 9})


def test_shards_that_must_not_be_empty():
    def shard(count):
        options = {"output_types": [tf.int64], "output_shapes": [tf.TensorShape([])], "require_non_empty": True}
        return R.ShardDataset(input_dataset=variant(tf.data.Dataset.range(count)), num_shards=3, index=0, **options)

    assert drained(shard(4)) == [0, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="# elems = 2, # shards = 3"):
        drained(shard(2))
