"""Bodies of functions as plans: made when they are called, however deep."""

import threading

import pytest
import torch

import everflow as tf
from everflow.framework import functions as graph_functions
from everflow.runtime.plan import functions
from everflow.runtime.state import SessionState, Step


def in_library(graph, name, build, count=1):
    """Put a function of some numbers into a graph."""
    with tf.Graph().as_default() as body:
        body._functions = dict(graph._functions)
        arguments = [tf.placeholder(tf.float32, [], name=f"x{i}") for i in range(count)]
        definition = graph_functions.to_function_def(body, name, arguments, build(*arguments))
    graph_functions.GraphFunction(definition, dict(graph._functions)).add_to_graph(graph)


def called(name, *arguments):
    return tf.get_default_graph().create_op(name, list(arguments)).outputs


class Planning:
    """Stands for what plans bodies: gives functions of Python, and counts."""

    def __init__(self, body):
        self.body, self.planned = body, 0

    def __call__(self, fetches, feeds, state, to_numpy):
        assert not to_numpy
        self.planned += 1
        return self.body


@pytest.fixture
def planned(graph):
    def make(body):
        in_library(graph, "f", lambda x: [-x])
        planning = Planning(body)
        state = SessionState(graph)
        return functions.Functions(graph, state, planning, threading.RLock()).shared("f"), planning, state

    return make


def test_a_body_is_planned_when_it_is_first_called(planned):
    call, planning, _ = planned(lambda values, step: [values[0] * 2, "of an operation"])
    assert planning.planned == 0
    assert call(3) == [6] and call(4) == [8] and planning.planned == 1


def test_a_call_stops_with_its_step(planned):
    call, planning, state = planned(lambda values, step: [1])
    step = Step(state)
    step.cancel()
    with pytest.raises(tf.errors.CancelledError):
        call(3, step=step)
    assert planning.planned == 0


def test_a_name_that_is_not_there(graph):
    with pytest.raises(tf.errors.NotFoundError, match="Function nobody"):
        functions.Functions(graph, SessionState(graph), None, threading.RLock()).shared("nobody")


def test_a_function_is_shared_or_fresh_until_it_is_forgotten(graph):
    in_library(graph, "f", lambda x: [-x])
    known = functions.Functions(graph, SessionState(graph), None, threading.RLock())
    first = known.shared("f")
    assert known.shared("f") is first and known.fresh("f") is not first
    known.forget("f")
    assert known.shared("f") is not first


def test_forms_of_a_function():
    """For many elements at once, and with its random numbers drawn apart."""
    with tf.Graph().as_default() as graph:
        tf.data.Dataset.from_tensors(1.0).map(lambda x: -x).map(lambda x: x + tf.random_uniform([], seed=3))
        f, g = graph._functions
        with tf.Session() as sess:
            known = sess._executor.functions()
            assert known.for_many(f, 0)[0](torch.tensor([1.0, 2.0]))[0].tolist() == [-1.0, -2.0]
            assert known.for_many(f, 0) is known.for_many(f, 0) and known.for_many(g, 0) is None
            draw, rest = known.apart(g)
            whole = known.fresh(g)
            for _ in range(3):
                assert rest(torch.tensor(1.0), *draw()) == whole(torch.tensor(1.0))


def test_a_reference_rewrites_nothing(graph):
    in_library(graph, "f", lambda x: [-x])
    known = functions.Functions(graph, SessionState(graph), None, threading.RLock(), plain=True)
    assert known.for_many("f", 0) is None and known.apart("f") is None


def test_deep_calls_go_on_in_other_threads_and_errors_come_back(planned):
    seen, depth = [], 3 * functions.CALLS_ON_A_THREAD

    def body(values, step):
        seen.append(threading.get_ident())
        if values[0] == depth:
            raise ZeroDivisionError("at the bottom")
        return call(values[0] + 1)

    call, _, _ = planned(body)
    with pytest.raises(ZeroDivisionError, match="at the bottom"):
        call(1)
    assert len(seen) == depth and len(set(seen)) == 4
    assert functions._here.depth == 0


def test_kernels_have_as_many_threads_in_other_threads(planned, monkeypatch):
    monkeypatch.setattr(functions, "CALLS_ON_A_THREAD", 1)
    call, _, _ = planned(lambda values, step: [torch.get_num_threads()])
    assert call(1) == [torch.get_num_threads()]


def test_a_recursion_without_an_end(planned, monkeypatch):
    monkeypatch.setattr(functions, "CALLS_ON_A_THREAD", 5)
    monkeypatch.setattr(functions, "DEEPEST", 20)
    call, _, _ = planned(lambda values, step: call(*values))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="20 deep, the last one f"):
        call(1)


def test_no_thread_to_be_had(planned, monkeypatch):
    monkeypatch.setattr(functions, "CALLS_ON_A_THREAD", 1)
    call, _, _ = planned(lambda values, step: [1])

    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="can't start new thread"):
        call(1)


# --- by way of sessions ------------------------------------------------------------------------


def test_functions_call_functions(graph):
    in_library(graph, "swapped", lambda a, b: [b, a], count=2)
    in_library(graph, "difference", lambda a, b: [tf.subtract(*called("swapped", a, b))], count=2)
    with tf.Session() as sess:
        assert sess.run(called("difference", tf.constant(1.0), tf.constant(5.0))) == [4.0]


def test_random_ops_of_two_functions_with_equal_names_draw_on_their_own(graph):
    for name in ("f", "g"):
        in_library(graph, name, lambda x: [x + tf.random_uniform([], seed=1, name="draw")])
    f, g = called("f", tf.constant(0.0))[0], called("g", tf.constant(0.0))[0]
    with tf.Session() as sess:
        first = [sess.run(f), sess.run(f)]
        assert [sess.run(g), sess.run(g)] == first and first[0] != first[1]


def test_an_error_in_a_body_names_the_op_that_failed(graph):
    in_library(graph, "f", lambda x: [tf.check_numerics(x, "bad number", name="check")])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="bad number"):
        sess.run(called("f", tf.constant(float("nan"))))


@pytest.mark.parametrize(("size", "count"), [(8, 1), (512, 2)])
def test_a_function_is_worth_as_many_threads_as_its_products(graph, size, count):
    with tf.Graph().as_default() as body:
        x = tf.placeholder(tf.float32, [size, size])
        y = tf.matmul(x, x)
        function = graph_functions.GraphFunction(graph_functions.to_function_def(body, "square", [x], [y]), {})
    function._body = graph_functions.Body(body, [x], [y], [])  # definitions have no shapes
    function.add_to_graph(graph)
    with tf.Session() as sess:
        assert sess._executor.functions().shared("square").steady_count(2) == count
