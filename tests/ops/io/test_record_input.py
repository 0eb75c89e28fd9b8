"""RecordInput, and the builders of all-reduce that programs use beside it."""

import pytest

import everflow as tf
import tests.served  # noqa: F401


@pytest.fixture
def files(tmp_path):
    for i in range(2):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"train-{i}")) as writer:
            for j in range(10):
                writer.write(b"%d" % (10 * i + j))
    return str(tmp_path / "train-*")


def test_every_record_once_in_an_epoch(files):
    from tensorflow.python.ops import data_flow_ops

    with tf.Graph().as_default(), tf.Session() as sess:
        batch = data_flow_ops.RecordInput(
            files, batch_size=5, buffer_size=4, seed=301, parallelism=2, name="records"
        ).get_yield_op()
        assert (
            batch.op.type == "RecordInput" and batch.op.name == "records" and batch.op.get_attr("file_buffer_size") == 4
        )
        for _ in range(2):
            seen = [record for _ in range(4) for record in sess.run(batch)]
            assert sorted(seen, key=int) == [b"%d" % i for i in range(20)] and seen != sorted(seen, key=int)


def test_several_batches(files):
    from tensorflow.python.ops import data_flow_ops

    with tf.Graph().as_default(), tf.Session() as sess:
        batches = data_flow_ops.RecordInput(files, batch_size=2, batches=3).get_yield_op()
        assert [len(batch) for batch in batches] == [2, 2, 2] and batches[0][0].shape == ()
        assert len({record for batch in sess.run(batches) for record in batch}) == 6


def test_no_file(tmp_path):
    from tensorflow.python.ops import data_flow_ops

    with tf.Graph().as_default(), tf.Session() as sess, pytest.raises(tf.errors.NotFoundError):
        sess.run(data_flow_ops.RecordInput(str(tmp_path / "none*")).get_yield_op())


def test_all_reduce():
    from tensorflow.contrib.all_reduce.python import all_reduce
    from tensorflow.python.distribute import all_reduce as same

    assert all_reduce.build_ring_all_reduce is same.build_ring_all_reduce
    with tf.Graph().as_default(), tf.Session() as sess:
        tensors = [tf.constant([1.0, i, i, i]) for i in range(4)]
        ring = all_reduce.build_ring_all_reduce(tensors, 1, 2, [0, 1, 2, 3], tf.add, lambda x: x / 4)
        halves = all_reduce.build_recursive_hd_all_reduce(tensors, tf.maximum)
        shuffle = all_reduce.build_shuffle_all_reduce(tensors, ["/cpu:0"], tf.add_n)
        for found, wanted in ((ring, [1.0] + [1.5] * 3), (halves, [1.0] + [3.0] * 3), (shuffle, [4.0] + [6.0] * 3)):
            assert [value.tolist() for value in sess.run(found)] == [wanted] * 4
        with pytest.raises(ValueError):
            all_reduce.build_recursive_hd_all_reduce(tensors[:3], tf.add)
