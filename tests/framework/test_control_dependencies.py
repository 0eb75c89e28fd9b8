"""Which ops a new op must run after, inside of nested scopes."""

import pytest

import everflow as tf


def waits_for(element) -> list[str]:
    op = element if isinstance(element, tf.Operation) else element.op
    return sorted(other.name for other in op.control_inputs)


@pytest.fixture
def pair():
    with tf.Graph().as_default():
        yield tf.constant(1, name="a"), tf.constant(2, name="b")


def test_nested_scopes_add_up_and_what_is_implied_is_left_out(pair):
    a, b = pair
    with tf.control_dependencies([a]), tf.control_dependencies([b, a.op]):
        made = tf.constant(3, name="c")
        assert waits_for(made) == ["a", "b"]
        assert waits_for(tf.identity(made)) == []  # its input waits already
        assert waits_for(tf.identity(a)) == ["b"]  # an input is waited for in any case
        with tf.control_dependencies(None):
            assert waits_for(tf.constant(1)) == []
            with tf.control_dependencies([b]):
                assert waits_for(tf.constant(1)) == ["b"]
        with tf.control_dependencies([]):
            assert waits_for(tf.constant(1)) == ["a", "b"]
    assert waits_for(tf.constant(1)) == []


def test_what_was_made_in_another_scope_of_the_same_op_waits_again(pair):
    with tf.control_dependencies([pair[0]]):
        made = tf.constant(3)
    with tf.control_dependencies([pair[0]]):
        assert waits_for(tf.identity(made)) == ["a"]


def test_everything_that_stands_for_an_op(pair):
    a, b = pair
    with tf.control_dependencies(["a", "b:0"]):
        assert waits_for(tf.no_op()) == ["a", "b"]
    variable = tf.Variable(1.0, use_resource=True, name="v")
    count = len(tf.get_default_graph().get_operations())
    with tf.control_dependencies([variable, tf.IndexedSlices(a, b)]):
        assert waits_for(tf.no_op()) == ["a", "v"]
    assert len(tf.get_default_graph().get_operations()) == count + 1  # waiting for a variable reads nothing


@pytest.mark.parametrize("wrong", [[3], lambda: [1], [None]])
def test_what_nobody_can_wait_for(pair, wrong):
    with pytest.raises(TypeError), tf.control_dependencies(wrong):
        pass


def test_ops_of_another_graph(pair):
    with tf.Graph().as_default(), pytest.raises(ValueError), tf.control_dependencies([pair[0]]):
        pass


def test_an_error_inside_closes_the_scope(pair):
    for inputs in ([pair[0]], None):
        with pytest.raises(ZeroDivisionError), tf.control_dependencies(inputs):
            1 / 0  # noqa: B018
    assert waits_for(tf.constant(1)) == []


def test_a_copy_of_the_open_scopes_goes_its_own_way(pair):
    graph = tf.get_default_graph()
    with tf.control_dependencies([pair[0]]):
        copy = graph._control.copied()
        with copy.entered(graph, [pair[1]]):
            assert {op.name for op in copy.current()} == {"a", "b"}
            assert {op.name for op in graph._control.current()} == {"a"}
