"""Runs that would never end: a time limit, closing the session or Ctrl-C ends every one of them, and the session goes
on.
"""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import everflow as tf
from everflow.kernels.data.datasets import End, Iteration, from_iterable
from everflow.ops.functions.defun import Defun
from everflow.protos.attr_value_pb2 import NameAttrList

Dataset = tf.data.Dataset
LONG = 20.0  # what takes longer hangs


def within(call, seconds=LONG):
    """What `call()` returns or raises, on another thread; a failure where it hangs."""
    result = []

    def run():
        try:
            result.append((call(), None))
        except BaseException as error:
            result.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert result, f"still running after {seconds} s"
    value, error = result[0]
    if error is not None:
        raise error
    return value


def runs_out_of_time(session, fetch, feed_dict=None):
    with pytest.raises(tf.errors.DeadlineExceededError):
        within(lambda: session.run(fetch, feed_dict, options=tf.RunOptions(timeout_in_ms=200)))


def never():
    return Dataset.range(1).repeat().filter(lambda x: False)


def _sleeping_generator():
    time.sleep(2.0)
    yield 1


ENDLESS = {
    "filter": never,
    "empty inner datasets": lambda: Dataset.range(9).repeat().flat_map(lambda x: Dataset.range(0)),
    "flat_map": lambda: Dataset.range(3).flat_map(lambda x: never()),
    "interleave": lambda: Dataset.range(9).interleave(lambda x: never(), cycle_length=3, block_length=2),
    "parallel interleave": lambda: Dataset.range(9).interleave(lambda x: never(), cycle_length=3, num_parallel_calls=2),
    "prefetch": lambda: never().prefetch(2),
    "parallel map": lambda: never().map(lambda x: x + 1, num_parallel_calls=4),
    "shuffle": lambda: never().shuffle(10),
    "shuffle of much": lambda: Dataset.range(9).repeat().shuffle(2**40),
    "zip": lambda: Dataset.zip((Dataset.range(3), never())),
    "group_by_window": lambda: (
        Dataset.range(9)
        .repeat()
        .apply(tf.data.experimental.group_by_window(lambda x: x * 0, lambda k, d: d.filter(lambda x: False), 3))
    ),
    "skip": lambda: Dataset.range(10**12).skip(10**11),
    "batch": lambda: Dataset.range(1).repeat().batch(2**40),
    "cache": lambda: never().cache(),
    "ignored errors": lambda: (
        Dataset.from_tensors(0.0)
        .repeat()
        .map(lambda x: tf.check_numerics(1 / x, "inf"))
        .apply(tf.data.experimental.ignore_errors())
    ),
    "scan": lambda: (
        Dataset.range(9)
        .repeat()
        .apply(tf.data.experimental.scan(np.int64(0), lambda s, x: (s, x)))
        .filter(lambda x: x > 10)
    ),
    "unique": lambda: Dataset.range(1).repeat().apply(tf.data.experimental.unique()).skip(1),
    "sleeping generator": lambda: Dataset.from_generator(_sleeping_generator, tf.int64),
    "random": lambda: tf.data.experimental.RandomDataset(1).filter(lambda x: x < 0),
    "choices": lambda: tf.data.experimental.choose_from_datasets([never(), never()], Dataset.range(2).repeat()),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_time_limit_ends_endless_datasets(name):
    element = tf.compat.v1.data.make_one_shot_iterator(ENDLESS[name]()).get_next()
    with tf.Session() as session:
        runs_out_of_time(session, element)
        assert session.run(tf.constant(3.0)) == 3.0
        runs_out_of_time(session, element)


@pytest.mark.parametrize("name", ["filter", "skip", "shuffle of much", "zip"])
def test_closing_the_session_ends_endless_datasets(name):
    element = tf.compat.v1.data.make_one_shot_iterator(ENDLESS[name]()).get_next()
    session = tf.Session()
    threading.Timer(0.3, session.close).start()
    with pytest.raises(tf.errors.CancelledError):
        within(lambda: session.run(element))


def _queue():
    return tf.FIFOQueue(1, tf.float32, shapes=[[]])


WAITING = {
    "dequeue": lambda: _queue().dequeue(),
    "dequeue_many": lambda: _queue().dequeue_many(3),
    "enqueue_many": lambda: _queue().enqueue_many([[1.0, 2.0, 3.0]]),
    "staging": lambda: tf.contrib.staging.StagingArea([tf.float32]).get(),
    "accumulator": lambda: tf.ConditionalAccumulator(tf.float32, shape=[]).take_grad(1),
    "sparse accumulator": lambda: tf.SparseConditionalAccumulator(tf.float32).take_grad(1),
    "barrier": lambda: tf.raw_ops.BarrierTakeMany(
        handle=tf.raw_ops.Barrier(component_types=[tf.float32], shapes=[[]]),
        num_elements=1,
        component_types=[tf.float32],
    ),
    "reader": lambda: tf.WholeFileReader().read(tf.FIFOQueue(1, tf.string, shapes=[[]])),
    "loop": lambda: tf.while_loop(lambda i: True, lambda i: i + 1, [0]),
    "functional loop": lambda: _functional_loop(),
}


def _functional_loop():
    @Defun(tf.int32)
    def always(i):
        return tf.constant(True)

    @Defun(tf.int32)
    def following(i):
        return i + 1

    always.add_to_graph(tf.get_default_graph())
    following.add_to_graph(tf.get_default_graph())
    return tf.raw_ops.While(
        input=[tf.constant(0)], cond=NameAttrList(name=always.name), body=NameAttrList(name=following.name)
    )[0]


@pytest.mark.parametrize("name", WAITING)
def test_a_time_limit_ends_what_waits(name):
    fetch = WAITING[name]()
    with tf.Session() as session:
        runs_out_of_time(session, fetch)
        assert session.run(tf.constant(3.0)) == 3.0


@pytest.mark.parametrize("name", WAITING)
def test_closing_the_session_ends_what_waits(name):
    fetch = WAITING[name]()
    session = tf.Session()
    threading.Timer(0.3, session.close).start()
    with pytest.raises(tf.errors.CancelledError):
        within(lambda: session.run(fetch))


def test_the_limit_of_the_session_counts_for_every_run():
    element = tf.compat.v1.data.make_one_shot_iterator(never()).get_next()
    config = tf.ConfigProto(operation_timeout_in_ms=300)
    with tf.Session(config=config) as session:
        for _ in range(2):
            with pytest.raises(tf.errors.DeadlineExceededError):
                within(lambda: session.run(element))
        with pytest.raises(tf.errors.DeadlineExceededError):
            within(session.make_callable(element))
        x = tf.placeholder(tf.float32)
        assert [session.run(x + 1.0, {x: i}) for i in range(3)] == [1.0, 2.0, 3.0]
        handle = session.partial_run_setup([element], [])
        with pytest.raises(tf.errors.DeadlineExceededError):
            within(lambda: session.partial_run(handle, element))


@pytest.mark.parametrize("kind", [tf.py_func, tf.py_function])
def test_nobody_waits_for_a_python_function_when_time_is_over_and_nothing_after_it_runs(kind):
    go_on, finished = threading.Event(), threading.Event()

    def slow():
        go_on.wait(LONG)
        finished.set()
        return np.float32(1.0)

    v = tf.Variable(0.0)
    add = v.assign_add(kind(slow, [], tf.float32))
    with tf.Session() as session:
        session.run(v.initializer)
        runs_out_of_time(session, add)
        go_on.set()
        assert finished.wait(LONG)
        time.sleep(0.3)
        assert session.run(v) == 0.0
        assert within(lambda: session.run(add)) == 1.0


def test_without_a_limit_a_python_function_runs_on_the_callers_thread():
    seen = []
    y = tf.py_func(lambda: seen.append(threading.get_ident()), [], [])
    with tf.Session() as session:
        session.run(y)
    assert seen == [threading.get_ident()]


def test_an_iterator_goes_on_after_a_slow_element():
    slow = threading.Event()

    def values():
        yield 1
        slow.wait(LONG)
        yield 2
        yield 3

    element = tf.compat.v1.data.make_one_shot_iterator(Dataset.from_generator(values, tf.int64)).get_next()
    with tf.Session() as session:
        assert session.run(element) == 1
        runs_out_of_time(session, element)
        runs_out_of_time(session, element)  # the first of them still asks
        slow.set()
        # What came too late is lost with the run that asked for it.
        assert within(lambda: session.run(element)) == 3


def test_a_kernel_that_takes_long_is_not_waited_for():
    texts = tf.placeholder(tf.string)
    replaced = tf.strings.regex_replace(texts, "a+b*(c|d)", "x")
    with tf.Session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            within(
                lambda: session.run(
                    replaced, {texts: np.full(2_000_000, b"aaabbbc", object)}, options=tf.RunOptions(timeout_in_ms=5)
                )
            )
        assert session.run(replaced, {texts: [b"aad"]}).tolist() == [b"x"]


def test_a_run_that_is_out_of_time_gives_critical_sections_back():
    section = tf.CriticalSection(name="section")
    queue = _queue()
    waiting = section.execute(lambda: queue.dequeue() + 0.0)
    quick = section.execute(lambda: tf.constant(5.0) + 0.0)
    with tf.Session() as session:
        runs_out_of_time(session, waiting)
        assert within(lambda: session.run(quick)) == 5.0


def test_errors_and_results_of_limited_runs_are_those_of_others():
    x = tf.placeholder(tf.float32, [None], name="given")
    bad = tf.check_numerics(x, "no number", name="checked")
    options = tf.RunOptions(timeout_in_ms=10_000)
    with tf.Session() as session:
        assert session.run([bad, x], {x: [1.0, 2.0]}, options=options)[0].tolist() == [1.0, 2.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="checked"):
            session.run(bad, {x: [np.nan]}, options=options)
        metadata = tf.RunMetadata()
        session.run(
            bad, {x: [1.0]}, tf.RunOptions(timeout_in_ms=10_000, trace_level=tf.RunOptions.FULL_TRACE), metadata
        )
        assert metadata.step_stats.dev_stats


# --- Ctrl-C -----------------------------------------------------------------------------------

INTERRUPTED = {
    "dataset": "tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(1).repeat().filter(lambda x: False)).get_next()",
    "loop": "tf.while_loop(lambda i: True, lambda i: i + 1, [0])",
    "loop of machine code": "tf.while_loop(lambda i, v: True, lambda i, v: (i + 1, v * 0.5 + 1.0), [0, tf.zeros([100])])",
    "queue": "tf.FIFOQueue(1, tf.float32).dequeue()",
    "function": "tf.py_func(lambda: time.sleep(60), [], [])",
    "section": "tf.CriticalSection(name='s', shared_name='s').execute(lambda: tf.FIFOQueue(1, tf.float32, [[]]).dequeue() + 0.0)",
    "both ends": "together()",
}


@pytest.mark.parametrize("limit", [0, 60_000])
@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupt_ends_a_run_and_the_session_goes_on(name, limit):
    program = f"""
        import sys, time
        import everflow as tf

        def together():
            queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
            return queue.enqueue_many([[1.0, 2.0, 3.0]]), queue.dequeue()

        fetch = {INTERRUPTED[name]}
        section = tf.CriticalSection(name="s2", shared_name="s").execute(lambda: tf.constant(1.0) + 0.0)
        session = tf.Session(config=tf.ConfigProto(operation_timeout_in_ms={limit}))
        session.run(tf.constant(1.0) + tf.constant(2.0))
        print("running", flush=True)
        try:
            session.run(fetch)
        except KeyboardInterrupt as error:
            sys.last_value = error  # as an interactive interpreter keeps it, with all frames
            print("interrupted", session.run(tf.constant(2.0) * 3.0), session.run(section), flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "EVERFLOW_NATIVE": "always"} if "machine code" in name else None,
    )
    try:
        assert process.stdout.readline() == "running\n"
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LONG)
    finally:
        process.kill()
    assert out == "interrupted 6.0 1.0\n", err


def test_sources_go_on_where_an_interrupt_met_them():
    interrupts = iter([2, 5])
    pending = [next(interrupts)]

    def numbers():
        for i in range(7):
            if i in pending:
                pending[0] = next(interrupts, None)
                raise KeyboardInterrupt
            yield (i,)

    following = from_iterable(numbers).start(Iteration())
    given = []
    for _ in range(9):
        try:
            given.append(following()[0])
        except KeyboardInterrupt:
            given.append("interrupted")
    assert given == [0, 1, "interrupted", 2, 3, 4, "interrupted", 5, 6]
    with pytest.raises(End):
        following()


def test_stopping_a_coordinator_ends_those_who_wait_for_its_queue():
    queue = _queue()
    runner = tf.train.QueueRunner(queue, [tf.FIFOQueue(1, tf.float32, shapes=[[]]).dequeue()])
    taken = queue.dequeue()
    coordinator = tf.train.Coordinator(clean_stop_exception_types=(tf.errors.OutOfRangeError, tf.errors.CancelledError))
    with tf.Session() as session:
        threads = runner.create_threads(session, coordinator, daemon=True, start=True)
        threading.Timer(0.3, coordinator.request_stop).start()
        with pytest.raises((tf.errors.OutOfRangeError, tf.errors.CancelledError)):
            within(lambda: session.run(taken))
        assert session.run(tf.constant(1.0)) == 1.0
        session.close()
        within(lambda: coordinator.join(threads, stop_grace_period_secs=10))


def test_a_server_of_this_process_keeps_to_the_limit_too():
    server = tf.train.Server.create_local_server()
    go_on = threading.Event()
    slow = tf.py_func(lambda: go_on.wait(LONG), [], tf.bool)
    element = tf.compat.v1.data.make_one_shot_iterator(never()).get_next()
    with tf.Session(server.target) as session:
        runs_out_of_time(session, slow)
        runs_out_of_time(session, element)
        go_on.set()
        assert session.run(tf.constant(1.0)) == 1.0
