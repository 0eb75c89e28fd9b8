"""Input by queues: producers, batching, queue runners, readers."""

from __future__ import annotations

import inspect

import pytest

import everflow as tf


def drain(tensors):
    """All values until the input ends."""
    got = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while not coord.should_stop():
                got.append(sess.run(tensors))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return got


def test_lines_of_files_as_batches(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "b.csv").write_text("x,y\n5,6\n")
    with tf.Graph().as_default():
        names = [str(tmp_path / n) for n in ("a.csv", "b.csv")]
        _, line = tf.TextLineReader(skip_header_lines=1).read(
            tf.train.string_input_producer(names, num_epochs=1, shuffle=False)
        )
        x, y = tf.decode_csv(line, [[0], [0]])
        batches = drain(tf.train.batch({"x": x, "y": y}, 2, allow_smaller_final_batch=True))
    assert [b["x"].tolist() for b in batches] == [[1, 3], [5]]
    assert [b["y"].tolist() for b in batches] == [[2, 4], [6]]


def test_records_are_read(tmp_path):
    path = str(tmp_path / "r")
    with tf.python_io.TFRecordWriter(path) as writer:
        for record in (b"one", b"two", b"three"):
            writer.write(record)
    with tf.Graph().as_default():
        keys, values = tf.TFRecordReader().read_up_to(tf.train.string_input_producer([path], num_epochs=1), 2)
        got = drain([keys, values])
    assert [v.tolist() for _, v in got] == [[b"one", b"two"], [b"three"]]
    assert got[1][0].tolist() == [f"{path}:{2 * 19}".encode()]


def test_shuffle_batch_gives_all_examples():
    with tf.Graph().as_default():
        (row,) = tf.train.slice_input_producer([list(range(20))], num_epochs=1)
        got = drain(tf.train.shuffle_batch([row], 4, capacity=30, min_after_dequeue=5, num_threads=2))
    assert sorted(int(v) for batch in got for v in batch) == list(range(20))


def test_padding_join_and_conditions():
    with tf.Graph().as_default():
        n = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
        got = drain(tf.train.batch([tf.range(n)], 4, dynamic_pad=True))
        assert [v.tolist() for v in got] == [[[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 2]]]
    with tf.Graph().as_default():
        n = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
        got = drain(tf.train.maybe_batch([n], tf.equal(n % 2, 0), 3))
        assert [v.tolist() for v in got] == [[0, 2, 4]]
    with tf.Graph().as_default():
        sources = [[tf.train.range_input_producer(3, num_epochs=1, shuffle=False).dequeue()] for _ in range(2)]
        got = drain(tf.train.batch_join(sources, 6))
        assert sorted(got[0].tolist()) == [0, 0, 1, 1, 2, 2]


def test_sparse_tensors_go_through_queues():
    with tf.Graph().as_default():
        n = tf.train.range_input_producer(2, num_epochs=1, shuffle=False).dequeue()
        row = tf.SparseTensor(tf.cast([[n]], tf.int64), [tf.cast(n, tf.float32) + 1.0], [3])
        (got,) = drain(tf.train.batch([row, n], 2))
    sparse, numbers = got
    assert sparse.indices.tolist() == [[0, 0], [1, 1]] and sparse.values.tolist() == [1.0, 2.0]
    assert sparse.dense_shape.tolist() == [2, 3] and numbers.tolist() == [0, 1]


def test_an_error_in_a_runner_reaches_join():
    with tf.Graph().as_default(), tf.Session() as sess:
        q = tf.FIFOQueue(3, tf.float32, shapes=[[]])
        tf.train.add_queue_runner(
            tf.train.QueueRunner(q, [q.enqueue(tf.check_numerics(tf.constant(float("nan")), "bad"))])
        )
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.InvalidArgumentError):
            coord.join(threads)


def test_runners_go_through_meta_graphs(tmp_path):
    with tf.Graph().as_default():
        tf.train.range_input_producer(3, shuffle=False)
        meta = tf.train.export_meta_graph()
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.import_meta_graph(meta)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        assert len(threads) == 2
        coord.request_stop()
        coord.join(threads)


@pytest.mark.parametrize("name", ["batch", "batch_join", "shuffle_batch", "shuffle_batch_join"])
def test_batching_functions_are_called_as_their_signatures_say(name):
    of_all, of_some = getattr(tf.train, name), getattr(tf.train, f"maybe_{name}")
    assert (of_all.__name__, of_some.__name__) == (name, f"maybe_{name}")
    parameters = dict(inspect.signature(of_some).parameters)
    del parameters["keep_input"]
    assert inspect.signature(of_all).parameters == parameters
    with pytest.raises(TypeError, match="batch_size"):
        of_all([tf.constant(1)])
    with pytest.raises(TypeError):
        of_all(*(1 for p in parameters.values() if p.default is p.empty), keep_input=True)


def test_a_shuffled_queue_needs_room():
    with pytest.raises(ValueError, match="min_after_dequeue"):
        tf.train.shuffle_batch([tf.constant(1)], 2, capacity=10, min_after_dequeue=10)


def test_sparse_rows_that_are_not_kept_are_not_stored():
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        rows = tf.SparseTensor([[0, 0], [1, 1], [2, 2]], [1.0, 2.0, 3.0], [3, 3])
        batch = tf.train.maybe_batch([rows], [True, False, True], 2, enqueue_many=True)
        assert batch.indices.shape.as_list() == [None, 2]
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        assert sess.run(batch).values.tolist() == [1.0, 3.0]
        coord.request_stop()
        coord.join(threads, ignore_live_threads=True)
        (stored,) = [op for op in graph.get_operations() if op.type == "AddManySparseToTensorsMap"]
        assert sess.run(stored.inputs[1]).tolist() == [1.0, 3.0]


def test_joined_shapes_are_as_open_as_the_most_open():
    with tf.Graph().as_default():
        lists = [[tf.placeholder(tf.int32, [None, 2])], [tf.placeholder(tf.int32, [3, 2])]]
        assert tf.train.batch_join(lists, 2, dynamic_pad=True).shape.as_list() == [2, None, 2]
        with pytest.raises(ValueError, match="as many"):
            tf.train.batch_join([[tf.constant(1), tf.constant(2)], [tf.constant(1)]], 2)
