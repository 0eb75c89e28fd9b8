"""Variable scopes: names, sharing, defaults, getters, partitions, templates."""

import gc
import threading

import pytest

import everflow as tf
from everflow.eager.mode import eager_mode


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_names_and_name_scopes():
    with tf.variable_scope("foo"):
        v = tf.get_variable("v", [1])
        first = tf.constant(1.0, name="c")
    with tf.variable_scope("foo", reuse=True):
        assert tf.get_variable("v") is v
        second = tf.constant(1.0, name="c")
    assert (v.name, first.name, second.name) == ("foo/v:0", "foo/c:0", "foo_1/c:0")


def test_default_names_are_numbered_and_start_anew_inside():
    with tf.variable_scope(None, "layer") as a:
        with tf.variable_scope(None, "inner") as first:
            pass
    with tf.variable_scope(None, "layer") as b:
        with tf.variable_scope(None, "inner") as second:
            pass
    assert [s.name for s in (a, first, b, second)] == ["layer", "layer/inner", "layer_1", "layer_1/inner"]


def test_reuse():
    tf.get_variable("v", [1])
    with pytest.raises(ValueError, match="already exists"):
        tf.get_variable("v", [1])
    with tf.variable_scope("", reuse=True):
        with pytest.raises(ValueError, match="does not exist"):
            tf.get_variable("w", [1])
        with pytest.raises(ValueError, match="specified shape"):
            tf.get_variable("v", [2])
        with tf.variable_scope("inner", reuse=False) as inner:
            assert inner.reuse is True
    with tf.variable_scope("auto", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("v", [1]) is tf.get_variable("v", [1])


def test_custom_getters_nest_outwards():
    calls = []

    def note(tag):
        def getter(getter, name, *args, **kwargs):
            calls.append(tag)
            return getter(name + tag, *args, **kwargs)

        return getter

    with tf.variable_scope("a", custom_getter=note("_outer")):
        with tf.variable_scope("b", custom_getter=note("_inner")):
            v = tf.get_variable("v", [1])
    assert calls == ["_inner", "_outer"]
    assert v.op.name == "a/b/v_inner_outer"


def test_local_variables():
    v = tf.get_local_variable("v", [1])
    assert tf.local_variables() == [v] and not tf.global_variables() and not tf.trainable_variables()


def test_initializers_of_many_kinds():
    made = [
        tf.get_variable("value", initializer=[1.0, 2.0]),
        tf.get_variable("cls", [2], initializer=tf.zeros_initializer),
        tf.get_variable("fn", [3], initializer=lambda shape, dtype=None, partition_info=None: tf.ones(shape, dtype)),
        tf.get_variable("thunk", initializer=lambda: tf.ones([2])),
    ]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert [sess.run(v).tolist() for v in made] == [[1.0, 2.0], [0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(ValueError, match="do not specify shape"):
        tf.get_variable("both", [2], initializer=[1.0, 2.0])


def test_each_thread_has_scopes_of_its_own():
    names = []

    def draw(graph):
        with graph.as_default(), tf.variable_scope("thread"):
            names.append(tf.get_variable("v", [1]).name)

    with tf.Graph().as_default() as graph, tf.variable_scope("main"):
        thread = threading.Thread(target=draw, args=[graph])
        thread.start()
        thread.join()
        assert tf.get_variable("v", [1]).name == "main/v:0"
    assert names == ["thread/v:0"]


def test_a_getter_of_the_call_takes_the_place_of_the_scope_s():
    def marked(getter, name, *args, **kwargs):
        return getter(name + "_x", *args, **kwargs)

    with tf.Graph().as_default(), tf.variable_scope("a", custom_getter=marked):
        assert tf.get_variable("v", [1]).name == "a/v_x:0"
        assert tf.get_variable("w", [1], custom_getter=marked).name == "a/w_x:0"
        with tf.variable_scope("b", custom_getter=marked):
            assert tf.get_variable("v", [1]).name == "a/b/v_x_x:0"


def test_executing_eagerly_a_scope_makes_resources_and_leaves_reuse_to_stores():
    with eager_mode():
        with tf.variable_scope("a", reuse=False) as scope:
            assert scope.reuse is tf.AUTO_REUSE and scope.use_resource
        with pytest.raises(ValueError):
            scope.set_use_resource(False)


def test_scopes_left_in_the_wrong_order():
    outer, inner = tf.variable_scope("outer"), tf.variable_scope("inner")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RuntimeError, match="Improper nesting"):
        outer.__exit__(None, None, None)
    assert tf.get_variable_scope().name == "outer/inner"
    inner.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    assert tf.get_variable_scope().name == ""


def test_a_scope_stays_though_nobody_holds_what_entered_it():
    tf.variable_scope("here").__enter__()
    gc.collect()
    assert tf.get_variable("x", []).op.name == "here/x"
