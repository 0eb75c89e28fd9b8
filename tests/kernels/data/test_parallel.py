"""Calls at the same time: really so, in the order of the elements, errors in their place."""

import threading
import time

import pytest

import everflow as tf
from everflow.data.functions import StructuredFunction
from everflow.kernels.data import parallel
from everflow.kernels.data.datasets import End, Iteration, from_iterable
from everflow.kernels.data.parallel import Parallel
from everflow.runtime.state import SessionState, Step
from tests.kernels.data.test_ahead import gone, impatient, running  # noqa: F401  A fixture is one of them.

pytestmark = pytest.mark.usefixtures("own_graph")


@pytest.fixture(autouse=True)
def worth_it(monkeypatch):
    monkeypatch.setattr(parallel, "WORTH", -1.0)


def started(call, count, parallel_calls=2, **options):
    iteration = Iteration(Step(SessionState()))
    iteration.threads = 4
    following = from_iterable(lambda: ((i,) for i in range(count))).start(iteration)
    return Parallel(following, call, parallel_calls, iteration, **options)


def test_results_come_in_order():
    following = started(lambda step, element: (element[0] * 10,), 7)
    assert [following() for _ in range(7)] == [(10 * i,) for i in range(7)]
    for _ in range(2):
        with pytest.raises(End):
            following()
    assert gone()


def test_two_calls_wait_for_each_other():
    """Which they could not if one came after the other."""
    both = threading.Barrier(2)

    def call(step, element):
        if element[0] > 1:  # the first two are called by whoever asks
            both.wait(20)
        return element

    following = started(call, 8)
    assert [following() for _ in range(8)] == [(i,) for i in range(8)]


def test_errors_come_in_their_place():
    def call(step, element):
        if element[0] in (2, 3):
            raise ValueError(str(element[0]))
        return element

    following = started(call, 5, parallel_calls=3)
    assert [following(), following()] == [(0,), (1,)]
    for number in "23":
        with pytest.raises(ValueError, match=number):
            following()
    assert following() == (4,)


def outcomes(following, count):
    """What comes, the text of errors included."""
    found = []
    for _ in range(count):
        try:
            found.append(following()[0])
        except (ValueError, End) as e:
            found.append(type(e).__name__ + str(e))
    return found


def test_several_elements_are_handed_over_at_a_time_where_nobody_sees_it():
    """Each still has its own result or error, and the end comes after the last."""

    def call(step, element):
        if element[0] in (7, 11):
            raise ValueError(str(element[0]))
        return element

    wanted = [f"ValueError{i}" if i in (7, 11) else i for i in range(40)] + ["End", "End"]
    assert outcomes(started(call, 40, ahead=True), 42) == wanted
    assert outcomes(started(call, 40), 42) == wanted


def test_short_calls_stay_with_whoever_asks(monkeypatch):
    monkeypatch.setattr(parallel, "WORTH", 60.0)
    following = started(lambda step, element: element, 3)
    assert [following() for _ in range(3)] == [(0,), (1,), (2,)] and not running()


def test_a_map_whose_calls_show_their_order_has_one_at_a_time():
    """Numbers of a seed come as they would one by one."""

    def drawn(calls):
        with tf.Graph().as_default():
            draw = tf.data.Dataset.range(12).map(lambda x: tf.random_uniform([], seed=5), num_parallel_calls=calls)
            following = tf.compat.v1.data.make_one_shot_iterator(draw).get_next()
            with tf.Session() as sess:
                return [sess.run(following) for _ in range(12)]

    assert drawn(4) == drawn(None)


def test_functions_that_may_be_called_at_the_same_time():
    def checked(x):
        with tf.control_dependencies([tf.assert_positive(x)]):
            return tf.identity(x)

    variable = tf.get_variable("v", initializer=1.0, use_resource=True)
    wanted = {
        checked: True,
        lambda x: x + 1: True,
        lambda x: x + tf.random_uniform([], seed=1): True,  # which are drawn before
        lambda x: variable.assign_add(x): False,
        lambda x: tf.cond(x > 0, lambda: tf.random_uniform([], seed=1), lambda: 1.0): False,
    }
    for function, may in wanted.items():
        made = StructuredFunction(function, "test", tf.TensorSpec([], tf.float32))
        session = SessionState(tf.get_default_graph())
        assert Iteration().may_call_at_once(session, made.attr) is may


def test_maps_of_python_functions_go_on_at_the_same_time():
    both = threading.Barrier(2)
    seen = []

    def call(x):
        seen.append(x)
        if x > 1:
            both.wait(20)
        return x

    dataset = tf.data.Dataset.range(10).map(lambda x: tf.py_func(call, [x], tf.int64), num_parallel_calls=2)
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as sess:
        assert [sess.run(following) for _ in range(10)] == list(range(10))
    assert gone()


@pytest.mark.parametrize("count", [1, 2])
def test_threads_of_its_own_are_all_that_there_are(count):
    seen = set()

    def note(x):
        seen.add(threading.get_ident())
        time.sleep(0.001)
        return x

    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = count
    numbers = tf.data.Dataset.range(20).map(lambda x: tf.py_func(note, [x], tf.int64), num_parallel_calls=8)
    following = tf.compat.v1.data.make_one_shot_iterator(numbers.with_options(options)).get_next()
    with tf.Session() as session:
        assert [session.run(following) for _ in range(20)] == list(range(20))
    assert len(seen) <= count
