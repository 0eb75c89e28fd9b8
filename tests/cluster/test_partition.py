"""Graphs over several tasks: each gives what it gives in one process, branches and loops included."""

import numpy as np
import pytest

import everflow as tf

PS0, PS1, WORKER = "/job:ps/task:0", "/job:ps/task:1", "/job:worker"


def both_ways(target, build, feeds):
    """What `build(on)` gives in this process and on a cluster; `on(device)` is no device at all in the first case."""
    results = []
    for here in ("", target):
        with tf.Graph().as_default():
            fetches, placeholder = build(lambda name, here=here: tf.device(name if here else None))
            config = tf.ConfigProto(isolate_session_state=True)
            with tf.Session(here, config=config) as sess:
                sess.run(tf.global_variables_initializer())
                results.append([sess.run(fetches, None if value is None else {placeholder: value}) for value in feeds])
    return results


def branches(on):
    p = tf.placeholder(tf.bool, [])
    with on(PS0):
        v = tf.Variable(3.0)
    with on(PS1):
        u = tf.Variable([4.0])

    def yes():
        with on(PS1):
            a = v * 2.0 + u
        return a + 1.0

    def no():
        with on(PS0):
            b = v - u
        with on(PS1):
            return b * 3.0

    with on(WORKER):
        y = tf.cond(p, yes, no)
        return [y, y * 2.0], p


def nested_branches(on):
    p = tf.placeholder(tf.float32, [])
    with on(PS0):
        v = tf.Variable(3.0)

    def inner():
        def a():
            with on(PS1):
                return v * 5.0

        def b():
            with on(PS0):
                return v * 7.0

        return tf.cond(p > 2.0, a, b)

    with on(WORKER):
        return tf.cond(p > 0.0, inner, lambda: tf.identity(p) * v), p


def branches_that_assign(on):
    p = tf.placeholder(tf.bool, [])
    with on(PS0):
        v = tf.Variable(3.0)
    with on(PS1):
        r = tf.get_variable("r", initializer=1.0, use_resource=True)

    def yes():
        with tf.control_dependencies([v.assign_add(1.0), r.assign_add(10.0)]):
            return tf.constant(1.0) * 2.0

    with on(WORKER):
        y = tf.cond(p, yes, lambda: r * 3.0)
        with tf.control_dependencies([y]):
            return [y, v.read_value() + r.read_value()], p


def loop(on):
    n = tf.placeholder(tf.int32, [])
    with on(PS0):
        v = tf.get_variable("v", initializer=1.5, use_resource=True)

    def body(i, x):
        with on(PS1):
            y = x * 0.5
        return i + 1, y * v

    with on(WORKER):
        i, x = tf.while_loop(lambda i, x: i < n, body, [0, 2.0])
        return [i, x, tf.gradients(x, v)[0]], n


def branch_in_loop_in_branch(on):
    p = tf.placeholder(tf.bool, [])
    with on(PS0):
        v = tf.get_variable("v", initializer=1.5, use_resource=True)

    def body(i, x):
        def even():
            with on(PS1):
                return x + v

        return i + 1, tf.cond(tf.equal(i % 2, 0), even, lambda: x * 2.0)

    with on(WORKER):
        return tf.cond(p, lambda: tf.while_loop(lambda i, x: i < 6, body, [0, 1.0])[1], lambda: v + 1.0), p


def loop_in_loop(on):
    n = tf.placeholder(tf.int32, [])
    with on(PS0):
        v = tf.get_variable("v", initializer=1.5, use_resource=True)

    def inner(j, y):
        with on(PS1):
            y = y * 1.1
        return j + 1, y + v

    with on(WORKER):
        return tf.while_loop(
            lambda i, x: i < n, lambda i, x: (i + 1, tf.while_loop(lambda j, y: j < i, inner, [0, x])[1]), [0, 1.0]
        ), n


def loop_that_another_task_decides(on):
    n = tf.placeholder(tf.int32, [])

    def goes_on(i, x):
        with on(PS0):
            return i < n

    with on(WORKER):
        return tf.while_loop(goes_on, lambda i, x: (i + 1, x * 2.0), [0, 1.0]), n


def recurrent_cell_elsewhere(on):
    x = tf.placeholder(tf.float32, [2, None, 2])

    class Cell(tf.nn.rnn_cell.BasicRNNCell):
        def build(self, shape):
            self.built = True

        def call(self, inputs, state):
            with on(PS0):
                state = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), tf.ones([5, 3]) * 0.1))
            return state, state

    with on(WORKER):
        out, _ = tf.nn.dynamic_rnn(Cell(3), x, dtype=tf.float32)
        return [out, tf.gradients(out, x)[0]], x


def function_of_variables_on_two_tasks(on):
    x = tf.placeholder(tf.float32, [])
    with on(PS0):
        v = tf.get_variable("v", initializer=1.5, use_resource=True)
    with on(PS1):
        u = tf.get_variable("u", initializer=2.5, use_resource=True)

    @tf.function
    def scaled(value):
        u.assign_add(1.0)
        return value * v * u

    @tf.function
    def f(value):
        with on(PS1):
            return scaled(value) + u, value

    with on(WORKER):
        y, same = f(x)
        return [y, same, *tf.gradients(y, [v, x])], x


