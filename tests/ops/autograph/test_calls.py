"""What is done around a converted body: name scopes, and results that wait."""

import everflow as tf
from everflow.ops.autograph.calls import surrounded

autograph = tf.contrib.autograph


Feature = autograph.Feature


def doubled(x):
    tf.print("doubling", output_stream="stdout")
    return x * 2


def plus_one(x):
    return doubled(x) + 1


def test_name_scopes():
    with tf.Graph().as_default():
        assert (
            autograph.to_graph(plus_one, experimental_optional_features=Feature.NAME_SCOPES)(tf.constant(1)).name
            == "plus_one/add:0"
        )
        assert "plus_one/doubled/mul" in [op.name for op in tf.get_default_graph().get_operations()]


def test_results_wait_for_what_the_function_does(capfd):
    with tf.Graph().as_default(), tf.Session() as session:
        result = autograph.to_graph(doubled, experimental_optional_features=Feature.AUTO_CONTROL_DEPS)(tf.constant(2))
        assert [op.type for op in result.op.control_inputs] == ["PrintV2"]
        assert session.run(result) == 4
    assert "doubling" in capfd.readouterr().out


def test_without_features_nothing_is_around_a_function():
    assert surrounded(doubled, frozenset()) is doubled
    scoped = surrounded(doubled, frozenset([Feature.NAME_SCOPES]))
    assert scoped is not doubled and scoped.__name__ == "doubled"


def test_a_lambda_has_a_scope_too():
    with tf.Graph().as_default():
        made = surrounded(lambda x: x + 1, frozenset([Feature.NAME_SCOPES]))(tf.constant(1))
        assert made.name == "lambda_/add:0"


def test_writes_of_one_variable_run_in_order(sess):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    def changes(x):
        v.assign(x)
        v.assign_add(1.0)
        return {"x": x * 1.0, "text": "kept"}

    made = surrounded(changes, frozenset([Feature.AUTO_CONTROL_DEPS]))(tf.constant(5.0))
    sess.run(v.initializer)
    assert made["text"] == "kept" and sess.run(made["x"]) == 5.0
    assert sess.run(v) == 6.0


def test_what_branches_do_is_done_where_they_meet(sess):
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])

    def changes(x):
        tf.cond(p, lambda: v.assign_add(10.0), lambda: v.assign_add(100.0))
        return x

    made = surrounded(changes, frozenset([Feature.AUTO_CONTROL_DEPS]))(tf.constant(5.0))
    sess.run(v.initializer)
    assert sess.run(made, {p: True}) == 5.0 and sess.run(v) == 11.0
    assert sess.run(made, {p: False}) == 5.0 and sess.run(v) == 111.0
