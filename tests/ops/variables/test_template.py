"""Functions that share the variables of their first call."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_template_shares_its_variables():
    scale = tf.make_template("scale", lambda x: x * tf.get_variable("s", initializer=2.0))
    a, b = scale(1.0), scale(3.0)
    assert [v.name for v in tf.global_variables()] == ["scale/s:0"]
    assert (a.op.name, b.op.name) == ("scale/mul", "scale_1/mul")


def test_a_template_whose_scope_is_made_at_once_opens_name_scopes_at_its_calls():
    template = tf.make_template("t", lambda x: tf.get_variable("w", [2]) + x, create_scope_now_=True)
    assert template.var_scope.name == "t"
    assert [template(1.0).name, template(2.0).name] == ["t/add:0", "t_1/add:0"]
    with tf.name_scope("ns"):
        assert template(3.0).name == "ns/t/add:0"
