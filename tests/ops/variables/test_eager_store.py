"""Variables shared by name when executing eagerly."""

import pytest

import everflow as tf

tfe = tf.contrib.eager


@pytest.fixture
def store(eager):
    return tfe.EagerVariableStore()


def test_variables_are_found_again_by_name(store):
    for _ in range(2):
        with store.as_default():
            v = tf.get_variable("v", initializer=1.0)
            tf.get_variable("a", initializer=2.0, trainable=False)
    assert [x.name for x in store.variables()] == ["a:0", "v:0"]
    assert [x.name for x in store.trainable_variables()] == ["v:0"]
    assert [x.name for x in store.non_trainable_variables()] == ["a:0"]
    v.assign(5.0)
    with store.as_default():
        assert tf.get_variable("v", shape=[]).numpy() == 5.0


def test_outside_of_a_store_each_is_new(store):
    assert tf.get_variable("v", initializer=1.0) is not tf.get_variable("v", initializer=1.0)
    assert store.variables() == []


def test_layers_share_their_weights(store):
    x = tf.ones([1, 2])
    with store.as_default():
        first, second = (tf.layers.dense(x, 3, name="top") for _ in range(2))
    assert len(store.variables()) == 2 and (first.numpy() == second.numpy()).all()


def test_a_copy_has_variables_of_its_own(store):
    with store.as_default():
        v = tf.get_variable("v", initializer=1.0)
    copy = store.copy()
    v.assign(2.0)
    assert [x.numpy() for x in copy.variables()] == [1.0] and copy.variables()[0].name == "v:0"


def test_without_eager_execution():
    with tf.Graph().as_default():
        with pytest.raises(RuntimeError):
            tfe.EagerVariableStore().copy()
        from everflow.ops.variables.store import get_variable_store

        with pytest.raises(ValueError):
            tfe.EagerVariableStore(get_variable_store())


def test_variables_of_a_store_join_collections_as_others_do_not(store):
    alone = tf.get_variable("alone", [], collections=["mine of a store"])
    with store.as_default():
        kept = tf.get_variable("kept", [])
        fixed = tf.get_variable("fixed", [], trainable=False)
        mine = tf.get_variable("mine", [], collections=["mine of a store"])
        local = tf.get_local_variable("local", [])
    variables = tf.global_variables()
    assert any(kept is v for v in variables) and any(fixed is v for v in variables)
    assert not any(v is other for v in (alone, mine, local) for other in variables)
    trained = tf.trainable_variables()
    assert any(kept is v for v in trained) and any(mine is v for v in trained)
    assert not any(v is other for v in (alone, fixed, local) for other in trained)
    assert tf.get_collection("mine of a store") == [mine]
    assert any(local is v for v in tf.local_variables())


def test_a_template_within_a_template_finds_its_variables_again(eager):
    made = []

    def outer(x):
        made.append(tf.make_template("inner", lambda y: y + tf.get_variable("w", [])))
        return made[-1](x)

    template = tf.make_template("outer_of_store", outer)
    template(1.0), template(1.0)
    first, second = (inner.variables for inner in made)
    assert len(first) == 1 and first[0] is second[0] is template.variables[0]
    with template._template_store.as_default():
        tf.get_variable("beside", [])
    assert template.variables == first
