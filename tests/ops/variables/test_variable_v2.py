"""`Variable` as TensorFlow 2 and TensorFlow's own modules have it."""

import pytest

import everflow as tf
from everflow.ops.variables.variable import VariableV2, default_variable_creator_v2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_a_new_one_is_a_resource_variable():
    assert type(VariableV2(1.0)).__name__ == "ResourceVariable"
    assert type(tf.Variable(1.0)).__name__ == "RefVariable"
    assert tf.compat.v2.Variable is VariableV2


def test_every_variable_is_one():
    assert isinstance(tf.Variable(1.0), VariableV2) and issubclass(tf.Variable, VariableV2)
    assert not isinstance(1.0, VariableV2)


def test_it_takes_no_collections():
    with pytest.raises(TypeError):
        VariableV2(1.0, collections=["mine"])


def test_creators_make_it_with_what_it_takes():
    seen = []

    def creator(next_creator, **kwargs):
        seen.append(set(kwargs))
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        made = VariableV2(1.0, name="v")
    assert made.name == "v:0" and "use_resource" not in seen[0] and "shape" in seen[0]
    assert default_variable_creator_v2(None, initial_value=2.0).dtype == tf.float32


def test_a_subclass_has_a_constructor_of_its_own():
    class Mine(VariableV2):
        def __init__(self, value):
            self.value = value

    assert Mine(3).value == 3
    assert not isinstance(tf.Variable(1.0), Mine)