CASES = {
    branches: [True, False],
    nested_branches: [3.0, 1.0, -1.0],
    branches_that_assign: [True, False, True],
    loop: [5, 0, 1],
    branch_in_loop_in_branch: [True, False],
    loop_in_loop: [4, 0],
    loop_that_another_task_decides: [3, 0],
    recurrent_cell_elsewhere: [np.arange(12).reshape(2, 3, 2) / 10.0],
    function_of_variables_on_two_tasks: [2.0, 3.0],
}


@pytest.mark.parametrize("build", CASES, ids=lambda build: build.__name__)
def test_branches_and_loops(cluster, build):
    here, there = both_ways(cluster(ps=2, worker=1).target("worker"), build, CASES[build])
    for one, other in zip(here, there):
        for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(other)):
            np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_recurrent_network_on_parameter_servers(cluster, use_resource):
    tasks = cluster(ps=2, worker=1)

    def build(on):
        with on(tf.train.replica_device_setter(cluster=tasks.spec)):
            with tf.variable_scope("m", use_resource=use_resource, initializer=tf.constant_initializer(0.1)):
                x = tf.placeholder(tf.float32, [2, None, 3])
                out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(4), x, dtype=tf.float32)
                loss = tf.reduce_mean(tf.square(out - 1.0))
                train = tf.train.AdamOptimizer(0.1).minimize(loss)
        with tf.control_dependencies([train]):
            return [loss] + [v.read_value() for v in tf.trainable_variables()], x

    here, there = both_ways(tasks.target("worker"), build, [np.arange(30).reshape(2, 5, 3) / 10.0] * 3)
    for one, other in zip(here, there):
        for a, b in zip(one, other):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_tasks_that_need_each_other_in_turn(cluster):
    """Values that go back and forth; in whatever order the ops were made, nobody waits for ever."""

    def build(on):
        ends = [tf.placeholder(tf.float32, [])]
        with on(PS0):
            a = [tf.sqrt(ends[0])]
        with on(PS1):
            b = [tf.sqrt(ends[0] + 1.0)]
        for _ in range(5):
            with on(PS1):
                crossed = tf.tanh(a[-1])
            with on(PS0):
                a.append(tf.tanh(b[-1]))
            b.append(crossed)
        with on(PS0):
            first = tf.add_n([a[0], b[3], b[1]])
        with on(PS1):
            second = tf.add_n([b[0], a[3], a[1]])
        return [first + second, *a, *b], ends[0]

    here, there = both_ways(cluster(ps=2, worker=1).target("worker"), build, [4.0])
    np.testing.assert_allclose(here[0], there[0], rtol=1e-6)


def test_a_random_graph_over_tasks(cluster):
    devices = [PS0, PS1, WORKER, None]
    tasks = cluster(ps=2, worker=1)
    for seed in range(3):

        def build(on, seed=seed):
            choose = np.random.RandomState(seed)
            x = tf.placeholder(tf.float32, [2])
            values, done = [x], []
            for i in range(25):
                with (
                    on(devices[choose.randint(4)]),
                    tf.control_dependencies([done[choose.randint(len(done))]] if done else []),
                ):
                    a, b = (values[choose.randint(len(values))] for _ in range(2))
                    values.append(tf.tanh(a + b * 0.5))
                    if i % 6 == 0:
                        v = tf.Variable(tf.ones([2]))
                        values.append(v * values[-1])
                        done.append(v.assign_add([0.5, 1.0]).op)
            with tf.control_dependencies(done):
                return [values[-1], values[-2], tf.add_n(values)] + [v.read_value() for v in tf.global_variables()], x

        here, there = both_ways(tasks.target("worker"), build, [[1.0, 2.0]] * 2)
        for one, other in zip(here, there):
            for a, b in zip(one[-4:], other[-4:]):  # variables: what is read beside a write is anybody's guess
                np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_user_of_a_variable_goes_where_it_is(cluster):
    tasks = cluster(ps=1, worker=1)
    with tf.device("/job:ps"):
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
        queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    with tf.device("/job:worker"):
        added, put = v.assign_add(10.0, read_value=False), queue.enqueue(v)
    metadata = tf.RunMetadata()
    with tf.Session(tasks.target("worker")) as sess:
        sess.run(v.initializer)
        sess.run(added, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        sess.run(put)
        assert sess.run(queue.dequeue()) == 11.0
    placed = {n.node_name: d.device for d in metadata.step_stats.dev_stats for n in d.node_stats}
    assert placed[added.name] == "/job:ps/replica:0/task:0/device:CPU:0"


def test_only_some_jobs(cluster):
    tasks = cluster(ps=2, worker=2)
    config = tf.ConfigProto(device_filters=["/job:ps/task:1", "/job:worker/task:0"])
    with tf.Session(tasks.target("worker", 0), config=config) as sess:
        assert sess.run(tf.constant(1)) == 1
        names = [d.name.split("/device")[0] for d in sess.list_devices()]
    assert sorted(names) == ["/job:ps/replica:0/task:1", "/job:worker/replica:0/task:0"]


def test_partial_runs_over_tasks(cluster):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.device(PS0):
        v = tf.Variable(5.0)
        first = a * v
    with tf.device(PS1):
        second = first + b
    with tf.Session(cluster(ps=2, worker=1).target("worker")) as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([first, second], [a, b])
        assert sess.partial_run(handle, first, {a: 2.0}) == 10.0
        assert sess.partial_run(handle, second, {b: 1.0}) == 11.0
