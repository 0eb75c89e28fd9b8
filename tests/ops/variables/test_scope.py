"""Variable scopes: names, sharing, defaults, getters, partitions, templates."""

import pytest

import everflow as tf


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


def test_defaults_and_regularizers():
    with tf.variable_scope(
        "s", initializer=tf.ones_initializer(), regularizer=lambda v: tf.reduce_sum(v, name="loss"), dtype=tf.float64
    ):
        v = tf.get_variable("v", [2])
    assert v.dtype.base_dtype == tf.float64
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.name == "s/v/Regularizer/loss:0"
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(loss) == 2.0


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


def test_partitioned():
    p = tf.get_variable("p", [5, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    assert [v.shape.as_list() for v in p] == [[3, 2], [2, 2]]
    assert [v._get_save_slice_info().spec for v in p] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]
    whole = tf.convert_to_tensor(p)
    assert whole.name == "p:0"
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(whole).shape == (5, 2)


def test_partitioners():
    shape = tf.TensorShape([40, 4])
    assert tf.fixed_size_partitioner(3, axis=1)(shape=shape, dtype=tf.float32) == [1, 3]
    assert tf.variable_axis_size_partitioner(64)(shape=shape, dtype=tf.float32) == [10, 1]
    assert tf.min_max_variable_partitioner(4, min_slice_size=64)(shape=shape, dtype=tf.float32) == [4, 1]


def test_template_shares_its_variables():
    scale = tf.make_template("scale", lambda x: x * tf.get_variable("s", initializer=2.0))
    a, b = scale(1.0), scale(3.0)
    assert [v.name for v in tf.global_variables()] == ["scale/s:0"]
    assert (a.op.name, b.op.name) == ("scale/mul", "scale_1/mul")


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


def test_a_template_whose_scope_is_made_at_once_opens_name_scopes_at_its_calls():
    template = tf.make_template("t", lambda x: tf.get_variable("w", [2]) + x, create_scope_now_=True)
    assert template.var_scope.name == "t"
    assert [template(1.0).name, template(2.0).name] == ["t/add:0", "t_1/add:0"]
    with tf.name_scope("ns"):
        assert template(3.0).name == "ns/t/add:0"
