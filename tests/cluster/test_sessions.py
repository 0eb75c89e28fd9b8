"""Sessions on one server: what they share, what they are told, how they end."""

import threading
import time

import numpy as np
import pytest

import everflow as tf
from everflow.framework import errors


def test_values_of_all_types_go_and_come(server):
    arrays = [
        np.array([[1.5, -2.0]], np.float32),
        np.array([True, False]),
        np.array([1, 2], np.float16),
        np.array(3 + 4j, np.complex64),
        np.array([], np.int64),
        np.array([b"a", b"\x00\xff", b""], object),
        np.array(7, np.uint8),
    ]
    placeholders = [tf.placeholder(tf.as_dtype(a.dtype)) for a in arrays]
    with tf.Session(server.target) as sess:
        got = sess.run([tf.identity(p) for p in placeholders], dict(zip(placeholders, arrays)))
    for array, value in zip(arrays, got):
        np.testing.assert_array_equal(array, value)
        assert np.shape(value) == array.shape and np.asarray(value).dtype == array.dtype


def test_a_graph_that_grows_and_fetches_in_structures(server):
    x = tf.placeholder(tf.float32, [])
    with tf.Session(server.target) as sess:
        y = x * 2.0
        assert sess.run({"y": y, "all": [x, (y,)]}, {x: 3.0}) == {"y": 6.0, "all": [3.0, (6.0,)]}
        z = y + 1.0
        assert sess.run(z, {x: 3.0}) == 7.0
        assert sess.run(z, {y: 10.0}) == 11.0  # fed in the middle
        assert sess.make_callable([z], [x])(1.0) == [3.0]


def test_functions_are_sent_too(server):
    @tf.function
    def double(v):
        return v * 2.0

    dataset = tf.data.Dataset.range(5).map(lambda v: v * v)
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session(server.target) as sess:
        assert sess.run(double(tf.constant(4.0))) == 8.0
        assert [sess.run(following) for _ in range(5)] == [0, 1, 4, 9, 16]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(following)


def test_random_streams_go_on_from_run_to_run_and_begin_anew_in_a_new_session(server):
    values = tf.random_uniform([2], seed=7)
    other = values + tf.placeholder_with_default(0.0, [])
    with tf.Session() as sess:
        expected = [sess.run(values), sess.run(other)]
    for _ in range(2):
        with tf.Session(server.target) as sess:
            np.testing.assert_array_equal([sess.run(values), sess.run(other)], expected)


def test_variables_are_shared_and_isolated_ones_are_not(server):
    v = tf.get_variable("v", initializer=1.0)
    with tf.Session(server.target) as one, tf.Session(server.target) as two:
        one.run(v.initializer)
        two.run(v.assign_add(2.0))
        assert one.run(v) == 3.0
    with tf.Session(server.target, config=tf.ConfigProto(isolate_session_state=True)) as alone:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            alone.run(v)
        alone.run(v.initializer)
        assert alone.run(v) == 1.0
    with tf.Session(server.target) as again:
        assert again.run(v) == 3.0


def test_reset_ends_the_sessions_there_are(server):
    v = tf.get_variable("v", initializer=1.0)
    sess = tf.Session(server.target)
    sess.run(v.initializer)
    tf.Session.reset(server.target)
    with pytest.raises(tf.errors.AbortedError, match="not found"):
        sess.run(v)
    sess.close()
    with tf.Session(server.target) as new, pytest.raises(tf.errors.FailedPreconditionError):
        new.run(v)


def test_an_error_names_the_op_and_the_line(server):
    x = tf.placeholder(tf.float32, [None], name="x")
    bad = tf.reshape(x, [7], name="bad")
    with tf.Session(server.target) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(bad, {x: [1.0]})
        assert caught.value.op is bad.op
        assert "From /job:local/replica:0/task:0" in caught.value.message
        assert "node bad (defined at" in caught.value.message and "test_sessions.py" in caught.value.message
        with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder tensor 'x'"):
            sess.run(bad)
        assert sess.run(tf.constant(1)) == 1


def test_a_long_message_arrives_whole(server):
    check = tf.Assert(tf.constant(False), [tf.constant("long " * 5000)], summarize=10)
    with tf.Session(server.target) as sess, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        sess.run(check)
    assert len(caught.value.message) > 25000


def test_an_op_without_a_place_fails_every_run(server):
    with tf.device("/job:nowhere"):
        tf.constant(1.0, name="lost")
    fine = tf.constant(2.0)
    with (
        tf.Session(server.target) as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device .*lost"),
    ):
        sess.run(fine)


def test_a_run_that_waits_ends_at_its_time_or_when_the_session_closes(server):
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    taken, put = queue.dequeue(), queue.enqueue(5.0)
    sess = tf.Session(server.target)
    with pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(taken, options=tf.RunOptions(timeout_in_ms=50))
    sess.run(put)
    assert sess.run(taken) == 5.0  # the run that was too late has not taken it
    caught = []

    def wait():
        try:
            sess.run(taken)
        except tf.errors.OpError as e:
            caught.append(type(e))

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.2)
    sess.close()
    waiting.join(10)
    assert caught == [tf.errors.CancelledError]


