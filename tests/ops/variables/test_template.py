"""Functions that share the variables of their first call."""

import subprocess
import sys

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


def scaled(x):
    return x * tf.get_variable("s", initializer=2.0)


def test_what_a_template_holds():
    template = tf.make_template("scale", scaled)
    assert template.variable_scope is None and template.variables == [] and template.variable_scope_name is None
    template(1.0)
    template(3.0)
    assert [v.name for v in template.variables] == ["scale/s:0"] == [v.name for v in template.trainable_variables]
    assert template.variable_scope_name == "scale/" and template.non_trainable_variables == []
    assert tf.make_template("scale", scaled)(1.0) is not None
    assert [v.name for v in tf.global_variables()] == ["scale/s:0", "scale_1/s:0"]


def test_names_that_are_to_be_unique():
    tf.make_template("any", scaled, unique_name_="mine")(1.0)
    with pytest.raises(ValueError):
        tf.make_template("any", scaled, unique_name_="mine")(1.0)
    with pytest.raises(ValueError):
        tf.make_template(None, scaled)


def test_arguments_that_are_bound_and_getters():
    seen = []

    def getter(getter, name, *args, **kwargs):
        seen.append(name)
        return getter(name, *args, **kwargs)

    template = tf.make_template("t", lambda x, by: scaled(x) * by, by=10.0, custom_getter_=getter)
    y = template(3.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(y) == 60.0
    assert seen == ["t/s"]


def test_later_calls_share_or_fail():
    template = tf.make_template("bad", lambda: tf.Variable(1.0))
    template()
    with pytest.raises(ValueError):
        template()
    quiet = tf.make_template("quiet", lambda: tf.Variable(1.0, trainable=False))
    assert quiet() is not quiet()


def test_templates_that_execute_eagerly():
    program = """
import everflow as tf
tf.enable_eager_execution()
t = tf.make_template("scale", lambda x: x * tf.get_variable("s", initializer=2.0))
assert [t(3.0).numpy(), t(4.0).numpy()] == [6.0, 8.0]
assert [v.name for v in t.variables] == ["scale/s:0"] and t.trainable_variables == t.variables
try:
    tf.make_template("scale", None, unique_name_="mine")
except ValueError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"


@pytest.mark.parametrize("raised, first", [(ValueError("no"), "no"), (KeyError(), ""), (ValueError("a", 2), "a")])
def test_an_error_of_a_call_says_where_the_template_was_made(raised, first):
    def refuse():
        raise raised

    template = tf.make_template("refusing", refuse)
    others = raised.args[1:]
    with pytest.raises(type(raised)) as told:
        template()
    said, *rest = told.value.args
    assert said.startswith(first + "\n\n") and 'template = tf.make_template("refusing", refuse)' in said
    assert tuple(rest) == others