def test_partial_runs(server):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=10.0)
    counted = v.assign_add(1.0)
    with tf.control_dependencies([counted]):
        first = a * 2.0
    second = first * b + v
    with tf.Session(server.target) as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([first, second], [a, b])
        assert sess.partial_run(handle, first, {a: 3.0}) == 6.0
        assert sess.partial_run(handle, second, {b: 2.0}) == 23.0
        assert sess.run(v) == 11.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.partial_run(handle, first, {a: 1.0})


def test_a_trace_tells_the_servers_devices(server):
    x = tf.placeholder(tf.float32, [2])
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    with tf.Session(server.target) as sess:
        sess.run(tf.square(x, name="squared"), {x: [1.0, 2.0]}, options=options, run_metadata=metadata)
    assert [d.device for d in metadata.step_stats.dev_stats] == ["/job:local/replica:0/task:0/device:CPU:0"]
    assert "squared" in [n.node_name for n in metadata.step_stats.dev_stats[0].node_stats]
    assert "squared" in [n.name for n in metadata.partition_graphs[0].node]


def test_many_runs_at_once(server):
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    add = v.assign_add(1.0)
    with tf.Session(server.target) as sess:
        sess.run(v.initializer)
        threads = [threading.Thread(target=lambda: [sess.run(add) for _ in range(10)]) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert 10.0 <= sess.run(v) <= 80.0  # unlocked adds may get lost, none may fail
        assert sess.run(tf.constant(1)) == 1


def test_handles_do_not_leave_their_process(server):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.Session(server.target) as sess:
        sess.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="resource"):
            sess.run(v.handle)


def test_a_server_without_an_answer(server):
    with pytest.raises(tf.errors.NotFoundError):
        tf.Session("pigeon://x")
    config = tf.ConfigProto(operation_timeout_in_ms=200)
    with pytest.raises(tf.errors.DeadlineExceededError):
        tf.Session("grpc://localhost:1", config=config).run(tf.constant(1))


def test_a_message_that_lies_about_its_size_is_refused():
    from everflow.cluster.values import decode, encode

    good = encode(np.ones([2, 2], np.float32), tf.float32)
    np.testing.assert_array_equal(decode(good, tf.float32), np.ones([2, 2]))
    good.tensor_shape.dim[0].size = 1 << 40
    with pytest.raises(errors.InvalidArgumentError, match="can't be read"):
        decode(good, tf.float32)
    with pytest.raises(errors.InvalidArgumentError, match="expected"):
        decode(good, tf.int32)
    text = encode(np.array([b"ab", b"c"], object), tf.string)
    text.ClearField("string_val")
    text.tensor_content = b"\x02\x01abc"
    assert decode(text, tf.string).tolist() == [b"ab", b"c"]
    text.tensor_content = b"\x02\x7fabc"
    with pytest.raises(errors.InvalidArgumentError):
        decode(text, tf.string)


def test_parts_of_a_run_are_told_as_tensorflow_tells_them(cluster):
    tasks = cluster(ps=1, worker=1)
    with tf.device("/job:ps/task:0"):
        v = tf.Variable([1.0, 2.0], name="v")
    with tf.device("/job:worker/task:0"):
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.multiply(v, x, name="y")
    with tf.device("/job:ps/task:0"):
        u = tf.assign_add(v, y, name="u")
    with tf.device("/job:worker/task:0"), tf.control_dependencies([u]):
        n = tf.no_op(name="n")
    metadata = tf.RunMetadata()
    with tf.Session(tasks.target("worker")) as sess:
        sess.run(v.initializer)
        sess.run([y, u, n], {x: [1, 2]}, tf.RunOptions(output_partition_graphs=True), metadata)
        incarnations = {d.name: d.incarnation for d in sess.list_devices()}
    on_ps, on_worker = ([(n.name, n.op, list(n.input)) for n in p.node] for p in metadata.partition_graphs)
    assert on_ps == [
        ("v", "VariableV2", []), ("v/read", "Identity", ["v"]), ("v/read_S0", "_Send", ["v/read"]), ("y_S3", "_Recv", []),
        ("u", "AssignAdd", ["v", "y_S3"]), ("u_S4", "Const", ["^u"]), ("u_S5", "_Send", ["u_S4"]), ("u_S8", "_Send", ["u"]),
    ]  # fmt: skip
    assert on_worker == [
        ("v/read_S1", "_Recv", []), ("u_S6", "_Recv", []), ("u_S7", "Identity", ["u_S6"]), ("n", "NoOp", ["^u_S7"]),
        ("_recv_x_0", "_Recv", []), ("y", "Mul", ["v/read_S1", "_recv_x_0"]), ("y_S2", "_Send", ["y"]), ("u_S9", "_Recv", []),
        ("_send_u_0", "_Send", ["u_S9"]), ("_send_y_0", "_Send", ["y"]),
    ]  # fmt: skip
    nodes = {n.name: n for p in metadata.partition_graphs for n in p.node}
    assert nodes["_recv_x_0"].attr["client_terminated"].b and nodes["_recv_x_0"].attr["tensor_name"].s == b"x:0"
    sender = nodes["v/read_S1"].attr["send_device"].s.decode()
    assert nodes["v/read_S1"].attr["send_device_incarnation"].i % (1 << 64) == incarnations[sender] % (1 << 64)
